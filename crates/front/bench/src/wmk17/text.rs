//! What stands beside a run of cut-and-choose.

use comity_circuit::Program;

use crate::suite::Suite;
use crate::text::{Table, rate, time};
use crate::two::Run;
use crate::wmk17::parties::Setting;

/// The least time of a run: for its bytes on the network, or through the machine's loopback, and for garbling
/// all copies at the machine's rate of AES, four blocks a gate.
pub(super) fn bounds(suite: &Suite, program: &Program, setting: Setting, run: &Run) -> [Option<f64>; 2] {
    let blocks = 4.0 * f64::from(setting.rho) * program.and_gates() as f64;
    let wire = rate(suite, setting.net).map(|rate| run.total() as f64 / rate);
    [wire, suite.value("machine.aes").map(|rate| blocks / rate)]
}

/// Puts the phases of both parties on a page.
pub(super) fn profile(suite: &mut Suite, name: &str, run: &Run) {
    let mut table = Table::new(["", "party", "phase", "time", "share"]);
    for (party, phases) in ["garbler", "evaluator"].iter().zip(&run.phases) {
        for (phase, seconds) in phases {
            let share = format!("{:.0} %", 100.0 * seconds / run.seconds);
            table.row([String::new(), (*party).to_owned(), (*phase).to_owned(), time(Some(*seconds)), share]);
        }
    }
    table.print(suite, &format!("{name}: where the time goes, in the median run of {}", time(Some(run.seconds))));
}
