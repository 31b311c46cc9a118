//! The sizes of the two sets, and the lengths that follow from them.

/// The announced sizes of the two sets, and the statistical parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The size of the sender's set, n1.
    pub(crate) sender: usize,
    /// The size of the receiver's set, n2.
    pub(crate) receiver: usize,
    /// The statistical parameter: in all of a run something goes wrong by chance with probability below 2^-rho.
    pub(crate) rho: u32,
}

impl Sizes {
    /// The bits of a mask where each item of the sender has `functions` of them:
    /// `rho + log2(functions n1) + log2(n2)`, so that no mask of another item is that of one of the
    /// receiver's.
    pub(crate) fn mask_bits(&self, functions: usize) -> u32 {
        (self.rho + self.log2_pairs(functions)).min(128)
    }

    /// The bits of a short item: `rho + log2(n1) + log2(n2)`, so that no two items of the two sets are cut to the same.
    pub(crate) fn item_bits(&self) -> u32 {
        (self.rho + self.log2_pairs(1)).min(126)
    }

    /// The logarithm of the number of comparisons, rounded up.
    fn log2_pairs(&self, functions: usize) -> u32 {
        let pairs = functions as u128 * self.sender.max(1) as u128 * self.receiver.max(1) as u128;
        pairs.next_power_of_two().trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_section() {
        let sizes = Sizes { sender: 1 << 20, receiver: 1 << 20, rho: 40 };
        assert_eq!((sizes.mask_bits(3), sizes.item_bits()), (82, 80));
        let nobody = Sizes { sender: 0, receiver: 0, rho: 40 };
        assert_eq!((nobody.mask_bits(3), nobody.item_bits()), (42, 40));
        // No more than values and digests have.
        let many = Sizes { sender: 1 << 28, receiver: 1 << 28, rho: 100 };
        assert_eq!((many.mask_bits(3), many.item_bits()), (128, 126));
    }
}
