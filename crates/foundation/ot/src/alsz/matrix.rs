//! What both sides hold: where the extension stands, and matrices in pieces of [`WIDTH`] bytes of every row.

use comity_core::{Backend, Block, Error, Prg, Result, SessionId, SumHash, transpose};
use zeroize::Zeroizing;

use super::check::{self, Hash};
use super::columns::ColumnHash;
use super::{CHUNKS, Parameters, SPARE};
use crate::stream::{begin, grown};

/// Bytes of a row in a piece: what the hash takes at a time. A piece (256 KiB) and its columns stay in a second-level
/// cache of 1 MiB.
pub(super) const WIDTH: usize = SumHash::PIECE;

/// A part of the matrix of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    index: usize,
    /// Bytes of a row on the wire.
    pub(super) width: usize,
    /// Bytes of a row in memory: whole blocks.
    pub(super) padded: usize,
}

/// The pieces of a chunk of `n` OTs and the spare ones.
pub(super) fn pieces(n: usize) -> impl Iterator<Item = Piece> {
    let stride = stride(n);
    (0..stride.div_ceil(WIDTH)).map(move |index| {
        let width = WIDTH.min(stride - index * WIDTH);
        Piece { index, width, padded: width.next_multiple_of(16) }
    })
}

/// Bytes of a row of a chunk of `n` OTs.
fn stride(n: usize) -> usize {
    n.div_ceil(8) + SPARE / 8
}

/// A matrix, piece by piece. Wiped on drop; nothing outgrows its room, so that all of it is.
pub(super) struct Matrix {
    rows: usize,
    bytes: Zeroizing<Vec<u8>>,
}

impl Matrix {
    pub(super) fn new(rows: usize) -> Matrix {
        Matrix { rows, bytes: Zeroizing::new(Vec::new()) }
    }

    /// Makes room for a chunk of `n` OTs, whose pieces follow. A small chunk takes little, to make and to wipe.
    pub(super) fn begin(&mut self, n: usize) {
        // The last piece has whole blocks.
        let room = self.rows * stride(n).next_multiple_of(16);
        if self.bytes.capacity() < room {
            self.bytes = Zeroizing::new(Vec::with_capacity(room));
        }
    }

    /// The rows of a piece, one after another.
    pub(super) fn piece(&mut self, piece: Piece) -> &mut [u8] {
        let start = self.rows * piece.index * WIDTH;
        let end = start + self.rows * piece.padded;
        debug_assert!(end <= self.bytes.capacity(), "what moves leaves itself behind");
        &mut grown(&mut self.bytes, end)[start..]
    }

    /// A row of a piece.
    pub(super) fn row(&self, piece: Piece, row: usize) -> &[u8] {
        &self.bytes[self.rows * piece.index * WIDTH + row * piece.padded..][..piece.width]
    }
}

/// The state of either side but for its seeds.
pub(super) struct State {
    pub(super) backend: Backend,
    pub(super) parameters: Parameters,
    session: SessionId,
    /// Index of the next chunk.
    chunk: u64,
    /// Set while a chunk is made: an error leaves it set.
    broken: bool,
    /// Rows on the wire.
    pub(super) wire: Vec<u8>,
    pub(super) sums: SumHash,
    pub(super) hash: ColumnHash,
    /// The halves of the columns of a piece. Secret.
    columns: [Zeroizing<Vec<Block>>; 2],
}

impl State {
    /// The state before the first chunk.
    pub(super) fn new(session: &SessionId, backend: Backend, parameters: Parameters, seeds: usize) -> Result<State> {
        if parameters.rows != seeds {
            let rows = parameters.rows;
            return Err(Error::invalid_input(format!("{seeds} base OTs where this extension takes {rows}")));
        }
        Ok(State {
            backend,
            parameters,
            session: *session,
            chunk: 0,
            broken: false,
            wire: Vec::with_capacity(parameters.rows * WIDTH),
            sums: SumHash::new(backend),
            hash: ColumnHash::new(backend),
            columns: [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(8 * WIDTH))),
        })
    }

    /// Begins a chunk, unless an earlier one failed or there were too many for the bound on cheating.
    pub(super) fn begin(&mut self) -> Result<()> {
        begin(&mut self.broken)?;
        if self.chunk >= CHUNKS {
            return Err(Error::invalid_input(format!(
                "this OT extension has made its {CHUNKS} chunks; set up a new one"
            )));
        }
        Ok(())
    }

    /// Ends a chunk that succeeded.
    pub(super) fn end(&mut self) {
        self.chunk += 1;
        self.broken = false;
    }

    /// The hashes of sums of rows in a chunk of `n` OTs: `rows` says which rows, in a piece, make up sum `i`.
    pub(super) fn hashes<'a, const K: usize>(
        &mut self,
        n: usize,
        sums: usize,
        rows: impl Fn(Piece, usize) -> [&'a [u8]; K],
    ) -> Vec<Hash> {
        self.sums.begin(check::key(&self.session, self.chunk), sums, stride(n));
        for piece in pieces(n) {
            self.sums.absorb(|i| rows(piece, i));
        }
        self.sums.finish()
    }

    /// The columns of a piece of [`Parameters::MAX_ROWS`] rows, two blocks each, and their hash.
    pub(super) fn columns(&mut self, piece: &[u8]) -> ([&mut [Block]; 2], &mut ColumnHash) {
        let half = piece.len() / 2;
        let n = piece.len() / 32;
        let [low, high] = self.columns.each_mut().map(|columns| grown(columns, n));
        transpose(self.backend, &piece[..half], Block::bytes_of_mut(low), 128, n);
        transpose(self.backend, &piece[half..], Block::bytes_of_mut(high), 128, n);
        ([low, high], &mut self.hash)
    }
}

/// Fills a piece with the next bytes of streams, and with zeros where there are no rows.
pub(super) fn fill<'a>(bytes: &mut [u8], piece: Piece, prgs: impl Iterator<Item = &'a mut Prg>) {
    let mut rows = bytes.chunks_exact_mut(piece.padded);
    for (prg, row) in prgs.zip(&mut rows) {
        prg.fill(row);
    }
    rows.for_each(|row| row.fill(0));
}
