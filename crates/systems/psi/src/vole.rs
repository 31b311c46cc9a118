//! VOLE-PSI: an oblivious key-value store under a vector OLE.
//!
//! Rindal, Schoppmann (Eurocrypt 2021, ePrint 2021/266), with the encoding and in the form of Raghuraman,
//! Rindal (CCS 2022, ePrint 2022/320), figure 4. Both digest their items `x` to a key and a value `H(x)`.
//! 1. The sender commits to a block `w_s`.
//! 2. [VOLE](comity_vole) with as many elements as the receiver's [OKVS](comity_okvs) has columns: the
//!    receiver gets `a` and `c = a delta + b`, the sender delta and `b`.
//! 3. Both toss the key of digests and of the OKVS.
//! 4. The receiver encodes its keys with their values in a vector `p`, and sends `a + p` and a block `w_r`.
//! 5. The sender opens `w_s`. It has `b + (a + p) delta = c + p delta`: what it reads from that for an item,
//!    plus `H(x) delta`, is what the receiver reads from `c`, if the receiver has the item, and else off by a
//!    multiple of delta.
//! 6. Values are hashed with `w = w_s + w_r` and the item. The sender sends the [masks](crate::masks),
//!    exactly as many as its items.
//!
//! **Adversary**: semi-honest or malicious, either side. *Receiver*: its set is fixed when it has sent
//! `a + p`: the items whose row of `p` has their value. With another row it would have to guess delta. These
//! can be more than it told: as many as the OKVS has columns is what linear algebra reaches, which is 1,470
//! for a set of 1,024 items and less, be it of one, and 1.28 to 1.44 times as many as the items of a larger
//! one ([`Terms::reach`]); proven is no more than twice that for 2^64 hashes. *Sender*: what it sends fits an
//! item that it has hashed, or fits none. It may leave out items that it has, as it may choose its set.
//! Neither is kept from choosing a set that it likes.
//!
//! **What each step is for.** The item is hashed beside the value: a sender with delta and `b` zero would
//! else have one mask for all that the receiver has. `w` is fixed by neither alone, and known after `p` is:
//! nobody hashes before with what it will be. Keys come after the VOLE, so that nobody looks for a delta, or
//! an `a`, under which items that it guesses collide; and after the sizes, so that no set is made for which
//! the OKVS fails. That leaves items out, of which the owner is told and nobody else.
//!
//! **Assumptions**: those of the VOLE; BLAKE3 as a random oracle.
//!
//! **Cost**: 16 bytes a column, 1.293 columns for each item of the receiver; a mask for each of the sender,
//! of `rho + log2(n1 n2)` bits or, in the malicious model, 128, less `log2(n1) - 2` by their order; VOLE, 1.4
//! MB. Four round trips, and those of the VOLE's set-up.

use comity_channel::Channel;
use comity_core::{Backend, Block, Commitment, HugeTable, Opening, Prg, Result, ShortHash, commit, gf128};
use comity_okvs::{Okvs, Sparse};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::softspoken::Checking;
use comity_ot::{AtLeast, Malicious, SemiHonest};
use comity_protocol::{Adversary, Party};
use comity_vole::{Received, Setting};
use zeroize::Zeroizing;

use crate::checks::MASK_OPENING;
use crate::digest::DigestKey;
use crate::masks::Masks;
use crate::set::{Matches, Sent, Set};
use crate::sizes::Sizes;
use crate::terms::Terms;

/// The session of the VOLE, under that of the run.
const VOLE: &str = "private set intersection: vector OLE";

/// The name of the sender's commitment.
const COMMITMENT: &str = "private set intersection: the sender's part of the masks";

/// Messages hashed in one go.
const BATCH: usize = 64;

/// The sender's side of a VOLE.
pub(crate) struct Scaled {
    /// The scalar.
    pub(crate) delta: Zeroizing<Block>,
    /// Its part of the product.
    pub(crate) b: Zeroizing<Vec<Block>>,
}

pub(crate) fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Sent> {
    send_over(me, (terms, set), sizes, |me, columns| match terms.adversary {
        Adversary::SemiHonest => scale::<SemiHonest, Simplest>(me, columns),
        Adversary::Malicious => scale::<Malicious, Csw>(me, columns),
    })
}

pub(crate) fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Matches> {
    receive_over(me, (terms, set), sizes, |me, columns| match terms.adversary {
        Adversary::SemiHonest => vector::<SemiHonest, Simplest>(me, columns),
        Adversary::Malicious => vector::<Malicious, Csw>(me, columns),
    })
}

/// The sender's side of the VOLE.
pub(crate) fn scale<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    me: &mut Party<'_, '_>,
    columns: usize,
) -> Result<Scaled> {
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("vector ole");
    let setting = Setting { session: here.session.child(VOLE), backend: here.backend };
    let delta = Zeroizing::new(Block::random(rng));
    let b = comity_vole::send::<M, B>(ch, &setting, *delta, columns, rng)?;
    Ok(Scaled { delta, b })
}

/// The receiver's side of the VOLE.
pub(crate) fn vector<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    me: &mut Party<'_, '_>,
    columns: usize,
) -> Result<Received> {
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("vector ole");
    let setting = Setting { session: here.session.child(VOLE), backend: here.backend };
    comity_vole::receive::<M, B>(ch, &setting, columns, rng)
}

/// The sender's side over any VOLE.
pub(crate) fn send_over(
    me: &mut Party<'_, '_>,
    (terms, set): (&Terms, &Set<'_>),
    sizes: Sizes,
    vole: impl FnOnce(&mut Party<'_, '_>, usize) -> Result<Scaled>,
) -> Result<Sent> {
    let (own, session) = (Block::random(me.rng), me.here.session);
    let (commitment, opening) = commit(session, COMMITMENT, &own.to_bytes(), me.rng);
    me.pair()?.0.send(&commitment.to_bytes())?;
    let columns = Sparse::columns(sizes.receiver);
    let Scaled { delta, mut b } = vole(me, columns)?;
    let key = DigestKey::toss(me)?;
    let [keys, hashes] = key.pairs(me.rng, set);
    let (ch, here, _, observer) = me.pair()?;
    observer.phase("encoding");
    let rows = rows(here.backend, &key, sizes, &keys);
    let mut values = HugeTable::zeroed(keys.len());
    let mut encoded = vec![Block::ZERO; rows.part()];
    for (part, b) in b.chunks_mut(rows.part()).enumerate() {
        ch.recv(Block::bytes_of_mut(&mut encoded))?;
        gf128::add_polynomial(here.backend, &[*delta], &encoded, b);
        rows.decode_part(part, b, &mut values);
    }
    let mut theirs = [Block::ZERO];
    ch.recv(Block::bytes_of_mut(&mut theirs))?;
    ch.send(&[own.to_bytes().as_slice(), &opening.to_bytes()].concat())?;
    ch.flush()?;
    gf128::add_polynomial(here.backend, &[*delta], &hashes, &mut values);
    outputs(&key, own ^ theirs[0], &keys, &mut values);
    observer.phase("masks");
    let masks = Masks::new(here, mask_bits(terms, sizes), terms.payload);
    let mut group = masks.group(values.len());
    masks.add(&mut group, &values, 0..);
    masks.send(ch, group, set)?;
    ch.flush()?;
    Ok(Sent { theirs: sizes.receiver, left_out: 0 })
}

/// The receiver's side over any VOLE.
pub(crate) fn receive_over(
    me: &mut Party<'_, '_>,
    (terms, set): (&Terms, &Set<'_>),
    sizes: Sizes,
    vole: impl FnOnce(&mut Party<'_, '_>, usize) -> Result<Received>,
) -> Result<Matches> {
    let (session, sender) = (me.here.session, me.here.me.other());
    let mut commitment = [0; Commitment::BYTES];
    me.pair()?.0.recv(&mut commitment)?;
    let Received { mut a, c } = vole(me, Sparse::columns(sizes.receiver))?;
    let key = DigestKey::toss(me)?;
    // Dummies have no column: the vector is as long without, and hidden.
    let [keys, hashes] = key.pairs(me.rng, &Set { pad_to: 0, ..*set });
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("encoding");
    let rows = rows(here.backend, &key, sizes, &keys);
    let (mut free, mut left_out) = (Prg::new(here.backend, Block::random(rng)), 0);
    let mut encoded = vec![Block::ZERO; rows.part()];
    for (part, a) in a.chunks_mut(rows.part()).enumerate() {
        left_out += rows.encode_part(part, &hashes, &mut free, &mut encoded).len();
        a.iter_mut().zip(&encoded).for_each(|(a, &p)| *a ^= p);
        ch.send(Block::bytes_of(a))?;
        ch.flush()?;
    }
    drop((a, hashes));
    let own = Block::random(rng);
    ch.send(&own.to_bytes())?;
    ch.flush()?;
    let mut values = HugeTable::zeroed(keys.len());
    rows.decode(&c.compute(), &mut values);
    let theirs = opened(ch, &commitment, |theirs, commitment, opening| {
        let holds = commitment.verify(session, COMMITMENT, &theirs.to_bytes(), opening);
        if holds { Ok(()) } else { Err(comity_core::Error::from(MASK_OPENING).by(sender)) }
    })?;
    outputs(&key, own ^ theirs, &keys, &mut values);
    observer.phase("masks");
    let masks = Masks::new(here, mask_bits(terms, sizes), terms.payload);
    let found = masks.receive(ch, sizes.sender, &masks.seek(&values))?;
    Ok(Matches::new(sizes.sender, set.items.len(), &found, left_out))
}

/// The sender's part of the masks, once it holds against the commitment.
fn opened(
    ch: &mut dyn Channel,
    commitment: &[u8; Commitment::BYTES],
    check: impl FnOnce(Block, Commitment, &Opening) -> Result<()>,
) -> Result<Block> {
    let (mut theirs, mut opening) = ([Block::ZERO], [0; Opening::BYTES]);
    ch.recv(Block::bytes_of_mut(&mut theirs))?;
    ch.recv(&mut opening)?;
    check(theirs[0], Commitment::new(*commitment), &Opening::new(opening))?;
    Ok(theirs[0])
}

/// The bits of a mask. In the malicious model all: a shorter one would let the sender look for an item that
/// fits what it has sent.
fn mask_bits(terms: &Terms, sizes: Sizes) -> u32 {
    match terms.adversary {
        Adversary::SemiHonest => sizes.mask_bits(1),
        Adversary::Malicious => 128,
    }
}

/// The rows of keys in the receiver's vector.
fn rows(backend: Backend, key: &DigestKey, sizes: Sizes, keys: &[Block]) -> Sparse {
    let seed = key.child("rows");
    Sparse::place(backend, Block::new(*seed.first_chunk().expect("32 bytes")), sizes.receiver, keys)
}

/// Replaces the value of each item by the hash of its sum with `w`, and of the item's key.
pub(crate) fn outputs(key: &DigestKey, w: Block, keys: &[Block], values: &mut [Block]) {
    let mut hash = Hash::new(key.child("outputs"));
    for (values, keys) in values.chunks_mut(BATCH).zip(keys.chunks(BATCH)) {
        let outputs = hash.each(values.iter().zip(keys).map(|(&value, &key)| [value ^ w, key]));
        values.iter_mut().zip(outputs).for_each(|(value, &[output, _])| *value = output);
    }
}

/// A hash from two blocks to two.
struct Hash {
    hash: ShortHash,
    messages: Zeroizing<[[u8; ShortHash::MESSAGE]; BATCH]>,
    hashes: Zeroizing<[[Block; 2]; BATCH]>,
}

impl Hash {
    fn new(key: [u8; 32]) -> Hash {
        let (messages, hashes) = ([[0; ShortHash::MESSAGE]; BATCH], [[Block::ZERO; 2]; BATCH]);
        Hash { hash: ShortHash::new(key), messages: messages.into(), hashes: hashes.into() }
    }

    /// The hashes of at most [`BATCH`] pairs.
    fn each(&mut self, pairs: impl Iterator<Item = [Block; 2]>) -> &[[Block; 2]] {
        let messages = self.messages.iter_mut().zip(pairs);
        let count = messages.map(|(message, pair)| message[..32].copy_from_slice(Block::bytes_of(&pair))).count();
        let hashes = Block::bytes_of_mut(self.hashes[..count].as_flattened_mut()).as_chunks_mut().0;
        self.hash.hash(&self.messages[..count], hashes);
        &self.hashes[..count]
    }
}
