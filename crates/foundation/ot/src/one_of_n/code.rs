//! Words of a code for many choices at once, as rows of bits or as blocks.

use comity_core::{Aes128, Backend, Block, SessionId, transpose};
use zeroize::Zeroizing;

use super::bch::{self, MESSAGE};
use super::{QUARTERS, ROWS};

/// Message bits whose sums are looked up together.
const GROUP: usize = 4;

/// Groups: all message bits are in one.
const GROUPS: usize = MESSAGE / GROUP;

/// Blocks that are summed in registers.
const LANE: usize = 8;

/// A code with words of 512 bits.
pub(super) enum Code {
    /// The extended BCH code: words of 76 bits.
    Linear,
    /// Four encryptions: words of 128 bits.
    PseudoRandom([Aes128; QUARTERS]),
}

impl Code {
    /// KKRT's code for a session.
    pub(super) fn pseudo_random(backend: Backend, session: &SessionId) -> Code {
        let key = session.block("pseudo-random code of KKRT").to_u128();
        Code::PseudoRandom([0, 1, 2, 3].map(|quarter: u128| Aes128::new(backend, Block::from_u128(key ^ quarter))))
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

    /// The same as blocks: `out[j]` gets bits `128 a` to `128 a + 127` of word `j`, for quarter `a`, and with it `each` is
    /// called.
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
/// Row by row the memory that is read depends on the code alone, and not on what is encoded. The sums of every four rows
/// of the message are formed once ("four Russians"), so that a row of the word takes 19 additions instead of 38.
pub(super) fn encode(messages: &[Block], width: usize, sums: &mut Zeroizing<Vec<Block>>, out: &mut [Block]) {
    let stride = width << GROUP;
    let sums = room(sums, GROUPS * stride);
    for (sums, rows) in sums.chunks_exact_mut(stride).zip(messages.chunks_exact(GROUP * width)) {
        sums[..width].fill(Block::ZERO);
        for subset in 1..1 << GROUP {
            let row = &rows[(subset as u32).trailing_zeros() as usize * width..][..width];
            let (known, sum) = sums.split_at_mut(subset * width);
            let rest = &known[(subset & (subset - 1)) * width..][..width];
            for ((sum, rest), row) in sum.iter_mut().zip(rest).zip(row) {
                *sum = *rest ^ *row;
            }
        }
    }
    for (&column, out) in bch::columns().iter().zip(out.chunks_exact_mut(width)) {
        let subset = |group: usize| (column >> (GROUP * group)) as usize % (1 << GROUP);
        let starts: [usize; GROUPS] = std::array::from_fn(|group| group * stride + subset(group) * width);
        for (lane, out) in out.chunks_mut(LANE).enumerate() {
            let mut sum = [Block::ZERO; LANE];
            for start in starts {
                let row = &sums[start + lane * LANE..][..out.len()];
                if let Some(row) = row.first_chunk::<LANE>() {
                    sum.iter_mut().zip(row).for_each(|(sum, row)| *sum ^= *row);
                } else {
                    sum.iter_mut().zip(row).for_each(|(sum, row)| *sum ^= *row);
                }
            }
            out.copy_from_slice(&sum[..out.len()]);
        }
    }
}

/// Room to work in. What lies there is secret.
#[derive(Default)]
pub(super) struct Scratch {
    bits: Zeroizing<Vec<Block>>,
    pub(super) sums: Zeroizing<Vec<Block>>,
    rows: Zeroizing<Vec<Block>>,
}

/// The first `n` blocks of a buffer, which is replaced if it is too short; what is in them is of an earlier use.
pub(super) fn room(buffer: &mut Zeroizing<Vec<Block>>, n: usize) -> &mut [Block] {
    if buffer.len() < n {
        *buffer = Zeroizing::new(vec![Block::ZERO; n]);
    }
    &mut buffer[..n]
}

const _: () = assert!(ROWS == bch::LENGTH && GROUPS * GROUP == MESSAGE);
