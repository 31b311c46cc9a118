//! What every protocol must do: [`laws!`](crate::laws!) stamps these tests on one.
//!
//! 1. *Equal to the evaluator*: random programs with random owners and recipients, at every number of parties
//!    up to five, give each party what it is to learn and nothing else.
//! 2. *Equal on backends*: every CPU backend sends the same bytes, among the fewest parties; among three the
//!    two fastest do.
//! 3. *Deviations*: every message of a run of two, and of three and of four where the protocol runs among
//!    them, is flipped, cut, dropped, doubled, swapped, replayed, sent to another one, and the party is lost
//!    at it; by one party or several, to one of the others or to all. Against a malicious party's peers
//!    nothing but the right output or an error comes of it; otherwise no panic and no hang.
//! 4. *Refusals*: what the card does not allow is refused before anything is sent.
//! 5. *Each check is hit*: the cheats that are given provoke every check of the protocol's crate.
//! 6. *A listener*: what any coalition hears tells it nothing of the others' inputs but what its outputs do
//!    ([`listener()`]).
//! 7. *Fresh*: two runs of one session with other generators have nothing in common but public constants, and
//!    one run says the bytes that are pinned ([`fresh()`]).
//!
//! What a protocol's own tests add: its cheats, exact counts of bytes, what its paper's tables say.

mod fresh;
mod heard;
mod listener;
mod programs;
mod words;

use std::cell::Cell;
use std::time::Duration;

use comity_channel::{Channel, Mesh, PerPeer, Recorded, memory_mesh};
use comity_circuit::{Builder, Observer, Program, Recipients};
use comity_core::{Backend, Bits, Check, Error, Kind, Params, PartyId, Prg, Result, SessionId};
use comity_protocol::{Adversary, Card, Empty, Here, Job, Options, Party, Protocol, Supplies, Takes};
use rand_core::CryptoRng;

use crate::PATIENCE;
use crate::deviate::{Verdict, deviate, deviate_among, never_wrong, never_wrong_among};
use crate::parties::all_together;

pub use self::fresh::{assert_fresh, fresh, said_by_two};
pub use self::heard::{holds, traffic};
pub use self::listener::{listener, listener_in, listener_to};
pub use self::programs::{bits, chain_and_layer, clear, random_circuit, random_program, rng, turns};
use self::programs::{random_circuit_of, random_program_of};
use self::words::Gates;
pub use self::words::random_words;

/// Runs cheats, and returns the checks that they provoked.
pub type Cheats = fn() -> Vec<&'static Check>;

/// The measures by which a protocol is held to the laws.
#[derive(Clone, Copy)]
pub struct Laws {
    /// The statistical security parameter of all runs.
    pub rho: u32,
    /// The number of random programs for each number of parties.
    pub programs: u64,
    /// The most AND gates of a random program; in a program without AND gates, the most XOR gates.
    pub gates: usize,
    /// The most broken runs.
    pub deviations: usize,
    /// The least number of broken runs in a hundred in which some honest party ends otherwise than in the
    /// honest run. What the parties draw differs from run to run, so the law accepts fewer, within three
    /// standard deviations.
    pub felt: usize,
    /// The options that are set beside the defaults.
    pub options: &'static [(&'static str, &'static str)],
    /// All checks of the protocol's crate, and the cheats that provoke them; the cheats return which checks
    /// were named.
    pub checks: Option<(&'static [&'static Check], Cheats)>,
    /// The number of runs that are listened to: a few for a protocol with its own dealer, some 400 over an
    /// ideal dealer, whose bits and distributions are then tested, too.
    pub listened: u64,
    /// The number of public constants of 16 bytes in the protocol's messages; `None` for a protocol over an
    /// ideal dealer, which draws nothing. A checked SoftSpoken extension has one: the mask of its check is
    /// the first tree's sum, and its correction zero.
    pub constants: Option<usize>,
    /// Digests of all messages of a fixed run: among two parties if that is possible, and among three.
    pub wire: &'static [&'static str],
}

impl Laws {
    /// The measures for most protocols.
    pub const USUAL: Laws = Laws {
        rho: 40,
        programs: 4,
        gates: 300,
        deviations: 150,
        felt: 80,
        options: &[],
        checks: None,
        listened: 12,
        constants: Some(0),
        wire: &[],
    };
}

/// Stamps the [laws](mod@crate::laws) on a protocol, each a test of its own: `laws!(Yao)`, or with other
/// [`Laws`] than the usual ones, `laws!(CutChoose, Laws { rho: 5, ..Laws::USUAL })`.
#[macro_export]
macro_rules! laws {
    ($protocol:expr) => {
        $crate::laws!($protocol, $crate::laws::Laws::USUAL);
    };
    ($protocol:expr, $laws:expr) => {
        #[test]
        fn law_equal_to_the_evaluator() {
            $crate::laws::equal_to_the_evaluator(&$protocol, &$laws);
        }

        #[test]
        fn law_equal_on_backends() {
            $crate::laws::equal_on_backends(&$protocol, &$laws);
        }

        #[test]
        fn law_deviations() {
            $crate::laws::deviations(&$protocol, &$laws);
        }

        #[test]
        fn law_refusals() {
            $crate::laws::refusals(&$protocol, &$laws);
        }

        #[test]
        fn law_each_check_is_hit() {
            $crate::laws::each_check_is_hit(&$laws);
        }

        #[test]
        fn law_listener() {
            $crate::laws::listener(&$protocol, &$laws);
        }

        #[test]
        #[ignore = "a campaign: see `make test-long`"]
        fn law_listener_long() {
            $crate::laws::listener_in(&$protocol, &$laws, 25 * $laws.listened);
        }

        #[test]
        fn law_fresh() {
            $crate::laws::fresh(&$protocol, &$laws);
        }
    };
}

/// Collects outputs.
#[derive(Default)]
pub struct Outputs(pub Vec<(usize, Bits)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

/// A protocol whose programs are run by another function, for instance over dealt base OTs; everything else
/// is the protocol's own.
pub struct RunBy<P> {
    /// The protocol.
    pub protocol: P,
    /// The function.
    pub run: fn(&mut Party<'_, '_>, &Job<'_>) -> Result<()>,
}

impl<P: Protocol> Protocol for RunBy<P> {
    fn card(&self) -> &'static Card {
        self.protocol.card()
    }

    fn fits(&self, program: &Program, options: &Options, params: Params) -> Result<()> {
        self.protocol.fits(program, options, params)
    }

    fn fits_parties(&self, parties: u16, options: &Options) -> Result<()> {
        self.protocol.fits_parties(parties, options)
    }

    fn settle(&self, options: &mut Options, program: &Program) {
        self.protocol.settle(options, program);
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        (self.run)(me, job)
    }
}

/// The setting in which a party runs in a test.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The protocol's parameters.
    pub params: Params,
    /// The CPU backend that it runs on.
    pub backend: Backend,
    /// The options that are set beside the defaults.
    pub options: &'static [(&'static str, &'static str)],
    /// The session; the party's randomness follows from it.
    pub session: u64,
}

impl Setting {
    fn of(laws: &Laws, session: u64) -> Setting {
        let params = Params::new(128, laws.rho).expect("parameters in range");
        Setting { params, backend: Backend::detect(), options: laws.options, session }
    }

    /// The options for a program that the protocol can run.
    fn settled(self, protocol: &dyn Protocol, program: &Program) -> Result<Options> {
        let mut options = Options::new(protocol.card());
        for (name, value) in self.options {
            options.set(PartyId(0), name, value)?;
        }
        protocol.settle(&mut options, program);
        protocol.fits(program, &options, self.params)?;
        Ok(options)
    }
}

/// Runs one party's side, as the front would; returns what it learns.
///
/// # Errors
/// The errors of the protocol.
pub fn run(
    protocol: &dyn Protocol,
    net: &mut Mesh<'_>,
    program: &Program,
    inputs: &[Bits],
    setting: Setting,
) -> Result<Vec<(usize, Bits)>> {
    let mut rng = rng(u128::from(setting.session) << 64 | u128::from(net.me().0));
    run_drawing(protocol, net, program, inputs, setting, &mut rng)
}

/// As [`run`], with this randomness.
fn run_drawing(
    protocol: &dyn Protocol,
    net: &mut Mesh<'_>,
    program: &Program,
    inputs: &[Bits],
    setting: Setting,
    rng: &mut dyn CryptoRng,
) -> Result<Vec<(usize, Bits)>> {
    let (me, parties) = (net.me(), net.parties());
    protocol.card().fits(parties, program)?;
    let options = setting.settled(protocol, program)?;
    let own = program.inputs().iter().zip(inputs);
    let own: Vec<Option<Bits>> =
        own.map(|(input, value)| (input.owner.party() == Some(me)).then(|| value.clone())).collect();
    let session = SessionId::derive("laws", &[&setting.session.to_le_bytes()]);
    let here = Here { me, parties, session, params: setting.params, backend: setting.backend };
    let mut outputs = Outputs::default();
    let mut party = Party { net, here, rng, observer: &mut outputs };
    protocol.run(&mut party, &Job { program, inputs: &own, options: &options }, &mut Empty)?;
    Ok(outputs.0)
}

/// Law 1: equal to the evaluator.
///
/// # Panics
/// If a party learns anything else than it should.
pub fn equal_to_the_evaluator(protocol: &dyn Protocol, laws: &Laws) {
    let card = protocol.card();
    let gates = Gates::of(card);
    let held = |program: &Program, parties, seed, rng: &mut Prg| {
        let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, rng)).collect();
        check(protocol, parties, program, &inputs, Setting::of(laws, seed));
    };
    for parties in *card.parties.start()..=*card.parties.end().min(&5) {
        for seed in 0..laws.programs {
            let mut rng = rng(u128::from(seed) << 32 | u128::from(parties));
            let program = random_program_of(gates, parties, laws.gates, &mut rng);
            held(&program, parties, seed, &mut rng);
        }
        // Programs of words: a few where they are gates like others.
        let (programs, widest) = if card.takes == Takes::Words { (20 * laws.programs, 128) } else { (1, 9) };
        let mut ran = 0;
        for seed in (0..programs).filter(|_| gates != Gates::Xors) {
            let mut rng = rng(u128::from(seed) << 32 | 1 << 31 | u128::from(parties));
            let program = random_words(parties, widest, &mut rng);
            // Where nothing is left of an operation but copies of bits, no word is.
            let setting = Setting::of(laws, seed);
            if setting.settled(protocol, &program).is_ok() {
                held(&program, parties, seed, &mut rng);
                ran += 1;
            }
        }
        assert!(10 * ran >= 9 * programs || gates == Gates::Xors, "of {programs} programs of words {ran} are taken");
    }
}

/// Runs a program among `parties` parties, and compares what each learns with the plain evaluator.
///
/// # Panics
/// If a party fails, or learns anything else than it should.
pub fn check(protocol: &dyn Protocol, parties: u16, program: &Program, inputs: &[Bits], setting: Setting) {
    let expected = clear(program, inputs);
    let learned = all_together(memory_mesh(parties, Some(PATIENCE)), |links| {
        run(protocol, &mut Mesh::new(links), program, inputs, setting).unwrap_or_else(|error| panic!("{error}"))
    });
    for (id, learned) in (0..).zip(learned) {
        let outputs = program.outputs().iter().zip(&expected).enumerate();
        let wanted: Vec<(usize, Bits)> = outputs
            .filter(|(_, (output, _))| output.to.includes(PartyId(id)))
            .map(|(i, (_, value))| (i, value.clone()))
            .collect();
        assert!(learned == wanted, "party {id} of {parties} learns something else");
    }
}

/// Law 2: equal on backends.
///
/// # Panics
/// If two backends send different bytes.
pub fn equal_on_backends(protocol: &dyn Protocol, laws: &Laws) {
    let (least, all) = (*protocol.card().parties.start(), Backend::available());
    equal_on_these(protocol, laws, least, &all);
    // Among more each run is several of two: the portable backend would take as long as all the rest.
    if least < 3 && protocol.card().parties.contains(&3) {
        equal_on_these(protocol, laws, 3, &all[..all.len().min(2)]);
    }
}

fn equal_on_these(protocol: &dyn Protocol, laws: &Laws, parties: u16, backends: &[Backend]) {
    let card = protocol.card();
    let mut rng = rng(77);
    let program = match card.takes {
        Takes::Words => random_words(parties, 128, &mut rng),
        _ => random_program_of(Gates::of(card), parties, laws.gates, &mut rng),
    };
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
    let sent = |backend| {
        all_together(memory_mesh(parties, Some(PATIENCE)), |links| {
            let mut recorders = Vec::new();
            let links = links.map(|_, link| {
                let link = Recorded::new(link, 64 << 20);
                recorders.push(link.recorder());
                link
            });
            let setting = Setting { backend, ..Setting::of(laws, 7) };
            run(protocol, &mut Mesh::new(links), &program, &inputs, setting).unwrap_or_else(|error| panic!("{error}"));
            recorders.iter().map(|recorder| recorder.recording().sent).collect::<Vec<_>>()
        })
    };
    let first = sent(backends[0]);
    for &backend in &backends[1..] {
        assert!(sent(backend) == first, "{backend} sends other bytes among {parties}");
    }
}

/// Law 3: deviations, among two, three and four.
///
/// # Panics
/// If a malicious protocol gives a wrong output, or if an error is of a kind that a peer cannot cause.
pub fn deviations(protocol: &dyn Protocol, laws: &Laws) {
    let card = protocol.card();
    if card.parties.contains(&2) {
        deviations_of_two(protocol, laws);
    }
    for (parties, limit) in [(3, laws.deviations), (4, (laws.deviations / 3).max(12))] {
        if card.parties.contains(&parties) {
            deviations_among(protocol, laws, parties, limit);
        }
    }
}

/// An error that a peer can cause.
fn known(error: &Error) -> bool {
    matches!(error.kind, Kind::Closed | Kind::TimedOut(_) | Kind::Misbehaved(_) | Kind::Malformed(_))
}

fn deviations_among(protocol: &dyn Protocol, laws: &Laws, parties: u16, limit: usize) {
    let card = protocol.card();
    let mut draw = rng(u128::from(parties));
    let widths: Vec<usize> = (0..parties).map(|party| 5 + usize::from(party)).collect();
    let circuit = random_circuit_of(Gates::of(card), &widths, laws.gates.min(60), &mut draw);
    let mut program = Program::from_circuit(circuit).expect("a program");
    for party in 0..parties {
        program = program.with_owner(party.into(), party).expect("an owner");
    }
    let inputs: Vec<Bits> = widths.iter().map(|&width| bits(width, &mut draw)).collect();
    let felt = Cell::new(0);
    let runs = deviate_among(
        parties,
        limit,
        |net, session| run(protocol, net, &program, &inputs, Setting::of(laws, session)),
        |broken, verdicts| {
            let honest = (0..).map(PartyId).zip(verdicts).filter(|&(party, _)| !broken.cheats(party));
            let otherwise = honest.filter(|(_, verdict)| !matches!(verdict, Verdict::Correct));
            felt.set(felt.get() + usize::from(otherwise.clone().next().is_some()));
            for (party, error) in otherwise.filter_map(|(party, verdict)| Some((party, verdict.error()?))) {
                assert!(known(error), "{broken:?}: party {party}: {error}");
            }
            if card.adversary == Adversary::Malicious {
                never_wrong_among(broken, verdicts);
            }
        },
    );
    assert_felt(laws, felt.get(), runs);
}

/// Asserts that enough broken runs were felt by somebody honest: the law would prove little if most
/// deviations did nothing.
fn assert_felt(laws: &Laws, felt: usize, runs: usize) {
    let missing = (runs * laws.felt).saturating_sub(100 * felt);
    let most = 9 * runs * laws.felt * (100 - laws.felt);
    assert!(runs > 10 && missing * missing <= most, "{felt} of {runs} broken runs were felt by an honest party");
}

fn deviations_of_two(protocol: &dyn Protocol, laws: &Laws) {
    let card = protocol.card();
    if card.takes == Takes::Words {
        let program = Program::from_circuit(words::chain(12, 3)).expect("a program");
        let program = program.with_owner(1, 1).expect("an owner");
        return deviations_in(protocol, laws, &program, &[bits(36, &mut rng(6)), bits(36, &mut rng(7))]);
    }
    let circuit = random_circuit_of(Gates::of(card), &[9, 8], laws.gates.min(60), &mut rng(5));
    let program = Program::from_circuit(circuit).expect("a program");
    deviations_in(protocol, laws, &program, &[bits(9, &mut rng(6)), bits(8, &mut rng(7))]);
}

/// Law 3 among two, in runs of this program: for protocols that do not take every program.
///
/// # Panics
/// As [`deviations`].
pub fn deviations_in(protocol: &dyn Protocol, laws: &Laws, program: &Program, inputs: &[Bits]) {
    let card = protocol.card();
    let party = |me, ch: &mut Box<dyn Channel>, session| {
        let mut net = Mesh::new(PerPeer::from_vec(PartyId(me), vec![ch]).expect("one of two"));
        run(protocol, &mut net, program, inputs, Setting::of(laws, session))
    };
    let felt = Cell::new(0);
    let runs = deviate(
        laws.deviations,
        |ch, session| party(0, ch, session),
        |ch, session| party(1, ch, session),
        |case, verdict0, verdict1| {
            let own = if case.party == 0 { verdict1 } else { verdict0 };
            felt.set(felt.get() + usize::from(!matches!(own, Verdict::Correct)));
            if let Some(error) = own.error() {
                assert!(known(error), "{case:?}: {error}");
            }
            if card.adversary == Adversary::Malicious {
                never_wrong(case, verdict0, verdict1);
            }
        },
    );
    assert_felt(laws, felt.get(), runs);
}

/// Law 4: refusals.
///
/// # Panics
/// If a job that the card does not allow is not refused.
pub fn refusals(protocol: &dyn Protocol, laws: &Laws) {
    let card = protocol.card();
    let (least, most) = (*card.parties.start(), *card.parties.end());
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 2), b.input("y", 2));
    let and = b.and(x[0], y[0]);
    b.output("and", &[if card.takes == Takes::NoAnds { x[0] } else { and }]);
    let program = Program::from_circuit(b.finish()).expect("a program");
    card.fits(least, &program).expect("a program that fits");
    let names = |result: Result<()>, what: &str| {
        let error = result.expect_err("it is refused");
        assert!(matches!(error.kind, Kind::InvalidInput(_)) && error.to_string().contains(what), "{error}");
    };
    names(card.fits(least - 1, &program), card.name);
    names(card.fits(most + 1, &program), card.name);
    names(card.fits(least, &program.clone().with_owner(0, least).expect("an owner")), "belongs to party");
    let far = program.clone().with_recipients(0, Recipients::only(least)).expect("recipients");
    names(card.fits(least, &far), "is for party");
    names(card.has(PartyId(least), least), "no party");
    names(Options::new(card).set(PartyId(0), "no such option", "1"), "has no option");
    for option in card.options {
        names(Options::new(card).set(PartyId(0), option.name, "no such value"), option.name);
    }
    // Inputs that do not fit, at a party whose peer says nothing.
    for inputs in [vec![Some(Bits::zeros(3)), None], vec![None, None], vec![None]] {
        // A party that waits for the peer has not refused.
        let mut links = memory_mesh(least, Some(Duration::from_secs(1))).into_iter();
        let mut net = Mesh::new(links.next().expect("a party"));
        let mut options = Options::new(card);
        protocol.settle(&mut options, &program);
        let setting = Setting::of(laws, 1);
        let session = SessionId::derive("laws", &[]);
        let here = Here { me: PartyId(0), parties: least, session, params: setting.params, backend: setting.backend };
        let mut party = Party { net: &mut net, here, rng: &mut rng(1), observer: &mut Outputs::default() };
        let job = Job { program: &program, inputs: &inputs, options: &options };
        let error = protocol.run(&mut party, &job, &mut Empty).expect_err("the inputs do not fit");
        assert!(matches!(error.kind, Kind::InvalidInput(_)), "{error}");
        drop(net);
        for mut link in links {
            let heard = link.as_mut_slice()[0].recv(&mut [0]);
            assert!(heard.is_err_and(|error| matches!(error.kind, Kind::Closed)), "something was sent");
        }
    }
}

/// Law 5: each check is hit.
///
/// # Panics
/// If no cheat provoked some check.
pub fn each_check_is_hit(laws: &Laws) {
    let Some((all, cheats)) = laws.checks else { return };
    let named = cheats();
    let missed: Vec<&str> = all.iter().filter(|check| !named.contains(check)).map(|check| check.name).collect();
    assert!(missed.is_empty(), "no cheat is caught by {}", missed.join(", "));
}
