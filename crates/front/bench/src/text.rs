//! Tables for people.

use comity_channel::NetProfile;
use comity_terminal::numbers::scaled;

use crate::suite::Suite;

/// Rows of cells below a heading; the first column is flush left.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Table {
        Table { rows: vec![heading.map(String::from).to_vec()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Puts the table on a page, if it has rows.
    pub(crate) fn print(self, suite: &mut Suite, heading: &str) {
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

/// A time in seconds, or a dash.
pub(crate) fn time(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| format!("{}s", spaced(seconds)))
}

/// A number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    format!("{}B", spaced(bytes as f64))
}

/// A number and its prefix, with a space before the unit that follows.
fn spaced(value: f64) -> String {
    let text = scaled(value);
    if text.contains(' ') { text } else { text + " " }
}

/// The ratio to the paper: how many times as long it took.
pub(crate) fn ratio(paper: Option<f64>, ours: Option<f64>) -> String {
    paper.zip(ours).map_or("-".to_owned(), |(paper, ours)| format!("{:.2}x", paper / ours))
}

/// Bytes a second that a network carries, or the machine's loopback.
pub(crate) fn rate(suite: &Suite, net: Option<NetProfile>) -> Option<f64> {
    net.map(|net| net.bits_per_second as f64 / 8.0).or_else(|| suite.value("machine.loopback"))
}
