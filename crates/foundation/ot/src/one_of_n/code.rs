//! Words of a code for many choices at once, as rows of bits or as blocks.

use comity_core::{Aes128, Backend, Block, SessionId, transpose};
use zeroize::Zeroizing;

use super::bch::{self, MESSAGE};
use super::{QUARTERS, ROWS};

/// Message bits whose sums are looked up together.
const GROUP: usize = 5;

/// The sums of a group.
const SUBSETS: usize = 1 << GROUP;

/// Groups: all message bits are in one.
const GROUPS: usize = MESSAGE.div_ceil(GROUP);

/// Bytes of a row that are summed in registers.
const TILE: usize = 64;

/// A code with words of 512 bits.
pub(super) enum Code {
    /// The extended BCH code: words of 76 bits.
    Linear,
    /// Four encryptions: words of 128 bits.
    PseudoRandom(Box<[Aes128; QUARTERS]>),
}

impl Code {
    /// KKRT's code for a session.
    pub(super) fn pseudo_random(backend: Backend, session: &SessionId) -> Code {
        let key = session.block("pseudo-random code of KKRT").to_u128();
        let quarter = |quarter: u128| Aes128::new(backend, Block::from_u128(key ^ quarter));
        Code::PseudoRandom(Box::new([0, 1, 2, 3].map(quarter)))
    }

    /// The words of the code for `words`, a multiple of 128 of them, as 512 rows of `words.len() / 128` blocks: bit `i`
    /// of the word for `words[j]` is bit `j` of row `i`.
    pub(super) fn rows(&self, backend: Backend, words: &[Block], scratch: &mut Scratch, out: &mut [Block]) {
        let width = words.len() / 128;
        match self {
            Code::Linear => {
                let bits = room(&mut scratch.bits, words.len());
                transpose(backend, Block::bytes_of(words), Block::bytes_of_mut(bits), words.len(), 128);
                encode(&bits[..MESSAGE * width], width, &mut scratch.sums, out);
            }
            Code::PseudoRandom(keys) => {
                let encrypted = room(&mut scratch.bits, words.len());
                for (key, rows) in keys.iter().zip(out.chunks_exact_mut(words.len())) {
                    encrypted.copy_from_slice(words);
                    key.encrypt(encrypted);
                    let (from, to) = (Block::bytes_of(encrypted), Block::bytes_of_mut(rows));
                    transpose(backend, from, to, words.len(), 128);
                }
            }
        }
    }

    /// The words as blocks: for each quarter `a`, `each` is called with it and, for word `j` in place `j`,
    /// its bits `128 a` to `128 a + 127`.
    pub(super) fn quarters(
        &self,
        backend: Backend,
        words: &[Block],
        scratch: &mut Scratch,
        mut each: impl FnMut(usize, &mut [Block]),
    ) {
        match self {
            Code::Linear => {
                let mut rows = std::mem::take(&mut scratch.rows);
                let all = room(&mut rows, QUARTERS * words.len());
                self.rows(backend, words, scratch, all);
                let out = room(&mut scratch.bits, words.len());
                for (quarter, rows) in all.chunks_exact(words.len()).enumerate() {
                    transpose(backend, Block::bytes_of(rows), Block::bytes_of_mut(out), 128, words.len());
                    each(quarter, out);
                }
                scratch.rows = rows;
            }
            Code::PseudoRandom(keys) => {
                let out = room(&mut scratch.bits, words.len());
                for (quarter, key) in keys.iter().enumerate() {
                    out.copy_from_slice(words);
                    key.encrypt(out);
                    each(quarter, out);
                }
            }
        }
    }
}

/// Words of the linear code in rows of `width` blocks: 76 rows of messages become 512 rows of words.
///
/// Row by row the memory that is read depends on the code alone, and not on what is encoded. The sums of every five
/// rows of the message are formed once ("four Russians"), so that a row of the word takes 16 additions instead of 38.
/// The code works tile by tile, so that the sums stay in the first-level cache.
pub(super) fn encode(messages: &[Block], width: usize, sums: &mut Zeroizing<Vec<Block>>, out: &mut [Block]) {
    let sums = Block::bytes_of_mut(room(sums, GROUPS * SUBSETS * TILE / 16)).as_chunks_mut::<TILE>().0;
    let sums: &mut [[u8; TILE]; GROUPS * SUBSETS] = sums.try_into().expect("room for all sums");
    let (messages, out) = (Block::bytes_of(messages), Block::bytes_of_mut(out));
    // The code is systematic.
    out[..messages.len()].copy_from_slice(messages);
    let stride = 16 * width;
    for at in (0..stride).step_by(TILE) {
        let len = TILE.min(stride - at);
        for (group, sums) in sums.as_chunks_mut::<SUBSETS>().0.iter_mut().enumerate() {
            sums[0] = [0; TILE];
            // The last group has fewer rows.
            for (bit, row) in (GROUP * group..MESSAGE).take(GROUP).enumerate() {
                let mut tile = [0; TILE];
                tile[..len].copy_from_slice(&messages[row * stride + at..][..len]);
                let (without, with) = sums[..2 << bit].split_at_mut(1 << bit);
                for (with, without) in with.iter_mut().zip(without) {
                    *with = *without;
                    with.iter_mut().zip(&tile).for_each(|(with, byte)| *with ^= byte);
                }
            }
        }
        for (row, &column) in bch::columns().iter().enumerate().skip(MESSAGE) {
            let mut sum = [0; TILE];
            for group in 0..GROUPS {
                let subset = (column >> (GROUP * group)) as usize % SUBSETS;
                let known = &sums[group * SUBSETS + subset];
                sum.iter_mut().zip(known).for_each(|(sum, byte)| *sum ^= byte);
            }
            let out = &mut out[row * stride + at..];
            // The compiler knows the length of a whole tile.
            match out.first_chunk_mut::<TILE>() {
                Some(out) if len == TILE => *out = sum,
                _ => out[..len].copy_from_slice(&sum[..len]),
            }
        }
    }
}

/// Room to work in, with secret content.
#[derive(Default)]
pub(super) struct Scratch {
    bits: Zeroizing<Vec<Block>>,
    sums: Zeroizing<Vec<Block>>,
    rows: Zeroizing<Vec<Block>>,
}

/// The first `n` blocks of a buffer, which is replaced if it is too short. They hold values of an earlier
/// use.
pub(super) fn room(buffer: &mut Zeroizing<Vec<Block>>, n: usize) -> &mut [Block] {
    if buffer.len() < n {
        *buffer = Zeroizing::new(vec![Block::ZERO; n]);
    }
    &mut buffer[..n]
}

const _: () = assert!(ROWS == bch::LENGTH);
