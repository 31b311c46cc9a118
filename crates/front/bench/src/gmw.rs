//! GMW: triples of every dealer, ANDs online, whole runs, among two, three and five parties.
//!
//! Parties are threads of this process over TCP on this machine, one thread a party.

use std::thread;
use std::time::Instant;

use comity_channel::{Mesh, NetProfile, PerPeer, Result};
use comity_circuit::{Goal, Observer, Program};
use comity_core::{Bits, Block, Params, PartyId, Prg, SessionId};
use comity_gmw::dealers::{BitDealer, OtTriples};
use comity_gmw::{Gmw, run_with};
use comity_net::SystemRng;
use comity_protocol::{Dealer, Empty, Here, Job, Options, Party, Protocol};
use comity_share::triples::OtKind;
use comity_share::{BitShares, BitTriples};
use comity_terminal::failure::{Failure, Outcome};

use crate::suite::{Bench, Suite, backend};
use crate::two::{Wire, connections, inputs, repeat, session};

/// Triples, ANDs online, and whole runs.
pub(super) const GMW: Bench = Bench {
    name: "gmw",
    about: "semi-honest GMW over TCP on this machine, one thread a party: triples, ANDs online, whole runs, 2 to 5 parties",
    ceiling: Some("machine.loopback"),
    run,
};

/// The dealers, with the bytes that a triple costs two parties together: both ways, an OT each way.
const DEALERS: [(&str, OtKind, f64); 3] = [
    ("softspoken", OtKind::SoftSpoken, 2.0 * 31.0 / 8.0),
    ("iknp", OtKind::Iknp, 2.0 * 127.0 / 8.0),
    ("silent", OtKind::Silent, 0.3),
];

/// Programs whose time online is measured, in their forms.
const FORMS: [(&str, Goal); 8] = [
    ("add64", Goal::Size),
    ("add64", Goal::Depth),
    ("add64table", Goal::Depth),
    ("div64", Goal::Size),
    ("div64", Goal::Depth),
    ("aes128", Goal::Size),
    ("aes128", Goal::Depth),
    ("aes128table", Goal::Depth),
];

/// Triples that are made at a time, and how often in a run.
const TRIPLES: usize = 1 << 20;
const TIMES: usize = 4;

fn run(suite: &mut Suite) -> Outcome {
    for (name, extension, bytes) in DEALERS {
        for parties in [2, 3, 5] {
            triples(suite, name, extension, (parties, bytes))?;
        }
    }
    let form = |name, goal| comity_library::program_for(name, goal).expect("the library has what is measured");
    let aes = comity_library::circuit_for("aes128", Goal::Depth).expect("the library has what is measured");
    let blocks = Program::map(aes, 1000, &[0]).expect("a valid program");
    let one = form("aes128", Goal::Depth);
    for program in [&blocks, &one] {
        for circuit in program.lowered() {
            circuit.layered();
        }
    }
    // What a connection could carry at a quarter byte each way.
    let ceiling = suite.value("machine.loopback").map(|bytes| bytes * 2.0);
    if suite.wants("gmw.online.aes128x1000") {
        let rates = repeat(|| Ok(blocks.and_gates() as f64 / online(&blocks, None)?))?;
        suite.record("gmw.online.aes128x1000", "and/s", ceiling, rates);
    }
    let net = suite.network();
    for (name, goal) in FORMS {
        let form = if goal == Goal::Size { "size" } else { "depth" };
        let row = format!("gmw.online.{name}.{form}");
        if suite.wants(&row) {
            let program = comity_library::program_for(name, goal).expect("the library has what is measured");
            suite.record(&row, "s", None, repeat(|| online(&program, net))?);
        }
    }
    for (name, program, parties) in [
        ("gmw.aes128x1000", &blocks, 2),
        ("gmw.aes128x1000.parties3", &blocks, 3),
        ("gmw.aes128x1000.parties5", &blocks, 5),
    ] {
        if suite.wants(name) {
            let ceiling =
                suite.value("machine.loopback").filter(|_| parties == 2).map(|bytes| bytes / (31.0 / 4.0 + 0.5));
            let rates = repeat(|| Ok(program.and_gates() as f64 / whole(program, parties)?.seconds))?;
            suite.record(name, "and/s", ceiling, rates);
        }
    }
    if suite.wants("gmw.aes128.latency") {
        let seconds = repeat(|| Ok(whole(&one, 2)?.seconds))?;
        suite.record("gmw.aes128.latency", "s", None, seconds);
    }
    if suite.wants("gmw.aes128x1000.bytes") || suite.wants("gmw.aes128.rounds") {
        let bytes = whole(&blocks, 2)?.bytes as f64 / blocks.and_gates() as f64;
        suite.record("gmw.aes128x1000.bytes", "bytes/and", None, vec![bytes]);
        suite.record("gmw.aes128.rounds", "rounds", None, vec![whole(&one, 2)?.rounds as f64]);
    }
    Ok(())
}

/// Triples a second, and the bytes of one, both ways and all pairs together.
fn triples(suite: &mut Suite, name: &str, extension: OtKind, (parties, bytes): (u16, f64)) -> Outcome {
    let row = if parties == 2 { format!("gmw.triples.{name}") } else { format!("gmw.triples.{name}.parties{parties}") };
    if !suite.wants(&row) {
        return Ok(());
    }
    let session = session();
    let runs = repeat(|| {
        together(parties, None, |net, me| {
            let mut observer = Nobody;
            let mut party =
                Party { net, here: here(me, parties, session), rng: &mut SystemRng, observer: &mut observer };
            let mut dealer = OtTriples::setup(&mut party, extension)?;
            dealer.deal(net, TRIPLES)?;
            let start = Instant::now();
            for _ in 0..TIMES {
                dealer.deal(net, TRIPLES)?;
            }
            Ok(start.elapsed().as_secs_f64())
        })
    })?;
    let rates = runs.iter().map(|run| (TIMES * TRIPLES) as f64 / run.ends.iter().copied().fold(0.0, f64::max));
    let pairs = f64::from(parties * (parties - 1) / 2);
    // Two bits each way more for all pairs that are not somebody's first.
    let corrections = f64::from(parties * (parties - 2)) / 4.0;
    let ceiling = suite.value("machine.loopback").map(|rate| 2.0 * rate / (pairs * bytes + corrections));
    suite.record(&row, "triples/s", ceiling, rates.collect());
    let all = (1 + TIMES) * TRIPLES;
    suite.record(
        &format!("{row}.bytes"),
        "bytes",
        None,
        runs.iter().map(|run| run.bytes as f64 / all as f64).collect(),
    );
    Ok(())
}

/// Triples that were dealt before anybody looks at the clock.
pub(crate) struct Ready(Vec<BitTriples>);

impl Dealer for Ready {
    type Batch = BitTriples;

    fn deal(&mut self, _: &mut Mesh<'_>, _: usize) -> Result<BitTriples> {
        Ok(self.0.pop().expect("as many triples as the program has ANDs"))
    }
}

impl Ready {
    /// Triples of one of two parties, from a seed that both know: they protect nothing.
    pub(crate) fn new(party: u16, ands: u64) -> Ready {
        const WORDS: usize = TRIPLES / 64;
        let mut prg = Prg::new(backend(), Block::from_u128(3));
        let mut random = || {
            let mut blocks = vec![Block::ZERO; WORDS / 2];
            prg.fill_blocks(&mut blocks);
            blocks
                .iter()
                .flat_map(|block| [block.to_u128() as u64, (block.to_u128() >> 64) as u64])
                .collect::<Vec<u64>>()
        };
        let batch = |_| {
            let (a, b, c) = ([random(), random()], [random(), random()], random());
            let product: Vec<u64> = (0..WORDS).map(|i| (a[0][i] ^ a[1][i]) & (b[0][i] ^ b[1][i]) ^ c[i]).collect();
            let ([a0, a1], [b0, b1]) = (a, b);
            let own = if party == 0 { [a0, b0, c] } else { [a1, b1, product] };
            let [a, b, c] = own.map(|words| BitShares::from_words(words, TRIPLES));
            BitTriples::new(a, b, c)
        };
        Ready((0..ands.div_ceil(TRIPLES as u64)).map(batch).collect())
    }
}

/// The seconds from the inputs to the last output, when triples are there.
fn online(program: &Program, network: Option<NetProfile>) -> Outcome<f64> {
    let session = session();
    let run = together(2, network, |net, me| {
        let dealer: Box<BitDealer<'_>> = Box::new(Ready::new(me, program.and_gates()));
        let (inputs, options) = (inputs(program, me), Options::new(Gmw.card()));
        let mut begun = Begun { at: None };
        let mut party = Party { net, here: here(me, 2, session), rng: &mut SystemRng, observer: &mut begun };
        run_with(&mut party, Some(dealer), &Job { program, inputs: &inputs, options: &options })?;
        Ok(begun.at.map_or(0.0, |start| start.elapsed().as_secs_f64()))
    })?;
    Ok(run.ends.into_iter().fold(0.0, f64::max))
}

/// A whole run, triples included.
pub(crate) fn whole(program: &Program, parties: u16) -> Outcome<Cost<()>> {
    let session = session();
    together(parties, None, |net, me| {
        let (inputs, options) = (inputs(program, me), Options::new(Gmw.card()));
        let mut observer = Nobody;
        let mut party = Party { net, here: here(me, parties, session), rng: &mut SystemRng, observer: &mut observer };
        Gmw.run(&mut party, &Job { program, inputs: &inputs, options: &options }, &mut Empty)
    })
}

/// The cost of a run.
pub(crate) struct Cost<T> {
    /// The time from when all are connected to when all are done.
    pub(crate) seconds: f64,
    /// Bytes that all sent together.
    pub(crate) bytes: u64,
    /// The rounds of the link that had most.
    rounds: u64,
    /// What became of each party.
    pub(crate) ends: Vec<T>,
}

/// Runs `parties` parties, with a connection between each two.
pub(crate) fn together<T: Send>(
    parties: u16,
    network: Option<NetProfile>,
    party: impl Fn(&mut Mesh<'_>, u16) -> Result<T> + Sync,
) -> Outcome<Cost<T>> {
    let mut links: Vec<Vec<Wire>> = (0..parties).map(|_| Vec::new()).collect();
    for low in 0..usize::from(parties) {
        for high in low + 1..usize::from(parties) {
            let [one, two] = connections(network)?;
            links[low].push(one);
            links[high].push(two);
        }
    }
    let counters: Vec<_> = links.iter().flatten().map(Wire::counter).collect();
    let start = Instant::now();
    let ends: Vec<Result<T>> = thread::scope(|scope| {
        let party = &party;
        let run = |(me, links): (u16, Vec<Wire>)| {
            scope.spawn(move || {
                let mut net = Mesh::new(PerPeer::from_vec(PartyId(me), links).expect("a link to each other party"));
                let end = party(&mut net, me)?;
                net.flush()?;
                Ok(end)
            })
        };
        let threads: Vec<_> = (0..parties).zip(links).map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("a party does not panic")).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let counts: Vec<_> = counters.iter().map(|counter| counter.counts()).collect();
    Ok(Cost {
        seconds,
        bytes: counts.iter().map(|counts| counts.sent).sum(),
        rounds: counts.iter().map(|counts| counts.rounds).max().unwrap_or(0),
        ends: ends.into_iter().collect::<Result<_>>().map_err(Failure::from)?,
    })
}

pub(crate) fn here(me: u16, parties: u16, session: SessionId) -> Here {
    Here { me: PartyId(me), parties, session, params: Params::default(), backend: backend() }
}

/// An observer of nothing.
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// An observer that notes when the inputs begin.
struct Begun {
    at: Option<Instant>,
}

impl Observer for Begun {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        if name == "inputs" {
            self.at.get_or_insert_with(Instant::now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_measured() {
        let one = Program::from_circuit(comity_library::find("aes128").unwrap()).unwrap();
        assert!(online(&one, None).unwrap() > 0.0);
        let run = whole(&one, 3).unwrap();
        // Six links, each with 6400 ANDs at 31 bits and a quarter byte, and more.
        assert!(run.bytes as f64 > 6.0 * 6400.0 * (31.0 / 8.0 + 0.25) && run.rounds > 60);
    }
}
