//! The local linear code: every output is a leaf plus ten elements of the secret, at public random places.
//!
//! **Cost**: 2.5 AES blocks an output for the places, and ten look-ups in a table of 1.6 MiB, which take most of the time.
//! They go on side by side: the processor keeps as many under way as it can, since none depends on another.

use comity_core::{Backend, Block, Prg};

use super::parameters::ROW;

/// The places of the table: a power of two, so that an index under this mask needs no bounds check. A secret has as many
/// elements or fewer.
pub(super) const TABLE: usize = 1 << 17;

/// Outputs whose places are drawn together: they stay in the first-level cache.
const DRAWN: usize = 64;

/// A row's places, four bytes each.
type Row = [u8; 4 * ROW];

/// The rows of an iteration's matrix, in order.
pub(super) struct Code {
    prg: Prg,
    dimension: u64,
    places: Vec<Block>,
}

impl Code {
    /// The matrix that a public seed names.
    pub(super) fn new(backend: Backend, seed: Block, dimension: usize) -> Code {
        assert!(dimension <= TABLE, "a secret fits the table");
        let places = vec![Block::ZERO; DRAWN * ROW / 4];
        Code { prg: Prg::new(backend, seed), dimension: dimension as u64, places }
    }

    /// Writes the next outputs: each leaf plus its row of the matrix times the secret. Leaves come by multiples of 64, but
    /// perhaps the last ones of the matrix.
    pub(super) fn encode(&mut self, secret: &[Block; TABLE], leaves: &[Block], out: &mut [Block]) {
        for (leaves, out) in leaves.chunks(DRAWN).zip(out.chunks_mut(DRAWN)) {
            self.prg.fill_blocks(&mut self.places);
            let rows: &[Row] = Block::bytes_of(&self.places).as_chunks().0;
            for ((out, &leaf), row) in out.iter_mut().zip(leaves).zip(rows) {
                *out = row.as_chunks().0.iter().fold(leaf, |sum, &place| {
                    // A random number below the dimension, from 32 bits: the mask changes nothing.
                    let place = (u64::from(u32::from_le_bytes(place)) * self.dimension) >> 32;
                    sum ^ secret[place as usize & (TABLE - 1)]
                });
            }
        }
    }
}
