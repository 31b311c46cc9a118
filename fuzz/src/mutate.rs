//! Mutations of seeds, the same on every run.

use comity_core::{Backend, Block, Prg};
use rand_core::{Rng, SeedableRng};

/// Bytes and words that decoders tend to get wrong.
const NASTY: [&[u8]; 14] = [
    &[0],
    &[0xff],
    &[0x7f],
    &[0x80],
    &[0xff; 4],
    &[0xff; 8],
    &[0, 0, 0, 0x80],
    &[0xff, 0xff, 0xff, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    b"\n",
    b" -1 ",
    b" 4294967296 ",
    b" 18446744073709551615 ",
    "\u{202e}\u{0}é".as_bytes(),
];

/// Changes inputs at random, but the same on every run: an input can be made again from its number.
pub struct Mutator {
    rng: Prg,
}

impl Mutator {
    /// The mutations of this number.
    pub fn new(number: u64) -> Mutator {
        let mut seed = [0; Block::BYTES];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Mutator { rng: Prg::new(Backend::detect(), Block::new(seed)) }
    }

    /// An input of the corpus, changed in one to four places, now and then continued by a piece of another.
    pub fn next(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        if self.below(8) == 0 {
            let other = &corpus[self.below(corpus.len())];
            bytes.truncate(self.below(bytes.len() + 1));
            bytes.extend(&other[self.below(other.len() + 1)..]);
        }
        for _ in 0..1 + self.below(4) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let span = at..(at + 1 + self.below(16)).min(bytes.len());
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(span)),
            2 => {
                let twice = bytes[span].to_vec();
                bytes.splice(at..at, twice);
            }
            3 => {
                let nasty = NASTY[self.below(NASTY.len())];
                bytes.splice(at..at, nasty.iter().copied());
            }
            4 => {
                let nasty = NASTY[self.below(NASTY.len())];
                let end = (at + nasty.len()).min(bytes.len());
                bytes.splice(at..end, nasty.iter().copied());
            }
            5 => {
                // A digit for a digit keeps a text a text.
                let digit = b'0' + self.below(10) as u8;
                if let Some(byte) = bytes[at..].iter_mut().find(|b| b.is_ascii_digit()) {
                    *byte = digit;
                }
            }
            6 => {
                let bit = 1 << self.below(8);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }
            _ => {
                let random = self.rng.next_u32() as u8;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random;
                }
            }
        }
    }

    /// A number below `bound`, which is above 0. The bias does not matter here.
    fn below(&mut self, bound: usize) -> usize {
        (self.rng.next_u64() % bound as u64) as usize
    }
}

/// A generator for the honest side of a body: alike on every run.
pub(crate) fn rng() -> Prg {
    Prg::from_seed(Default::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_repeat_and_differ() {
        let corpus = vec![b"0123456789".to_vec(), b"abc".to_vec(), Vec::new()];
        let all = |number| {
            let mut mutator = Mutator::new(number);
            (0..100).map(|_| mutator.next(&corpus)).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert!(all(1).iter().any(|bytes| !corpus.contains(bytes)));
    }
}
