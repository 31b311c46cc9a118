//! Base files and updates as clients read them.

use std::ops::Range;

use comity_core::{Backend, Block, Error, Result, SessionId};
use rand_core::CryptoRng;

use crate::code::MaskList;
use crate::digest::DigestKey;
use crate::masks::{Found, Masks};
use crate::payload::TAG;
use crate::set::{Item, MAX_ITEMS, Matches, Set};
use crate::terms::MAX_PAYLOAD;

/// The first bytes of the files, and the version that follows them.
pub(super) const BASE: &[u8; 16] = b"comity psi base\n";
pub(super) const UPDATE: &[u8; 16] = b"comity psi delta";
pub(super) const VERSION: u32 = 3;

/// Bytes of a digest.
pub(super) const DIGEST: usize = 32;

/// The most masks of a base and its updates, and the most queries.
const MOST: u64 = 1 << 40;

/// The most bytes of a text in a file.
const TEXT: usize = 1 << 16;

/// The terms that are fixed when a base is published.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseTerms {
    /// The name of the base: random, and the key of the digests of items.
    pub id: [u8; 32],
    /// The most masks that the base and its updates have together.
    pub most: u64,
    /// The most queries that are answered under its key.
    pub queries: u64,
    /// The statistical parameter.
    pub rho: u32,
    /// The bytes beside each item.
    pub payload: usize,
    /// A text for the reader of the payload, such as the names of columns.
    pub header: Vec<u8>,
    /// How items are made from keys, in words.
    pub encoding: String,
}

impl BaseTerms {
    /// The bits of a mask.
    pub fn mask_bits(&self) -> u32 {
        let log2 = |n: u64| n.max(1).next_power_of_two().trailing_zeros();
        (self.rho + log2(self.most) + log2(self.queries)).min(128)
    }

    /// Checks that there can be a base with these terms.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says why not.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST).contains(&self.most) || !(1..=MOST).contains(&self.queries) {
            return Err(Error::invalid_input(format!(
                "a base for {} masks and {} queries: each is at least 1 and at most {MOST}",
                self.most, self.queries
            )));
        }
        if !(1..=128).contains(&self.rho) || self.payload > MAX_PAYLOAD {
            return Err(Error::invalid_input(format!(
                "a base with rho = {} and {} bytes of payload an item: 1 to 128, and {MAX_PAYLOAD} at most",
                self.rho, self.payload
            )));
        }
        if self.header.len() > TEXT || self.encoding.len() > TEXT {
            return Err(Error::invalid_input(format!("a text of a base has {TEXT} bytes at most")));
        }
        Ok(())
    }

    /// The inputs of the function for items, and for as many dummies as the set is padded with.
    pub(super) fn digests(&self, rng: &mut dyn CryptoRng, set: &Set<'_>) -> Vec<u128> {
        DigestKey::of_base(self.id).digests(rng, set)
    }

    /// The inputs of the function for these items, as a client asks for them.
    pub fn inputs(&self, rng: &mut dyn CryptoRng, items: &[Item]) -> Vec<u128> {
        self.digests(rng, &Set { items, ..Set::default() })
    }

    /// The hashes of values, and the keys of payload in the file of this name. An item whose payload changes
    /// has its mask in two files; under one key the two would add up to the sum of both payloads, for
    /// everybody to see.
    pub(super) fn masks(&self, backend: Backend, file: &[u8; 32]) -> Masks {
        let session = SessionId::derive("comity private set intersection: a base", &[&self.id]);
        let sealing = SessionId::derive("comity private set intersection: payload of a file", &[&self.id, file]);
        Masks::of(backend, [session, sealing], self.mask_bits(), self.payload)
    }

    /// The bytes before the number of masks in a base.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = [&BASE[..], &VERSION.to_le_bytes(), &self.id].concat();
        out.extend_from_slice(&self.most.to_le_bytes());
        out.extend_from_slice(&self.queries.to_le_bytes());
        for number in [self.rho, self.payload as u32, self.header.len() as u32, self.encoding.len() as u32] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.header);
        out.extend_from_slice(self.encoding.as_bytes());
        out
    }

    pub(super) fn read(bytes: &mut Reader<'_>) -> Result<BaseTerms> {
        bytes.begin(BASE, "a base of private set intersection")?;
        let (id, most, queries) = (bytes.array()?, bytes.u64()?, bytes.u64()?);
        let (rho, payload) = (bytes.u32()?, bytes.u32()? as usize);
        let (header, encoding) = (bytes.u32()? as usize, bytes.u32()? as usize);
        if header > TEXT || encoding > TEXT {
            return Err(no_file("a text of it is too long"));
        }
        let header = bytes.take(header)?.to_vec();
        let encoding = String::from_utf8(bytes.take(encoding)?.to_vec());
        let encoding = encoding.map_err(|_| no_file("its description of keys is not UTF-8"))?;
        let terms = BaseTerms { id, most, queries, rho, payload, header, encoding };
        terms.check()?;
        Ok(terms)
    }
}

/// A list of masks in a file, and the sealed payload of each.
struct Section {
    list: MaskList,
    masks: Range<usize>,
    sealed: Range<usize>,
}

impl Section {
    /// The section of `count` masks that comes next. It is a sorted list, and all there.
    fn read(bytes: &mut Reader<'_>, count: u64, bits: u32, payload: usize) -> Result<Section> {
        let count = usize::try_from(count).ok().filter(|&count| count <= MAX_ITEMS);
        let count = count.ok_or_else(|| no_file(&format!("it says that it has more masks than {MAX_ITEMS}")))?;
        let list = MaskList::new(count, bits);
        let from = bytes.at;
        let mut masks = bytes.take(list.len())?;
        let masks_end = bytes.at;
        list.read(
            &mut |buffer| {
                let (now, later) = masks.split_at_checked(buffer.len()).ok_or_else(cut)?;
                buffer.copy_from_slice(now);
                masks = later;
                Ok(())
            },
            |_| {},
        )?;
        let sealed = if payload == 0 { 0 } else { payload + TAG };
        bytes.take(count.checked_mul(sealed).ok_or_else(cut)?)?;
        Ok(Section { list, masks: from..masks_end, sealed: masks_end..bytes.at })
    }
}

/// A base file, with the updates that were applied.
pub struct BaseFile {
    /// The terms that were fixed when it was published.
    pub terms: BaseTerms,
    masks: usize,
    section: Section,
    bytes: Vec<u8>,
    updates: Vec<BaseUpdate>,
    head: [u8; DIGEST],
}

impl BaseFile {
    /// The base in these bytes of a file.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) or [`Malformed`](comity_core::Kind), with what is wrong, if it is
    /// not a base.
    pub fn read(bytes: Vec<u8>) -> Result<BaseFile> {
        let (content, head) = checked(&bytes)?;
        let mut reader = Reader { bytes: content, at: 0 };
        let terms = BaseTerms::read(&mut reader)?;
        let count = reader.u64()?;
        if count > terms.most {
            return Err(no_file("it has more masks than its terms allow"));
        }
        let section = Section::read(&mut reader, count, terms.mask_bits(), terms.payload)?;
        reader.end()?;
        Ok(BaseFile { terms, masks: count as usize, section, bytes, updates: Vec::new(), head })
    }

    /// Applies an update.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it is not the update that comes next.
    pub fn apply(&mut self, update: BaseUpdate) -> Result<()> {
        let here = self.updates.len() as u64;
        if update.id != self.terms.id {
            return Err(Error::invalid_input("an update of another base: each base has updates of its own"));
        }
        if update.number != here + 1 {
            let (number, what) =
                (update.number, if update.number <= here { "has it already" } else { "lacks those between" });
            return Err(Error::invalid_input(format!("update {number} of a base that is at {here}: it {what}")));
        }
        if update.before != self.head {
            return Err(Error::invalid_input(format!(
                "update {} follows another state of the base than this one: the two were published apart",
                update.number
            )));
        }
        self.head = update.digest;
        self.updates.push(update);
        Ok(())
    }

    /// The number of updates that were applied.
    pub fn update(&self) -> u64 {
        self.updates.len() as u64
    }

    /// The digest of the base and all of its updates.
    pub fn head(&self) -> &[u8; 32] {
        &self.head
    }

    /// The number of masks in the base now, including dummies.
    pub fn masks(&self) -> usize {
        let changes = self.updates.iter().fold(self.masks, |masks, update| masks + update.counts[1]);
        changes.saturating_sub(self.updates.iter().map(|update| update.counts[0]).sum())
    }

    /// The client's items that are in the set, found by the values of the function at them.
    ///
    /// An item whose payload was not sealed for it does not count as found.
    pub fn find(&self, backend: Backend, values: &[Block]) -> Matches {
        let files = std::iter::once(&self.terms.id).chain(self.updates.iter().map(|update| &update.name));
        let masks: Vec<Masks> = files.map(|file| self.terms.masks(backend, file)).collect();
        let sought = masks[0].sorted(values);
        // For each that is sought the sealed payload and whose it is, if it is there.
        let mut there: Vec<Option<(&Masks, &[u8])>> = vec![None; sought.len()];
        let width = if self.terms.payload == 0 { 0 } else { self.terms.payload + TAG };
        let find = |bytes: &[u8], section: &Section, each: &mut dyn FnMut(usize, usize)| {
            section.list.find(&bytes[section.masks.clone()], sought.iter().map(|&(mask, _)| mask), each);
        };
        let sealed = |section: &Section, rank: usize| {
            section.sealed.start + rank * width..section.sealed.start + (rank + 1) * width
        };
        let mut base =
            |nth: usize, rank: usize| there[nth] = Some((&masks[0], &self.bytes[sealed(&self.section, rank)]));
        find(&self.bytes, &self.section, &mut base);
        for (BaseUpdate { bytes, removed, added, .. }, masks) in self.updates.iter().zip(&masks[1..]) {
            find(bytes, removed, &mut |nth, _| there[nth] = None);
            find(bytes, added, &mut |nth, rank| there[nth] = Some((masks, &bytes[sealed(added, rank)])));
        }
        let mut found = Found::default();
        for (&(_, place), there) in sought.iter().zip(there) {
            let Some((masks, sealed)) = there else { continue };
            if width == 0 {
                found.places.push(place);
                continue;
            }
            masks.open(&[values[place as usize]], &mut sealed.to_vec(), |_, payload| {
                found.places.push(place);
                found.payload.extend_from_slice(payload);
            });
        }
        Matches::new(self.masks(), values.len(), &found, 0)
    }
}

/// An update of a base.
pub struct BaseUpdate {
    id: [u8; 32],
    /// The name of the update: random.
    name: [u8; 32],
    number: u64,
    before: [u8; DIGEST],
    /// The masks that go, and those that come.
    counts: [usize; 2],
    removed: Section,
    added: Section,
    bytes: Vec<u8>,
    digest: [u8; DIGEST],
}

impl BaseUpdate {
    /// The update in these bytes of a file, for a base with these terms.
    ///
    /// # Errors
    /// As [`BaseFile::read`].
    pub fn read(terms: &BaseTerms, bytes: Vec<u8>) -> Result<BaseUpdate> {
        let (content, digest) = checked(&bytes)?;
        let mut reader = Reader { bytes: content, at: 0 };
        reader.begin(UPDATE, "an update of a base")?;
        let (id, name, number, before) = (reader.array()?, reader.array()?, reader.u64()?, reader.array()?);
        if id != terms.id {
            return Err(Error::invalid_input("an update of another base: each base has updates of its own"));
        }
        let counts = [reader.u64()?, reader.u64()?];
        let removed = Section::read(&mut reader, counts[0], terms.mask_bits(), 0)?;
        let added = Section::read(&mut reader, counts[1], terms.mask_bits(), terms.payload)?;
        reader.end()?;
        let counts = counts.map(|count| count as usize);
        Ok(BaseUpdate { id, name, number, before, counts, removed, added, bytes, digest })
    }
}

/// The digest of the bytes before it.
pub(super) fn digest(bytes: &[u8]) -> [u8; DIGEST] {
    blake3::hash(bytes).into()
}

/// The bytes before the digest of a file, and the digest, if it is theirs.
pub(super) fn checked(bytes: &[u8]) -> Result<(&[u8], [u8; DIGEST])> {
    // A file that is something else altogether is told so, and not that it was changed.
    if ![BASE, UPDATE, super::published::STATE].iter().any(|magic| bytes.starts_with(*magic)) {
        return Err(no_file("it does not begin like one"));
    }
    let (content, theirs) = bytes.split_last_chunk::<DIGEST>().ok_or_else(cut)?;
    let digest = digest(content);
    match digest == *theirs {
        true => Ok((content, digest)),
        false => Err(no_file("it was cut or changed on its way: get it again")),
    }
}

/// The error for bytes that are not a base, an update or a state.
pub(super) fn no_file(what: &str) -> Error {
    Error::invalid_input(format!("the file was not made by `comity psi publish`: {what}"))
}

fn cut() -> Error {
    no_file("it ends too early")
}

/// Bytes that are read from the front.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end)).ok_or_else(cut)?;
        self.at += len;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(*self.take(N)?.first_chunk().expect("as many bytes as were taken"))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes the magic and the version.
    pub(super) fn begin(&mut self, magic: &[u8; 16], what: &str) -> Result<()> {
        if self.array::<16>()? != *magic {
            return Err(Error::invalid_input(format!("this is not {what}, but another file of `comity psi publish`")));
        }
        match self.u32()? {
            VERSION => Ok(()),
            other => Err(no_file(&format!("it is of version {other}, and this comity reads version {VERSION}"))),
        }
    }

    pub(super) fn end(&self) -> Result<()> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(no_file("something follows its end")) }
    }
}
