//! Steps 3 and 4: the garbler's input labels, bound to the input that it gave to the committing OT.
//!
//! The evaluator's random `M_{i,0}`, `M_{i,1}` go through committing OT, where the garbler's choice is `x[i]`. With
//! `M_{i,x[i]}` it makes `R_{j,i,x[i]} = PRF_{seed_j}(i, "R") ^ M_{i,x[i]}`, which it sends under `key_j`, and with it
//! the label `A_{j,i,x[i]}`. After that both `M` are opened: to send `R_{j,i,1-x[i]}` it would have had to guess 128
//! bits. What is left to show is that in a copy that follows from its seed all pairs `(R, A)` are `(R_{j,i,b},
//! A_{j,i,b})` for a `b`.
//!
//! **In place of commitments.** The paper commits to both pairs and opens one. Here all pairs of a copy are checked at
//! once, by a linear check as OT extensions have: the evaluator draws weights `w_i` in GF(2^128), and tells them when
//! all `R` and `A` are there. Let `p` be a label's permute bit (its lowest; that of `delta_j` is one), `L_{j,i}` the
//! label whose bit is zero, `mu_j` and `nu_j` random elements from `key_j` and `seed_j`, `N_j = nu_j + mu_j delta_j`,
//! which went with the labels, and `D_i = M_{i,0} ^ M_{i,1}`. The garbler answers for each copy, in clear,
//! - `bits   = mu_j + sum w_i p(A_{j,i,x[i]})`,
//! - `labels = N_j + sum w_i A_{j,i,x[i]}`, which is `nu_j + sum w_i L_{j,i} + bits delta_j`,
//! - `r      = sum w_i (R_{j,i,x[i]} + p(A_{j,i,x[i]}) D_i)`, which is
//!   `sum w_i (PRF_{seed_j}(i, "R") + M_{i,p(A_{j,i,0})})`.
//!
//! Of an evaluated copy the evaluator has all of the first forms; of a checked one all of the second, if it takes
//! `bits` as given.
//!
//! **Binding.** Let copy `j` be *good* (Definition 1 of the paper): the answer is what the seed gives, by the second
//! forms. In what the evaluator received let `A_i = L_{j,i} + p(A_i) delta_j + e_i`, the label under `N_j` be off by
//! `e`, and `R_i + p(A_i) D_i` be off by `f_i` from what the seed gives. If the first forms hold too then `e + sum w_i
//! e_i = 0` and `sum w_i f_i = 0`. All errors were fixed before the weights were known, so that with one of them not
//! zero this has probability 2^-128. Hence all are zero: `A_i` is one of the two labels, and `R_i` the one that belongs
//! to it, since the map from `(R, p)` to `R + p D_i` takes just `(R_{j,i,0}, p(A_{j,i,0}))` and `(R_{j,i,1},
//! p(A_{j,i,1}))` to the same. That is all that Lemmas 2 to 4 ask of the commitments. (The paper's binding is
//! computational; with 40 copies this one fails with less than 2^-122 and what the weights' generator adds.)
//!
//! **Hiding.** The answer for an evaluated copy follows from what the evaluator has, whatever weights it
//! chose: it says nothing more of the other labels or of `x`, and neither does `N_j`, since `nu_j` is used
//! nowhere else. In a checked copy, `mu_j` makes `bits` uniform for a party that has no `key_j`, and `labels`
//! and `r` follow from it and the seed.
//!
//! **Weights** are blocks of AES-128 in counter mode under a seed that the evaluator tells with the opening of `M`
//! (offline, `M` is opened earlier, and the seed follows the labels). They protect the evaluator only.
//!
//! **Cost** for a bit and copy: 32 bytes, and at either party four products in GF(2^128) summed up, one reduction in
//! all; six AES blocks at the garbler, two at the evaluator. For a copy: 64 bytes.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId, gf128, verdict};
use comity_garble::lockstep::{CopyChoice, GarblingParty, LabelRows};
use comity_protocol::Conduct;
use subtle::{Choice as Bit, ConstantTimeEq};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::checks;
use crate::conduct::Act;
use crate::copies::{CopySecret, KeyStreams, Replica};
use crate::messages::Answer;
use crate::rows::{Layout, Places, pieces};
use crate::transfer::{OpenedCopies, mask_blocks};

/// Bits that are treated together: 160 KiB of labels at forty copies, a part of the L2 cache.
const GROUP: usize = 256;

/// The weights of a challenge for the bits of a group, and their products.
pub(crate) struct Weights {
    backend: Backend,
    stream: Prg,
    /// The weights `w_i`.
    weights: Vec<Block>,
    /// The products `w_i D_i`.
    differences: Zeroizing<Vec<Block>>,
    /// The sum of `w_i M_{i,0}` so far.
    zeros: Block,
    /// Room for the permute bits of a copy.
    bits: Zeroizing<Vec<Block>>,
}

impl Weights {
    pub(crate) fn new(backend: Backend, challenge: Block) -> Weights {
        Weights {
            backend,
            stream: Prg::new(backend, challenge),
            weights: Vec::new(),
            differences: Zeroizing::new(Vec::new()),
            zeros: Block::ZERO,
            bits: Zeroizing::new(Vec::new()),
        }
    }

    /// Draws the weights of the next group, whose messages of the committing OT are `m`.
    fn next(&mut self, m: &[[Block; 2]]) {
        self.weights.resize(m.len(), Block::ZERO);
        self.stream.fill_blocks(&mut self.weights);
        let product = |(weight, m): (&Block, &[Block; 2])| gf128::mul(self.backend, *weight, m[0] ^ m[1]);
        self.differences.clear();
        self.differences.extend(self.weights.iter().zip(m).map(product));
        self.bits.resize(m.len(), Block::ZERO);
        for (zero, m) in self.bits.iter_mut().zip(m) {
            *zero = m[0];
        }
        self.zeros ^= gf128::inner_product(self.backend, &self.weights, &self.bits);
    }

    /// Adds a group of one copy to its sums.
    fn add(&mut self, labels: &[Block], r: &[Block], sums: &mut Answer) {
        for (bit, label) in self.bits.iter_mut().zip(labels) {
            *bit = Block::from_u128(label.to_u128() & 1);
        }
        let sum = |a: &[Block], b: &[Block]| gf128::inner_product(self.backend, a, b);
        sums.labels ^= sum(&self.weights, labels);
        sums.bits ^= sum(&self.weights, &self.bits);
        sums.r ^= sum(&self.weights, r) ^ sum(&self.differences, &self.bits);
    }

    /// The sum of the weights where a bit is one.
    fn chosen(&self, bits: impl Iterator<Item = bool>) -> Block {
        self.weights.iter().zip(bits).fold(Block::ZERO, |sum, (weight, bit)| sum ^ weight.masked(bit))
    }
}

/// The groups of `n` bits: where each starts, and how many it has.
fn groups(n: usize) -> impl Iterator<Item = (usize, usize)> {
    pieces(n, GROUP)
}

/// Step 3 at the garbler: sends `R_{j,i,x[i]}`. `chosen` are `M_{i,x[i]}`.
pub(crate) fn send_r(
    ch: &mut dyn Channel,
    copies: &mut [Replica],
    keys: &mut [KeyStreams],
    chosen: &[Block],
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
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
pub(crate) fn receive_r(
    ch: &mut dyn Channel,
    choice: &CopyChoice,
    keys: &mut [KeyStreams],
    n: usize,
) -> Result<Vec<Zeroizing<Vec<Block>>>> {
    let copies = choice.evaluated.len() + choice.checked.len();
    let mut received = vec![Block::ZERO; copies * GROUP.min(n)];
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

/// The masks `mu_j` of all copies.
pub(crate) struct Mus(Zeroizing<Vec<Block>>);

/// Step 4 at the garbler: sends the labels of `x` in all copies. If there is a memory, the labels for zero go there.
pub(crate) fn send_a(
    ch: &mut dyn Channel,
    backend: Backend,
    copies: &mut [Replica],
    keys: &mut [KeyStreams],
    x: &Bits,
    mut to: Option<(&Layout, &mut LabelRows)>,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<Mus> {
    let (mut column, mut rows) = (Zeroizing::new([Block::ZERO; GROUP]), Vec::new());
    for (start, n) in groups(x.len()) {
        if let Some((layout, _)) = &to {
            layout.rows(GarblingParty::Garbler, start, n, &mut rows);
        }
        for (j, (copy, key)) in copies.iter_mut().zip(keys.iter_mut()).enumerate() {
            let column = &mut column[..n];
            copy.a.fill_blocks(column);
            if let Some((_, memory)) = &mut to {
                memory.put_column(j, &rows, column);
            }
            conduct.before(Act::Committed { j, start, zeros: column });
            let delta = copy.delta.block();
            for (label, i) in column.iter_mut().zip(start..) {
                *label ^= delta.masked(x.get(i));
            }
            conduct.before(Act::Opened { j, start, labels: column });
            mask_blocks(&mut key.a, column);
            ch.send(Block::bytes_of(column))?;
        }
    }
    let mut mus = Vec::with_capacity(copies.len());
    for (j, (copy, key)) in copies.iter_mut().zip(keys).enumerate() {
        let mu = key.a.block();
        let mut label = copy.a.block() ^ gf128::mul(backend, mu, copy.delta.block());
        conduct.before(Act::Masking { j, label: &mut label });
        ch.send(&(label ^ key.a.block()).to_bytes())?;
        mus.push(mu);
    }
    Ok(Mus(Zeroizing::new(mus)))
}

/// Step 4 at the garbler: answers the evaluator's challenge, whose weights these are. `opened` are both `M`.
pub(crate) fn send_answers(
    ch: &mut dyn Channel,
    copies: &[Replica],
    x: &Bits,
    opened: &[[Block; 2]],
    mus: &Mus,
    mut weights: Weights,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let backend = weights.backend;
    // The streams of the labels and of step 3 once more.
    let mut streams: Vec<[Prg; 2]> = copies.iter().map(|copy| copy.again(backend)).collect();
    let mut columns = [(); 2].map(|()| Zeroizing::new([Block::ZERO; GROUP]));
    let mut sums = Zeroizing::new(vec![Answer::default(); copies.len()]);
    let mut chosen = Zeroizing::new(Block::ZERO);
    for (start, n) in groups(x.len()) {
        weights.next(&opened[start..start + n]);
        *chosen ^= weights.chosen((start..start + n).map(|i| x.get(i)));
        let [labels, r] = columns.each_mut().map(|column| &mut column[..n]);
        for (j, (streams, sums)) in streams.iter_mut().zip(sums.iter_mut()).enumerate() {
            streams[0].fill_blocks(labels);
            streams[1].fill_blocks(r);
            conduct.before(Act::Committed { j, start, zeros: labels });
            weights.add(labels, r, sums);
        }
    }
    for (j, copy) in copies.iter().enumerate() {
        let (nu, mu, sums) = (streams[j][0].block(), mus.0[j], sums[j]);
        let turned = gf128::mul(backend, mu ^ *chosen, copy.delta.block());
        let mut answer =
            Answer { labels: nu ^ sums.labels ^ turned, bits: mu ^ sums.bits ^ *chosen, r: sums.r ^ weights.zeros };
        conduct.before(Act::InputAnswer { j, answer: &mut answer });
        ch.send(&answer.to_bytes())?;
    }
    Ok(())
}

/// The answers that step 4 must bring.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Expected {
    #[zeroize(skip)]
    backend: Backend,
    /// The answers of the checked copies, as if all permute bits were zero.
    checked: Vec<Answer>,
    evaluated: Vec<Answer>,
}

/// Step 4 at the evaluator: puts the active labels of the garbler's input into memory, and, if there is a memory for
/// them, the labels for zero of the checked copies. `r` are those of step 3, `m` the messages of the committing OT, and
/// the weights are the evaluator's secret until this is done.
pub(crate) fn receive_a(
    ch: &mut dyn Channel,
    opened: &mut OpenedCopies,
    r: &[Zeroizing<Vec<Block>>],
    m: &[[Block; 2]],
    mut weights: Weights,
    places: &mut Places<'_>,
) -> Result<Expected> {
    let (backend, OpenedCopies { choice, checked: copies, keys }) = (weights.backend, opened);
    let Places { layout, zeros, active } = places;
    let (checked, evaluated) = (&choice.checked, &choice.evaluated);
    let width = checked.len() + evaluated.len();
    let mut columns = [(); 2].map(|()| Zeroizing::new([Block::ZERO; GROUP]));
    let mut received = Zeroizing::new(vec![Block::ZERO; width * GROUP.min(m.len()).max(1)]);
    let mut rows = Vec::new();
    let mut sums = [checked, evaluated].map(|copies| vec![Answer::default(); copies.len()]);
    let [of_checked, of_evaluated] = &mut sums;
    for (start, n) in groups(m.len()) {
        layout.rows(GarblingParty::Garbler, start, n, &mut rows);
        weights.next(&m[start..start + n]);
        ch.recv(Block::bytes_of_mut(&mut received[..width * n]))?;
        let [labels, prf] = columns.each_mut().map(|column| &mut column[..n]);
        for (k, (copy, sums)) in copies.iter_mut().zip(of_checked.iter_mut()).enumerate() {
            copy.a.fill_blocks(labels);
            copy.r.fill_blocks(prf);
            if let Some(zeros) = zeros {
                zeros.put_column(k, &rows, labels);
            }
            weights.add(labels, prf, sums);
        }
        for (k, ((&j, key), sums)) in evaluated.iter().zip(keys.iter_mut()).zip(of_evaluated.iter_mut()).enumerate() {
            let labels = &mut received[j * n..(j + 1) * n];
            mask_blocks(&mut key.a, labels);
            active.put_column(k, &rows, labels);
            weights.add(labels, &r[k][start..start + n], sums);
        }
    }
    ch.recv(Block::bytes_of_mut(&mut received[..width]))?;
    for (copy, sums) in copies.iter_mut().zip(of_checked.iter_mut()) {
        sums.labels ^= copy.a.block() ^ gf128::mul(backend, sums.bits, copy.delta.block());
        sums.r ^= weights.zeros;
    }
    for ((&j, key), sums) in evaluated.iter().zip(keys).zip(of_evaluated) {
        sums.bits ^= key.a.block();
        sums.labels ^= received[j] ^ key.a.block();
    }
    let [checked, evaluated] = sums;
    Ok(Expected { backend, checked, evaluated })
}

impl Expected {
    /// Receives the answers. Those for the checked copies must be those that the seeds give (step 9e), those
    /// for the others those that the received values give.
    pub(crate) fn receive(&self, ch: &mut dyn Channel, opened: &OpenedCopies) -> Result<()> {
        let OpenedCopies { choice, checked: copies, .. } = opened;
        let answers = (0..choice.copies()).map(|_| Answer::receive(ch)).collect::<Result<Vec<_>>>()?;
        // All are compared before anything is said: what fails first does not tell the garbler which copies
        // are evaluated.
        let (mut right, mut opened) = (Bit::from(1), Bit::from(1));
        for ((&j, copy), sums) in choice.checked.iter().zip(copies).zip(&self.checked) {
            let bits = answers[j].bits;
            let labels = sums.labels ^ gf128::mul(self.backend, bits, copy.delta.block());
            right &= answers[j].equals(&Answer { labels, bits, r: sums.r });
        }
        for (&j, sums) in choice.evaluated.iter().zip(&self.evaluated) {
            opened &= answers[j].equals(sums);
        }
        match (verdict(right), verdict(opened)) {
            (false, _) => Err(checks::INPUT_COMMITMENT.into()),
            (_, false) => Err(checks::INPUT_OPENING.into()),
            _ => Ok(()),
        }
    }
}

/// Step 8: the garbler's input as the recovered seed of one copy shows it, and whether it shows one: bit `i`
/// is the `b` for which `R_{j,i,x[i]} = PRF_{seed}(i, "R") ^ M_{i,b}`. In time that depends on nothing but
/// lengths.
pub(crate) fn recover(
    backend: Backend,
    session: &SessionId,
    j: usize,
    seed: CopySecret,
    r: &[Block],
    m: &[[Block; 2]],
) -> (Bits, Bit) {
    let mut prf = Zeroizing::new(vec![Block::ZERO; r.len()]);
    Replica::recovered(backend, session, j, seed).fill_blocks(&mut prf);
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
