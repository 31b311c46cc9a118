//! Matrices over GF(2^8) times vectors of bytes, the whole work of the erasure code.
//!
//! Sixteen bytes of four places of a message make a strip of 64 bytes. The strips of all messages are brought together
//! first; then several outputs are summed up in registers, each strip being multiplied by a constant for each of them.
//! Multiplying by a constant is linear over GF(2): one affine instruction (GFNI), or two shuffles in tables of sixteen
//! bytes that are registers, one for either half of a byte, or without such instructions eight masked additions. None
//! of them branches or looks up memory by the data.
//!
//! *Cost.* One product and one addition of 64 bytes for each entry of the matrix and strip.

#[cfg(target_arch = "aarch64")]
use super::aarch64;
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{Backend, Kind};

/// Bytes that are next to each other in memory wherever the data come from.
const PIECE: usize = 16;
/// Pieces in a strip.
pub(super) const PIECES: usize = 4;
/// Bytes in a strip.
const STRIP: usize = PIECE * PIECES;

/// The product `a b` in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, the field of AES.
pub(crate) const fn multiply(a: u8, b: u8) -> u8 {
    let (mut product, mut a, mut bit) = (0, a, 0);
    while bit < 8 {
        product ^= a & (b >> bit & 1).wrapping_neg();
        a = a << 1 ^ 0x1b & (a >> 7).wrapping_neg();
        bit += 1;
    }
    product
}

/// A strip in registers.
///
/// # Safety
/// Every method needs the instructions of the machine whose module implements it; pointers are good for 16
/// bytes, of any alignment.
pub(super) trait Strip: Copy {
    /// A constant as this machine multiplies by it.
    type Factor: Copy;
    /// A strip as this machine multiplies it.
    type Split: Copy;
    /// The most outputs that are summed up at a time: as many as there are registers for.
    const WIDE: usize;

    unsafe fn gather(from: [*const u8; PIECES]) -> Self;
    unsafe fn scatter(self, to: [*mut u8; PIECES]);
    unsafe fn zero() -> Self;
    unsafe fn split(self) -> Self::Split;
    /// The sum `self + factor * x`.
    unsafe fn add_product(self, x: &Self::Split, factor: &Self::Factor) -> Self;
}

/// The pieces of a message, at equal distances in bytes.
#[derive(Clone, Copy)]
pub(super) struct Pieces<P> {
    start: P,
    step: usize,
}

impl Pieces<*const u8> {
    fn of(bytes: &[u8]) -> Self {
        Pieces { start: bytes.as_ptr(), step: PIECE }
    }

    /// # Safety
    /// The message has the four pieces.
    #[inline(always)]
    unsafe fn strip(self, strip: usize) -> [*const u8; PIECES] {
        // SAFETY: the caller's promise.
        [0, 1, 2, 3].map(|piece| unsafe { self.start.add((PIECES * strip + piece) * self.step) })
    }
}

impl Pieces<*mut u8> {
    fn of(bytes: &mut [u8]) -> Self {
        Pieces { start: bytes.as_mut_ptr(), step: PIECE }
    }

    /// # Safety
    /// The message has the four pieces.
    #[inline(always)]
    unsafe fn strip(self, strip: usize) -> [*mut u8; PIECES] {
        // SAFETY: the caller's promise.
        [0, 1, 2, 3].map(|piece| unsafe { self.start.add((PIECES * strip + piece) * self.step) })
    }
}

/// The entries of a matrix as a machine multiplies by them: by groups of outputs, in each by inputs.
enum Factors {
    Bytes(Vec<u8>),
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Nibbles(Vec<[[u8; 16]; 2]>),
    /// As nibbles, in the groups of registers of 128 bits.
    #[cfg(target_arch = "x86_64")]
    NarrowNibbles(Vec<[[u8; 16]; 2]>),
    #[cfg(target_arch = "x86_64")]
    Affine(Vec<u64>),
}

/// The products of a constant with all low and all high halves of a byte.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn nibbles(constant: u8) -> [[u8; 16]; 2] {
    [0, 4].map(|shift| core::array::from_fn(|half| multiply(constant, (half as u8) << shift)))
}

/// A matrix over GF(2^8), made ready for a backend.
pub(crate) struct Matrix {
    inputs: usize,
    outputs: usize,
    factors: Factors,
}

/// Messages side by side: one row of 16-byte blocks for each 16 bytes of them.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) rows: &'a [crate::memory::block::Block],
    /// The number of messages, which is the blocks in a row.
    pub(crate) width: usize,
}

impl Matrix {
    /// The matrix of `inputs` columns with these entries, row after row.
    pub(crate) fn new(backend: Backend, inputs: usize, entries: &[u8]) -> Matrix {
        let outputs = entries.len().checked_div(inputs).unwrap_or(0);
        assert_eq!(entries.len(), inputs * outputs, "whole rows");
        let grouped = |wide| {
            let entries = groups(outputs, wide).flat_map(move |group| {
                (0..inputs).flat_map(move |i| group.clone().map(move |output| entries[output * inputs + i]))
            });
            entries.collect::<Vec<u8>>()
        };
        let factors = match backend.0 {
            Kind::Portable => Factors::Bytes(grouped(<[u64; 8]>::WIDE)),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi128 => {
                Factors::NarrowNibbles(grouped(x86_64::erasure::Ssse3::WIDE).into_iter().map(nibbles).collect())
            }
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi | Kind::Vaes256 => {
                Factors::Nibbles(grouped(x86_64::erasure::Avx2::WIDE).into_iter().map(nibbles).collect())
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => {
                Factors::Affine(grouped(x86_64::erasure::Gfni::WIDE).into_iter().map(x86_64::erasure::affine).collect())
            }
            #[cfg(target_arch = "aarch64")]
            Kind::Armv8 | Kind::Armv8Sha3 => {
                Factors::Nibbles(grouped(aarch64::erasure::Neon::WIDE).into_iter().map(nibbles).collect())
            }
        };
        Matrix { inputs, outputs, factors }
    }

    /// The products with messages that are slices.
    ///
    /// # Panics
    /// If there is not a message for each column and row of the matrix, or their lengths differ.
    pub(crate) fn apply(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) {
        assert!(inputs.len() == self.inputs && outputs.len() == self.outputs, "a message for each column and row");
        let Some(len) = inputs.first().map(|first| first.len()) else { return };
        let equal = inputs.iter().all(|input| input.len() == len) && outputs.iter().all(|output| output.len() == len);
        assert!(equal, "messages of equal length");
        let sources: Vec<_> = inputs.iter().map(|input| Pieces::<*const u8>::of(input)).collect();
        let targets: Vec<_> = outputs.iter_mut().map(|output| Pieces::<*mut u8>::of(output)).collect();
        // SAFETY: all messages have this number of strips.
        unsafe { self.run(&sources, &targets, len / STRIP) };
        let done = len / STRIP * STRIP;
        self.rest(
            len > done,
            |i, strip| strip[..len - done].copy_from_slice(&inputs[i][done..]),
            |i, strip| outputs[i][done..].copy_from_slice(&strip[..len - done]),
        );
    }

    /// The products with messages that are columns of rows: first those of `inputs[0]`, then those of the next.
    ///
    /// # Panics
    /// If there is not a message for each column and row of the matrix, or there are not equally many rows everywhere.
    pub(crate) fn apply_rows(&self, inputs: &[Rows<'_>], outputs: &mut [crate::memory::block::Block]) {
        let width = self.outputs;
        assert_eq!(inputs.iter().map(|input| input.width).sum::<usize>(), self.inputs, "a message for each column");
        let mut filled = inputs.iter().filter(|input| input.width > 0);
        let count = filled.clone().next().map_or(0, |input| input.rows.len() / input.width);
        assert!(filled.all(|input| input.rows.len() == count * input.width), "equally many whole rows");
        assert_eq!(outputs.len(), count * width, "a block for each output and row");
        let columns: Vec<(usize, Rows<'_>)> =
            inputs.iter().flat_map(|&input| (0..input.width).map(move |column| (column, input))).collect();
        let source = |&(column, Rows { rows, width }): &(usize, Rows<'_>)| Pieces {
            start: rows.as_ptr().wrapping_add(column).cast::<u8>(),
            step: PIECE * width,
        };
        let sources: Vec<_> = columns.iter().map(source).collect();
        let start = outputs.as_mut_ptr();
        let targets: Vec<_> =
            (0..width).map(|i| Pieces { start: start.wrapping_add(i).cast::<u8>(), step: PIECE * width }).collect();
        // SAFETY: all messages have this number of strips.
        unsafe { self.run(&sources, &targets, count / PIECES) };
        let done = count / PIECES * PIECES;
        self.rest(
            count > done,
            |i, strip| {
                let (column, Rows { rows, width }) = columns[i];
                for (row, piece) in (done..count).zip(strip.chunks_exact_mut(PIECE)) {
                    piece.copy_from_slice(&rows[row * width + column].to_bytes());
                }
            },
            |i, strip| {
                for (row, piece) in (done..count).zip(strip.as_chunks::<PIECE>().0) {
                    outputs[row * width + i] = crate::memory::block::Block::new(*piece);
                }
            },
        );
    }

    /// Does the last strip, if it is not whole: brought by `from`, message by message, and taken away by `to`.
    fn rest(&self, any: bool, from: impl Fn(usize, &mut [u8; STRIP]), mut to: impl FnMut(usize, &[u8; STRIP])) {
        if !any {
            return;
        }
        let (mut inputs, mut outputs) = (vec![[0; STRIP]; self.inputs], vec![[0; STRIP]; self.outputs]);
        inputs.iter_mut().enumerate().for_each(|(i, strip)| from(i, strip));
        let sources: Vec<_> = inputs.iter().map(|strip| Pieces::<*const u8>::of(strip)).collect();
        let targets: Vec<_> = outputs.iter_mut().map(|strip| Pieces::<*mut u8>::of(strip)).collect();
        // SAFETY: each is one strip.
        unsafe { self.run(&sources, &targets, 1) };
        outputs.iter().enumerate().for_each(|(i, strip)| to(i, strip));
    }

    /// # Safety
    /// There is a source for each column and a target for each row of the matrix, each with `strips` strips.
    unsafe fn run(&self, sources: &[Pieces<*const u8>], targets: &[Pieces<*mut u8>], strips: usize) {
        // SAFETY: the caller's promise; such factors are made only for a Backend that proves the features.
        unsafe {
            match &self.factors {
                Factors::Bytes(factors) => walk::<[u64; 8]>(factors, sources, targets, strips),
                #[cfg(target_arch = "x86_64")]
                Factors::Nibbles(factors) => x86_64::erasure::avx2(factors, sources, targets, strips),
                #[cfg(target_arch = "x86_64")]
                Factors::NarrowNibbles(factors) => x86_64::erasure::ssse3(factors, sources, targets, strips),
                #[cfg(target_arch = "x86_64")]
                Factors::Affine(factors) => x86_64::erasure::gfni(factors, sources, targets, strips),
                #[cfg(target_arch = "aarch64")]
                Factors::Nibbles(factors) => aarch64::erasure::neon(factors, sources, targets, strips),
            }
        }
    }
}

/// The outputs in groups of about equal size, at most `wide`.
fn groups(outputs: usize, wide: usize) -> impl Iterator<Item = core::ops::Range<usize>> {
    let count = outputs.div_ceil(wide);
    (0..count).map(move |group| group * outputs / count..(group + 1) * outputs / count)
}

/// Walks over all strips.
///
/// # Safety
/// As [`Matrix::run`], and for [`Strip`].
#[inline(always)]
pub(super) unsafe fn walk<S: Strip>(
    factors: &[S::Factor],
    sources: &[Pieces<*const u8>],
    targets: &[Pieces<*mut u8>],
    strips: usize,
) {
    const { assert!(S::WIDE <= 8) }
    let mut inputs: Vec<S::Split> = Vec::with_capacity(sources.len());
    for strip in 0..strips {
        inputs.clear();
        for source in sources {
            // SAFETY: the caller's promise.
            inputs.push(unsafe { S::gather(source.strip(strip)).split() });
        }
        let mut at = 0;
        for range in groups(targets.len(), S::WIDE) {
            let targets = &targets[range];
            let now = &factors[at..at + sources.len() * targets.len()];
            at += now.len();
            // SAFETY: the caller's promise.
            unsafe {
                match targets.len() {
                    1 => sum::<S, 1>(now, &inputs, targets, strip),
                    2 => sum::<S, 2>(now, &inputs, targets, strip),
                    3 => sum::<S, 3>(now, &inputs, targets, strip),
                    4 => sum::<S, 4>(now, &inputs, targets, strip),
                    5 => sum::<S, 5>(now, &inputs, targets, strip),
                    6 => sum::<S, 6>(now, &inputs, targets, strip),
                    7 => sum::<S, 7>(now, &inputs, targets, strip),
                    _ => sum::<S, 8>(now, &inputs, targets, strip),
                }
            }
        }
    }
}

/// Sums up one strip of `N` outputs.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn sum<S: Strip, const N: usize>(
    factors: &[S::Factor],
    inputs: &[S::Split],
    targets: &[Pieces<*mut u8>],
    strip: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [S::zero(); N];
        for (input, factors) in inputs.iter().zip(factors.as_chunks::<N>().0) {
            for n in 0..N {
                sums[n] = sums[n].add_product(input, &factors[n]);
            }
        }
        for n in 0..N {
            sums[n].scatter(targets[n].strip(strip));
        }
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "plain Rust but for what the trait promises of pointers")]
impl Strip for [u64; 8] {
    type Factor = u8;
    /// The strip times 1, x, x^2, ...
    type Split = [[u64; 8]; 8];
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn gather(from: [*const u8; PIECES]) -> Self {
        let pieces = from.map(|from| from.cast::<[u8; PIECE]>().read());
        core::array::from_fn(|i| {
            let mut word = [0; 8];
            word.copy_from_slice(&pieces[i / 2][i % 2 * 8..][..8]);
            u64::from_le_bytes(word)
        })
    }
    #[inline(always)]
    unsafe fn scatter(self, to: [*mut u8; PIECES]) {
        for (i, word) in self.into_iter().enumerate() {
            to[i / 2].cast::<[u8; 8]>().add(i % 2).write(word.to_le_bytes());
        }
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        [0; 8]
    }
    #[inline(always)]
    unsafe fn split(self) -> Self::Split {
        let mut powers = [self; 8];
        for bit in 1..8 {
            powers[bit] = powers[bit - 1].map(|word| {
                let top = word >> 7 & 0x0101_0101_0101_0101;
                ((word & 0x7f7f_7f7f_7f7f_7f7f) << 1) ^ (top * 0x1b)
            });
        }
        powers
    }
    #[inline(always)]
    unsafe fn add_product(mut self, x: &Self::Split, factor: &u8) -> Self {
        for (bit, power) in x.iter().enumerate() {
            let mask = u64::from(factor >> bit & 1).wrapping_neg();
            self.iter_mut().zip(power).for_each(|(sum, word)| *sum ^= word & mask);
        }
        self
    }
}
