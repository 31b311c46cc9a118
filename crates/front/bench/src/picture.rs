//! Measurements as a picture: of a paper's table its rows, with ours beside the paper's; else bars, a panel
//! for each unit.

use comity_terminal::chart::{Bar, Bars, Panel};
use comity_terminal::numbers::scaled;

use crate::measurement::Measurement;
use crate::suite::Suite;

/// The most bars of a panel: of a whole suite, each page has a picture of its own.
const MOST: usize = 60;

/// The bars of the measurements that were asked for by name, with a mark at each ceiling. Names lose what all
/// have in front.
pub(crate) fn bars(measurements: &[Measurement], names: &[String]) -> Vec<Panel> {
    let wanted = |m: &&Measurement| names.is_empty() || names.iter().any(|name| m.name.starts_with(name.as_str()));
    let wanted: Vec<&Measurement> = measurements.iter().filter(wanted).collect();
    let mut units: Vec<&str> = Vec::new();
    for measurement in &wanted {
        if !units.contains(&measurement.unit.as_str()) {
            units.push(&measurement.unit);
        }
    }
    let panel = |unit: &&str| {
        let own: Vec<&&Measurement> = wanted.iter().filter(|m| m.unit == *unit && m.value > 0.0).take(MOST).collect();
        let shared = prefix(&own);
        let bar = |(colour, m): (usize, &&&Measurement)| Bar {
            name: m.name[shared.len()..].to_owned(),
            value: m.value,
            label: scaled(m.value),
            mark: m.ceiling.filter(|ceiling| *ceiling > 0.0),
            colour,
        };
        let title = shared.trim_end_matches('.').to_owned();
        let bars = own.iter().enumerate().map(bar).collect();
        Panel::Bars(Bars { title, unit: (*unit).to_owned(), series: Vec::new(), bars })
    };
    units.iter().map(panel).collect()
}

/// A table of a paper as it is drawn: for each row, a bar for each of its columns that has a value.
pub(crate) struct Rows<const N: usize> {
    series: [&'static str; N],
    rows: Vec<(String, [Option<f64>; N])>,
}

impl<const N: usize> Rows<N> {
    /// No rows yet, of columns with these names.
    pub(crate) fn of(series: [&'static str; N]) -> Rows<N> {
        Rows { series, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, name: impl Into<String>, values: [Option<f64>; N]) {
        self.rows.push((name.into(), values));
    }

    /// Draws the rows, if there are any.
    pub(crate) fn draw(self, suite: &mut Suite, title: &str, unit: &str) {
        let mut bars = Vec::new();
        for (name, values) in self.rows {
            let mut name = Some(name);
            for (colour, value) in values.into_iter().enumerate() {
                let Some(value) = value.filter(|value| *value > 0.0) else { continue };
                bars.push(Bar {
                    name: name.take().unwrap_or_default(),
                    value,
                    label: scaled(value),
                    mark: None,
                    colour,
                });
            }
        }
        if !bars.is_empty() {
            let series = self.series.map(String::from).to_vec();
            suite.draw(Panel::Bars(Bars { title: title.into(), unit: unit.into(), series, bars }));
        }
    }
}

/// The parts of names, up to a dot, that all have in front. A name alone keeps its last part.
fn prefix(measurements: &[&&Measurement]) -> String {
    let Some(first) = measurements.first() else { return String::new() };
    let ends = first.name.match_indices('.').map(|(at, _)| at + 1);
    let shared = ends.take_while(|&end| measurements.iter().all(|m| m.name.starts_with(&first.name[..end])));
    first.name[..shared.last().unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use comity_terminal::chart::svg;

    use super::*;

    fn measured(name: &str, value: f64, unit: &str, ceiling: Option<f64>) -> Measurement {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Measurement { name, value, unit, ceiling, share: None, runs: 1, min: value, max: value }
    }

    #[test]
    fn each_unit_has_a_panel_and_each_ceiling_a_mark() {
        let all = [
            measured("machine.copy", 1e9, "bytes/s", None),
            measured("wmk17.table4.aes", 100.0, "ms", None),
            measured("wmk17.table4.sha", 1000.0, "ms", None),
            measured("wmk17.table4.rate", 10.0, "and/s", Some(100.0)),
        ];
        let drawn = svg(&bars(&all, &["wmk17.table4".into()]));
        assert_eq!((drawn.matches("<g ").count(), drawn.matches("<rect x=").count()), (2, 3));
        assert!(
            drawn.contains(">wmk17.table4<")
                && drawn.contains(">aes<")
                && drawn.contains(">rate<")
                && !drawn.contains("copy")
        );
        assert_eq!(drawn.matches("stroke=\"black\" stroke-width=\"2\"").count(), 1);
        assert_eq!(svg(&bars(&all, &[])).matches("<g ").count(), 3);
    }

    #[test]
    fn a_papers_row_has_a_bar_for_each_value() {
        let mut suite = Suite::new(Vec::new(), None, None);
        Rows::of(["paper", "here"]).draw(&mut suite, "nothing", "s");
        assert!(suite.panels().is_empty());
        let mut rows = Rows::of(["paper", "here"]);
        rows.row("aes", [Some(0.05), Some(0.02)]);
        rows.row("sort", [None, Some(1.5)]);
        rows.draw(&mut suite, "Table 4", "s");
        let drawn = svg(suite.panels());
        assert_eq!((drawn.matches("<g ").count(), drawn.matches("<rect x=").count()), (1, 3));
        assert!(drawn.contains(">Table 4<") && drawn.contains(">sort<") && drawn.contains(">paper<"));
    }
}
