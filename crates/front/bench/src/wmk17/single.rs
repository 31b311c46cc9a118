//! Single executions, and which measurements are wanted.

use comity_circuit::Program;
use comity_terminal::failure::Outcome;

use crate::suite::Suite;
use crate::two::{Run, median, repeat};
use crate::wmk17::parties::{Setting, execute, execute_authenticated};

/// The group, whose name all its measurements' names begin with.
const GROUP: &str = "wmk17";

/// The statistical security of the paper's tables.
pub(crate) const RHO: u32 = 40;

/// Whether anything of the tables is named: a run of all benchmarks has but the first of them, on localhost.
pub(crate) fn named(suite: &Suite) -> bool {
    suite.named(GROUP)
}

/// Measures single executions, if they are wanted: the time of each, and of the median the rest.
pub(crate) fn single(suite: &mut Suite, name: &str, program: &Program, setting: Setting) -> Outcome<Option<Run>> {
    if !suite.wants(name) {
        return Ok(None);
    }
    let runs = repeat(|| execute(program, setting))?;
    suite.record(name, "s", None, runs.iter().map(|run| run.seconds).collect());
    Ok(median(runs))
}

/// Measures the same by authenticated garbling, if the execution is wanted: seconds, under `NAME.ag`.
pub(crate) fn authenticated(
    suite: &mut Suite,
    name: &str,
    program: &Program,
    setting: Setting,
) -> Outcome<Option<f64>> {
    let name = format!("{name}.ag");
    if !suite.wants(&name) {
        return Ok(None);
    }
    let runs = repeat(|| execute_authenticated(program, setting))?;
    suite.record(&name, "s", None, runs.iter().map(|run| run.seconds).collect());
    Ok(suite.value(&name))
}
