//! `Prg`: a seed stretched to a stream of pseudorandom bytes by AES-128 in counter mode.

use core::convert::Infallible;

use rand_core::{SeedableRng, TryCryptoRng, TryRng};
use zeroize::Zeroize;

use crate::{Aes128, Backend, Block};

/// Bytes drawn ahead for small requests: one call of the widest kernel's half.
const AHEAD: usize = 256;

/// A pseudorandom generator. Block `j` of its stream is the encryption of [`Block::from_u128`]`(j)` under the seed.
///
/// The stream is one sequence of bytes, the same on every backend and however it is cut into requests. Its
/// output is pseudorandom while the seed is secret and uniform; one seed is for one purpose, and therefore a
/// generator is not `Clone`. Seed and unused output are wiped on drop. 2^48 bytes from one seed are within 2^-40
/// of random (there are no repeated blocks).
pub struct Prg {
    aes: Aes128,
    /// The next counter.
    next: u128,
    /// Stream bytes drawn ahead; those before `used` are gone.
    ahead: [u8; AHEAD],
    used: usize,
}

impl Prg {
    /// The generator of this seed.
    pub fn new(backend: Backend, seed: Block) -> Prg {
        Prg { aes: Aes128::new(backend, seed), next: 0, ahead: [0; AHEAD], used: AHEAD }
    }

    /// The next bytes of the stream.
    pub fn fill(&mut self, out: &mut [u8]) {
        let out = self.take_ahead(out);
        let (blocks, rest) = out.as_chunks_mut::<16>();
        // The stream is at a block's edge here, unless `out` is used up.
        let direct = if blocks.len() * 16 + rest.len() >= AHEAD { blocks.len() } else { 0 };
        let (direct, rest) = out.split_at_mut(16 * direct);
        if !direct.is_empty() {
            let (direct, _) = direct.as_chunks_mut::<16>();
            self.draw_direct(direct);
        }
        if !rest.is_empty() {
            self.refill();
            let rest = self.take_ahead(rest);
            debug_assert!(rest.is_empty());
        }
    }

    /// The next blocks of the stream.
    pub fn fill_blocks(&mut self, out: &mut [Block]) {
        self.fill(Block::bytes_of_mut(out));
    }

    /// The next block of the stream.
    pub fn block(&mut self) -> Block {
        let mut block = [Block::ZERO];
        self.fill_blocks(&mut block);
        block[0]
    }

    /// Moves what was drawn ahead to the front of `out`; what is left of it then is returned.
    fn take_ahead<'a>(&mut self, out: &'a mut [u8]) -> &'a mut [u8] {
        let (now, later) = out.split_at_mut(out.len().min(AHEAD - self.used));
        now.copy_from_slice(&self.ahead[self.used..self.used + now.len()]);
        self.used += now.len();
        later
    }

    fn refill(&mut self) {
        let (blocks, _) = self.ahead.as_chunks_mut::<16>();
        self.aes.counter(self.next, blocks);
        self.next += blocks.len() as u128;
        self.used = 0;
    }

    fn draw_direct(&mut self, blocks: &mut [[u8; 16]]) {
        self.aes.counter(self.next, blocks);
        self.next += blocks.len() as u128;
    }
}

impl Drop for Prg {
    fn drop(&mut self) {
        self.ahead.zeroize();
    }
}

impl TryRng for Prg {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.fill(out);
        Ok(())
    }
}

impl TryCryptoRng for Prg {}

impl SeedableRng for Prg {
    type Seed = [u8; 16];

    fn from_seed(seed: [u8; 16]) -> Prg {
        Prg::new(Backend::detect(), Block::new(seed))
    }
}
