//! Tables for people.

use comity_channel::NetProfile;
use comity_circuit::Program;

use super::super::{Suite, scaled};
use super::parties::{Run, Setting};

/// Rows of cells below a heading; the first column is flush left.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<const N: usize>(heading: [&str; N]) -> Table {
        Table { rows: vec![heading.map(String::from).to_vec()] }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Puts the table on a page, if it has rows.
    pub(super) fn print(self, suite: &mut Suite, heading: &str) {
        if self.rows.len() == 1 {
            return;
        }
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut lines = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
            lines += cells.collect::<Vec<_>>().join("  ").trim_end();
            lines.push('\n');
        }
        suite.page(heading, &lines);
    }
}

/// Seconds, or a dash.
pub(super) fn time(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| format!("{}s", spaced(seconds)))
}

/// Bytes.
pub(super) fn bytes(bytes: u64) -> String {
    format!("{}B", spaced(bytes as f64))
}

/// A number and its prefix, with a space before the unit that follows.
fn spaced(value: f64) -> String {
    let text = scaled(value);
    if text.contains(' ') { text } else { text + " " }
}

/// How many times as long the paper took.
pub(super) fn ratio(paper: Option<f64>, ours: Option<f64>) -> String {
    paper.zip(ours).map_or("-".to_owned(), |(paper, ours)| format!("{:.2}x", paper / ours))
}

/// How long a run takes at least: for its bytes on the network, or through the machine's loopback, and for garbling all copies at the
/// machine's rate of AES, four blocks a gate.
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

/// Bytes a second that a network carries, or the machine's loopback.
pub(super) fn rate(suite: &Suite, net: Option<NetProfile>) -> Option<f64> {
    net.map(|net| net.bits_per_second as f64 / 8.0).or_else(|| suite.value("machine.loopback"))
}
