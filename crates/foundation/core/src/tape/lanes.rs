//! `Lanes`: one wire in 512 instances.

use core::ops::{BitAnd, BitXor};

use crate::arch::Backend;
use crate::memory::bits::Bits;
use crate::memory::transpose::transpose;

/// A wire's bit in each of 512 instances: that of instance `k` is bit `k % 64` of word `k / 64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Lanes(pub [u64; 8]);

impl Lanes {
    /// The number of instances.
    pub const COUNT: usize = 512;

    /// The lanes with the same bit in every instance.
    pub const fn all(bit: bool) -> Lanes {
        Lanes([if bit { u64::MAX } else { 0 }; 8])
    }

    /// Turns values of `bits` bits into wires: `values[k]` is that of instance `k`; instances without a value
    /// are zero.
    ///
    /// # Panics
    /// If there are more than [`Lanes::COUNT`] values, or one has another length.
    pub fn slice<'a>(values: impl IntoIterator<Item = &'a Bits>, bits: usize) -> Vec<Lanes> {
        let columns = bits.next_multiple_of(64);
        let mut rows = Vec::with_capacity(Lanes::COUNT * columns / 8);
        for (k, value) in values.into_iter().enumerate() {
            assert!(k < Lanes::COUNT, "at most {} instances", Lanes::COUNT);
            assert_eq!(value.len(), bits, "the length of the value of instance {k}");
            rows.extend(value.words().iter().flat_map(|word| word.to_le_bytes()));
        }
        rows.resize(Lanes::COUNT * columns / 8, 0);
        let mut wires = vec![0; rows.len()];
        transpose(Backend::detect(), &rows, &mut wires, Lanes::COUNT, columns);
        let words = |bytes: &[u8]| core::array::from_fn(|i| core::array::from_fn(|j| bytes[8 * i + j]));
        wires.chunks_exact(Lanes::COUNT / 8).take(bits).map(|wire| Lanes(words(wire).map(u64::from_le_bytes))).collect()
    }

    /// Turns wires into values, one for each of the 512 instances.
    pub fn unslice(wires: &[Lanes]) -> Vec<Bits> {
        let rows = wires.len().next_multiple_of(64);
        let mut bytes: Vec<u8> = wires.iter().flat_map(|wire| wire.0).flat_map(u64::to_le_bytes).collect();
        bytes.resize(rows * Lanes::COUNT / 8, 0);
        let mut values = vec![0; bytes.len()];
        transpose(Backend::detect(), &bytes, &mut values, rows, Lanes::COUNT);
        (0..Lanes::COUNT).map(|k| Bits::from_bytes(&values[k * rows / 8..][..rows / 8], wires.len())).collect()
    }
}

impl BitXor for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn bitxor(mut self, other: Lanes) -> Lanes {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word ^= other;
        }
        self
    }
}

impl BitAnd for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn bitand(mut self, other: Lanes) -> Lanes {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
        self
    }
}
