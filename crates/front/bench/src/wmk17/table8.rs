//! Table 8: larger programs.

use comity_circuit::{Program, Step};
use comity_terminal::failure::Outcome;

use crate::picture::Rows;
use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, ratio, time};
use crate::two::NETWORKS;
use crate::wmk17::parties::{GARBLER, Setting};
use crate::wmk17::single::{RHO, authenticated, named, single};
use crate::wmk17::subjects::for_evaluator;
use crate::wmk17::table7::Model;
use crate::wmk17::text::{bounds, profile};

/// Larger programs.
pub(crate) const TABLE8: Bench = Bench {
    name: "wmk17.table8",
    about: "WMK17, table 8: larger programs (if wmk17 is named; the largest, and the slow network, only if the table is)",
    ceiling: Some("machine.loopback"),
    run,
};

/// A row: the program, whether it takes long, and the paper's AND gates, seconds on the fast network, bytes,
/// and the percentage of these that are no garbled circuits.
type Row = (&'static str, bool, u64, f64, f64, f64);

const PAPER: [Row; 8] = [
    ("cmp16384", false, 16_383, 0.67, 128e6, 84.0),
    ("sum128", false, 127, 0.04, 1.8e6, 91.0),
    ("sum256", false, 255, 0.05, 3.4e6, 90.0),
    ("sum1024", false, 1_023, 0.08, 11.2e6, 88.0),
    ("mult128", false, 16_257, 0.13, 22.4e6, 7.0),
    ("mult256", false, 65_281, 0.4, 86.6e6, 3.0),
    ("sort1024x32", false, 1_802_240, 9.43, 2.6e9, 11.5),
    ("sort4096x32", true, 10_223_616, 53.7, 14.2e9, 7.7),
];

/// The exponentiation: the paper's AND gates and seconds.
const MODEXP: (u64, f64) = (4_305_443_839, 5.3 * 3600.0);

pub(super) fn run(suite: &mut Suite) -> Outcome {
    if !named(suite) {
        return Ok(());
    }
    let group = TABLE8.name;
    for (network, net) in NETWORKS {
        let slow = network == "wan";
        if slow && !suite.named(group) {
            continue;
        }
        let setting = Setting { net, rho: RHO, coded: false };
        let mut table = Table::new([
            "",
            "ANDs",
            "paper's",
            "paper, lan",
            "ours",
            "ratio",
            "ag",
            "projected",
            "wire",
            "AES",
            "bytes",
            "paper",
            "no GC",
            "paper",
        ]);
        let mut drawn = Rows::of(["paper, lan", "ours", "ag"]);
        for (name, long, papers_ands, papers_time, papers_bytes, papers_rest) in PAPER {
            if long && !suite.named(group) {
                continue;
            }
            let program =
                for_evaluator(comity_library::program(name).expect("the library has the circuits of the benchmarks"));
            let full = format!("{group}.{name}.{network}");
            let Some(run) = single(suite, &full, &program, setting)? else { continue };
            let ours = suite.value(&full);
            let ag = authenticated(suite, &full, &program, setting)?;
            let total = run.total();
            if net.is_none() {
                suite.record(&format!("{group}.{name}.bytes"), "bytes", None, vec![total as f64]);
                if name == "sort1024x32" {
                    profile(suite, &full, &run);
                }
            }
            // The paper has none of the slow network.
            let papers_time = (!slow).then_some(papers_time);
            drawn.row(name, [papers_time, ours, ag]);
            let projected = Model::of(suite, network).map(|model| model.project(sizes(&program)));
            let tables = 32 * u64::from(RHO) * program.and_gates();
            let rest = 100.0 * (total - tables) as f64 / total as f64;
            let [wire, aes] = bounds(suite, &program, setting, &run);
            table.row([
                name.to_owned(),
                program.and_gates().to_string(),
                papers_ands.to_string(),
                time(papers_time),
                time(ours),
                ratio(papers_time, ours),
                time(ag),
                time(projected),
                time(wire),
                time(aes),
                bytes(total),
                bytes(papers_bytes as u64),
                format!("{rest:.1} %"),
                format!("{papers_rest} %"),
            ]);
        }
        drawn.draw(suite, &format!("WMK17, Table 8, {network}"), "seconds");
        let papers = if slow { "the paper has none" } else { "the paper's times are of its LAN" };
        table.print(suite, &format!("WMK17, Table 8, {network}: larger programs ({papers})"));
    }
    exponentiation(suite)
}

/// Input bits of garbler and evaluator, output bits, AND gates.
fn sizes(program: &Program) -> [f64; 4] {
    let bits = |garblers: bool| {
        let own = program.inputs().iter().filter(|input| (input.owner.includes(GARBLER)) == garblers);
        own.map(|input| input.bits).sum::<usize>() as f64
    };
    let outputs = program.outputs().iter().map(|output| output.bits).sum::<usize>() as f64;
    [bits(true), bits(false), outputs, program.and_gates() as f64]
}

/// Some steps of an exponentiation, and what all would take by their AND gates.
fn exponentiation(suite: &mut Suite) -> Outcome {
    let name = format!("{}.modexp1024.first_steps.localhost", TABLE8.name);
    if !suite.named(TABLE8.name) || !suite.wants(&name) {
        return Ok(());
    }
    let whole =
        for_evaluator(comity_library::program("modexp1024").expect("the library has the circuits of the benchmarks"));
    let program = one_turn_each(&whole);
    let setting = Setting { net: None, rho: RHO, coded: false };
    let Some(run) = single(suite, &name, &program, setting)? else { return Ok(()) };
    let times = whole.and_gates() as f64 / program.and_gates() as f64;
    let seconds = run.seconds * times;
    suite.record(&format!("{}.modexp1024.extrapolated.localhost", TABLE8.name), "s", None, vec![seconds]);
    let mut table = Table::new(["", "ANDs", "time", "bytes"]);
    let (ands, paper) = MODEXP;
    let hours = |seconds: f64| format!("{:.2} h", seconds / 3600.0);
    table.row(["run".to_owned(), program.and_gates().to_string(), time(Some(run.seconds)), bytes(run.total())]);
    let all = bytes((run.total() as f64 * times) as u64);
    table.row(["EXTRAPOLATED".to_owned(), whole.and_gates().to_string(), hours(seconds), all]);
    table.row(["paper, lan".to_owned(), ands.to_string(), hours(paper), bytes(5_500_000_000_000)]);
    table.print(
        suite,
        "WMK17, Table 8, localhost: modexp1024 with one turn of each of its loops, one window of the exponent for one; \
         the whole is EXTRAPOLATED by AND gates, not run",
    );
    Ok(())
}

/// A program that runs the body of each of its outermost loops once.
fn one_turn_each(program: &Program) -> Program {
    let mut steps = program.steps().to_vec();
    for step in &mut steps {
        if let Step::Repeat { times, .. } = step {
            *times = 1;
        }
    }
    Program::new(program.name(), program.wires(), program.circuits().to_vec(), steps).expect("fewer turns fit too")
}
