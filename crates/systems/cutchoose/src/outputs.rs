//! Steps 5 and 6, the outputs: tables that turn a copy's output labels to labels which all copies share.
//!
//! The garbler draws `Delta_{i,0}` for each output bit and one `Delta`; `Delta_{i,1} = Delta_{i,0} ^ Delta`. Row `b` of the table
//! of bit `i` in copy `j` is `T_{j,i,b} = Enc_{Z_{j,i,b}}(Delta_{i,b})`, where `Z` are the copy's output labels. Who finds
//! `Delta_{i,0}` in one copy and `Delta_{i,1}` in another knows `Delta`, and with it recovers the garbler's input. Hashes
//! `H(Delta_{i,b})` tell which label is valid. Rows are never sent in clear, since from the rows and the labels of a
//! checked copy followed both: they travel under `key_j`, and as a commitment `c_j^T` that is checked once step 7 has shown
//! every `Delta_{i,b}`.
//!
//! **How**: the pad of a row is the tweakable hash of the label (TCCR; a label's counterpart differs by the secret
//! `delta_j`), with a tweak of its own for each bit, copy and row; `H` and `c_j^T` are BLAKE3 of 256 bits. `c_j^T` hides the rows of
//! a checked copy as long as no `Delta_{i,b}` is known: each row has 128 unknown bits.
//!
//! **Cost** for an output bit and copy: 32 bytes, two AES-based hashes and a pass of BLAKE3 over 32 bytes, at the evaluator two short
//! hashes more for an evaluated copy; and 64 bytes for all copies together.

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Misbehaviour, Result, SessionId, ShortHash, TccrHash};
use rand_core::CryptoRng;
use subtle::{Choice as Bit, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::conduct::{Act, Conduct};
use crate::copies::{Copy, Key, mask};
use crate::plan::Plan;
use crate::saved::{put, take};
use crate::transfer::{Choice, mask_blocks, random_block};

/// Output bits that are treated together: what a copy's hash takes in at once then fills all lanes of BLAKE3.
pub(crate) const GROUP: usize = 512;

type Digest = [u8; 32];

/// What both sides hash with.
struct Hashes {
    pads: TccrHash,
    labels: ShortHash,
    messages: Vec<[Block; 4]>,
    digests: Vec<Digest>,
}

impl Hashes {
    fn new(backend: Backend, session: &SessionId) -> Hashes {
        Hashes {
            pads: TccrHash::new(backend),
            labels: ShortHash::new(session.child("hashes of output labels").to_bytes()),
            messages: Vec::new(),
            digests: Vec::new(),
        }
    }

    /// Replaces output labels of copy `j`, two for each bit from `first` on (one for each row), by the pads of the rows.
    fn pads(&self, copies: usize, j: usize, first: u64, labels: &mut [Block]) {
        // Copy by copy the tweaks are neighbours. 2^64 bits would come before a tweak came twice.
        let tweak = (j as u128) << 64 | u128::from(2 * first);
        debug_assert!(j < copies);
        self.pads.hash(tweak, labels);
    }

    /// `label` is tried as `Delta_{i,b}`.
    #[inline(always)]
    fn push(&mut self, label: Block, i: u64, b: bool) {
        let place = Block::from_u128(u128::from(b) << 64 | u128::from(i));
        self.messages.push([label, place, Block::ZERO, Block::ZERO]);
    }

    /// `H` of all that was pushed.
    fn finish(&mut self) -> &mut [Digest] {
        self.digests.resize(self.messages.len(), [0; 32]);
        self.labels.hash(Block::bytes_of(self.messages.as_flattened()).as_chunks().0, &mut self.digests);
        self.messages.zeroize();
        &mut self.digests
    }
}

/// Whether two hashes are equal, two words at a time: there are some forty for each output bit.
fn equal(a: &Digest, b: &Digest) -> Bit {
    let words = |digest: &Digest| [0, 16].map(|at| u128::from_le_bytes(std::array::from_fn(|k| digest[at + k])));
    let ([a, c], [b, d]) = (words(a), words(b));
    ((a ^ b) | (c ^ d)).ct_eq(&0)
}

/// A hasher for `c_j^T` of each copy.
fn hashers(session: &SessionId, copies: usize) -> Vec<blake3::Hasher> {
    let key = session.child("commitment to the output table of a copy").to_bytes();
    vec![blake3::Hasher::new_keyed(&key); copies]
}

/// The garbler's side.
pub(crate) struct Tables {
    hashes: Hashes,
    hashers: Vec<blake3::Hasher>,
    delta: Block,
    /// `Delta_{i,0}` of all bits so far.
    zeros: Zeroizing<Vec<Block>>,
}

impl Tables {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: usize, rng: &mut impl CryptoRng) -> Tables {
        Tables {
            hashes: Hashes::new(backend, session),
            hashers: hashers(session, copies),
            delta: random_block(rng),
            zeros: Zeroizing::new(Vec::new()),
        }
    }

    /// Step 5: the tables of the next bits, at most [`GROUP`], whose labels for zero are `rows`.
    pub(crate) fn send<C: Channel + ?Sized>(
        &mut self,
        ch: &mut C,
        copies: &[Copy],
        keys: &mut [Key],
        rows: &[Block],
        rng: &mut impl CryptoRng,
        conduct: &mut impl Conduct,
    ) -> Result<()> {
        let (width, first) = (copies.len(), self.zeros.len());
        let n = rows.len() / width;
        self.zeros.extend((0..n).map(|_| random_block(rng)));
        let zeros = &self.zeros[first..];
        for (zero, i) in zeros.iter().zip(first as u64..) {
            self.hashes.push(*zero, i, false);
            self.hashes.push(*zero ^ self.delta, i, true);
        }
        let hashes = self.hashes.finish();
        conduct.before(Act::Hashes(hashes));
        ch.send(hashes.as_flattened())?;
        let mut table = Zeroizing::new([Block::ZERO; 2 * GROUP]);
        let table = &mut table[..2 * n];
        for (j, (copy, key)) in copies.iter().zip(keys).enumerate() {
            for (pair, row) in table.chunks_exact_mut(2).zip(rows.chunks_exact(width)) {
                pair[0] = row[j];
                pair[1] = row[j] ^ copy.delta.block();
            }
            self.hashes.pads(width, j, first as u64, table);
            for (pair, zero) in table.chunks_exact_mut(2).zip(zeros) {
                pair[0] ^= *zero;
                pair[1] ^= *zero ^ self.delta;
            }
            conduct.before(Act::Rows { j, table });
            self.hashers[j].update(Block::bytes_of(table));
            mask_blocks(&mut key.t, table);
            ch.send(Block::bytes_of(table))?;
        }
        Ok(())
    }

    /// Step 5, the end: `c_j^T`, and under `key_j` the salt that opens it.
    pub(crate) fn finish<C: Channel + ?Sized>(
        &mut self,
        ch: &mut C,
        copies: &[Copy],
        keys: &mut [Key],
        conduct: &mut impl Conduct,
    ) -> Result<()> {
        for (j, ((hasher, copy), key)) in self.hashers.iter_mut().zip(copies).zip(keys).enumerate() {
            let mut digest = *hasher.update(&copy.salt[..]).finalize().as_bytes();
            let mut salt = copy.salt.clone();
            conduct.before(Act::OutputCommitment { j, digest: &mut digest, salt: &mut salt });
            ch.send(&digest)?;
            mask(&mut key.t, &mut salt[..]);
            ch.send(&salt[..])?;
        }
        Ok(())
    }

    /// Writes what step 7 needs.
    pub(crate) fn save(&self, to: &mut impl Write) -> Result<()> {
        put(to, &[self.delta])?;
        put(to, &self.zeros)
    }

    /// Reads what was saved, for step 7.
    pub(crate) fn load(backend: Backend, session: &SessionId, plan: &Plan, from: &mut impl Read) -> Result<Tables> {
        let (mut delta, mut zeros) = ([Block::ZERO], Zeroizing::new(vec![Block::ZERO; plan.revealed()]));
        take(from, &mut delta)?;
        take(from, &mut zeros)?;
        Ok(Tables { hashes: Hashes::new(backend, session), hashers: Vec::new(), delta: delta[0], zeros })
    }

    /// `Delta`.
    pub(crate) fn delta(&self) -> Block {
        self.delta
    }

    /// Step 7: shows `Delta` and every `Delta_{i,0}`, and with them every `Delta_{i,1}`.
    pub(crate) fn reveal<C: Channel + ?Sized>(&self, ch: &mut C, conduct: &mut impl Conduct) -> Result<()> {
        let mut shown = Zeroizing::new(vec![self.delta]);
        shown.extend_from_slice(&self.zeros);
        conduct.before(Act::Delta(&mut shown));
        ch.send(Block::bytes_of(&shown))
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// The evaluator's side.
pub(crate) struct Results {
    hashes: Hashes,
    hashers: Vec<blake3::Hasher>,
    /// `H(Delta_{i,b})` of all bits so far.
    bound: Vec<[Digest; 2]>,
    /// Whether a label `Delta_{i,b}` was found, as a byte, and which.
    found: Vec<[(u8, Block); 2]>,
    /// Of each evaluated copy, whether all its labels so far were valid.
    valid: Vec<Bit>,
    /// The pads of the rows of each checked copy.
    pads: Vec<Vec<Block>>,
    /// `c_j^T` of the checked copies.
    commitments: Vec<Digest>,
    /// The next bit to be received.
    next: u64,
}

/// The tables of some bits, as far as the evaluator needs them.
pub(crate) struct Batch {
    /// `H(Delta_{i,b})`.
    pub(crate) bound: Vec<[Digest; 2]>,
    /// The encrypted rows of the evaluated copies, one copy after another.
    pub(crate) tables: Vec<Block>,
    /// The pads of the rows of the checked copies, one copy after another.
    pub(crate) pads: Vec<Block>,
}

impl Batch {
    /// The room for `n` bits.
    pub(crate) fn new(n: usize, choice: &Choice) -> Batch {
        Batch {
            bound: vec![[[0; 32]; 2]; n],
            tables: vec![Block::ZERO; 2 * n * choice.evaluated.len()],
            pads: vec![Block::ZERO; 2 * n * choice.checked.len()],
        }
    }
}

/// `c_j^T` of each copy, and its salt under `key_j`.
pub(crate) type Commitments = Vec<[Digest; 2]>;

/// Receives the end of step 5.
pub(crate) fn receive_commitments<C: Channel + ?Sized>(ch: &mut C, copies: usize) -> Result<Commitments> {
    let mut received = vec![[[0; 32]; 2]; copies];
    ch.recv(received.as_flattened_mut().as_flattened_mut())?;
    Ok(received)
}

/// What step 6 finds.
pub(crate) struct Decoded {
    /// The bits that the evaluated copies agree on, where they do.
    pub(crate) bits: Bits,
    /// `Omega`: `Delta` if copies disagree, else random.
    pub(crate) omega: Block,
    /// Whether no evaluated copy is valid everywhere.
    pub(crate) invalid: Bit,
    /// Whether copies disagree, so that the input is to be recovered.
    pub(crate) disagree: Bit,
    /// Whether they give several `Delta`, so that nothing can be recovered.
    pub(crate) ambiguous: Bit,
}

impl Results {
    pub(crate) fn new(backend: Backend, session: &SessionId, choice: &Choice) -> Results {
        let (checked, evaluated) = (choice.checked.len(), choice.evaluated.len());
        Results {
            hashes: Hashes::new(backend, session),
            hashers: hashers(session, checked + evaluated),
            bound: Vec::new(),
            found: Vec::new(),
            valid: vec![Bit::from(1); evaluated],
            pads: vec![Vec::new(); checked],
            commitments: Vec::new(),
            next: 0,
        }
    }

    /// Step 6: receives the tables of the next `n` bits. `zeros` are the labels for zero of the checked copies.
    pub(crate) fn receive<C: Channel + ?Sized>(
        &mut self,
        ch: &mut C,
        choice: &Choice,
        copies: &[Copy],
        n: usize,
        zeros: &[Block],
    ) -> Result<Batch> {
        let width = choice.checked.len() + choice.evaluated.len();
        let mut batch = Batch::new(n, choice);
        ch.recv(batch.bound.as_flattened_mut().as_flattened_mut())?;
        let mut tables = Zeroizing::new(vec![Block::ZERO; 2 * n * width]);
        ch.recv(Block::bytes_of_mut(&mut tables))?;
        for (table, &j) in batch.tables.chunks_exact_mut(2 * n).zip(&choice.evaluated) {
            table.copy_from_slice(&tables[2 * n * j..2 * n * (j + 1)]);
        }
        let labels = batch.pads.chunks_exact_mut(2 * n);
        for (k, ((labels, &j), copy)) in labels.zip(&choice.checked).zip(copies).enumerate() {
            for (pair, row) in labels.chunks_exact_mut(2).zip(zeros.chunks_exact(copies.len())) {
                pair[0] = row[k];
                pair[1] = row[k] ^ copy.delta.block();
            }
            self.hashes.pads(width, j, self.next, labels);
        }
        self.next += n as u64;
        Ok(batch)
    }

    /// Step 6: tries the rows of the next bits. `active` are the active labels of the evaluated copies.
    ///
    /// Each row is tried against its own hash, and an invalid label changes neither what is done nor its time.
    pub(crate) fn evaluate(&mut self, batch: Batch, choice: &Choice, keys: &mut [Key], active: &[Block]) {
        let (first, n, width) = (self.bound.len(), batch.bound.len(), choice.checked.len() + choice.evaluated.len());
        let Batch { bound, mut tables, pads } = batch;
        self.bound.extend(bound);
        self.found.resize(first + n, [(0, Block::ZERO); 2]);
        for (all, pads) in self.pads.iter_mut().zip(pads.chunks_exact(2 * n)) {
            all.extend_from_slice(pads);
        }
        let mut labels = Zeroizing::new([Block::ZERO; 2 * GROUP]);
        let labels = &mut labels[..2 * n];
        let tables = tables.chunks_exact_mut(2 * n);
        for (k, ((table, &j), key)) in tables.zip(&choice.evaluated).zip(keys).enumerate() {
            mask_blocks(&mut key.t, table);
            self.hashers[j].update(Block::bytes_of(table));
            for (pair, row) in labels.chunks_exact_mut(2).zip(active.chunks_exact(choice.evaluated.len())) {
                pair.fill(row[k]);
            }
            self.hashes.pads(width, j, first as u64, labels);
            for (at, (label, row)) in labels.iter_mut().zip(table.iter()).enumerate() {
                *label ^= *row;
                self.hashes.push(*label, (first + at / 2) as u64, at % 2 == 1);
            }
            let digests = self.hashes.finish();
            for (i, (digests, labels)) in digests.chunks_exact(2).zip(labels.chunks_exact(2)).enumerate() {
                let mut any = Bit::from(0);
                for b in 0..2 {
                    let valid = equal(&digests[b], &self.bound[first + i][b]);
                    let (seen, label) = &mut self.found[first + i][b];
                    label.conditional_assign(&labels[b], valid);
                    *seen |= valid.unwrap_u8();
                    any |= valid;
                }
                self.valid[k] &= any;
            }
        }
    }

    /// Step 6, the end of the tables: `c_j^T` of the evaluated copies must be opened by what arrived.
    pub(crate) fn open(&mut self, mut received: Commitments, choice: &Choice, keys: &mut [Key]) -> Result<()> {
        let mut right = Bit::from(1);
        for (&j, key) in choice.evaluated.iter().zip(keys) {
            let [commitment, salt] = &mut received[j];
            mask(&mut key.t, salt);
            right &= self.hashers[j].update(salt).finalize().as_bytes()[..].ct_eq(commitment);
        }
        self.commitments = choice.checked.iter().map(|&j| received[j][0]).collect();
        if bool::from(right) { Ok(()) } else { Err(Misbehaviour::OutputOpening.into()) }
    }

    /// Step 6, the result. `fresh` is a random value, for `Omega`.
    pub(crate) fn decode(&self, fresh: Block) -> Decoded {
        let invalid = !self.valid.iter().fold(Bit::from(0), |any, &valid| any | valid);
        let (mut omega, mut disagree, mut ambiguous) = (fresh, Bit::from(0), Bit::from(0));
        for [(zero, label0), (one, label1)] in &self.found {
            let both = Bit::from(zero & one);
            let delta = *label0 ^ *label1;
            ambiguous |= both & disagree & !delta.ct_eq(&omega);
            omega.conditional_assign(&delta, both & !disagree);
            disagree |= both;
        }
        // The paper looks for invalid copies first: where none is valid nothing is recovered.
        omega.conditional_assign(&fresh, invalid);
        let bits = self.found.iter().map(|[_, (one, _)]| *one == 1).collect();
        Decoded { bits, omega, invalid, disagree: disagree & !invalid, ambiguous }
    }

    /// Step 7: takes `Delta` and the `Delta_{i,b}`, which must be those whose hashes came in step 5. Step 9c: the commitments of
    /// the checked copies must be to the tables that follow. `Delta`.
    pub(crate) fn check<C: Channel + ?Sized>(&mut self, ch: &mut C, choice: &Choice, copies: &[Copy]) -> Result<Block> {
        let mut shown = Zeroizing::new(vec![Block::ZERO; 1 + self.bound.len()]);
        ch.recv(Block::bytes_of_mut(&mut shown))?;
        let (delta, zeros) = (shown[0], &shown[1..]);
        let mut right = Bit::from(1);
        for (start, zeros) in (0..).step_by(GROUP).zip(zeros.chunks(GROUP)) {
            for (zero, i) in zeros.iter().zip(start as u64..) {
                self.hashes.push(*zero, i, false);
                self.hashes.push(*zero ^ delta, i, true);
            }
            let bound = &self.bound[start..start + zeros.len()];
            right &= self.hashes.finish().as_flattened().ct_eq(bound.as_flattened().as_flattened());
        }
        if !bool::from(right) {
            return Err(Misbehaviour::OutputLabels.into());
        }
        for (k, (&j, copy)) in choice.checked.iter().zip(copies).enumerate() {
            let hasher = &mut self.hashers[j];
            for (pads, zeros) in self.pads[k].chunks_mut(2 * GROUP).zip(zeros.chunks(GROUP)) {
                for (pair, zero) in pads.chunks_exact_mut(2).zip(zeros) {
                    pair[0] ^= *zero;
                    pair[1] ^= *zero ^ delta;
                }
                hasher.update(Block::bytes_of(pads));
            }
            right &= hasher.update(&copy.salt[..]).finalize().as_bytes()[..].ct_eq(&self.commitments[k]);
        }
        if bool::from(right) { Ok(delta) } else { Err(Misbehaviour::OutputTable.into()) }
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        self.found.iter_mut().flatten().for_each(|(_, label)| label.zeroize());
        self.pads.zeroize();
    }
}
