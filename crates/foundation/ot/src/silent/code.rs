//! The local linear code: every output is a leaf plus ten elements of the secret, at public random places.
//!
//! **Cost**: 2.5 AES blocks an output for the places, and ten look-ups in a table of 1.8 MiB, which take most of the time.

use comity_core::{Backend, Block, HugeTable, Prg};

use super::parameters::ROW;

/// Outputs whose places are drawn together: as many as fill the widest steps of AES, and stay in the first-level cache.
const DRAWN: usize = 64;

/// The rows of an iteration's matrix, in order.
pub(super) struct Code {
    backend: Backend,
    prg: Prg,
    numbers: [[u32; ROW]; DRAWN],
}

impl Code {
    /// The matrix that a public seed names.
    pub(super) fn new(backend: Backend, seed: Block) -> Code {
        Code { backend, prg: Prg::new(backend, seed), numbers: [[0; ROW]; DRAWN] }
    }

    /// Writes the next outputs: each leaf plus its row of the matrix times the secret. Leaves come by multiples of 64, but
    /// perhaps the last ones of the matrix.
    pub(super) fn encode(&mut self, secret: &HugeTable, leaves: &[Block], out: &mut [Block]) {
        for (leaves, out) in leaves.chunks(DRAWN).zip(out.chunks_mut(DRAWN)) {
            self.prg.fill_words(self.numbers.as_flattened_mut());
            secret.gather_add(self.backend, &mut self.numbers[..out.len()], leaves, out);
        }
    }
}
