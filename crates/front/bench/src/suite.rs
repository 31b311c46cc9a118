//! `Bench`, a group of measurements, and `Suite`, which collects them and knows which ones are wanted.

use std::sync::OnceLock;
use std::time::Instant;

use comity_channel::NetProfile;
use comity_core::Backend;
use comity_terminal::chart::Panel;
use comity_terminal::failure::Outcome;
use comity_terminal::numbers::scaled;

use crate::measurement::Measurement;

/// A group of measurements.
pub(crate) struct Bench {
    /// The start of the names of its measurements.
    pub(crate) name: &'static str,
    /// The help: one line on what it measures.
    pub(crate) about: &'static str,
    /// The measurement that its figures are held against, so that it is made in the same run.
    pub(crate) ceiling: Option<&'static str>,
    /// The function that measures what [`Suite::wants`].
    pub(crate) run: fn(&mut Suite) -> Outcome,
}

/// The backend that the benchmarks run on, said once. The ceilings are the machine's, whatever runs.
static BACKEND: OnceLock<Backend> = OnceLock::new();

/// Says on which CPU backend to measure.
pub(crate) fn measure_on(backend: Backend) {
    BACKEND.get_or_init(|| backend);
}

/// The CPU backend that is measured.
pub(crate) fn backend() -> Backend {
    *BACKEND.get_or_init(Backend::detect)
}

/// The measurements of one run of `comity bench`.
pub(crate) struct Suite {
    wishes: Vec<String>,
    network: Option<NetProfile>,
    count: Option<usize>,
    measurements: Vec<Measurement>,
    /// Headings, and what stands under them.
    pages: Vec<(String, String)>,
    panels: Vec<Panel>,
}

impl Suite {
    /// A suite of the measurements whose names start with one of `wishes`, or of all if `wishes` is empty.
    /// With the network and the number of OTs that the user asked for, if any.
    pub(crate) fn new(wishes: Vec<String>, network: Option<NetProfile>, count: Option<usize>) -> Suite {
        Suite { wishes, network, count, measurements: Vec::new(), pages: Vec::new(), panels: Vec::new() }
    }

    /// Whether a measurement of this name is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.wishes.is_empty() || self.wishes.iter().any(|wish| name.starts_with(wish.as_str()))
    }

    /// Whether something of this group is asked for by name.
    pub(crate) fn named(&self, group: &str) -> bool {
        self.wishes.iter().any(|wish| wish.starts_with(group))
    }

    /// The network to simulate between parties, if any.
    pub(crate) fn network(&self) -> Option<NetProfile> {
        self.network
    }

    /// The number of OTs that a run shall do, if that was said.
    pub(crate) fn count(&self) -> Option<usize> {
        self.count
    }

    /// The value measured under this name, to be a ceiling.
    pub(crate) fn value(&self, name: &str) -> Option<f64> {
        self.measurements.iter().find(|m| m.name == name).map(|m| m.value)
    }

    /// Measures a rate, if it is wanted: `work` runs once to warm up and then `runs` times, and returns how many
    /// units it did.
    pub(crate) fn rate(
        &mut self,
        name: &str,
        unit: &str,
        ceiling: Option<f64>,
        runs: usize,
        mut work: impl FnMut() -> Outcome<f64>,
    ) -> Outcome {
        if !self.wants(name) {
            return Ok(());
        }
        work()?;
        let mut samples = Vec::with_capacity(runs);
        for _ in 0..runs {
            let start = Instant::now();
            let units = work()?;
            samples.push(units / start.elapsed().as_secs_f64());
        }
        self.record(name, unit, ceiling, samples);
        Ok(())
    }

    /// Takes down the samples of one measurement.
    pub(crate) fn record(&mut self, name: &str, unit: &str, ceiling: Option<f64>, mut samples: Vec<f64>) {
        samples.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (samples.first(), samples.last()) else { return };
        let value = samples[samples.len() / 2];
        self.measurements.push(Measurement {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            ceiling,
            share: ceiling.map(|ceiling| value / ceiling),
            runs: samples.len() as u32,
            min,
            max,
        });
    }

    /// Adds lines of the benchmark's own, to stand behind the measurements, under a heading.
    pub(crate) fn page(&mut self, heading: &str, lines: &str) {
        match self.pages.iter_mut().find(|page| page.0 == heading) {
            Some((_, text)) => text.push_str(lines),
            None => self.pages.push((heading.to_owned(), lines.to_owned())),
        }
    }

    /// Takes a drawing.
    pub(crate) fn draw(&mut self, panel: Panel) {
        self.panels.push(panel);
    }

    /// The drawings, if there are any.
    pub(crate) fn panels(&self) -> &[Panel] {
        &self.panels
    }

    /// The measurements as a table, and the pages behind it.
    pub(crate) fn report(&self) -> String {
        let pages = self.pages.iter().map(|(heading, lines)| format!("\n{heading}\n{lines}"));
        [self.table()].into_iter().chain(pages).collect()
    }

    /// The measurements so far.
    pub(crate) fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// The measurements as a table.
    fn table(&self) -> String {
        let width = self.measurements.iter().map(|m| m.name.len()).max().unwrap_or(0).max(4);
        let mut table =
            format!("{:width$}  {:>10}  {:10}  {:>7}  {:>21}\n", "name", "median", "unit", "ceiling", "range");
        for m in &self.measurements {
            let share = m.share.map(|s| format!("{:.0} %", s * 100.0)).unwrap_or_default();
            let range = format!("{} to {}", scaled(m.min), scaled(m.max));
            let value = scaled(m.value);
            table += &format!("{:width$}  {value:>10}  {:10}  {share:>7}  {range:>21}\n", m.name, m.unit);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_a_median_and_a_range() {
        let mut suite = Suite::new(vec!["garble".into()], None, None);
        assert!(suite.wants("garble.half_gates.aes128"));
        assert!(!suite.wants("machine.aes"));
        suite.record("garble.x", "and/s", Some(10.0), vec![3.0, 1.0, 5.0]);
        let m = &suite.measurements()[0];
        assert_eq!((m.value, m.min, m.max, m.runs, m.share), (3.0, 1.0, 5.0, 3, Some(0.3)));
        assert!(suite.table().contains("garble.x"));
        suite.rate("machine.aes", "blocks/s", None, 1, || panic!("not wanted")).unwrap();
    }

    #[test]
    fn lines_gather_under_their_heading() {
        let mut suite = Suite::new(Vec::new(), None, None);
        for (heading, line) in [("one", "a\n"), ("two", "b\n"), ("one", "c\n")] {
            suite.page(heading, line);
        }
        assert!(suite.report().ends_with("\none\na\nc\n\ntwo\nb\n"), "{}", suite.report());
    }
}
