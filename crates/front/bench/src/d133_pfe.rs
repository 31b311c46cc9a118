//! Tables 2.1 and 2.2 of PRACTICE deliverable D13.3 (2016): symmetric operations for private functions, and
//! runs of them.
//!
//! What a universal circuit costs follows from its shape, so that each of the ten circuits is run by its
//! numbers alone, as they are printed: its function is some function of the shape. For the library's AES,
//! which is no circuit of the tables, the time to make the bits of its function is measured, too.

use std::time::Instant;

use comity::pfe::{Construction, Function, PFE_LINEAR, PFE_OT, Shape, YaoPfe};
use comity_circuit::{Goal, Program};
use comity_core::Params;
use comity_library::universal::valiant::{Routes, Split};
use comity_library::universal::{direct, universal};
use comity_protocol::{Costing, Options, Protocol, Talk};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::numbers::scaled;

use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, ratio, time};
use crate::two::{Phases, Run, Wire, Work, play, repeat};

/// The group, whose name all its measurements' names begin with.
pub(super) const D133_PFE: Bench = Bench {
    name: "d133.pfe",
    about: "D13.3, tables 2.1 and 2.2: private functions by universal circuits and by extended permutations (large ones only if named)",
    ceiling: Some("machine.loopback"),
    run,
};

/// The statistical security of everything here, which none of it uses.
const RHO: u32 = 40;

/// Gates up to which a circuit runs unasked.
const SMALL: usize = 15_000;

/// A circuit of the tables: the paper's numbers of it.
struct Circuit {
    name: &'static str,
    inputs: usize,
    gates: usize,
    outputs: usize,
    copies: usize,
    /// Table 2.1: operations by Valiant's circuit, by that of Kolesnikov and Schneider, and by Mohassel and Sadeghian.
    operations: [f64; 3],
    /// Table 2.2: milliseconds to compile and for its input and output, and then those and kilobytes by GMW and by Yao.
    run: [f64; 6],
}

const fn circuit(
    name: &'static str,
    [inputs, gates, outputs, copies]: [usize; 4],
    operations: [f64; 3],
    run: [f64; 6],
) -> Circuit {
    Circuit { name, inputs, gates, outputs, copies, operations, run }
}

const CIRCUITS: [Circuit; 10] = [
    circuit(
        "AES-non-exp",
        [256, 31_924, 128, 14_539],
        [1.150e7, 2.797e7, 6.243e6],
        [2_909.2, 6_331.2, 5_522.08, 137_561.13, 2_349.35, 88_417.61],
    ),
    circuit(
        "AES-expanded",
        [1_536, 25_765, 128, 11_089],
        [9.211e6, 2.206e7, 4.943e6],
        [2_103.7, 5_063.6, 4_136.72, 109_033.79, 1_878.75, 70_097.48],
    ),
    circuit(
        "DES-non-exp",
        [128, 19_464, 64, 12_290],
        [7.502e6, 1.560e7, 3.639e6],
        [1_596.2, 4_173.5, 2_695.51, 76_644.38, 1_310.52, 48_180.69],
    ),
    circuit(
        "md5",
        [512, 43_234, 128, 22_623],
        [1.700e7, 3.995e7, 8.681e6],
        [4_043.5, 8_785.4, 7_041.12, 169_558.83, 3_547.68, 110_043.59],
    ),
    circuit("add_32", [64, 187, 33, 58], [35_512.0, 55_341.0, 19_939.0], [11.4, 63.8, 31.97, 457.77, 26.49, 224.77]),
    circuit("comp_32", [64, 150, 1, 1], [19_384.0, 40_222.0, 15_424.0], [5.8, 34.1, 29.94, 340.23, 8.90, 159.73]),
    circuit(
        "mult_32x32",
        [64, 6_995, 64, 5_079],
        [2.522e6, 4.647e6, 1.184e6],
        [328.9, 1_443.2, 1_092.46, 31_053.53, 539.98, 18_741.85],
    ),
    circuit("Branching_18", [72, 121, 4, 3], [17_312.0, 30_994.0, 11_994.0], [4.8, 31.4, 26.23, 307.77, 17.34, 145.87]),
    circuit("CreditCheck", [25, 50, 1, 6], [5_056.0, 9_348.0, 4_198.0], [1.2, 11.4, 26.25, 113.35, 5.67, 45.15]),
    circuit("MobileCode", [80, 64, 16, 0], [12_528.0, 13_727.0, 5_644.0], [3.2, 26.3, 25.71, 202.50, 28.16, 103.45]),
];

impl Circuit {
    /// The shape as D13.3 counts it: each reader beyond the second has a copy.
    fn shape(&self) -> Shape {
        Shape { inputs: self.inputs, outputs: self.outputs, gates: self.gates + self.copies }
    }

    /// The name in measurements.
    fn key(&self) -> String {
        self.name.to_lowercase().replace('-', "_")
    }

    /// Mohassel and Sadeghian's operations by the formula of section 2.4.4, in which a factor `k` is missing
    /// as printed.
    fn by_switches(&self) -> f64 {
        let k = self.gates as f64;
        12.0 * k * (2.0 * k).log2() + 4.0 * k + 12.0
    }
}

/// Gates by equations (2.5) and (2.6), less what both optimizations of section 2.4.3 save: as it is printed,
/// and with outputs of the other sign.
fn by_recurrence(shape: Shape, routes: &mut Routes) -> [usize; 2] {
    let Shape { inputs: u, outputs: v, gates } = shape;
    let all = 2 * routes.nodes(shape.poles()) + gates;
    [all + 9 - (4 * (u + v) + 2 * gates), all + 4 * v - (4 * u + 2 * gates)]
}

/// Calls of a cipher by the party that makes most of them: two for a switch or output, four for a gate.
fn calls(shape: Shape) -> usize {
    2 * (Construction::Liu.switches(shape) + shape.outputs) + 4 * shape.gates
}

/// The bytes that both parties send, as a protocol plans them.
fn planned(protocol: &dyn Protocol, program: &Program) -> Outcome<u64> {
    let (options, params) = (Options::new(protocol.card()), Params::new(128, RHO)?);
    let mut talk = Talk::new(2);
    protocol.costs(&Costing { program, options: &options, params, parties: 2 }, &mut talk).map_err(Failure::from)?;
    Ok([0, 1].map(|party| talk.sent(comity_core::PartyId(party))).iter().sum())
}

fn run(suite: &mut Suite) -> Outcome {
    if suite.wants("d133.pfe.table21") {
        operations(suite)?;
    }
    if suite.wants("d133.pfe.table22") || suite.named("d133.pfe.table22") {
        runs(suite)?;
    }
    copies(suite)?;
    embedding(suite)
}

/// Table 2.1.
fn operations(suite: &mut Suite) -> Outcome {
    let mut table = Table::new([
        "",
        "u",
        "k",
        "v",
        "k*-k",
        "Valiant",
        "as printed",
        "v turned",
        "[44]",
        "[52]",
        "12k log 2k+4k+12",
        "yao-pfe",
        "switches",
        "Valiant's",
        "4-way",
        "hybrid",
        "yao-pfe, bytes",
        "pfe-ot, bytes",
        "pfe-linear, bytes",
    ]);
    let mut routes = Routes::new(Split::Two);
    for circuit in &CIRCUITS {
        let shape = circuit.shape();
        let [printed, turned] = by_recurrence(shape, &mut routes).map(|gates| scaled(4.0 * gates as f64));
        let [valiant, kolesnikov, mohassel] = circuit.operations.map(scaled);
        let [liu, two, four, hybrid] = Construction::ALL.map(|construction| construction.switches(shape).to_string());
        let calls = calls(shape);
        suite.record(&format!("d133.pfe.table21.{}", circuit.key()), "calls", None, vec![calls as f64]);
        let direct = direct::program(Goal::Size, Shape { gates: circuit.gates, ..shape });
        let sent = [
            planned(&YaoPfe, &universal(Goal::Size, shape))?,
            planned(&PFE_OT, &direct)?,
            planned(&PFE_LINEAR, &direct)?,
        ];
        let [garbled, ot, linear] = sent.map(bytes);
        table.row([
            circuit.name.to_owned(),
            circuit.inputs.to_string(),
            circuit.gates.to_string(),
            circuit.outputs.to_string(),
            circuit.copies.to_string(),
            valiant,
            printed,
            turned,
            kolesnikov,
            mohassel,
            scaled(circuit.by_switches()),
            scaled(calls as f64),
            liu,
            two,
            four,
            hybrid,
            garbled,
            ot,
            linear,
        ]);
    }
    table.print(
        suite,
        "D13.3, Table 2.1: operations, the paper's in the columns Valiant, [44] and [52]. Its circuits are here by the counts that it has, and none by its file. \
         `as printed` is four times (2.5) and (2.6) less 4(u+v)+2k*-9, as section 2.4.3 has it; the paper's column is that with v of the other sign, but for two to four \
         gates. `yao-pfe` are cipher calls of its garbler. Switches are those left in the circuit of 2021 and in Valiant's with blocks of two, of four, and both",
    );
    Ok(())
}

/// A run of a universal program.
fn execute(program: &Program, protocol: &dyn Protocol) -> Outcome<Run> {
    let work = Work::new(program, protocol.card(), RHO)?;
    let party = |ch: &mut Wire, party: u16| work.run(protocol, ch, party, &mut Phases::new());
    Ok(play(None, |ch| party(ch, 0), |ch| party(ch, 1))?.0)
}

/// Table 2.2.
fn runs(suite: &mut Suite) -> Outcome {
    let mut table = Table::new([
        "",
        "GMW, paper",
        "its bytes",
        "Yao, paper",
        "its bytes",
        "yao",
        "bytes",
        "yao-pfe",
        "bytes",
        "of yao",
        "the paper's Yao",
    ]);
    let (all, yao) = (suite.named("d133.pfe"), comity::named("yao")?);
    for circuit in CIRCUITS.iter().filter(|circuit| all || circuit.gates < SMALL) {
        note(&format!("d133.pfe.table22.{}", circuit.key()));
        let program = universal(Goal::Size, circuit.shape());
        program.lowered();
        let mut measured = Vec::new();
        // Both in one run, turn by turn.
        let pairs = repeat(|| Ok([execute(&program, yao)?, execute(&program, &YaoPfe)?]))?;
        for (at, name) in ["yao", "yao_pfe"].iter().enumerate() {
            let name = format!("d133.pfe.table22.{}.{name}", circuit.key());
            suite.record(&name, "s", None, pairs.iter().map(|pair| pair[at].seconds).collect());
            measured.push((suite.value(&name), pairs[0][at].total()));
        }
        let [(half_gates, half_gates_bytes), (garbled, garbled_bytes)] = [measured[0], measured[1]];
        let [_, _, gmw, gmw_kb, paper, paper_kb] = circuit.run;
        table.row([
            circuit.name.to_owned(),
            time(Some(gmw / 1e3)),
            bytes((gmw_kb * 1e3) as u64),
            time(Some(paper / 1e3)),
            bytes((paper_kb * 1e3) as u64),
            time(half_gates),
            bytes(half_gates_bytes),
            time(garbled),
            bytes(garbled_bytes),
            ratio(half_gates, garbled),
            ratio(Some(paper / 1e3), garbled),
        ]);
    }
    table.print(
        suite,
        "D13.3, Table 2.2: runs between two parties, the paper's over a gigabit LAN and ours on this machine, of a function of the same numbers u, v and k*. `yao` runs the \
         universal circuit of 2021 as any program, and `yao-pfe` as the owner of the function can garble it",
    );
    Ok(())
}

/// The time to make a function's bits.
fn embedding(suite: &mut Suite) -> Outcome {
    let name = "d133.pfe.embed.aes128";
    if !suite.wants(name) {
        return Ok(());
    }
    let aes = comity_library::find("aes128").expect("the library has AES");
    let program = Program::from_circuit(aes).expect("a circuit is a program");
    let mut samples = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let function = Function::new(&program, &[None, None])?;
        function.program(function.shape())?;
        samples.push(start.elapsed().as_secs_f64());
    }
    suite.record(name, "s", None, samples);
    Ok(())
}

/// The circuits of the library that compute what some of the tables do.
const ALIKE: [(&str, &str); 6] = [
    ("AES-non-exp", "aes128"),
    ("DES-non-exp", "des"),
    ("md5", "md5"),
    ("add_32", "add32"),
    ("comp_32", "lt32"),
    ("mult_32x32", "mulfull32"),
];

/// Gates that copy, and what is saved by serving readers behind a sum, or by showing how often wires are read.
fn copies(suite: &mut Suite) -> Outcome {
    if !suite.wants("d133.pfe.copies") {
        return Ok(());
    }
    let mut table = Table::new([
        "",
        "k, paper",
        "k*-k",
        "library's",
        "k",
        "k*-k",
        "merged",
        "switches by copies",
        "merged",
        "with public arities",
    ]);
    for (paper, name) in ALIKE {
        let circuit = CIRCUITS.iter().find(|circuit| circuit.name == paper).expect("of the table");
        let found = comity_library::find(name).expect("a built-in");
        let known = vec![None; found.inputs().len()];
        let function = Function::new(&Program::from_circuit(found).expect("a circuit is a program"), &known)?;
        let (merged, added, copies) = (function.shape(), function.added(), function.copies());
        let gates = merged.gates - added;
        let copied = Shape { gates: gates + copies, ..merged };
        let key = circuit.key();
        suite.record(&format!("d133.pfe.copies.{key}"), "gates", None, vec![copies as f64]);
        suite.record(&format!("d133.pfe.copies.{key}.merged"), "gates", None, vec![added as f64]);
        let [by_copies, by_sums] = [copied, merged].map(|shape| Construction::Liu.switches(shape).to_string());
        let shown = function.arity().map_or_else(|_| "too many".to_owned(), |arity| arity.switches().to_string());
        table.row([
            paper.to_owned(),
            circuit.gates.to_string(),
            circuit.copies.to_string(),
            name.to_owned(),
            gates.to_string(),
            copies.to_string(),
            added.to_string(),
            by_copies,
            by_sums,
            shown,
        ]);
    }
    table.print(
        suite,
        "Copies, of the library's circuits that compute what six of the ten do; of the other four there is none. `merged` are the gates that are left if readers are \
         served behind a sum where that saves a copy",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_table_2_1_are_its_formulas() {
        let mut routes = Routes::new(Split::Two);
        for circuit in &CIRCUITS {
            let [printed, turned] = by_recurrence(circuit.shape(), &mut routes).map(|gates| 4.0 * gates as f64);
            let [valiant, _, mohassel] = circuit.operations;
            let close = |ours: f64, paper: f64, off: f64| (ours - paper).abs() <= off + paper * 1e-3;
            assert!(close(turned, valiant, 16.0) && printed < valiant, "{}: {printed}, {turned}", circuit.name);
            assert!(close(circuit.by_switches(), mohassel, 20.0), "{}: {}", circuit.name, circuit.by_switches());
        }
    }

    #[test]
    fn a_circuit_of_the_tables_runs_both_ways() {
        let credit = CIRCUITS.iter().find(|circuit| circuit.name == "CreditCheck").expect("it is there");
        let program = universal(Goal::Size, credit.shape());
        let yao = comity::named("yao").unwrap();
        let [yao, garbled] = [yao, &YaoPfe].map(|protocol| execute(&program, protocol).unwrap());
        assert!(garbled.total() < yao.total() && garbled.total() == planned(&YaoPfe, &program).unwrap());
    }
}
