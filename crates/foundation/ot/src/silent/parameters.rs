//! How large the instances of learning parity with noise are. What attacks on them cost stands in
//! [`security`](super::security).

/// Terms of a row of the code: each output is the sum of this many elements of the secret, half of them in
/// either half of it.
pub(super) const ROW: usize = 10;

/// The size of an iteration: `trees` blocks of `2^depth` outputs, one noisy bit in each (regular noise), over a secret
/// of `dimension` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) trees: usize,
    pub(super) depth: usize,
    pub(super) dimension: usize,
}

impl Parameters {
    /// The parameters of all sessions: 1792 blocks of 1024 over a secret of 2^17 bits. Ten iterations are 2^24 OTs.
    ///
    /// Half of the table that is looked up at a time is 1 MiB, which fits second-level caches of a little
    /// more, and its places are numbers of 16 bits. Blocks of 1024 are the smallest that keep communication
    /// at 0.15 bytes an OT. With 1792 of them this secret leaves 131 bits against every attack of
    /// [`security`](Parameters::security). More blocks would leave less: the more outputs, the smaller the
    /// part of the secret that suffices for an attacker.
    pub const STANDARD: Parameters = Parameters { trees: 1792, depth: 10, dimension: 1 << 17 };

    /// An iteration of this size, for [`security`](Parameters::security)'s estimate.
    pub const fn new(trees: usize, depth: usize, dimension: usize) -> Parameters {
        Parameters { trees, depth, dimension }
    }

    /// Outputs of an iteration.
    pub fn outputs(&self) -> usize {
        self.trees << self.depth
    }

    /// Outputs of an iteration that are the next one's input: the secret, one for each level of each tree, and 128 that
    /// mask the check.
    pub fn reserved(&self) -> usize {
        self.dimension + self.trees * self.depth + 128
    }
}
