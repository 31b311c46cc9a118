//! `Shared`: where the gates that exist already are found.
//!
//! Circuits have locality, and a hash table that scatters gates over its memory wastes it: with millions of gates each
//! look-up misses every cache. So a gate is kept near the wire that it reads last: each wire brings two places, and a
//! gate goes to one of those shortly before its wire's, picked by a hash. Where these are taken, as when very many
//! gates read the same wires, it goes to a hash table of the usual kind.

use super::Wire;
use crate::circuit::{Circuit, Op};

/// The key that gates are found by: the operation and the literals that the gate reads, as a hash, and the
/// later literal.
#[derive(Clone, Copy)]
pub(super) struct Key {
    hash: u32,
    later: u32,
}

impl Key {
    /// The key of a gate over these literals, of which `y` is no earlier one than `x`.
    pub(super) fn new(op: Op, x: Wire, y: Wire) -> Key {
        let key = u64::from(x.0) << 32 | u64::from(y.0);
        let mixed = (key ^ key >> 29 ^ op as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = ((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32;
        Key { hash, later: y.0 }
    }

    /// The place where the search near the wire starts.
    fn start(self) -> usize {
        (PLACES * self.later as usize).saturating_sub(self.hash as usize % REACH)
    }

    /// The entry near the wire for a gate: its index plus one, and bits of the hash above it.
    fn near(self, index: usize) -> u32 {
        self.hash & !INDEX | (index as u32 + 1)
    }
}

/// Places for each wire: gates fill half of them.
const PLACES: usize = 2;
/// The most places before its wire's own that a search starts.
const REACH: usize = 128;
/// The number of places that a search looks at before it goes to the far table.
const PROBES: usize = 16;
/// The bits of a place that hold an index: there are fewer wires than that.
const INDEX: u32 = (1 << 28) - 1;
const _: () = assert!(Circuit::MAX_WIRES <= INDEX as usize);

/// A map from keys to gate indices. Nothing is ever taken out, so a search ends at a free place.
#[derive(Default)]
pub(super) struct Shared {
    /// The places near the wires; zero marks a free one.
    near: Vec<u32>,
    far: Far,
}

impl Shared {
    /// The gate of this key that `is` says is the one wanted; it is asked about few others.
    pub(super) fn find(&self, key: Key, mut is: impl FnMut(usize) -> bool) -> Option<usize> {
        let near = self.near.get(key.start()..)?;
        for &place in &near[..PROBES.min(near.len())] {
            if place == 0 {
                return None;
            }
            let index = (place & INDEX) as usize - 1;
            if place == key.near(index) && is(index) {
                return Some(index);
            }
        }
        self.far.candidates(key.hash).find(|&index| is(index))
    }

    /// Keeps a gate that is not there yet, which drives `wire`.
    pub(super) fn insert(&mut self, key: Key, index: usize, wire: usize) {
        // Room for the searches of all keys whose later literal is this wire or an earlier one.
        self.near.resize(PLACES * wire + PROBES, 0);
        let near = &mut self.near[key.start()..][..PROBES];
        match near.iter_mut().find(|place| **place == 0) {
            Some(place) => *place = key.near(index),
            None => self.far.insert(key.hash, index),
        }
    }
}

/// An open-addressing table from hashes to gate indices; a hash may have several. At most three quarters are taken.
#[derive(Default)]
struct Far {
    /// The places, a power of two of them: the hash, then the index plus one; zero marks a free one.
    places: Vec<u64>,
    taken: usize,
}

impl Far {
    /// The places where this hash may be, up to the first free one.
    fn candidates(&self, hash: u32) -> impl Iterator<Item = usize> + '_ {
        let mask = self.places.len().wrapping_sub(1);
        let places = (0..self.places.len()).map(move |i| self.places[(hash as usize + i) & mask]);
        let taken = places.take_while(|&place| place != 0);
        taken.filter(move |place| (place >> 32) as u32 == hash).map(|place| place as u32 as usize - 1)
    }

    fn insert(&mut self, hash: u32, index: usize) {
        if 4 * self.taken >= 3 * self.places.len() {
            let larger = vec![0; (2 * self.places.len()).max(1024)];
            for place in std::mem::replace(&mut self.places, larger) {
                if place != 0 {
                    self.put(place);
                }
            }
        }
        self.put(u64::from(hash) << 32 | (index as u64 + 1));
        self.taken += 1;
    }

    fn put(&mut self, place: u64) {
        let mask = self.places.len() - 1;
        let mut at = (place >> 32) as usize & mask;
        while self.places[at] != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = place;
    }
}
