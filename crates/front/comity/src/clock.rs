//! `Clock`: takes the time of phases, collects the outputs, and passes on how it goes.

use std::time::Instant;

use comity_circuit::Observer;
use comity_core::Bits;

use crate::watch::Watch;

/// The observer of a session.
pub(crate) struct Clock<'a> {
    watch: &'a mut dyn Watch,
    start: Instant,
    phases: Vec<(&'static str, Instant)>,
    outputs: Vec<(usize, Bits)>,
}

/// The times that a stopped clock shows.
pub(crate) struct Times {
    /// The time in all.
    pub(crate) seconds: f64,
    /// The time of each phase, in the order in which they began first.
    pub(crate) phases: Vec<(&'static str, f64)>,
    /// The outputs that were revealed, by index.
    pub(crate) outputs: Vec<(usize, Bits)>,
}

impl<'a> Clock<'a> {
    /// A clock that starts now.
    pub(crate) fn start(watch: &'a mut dyn Watch) -> Clock<'a> {
        Clock { watch, start: Instant::now(), phases: Vec::new(), outputs: Vec::new() }
    }

    /// Notes that a phase of the session itself begins.
    pub(crate) fn phase_begins(&mut self, name: &'static str) {
        Observer::phase(self, name);
    }

    /// The observer that waits.
    pub(crate) fn watch(&mut self) -> &mut dyn Watch {
        self.watch
    }

    /// Stops the clock.
    pub(crate) fn stop(mut self) -> Times {
        let end = Instant::now();
        let ends = self.phases.iter().skip(1).map(|phase| phase.1).chain([end]);
        let mut phases: Vec<(&'static str, f64)> = Vec::new();
        for (&(name, begin), end) in self.phases.iter().zip(ends) {
            let seconds = (end - begin).as_secs_f64();
            match phases.iter_mut().find(|phase| phase.0 == name) {
                Some(phase) => phase.1 += seconds,
                None => phases.push((name, seconds)),
            }
        }
        self.outputs.sort_by_key(|output| output.0);
        Times { seconds: (end - self.start).as_secs_f64(), phases, outputs: self.outputs }
    }
}

impl Observer for Clock<'_> {
    fn output(&mut self, index: usize, value: Bits) {
        self.outputs.push((index, value));
    }

    fn phase(&mut self, name: &'static str) {
        // A system and the program that it runs may both say so.
        if self.phases.last().is_none_or(|last| last.0 != name) {
            self.phases.push((name, Instant::now()));
            self.watch.phase(name);
        }
    }

    fn and_gates(&mut self, done: u64) {
        self.watch.and_gates(done);
    }
}
