//! The server's side of a base: its key, the masks that are out, and how both change.

use comity_core::{Backend, Block, Error, Result};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::file::{BaseTerms, DIGEST, Reader, UPDATE, VERSION, checked, digest, no_file};
use crate::code::MaskList;
use crate::oprf::Oprf;
use crate::set::{Item, MAX_ITEMS, Set};

/// The first bytes of the server's state.
pub(super) const STATE: &[u8; 16] = b"comity psi state";

/// What a server keeps of a base that it has published, including the function's key. Secret.
pub struct Published {
    /// The terms that were fixed when it was published.
    pub terms: BaseTerms,
    /// The function, with its key.
    pub oprf: Oprf,
    update: u64,
    head: [u8; DIGEST],
    /// The masks of the base and its updates together.
    out: u64,
    /// The masks of the items that are in the set now.
    current: Vec<u128>,
    /// The masks of the dummies that are out: an update that is to hide how many items go takes some of them
    /// out with these. A mask that was never out would show that nobody's goes.
    dummies: Vec<u128>,
}

/// The changes that an update made, in items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Items that were added.
    pub added: usize,
    /// Items that were in the set already, and got the new payload.
    pub replaced: usize,
    /// Items that were to be added and were in the set already, with nothing to change.
    pub known: usize,
    /// Items that were removed.
    pub removed: usize,
    /// Items that were to be removed and were not in the set.
    pub unknown: usize,
}

impl Published {
    /// Publishes a set under a new key: returns what the server keeps, and writes the file. The id of `terms`
    /// is replaced by a new random one.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the set does not fit the terms; those of `out`, which gets the
    /// file piece by piece.
    pub fn new(
        mut terms: BaseTerms,
        set: &Set<'_>,
        (backend, rng): (Backend, &mut dyn CryptoRng),
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Published> {
        terms.check()?;
        set.check(terms.payload)?;
        let told = set.told() as u64;
        if told > terms.most {
            let most = terms.most;
            return Err(Error::invalid_input(format!("a set of {told} items in a base for {most}: allow for more")));
        }
        rng.fill_bytes(&mut terms.id);
        let oprf = Oprf::random(rng);
        let mut hash = blake3::Hasher::new();
        let mut both = |bytes: &[u8]| {
            hash.update(bytes);
            out(bytes)
        };
        both(&terms.to_bytes())?;
        both(&told.to_le_bytes())?;
        let masks = terms.masks(backend, &terms.id);
        let digests = terms.digests(rng, set);
        let values = oprf.evaluate(backend, digests.into_iter());
        let mut group = masks.group(values.len());
        masks.add(&mut group, &values, 0..);
        let mut current = masks.write(group, set, &mut both)?.iter().map(|mask| mask.to_u128()).collect();
        let head = *hash.finalize().as_bytes();
        out(&head)?;
        let mut dummies = Vec::new();
        if told > set.items.len() as u64 {
            // Dummies are out, and not in the set.
            let parts = values.split_at(set.items.len());
            [current, dummies] = [parts.0, parts.1].map(|values| numbers(masks.sorted(values)));
        }
        Ok(Published { terms, oprf, update: 0, head, out: told, current, dummies })
    }

    /// The number of the last update.
    pub fn update(&self) -> u64 {
        self.update
    }

    /// The digest of the base and all of its updates.
    pub fn head(&self) -> &[u8; 32] {
        &self.head
    }

    /// The number of items in the set.
    pub fn items(&self) -> usize {
        self.current.len()
    }

    /// Removes items from the set and adds others: returns the update's file, which each client needs, and
    /// what it changed. Both lists are padded to `pad_to` masks: dummies are added to one, and dummies that
    /// were added earlier are removed by the other.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a list has an item twice, if it is longer than `pad_to` (0
    /// means no padding), if the base would get more masks than its terms allow, or if it has too few dummies
    /// to remove. Then nothing has changed.
    pub fn change(
        &mut self,
        remove: &[Item],
        add: &Set<'_>,
        pad_to: usize,
        (backend, rng): (Backend, &mut dyn CryptoRng),
    ) -> Result<(Vec<u8>, Changed)> {
        Set { items: remove, ..Set::default() }.check(0)?;
        add.check(self.terms.payload)?;
        let mut name = [0; 32];
        rng.fill_bytes(&mut name);
        let masks = self.terms.masks(backend, &name);
        let values = |items: &[Item], rng: &mut dyn CryptoRng| {
            let inputs = self.terms.inputs(rng, items);
            self.oprf.evaluate(backend, inputs.into_iter())
        };
        let (gone, come) = (values(remove, rng), values(add.items, rng));
        let (mut changed, mut removed) = (Changed::default(), Vec::new());
        for (mask, _) in masks.sorted(&gone) {
            match self.current.binary_search(&mask) {
                Ok(_) => removed.push(mask),
                Err(_) => changed.unknown += 1,
            }
        }
        changed.removed = removed.len();
        // What goes may come again in the same update, with another payload.
        let (mut added, mut fresh, mut replaced) = (masks.group(add.items.len()), Vec::new(), Vec::new());
        for (mask, item) in masks.sorted(&come) {
            let stays = self.current.binary_search(&mask).is_ok() && removed.binary_search(&mask).is_err();
            match (stays, self.terms.payload) {
                (true, 0) => {
                    changed.known += 1;
                    continue;
                }
                (true, _) => replaced.push(mask),
                (false, _) => fresh.push(mask),
            }
            masks.add(&mut added, &[come[item as usize]], std::iter::once(item));
        }
        (changed.added, changed.replaced) = (fresh.len(), replaced.len());
        let came = fresh.len() + replaced.len();
        let mut gone = [&removed[..], &replaced].concat();
        if (1..came.max(gone.len())).contains(&pad_to) {
            let go = gone.len();
            return Err(Error::invalid_input(format!("{came} masks come and {go} go, which {pad_to} cannot hide")));
        }
        let mut dummies = self.dummies.clone();
        let go = pad_to.saturating_sub(gone.len());
        if go > dummies.len() {
            return Err(Error::invalid_input(format!(
                "the update removes {} keys and should hide them among {pad_to}, but only {} dummies are left to \
                    remove with them: dummies come with a padded base or update, and go with a later update",
                gone.len(),
                dummies.len()
            )));
        }
        // Any of them: which go must not say that they are dummies.
        gone.extend((0..go).map(|_| dummies.swap_remove(below(rng, dummies.len()))));
        gone.sort_unstable();
        let come = pad_to.saturating_sub(came);
        let fill: Zeroizing<Vec<Block>> =
            Zeroizing::new(std::iter::repeat_with(|| Block::random(rng)).take(come).collect());
        // A dummy has no payload: its number is nobody's.
        masks.add(&mut added, &fill, std::iter::repeat_n(u32::MAX, come));
        dummies.extend(numbers(masks.sorted(&fill)));
        dummies.sort_unstable();
        let counts = [gone.len() as u64, (came + come) as u64];
        let out = self.out + counts[0] + counts[1];
        if out > self.terms.most || counts.iter().any(|&count| count > MAX_ITEMS as u64) {
            return Err(Error::invalid_input(format!(
                "the base would have {out} masks with all of its updates, and was published for at most {}: publish a \
                    new one",
                self.terms.most
            )));
        }
        let mut bytes = [&UPDATE[..], &VERSION.to_le_bytes(), &self.terms.id, &name].concat();
        bytes.extend_from_slice(&(self.update + 1).to_le_bytes());
        bytes.extend_from_slice(&self.head);
        counts.iter().for_each(|count| bytes.extend_from_slice(&count.to_le_bytes()));
        let mut append = |more: &[u8]| {
            bytes.extend_from_slice(more);
            Ok(())
        };
        MaskList::new(gone.len(), self.terms.mask_bits()).write(&gone, &mut append)?;
        masks.write(added, add, &mut append)?;
        let head = digest(&bytes);
        bytes.extend_from_slice(&head);
        self.current.retain(|mask| removed.binary_search(mask).is_err());
        self.current.extend(fresh);
        self.current.sort_unstable();
        (self.update, self.head, self.out, self.dummies) = (self.update + 1, head, out, dummies);
        Ok((bytes, changed))
    }

    /// The bytes to keep. Secret.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let terms = self.terms.to_bytes();
        let lists = [&self.current, &self.dummies];
        let lists = lists.map(|masks| (masks, MaskList::new(masks.len(), self.terms.mask_bits())));
        let len: usize = lists.iter().map(|(_, list)| 8 + list.len()).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(terms.len() + len + 256));
        bytes.extend_from_slice(STATE);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(self.oprf.key());
        bytes.extend_from_slice(&terms);
        bytes.extend_from_slice(&self.update.to_le_bytes());
        bytes.extend_from_slice(&self.head);
        bytes.extend_from_slice(&self.out.to_le_bytes());
        for (masks, list) in lists {
            bytes.extend_from_slice(&(masks.len() as u64).to_le_bytes());
            let mut append = |more: &[u8]| {
                bytes.extend_from_slice(more);
                Ok(())
            };
            list.write(masks, &mut append).expect("memory takes everything");
        }
        let head = digest(&bytes);
        bytes.extend_from_slice(&head);
        bytes
    }

    /// The state that [`Published::to_bytes`] gave the bytes of.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), with what is wrong, if [`Published::to_bytes`] did not give these
    /// bytes.
    pub fn read(bytes: &[u8]) -> Result<Published> {
        let mut reader = Reader { bytes: checked(bytes)?.0, at: 0 };
        reader.begin(STATE, "what a server keeps of a base")?;
        let oprf = Oprf::new(reader.array()?);
        let terms = BaseTerms::read(&mut reader)?;
        let (update, head, out) = (reader.u64()?, reader.array()?, reader.u64()?);
        let bits = terms.mask_bits();
        let (current, dummies) = (masks(&mut reader, bits)?, masks(&mut reader, bits)?);
        reader.end()?;
        Ok(Published { terms, oprf, update, head, out, current, dummies })
    }
}

/// A list of masks of `bits` bits, after its length.
fn masks(reader: &mut Reader<'_>, bits: u32) -> Result<Vec<u128>> {
    let count = usize::try_from(reader.u64()?).ok().filter(|&count| count <= MAX_ITEMS);
    let count = count.ok_or_else(|| no_file("it says that its set is too large"))?;
    let list = MaskList::new(count, bits);
    let mut left = reader.take(list.len())?;
    let mut all = Vec::with_capacity(count);
    let mut fill = |buffer: &mut [u8]| {
        let (now, later) = left.split_at_checked(buffer.len()).ok_or_else(|| no_file("its masks end too early"))?;
        buffer.copy_from_slice(now);
        left = later;
        Ok(())
    };
    list.read(&mut fill, |some| all.extend_from_slice(some))?;
    Ok(all)
}

/// The masks alone.
fn numbers(sorted: Vec<(u128, u32)>) -> Vec<u128> {
    sorted.into_iter().map(|(mask, _)| mask).collect()
}

/// A random number below `end`, which is below 2^32.
fn below(rng: &mut dyn CryptoRng, end: usize) -> usize {
    ((u128::from(rng.next_u64()) * end as u128) >> 64) as usize
}
