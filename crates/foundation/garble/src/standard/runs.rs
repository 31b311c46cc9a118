//! XOR gates in batches: a run ends where a gate reads what the run writes.
//!
//! A tape's XOR gates come in order, sorted by their depth, and may depend on each other. Here an XOR is AES
//! under its labels, of which many want to be under way at once.

use comity_core::TapeGate;

use super::prf::BATCH;
use super::unary;

/// The gates of a run that waits, and which slots it reads and writes.
pub(super) struct Runs {
    waiting: Vec<TapeGate>,
    /// For each slot, the last run that read it and the last one that wrote it.
    used: Vec<[u64; 2]>,
    run: u64,
}

impl Runs {
    pub(super) fn new() -> Runs {
        Runs { waiting: Vec::with_capacity(BATCH), used: Vec::new(), run: 1 }
    }

    /// Does XOR gates: `not` those with a constant, one by one; `sums` the others, [`BATCH`] at most at a
    /// time, of which none reads what another writes.
    pub(super) fn all<W: Copy>(
        &mut self,
        gates: &[TapeGate],
        slots: &mut [W],
        not: impl Fn(W) -> W,
        mut sums: impl FnMut(&[TapeGate], &mut [W]),
    ) {
        if self.used.len() < slots.len() {
            self.used.resize(slots.len(), [0; 2]);
        }
        let mut end = |runs: &mut Runs, slots: &mut [W]| {
            runs.run += 1;
            sums(&runs.waiting, slots);
            runs.waiting.clear();
        };
        for gate in gates {
            let (a, b, out) = (gate.a(), gate.b(), gate.out());
            if let Some((other, inverted)) = unary(gate) {
                // It is done at once, before the gates that wait.
                if self.used[other][1] == self.run || self.used[out].contains(&self.run) {
                    end(self, slots);
                }
                slots[out] = if inverted { not(slots[other]) } else { slots[other] };
                continue;
            }
            if self.used[a][1] == self.run || self.used[b][1] == self.run || self.waiting.len() == BATCH {
                end(self, slots);
            }
            (self.used[a][0], self.used[b][0], self.used[out][1]) = (self.run, self.run, self.run);
            self.waiting.push(*gate);
        }
        end(self, slots);
    }
}
