//! The matrix of a chunk, in pieces: what both sides do alike.

use comity_core::{Backend, Block, Error, Result, SessionId, SmallFieldVole, transpose_columns};
use zeroize::Zeroize;

use super::{Challenge, Forest, ROWS, Shape};
use crate::model::{AtLeast, Malicious, SemiHonest};
use crate::row_check::hash_rows;
use crate::stream::{begin, grown};

/// An adversary model, and what in the protocol depends on it.
pub trait Checking: AtLeast<Self> + Sized {
    /// Whether trees and chunks are checked.
    const CHECKED: bool;
    /// The most OTs in a chunk.
    const CHUNK: usize;
}

impl Checking for SemiHonest {
    const CHECKED: bool = false;
    /// One piece: nothing has to be kept.
    const CHUNK: usize = 128 * PIECE;
}

impl Checking for Malicious {
    const CHECKED: bool = true;
    /// A chunk and the 128 OTs of its mask are 2^16, whose matrix takes 1 MiB.
    const CHUNK: usize = (1 << 16) - 128;
}

/// Blocks of a row in a piece: enough for a full step of the widest kernels, and a piece of 128 rows (256 KiB) stays
/// in a second-level cache of 1 MiB while it is made, hashed and transposed.
pub(super) const PIECE: usize = 128;

/// The number of columns that are written in one go: they stay in the first-level cache for their use.
const TILE: usize = 512;

/// A part of a chunk: blocks `at` to `at + width` of every row.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) at: usize,
    pub(super) width: usize,
}

impl Piece {
    /// This piece where it is the only one that is kept.
    pub(super) fn alone(self) -> Piece {
        Piece { at: 0, ..self }
    }

    /// The part of this piece that belongs to OTs which begin at block `start` of the chunk: the piece's
    /// column of the first of them, and the places for all of them. Columns of a piece without OTs are
    /// padding, or the mask.
    pub(super) fn of(self, start: usize, all: &mut [Block]) -> (usize, &mut [Block]) {
        let from = self.at.max(start);
        let to = (self.at + self.width).max(from);
        let [first, last] = [from, to].map(|block| all.len().min(128 * (block - start)));
        (128 * (from - self.at), &mut all[first..last])
    }
}

/// The receiver's message for a chunk: `u ^ x` for each tree, piece by piece. With random choice bits the
/// first tree has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Corrections(pub(super) Vec<u8>);

impl Corrections {
    /// The message for `n` OTs in the model `M`, with trees of `k` levels, for given or for random choice bits, with
    /// these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are too many or too few, [`InvalidInput`](comity_core::Kind) if `k` is
    /// not from 1 to 8.
    pub fn from_bytes<M: Checking>(bytes: &[u8], k: usize, n: usize, random: bool) -> Result<Corrections> {
        let rows = Shape::new(k)?.trees() - usize::from(random);
        let expected = rows.saturating_mul(16 * width::<M>(n));
        if bytes.len() != expected {
            let len = bytes.len();
            return Err(Error::malformed(format!("corrections of {n} OTs are {expected} bytes long, not {len}")));
        }
        Ok(Corrections(bytes.to_vec()))
    }

    /// The bytes of the message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Blocks of a row in a chunk of `n` OTs: whole blocks, and in the malicious model one for the mask.
pub(super) fn width<M: Checking>(n: usize) -> usize {
    n.div_ceil(128) + usize::from(M::CHECKED)
}

/// The pieces of a chunk of `n` OTs.
pub(super) fn pieces<M: Checking>(n: usize) -> impl DoubleEndedIterator<Item = Piece> + ExactSizeIterator {
    let width = width::<M>(n);
    (0..width.div_ceil(PIECE)).map(move |i| Piece { at: i * PIECE, width: PIECE.min(width - i * PIECE) })
}

/// The state of either side but for delta and choice bits.
pub(super) struct Matrix {
    pub(super) session: SessionId,
    pub(super) backend: Backend,
    pub(super) shape: Shape,
    trees: Vec<SmallFieldVole>,
    /// Index of the next chunk in the life of this extension.
    chunk: u64,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
    /// The corrections of a piece.
    wire: Vec<Block>,
    /// A tree's `u` in a piece. Secret.
    sum: Vec<Block>,
    /// Rows piece by piece, of two chunks if that many are kept. Secret; they never shrink, so that all of them are
    /// wiped.
    rows: [Vec<Block>; 2],
    /// Some columns. Secret.
    tile: Vec<Block>,
    coefficients: Vec<Block>,
}

impl Matrix {
    /// The state before the first chunk, with room for `chunks` whole chunks, or for one piece.
    pub(super) fn new<M: Checking>(
        session: &SessionId,
        backend: Backend,
        shape: Shape,
        forest: &Forest,
        chunks: usize,
    ) -> Matrix {
        let room = |slot| if slot < chunks { width::<M>(M::CHUNK) } else { PIECE * usize::from(slot == 0) };
        Matrix {
            session: *session,
            backend,
            shape,
            trees: forest.0.iter().map(|seeds| SmallFieldVole::new(backend, seeds)).collect(),
            chunk: 0,
            broken: false,
            // Their full capacity, so that no secret is left behind by growing.
            wire: Vec::with_capacity(shape.trees() * PIECE),
            sum: Vec::with_capacity(PIECE),
            rows: [0, 1].map(|slot| Vec::with_capacity(ROWS * room(slot))),
            tile: vec![Block::ZERO; TILE],
            coefficients: Vec::with_capacity(width::<M>(M::CHUNK)),
        }
    }

    /// Starts a call, unless an earlier one failed.
    pub(super) fn begin(&mut self) -> Result<()> {
        begin(&mut self.broken)
    }

    /// Ends a call that succeeded.
    pub(super) fn end(&mut self) {
        self.broken = false;
    }

    /// Makes room in slot 0 for all rows of a chunk of `n` OTs, which may be longer than chunks are by
    /// default. The old content is wiped.
    pub(super) fn make_room<M: Checking>(&mut self, n: usize) {
        room(&mut self.rows[0], ROWS * width::<M>(n));
    }

    /// The corrections of a piece, for all trees but the first `skip`.
    pub(super) fn wire(&mut self, piece: Piece, skip: usize) -> &mut [Block] {
        grown(&mut self.wire, (self.shape.trees() - skip) * piece.width)
    }

    /// The trees with their rows of a piece, freshly filled: calls `each` with the number of the first row, the sum,
    /// the rows, and what is on the wire for the tree. The piece is kept where it says, in one of two slots.
    pub(super) fn fill(
        &mut self,
        slot: usize,
        piece: Piece,
        skip: usize,
        mut each: impl FnMut(usize, &mut [Block], &mut [Block], Option<&mut [Block]>),
    ) {
        let Piece { at, width } = piece;
        let sum = grown(&mut self.sum, width);
        let mut rows = &mut grown(&mut self.rows[slot], ROWS * (at + width))[ROWS * at..];
        let mut wire = grown(&mut self.wire, (self.shape.trees() - skip) * width).chunks_exact_mut(width);
        let mut first = 0;
        for (i, tree) in self.trees.iter_mut().enumerate() {
            let (own, rest) = std::mem::take(&mut rows).split_at_mut(tree.bits() * width);
            rows = rest;
            tree.fill(sum, own);
            each(first, sum, own, if i < skip { None } else { wire.next() });
            first += tree.bits();
        }
    }

    /// The number of the chunk that ends here.
    pub(super) fn count(&mut self) -> u64 {
        self.chunk += 1;
        self.chunk - 1
    }

    /// Sets the elements of a challenge for a chunk of `n` OTs.
    pub(super) fn challenge<M: Checking>(&mut self, n: usize, challenge: &Challenge) -> &[Block] {
        let coefficients = grown(&mut self.coefficients, width::<M>(n));
        challenge.coefficients(self.backend, coefficients);
        coefficients
    }

    /// Adds the hashes of the rows of a piece, which is kept at `place`.
    pub(super) fn hash(&self, slot: usize, place: Piece, piece: Piece, hashes: &mut [Block; ROWS]) {
        let coefficients = &self.coefficients[piece.at..piece.at + piece.width];
        hash_rows(self.backend, coefficients, self.kept(slot, place), hashes);
    }

    /// The columns of a piece of a chunk of `n` OTs, a few at a time: calls `each` with the number of the first in the
    /// chunk, and columns. The piece is kept at `place`.
    pub(super) fn columns(
        &mut self,
        slot: usize,
        place: Piece,
        piece: Piece,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) {
        let end = n.min(128 * (piece.at + piece.width));
        // The last piece may be all mask.
        for start in (128 * piece.at..end).step_by(TILE) {
            let wanted = TILE.min(end - start);
            let rows = &self.rows[slot][ROWS * place.at..ROWS * (place.at + place.width)];
            let tile = &mut self.tile[..wanted.next_multiple_of(128)];
            transpose_columns(self.backend, Block::bytes_of(rows), start - 128 * piece.at, tile);
            each(start, &mut tile[..wanted]);
        }
    }

    /// As many columns of a piece at once as `out` has room for, of which column `first` of the piece is the
    /// first. The piece is kept at `place`.
    pub(super) fn columns_to(&mut self, slot: usize, place: Piece, first: usize, out: &mut [Block]) {
        let whole = out.len() / 128 * 128;
        let (direct, rest) = out.split_at_mut(whole);
        if !direct.is_empty() {
            transpose_columns(self.backend, Block::bytes_of(self.kept(slot, place)), first, direct);
        }
        if !rest.is_empty() {
            let tile = &mut self.tile[..128];
            let rows = &self.rows[slot][ROWS * place.at..ROWS * (place.at + place.width)];
            transpose_columns(self.backend, Block::bytes_of(rows), first + whole, tile);
            rest.copy_from_slice(&tile[..rest.len()]);
        }
    }

    /// One row of the piece of slot 0 that is kept at `place`.
    pub(super) fn row(&mut self, place: Piece, row: usize) -> &mut [Block] {
        &mut self.rows[0][ROWS * place.at + row * place.width..][..place.width]
    }

    /// The rows of a piece.
    fn kept(&self, slot: usize, place: Piece) -> &[Block] {
        &self.rows[slot][ROWS * place.at..ROWS * (place.at + place.width)]
    }
}

/// Replaces a buffer that is too small and whose content is no longer needed: growing it would leave secrets
/// behind.
pub(super) fn room(buffer: &mut Vec<Block>, blocks: usize) {
    if buffer.capacity() < blocks {
        buffer.as_mut_slice().zeroize();
        *buffer = Vec::with_capacity(blocks);
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        // The elements only: what was reserved and never used holds no secret, and wiping it would touch the memory.
        let [one, other] = &mut self.rows;
        for buffer in [&mut self.sum, one, other] {
            buffer.as_mut_slice().zeroize();
        }
        self.tile.zeroize();
    }
}
