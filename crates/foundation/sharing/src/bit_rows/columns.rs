//! Values between a memory, which has a wire a byte and call after call, and rows of words, a row a wire and
//! 64 calls a word.
//!
//! A *tile* is eight wires of a call, the bytes of a word. Those of eight calls, each shifted by its number,
//! add up to the transposed tile: byte `i` is eight calls of wire `i`. So neighbouring tiles are loops over
//! arrays, which are compiled to the machine's widest registers.

use comity_circuit::Place;
use comity_core::{Vectorize, mask};

/// Wires of a tile, and the calls that one is transposed with.
const TILE: usize = 8;

/// Tiles that are moved together, where a value has as many.
const STRIP: usize = 8;

/// Calls of a word.
const WORD: usize = 64;

/// The lowest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;

/// What is moved: `wires` wires of `copies` calls from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub at: Place,
    pub wires: usize,
    pub first: u64,
    pub copies: usize,
}

impl Span {
    /// Words of a row.
    fn width(self) -> usize {
        self.copies.div_ceil(WORD)
    }

    /// For each word of the rows the first of its calls, and how many they are.
    fn words(self) -> impl Iterator<Item = (usize, u64, usize)> {
        let starts = (0..self.copies).step_by(WORD).enumerate();
        starts.map(move |(word, start)| (word, self.first + start as u64, WORD.min(self.copies - start)))
    }

    /// Whether the calls of a word are bytes one after another: 64 tiles.
    fn is_dense(self, calls: usize) -> bool {
        (self.wires, self.at.stride, calls) == (TILE, TILE as isize, WORD)
    }
}

/// Packs a memory's wires into rows.
pub(super) struct Pack<'a> {
    pub memory: &'a [u8],
    pub span: Span,
    pub rows: &'a mut [u64],
}

impl Vectorize for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Pack { memory, span, rows } = self;
        let (width, at) = (span.width(), span.at);
        if at.stride == 0 {
            let start = at.at(span.first);
            let values = rows.chunks_exact_mut(width).zip(&memory[start..start + span.wires]);
            return values.for_each(|(row, &wire)| row.fill(mask(wire != 0)));
        }
        for (word, first, calls) in span.words() {
            if span.is_dense(calls) {
                // Sixty-four tiles as if they were eight calls of eight tiles.
                let tiles = packed::<STRIP>(memory, at.at(first), (TILE * STRIP) as isize, TILE);
                for (wire, row) in rows[word..].iter_mut().step_by(width).enumerate() {
                    let sum = tiles.iter().zip((0..).step_by(TILE)).fold(0, |sum, (tile, m)| sum | tile[wire] << m);
                    *row = transposed(sum);
                }
                continue;
            }
            let mut wire = 0;
            let mut put = |wire: usize, tiles: &[[u64; TILE]]| {
                let rows = rows[wire * width + word..].iter_mut().step_by(width);
                rows.zip(tiles.as_flattened()).for_each(|(row, word)| *row = *word);
            };
            while span.wires - wire >= STRIP * TILE {
                put(wire, &packed::<STRIP>(memory, at.bit(wire).at(first), at.stride, calls));
                wire += STRIP * TILE;
            }
            while span.wires - wire >= TILE {
                put(wire, &packed::<1>(memory, at.bit(wire).at(first), at.stride, calls));
                wire += TILE;
            }
            for wire in wire..span.wires {
                let share = |call: usize| u64::from(memory[at.bit(wire).at(first + call as u64)]);
                rows[wire * width + word] = (0..calls).fold(0, |word, call| word | share(call) << call);
            }
        }
    }
}

/// The rows of neighbouring tiles in at most 64 calls, of which the first begins at `from`.
#[inline(always)]
fn packed<const TILES: usize>(memory: &[u8], mut from: usize, stride: isize, calls: usize) -> [[u64; TILE]; TILES] {
    let mut rows = [[0; TILE]; TILES];
    for begun in (0..calls).step_by(TILE) {
        let mut sums = [0_u64; TILES];
        for call in 0..TILE.min(calls - begun) {
            let tiles = memory[from..from + TILES * TILE].as_chunks::<TILE>().0;
            for (sum, tile) in sums.iter_mut().zip(tiles) {
                *sum |= u64::from_le_bytes(*tile) << call;
            }
            from = from.wrapping_add_signed(stride);
        }
        for (rows, sum) in rows.iter_mut().zip(sums) {
            for (row, byte) in rows.iter_mut().zip(sum.to_le_bytes()) {
                *row |= u64::from(byte) << begun;
            }
        }
    }
    rows
}

/// Puts rows back where [`Pack`] reads them. `row` gives that of a wire.
pub(super) struct Unpack<'a, R> {
    pub memory: &'a mut [u8],
    pub span: Span,
    pub row: R,
}

impl<'r, R: Fn(usize) -> &'r [u64]> Vectorize for Unpack<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Unpack { memory, span, row } = self;
        let at = span.at;
        for (word, first, calls) in span.words() {
            let tile = |wire: usize| -> [u64; TILE] { core::array::from_fn(|i| row(wire + i)[word]) };
            if span.is_dense(calls) {
                let sums = tile(0).map(transposed);
                let tiles: [[u64; TILE]; STRIP] = core::array::from_fn(|m| sums.map(|sum| sum >> (m * TILE)));
                unpacked(memory, at.at(first), (TILE * STRIP) as isize, TILE, &tiles);
                continue;
            }
            let mut wire = 0;
            while span.wires - wire >= STRIP * TILE {
                let tiles: [[u64; TILE]; STRIP] = core::array::from_fn(|i| tile(wire + i * TILE));
                unpacked(memory, at.bit(wire).at(first), at.stride, calls, &tiles);
                wire += STRIP * TILE;
            }
            while span.wires - wire >= TILE {
                unpacked(memory, at.bit(wire).at(first), at.stride, calls, &[tile(wire)]);
                wire += TILE;
            }
            for wire in wire..span.wires {
                let bits = row(wire)[word];
                (0..calls).for_each(|call| memory[at.bit(wire).at(first + call as u64)] = (bits >> call & 1) as u8);
            }
        }
    }
}

#[inline(always)]
fn unpacked<const TILES: usize>(
    memory: &mut [u8],
    mut to: usize,
    stride: isize,
    calls: usize,
    rows: &[[u64; TILE]; TILES],
) {
    for begun in (0..calls).step_by(TILE) {
        let sums: [u64; TILES] = core::array::from_fn(|i| u64::from_le_bytes(rows[i].map(|row| (row >> begun) as u8)));
        for call in 0..TILE.min(calls - begun) {
            let tiles = memory[to..to + TILES * TILE].as_chunks_mut::<TILE>().0;
            for (tile, sum) in tiles.iter_mut().zip(sums) {
                *tile = (sum >> call & LOW).to_le_bytes();
            }
            to = to.wrapping_add_signed(stride);
        }
    }
}

/// The matrix of eight bytes of eight bits, turned about its diagonal.
#[inline(always)]
fn transposed(matrix: u64) -> u64 {
    let swapped = |matrix: u64, by: u32, these: u64| {
        let both = (matrix ^ matrix >> by) & these;
        matrix ^ both ^ both << by
    };
    let twos = swapped(matrix, 7, 0x00aa_00aa_00aa_00aa);
    let fours = swapped(twos, 14, 0x0000_cccc_0000_cccc);
    swapped(fours, 28, 0x0000_0000_f0f0_f0f0)
}
