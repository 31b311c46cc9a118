//! Steps 3 and 4: the garbler's input labels, bound to the input that it gave to the committing OT.
//!
//! The evaluator's random `M_{i,0}`, `M_{i,1}` go through committing OT, where the garbler's choice is `x[i]`. With
//! `M_{i,x[i]}` it makes `R_{j,i,x[i]} = PRF_{seed_j}(i, "R") ^ M_{i,x[i]}`, which it sends under `key_j`; after that it gets
//! both `M`, and commits to `(R_{j,i,b}, A_{j,i,b})` for both `b`. To open the commitment for `1 - x[i]` with an `R` that it sent
//! before it would have had to guess 128 bits.
//!
//! **Commitments.** The paper sends two commitments for each bit and copy, in random order, and opens one. Here a copy's
//! commitments are hashed together to `c_j^R`, 32 bytes in all; what opens a bit is the label and the *other* commitment,
//! from which the evaluator makes the hash again. Binding is that of the hash (256 bits, BLAKE3). What is hidden is the label of
//! the other value, 127 bits that nobody can try but by the hash. Commitments lie in the order of the labels' permute bits,
//! which follow from `seed_j` and are random.
//!
//! **Cost** for a bit and copy: 64 bytes, two hashes at the garbler, two of a checked and one of an evaluated copy at the
//! evaluator, each of 64 bytes, and one pass of a hash over 64 bytes at either.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Misbehaviour, Prg, Result, SessionId, ShortHash};
use subtle::{Choice as Bit, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::conduct::{Act, Conduct};
use crate::copies::{Copy, Key, Secret, mask};
use crate::rows::Rows;
use crate::transfer::{Choice, mask_blocks};

/// Bits that are treated together: what a copy's hash takes in at once then fills all lanes of BLAKE3.
const GROUP: usize = 256;
/// Bytes of what opens a bit: the label, and the commitment to the other one.
const OPENING: usize = 48;

/// A commitment.
type Digest = [u8; 32];

/// Commits to input labels.
struct Committer {
    hash: ShortHash,
    messages: Zeroizing<Vec<[Block; 4]>>,
    digests: Vec<Digest>,
}

impl Committer {
    fn new(session: &SessionId) -> Committer {
        Committer {
            hash: ShortHash::new(session.child("commitments to the garbler's input labels").to_bytes()),
            messages: Zeroizing::new(Vec::new()),
            digests: Vec::new(),
        }
    }

    /// What is committed to for bit `i` of copy `j`.
    // Inline, or the blocks pass through memory in halves, which the processor waits for.
    #[inline(always)]
    fn push(&mut self, r: Block, a: Block, j: usize, i: usize) {
        self.messages.push([r, a, Block::from_u128((i as u128) << 64 | j as u128), Block::ZERO]);
    }

    /// The commitments to what was pushed.
    fn finish(&mut self) -> &[Digest] {
        self.digests.resize(self.messages.len(), [0; 32]);
        self.hash.hash(Block::bytes_of(self.messages.as_flattened()).as_chunks().0, &mut self.digests);
        self.messages.clear();
        &self.digests
    }
}

/// A hasher for `c_j^R` of each copy.
fn hashers(session: &SessionId, copies: usize) -> Vec<blake3::Hasher> {
    let key = session.child("commitment to all input labels of a copy").to_bytes();
    vec![blake3::Hasher::new_keyed(&key); copies]
}

/// The pair in the order of the permute bit of the first one's label.
#[inline(always)]
fn ordered(permute: bool, first: &Digest, second: &Digest) -> [Digest; 2] {
    let (mut first, mut second) = (*first, *second);
    for (a, b) in first.as_chunks_mut().0.iter_mut().zip(second.as_chunks_mut().0) {
        let (x, y) = (Block::new(*a), Block::new(*b));
        let change = (x ^ y).masked(permute);
        (*a, *b) = ((x ^ change).to_bytes(), (y ^ change).to_bytes());
    }
    [first, second]
}

/// Takes the commitments of a group into `c_j^R`, all at once.
fn absorb(hasher: &mut blake3::Hasher, run: &mut Vec<[Digest; 2]>) {
    hasher.update(run.as_flattened().as_flattened());
    run.clear();
}

/// The groups of `n` bits: where each starts, and how many it has.
fn groups(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).step_by(GROUP).map(move |start| (start, GROUP.min(n - start)))
}

/// Step 3 at the garbler: sends `R_{j,i,x[i]}`. `chosen` are `M_{i,x[i]}`.
pub(crate) fn send_r<C: Channel + ?Sized>(
    ch: &mut C,
    copies: &mut [Copy],
    keys: &mut [Key],
    chosen: &[Block],
    conduct: &mut impl Conduct,
) -> Result<()> {
    let mut column = Zeroizing::new([Block::ZERO; GROUP]);
    for (start, n) in groups(chosen.len()) {
        for (j, (copy, key)) in copies.iter_mut().zip(keys.iter_mut()).enumerate() {
            let column = &mut column[..n];
            copy.r.fill_blocks(column);
            column.iter_mut().zip(&chosen[start..]).for_each(|(r, m)| *r ^= *m);
            conduct.before(Act::R { j, start, column });
            mask_blocks(&mut key.r, column);
            ch.send(Block::bytes_of(column))?;
        }
    }
    Ok(())
}

/// Step 3 at the evaluator: `R_{j,i,x[i]}` of the evaluated copies, for each copy `n` of them.
pub(crate) fn receive_r<C: Channel + ?Sized>(
    ch: &mut C,
    choice: &Choice,
    keys: &mut [Key],
    n: usize,
) -> Result<Vec<Zeroizing<Vec<Block>>>> {
    let copies = choice.evaluated.len() + choice.checked.len();
    let mut received = vec![Block::ZERO; copies * GROUP];
    let mut all = vec![Zeroizing::new(Vec::with_capacity(n)); choice.evaluated.len()];
    for (_, n) in groups(n) {
        ch.recv(Block::bytes_of_mut(&mut received[..copies * n]))?;
        for ((r, key), &j) in all.iter_mut().zip(keys.iter_mut()).zip(&choice.evaluated) {
            let column = &mut received[j * n..(j + 1) * n];
            mask_blocks(&mut key.r, column);
            r.extend_from_slice(column);
        }
    }
    Ok(all)
}

/// Step 4 at the garbler: commits to the input labels of all copies and sends what opens those of `x`. `opened` are both `M`.
/// The labels for zero.
#[allow(clippy::too_many_arguments, reason = "what the step works with")]
pub(crate) fn send_a<C: Channel + ?Sized>(
    ch: &mut C,
    backend: Backend,
    session: &SessionId,
    copies: &mut [Copy],
    keys: &mut [Key],
    x: &Bits,
    opened: &[[Block; 2]],
    conduct: &mut impl Conduct,
) -> Result<Rows> {
    let mut zeros = Rows::new(copies.len(), x.len())?;
    let mut hashers = hashers(session, copies.len());
    let mut committer = Committer::new(session);
    // The stream of step 3 once more.
    let mut r: Vec<Prg> =
        copies.iter().enumerate().map(|(j, copy)| Copy::recovered(backend, session, j, copy.seed.clone())).collect();
    let (mut a, mut prf) = (Zeroizing::new([Block::ZERO; GROUP]), Zeroizing::new([Block::ZERO; GROUP]));
    let mut openings = Zeroizing::new([0; GROUP * OPENING]);
    let mut run = Vec::with_capacity(GROUP);
    for (start, n) in groups(x.len()) {
        for (j, copy) in copies.iter_mut().enumerate() {
            copy.a.fill_blocks(&mut a[..n]);
            r[j].fill_blocks(&mut prf[..n]);
            let delta = copy.delta.block();
            for (i, a) in a[..n].iter().enumerate() {
                zeros.get_mut(start + i, 1)[j] = *a;
            }
            conduct.before(Act::Committed { j, start, zeros: &mut a[..n] });
            for (i, (a, prf)) in a[..n].iter().zip(&prf[..n]).enumerate() {
                let m = &opened[start + i];
                committer.push(*prf ^ m[0], *a, j, start + i);
                committer.push(*prf ^ m[1], *a ^ delta, j, start + i);
            }
            let digests = committer.finish();
            for (i, (opening, pair)) in openings.chunks_exact_mut(OPENING).zip(digests.chunks_exact(2)).enumerate() {
                let bit = x.get(start + i);
                run.push(ordered(a[i].lsb(), &pair[0], &pair[1]));
                let [_, other] = ordered(bit, &pair[0], &pair[1]);
                opening[..16].copy_from_slice(&(a[i] ^ delta.masked(bit)).to_bytes());
                opening[16..].copy_from_slice(&other);
            }
            absorb(&mut hashers[j], &mut run);
            let openings = &mut openings[..n * OPENING];
            conduct.before(Act::Openings { j, start, openings });
            mask(&mut keys[j].a, openings);
            ch.send(openings)?;
        }
    }
    for (j, hasher) in hashers.iter().enumerate() {
        let mut digest = *hasher.finalize().as_bytes();
        conduct.before(Act::InputCommitment { j, digest: &mut digest });
        ch.send(&digest)?;
    }
    Ok(zeros)
}

/// Step 4 at the evaluator: in the checked copies the labels for zero of the garbler's input, in the evaluated ones the
/// active labels. `r` are those of step 3, `m` the messages of the committing OT.
///
/// Step 9e is done here: the commitments of the checked copies must be what the seeds give.
pub(crate) fn receive_a<C: Channel + ?Sized>(
    ch: &mut C,
    session: &SessionId,
    choice: &Choice,
    copies: &mut [Copy],
    keys: &mut [Key],
    r: &[Zeroizing<Vec<Block>>],
    m: &[[Block; 2]],
) -> Result<[Rows; 2]> {
    let (checked, evaluated) = (&choice.checked, &choice.evaluated);
    let width = checked.len() + evaluated.len();
    let (mut zeros, mut active) = (Rows::new(checked.len(), m.len())?, Rows::new(evaluated.len(), m.len())?);
    let mut hashers = hashers(session, width);
    let mut committer = Committer::new(session);
    let (mut a, mut prf) = (Zeroizing::new([Block::ZERO; GROUP]), Zeroizing::new([Block::ZERO; GROUP]));
    let mut received = Zeroizing::new(vec![0; width * GROUP * OPENING]);
    let mut run = Vec::with_capacity(GROUP);
    for (start, n) in groups(m.len()) {
        ch.recv(&mut received[..width * n * OPENING])?;
        for (k, (&j, copy)) in checked.iter().zip(copies.iter_mut()).enumerate() {
            copy.a.fill_blocks(&mut a[..n]);
            copy.r.fill_blocks(&mut prf[..n]);
            let delta = copy.delta.block();
            for (i, (a, prf)) in a[..n].iter().zip(&prf[..n]).enumerate() {
                zeros.get_mut(start + i, 1)[k] = *a;
                committer.push(*prf ^ m[start + i][0], *a, j, start + i);
                committer.push(*prf ^ m[start + i][1], *a ^ delta, j, start + i);
            }
            for (pair, a) in committer.finish().chunks_exact(2).zip(a.iter()) {
                run.push(ordered(a.lsb(), &pair[0], &pair[1]));
            }
            absorb(&mut hashers[j], &mut run);
        }
        for (k, (&j, key)) in evaluated.iter().zip(keys.iter_mut()).enumerate() {
            let openings = &mut received[j * n * OPENING..(j + 1) * n * OPENING];
            mask(&mut key.a, openings);
            for (i, opening) in openings.chunks_exact(OPENING).enumerate() {
                let label = Block::new(std::array::from_fn(|k| opening[k]));
                active.get_mut(start + i, 1)[k] = label;
                committer.push(r[k][start + i], label, j, start + i);
            }
            for (i, (digest, opening)) in committer.finish().iter().zip(openings.chunks_exact(OPENING)).enumerate() {
                let other = std::array::from_fn(|k| opening[16 + k]);
                let permute = active.get(start + i, 1)[k].lsb();
                run.push(ordered(permute, digest, &other));
            }
            absorb(&mut hashers[j], &mut run);
        }
    }
    // All are compared before anything is said: what fails first does not tell the garbler which copies are evaluated.
    let mut right = vec![Bit::from(1); width];
    for (hasher, right) in hashers.iter().zip(&mut right) {
        let mut commitment = [0; 32];
        ch.recv(&mut commitment)?;
        *right = hasher.finalize().as_bytes()[..].ct_eq(&commitment);
    }
    if !checked.iter().all(|&j| bool::from(right[j])) {
        return Err(Misbehaviour::InputCommitment.into());
    }
    if !evaluated.iter().all(|&j| bool::from(right[j])) {
        return Err(Misbehaviour::InputOpening.into());
    }
    Ok([zeros, active])
}

/// Step 8: the garbler's input as the recovered seed of one copy shows it, and whether it shows one: bit `i` is the `b` for which
/// `R_{j,i,x[i]} = PRF_{seed}(i, "R") ^ M_{i,b}`. In time that depends on nothing but lengths.
pub(crate) fn recover(
    backend: Backend,
    session: &SessionId,
    j: usize,
    seed: Secret,
    r: &[Block],
    m: &[[Block; 2]],
) -> (Bits, Bit) {
    let mut prf = Zeroizing::new(vec![Block::ZERO; r.len()]);
    Copy::recovered(backend, session, j, seed).fill_blocks(&mut prf);
    let mut valid = Bit::from(1);
    let bits = r
        .iter()
        .zip(prf.iter())
        .zip(m)
        .map(|((r, prf), m)| {
            let (zero, one) = ((*r ^ *prf).ct_eq(&m[0]), (*r ^ *prf).ct_eq(&m[1]));
            valid &= zero | one;
            bool::from(one)
        })
        .collect();
    (bits, valid)
}
