//! The tables of Wang, Malozemoff and Katz (Eurocrypt 2017), each figure beside the paper's: two parties over TCP on this
//! machine, one thread each, on the paper's networks, two of them simulated.
//!
//! The paper measured on `c4.2xlarge` machines of Amazon's, one for each party but on localhost. What is slow (the wide-area network,
//! the largest programs) is measured only if its table is named.

mod parties;
mod subjects;
mod table4;
mod table5;
mod table7;
mod table8;
mod text;

use comity_circuit::Program;

use super::two::{Run, median, repeat};
use super::{Bench, Suite};
use crate::failure::Outcome;
use parties::{Setting, execute};

/// What all names begin with.
const GROUP: &str = "wmk17";

/// The statistical security of the paper's tables.
const RHO: u32 = 40;

/// Single executions, and in two parts, of common functions; and Table 6, which are the paper's figures for other protocols.
pub(super) const TABLE4: Bench = Bench {
    name: "wmk17.table4",
    about: "WMK17, tables 4 and 6: ADD, AES, SHA-1, SHA-256 against malicious parties (the slow network only if named)",
    ceiling: Some("machine.loopback"),
    run: |suite| table4::run(suite, TABLE4.name, RHO),
};

/// Table 4 on localhost with more copies.
pub(super) const RHO64: Bench = Bench {
    name: "wmk17.rho64",
    about: "WMK17, table 4 on localhost with rho = 64 (if named)",
    ceiling: Some("machine.loopback"),
    run: |suite| table4::run(suite, RHO64.name, 64),
};

/// Table 4 on localhost with still more copies.
pub(super) const RHO80: Bench = Bench {
    name: "wmk17.rho80",
    about: "WMK17, table 4 on localhost with rho = 80 (if named)",
    ceiling: Some("machine.loopback"),
    run: |suite| table4::run(suite, RHO80.name, 80),
};

/// Building blocks.
pub(super) const TABLE5: Bench = Bench {
    name: "wmk17.table5",
    about: "WMK17, table 5: building blocks (if wmk17 is named; the slow network only if the table is)",
    ceiling: Some("machine.aes"),
    run: table5::run,
};

/// What a bit and a gate cost.
pub(super) const TABLE7: Bench = Bench {
    name: "wmk17.table7",
    about: "WMK17, figure 7 and table 7: the cost of an input bit, an output bit and an AND gate (if wmk17 is named)",
    ceiling: Some("machine.loopback"),
    run: table7::run,
};

/// Larger programs.
pub(super) const TABLE8: Bench = Bench {
    name: "wmk17.table8",
    about: "WMK17, table 8: larger programs (if wmk17 is named; the largest only if the table is)",
    ceiling: Some("machine.loopback"),
    run: table8::run,
};

/// Whether anything of the tables is named: a run of all benchmarks has but the first of them, on localhost.
fn named(suite: &Suite) -> bool {
    suite.named(GROUP)
}

/// Measures single executions, if they are wanted: the time of each, and of the median the rest.
fn single(suite: &mut Suite, name: &str, program: &Program, setting: Setting) -> Outcome<Option<Run>> {
    if !suite.wants(name) {
        return Ok(None);
    }
    let runs = repeat(|| execute(program, setting))?;
    suite.record(name, "s", None, runs.iter().map(|run| run.seconds).collect());
    Ok(median(runs))
}
