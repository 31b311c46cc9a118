//! Circuits alone: building, lowering, evaluating in the clear.

use std::hint::black_box;
use std::time::Instant;

use comity_circuit::{Builder, Call, Circuit, Engine, Lowered, Place, Plain, Program, Sliced};
use comity_core::Lanes;
use comity_terminal::failure::Outcome;

use crate::suite::{Bench, Suite};

/// Making circuits, and programs of many calls.
pub(super) const BUILD: Bench = Bench {
    name: "circuit.build",
    about: "gates built by a Builder, and programs of many calls",
    ceiling: Some("machine.memory_copy"),
    run: build,
};

/// Lowering, from wires to slots.
pub(super) const LOWER: Bench =
    Bench { name: "circuit.lower", about: "gates lowered to slots", ceiling: Some("machine.memory_copy"), run: lower };

/// The plain evaluator, one instance.
pub(super) const PLAIN: Bench = Bench {
    name: "circuit.plain",
    about: "gates evaluated in the clear, one instance",
    ceiling: Some("machine.cache_copy"),
    run: plain,
};

/// The bit-sliced evaluator; the unit counts every instance's gates.
pub(super) const SLICED: Bench = Bench {
    name: "circuit.sliced512",
    about: "gates evaluated in the clear, 512 instances at once",
    ceiling: Some("machine.cache_copy"),
    run: sliced,
};

/// The bytes of a gate, in a circuit and on a tape.
const GATE_BYTES: f64 = 12.0;
/// Gates that one run does at least.
const GATES: usize = 1 << 21;

/// A name, and what builds the circuit.
type Named = (&'static str, fn() -> Circuit);

/// Circuits whose slots fit the first cache and others, up to one whose gates fit none.
const CIRCUITS: [Named; 4] = [
    ("aes128", || built_in("aes128")),
    ("sha256", || built_in("sha256")),
    ("mul1024", || built_in("mul1024")),
    ("random4m", random),
];

fn built_in(name: &str) -> Circuit {
    comity_library::find(name).expect("the library has the circuits of the benchmarks")
}

/// Four million gates, each of which reads two of the last 20,000 wires; some of them fold away.
fn random() -> Circuit {
    const REACH: u64 = 20_000;
    let mut state = 7u64;
    let mut b = Builder::new();
    let mut wires = b.input("x", 1024);
    while b.gates() < 4_000_000 {
        // Xorshift: the same circuit every time.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let wire = |number: u64| wires[wires.len() - 1 - (number % REACH.min(wires.len() as u64)) as usize];
        let (x, y) = (wire(state >> 8), wire(state >> 32));
        wires.push(if state.is_multiple_of(4) { b.and(x, y) } else { b.xor(x, y) });
    }
    b.output("y", &wires[wires.len() - 2000..]);
    b.finish()
}

/// Measures something on each circuit that is wanted: `prepare` makes the work, which does the circuit's gates once
/// and counts each `weight` times.
fn each<W: FnMut()>(
    suite: &mut Suite,
    (group, ceiling, weight): (&str, Option<f64>, usize),
    mut prepare: impl FnMut(fn() -> Circuit, &Circuit) -> W,
) -> Outcome {
    for (name, make) in CIRCUITS {
        let name = format!("{group}.{name}");
        if !suite.wants(&name) {
            continue;
        }
        let circuit = make();
        let gates = circuit.gates().len();
        let times = GATES.div_ceil(gates);
        let mut work = prepare(make, &circuit);
        suite.rate(&name, "gates/s", ceiling, 11, || {
            (0..times).for_each(|_| work());
            Ok((weight * times * gates) as f64)
        })?;
    }
    Ok(())
}

fn build(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.memory_copy").map(|bytes| bytes / GATE_BYTES);
    each(suite, ("circuit.build", ceiling, 1), |make, _| move || drop(black_box(make())))?;
    const SORT: &str = "sort4096x32";
    let name = format!("circuit.build.{SORT}");
    if suite.wants(&name) {
        let seconds = (0..11).map(|_| {
            let start = Instant::now();
            black_box(comity_library::program(SORT).expect("the library has the programs of the benchmarks"));
            start.elapsed().as_secs_f64()
        });
        suite.record(&name, "s", None, seconds.collect());
    }
    Ok(())
}

fn lower(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.memory_copy").map(|bytes| bytes / GATE_BYTES);
    each(suite, ("circuit.lower", ceiling, 1), |_, circuit| {
        let circuit = circuit.clone();
        move || drop(black_box(Lowered::new(&circuit)))
    })
}

fn plain(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.cache_copy").map(|bytes| bytes / GATE_BYTES);
    each(suite, ("circuit.plain", ceiling, 1), |_, circuit| calls(Plain::new(), circuit))
}

fn sliced(suite: &mut Suite) -> Outcome {
    // A gate reads and writes more than a copy of one wire.
    let gates = suite.value("machine.cache_copy").map(|bytes| bytes / size_of::<Lanes>() as f64);
    let ceiling = gates.map(|gates| gates * Lanes::COUNT as f64);
    each(suite, ("circuit.sliced512", ceiling, Lanes::COUNT), |_, circuit| calls(Sliced::new(Vec::new()), circuit))
}

/// Calls a circuit on an engine, all inputs zero.
fn calls<E: Engine<Error: std::fmt::Debug>>(mut engine: E, circuit: &Circuit) -> impl FnMut() + use<E> {
    let program = Program::from_circuit(circuit.clone()).expect("one call of a circuit is a program");
    let lowered = &program.lowered()[0];
    let mut end = 0;
    let mut place = |&bits: &usize| {
        end += bits;
        Place { start: end - bits, stride: 0 }
    };
    let args: Vec<Place> = lowered.input_widths().iter().map(&mut place).collect();
    let outs: Vec<Place> = lowered.output_widths().iter().map(&mut place).collect();
    engine.begin(&program).expect("there is memory for the wires");
    move || {
        let circuit = &program.lowered()[0];
        let call = Call { index: 0, circuit, times: 1, args: &args, outs: &outs };
        black_box(&mut engine).call(&call).expect("a call in the clear succeeds");
    }
}
