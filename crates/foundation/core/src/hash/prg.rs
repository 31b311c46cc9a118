//! `Prg`: a seed stretched to a stream of pseudorandom bytes by AES-128 in counter mode.

use core::convert::Infallible;

use rand_core::{SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, Zeroizing};

use crate::arch::Backend;
use crate::hash::aes::Aes128;
use crate::memory::block::Block;

/// Blocks drawn ahead for small requests: two steps of AES-NI or of the portable code, half a one of VAES.
const AHEAD: usize = 16;

/// A pseudorandom generator. Block `j` of its stream is the encryption of [`Block::from_u128`]`(j)` under the seed.
///
/// The stream is one sequence of bytes, the same on every backend and however it is cut into requests. Its
/// output is pseudorandom while the seed is secret and uniform. A seed must have one use only, so a generator
/// is not `Clone`. Seed and unused output are wiped on drop. 2^48 bytes from one seed are within 2^-40 of
/// random (there are no repeated blocks).
pub struct Prg {
    aes: Aes128,
    /// The next counter.
    next: u128,
    /// Stream bytes drawn ahead; those before `used` are gone.
    ahead: [Block; AHEAD],
    used: usize,
}

impl Prg {
    /// The generator of this seed.
    pub fn new(backend: Backend, seed: Block) -> Prg {
        Prg { aes: Aes128::new(backend, seed), next: 0, ahead: [Block::ZERO; AHEAD], used: 16 * AHEAD }
    }

    /// Fills `out` with the next bytes of the stream.
    pub fn fill(&mut self, out: &mut [u8]) {
        let out = self.take_ahead(out);
        // Here the stream is at the edge of a block, or nothing is left to fill.
        let direct = if out.len() < 16 * AHEAD { 0 } else { out.len() / 16 };
        let (direct, rest) = out.split_at_mut(16 * direct);
        if !direct.is_empty() {
            self.aes.counter(self.next, direct.as_chunks_mut().0);
            self.next += (direct.len() / 16) as u128;
        }
        if !rest.is_empty() {
            self.aes.counter(self.next, bytemuck::cast_slice_mut(&mut self.ahead));
            self.next += AHEAD as u128;
            self.used = 0;
            self.take_ahead(rest);
        }
    }

    /// Fills `out` with the next blocks of the stream.
    pub fn fill_blocks(&mut self, out: &mut [Block]) {
        self.fill(Block::bytes_of_mut(out));
    }

    /// Fills `out` with the next numbers of the stream, each of four bytes, little-endian.
    pub fn fill_words(&mut self, out: &mut [u32]) {
        self.fill(bytemuck::cast_slice_mut(out));
        for word in out {
            *word = u32::from_le(*word);
        }
    }

    /// Fills `out` with the next numbers of the stream, each of two bytes, little-endian.
    pub fn fill_shorts(&mut self, out: &mut [u16]) {
        self.fill(bytemuck::cast_slice_mut(out));
        for short in out {
            *short = u16::from_le(*short);
        }
    }

    /// The next block of the stream.
    pub fn block(&mut self) -> Block {
        let mut block = [Block::ZERO];
        self.fill_blocks(&mut block);
        block[0]
    }

    /// Adds the next bytes of the stream to `bytes`: this encrypts them, or decrypts what was encrypted from
    /// the same place of the stream on.
    pub fn mask(&mut self, bytes: &mut [u8]) {
        let mut pad = Zeroizing::new([0; 1024]);
        for part in bytes.chunks_mut(pad.len()) {
            self.fill(&mut pad[..part.len()]);
            part.iter_mut().zip(&pad[..]).for_each(|(byte, pad)| *byte ^= pad);
        }
    }

    /// Moves the bytes drawn ahead to the front of `out`; the rest of `out` is returned.
    fn take_ahead<'a>(&mut self, out: &'a mut [u8]) -> &'a mut [u8] {
        let ahead = &Block::bytes_of(&self.ahead)[self.used..];
        let (now, later) = out.split_at_mut(out.len().min(ahead.len()));
        now.copy_from_slice(&ahead[..now.len()]);
        self.used += now.len();
        later
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
