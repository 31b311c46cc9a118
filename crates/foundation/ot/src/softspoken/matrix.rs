//! The matrix of a chunk, in pieces: what both sides do alike.

use comity_core::{Backend, Block, Error, Result, SessionId, SmallFieldVole, transpose};
use zeroize::Zeroize;

use super::{Forest, ROWS, Shape, check, check::Challenge};
use crate::{AtLeast, Malicious, SemiHonest};

/// What of the protocol depends on the model.
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
    /// With the 128 OTs of the mask 2^16, whose matrix takes 1 MiB.
    const CHUNK: usize = (1 << 16) - 128;
}

/// Blocks of a row in a piece: enough for a full step of the widest kernels, and a piece of 128 rows (256 KiB) stays
/// in a second-level cache of 1 MiB while it is made, hashed and transposed.
pub(super) const PIECE: usize = 128;

/// A part of a chunk: blocks `at` to `at + width` of every row.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) at: usize,
    pub(super) width: usize,
}

/// The receiver's message for a chunk: `u ^ x` for each tree, piece by piece. With random choice bits none for the
/// first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Corrections(pub(super) Vec<u8>);

impl Corrections {
    /// The message for `n` OTs in the model `M`, with trees of `k` levels, for given or for random choice bits, with
    /// these bytes.
    ///
    /// # Errors
    /// [`Malformed`](Error::Malformed) if they are too many or too few, [`InvalidInput`](Error::InvalidInput) if `k` is
    /// not from 1 to 8.
    pub fn from_bytes<M: Checking>(bytes: &[u8], k: usize, n: usize, random: bool) -> Result<Corrections> {
        let rows = Shape::new(k)?.trees() - usize::from(random);
        let expected = rows.saturating_mul(16 * width::<M>(n));
        if bytes.len() != expected {
            let len = bytes.len();
            return Err(Error::Malformed(format!("corrections of {n} OTs are {expected} bytes long, not {len}")));
        }
        Ok(Corrections(bytes.to_vec()))
    }

    /// The bytes of the message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Blocks of a row in a chunk of `n` OTs: whole blocks, and in the malicious model one for the mask.
fn width<M: Checking>(n: usize) -> usize {
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
    /// The rows of two chunks, piece by piece: while one waits for its check the next one is made. Secret; they never
    /// shrink, so that all of them are wiped.
    rows: [Vec<Block>; 2],
    /// Columns of a piece that has more of them than are wanted. Secret, likewise.
    spare: Vec<Block>,
    coefficients: Vec<Block>,
}

impl Matrix {
    pub(super) fn new<M: Checking>(session: &SessionId, backend: Backend, shape: Shape, forest: &Forest) -> Matrix {
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
            rows: [(); 2].map(|()| Vec::with_capacity(ROWS * width::<M>(M::CHUNK))),
            spare: Vec::with_capacity(ROWS * PIECE),
            coefficients: Vec::with_capacity(width::<M>(M::CHUNK)),
        }
    }

    /// Starts a call that advances the streams, unless an earlier one failed: the two sides then no longer agree on how
    /// far they have advanced.
    pub(super) fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::InvalidInput("this OT extension stopped at an earlier error; set up a new one".into()));
        }
        Ok(())
    }

    /// Ends a call that succeeded.
    pub(super) fn end(&mut self) {
        self.broken = false;
    }

    /// The corrections of a piece, for all trees but the first `skip`.
    pub(super) fn wire(&mut self, piece: Piece, skip: usize) -> &mut [Block] {
        grown(&mut self.wire, (self.shape.trees() - skip) * piece.width)
    }

    /// The trees with their rows of a piece, freshly filled: calls `each` with the number of the first row, the sum,
    /// the rows, and what is on the wire for the tree. `slot` is the chunk's number modulo two.
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

    /// The elements of a challenge for a chunk of `n` OTs, and the hashes of its rows.
    pub(super) fn hash<M: Checking>(
        &mut self,
        slot: usize,
        n: usize,
        challenge: &Challenge,
    ) -> (&[Block], [Block; ROWS]) {
        let coefficients = grown(&mut self.coefficients, width::<M>(n));
        challenge.coefficients(self.backend, coefficients);
        let mut hashes = [Block::ZERO; ROWS];
        for Piece { at, width } in pieces::<M>(n) {
            let rows = &self.rows[slot][ROWS * at..ROWS * (at + width)];
            check::hash_rows(self.backend, &coefficients[at..at + width], rows, &mut hashes);
        }
        (coefficients, hashes)
    }

    /// Writes the columns of a chunk.
    pub(super) fn columns<M: Checking>(&mut self, slot: usize, out: &mut [Block]) {
        for Piece { at, width } in pieces::<M>(out.len()) {
            let rows = Block::bytes_of(&self.rows[slot][ROWS * at..ROWS * (at + width)]);
            let columns = |to: &mut [Block]| transpose(self.backend, rows, Block::bytes_of_mut(to), ROWS, 128 * width);
            // The last piece may be all mask.
            let start = out.len().min(128 * at);
            let n = (out.len() - start).min(128 * width);
            let out = &mut out[start..start + n];
            if n == 128 * width {
                columns(out);
            } else if n > 0 {
                let spare = grown(&mut self.spare, 128 * width);
                columns(spare);
                out.copy_from_slice(&spare[..n]);
            }
        }
    }
}

/// The first `n` elements of a buffer, which grows if it must and does not shrink.
pub(super) fn grown(buffer: &mut Vec<Block>, n: usize) -> &mut [Block] {
    if buffer.len() < n {
        buffer.resize(n, Block::ZERO);
    }
    &mut buffer[..n]
}

impl Drop for Matrix {
    fn drop(&mut self) {
        // The elements only: what was reserved and never used holds no secret, and wiping it would touch the memory.
        let [one, other] = &mut self.rows;
        for buffer in [&mut self.sum, one, other, &mut self.spare] {
            buffer.as_mut_slice().zeroize();
        }
    }
}
