//! Measurements as a picture: bars, a panel for each unit.

use comity_terminal::chart::{Bar, Bars, Panel, svg};
use comity_terminal::numbers::scaled;

use crate::measurement::Measurement;

/// The most bars of a panel: of a whole suite, each page has a picture of its own.
const MOST: usize = 60;

/// The bars of the measurements that were asked for by name, with a mark at each ceiling. Names lose what all have in front.
pub(crate) fn bars(measurements: &[Measurement], names: &[String]) -> String {
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
        let bar = |m: &&&Measurement| Bar {
            name: m.name[shared.len()..].to_owned(),
            value: m.value,
            label: scaled(m.value),
            mark: m.ceiling.filter(|ceiling| *ceiling > 0.0),
        };
        let title = shared.trim_end_matches('.').to_owned();
        Panel::Bars(Bars { title, unit: (*unit).to_owned(), bars: own.iter().map(bar).collect() })
    };
    svg(&units.iter().map(panel).collect::<Vec<_>>())
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
        let svg = bars(&all, &["wmk17.table4".into()]);
        assert_eq!((svg.matches("<g ").count(), svg.matches("<rect x=").count()), (2, 3));
        assert!(
            svg.contains(">wmk17.table4<") && svg.contains(">aes<") && svg.contains(">rate<") && !svg.contains("copy")
        );
        assert_eq!(svg.matches("stroke=\"black\" stroke-width=\"2\"").count(), 1);
        assert_eq!(bars(&all, &[]).matches("<g ").count(), 3);
    }
}
