//! `CopyChoice`: which copies are evaluated.

use comity_core::{Bits, declassify, declassify_all};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The choice of the copies that are evaluated; the others are checked. It is the evaluator's secret as long as the
/// garbler can still change what it sends, and serves one run.
#[derive(ZeroizeOnDrop)]
pub struct CopyChoice {
    /// The evaluated copies, in order.
    pub evaluated: Vec<usize>,
    /// The checked copies, in order.
    pub checked: Vec<usize>,
}

impl CopyChoice {
    /// The choice that evaluates the copies whose bits are one.
    pub fn new(evaluated: &Bits) -> CopyChoice {
        // Room for all, so that nothing is left behind in what is outgrown.
        let [room, other] = [(); 2].map(|()| Vec::with_capacity(evaluated.len()));
        let mut choice = CopyChoice { evaluated: room, checked: other };
        for (j, bit) in evaluated.iter().enumerate() {
            // A party that evaluates some copies and hashes the others cannot hide it from one who sees the
            // machine. Messages do.
            let side = if declassify(bit, "the evaluator's work with a copy depends on the choice by design") {
                &mut choice.evaluated
            } else {
                &mut choice.checked
            };
            side.push(j);
        }
        choice
    }

    /// A uniform choice among those with at least one evaluated copy: `draw` gives uniform bits, one a copy,
    /// until one of them is one. With none evaluated even an honest run would fail.
    pub fn nonempty(mut draw: impl FnMut() -> Bits) -> CopyChoice {
        loop {
            let bits = draw();
            let any = bits.words().iter().fold(0, |any, word| any | word);
            if declassify(any != 0, "a choice that is drawn anew is forgotten") {
                return CopyChoice::new(&bits);
            }
        }
    }

    /// A uniform choice of `evaluated` copies, from a random number for each copy: those with the smallest.
    /// The numbers have 128 bits so that none are equal.
    pub fn smallest(numbers: impl ExactSizeIterator<Item = u128>, evaluated: usize) -> CopyChoice {
        let mut bits = Bits::zeros(numbers.len());
        let mut order: Zeroizing<Vec<(u128, usize)>> = Zeroizing::new(numbers.zip(0..).collect());
        declassify_all(&mut order, "only their order is of use, which is the choice");
        order.sort_unstable();
        order[..evaluated].iter().for_each(|&(_, j)| bits.set(j, true));
        CopyChoice::new(&bits)
    }

    /// The number of copies, evaluated and checked.
    pub fn copies(&self) -> usize {
        self.evaluated.len() + self.checked.len()
    }

    /// The bits of the copies that say which are evaluated.
    pub fn evaluated_bits(&self) -> Bits {
        self.bits(&self.evaluated)
    }

    /// The bits of the copies that say which are checked.
    pub fn checked_bits(&self) -> Bits {
        self.bits(&self.checked)
    }

    fn bits(&self, ones: &[usize]) -> Bits {
        let mut bits = Bits::zeros(self.copies());
        ones.iter().for_each(|&j| bits.set(j, true));
        bits
    }
}
