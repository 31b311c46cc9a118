//! How many trees there are, and how high each is.

/// The levels of the trees, each the number of bits of Delta that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// The trees, from the lowest bits of Delta on.
    pub(crate) levels: &'static [usize],
}

impl Parameters {
    /// The parameters of a file, a fixed table of one: 5,888 leaves.
    ///
    /// Eleven trees, `7 * 12 + 4 * 11` levels, are as sound and have 36,864 leaves. A preimage of SHA-256
    /// then takes 34.0 kB and not 45.6, but four times the time on both sides (16.5 and 13.9 ms of processor
    /// time for 3.3 and 2.8): a quarter of the bytes is not worth that, and a second entry would be one more
    /// thing to choose.
    pub(crate) const FILE: Parameters = Parameters { levels: &[9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 8, 8, 8, 8, 8] };

    /// The trees.
    pub(crate) fn trees(self) -> usize {
        self.levels.len()
    }

    /// The leaves of all trees.
    pub(crate) fn leaves(self) -> usize {
        self.levels.iter().map(|levels| 1 << levels).sum()
    }

    /// The bits of Delta.
    pub(crate) fn bits_of_delta(self) -> usize {
        self.levels.iter().sum()
    }

    /// The levels of each tree, and the first one of its bits in Delta.
    pub(crate) fn each(self) -> impl Iterator<Item = (usize, usize)> {
        self.levels.iter().scan(0, |first, &levels| {
            *first += levels;
            Some((levels, *first - levels))
        })
    }

    /// The leaf of each tree that stays hidden, the number that its bits of Delta are.
    pub(crate) fn hidden(self, delta: u128) -> impl Iterator<Item = usize> {
        self.each().map(move |(levels, first)| (delta >> first) as usize & ((1 << levels) - 1))
    }

    /// The bits of soundness: a hash forges with the probability of the likeliest of what each of the
    /// challenges decides, and no more than the sum of these: the linear hash of two trees' difference,
    /// coefficients that cancel, a Delta among two.
    pub(crate) fn bits(self) -> f64 {
        let pairs = (self.trees() * (self.trees() - 1) / 2) as f64;
        let delta = 2.0 * (-(self.bits_of_delta() as f64)).exp2();
        -(pairs * (-256f64).exp2() + (-128f64).exp2() + delta).log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_has_128_bits_and_a_forger_126() {
        let file = Parameters::FILE;
        assert_eq!((file.bits_of_delta(), file.trees(), file.leaves()), (128, 15, 5888));
        assert!((file.bits() - 126.415).abs() < 0.001);
        let hidden: Vec<usize> = Parameters { levels: &[3, 1, 4] }.hidden(0b1011_0110).collect();
        assert_eq!(hidden, [0b110, 0, 0b1011]);
    }
}
