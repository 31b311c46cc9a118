//! How many executions, and how many of them are opened.

use super::PARTIES;
use crate::system::Soundness;

/// The byte of a challenge for an execution whose root is shown; another one is the party that stays hidden.
pub(crate) const HIDDEN_NONE: u8 = 255;

/// The number of executions `M`, and the number of those in which all parties but one are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// All executions.
    pub(crate) executions: usize,
    /// The number of executions whose online phase is opened.
    pub(crate) opened: usize,
}

impl Parameters {
    /// The parameters of a level, a fixed table.
    pub(crate) fn of(level: Soundness) -> Parameters {
        let (executions, opened) = match level {
            Soundness::Bits40 => (136, 8),
            Soundness::Bits80 => (258, 16),
            Soundness::Bits128 => (343, 27),
        };
        Parameters { executions, opened }
    }

    /// A challenge: which executions are opened, all sets of that size equally likely, and a hidden party in
    /// each. A byte an execution, from random bytes.
    pub(crate) fn challenge(self, mut more: impl FnMut(&mut [u8])) -> Vec<u8> {
        let mut number = || {
            let mut bytes = [0; 4];
            more(&mut bytes);
            u32::from_le_bytes(bytes)
        };
        let mut below = |n: u32| loop {
            // What is beyond the last multiple of n is thrown away.
            let drawn = number();
            if drawn < u32::MAX - u32::MAX % n {
                return (drawn % n) as usize;
            }
        };
        let mut order: Vec<usize> = (0..self.executions).collect();
        let mut challenge = vec![HIDDEN_NONE; self.executions];
        for i in 0..self.opened {
            order.swap(i, i + below((self.executions - i) as u32));
            challenge[order[i]] = below(PARTIES as u32) as u8;
        }
        challenge
    }

    /// Whether this is a challenge of these parameters.
    #[cfg(test)]
    pub(crate) fn has(self, challenge: &[u8]) -> bool {
        let opened = challenge.iter().filter(|hidden| **hidden != HIDDEN_NONE);
        challenge.len() == self.executions
            && opened.clone().count() == self.opened
            && opened.clone().all(|hidden| usize::from(*hidden) < PARTIES)
    }

    /// The bits of soundness against a prover that has wrong corrections in any number of executions: these
    /// must not be among those whose root is shown, and in the others it must guess the hidden party of each
    /// execution whose corrections are right.
    #[cfg(test)]
    pub(crate) fn bits(self, parties: usize) -> f64 {
        let choose = |n: usize, k: usize| (0..k).map(|i| (((n - i) as f64) / ((k - i) as f64)).log2()).sum::<f64>();
        let closed = self.executions - self.opened;
        let passes = (closed..=self.executions).map(|right| {
            choose(right, closed) - choose(self.executions, closed) - (right - closed) as f64 * (parties as f64).log2()
        });
        -passes.fold(f64::NEG_INFINITY, f64::max)
    }
}
