//! The entries of tables at the indices of unit vectors that are moved by public ones, some vectors at a time:
//! so many that all of them stay in the first cache, wherever they come from.

use core::ops::Range;

use comity_core::{Backend, Vectorize};
use comity_share::bits::BitShares;
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::PublicTable;

/// Words of a line: the widest register.
const GROUP: usize = 8;

/// The vectors that are moved together.
pub const TOGETHER: usize = 64 * GROUP;

/// A bit of at most [`TOGETHER`] vectors side by side.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub struct VectorLine([u64; GROUP]);

impl DefaultIsZeroes for VectorLine {}

impl VectorLine {
    /// Overwrites the first bits by these words, and those after them by zeros.
    ///
    /// # Panics
    /// If there are more than eight words.
    #[inline]
    pub fn put(&mut self, words: &[u64]) {
        self.0 = whole(words);
    }

    /// As [`put`](VectorLine::put), from bytes.
    ///
    /// # Panics
    /// If there are more than 64 bytes.
    #[inline]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        let bytes: [u8; 8 * GROUP] = whole(bytes);
        self.0.iter_mut().zip(bytes.as_chunks().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    }
}

/// An array that begins with these elements. (Most are whole, and are copied as such.)
#[inline(always)]
fn whole<T: Copy + Default, const N: usize>(from: &[T]) -> [T; N] {
    <[T; N]>::try_from(from).unwrap_or_else(|_| {
        let mut whole = [T::default(); N];
        whole[..from.len()].copy_from_slice(from);
        whole
    })
}

/// The entries of tables at the indices of unit vectors plus public ones, of which `by[t]` has bit `t` of all.
/// `vectors` gives the vectors of a range of numbers, at most [`TOGETHER`]: bit `i` of all of them goes into
/// line `i`. Gives the bits of the first table's entries, then those of the second, and so on.
///
/// # Errors
/// Those of `vectors`.
///
/// # Panics
/// If the tables' indices do not have as many bits as there are in `by`, or these are of different lengths.
pub fn entries<E>(
    backend: Backend,
    tables: &[&PublicTable],
    by: &[BitShares],
    mut vectors: impl FnMut(Range<usize>, &mut [VectorLine]) -> Result<(), E>,
) -> Result<Vec<BitShares>, E> {
    let copies = by.first().map_or(0, BitShares::len);
    let fit = tables.iter().all(|table| table.delta == by.len()) && by.iter().all(|bit| bit.len() == copies);
    assert!(fit, "indices of {} bits", by.len());
    let ones: Vec<&[u32]> = tables.iter().flat_map(|table| &table.ones).map(|ones| &ones[..]).collect();
    let mut sums: Vec<BitShares> = ones.iter().map(|_| BitShares::default()).collect();
    sums.iter_mut().for_each(|sum| sum.resize(copies));
    let room = &mut Zeroizing::new(vec![VectorLine::default(); 1 << by.len()].into_boxed_slice())[..];
    for first in (0..copies).step_by(TOGETHER) {
        let these = first..copies.min(first + TOGETHER);
        let words = first / 64..these.end.div_ceil(64);
        vectors(these, room)?;
        backend.vectorize(Move { words, by, ones: &ones, room, sums: &mut sums });
    }
    // Bits after the last copy are zero again.
    sums.iter_mut().for_each(|sum| sum.resize(copies));
    Ok(sums)
}

/// Some vectors, moved by other numbers in each copy, and summed up.
struct Move<'a> {
    /// Their words in `by` and in the sums.
    words: Range<usize>,
    by: &'a [BitShares],
    /// The lines of each sum.
    ones: &'a [&'a [u32]],
    room: &'a mut [VectorLine],
    sums: &'a mut [BitShares],
}

impl Vectorize for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Move { words, by, ones, room, sums } = self;
        let moves = |bit: usize| -> [u64; GROUP] { whole(&by[bit].words()[words.clone()]) };
        // Lines whose numbers differ in one bit change places, in the copies that are moved by it: by two bits
        // at a time, which goes half as often through the cache.
        for bit in (0..by.len() & !1).step_by(2) {
            let (low, high) = (moves(bit), moves(bit + 1));
            for lines in room.chunks_exact_mut(4 << bit) {
                let (a, c) = lines.split_at_mut(2 << bit);
                let ((a, b), (c, d)) = (a.split_at_mut(1 << bit), c.split_at_mut(1 << bit));
                for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                    let ((w, x), (y, z)) = (swapped(a, b, &low), swapped(c, d, &low));
                    let ((w, y), (x, z)) = (swapped(&w, &y, &high), swapped(&x, &z, &high));
                    (*a, *b, *c, *d) = (w, x, y, z);
                }
            }
        }
        if let Some(bit) = (by.len() % 2 == 1).then(|| by.len() - 1) {
            let moves = moves(bit);
            let (low, high) = room.split_at_mut(1 << bit);
            low.iter_mut().zip(high).for_each(|(low, high)| (*low, *high) = swapped(low, high, &moves));
        }
        for (sum, ones) in sums.iter_mut().zip(ones) {
            let mut all = [0; GROUP];
            for &line in *ones {
                let VectorLine(line) = &room[line as usize];
                all.iter_mut().zip(line).for_each(|(all, word)| *all ^= word);
            }
            sum.words_mut()[words.clone()].copy_from_slice(&all[..words.len()]);
        }
    }
}

/// Two lines that have changed places where `these` bits are one.
#[inline(always)]
fn swapped(
    VectorLine(one): &VectorLine,
    VectorLine(other): &VectorLine,
    these: &[u64; GROUP],
) -> (VectorLine, VectorLine) {
    let both: [u64; GROUP] = core::array::from_fn(|i| (one[i] ^ other[i]) & these[i]);
    let with = |line: &[u64; GROUP]| VectorLine(core::array::from_fn(|i| line[i] ^ both[i]));
    (with(one), with(other))
}
