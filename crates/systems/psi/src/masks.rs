//! Masks: what the sender shows of the values that an OPRF gives its items, and how the receiver finds its
//! own among them.
//!
//! A *group* has a value for each item of the sender. From each value come, by hashes of their own, a mask,
//! cut to the bits that it takes to tell all items apart, and a key for the item's payload: a mask shows
//! nothing of the key. The masks of a group are sent in ascending order, which is the same however the items
//! were ordered, as a [sorted list](crate::code), whose length is known beforehand, and then the sealed
//! payloads in the same order. The receiver walks both lists once.
//!
//! The hashes are Davies and Meyer's, `pi(v) ^ v`, for permutations (AES) that differ by session and use: in
//! the ideal-cipher model what is not asked at `v` is random. Values are pseudo-random to the receiver where
//! it does not have them.

use comity_channel::Channel;
use comity_core::{Aes128, Backend, Block, Error, HugeTable, Result, SessionId, declassify_all};
use comity_protocol::Here;
use zeroize::Zeroizing;

use crate::code::{MaskList, pieces};
use crate::payload::{Key, Sealer, TOGETHER};
use crate::set::Set;
use crate::sort::{Beginnings, first, order_by_mask, sort_by_mask};

/// Values hashed in one go.
const BATCH: usize = 128;

/// The hashes of a run, and the lengths.
pub(crate) struct Masks {
    mask: Aes128,
    keys: [Aes128; 2],
    sealer: Sealer,
    bits: u32,
    payload: usize,
}

/// The sender's masks of a group so far.
pub(crate) struct Group {
    masks: Vec<u128>,
    /// The value and the item of each mask, where there is payload.
    origin: Vec<(Block, u32)>,
}

/// The values that the receiver looks for in a group.
pub(crate) struct Sought<'v> {
    values: &'v [Block],
    /// The mask of each, which are read at random places.
    masks: HugeTable,
    beginnings: Beginnings,
}

/// The items that were found in a group, in no particular order.
#[derive(Default)]
pub(crate) struct Found {
    /// The places of the values found, some perhaps more than once.
    pub(crate) places: Vec<u32>,
    /// The payload of each, as many bytes as were agreed on.
    pub(crate) payload: Vec<u8>,
}

impl Masks {
    /// The hashes for masks of `bits` bits and `payload` bytes of payload. All groups of a run share them.
    pub(crate) fn new(here: Here, bits: u32, payload: usize) -> Masks {
        Masks::of(here.backend, [here.session; 2], bits, payload)
    }

    /// The same, where there is no run. `masks` says what they are for, and `sealing` what payload is sealed
    /// for: once for each value.
    pub(crate) fn of(backend: Backend, [masks, sealing]: [SessionId; 2], bits: u32, payload: usize) -> Masks {
        let permutation = |session: SessionId, label| Aes128::new(backend, session.block(label));
        Masks {
            mask: permutation(masks, "masks of private set intersection"),
            keys: ["first keys of payload", "second keys of payload"].map(|label| permutation(sealing, label)),
            sealer: Sealer::new(payload),
            bits,
            payload,
        }
    }

    /// A group without values, with room for `n`.
    pub(crate) fn group(&self, n: usize) -> Group {
        let origin = if self.payload > 0 { n } else { 0 };
        Group { masks: Vec::with_capacity(n), origin: Vec::with_capacity(origin) }
    }

    /// Adds values to a group, each with its item.
    pub(crate) fn add(&self, group: &mut Group, values: &[Block], items: impl Iterator<Item = u32>) {
        if self.payload > 0 {
            group.origin.extend(values.iter().copied().zip(items));
        }
        for values in values.chunks(BATCH) {
            self.hash(values, |mask| group.masks.push(mask));
        }
    }

    /// Sends a group. `set` has the payload of the items; an item that it does not have is a dummy.
    pub(crate) fn send(&self, ch: &mut dyn Channel, group: Group, set: &Set<'_>) -> Result<()> {
        self.write(group, set, &mut |bytes| ch.send(bytes)).map(drop)
    }

    /// The same, to wherever `out` writes. The masks, in their order.
    pub(crate) fn write(
        &self,
        mut group: Group,
        set: &Set<'_>,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<HugeTable> {
        let n = group.masks.len();
        declassify_all(&mut group.masks, "the receiver is told all of them, in their order");
        if self.payload == 0 {
            let mut masks = HugeTable::zeroed(n);
            let mask = |at: usize| Block::from_u128(group.masks[at]);
            sort_by_mask(mask, &mut masks, |mask| first(mask.to_u128(), self.bits), |mask| mask.to_u128());
            MaskList::new(n, self.bits).write_all(masks.iter().map(|mask| mask.to_u128()), out)?;
            return Ok(masks);
        }
        let order = order_by_mask(n, |at| group.masks[at], self.bits);
        let mut masks = HugeTable::zeroed(n);
        masks.iter_mut().zip(&order).for_each(|(mask, &at)| *mask = Block::from_u128(group.masks[at as usize]));
        MaskList::new(n, self.bits).write_all(masks.iter().map(|mask| mask.to_u128()), out)?;
        let (mut items, mut values) = (vec![0; TOGETHER * self.sealer.sealed()], Zeroizing::new(Vec::new()));
        for order in order.chunks(TOGETHER) {
            let items = &mut items[..order.len() * self.sealer.sealed()];
            values.clear();
            for (&at, sealed) in order.iter().zip(items.chunks_exact_mut(self.sealer.sealed())) {
                let (value, item) = group.origin[at as usize];
                values.push(value);
                let (from, sealed) = (item as usize * self.payload, &mut sealed[..self.payload]);
                match set.payload.get(from..from + self.payload) {
                    Some(payload) => sealed.copy_from_slice(payload),
                    None => sealed.fill(0),
                }
            }
            self.sealer.seal(&self.keys(&values), items);
            out(items)?;
        }
        Ok(masks)
    }

    /// The receiver's values in a group, to be looked for.
    pub(crate) fn seek<'v>(&self, values: &'v [Block]) -> Sought<'v> {
        let masks = self.own(values);
        Sought { values, beginnings: Beginnings::of(masks.len(), |place| masks[place].to_u128(), self.bits), masks }
    }

    /// The masks of values, ascending, and the place of each one's value.
    pub(crate) fn sorted(&self, values: &[Block]) -> Vec<(u128, u32)> {
        let masks = self.own(values);
        let order = order_by_mask(masks.len(), |place| masks[place].to_u128(), self.bits);
        order.into_iter().map(|place| (masks[place as usize].to_u128(), place)).collect()
    }

    /// The masks of a party's own values.
    fn own(&self, values: &[Block]) -> HugeTable {
        let mut masks = HugeTable::zeroed(values.len());
        for (values, masks) in values.chunks(BATCH).zip(masks.chunks_mut(BATCH)) {
            let mut next = masks.iter_mut();
            self.hash(values, |mask| *next.next().expect("a mask for each value") = Block::from_u128(mask));
        }
        declassify_all(
            &mut masks,
            "items are sorted in variable time here too: their order by mask tells who has the sender's key, and nobody else",
        );
        masks
    }

    /// Receives a group of `n` masks and finds the sought values in it.
    ///
    /// An item whose payload has a wrong seal does not count as found, as if no mask were its own; the
    /// receiver says nothing that would show that it noticed.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the masks are not a list of `n`; those of the channel.
    pub(crate) fn receive(&self, ch: &mut dyn Channel, n: usize, sought: &Sought<'_>) -> Result<Found> {
        let Sought { values, masks, beginnings } = sought;
        let (mut ranks, mut found, mut rank) = (Vec::new(), Found::default(), 0);
        let mut walk = beginnings.walk();
        MaskList::new(n, self.bits).receive(ch, |sent| {
            walk.alike(sent, |nth, place| {
                if masks[place as usize].to_u128() == sent[nth] {
                    found.places.push(place);
                    if self.payload > 0 {
                        ranks.push(rank + nth);
                    }
                }
            });
            rank += sent.len();
        })?;
        if self.payload == 0 {
            return Ok(found);
        }
        let mut matches = ranks.into_iter().zip(std::mem::take(&mut found.places)).peekable();
        let (width, mut rank) = (self.sealer.sealed(), 0);
        let (mut places, mut items) = (Vec::new(), Vec::new());
        pieces(&mut |bytes| ch.recv(bytes), n * width, width, |bytes| {
            places.clear();
            items.clear();
            for sealed in bytes.chunks_exact(width) {
                while let Some((_, place)) = matches.next_if(|&(matched, _)| matched == rank) {
                    places.push(place);
                    items.extend_from_slice(sealed);
                }
                rank += 1;
            }
            for (places, items) in places.chunks(TOGETHER).zip(items.chunks_mut(TOGETHER * width)) {
                let of: Zeroizing<Vec<Block>> = Zeroizing::new(places.iter().map(|&at| values[at as usize]).collect());
                self.open(&of, items, |nth, payload| {
                    found.places.push(places[nth]);
                    found.payload.extend_from_slice(payload);
                });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Hands on the payload of those items with these values that was sealed for them, each with its number.
    /// Overwrites `items`.
    pub(crate) fn open(&self, values: &[Block], items: &mut [u8], mut each: impl FnMut(usize, &[u8])) {
        let right = self.sealer.open(&self.keys(values), items);
        let payload = items.chunks_exact(self.sealer.sealed()).map(|item| &item[..self.payload]);
        let right = payload.zip(right).enumerate().filter(|(_, (_, right))| *right);
        right.for_each(|(nth, (payload, _))| each(nth, payload));
    }

    /// The masks of values, at most [`BATCH`].
    fn hash(&self, values: &[Block], mut each: impl FnMut(u128)) {
        let mut hashed = Zeroizing::new([Block::ZERO; BATCH]);
        let hashed = &mut hashed[..values.len()];
        hashed.copy_from_slice(values);
        self.mask.encrypt(hashed);
        for (hash, value) in hashed.iter().zip(values) {
            each((*hash ^ *value).to_u128() >> (128 - self.bits));
        }
    }

    /// The keys of the payload of items with these values.
    fn keys(&self, values: &[Block]) -> Zeroizing<Vec<Key>> {
        let halves = self.keys.each_ref().map(|permutation| {
            let mut hashed = Zeroizing::new(values.to_vec());
            permutation.encrypt(&mut hashed);
            hashed.iter_mut().zip(values).for_each(|(hash, &value)| *hash ^= value);
            hashed
        });
        let [first, second] = &halves;
        Zeroizing::new(first.iter().zip(second.iter()).map(|(&first, &second)| [first, second]).collect())
    }
}

/// The error for a list of masks that does not decode.
pub(crate) fn no_list(what: &str) -> Error {
    Error::malformed(format!("the sender's masks are not a sorted list: {what}"))
}

#[cfg(test)]
mod tests {
    use comity_core::Prg;
    use comity_testing::Pair;

    use super::*;
    use crate::tests::here;

    /// Values of a generator.
    fn values(seed: u128, n: usize) -> Vec<Block> {
        let mut values = vec![Block::ZERO; n];
        Prg::new(here(0, 1).backend, Block::from_u128(seed)).fill_blocks(&mut values);
        values
    }

    /// What a receiver of `own` finds among `sent`, with masks of `bits` bits.
    fn find(bits: u32, sent: &[Block], own: &[Block]) -> Found {
        let masks = Masks::new(here(0, 1), bits, 0);
        let mut group = masks.group(sent.len());
        masks.add(&mut group, sent, 0..);
        let (_, found) = Pair::run(
            |ch| masks.send(ch, group, &Set::default()).and_then(|()| ch.flush()),
            |ch| masks.receive(ch, sent.len(), &masks.seek(own)),
        );
        found.unwrap()
    }

    /// Masks that are too short find items that are not there, as often as they must; long ones none.
    #[test]
    fn items_are_found_by_chance_as_often_as_computed() {
        let (sent, own) = (values(1, 1 << 12), values(2, 1 << 12));
        // 2^24 pairs, of which 2^-20 match: 16, with a standard deviation of 4.
        let found = find(20, &sent, &own).places.len();
        assert!((1..40).contains(&found), "{found}");
        assert_eq!(find(24 + 40, &sent, &own).places.len(), 0);
        assert_eq!(find(24 + 40, &sent, &sent).places.len(), 1 << 12);
    }

    #[test]
    fn a_mask_that_comes_twice_finds_its_item_once() {
        let value = values(3, 1);
        let found = find(60, &[value[0]; 3], &value);
        assert_eq!(crate::Matches::new(3, 1, &found, 0).matched, [0]);
        // Nor is one of two values that have one mask lost.
        let mut places = find(60, &value, &[value[0]; 2]).places;
        places.sort_unstable();
        assert_eq!(places, [0, 1]);
    }

    #[test]
    fn a_mask_says_nothing_of_its_payloads_key() {
        let masks = Masks::new(here(0, 1), 128, 1);
        let [value] = values(4, 1)[..] else { panic!("one value") };
        let mut mask = 0;
        masks.hash(&[value], |hash| mask = hash);
        let [key] = masks.keys(&[value])[..] else { panic!("one key") };
        let key = [key[0].to_bytes(), key[1].to_bytes()].concat();
        assert_ne!(key[..16], key[16..]);
        for part in key.chunks(16).chain([&value.to_bytes()[..]]) {
            assert_ne!(part, mask.to_le_bytes());
        }
        // Nor can anybody who has permutations of the session go back to the value.
        for (permutation, hash) in [&masks.mask, &masks.keys[0], &masks.keys[1]].into_iter().zip([
            &mask.to_le_bytes()[..],
            &key[..16],
            &key[16..],
        ]) {
            let mut permuted = [value];
            permutation.encrypt(&mut permuted);
            assert_ne!(permuted[0].to_bytes(), hash);
        }
    }
}
