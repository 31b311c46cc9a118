//! Two or three parties fill and use their stores, and are killed at drawn instants: no batch is used twice,
//! in no two sessions, and afterwards all run on the same one, or all say why not. A protocol of this test
//! shows what every party takes; `gmw`, `tinyot`, `bmr`, which garbles on what `tinyot` stores, `spdz-bmr`, which
//! does on what `spdz` stores, `tinytable`, and `mixed`, each of whose runs takes from several lots, show that nothing
//! of theirs is used twice, and that what all take belongs together: else they would compute something else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use comity::{
    Adversary, Bits, Card, Error, Kind, Options, Params, PerPeer, Program, Protocol, Result, Session, StoreKey,
};
use comity::{PartyId, Store, library};
use comity_arith::Arith;
use comity_bmr::{Bmr, SpdzBmr};
use comity_channel::memory_mesh;
use comity_core::{Backend, Block, Prg, SessionId};
use comity_gmw::Gmw;
use comity_mixed::Mixed;
use comity_net::{Connection, Limits, Listener, Security, Settings};
use comity_protocol::{Ahead, Corrupt, Goal, Job, Lot, Material, Need, Party, Press, Shelf, Supplies, Takes};
use comity_testing::{PATIENCE, Process, before_kill};
use comity_tinyot::TinyOt;
use comity_tinytable::{TinyTable, TinyTableSemiHonest};

/// Parties of a case at most.
const PARTIES: u16 = 3;

/// Bytes of a batch: two chunks of the store, so that a kill may come between them.
const LEN: usize = 70_000;

/// Batches that a run uses up, and those of a lot.
const RUN: u64 = 2;
const LOT: u64 = 3;

/// The protocol that is killed.
struct Case {
    protocol: &'static dyn Protocol,
    parties: u16,
    /// The program that they run.
    program: fn() -> Program,
    /// The material, empty if there are several, and how much of it is made at a time; 0 if it is for two runs of the
    /// program.
    material: &'static str,
    units: u64,
    /// Whether the material of a run is first made of it, and stored, too.
    in_two_steps: bool,
    /// How much longer than the first one it takes.
    slower: u32,
}

/// A lot of three batches of shares.
const SHARES: u64 = 3 << 13;

/// Three lots of a batch of triples.
const TRIPLES: u64 = 3 * comity_gmw::dealers::BATCH as u64;

/// A lot of three batches of triples of words.
const WORDS: u64 = 3 * comity_arith::dealers::WORD_BATCH as u64;

/// A lot of two batches of shares in a field.
const FIELD: u64 = 2 << 11;

/// A sum.
fn sum() -> Program {
    library::program("add64").unwrap()
}

/// A product.
fn product() -> Program {
    library::program("mul64").unwrap()
}

/// A program that uses up all materials of `mixed` but the triples of wide words, if words are opened by stored adders.
fn all_forms() -> Program {
    let text = "fn main(x: u64 from 0, y: u64 from 1) -> u64 {
        let product = arithmetic { x * y };
        let both = boolean { product & x };
        let less = yao { both < y };
        arithmetic { if less { product } else { both } }
    }";
    comity::compile("forms.cty", text).unwrap()
}

static CASES: [Case; 10] = [
    Case {
        protocol: &Pads,
        parties: 3,
        program: sum,
        material: "pads",
        units: 2 * LOT,
        in_two_steps: false,
        slower: 1,
    },
    Case {
        protocol: &OnStore(&Gmw),
        parties: 3,
        program: sum,
        material: "triples",
        units: TRIPLES,
        in_two_steps: false,
        slower: 4,
    },
    Case {
        protocol: &OnStore(&TinyOt),
        parties: 3,
        program: sum,
        material: "shares",
        units: SHARES,
        in_two_steps: false,
        slower: 12,
    },
    Case {
        protocol: &OnStore(&Bmr),
        parties: 3,
        program: sum,
        material: "shares",
        units: SHARES,
        in_two_steps: true,
        slower: 12,
    },
    Case {
        protocol: &OnStore(&Gmw),
        parties: 2,
        program: sum,
        material: "triples",
        units: TRIPLES,
        in_two_steps: false,
        slower: 4,
    },
    Case {
        protocol: &OnStore(&TinyTableSemiHonest),
        parties: 2,
        program: sum,
        material: "tables",
        units: 0,
        in_two_steps: false,
        slower: 4,
    },
    Case {
        protocol: &OnStore(&TinyTable),
        parties: 2,
        program: sum,
        material: "authenticated tables",
        units: 0,
        in_two_steps: false,
        slower: 6,
    },
    Case {
        protocol: &OnStore(&SpdzBmr),
        parties: 2,
        program: sum,
        material: "field",
        units: FIELD,
        in_two_steps: true,
        slower: 40,
    },
    Case {
        protocol: &OnStore(&Mixed),
        parties: 2,
        program: all_forms,
        material: "",
        units: 0,
        in_two_steps: false,
        slower: 20,
    },
    Case {
        protocol: &OnStore(&Arith),
        parties: 2,
        program: product,
        material: "word triples",
        units: WORDS,
        in_two_steps: false,
        slower: 4,
    },
];

/// A line of the log of what a party uses in which session. One write, which the kernel has when the call returns.
fn note(used: &[u8], session: SessionId) {
    let line = format!("{} {}\n", hex(used), hex(&session.to_bytes()));
    let log = LOG.with_borrow(|log| OpenOptions::new().append(true).create(true).open(log));
    log.unwrap().write_all(line.as_bytes()).unwrap();
}

/// A protocol, with a log of the batches of material that it takes, before it sees them.
struct OnStore(&'static dyn Protocol);

/// A shelf, the session that takes from it, and the place in a batch of the bytes that no other batch has.
struct Logged<'s>(&'s mut dyn Shelf, SessionId, Range<usize>);

impl<'s> Logged<'s> {
    fn new(material: &str, shelf: &'s mut dyn Shelf, session: SessionId) -> Logged<'s> {
        // In garbled programs and tables it is the session, behind the name of the form. In others it
        // stands behind a head, a key, and seeds with each peer, which are the same in all; there are no seeds
        // in a field.
        let unlike = match material {
            "field" => 36..68,
            // Behind the lot there is the number of the batch, and then what is drawn for it.
            "adder tables" => 49..81,
            _ if material.ends_with("garbled") || material.ends_with("tables") => 16..48,
            _ => 68..100,
        };
        Logged(shelf, session, unlike)
    }
}

impl Shelf for Logged<'_> {
    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        let Some(mut batch) = self.0.take()? else { return Ok(None) };
        let mut bytes = Vec::new();
        batch.read_to_end(&mut bytes).unwrap();
        note(&bytes[self.2.clone()], self.1);
        Ok(Some(Box::new(std::io::Cursor::new(bytes))))
    }

    fn check_begins(&mut self) -> Result<()> {
        self.0.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.0.check_passed()
    }
}

/// Supplies, each with the log.
struct AllLogged<'s>(BTreeMap<&'static str, Logged<'s>>);

impl<'s> AllLogged<'s> {
    fn new(from: &'s mut dyn Supplies, session: SessionId) -> AllLogged<'s> {
        let logged = from.shelves().into_iter();
        AllLogged(logged.map(|(material, shelf)| (material, Logged::new(material, shelf, session))).collect())
    }
}

impl Supplies for AllLogged<'_> {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        self.0.iter_mut().map(|(material, logged)| (*material, logged as &mut dyn Shelf)).collect()
    }
}

impl Protocol for OnStore {
    fn card(&self) -> &'static Card {
        self.0.card()
    }

    fn needs(&self, program: &Program, options: &Options, params: Params) -> Result<Vec<Need>> {
        self.0.needs(program, options, params)
    }

    fn amount(&self, units: u64, options: &Options, params: Params) -> Result<Need> {
        self.0.amount(units, options, params)
    }

    fn source(&self, program: &Program, options: &Options) -> Option<Need> {
        self.0.source(program, options)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        let mut logged = AllLogged::new(from, me.here.session);
        assert!(!logged.0.is_empty(), "there is a store");
        self.0.run(me, job, &mut logged)
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        from: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        self.0.prepare(me, ahead, &mut AllLogged::new(from, me.here.session), to)
    }
}

/// A protocol that does nothing but make pads, known to all, and use them up; it keeps a log of what it uses
/// in which session.
struct Pads;

static CARD: Card = Card {
    name: "pads",
    kind: comity_protocol::CardKind::Protocol,
    paper: "none",
    parties: 2..=PARTIES,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[Material { name: "pads", program: false, from: None, options: &[], units: &["pads"] }],
    options: &[],
    phases: &[],
    summary: "",
    protects: "",
    risk: "",
    about: "",
};

thread_local! {
    /// The file where this party keeps its log.
    static LOG: RefCell<PathBuf> = RefCell::default();
}

fn need(batches: u64) -> Need {
    Need { material: "pads", units: vec![batches], batches, bytes: batches * 2 * LEN as u64 }
}

impl Protocol for Pads {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, _: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![need(RUN)])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(need(units))
    }

    fn run(&self, me: &mut Party<'_, '_>, _: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        let shelf = from.shelf("pads").expect("there is a store");
        for _ in 0..RUN {
            let mut batch = shelf.take()?.expect("there are enough");
            let mut pad = vec![0; 32];
            batch.read_exact(&mut pad).unwrap();
            // It is used from its first byte on.
            note(&pad, me.here.session);
            batch.read_to_end(&mut pad).unwrap();
            assert!(pad.len() == LEN && pad.chunks(32).all(|chunk| pad.starts_with(chunk)));
            drop(batch);
            // As a check of MACs would: all hold the others' against their own.
            shelf.check_begins()?;
            for (peer, theirs) in me.net.tell(&pad[..32])?.iter() {
                assert!(theirs[..] == pad[..32], "party {peer} has another batch");
            }
            shelf.check_passed()?;
        }
        Ok(())
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        for lot in 0..ahead.make.batches.div_ceil(LOT) {
            let mut me = me.sub(&format!("lot {lot}"));
            to.put(&mut me, &Lot { units: vec![LOT], batches: LOT }, &mut |me, _, out| {
                // The sum of what all draw.
                let mut pad = [0; 32];
                me.rng.fill_bytes(&mut pad);
                for (_, theirs) in me.net.tell(&pad)?.iter() {
                    pad.iter_mut().zip(theirs).for_each(|(to, from)| *to ^= from);
                }
                let all: Vec<u8> = pad.iter().copied().cycle().take(LEN).collect();
                out.write_all(&all).map_err(|e| Error::io("a test", e))
            })?;
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of a test, removed when it passes.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, parties: u16) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        for party in 0..parties {
            let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
            let key = StoreKey::create(&path.join(format!("key{party}")), &mut rng).unwrap();
            drop(Store::open_or_create(&path.join(format!("store{party}")), &key, &mut rng).unwrap());
        }
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

fn store(dir: &Path, party: u16) -> Result<Store> {
    Store::open(&dir.join(format!("store{party}")), &StoreKey::read(&dir.join(format!("key{party}"))).unwrap())
}

/// A session of a party, over links that stay.
fn session<'a, C: comity::Channel>(case: &Case, dir: &Path, links: &'a mut PerPeer<C>) -> Result<Session<'a>> {
    let me = links.me();
    LOG.set(dir.join(format!("log{me}")));
    let links = PerPeer::from_vec(me, links.as_mut_slice().iter_mut().collect()).unwrap();
    let session = Session::new(me.0).with(case.protocol).store(store(dir, me.0)?).among(links);
    Ok(if case.protocol.card().name == Mixed.card().name { session.option("tables", "prepared") } else { session })
}

fn prepare<C: comity::Channel>(case: &Case, dir: &Path, links: &mut PerPeer<C>) -> Result<()> {
    let session = session(case, dir, links)?;
    match case.units {
        0 => session.prepare(&(case.program)(), 2, 1 << 30, &mut ()).map(drop),
        units => session.prepare_any(units, 1 << 30, &mut ()).map(drop),
    }
}

fn run<C: comity::Channel>(case: &Case, dir: &Path, links: &mut PerPeer<C>) -> Result<()> {
    const NUMBERS: [u64; 2] = [0x0123_4567_89ab_cdef, 0x7777_3333_5555_1111];
    let number = |number: u64| Bits::from_bytes(&number.to_le_bytes(), 64);
    let input = usize::from(links.me().0);
    let inputs = (input < 2).then(|| (input, number(NUMBERS[input])));
    let program = (case.program)();
    let values = NUMBERS.map(number).into_iter().enumerate();
    let expected = comity::evaluate(&program, values).unwrap();
    if case.in_two_steps {
        session(case, dir, links)?.prepare(&program, 1, 1 << 30, &mut ())?;
    }
    let report = session(case, dir, links)?.run(&program, inputs)?;
    for (output, value) in report.outputs {
        assert!(value == expected[output], "the parties take material that does not belong together");
    }
    Ok(())
}

/// Whether an error tells the reason why there is nothing to run on.
fn says_why(case: &Case, error: &Error) -> bool {
    let lot = format!("lot of {}", case.material);
    matches!(&error.kind, Kind::InvalidInput(why) if why.contains(&lot) && why.contains("comity prepare"))
}

/// The folder where a child that is to be killed works, and which party it is; unset in a common run of the tests.
const CHILD: &str = "COMITY_TEST_KILLS";

/// Not a test by itself: one party, which fills its store and uses it up, until it is killed or another one is.
#[test]
fn child() {
    let Some(place) = std::env::var_os(CHILD) else { return };
    let (place, party) = (Path::new(&place), std::env::var("COMITY_TEST_PARTY").unwrap().parse().unwrap());
    let dir = place.parent().unwrap();
    let case = std::env::var("COMITY_TEST_CASE").unwrap();
    let case = &CASES[case.parse::<usize>().unwrap()];
    let Ok(mut links) = meet(place, party, case.parties) else { return };
    for turn in 0.. {
        let done = if turn % 4 == 0 { prepare(case, dir, &mut links) } else { run(case, dir, &mut links) };
        match done {
            Ok(()) => {}
            Err(error) if turn % 4 != 0 && says_why(case, &error) => {}
            // Another party was killed.
            Err(Error { kind: Kind::Closed | Kind::Io { .. }, .. }) => return,
            Err(error) => panic!("party {party}: {error}"),
        }
    }
}

/// The links of a party, over this machine's network. Each says where it listens in a file.
fn meet(place: &Path, me: u16, parties: u16) -> Result<PerPeer<Connection>> {
    let security = Security::Plain { anywhere: false };
    let settings =
        Settings { me: PartyId(me), parties, security, timeout: PATIENCE, limits: Limits::default(), relay: None };
    let listener = Listener::bind("127.0.0.1:0", &settings)?;
    let file = |party: u16| place.join(format!("address-{party}"));
    let draft = file(me).with_extension("draft");
    fs::write(&draft, listener.address().to_string()).unwrap();
    fs::rename(draft, file(me)).unwrap();
    let address = |party: u16| loop {
        if let Ok(address) = fs::read_to_string(file(party)) {
            break (PartyId(party), address);
        }
        thread::sleep(Duration::from_micros(200));
    };
    let lower: Vec<_> = (0..me).map(address).collect();
    comity_net::meet(Some(&listener), &lower, &settings, &mut |_| ())
}

#[test]
fn killed_again_and_again_nothing_is_used_twice_and_all_agree() {
    killed(&CASES[0], 8);
}

#[test]
fn killed_again_and_again_no_triple_is_used_twice() {
    killed(&CASES[1], 4);
}

#[test]
fn killed_again_and_again_no_triple_of_two_is_used_twice() {
    killed(&CASES[4], 4);
}

#[test]
fn killed_again_and_again_no_share_is_used_twice() {
    killed(&CASES[2], 4);
}

#[test]
fn killed_again_and_again_nothing_is_garbled_on_a_share_that_was_used() {
    killed(&CASES[3], 4);
}

#[test]
fn killed_again_and_again_no_table_is_used_twice() {
    killed(&CASES[5], 4);
}

#[test]
fn killed_again_and_again_no_authenticated_table_is_used_twice() {
    killed(&CASES[6], 4);
}

#[test]
fn killed_again_and_again_nothing_is_garbled_on_a_share_in_a_field_that_was_used() {
    killed(&CASES[7], 4);
}

#[test]
fn killed_again_and_again_nothing_of_several_lots_is_used_twice() {
    killed(&CASES[8], 4);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_nothing_of_several_lots_is_used_twice() {
    killed(&CASES[8], 1000);
}

#[test]
fn killed_again_and_again_no_triple_of_words_is_used_twice() {
    killed(&CASES[9], 4);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_no_triple_of_words_is_used_twice() {
    killed(&CASES[9], 1000);
}

#[test]
#[ignore = "five hundred kills"]
fn killed_five_hundred_times_nothing_is_garbled_on_a_share_in_a_field_that_was_used() {
    killed(&CASES[7], 500);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_no_authenticated_table_is_used_twice() {
    killed(&CASES[6], 1000);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_nothing_is_used_twice_and_all_agree() {
    killed(&CASES[0], 1000);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_no_triple_is_used_twice() {
    killed(&CASES[1], 1000);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_no_triple_of_two_is_used_twice() {
    killed(&CASES[4], 1000);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_no_share_is_used_twice() {
    killed(&CASES[2], 1000);
}

#[allow(clippy::print_stdout, reason = "figures of the long campaign")]
fn killed(case: &Case, kills: u64) {
    // While a child starts it has the locks of this process, also those of another campaign's stores.
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new(&format!("kills-{}-{kills}", number(case)), case.parties);
    let dir = &folder.0;
    let mut draw = Prg::new(Backend::detect(), Block::from_u128(kills.into()));
    let mut draw = |most: u64| draw.block().to_u128() as u64 % most;
    let (mut ended, mut agreed, mut refused) = (0, 0, 0);
    // The batches that the runs at the ends of the rounds use up.
    let enough = kills as usize * 5 / 3;
    for round in 0.. {
        let used = used_once(dir);
        // Where a machine is so busy that the children get nowhere, they get longer.
        let longer = round / kills;
        if longer > 0 && used > enough {
            println!(
                "{round} kills: {used} batches used, none twice; {ended} others had ended by themselves; then {agreed} times a \
                 run on one lot, {refused} times the reason why not"
            );
            break;
        }
        let place = dir.join(format!("round{round}"));
        fs::create_dir(&place).unwrap();
        let mut children: Vec<Process> = (0..case.parties).map(|party| start(case, &place, party)).collect();
        thread::sleep(before_kill(Duration::from_micros(5_000 + draw(120_000)) * case.slower, longer));
        let victim = draw(case.parties.into()) as usize;
        children[victim].kill();
        // The others go on to their next message, or not so far.
        thread::sleep(Duration::from_micros(draw(10_000)));
        children.iter_mut().for_each(Process::kill);
        for child in children {
            let end = child.end();
            ended += u64::from(end.code == Some(0));
            assert!(!end.err.contains("panicked"), "round {round}: {}", end.err);
        }
        fs::remove_dir_all(&place).unwrap();
        used_once(dir);
        for party in 0..case.parties {
            assert!(store(dir, party).unwrap().damaged().unwrap().is_empty(), "round {round}: party {party}");
        }
        match together(case, run, dir) {
            true => agreed += 1,
            false => {
                refused += 1;
                assert!(!together(case, run, dir), "round {round}: they do not stay at it");
                assert!(together(case, prepare, dir) && together(case, run, dir), "round {round}");
            }
        }
    }
}

/// The number by which a child knows its case.
fn number(case: &Case) -> usize {
    CASES.iter().position(|other| std::ptr::eq(other, case)).expect("a case")
}

/// A party as a process of its own.
fn start(case: &Case, place: &Path, party: u16) -> Process {
    let (party, case) = (party.to_string(), number(case).to_string());
    Process::test("child", &[(CHILD, &place), ("COMITY_TEST_PARTY", &party), ("COMITY_TEST_CASE", &case)])
}

/// A party's work.
type Act = fn(&Case, &Path, &mut PerPeer<comity_channel::MemoryChannel>) -> Result<()>;

/// Runs this for all parties, side by side: whether it is done, or all say why not.
fn together(case: &Case, what: Act, dir: &Path) -> bool {
    let ends: Vec<Result<()>> = thread::scope(|scope| {
        let parties = memory_mesh(case.parties, Some(PATIENCE)).into_iter();
        let threads: Vec<_> = parties.map(|mut links| scope.spawn(move || what(case, dir, &mut links))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let done = ends.iter().all(Result::is_ok);
    assert!(done || ends.iter().all(|end| end.as_ref().is_err_and(|why| says_why(case, why))), "{ends:?}");
    done
}

/// The number of batches that were used, none of them twice, and each by all in one session.
fn used_once(dir: &Path) -> usize {
    let mut sessions: BTreeMap<String, String> = BTreeMap::new();
    for party in 0..PARTIES {
        let log = fs::read_to_string(dir.join(format!("log{party}"))).unwrap_or_default();
        let mut own = BTreeMap::new();
        for line in log.lines() {
            let (pad, session) = line.split_once(' ').unwrap();
            assert!(own.insert(pad, session).is_none(), "party {party} has used {pad} twice");
            let first = sessions.entry(pad.to_owned()).or_insert_with(|| session.to_owned());
            assert_eq!(first, session, "party {party} has used {pad} in another session");
        }
    }
    sessions.len()
}
