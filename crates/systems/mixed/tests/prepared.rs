//! Words that are opened by adders of a store: what comes out, what is said of it before, what is heard, and runs that
//! lack adders.

use comity_channel::{Counted, Mesh, Traffic, memory_mesh};
use comity_circuit::{Builder, Program};
use comity_core::{Backend, Bits, Error, Kind, Params, PartyId, Result, SessionId};
use comity_library::arith;
use comity_mixed::Mixed;
use comity_protocol::{Costing, Empty, Here, Job, Options, Party, Protocol, Supplies, Talk};
use comity_testing::laws::{self, Laws, Outputs, bits, check, clear, rng};
use comity_testing::{Kept, Net, PATIENCE, Stock, Stocked};

use super::programs::{compiled, random_mix};
use super::stored::products_compared;
use super::{random_inputs, setting};

const TABLES: &str = "adder tables";

/// The options of runs, by what is not pinned.
const PREPARED: [&[(&str, &str)]; 4] = [
    &[("tables", "prepared"), ("sharing", "arithmetic")],
    &[("tables", "prepared"), ("sharing", "yao")],
    &[("tables", "prepared"), ("sharing", "boolean")],
    &[("tables", "prepared")],
];

fn options(values: &[(&str, &str)]) -> Options {
    let mut options = Options::new(Mixed.card());
    values.iter().for_each(|(name, value)| options.set(PartyId(0), name, value).unwrap());
    options
}

fn needs(program: &Program, values: &[(&str, &str)]) -> Vec<(&'static str, u64)> {
    let needs = Mixed.needs(program, &options(values), Params::default()).unwrap();
    needs.iter().map(|need| (need.material, need.batches)).collect()
}

/// Two products that are opened to be compared, and one more of what comes out.
fn compares(k: usize) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", k), b.input("y", k));
    let (product, square) = (arith::mul(&mut b, &x, &y), arith::mul(&mut b, &x, &x));
    let least = arith::min(&mut b, &product, &square);
    let again = arith::mul(&mut b, &least, &product);
    let other = arith::min(&mut b, &again, &square);
    b.output("least", &least);
    b.output("other", &other);
    Program::map(b.finish(), 3, &[]).unwrap().with_owner(1, 1).unwrap()
}

/// What each party ends with, and what it sent: on the material that a run takes, changed by `change`.
fn run(
    program: &Program,
    values: &[Bits],
    options: &Options,
    change: impl Fn(PartyId, &mut Stock) + Sync,
) -> Vec<(Result<Outputs>, Traffic)> {
    let stocks = stocks(program, options, "lot");
    std::thread::scope(|scope| {
        let threads = memory_mesh(2, Some(PATIENCE)).into_iter().zip(stocks).map(|(links, mut stock)| {
            let change = &change;
            scope.spawn(move || {
                let mut counters = Vec::new();
                let mut net = Mesh::new(links.map(|_, link| {
                    let link = Counted::new(link);
                    counters.push(link.counter());
                    link
                }));
                let me = net.me();
                change(me, &mut stock);
                let ended = ends(&mut net, program, values, options, &mut stock);
                (ended, counters[0].counts())
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The material of a run, of both parties.
fn stocks(program: &Program, options: &Options, lot: &str) -> [Stock; 2] {
    Net::<2>::run(|net| {
        let here = Here::new(net.me(), 2, SessionId::derive(lot, &[]));
        let mut draw = rng(u128::from(here.me.0) + 1);
        let mut me = Party { net, here, rng: &mut draw, observer: &mut Outputs::default() };
        Stock::of(&Mixed, &mut me, program, options).unwrap()
    })
}

fn ends(
    net: &mut Mesh<'_>,
    program: &Program,
    values: &[Bits],
    options: &Options,
    from: &mut dyn Supplies,
) -> Result<Outputs> {
    let here = Here::new(net.me(), 2, SessionId::derive("run", &[]));
    let own = program.inputs().iter().zip(values);
    let own: Vec<Option<Bits>> =
        own.map(|(input, value)| (input.owner.party() == Some(here.me)).then(|| value.clone())).collect();
    let (mut draw, mut outputs) = (rng(u128::from(here.me.0) + 7), Outputs::default());
    let mut party = Party { net, here, rng: &mut draw, observer: &mut outputs };
    Mixed.run(&mut party, &Job { program, inputs: &own, options }, from)?;
    Ok(outputs)
}

#[test]
fn words_of_all_widths_are_opened_by_stored_adders() {
    for k in [1usize, 2, 7, 8, 31, 32, 33, 63, 64, 65, 128] {
        let program = compares(k);
        let opens = needs(&program, PREPARED[0]).iter().any(|(material, _)| *material == TABLES);
        assert_eq!(opens, k > 1, "the lowest bit is there as it is");
        for options in &PREPARED[..2] {
            let all = |bit: bool| -> Bits { (0..k).map(|_| bit).collect() };
            let top: Bits = (0..k).map(|i| i + 1 == k).collect();
            let extremes: Bits = [all(true), top.clone(), all(false)].iter().flat_map(Bits::iter).collect();
            let others: Bits = [top, all(true), bits(k, &mut rng(k as u128))].iter().flat_map(Bits::iter).collect();
            let values = [extremes, others];
            check(&Stocked(Mixed), 2, &program, &values, laws::Setting { options, ..setting(Backend::detect()) });
        }
    }
}

#[test]
fn programs_run_on_stored_adders() {
    for seed in 0..10 {
        let mut rng = rng(7000 + seed);
        let program = random_mix(&mut rng);
        for options in PREPARED {
            let values = random_inputs(&program, &mut rng);
            check(&Stocked(Mixed), 2, &program, &values, laws::Setting { options, ..setting(Backend::detect()) });
        }
    }
    let program = compiled(super::stored::ALL);
    let values = random_inputs(&program, &mut rng(1));
    for options in PREPARED {
        check(&Stocked(Mixed), 2, &program, &values, laws::Setting { options, ..setting(Backend::detect()) });
    }
    // More than a batch of them, in turns.
    let program = compiled(
        "fn main(x: [u32; 700] from alice, y: [u32; 700] from bob) -> (r: u32) {
            let mut most = 0u32;
            for i in 0..700 { most = max(most, arithmetic { x[i] * y[i] }); }
            most
        }",
    );
    assert_eq!(needs(&program, PREPARED[1]).last(), Some(&(TABLES, 3)));
    let values = random_inputs(&program, &mut rng(2));
    let setting = laws::Setting { options: PREPARED[1], ..setting(Backend::detect()) };
    check(&Stocked(Mixed), 2, &program, &values, setting);
}

/// Adders bring the OTs of labels with them, and OTs of which words are made come from a lot of their own.
#[test]
fn a_run_needs_adders_where_words_are_opened() {
    let compares =
        compiled("fn main(x: u32 from alice, y: u32 from bob) -> (r: bool) { yao { arithmetic { x * y } < y } }");
    assert_eq!(needs(&compares, PREPARED[0]), [("word triples", 1), (TABLES, 1)]);
    let closes =
        compiled("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { yao { arithmetic { x * y } & y } * x }");
    assert_eq!(needs(&closes, PREPARED[0]), [("word triples", 1), ("OTs from party 0", 1), (TABLES, 1)]);
    let joins = compiled(
        "fn main(x: u32 from alice, y: u32 from bob) -> (r: bool) {
            let both = boolean { x & y };
            yao { (arithmetic { x * y } < y) & (both < x) }
        }",
    );
    assert_eq!(needs(&joins, PREPARED[0]), [("triples", 1), ("word triples", 1), (TABLES, 1)]);
    let opens_none = compiled("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { (x * y) & x }");
    assert_eq!(needs(&opens_none, PREPARED[1]), [("OTs from party 0", 1)]);
}

/// 4 + 4 + 512 bytes for 32 bits, where garbling takes 4 + 992; and whatever the program is, what is said before.
#[test]
fn bytes_and_rounds_are_what_is_said_before() {
    const N: u64 = 64;
    let program = products_compared(N);
    let values = random_inputs(&program, &mut rng(3));
    let ended = run(&program, &values, &options(PREPARED[0]), |_, _| ());
    // The seeds of both streams; a product opens two words; product and y become labels, and are compared; a bit each
    // is revealed.
    let opened = 2 * 16 + N * 8 + N / 8;
    assert_eq!(ended[0].1.sent - opened, 2 * N * (4 + 16 * 32) + N * 32 * 32, "words, labels, and tables");
    assert_eq!(ended[1].1.sent - opened, 2 * N * 4, "a bit for each bit");
    let mut tried = 0;
    for seed in 0..14 {
        let mut rng = rng(8000 + seed);
        let program = if seed % 2 == 0 { random_mix(&mut rng) } else { compares(9 * seed as usize) };
        let set = if seed % 4 == 0 { PREPARED[seed as usize / 4] } else { PREPARED[0] };
        if !needs(&program, set).iter().any(|(material, _)| *material == TABLES) {
            continue;
        }
        tried += 1;
        let (options, mut talk) = (options(set), Talk::new(2));
        let costing = Costing { program: &program, options: &options, params: Params::default(), parties: 2 };
        Mixed.costs(&costing, &mut talk).unwrap();
        let values = random_inputs(&program, &mut rng);
        let expected: Vec<(usize, Bits)> = clear(&program, &values).into_iter().enumerate().collect();
        for (me, (ended, traffic)) in (0..).map(PartyId).zip(run(&program, &values, &options, |_, _| ())) {
            assert_eq!(ended.unwrap().0, expected);
            let said = (talk.sent(me), talk.rounds(me));
            assert_eq!(said, (traffic.sent, traffic.rounds), "program {seed} at party {me}");
        }
    }
    assert!(tried >= 8, "{tried} programs open words");
}

#[test]
fn what_lacks_is_named() {
    let (program, options) = (compares(32), options(PREPARED[0]));
    let values = random_inputs(&program, &mut rng(4));
    let refused = |change: &(dyn Fn(PartyId, &mut Stock) + Sync), words: &str| {
        for (ended, _) in run(&program, &values, &options, change) {
            let why: Error = ended.err().unwrap();
            assert!(matches!(&why.kind, Kind::InvalidInput(why) | Kind::Store(why) if why.contains(words)), "{why}");
        }
    };
    let tables = |stock: &Stock| stock.0.iter().position(|kept| kept.material == TABLES).unwrap();
    let no_adders = |_: PartyId, stock: &mut Stock| stock.0.retain(|kept| kept.material != TABLES);
    refused(&no_adders, "`comity prepare circuit --protocol mixed --option tables=prepared`");
    let used_up = |_: PartyId, stock: &mut Stock| {
        let at = tables(stock);
        stock.0[at] = Kept::new(TABLES, []);
    };
    refused(&used_up, "no batch of adder tables is left");
    let damaged = |_: PartyId, stock: &mut Stock| {
        let at = tables(stock);
        stock.0[at].batches[0].pop();
    };
    refused(&damaged, "a batch of adder tables cannot be read");
    // Without any store.
    for ended in Net::<2>::run(|net| ends(net, &program, &values, &options, &mut Empty).err().unwrap()) {
        assert!(ended.to_string().contains("tables=prepared takes adder tables from a store"), "{ended}");
    }
}

/// The batches of a run are of one lot: their labels have one delta.
#[test]
fn adders_of_two_lots_are_refused() {
    let program = Program::map(compares(128).circuits()[0].clone(), 100, &[]).unwrap().with_owner(1, 1).unwrap();
    let options = options(PREPARED[0]);
    let values = random_inputs(&program, &mut rng(5));
    let others = stocks(&program, &options, "another lot");
    let of = |stock: &Stock| stock.0.iter().position(|kept| kept.material == TABLES).unwrap();
    assert!(others[0].0[of(&others[0])].batches.len() > 1);
    let mixed = |me: PartyId, stock: &mut Stock| {
        let (at, other) = (of(stock), &others[usize::from(me.0)]);
        stock.0[at].batches[1] = other.0[of(other)].batches[1].clone();
    };
    for (ended, _) in run(&program, &values, &options, mixed) {
        let why = ended.err().unwrap();
        assert!(matches!(&why.kind, Kind::Store(why) if why.contains("another lot")), "{why}");
    }
}

/// A batch that is used up is not there for another run.
#[test]
fn adders_serve_one_run() {
    let (program, options) = (compares(32), options(PREPARED[0]));
    let values = random_inputs(&program, &mut rng(6));
    let stocks = stocks(&program, &options, "lot").map(std::sync::Mutex::new);
    for turn in 0..2 {
        let ended = Net::<2>::run(|net| {
            let mut stock = stocks[usize::from(net.me().0)].lock().unwrap();
            ends(net, &program, &values, &options, &mut *stock).map(|outputs| outputs.0)
        });
        for ended in ended {
            match (turn, ended) {
                (0, ended) => assert!(ended.is_ok()),
                (_, ended) => assert!(matches!(ended.unwrap_err().kind, Kind::InvalidInput(_))),
            }
        }
    }
}

#[test]
fn laws_on_stored_adders() {
    let laws = Laws { options: PREPARED[0], ..Laws::USUAL };
    laws::listener(&Stocked(super::heard::Words), &Laws { listened: 4, ..laws });
    laws::deviations(&Stocked(super::heard::Words), &Laws { felt: 20, deviations: 12, ..laws });
}
