//! Where a run's time and bytes went.

use comity::Report;
use comity_terminal::numbers::{bytes, duration};

/// The cost of a run, and where its time went: a line for all of it, and one for each phase.
pub(crate) fn profile(report: &Report) -> String {
    let mut text = format!(
        "{} AND gates in {}; {} sent, {} received, {} rounds",
        report.and_gates,
        duration(report.seconds),
        bytes(report.bytes_sent),
        bytes(report.bytes_received),
        report.rounds
    );
    if let Some((garbling, assumption)) = report.garbling().zip(report.assumption) {
        text += &format!("\n  garbling: {garbling}, for which {assumption}");
    }
    for (name, seconds) in &report.phases {
        let share = 100.0 * seconds / report.seconds.max(f64::MIN_POSITIVE);
        text += &format!("\n  {name:<8}{:>10}{share:>5.0} %", duration(*seconds));
    }
    text
}
