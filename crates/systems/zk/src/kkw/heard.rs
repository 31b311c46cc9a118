//! The hashes of what is said in a group's executions, as it is said.

use comity_core::{Backend, Vectorize};
use zeroize::Zeroizing;

use super::GROUP;
use super::strips::Parties;

/// Bytes that are hashed at once: 16 chunks of BLAKE3, which the widest machine computes side by side, if
/// they begin where a multiple of 16 chunks does.
const AT_ONCE: usize = 16 << 10;
/// Words of a lane that are heard at once, eight each.
const EIGHTS: usize = AT_ONCE / 64;

/// The hashes of a group, a lane each. Groups follow one another in it.
pub(super) struct Heard {
    backend: Backend,
    /// Words of the first lane, then those of the second one.
    lanes: Zeroizing<Vec<Parties>>,
    /// The words that the parties say in each execution.
    pub(super) executions: [Said; GROUP],
}

/// The hash of the words that the parties say in an execution.
pub(super) struct Said {
    hash: blake3::Hasher,
    rest: Zeroizing<Vec<u8>>,
}

impl Heard {
    /// Room for hashes.
    pub(super) fn new(backend: Backend) -> Heard {
        let said = || Said { hash: blake3::Hasher::new(), rest: Zeroizing::new(Vec::with_capacity(3 * AT_ONCE)) };
        let lanes = Zeroizing::new(vec![[0; GROUP]; GROUP * EIGHTS]);
        Heard { backend, lanes, executions: [(); GROUP].map(|()| said()) }
    }

    /// Adds words to all hashes.
    pub(super) fn hear(&mut self, words: &[Parties]) {
        for words in words.chunks(8 * EIGHTS) {
            let (eights, rest) = words.as_chunks();
            let lanes = &mut self.lanes[..GROUP * eights.len()];
            self.backend.vectorize(Turn { eights, lanes });
            for (lane, said) in self.executions.iter_mut().enumerate() {
                let lane_words = &lanes[lane * eights.len()..][..eights.len()];
                said.rest.extend_from_slice(bytemuck::cast_slice(lane_words));
                rest.iter().for_each(|word| said.rest.extend(word[lane].to_ne_bytes()));
                said.hash();
            }
        }
    }
}

impl Said {
    /// Begins the hash under this key, with parts that come before all that is heard.
    pub(super) fn begin(&mut self, key: &[u8; 32], parts: [&[u8]; 3]) {
        self.hash = blake3::Hasher::new_keyed(key);
        self.rest.clear();
        parts.into_iter().for_each(|part| self.rest.extend(part));
    }

    fn hash(&mut self) {
        let whole = self.rest.len() / AT_ONCE * AT_ONCE;
        self.hash.update(&self.rest[..whole]);
        self.rest.drain(..whole);
    }

    /// The hash of all of it.
    pub(super) fn finish(&mut self) -> [u8; 32] {
        *self.hash.update(&self.rest).finalize().as_bytes()
    }
}

/// Words turned into lanes, eight by eight, as work for the machine's registers.
struct Turn<'a> {
    eights: &'a [[Parties; 8]],
    lanes: &'a mut [Parties],
}

impl Vectorize for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let count = self.eights.len();
        let mut rest = self.lanes;
        let mut lanes: [&mut [Parties]; GROUP] = [(); GROUP].map(|()| rest.split_off_mut(..count).expect("room"));
        for (at, eight) in self.eights.iter().enumerate() {
            lanes.iter_mut().zip(turned(*eight)).for_each(|(lane, words)| lane[at] = words);
        }
    }
}

/// Transposes words and lanes: halves trade places, then quarters, then single lanes.
#[inline(always)]
fn turned([a, b, c, d, e, f, g, h]: [Parties; 8]) -> [Parties; 8] {
    let [[a, e], [b, f], [c, g], [d, h]] = [trade::<4>(a, e), trade::<4>(b, f), trade::<4>(c, g), trade::<4>(d, h)];
    let [[a, c], [b, d], [e, g], [f, h]] = [trade::<2>(a, c), trade::<2>(b, d), trade::<2>(e, g), trade::<2>(f, h)];
    let [[a, b], [c, d], [e, f], [g, h]] = [trade::<1>(a, b), trade::<1>(c, d), trade::<1>(e, f), trade::<1>(g, h)];
    [a, b, c, d, e, f, g, h]
}

/// The odd blocks of `D` lanes of one word trade places with the even ones of the other.
#[inline(always)]
fn trade<const D: usize>(a: Parties, b: Parties) -> [Parties; 2] {
    let even = |lane: usize| lane & D == 0;
    let low = core::array::from_fn(|lane| if even(lane) { a[lane] } else { b[lane - D] });
    [low, core::array::from_fn(|lane| if even(lane) { a[lane + D] } else { b[lane] })]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_hashed_as_they_were_said() {
        // Fewer words than are turned at once, as many as are hashed at once, more; in pieces of several lengths.
        let words: Vec<Parties> = (0..6000).map(|i| core::array::from_fn(|lane| (i << 8 | lane) as u64)).collect();
        for backend in Backend::available() {
            let mut heard = Heard::new(backend);
            for (from, to) in [(0, 0), (1, 8), (3, 60), (5, 2051), (700, 6000)] {
                let key = |lane: usize| [lane as u8; 32];
                for (lane, said) in heard.executions.iter_mut().enumerate() {
                    said.begin(&key(lane), [b"to be", b" heard", &[7; 100]]);
                }
                for piece in words[from..to].chunks((to - from / 2).max(1)) {
                    heard.hear(piece);
                }
                for (lane, said) in heard.executions.iter_mut().enumerate() {
                    let said_there = words[from..to].iter().flat_map(|word| word[lane].to_ne_bytes());
                    let all: Vec<u8> = b"to be heard".iter().copied().chain([7; 100]).chain(said_there).collect();
                    assert_eq!(said.finish(), *blake3::keyed_hash(&key(lane), &all).as_bytes(), "lane {lane}");
                }
            }
        }
    }
}
