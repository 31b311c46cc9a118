//! Material made ahead: what a run counts is what it uses up, each once, under any sharing; and runs that lack
//! some.

use comity_channel::{Counted, Mesh, memory_mesh};
use comity_circuit::Program;
use comity_core::{Backend, Bits, Kind, Params, PartyId, SessionId};
use comity_mixed::Mixed;
use comity_protocol::{Here, Job, Options, Party, Protocol};
use comity_testing::laws::{self, Laws, Outputs, check, clear, rng};
use comity_testing::{Net, PATIENCE, Stock, Stocked};

use super::programs::compiled;
use super::{random_inputs, setting};

/// All forms, all materials.
pub(super) const ALL: &str =
    "fn main(x: [u32; 40] from alice, y: [u32; 40] from bob, w: u100 from bob) -> (r: [u32; 40], s: u100) {
    let mut r = [0u32; 40];
    for i in 0..40 {
        let product = arithmetic { x[i] * y[i] };
        let both = boolean { product & (x[i] | y[i]) };
        let less = yao { both < y[i] };
        let chosen = arithmetic { if less { product } else { x[i] } };
        r[i] = arithmetic { chosen + both };
    }
    (r, arithmetic { w * w + w })
}";

/// Words that become bits where nothing else takes OTs: by adders on shares of bits.
const ADDED: &str = "fn main(x: [u32; 500] from alice, y: [u32; 500] from bob) -> (r: [u32; 500]) {
    let mut r = [0u32; 500];
    for i in 0..500 { r[i] = boolean { arithmetic { x[i] * y[i] } & y[i] }; }
    r
}";

fn options(sharing: &str) -> Options {
    let mut options = Options::new(Mixed.card());
    options.set(PartyId(0), "sharing", sharing).unwrap();
    options
}

fn needs(program: &Program, sharing: &str) -> Vec<(&'static str, u64)> {
    let needs = Mixed.needs(program, &options(sharing), Params::default()).unwrap();
    needs.iter().map(|need| (need.material, need.batches)).collect()
}

#[test]
fn programs_run_on_what_is_made_ahead() {
    let texts = [
        ALL,
        "fn main(x: u64 from alice, y: u64 from bob) -> (r: u64) { let z = x * y; if z < 5 { z & x } else { y * y } }",
        "fn main(x: u8 from alice, y: u8 from bob) -> (r: u8) { x + y }",
        ADDED,
    ];
    for (turn, text) in texts.into_iter().enumerate() {
        let program = compiled(text);
        for sharing in ["auto", "yao", "boolean", "arithmetic"] {
            let mut rng = rng(turn as u128);
            let inputs = random_inputs(&program, &mut rng);
            let options: &'static [(&'static str, &'static str)] = match sharing {
                "auto" => &[],
                "yao" => &[("sharing", "yao")],
                "boolean" => &[("sharing", "boolean")],
                _ => &[("sharing", "arithmetic")],
            };
            check(&Stocked(Mixed), 2, &program, &inputs, laws::Setting { options, ..setting(Backend::detect()) });
        }
    }
}

#[test]
fn a_run_needs_what_its_sharing_takes() {
    let program = compiled(ALL);
    // What is pinned stays so. 40 times: a product of 32 bits; 32 ORs and 32 ANDs, whose gates are more where they
    // are to be shallow; and conversions.
    let all = ["triples", "word triples", "wide word triples", "OTs from party 0", "OTs from party 1"];
    assert_eq!(needs(&program, "yao"), all.map(|material| (material, 1)));
    let simple = compiled("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { (x * y) & x }");
    assert_eq!(needs(&simple, "boolean"), [("triples", 1)]);
    assert_eq!(needs(&simple, "arithmetic"), [("word triples", 1), ("OTs from party 0", 1)]);
    assert_eq!(needs(&simple, "yao"), [("OTs from party 0", 1)]);
    // Two words of a call become bits, by 159 ANDs each, and 32 ANDs follow: 175,000 in all, where 65,536 are a batch.
    assert_eq!(needs(&compiled(ADDED), "auto"), [("triples", 3), ("word triples", 1)]);
    // Nothing is needed, and a store has to give something.
    let sum = compiled("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { arithmetic { x + y } }");
    assert_eq!(needs(&sum, "arithmetic"), [("OTs from party 0", 1)]);
    let error = Mixed.amount(1, &options("auto"), Params::default()).unwrap_err();
    assert!(error.to_string().contains("name one"), "{error}");
}

/// A party that has made material for one run and more.
fn party<T>(net: &mut Mesh<'_>, program: &Program, run: impl FnOnce(&mut Party<'_, '_>, &mut Stock) -> T) -> T {
    let session = SessionId::derive("test of mixed on a store", &[]);
    let here = Here::new(net.me(), 2, session);
    let (mut draw, mut outputs) = (rng(u128::from(here.me.0) + 1), Outputs::default());
    let mut me = Party { net, here, rng: &mut draw, observer: &mut outputs };
    let mut stock = Stock::of(&Mixed, &mut me.sub("material"), program, &options("yao")).unwrap();
    run(&mut me, &mut stock)
}

fn own(program: &Program, values: &[Bits], me: PartyId) -> Vec<Option<Bits>> {
    let inputs = program.inputs().iter().zip(values);
    inputs.map(|(input, value)| (input.owner.party() == Some(me)).then(|| value.clone())).collect()
}

/// Each batch serves one run; and what is missing, all of it or a batch, is named before an output is there.
#[test]
fn what_is_used_up_or_missing_is_named() {
    let program = compiled(ALL);
    let values = random_inputs(&program, &mut rng(7));
    let options = options("yao");
    let expected: Vec<(usize, Bits)> = clear(&program, &values).into_iter().enumerate().collect();
    let materials = needs(&program, "yao").len();
    Net::<2>::run(|net| {
        let me = net.me();
        let inputs = own(&program, &values, me);
        let job = Job { program: &program, inputs: &inputs, options: &options };
        party(net, &program, |me, stock| {
            let mut outputs = Outputs::default();
            let mut run = |label: &str, stock: &mut Stock, outputs: &mut Outputs| {
                let here = me.here.child(label);
                Mixed.run(&mut Party { net: me.net, here, rng: me.rng, observer: outputs }, &job, stock)
            };
            // Of each material in turn nothing is there.
            for material in 0..materials {
                let mut kept = stock.0.iter().map(|kept| kept.batches.clone()).collect::<Vec<_>>();
                kept[material].clear();
                let mut poor = Stock::default();
                for (kept, batches) in stock.0.iter().zip(kept) {
                    poor.0.push(comity_testing::Kept::new(kept.material, batches));
                }
                let mut other = Outputs::default();
                let why = run(&format!("without {material}"), &mut poor, &mut other).unwrap_err();
                let named = format!("no batch of {} is left", stock.0[material].material);
                assert!(matches!(&why.kind, Kind::InvalidInput(why) if why.contains(&named)), "{named}: {why}");
                assert!(other.0.is_empty());
            }
            run("run", stock, &mut outputs).unwrap();
            assert!(stock.is_used_up() && outputs.0 == expected);
            assert!(matches!(run("again", stock, &mut outputs).unwrap_err().kind, Kind::InvalidInput(_)));
        });
    });
}

/// Of `n` products whether each is less than one of its factors.
pub(super) fn products_compared(n: u64) -> Program {
    compiled(&format!(
        "fn main(x: [u32; {n}] from alice, y: [u32; {n}] from bob) -> (r: [bool; {n}]) {{
            let mut r = [false; {n}];
            for i in 0..{n} {{ r[i] = yao {{ arithmetic {{ x[i] * y[i] }} < y[i] }}; }}
            r
        }}"
    ))
}

/// A run on a store has no base OTs, and an OT is a bit.
#[test]
fn a_run_on_a_store_sends_what_is_opened_and_tables() {
    const N: u64 = 64;
    let program = products_compared(N);
    let values = random_inputs(&program, &mut rng(3));
    let options = options("arithmetic");
    let sent = std::thread::scope(|scope| {
        let threads = memory_mesh(2, Some(PATIENCE)).into_iter().map(|links| {
            let (program, values, options) = (&program, &values, &options);
            scope.spawn(move || {
                let mut counters = Vec::new();
                let mut net = Mesh::new(links.map(|_, link| {
                    let link = Counted::new(link);
                    counters.push(link.counter());
                    link
                }));
                let inputs = own(program, values, net.me());
                party(&mut net, program, |me, stock| {
                    let before = counters[0].counts().sent;
                    Mixed.run(me, &Job { program, inputs: &inputs, options }, stock).unwrap();
                    counters[0].counts().sent - before
                })
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<u64>>()
    });
    // The seeds of both streams; a product opens two words; product and y become labels, and are compared; a bit each
    // is revealed.
    let opened = 2 * 16 + N * 8 + N / 8;
    assert_eq!(sent[0] - opened, N * 32 * (31 + 31 + 32), "tables");
    assert_eq!(sent[1] - opened, N * 64 / 8, "a bit for each OT");
}

#[test]
fn laws_on_a_store() {
    laws::listener(&Stocked(Mixed), &Laws { listened: 4, ..Laws::USUAL });
    laws::deviations(&Stocked(Mixed), &Laws { felt: 20, deviations: 12, ..Laws::USUAL });
}
