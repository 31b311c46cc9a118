//! Steps 5 and 6, the outputs: tables that turn a copy's output labels to labels which all copies share.
//!
//! The garbler draws `Delta_{i,0}` for each output bit and one `Delta`; `Delta_{i,1} = Delta_{i,0} ^ Delta`.
//! Row `b` of the table of bit `i` in copy `j` is `T_{j,i,b} = Enc_{Z_{j,i,b}}(Delta_{i,b})`, where `Z` are
//! the copy's output labels. Whoever finds `Delta_{i,0}` in one copy and `Delta_{i,1}` in another knows
//! `Delta`, and with it recovers the garbler's input. Hashes `H(Delta_{i,b})` tell which label is valid. Rows
//! are never sent in clear, since from the rows and the labels of a checked copy followed both: they travel
//! under `key_j`, and as a commitment `c_j^T` that is checked once step 7 has shown every `Delta_{i,b}`.
//!
//! **How**: the pad of a row is the tweakable hash of the label (TCCR; a label's counterpart differs by the
//! secret `delta_j`), with a tweak of its own for each bit, copy and row; `H` and `c_j^T` are BLAKE3 of 256
//! bits. `c_j^T` hides the rows of a checked copy as long as no `Delta_{i,b}` is known: each row has 128
//! unknown bits.
//!
//! **Cost** for an output bit and copy: 32 bytes, two AES-based hashes and a pass of BLAKE3 over 32 bytes, at
//! the evaluator two short hashes more for an evaluated copy; and 64 bytes for all copies together.

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_core::{Backend, Block, HugeTable, Result, SessionId, ShortHash, TccrHash, verdict};
use comity_garble::lockstep::CopyChoice;
use comity_protocol::Conduct;
use rand_core::CryptoRng;
use subtle::{Choice as Bit, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::checks;
use crate::conduct::Act;
use crate::copies::{KeyStreams, Replica};
use crate::messages::Decoded;
use crate::plan::{OUTPUTS, Plan};
use crate::prepared::FORM;
use crate::transfer::{OpenedCopies, mask_blocks};

type Digest = [u8; 32];

/// The hashes that both sides make.
struct Hashes {
    pads: TccrHash,
    labels: ShortHash,
    messages: [[Block; 4]; STRETCH],
    digests: Vec<Digest>,
}

/// Labels whose hashes' messages are made at a time: they stay in the nearest cache.
const STRETCH: usize = 64;

impl Hashes {
    fn new(backend: Backend, session: &SessionId) -> Hashes {
        Hashes {
            pads: TccrHash::new(backend),
            labels: ShortHash::new(session.child("hashes of output labels").to_bytes()),
            messages: [[Block::ZERO; 4]; STRETCH],
            digests: Vec::new(),
        }
    }

    /// Replaces output labels of copy `j`, two for each bit from `first` on (one for each row), by the pads
    /// of the rows.
    fn pads(&self, copies: usize, j: usize, first: u64, labels: &mut [Block]) {
        // Copy by copy the tweaks are neighbours. 2^64 bits would come before a tweak came twice.
        let tweak = (j as u128) << 64 | u128::from(2 * first);
        debug_assert!(j < copies);
        self.pads.hash(tweak, labels);
    }

    /// The hashes `H` of the labels of bits from `first` on, two for each.
    fn labels(&mut self, first: u64, labels: &[Block]) -> &mut [Digest] {
        self.digests.resize(labels.len(), [0; 32]);
        for ((labels, digests), at) in
            labels.chunks(STRETCH).zip(self.digests.chunks_mut(STRETCH)).zip((0..).step_by(STRETCH / 2))
        {
            for ((message, label), i) in self.messages.iter_mut().zip(labels).zip(2 * (first + at)..) {
                *message =
                    [*label, Block::from_u128(u128::from(i % 2) << 64 | u128::from(i / 2)), Block::ZERO, Block::ZERO];
            }
            self.labels.hash(Block::bytes_of(self.messages[..labels.len()].as_flattened()).as_chunks().0, digests);
        }
        self.messages.zeroize();
        &mut self.digests
    }
}

/// The mask of two hashes: all ones if they are equal, else zero, without a branch, since there are some forty for each
/// output bit.
#[inline(always)]
fn equal(a: &Digest, b: &Digest) -> u64 {
    let (a, b) = (a.as_chunks().0, b.as_chunks().0);
    let different = a.iter().zip(b).fold(0, |sum, (a, b)| sum | u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b));
    // The highest bit is set if any is.
    std::hint::black_box(((different | different.wrapping_neg()) >> 63).wrapping_sub(1))
}

/// A hasher for `c_j^T` of each copy.
fn hashers(session: &SessionId, copies: usize) -> Vec<blake3::Hasher> {
    let key = session.child("commitment to the output table of a copy").to_bytes();
    vec![blake3::Hasher::new_keyed(&key); copies]
}

/// The garbler's side: the tables that it makes.
pub(crate) struct Tables {
    hashes: Hashes,
    hashers: Vec<blake3::Hasher>,
    delta: Block,
    /// The labels `Delta_{i,0}` of all bits so far.
    zeros: Zeroizing<Vec<Block>>,
}

impl Tables {
    /// The tables of `bits` output bits, none made so far.
    pub(crate) fn new(
        backend: Backend,
        session: &SessionId,
        copies: usize,
        bits: usize,
        rng: &mut dyn CryptoRng,
    ) -> Tables {
        Tables {
            hashes: Hashes::new(backend, session),
            hashers: hashers(session, copies),
            delta: Block::random(rng),
            // All at once: a vector that grows leaves copies behind.
            zeros: Zeroizing::new(Vec::with_capacity(bits)),
        }
    }

    /// Step 5: sends the tables of the next bits, at most [`OUTPUTS`], whose labels for zero are `rows`.
    pub(crate) fn send(
        &mut self,
        ch: &mut dyn Channel,
        copies: &[Replica],
        keys: &mut [KeyStreams],
        rows: &[Block],
        rng: &mut dyn CryptoRng,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let (width, first) = (copies.len(), self.zeros.len());
        let n = rows.len() / width;
        self.zeros.extend((0..n).map(|_| Block::random(rng)));
        let zeros = &self.zeros[first..];
        let both = Zeroizing::new(zeros.iter().flat_map(|zero| [*zero, *zero ^ self.delta]).collect::<Vec<_>>());
        let hashes = self.hashes.labels(first as u64, &both);
        conduct.before(Act::Hashes(hashes));
        ch.send(hashes.as_flattened())?;
        let mut table = Zeroizing::new([Block::ZERO; 2 * OUTPUTS]);
        let table = &mut table[..2 * n];
        for (j, (copy, key)) in copies.iter().zip(keys).enumerate() {
            for (pair, row) in table.chunks_exact_mut(2).zip(rows.chunks_exact(width)) {
                pair[0] = row[j];
                pair[1] = row[j] ^ copy.delta.block();
            }
            self.hashes.pads(width, j, first as u64, table);
            table.iter_mut().zip(both.iter()).for_each(|(row, label)| *row ^= *label);
            conduct.before(Act::Rows { j, table });
            self.hashers[j].update(Block::bytes_of(table));
            mask_blocks(&mut key.t, table);
            ch.send(Block::bytes_of(table))?;
        }
        Ok(())
    }

    /// Step 5, the end: sends the commitments `c_j^T`, and under `key_j` the salt that opens each.
    pub(crate) fn finish(
        &mut self,
        ch: &mut dyn Channel,
        copies: &[Replica],
        keys: &mut [KeyStreams],
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        for (j, ((hasher, copy), key)) in self.hashers.iter_mut().zip(copies).zip(keys).enumerate() {
            let mut digest = *hasher.update(&copy.salt[..]).finalize().as_bytes();
            let mut salt = copy.salt.clone();
            conduct.before(Act::OutputCommitment { j, digest: &mut digest, salt: &mut salt });
            ch.send(&digest)?;
            key.t.mask(&mut salt[..]);
            ch.send(&salt[..])?;
        }
        Ok(())
    }

    /// Writes the labels that step 7 needs.
    pub(crate) fn save(&self, to: &mut dyn Write) -> Result<()> {
        FORM.put_blocks(to, &[self.delta])?;
        FORM.put_blocks(to, &self.zeros)
    }

    /// Reads the saved labels, for step 7.
    pub(crate) fn load(backend: Backend, session: &SessionId, plan: &Plan, from: &mut dyn Read) -> Result<Tables> {
        let (mut delta, mut zeros) = ([Block::ZERO], Zeroizing::new(vec![Block::ZERO; plan.revealed()]));
        FORM.take_blocks(from, &mut delta)?;
        FORM.take_blocks(from, &mut zeros)?;
        Ok(Tables { hashes: Hashes::new(backend, session), hashers: Vec::new(), delta: delta[0], zeros })
    }

    /// The offset `Delta`.
    pub(crate) fn delta(&self) -> Block {
        self.delta
    }

    /// Step 7: shows `Delta` and every `Delta_{i,0}`, and with them every `Delta_{i,1}`.
    pub(crate) fn reveal(&self, ch: &mut dyn Channel, conduct: &mut impl for<'a> Conduct<Act<'a>>) -> Result<()> {
        let mut shown = Zeroizing::new(vec![self.delta]);
        shown.extend_from_slice(&self.zeros);
        conduct.before(Act::Delta(&mut shown));
        ch.send(Block::bytes_of(&shown))
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.hashers.zeroize();
    }
}

/// The evaluator's side: the results that it finds.
pub(crate) struct Results {
    hashes: Hashes,
    hashers: Vec<blake3::Hasher>,
    /// The hashes `H(Delta_{i,b})` of all bits so far.
    bound: Vec<[Digest; 2]>,
    /// The labels `Delta_{i,b}` that were found, two for each bit, and for each all ones if one was.
    found: Vec<Block>,
    seen: Vec<u64>,
    /// A mask for each evaluated copy: all ones if all its labels so far were valid, else zero.
    valid: Vec<u64>,
    /// Room for the pads of the rows of each checked copy, one copy after another.
    pads: HugeTable,
    room: usize,
    /// The commitments `c_j^T` of the checked copies.
    commitments: Vec<Digest>,
    /// The next bit to be received.
    next: u64,
}

/// The tables of some bits, as far as the evaluator needs them. The room is used again for the next ones.
#[derive(Default)]
pub(crate) struct Batch {
    /// The hashes `H(Delta_{i,b})`.
    pub(crate) bound: Vec<[Digest; 2]>,
    /// The encrypted rows of the evaluated copies, one copy after another.
    pub(crate) tables: Vec<Block>,
    /// The pads of the rows of the checked copies, one copy after another.
    pub(crate) pads: Vec<Block>,
    unread: Vec<Block>,
}

impl Batch {
    /// Makes room for `n` bits.
    pub(crate) fn resize(&mut self, n: usize, choice: &CopyChoice) {
        self.bound.resize(n, [[0; 32]; 2]);
        self.tables.resize(2 * n * choice.evaluated.len(), Block::ZERO);
        self.pads.resize(2 * n * choice.checked.len(), Block::ZERO);
        self.unread.resize(2 * n, Block::ZERO);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.tables.zeroize();
        self.pads.zeroize();
    }
}

/// The commitment `c_j^T` of each copy, and its salt under `key_j`.
pub(crate) type OutputCommitments = Vec<[Digest; 2]>;

/// Receives the commitments at the end of step 5.
pub(crate) fn receive_commitments(ch: &mut dyn Channel, copies: usize) -> Result<OutputCommitments> {
    let mut received = vec![[[0; 32]; 2]; copies];
    ch.recv(received.as_flattened_mut().as_flattened_mut())?;
    Ok(received)
}

impl Results {
    /// The results of `bits` output bits, none received so far.
    pub(crate) fn new(backend: Backend, session: &SessionId, choice: &CopyChoice, bits: usize) -> Results {
        let (checked, evaluated) = (choice.checked.len(), choice.evaluated.len());
        Results {
            hashes: Hashes::new(backend, session),
            hashers: hashers(session, checked + evaluated),
            bound: Vec::with_capacity(bits),
            found: Vec::with_capacity(2 * bits),
            seen: Vec::with_capacity(2 * bits),
            valid: vec![u64::MAX; evaluated],
            pads: HugeTable::zeroed(2 * bits * checked),
            room: 2 * bits,
            commitments: Vec::new(),
            next: 0,
        }
    }

    /// Step 6: receives the tables of the next bits, as many as there is room for. `zeros` are the labels for
    /// zero of the checked copies.
    pub(crate) fn receive(
        &mut self,
        ch: &mut dyn Channel,
        opened: &OpenedCopies,
        batch: &mut Batch,
        zeros: &[Block],
    ) -> Result<()> {
        let OpenedCopies { choice, checked: copies, .. } = opened;
        let (n, width) = (batch.bound.len(), choice.copies());
        ch.recv(batch.bound.as_flattened_mut().as_flattened_mut())?;
        let mut evaluated = batch.tables.chunks_exact_mut(2 * n);
        for other in choice.checked_bits().iter() {
            // Nobody here can read the tables of a checked copy.
            let table = if other { None } else { evaluated.next() };
            ch.recv(Block::bytes_of_mut(table.unwrap_or(&mut batch.unread)))?;
        }
        let labels = batch.pads.chunks_exact_mut(2 * n);
        for (k, ((labels, &j), copy)) in labels.zip(&choice.checked).zip(copies).enumerate() {
            let delta = copy.delta.block();
            for (pair, row) in labels.as_chunks_mut().0.iter_mut().zip(zeros.chunks_exact(copies.len())) {
                *pair = [row[k], row[k] ^ delta];
            }
            self.hashes.pads(width, j, self.next, labels);
        }
        self.next += n as u64;
        Ok(())
    }

    /// Step 6: tries the rows of the next bits. `active` are the active labels of the evaluated copies.
    ///
    /// Each row is tried against its own hash, and an invalid label changes neither what is done nor its time.
    pub(crate) fn evaluate(&mut self, batch: &mut Batch, opened: &mut OpenedCopies, active: &[Block]) {
        let OpenedCopies { choice, keys, .. } = opened;
        let (first, n, width) = (self.bound.len(), batch.bound.len(), choice.copies());
        self.bound.extend_from_slice(&batch.bound);
        self.found.resize(2 * (first + n), Block::ZERO);
        self.seen.resize(2 * (first + n), 0);
        for (k, pads) in batch.pads.chunks_exact(2 * n).enumerate() {
            self.pads[k * self.room + 2 * first..][..2 * n].copy_from_slice(pads);
        }
        let mut labels = Zeroizing::new([Block::ZERO; 2 * OUTPUTS]);
        let labels = &mut labels[..2 * n];
        let tables = batch.tables.chunks_exact_mut(2 * n);
        for (k, ((table, &j), key)) in tables.zip(&choice.evaluated).zip(keys).enumerate() {
            mask_blocks(&mut key.t, table);
            self.hashers[j].update(Block::bytes_of(table));
            for (pair, row) in labels.as_chunks_mut().0.iter_mut().zip(active.chunks_exact(choice.evaluated.len())) {
                *pair = [row[k]; 2];
            }
            self.hashes.pads(width, j, first as u64, labels);
            labels.iter_mut().zip(table.iter()).for_each(|(label, row)| *label ^= *row);
            let digests = self.hashes.labels(first as u64, labels);
            let bound = batch.bound.as_flattened();
            let (found, seen) = (&mut self.found[2 * first..], &mut self.seen[2 * first..]);
            let mut valid = [0; 2 * OUTPUTS];
            for ((valid, digest), bound) in valid.iter_mut().zip(digests.iter()).zip(bound) {
                *valid = equal(digest, bound);
            }
            for ((label, found), (seen, valid)) in labels.iter().zip(found).zip(seen.iter_mut().zip(&valid)) {
                let mask = u128::from(*valid) << 64 | u128::from(*valid);
                *found = Block::from_u128(found.to_u128() & !mask | label.to_u128() & mask);
                *seen |= *valid;
            }
            let (pairs, _) = valid[..2 * n].as_chunks::<2>();
            self.valid[k] &= pairs.iter().fold(u64::MAX, |all, [zero, one]| all & (zero | one));
        }
    }

    /// Step 6, the end of the tables: `c_j^T` of the evaluated copies must be opened by what arrived.
    pub(crate) fn open(&mut self, mut received: OutputCommitments, opened: &mut OpenedCopies) -> Result<()> {
        let OpenedCopies { choice, keys, .. } = opened;
        let mut right = Bit::from(1);
        for (&j, key) in choice.evaluated.iter().zip(keys) {
            let [commitment, salt] = &mut received[j];
            key.t.mask(salt);
            right &= self.hashers[j].update(salt).finalize().as_bytes()[..].ct_eq(commitment);
        }
        self.commitments = choice.checked.iter().map(|&j| received[j][0]).collect();
        if verdict(right) { Ok(()) } else { Err(checks::OUTPUT_OPENING.into()) }
    }

    /// Step 6: the outputs as found. `fresh` is a random value, for `Omega`.
    pub(crate) fn decode(&self, fresh: Block) -> Decoded {
        let bit = |mask: u64| Bit::from((mask & 1) as u8);
        let invalid = !bit(self.valid.iter().fold(0, |any, valid| any | valid));
        let (mut omega, mut disagree, mut ambiguous) = (fresh, Bit::from(0), Bit::from(0));
        let (seen, found) = (self.seen.as_chunks::<2>().0, self.found.as_chunks::<2>().0);
        for ([zero, one], [label0, label1]) in seen.iter().zip(found) {
            let both = bit(zero & one);
            let delta = *label0 ^ *label1;
            ambiguous |= both & disagree & !delta.ct_eq(&omega);
            omega.conditional_assign(&delta, both & !disagree);
            disagree |= both;
        }
        // The paper looks for invalid copies first: where none is valid nothing is recovered.
        omega.conditional_assign(&fresh, invalid);
        let bits = seen.iter().map(|[_, one]| one & 1 == 1).collect();
        Decoded { bits, omega, invalid, disagree: disagree & !invalid, ambiguous }
    }

    /// Step 7: takes `Delta` and the `Delta_{i,b}`, which must be those whose hashes came in step 5. Step 9c:
    /// the commitments of the checked copies must be to the tables that follow. `Delta`.
    pub(crate) fn check(&mut self, ch: &mut dyn Channel, opened: &OpenedCopies) -> Result<Block> {
        let OpenedCopies { choice, checked: copies, .. } = opened;
        let mut shown = Zeroizing::new(vec![Block::ZERO; 1 + self.bound.len()]);
        ch.recv(Block::bytes_of_mut(&mut shown))?;
        let (delta, zeros) = (shown[0], &shown[1..]);
        let mut right = Bit::from(1);
        let both = Zeroizing::new(zeros.iter().flat_map(|zero| [*zero, *zero ^ delta]).collect::<Vec<_>>());
        for ((both, bound), first) in
            both.chunks(2 * OUTPUTS).zip(self.bound.chunks(OUTPUTS)).zip((0..).step_by(OUTPUTS))
        {
            let hashes = self.hashes.labels(first, both);
            right &= hashes.as_flattened().ct_eq(bound.as_flattened().as_flattened());
        }
        if !verdict(right) {
            return Err(checks::OUTPUT_LABELS.into());
        }
        for (k, (&j, copy)) in choice.checked.iter().zip(copies).enumerate() {
            let hasher = &mut self.hashers[j];
            let pads = &mut self.pads[k * self.room..][..both.len()];
            for (pads, both) in pads.chunks_mut(2 * OUTPUTS).zip(both.chunks(2 * OUTPUTS)) {
                pads.iter_mut().zip(both).for_each(|(pad, label)| *pad ^= *label);
                hasher.update(Block::bytes_of(pads));
            }
            right &= hasher.update(&copy.salt[..]).finalize().as_bytes()[..].ct_eq(&self.commitments[k]);
        }
        if verdict(right) { Ok(delta) } else { Err(checks::OUTPUT_TABLE.into()) }
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        self.found.zeroize();
        self.seen.zeroize();
        self.valid.zeroize();
        self.hashers.zeroize();
    }
}

#[cfg(test)]
mod tests;
