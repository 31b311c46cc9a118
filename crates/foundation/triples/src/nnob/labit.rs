//! `LaBit`: authenticated bits some of which may leak (figures 10 and 12), in both directions at once.
//!
//! In one direction a party, the figure's A, *offers*: in each of `T = 2 tau` OTs the two messages `L_i` and
//! `L_i + Gamma`. The other, the figure's B, *chooses* by a random bit `y_i` and gets
//! `N_i = L_i + y_i Gamma`. Here both parties do both. By corollary 1 only one of two messages this long is
//! sent: the seed OTs give the chooser one of two seeds, `L_i` is what the first expands to, and a
//! *correction*, the sum of both expansions and `Gamma`, makes the second expand to `L_i + Gamma`.
//!
//! - Steps 1 to 3: `Gamma` random, corrections; the chooser adds the correction where `y_i` is one.
//! - Step 4: the chooser, whose bits could leak, draws the pairing when it has all corrections, and sends its seed.
//! - Step 5: it announces `d_i = y_i + y_pi(i)` for all pairs, and what both sides then know of each pair is compared:
//!   `Z_i = L_i + L_pi(i) + d_i Gamma` and `N_i + N_pi(i)`, in one comparison of a hash for both directions. An offerer
//!   that used another `Gamma` in one of the two must guess `y_i`.
//! - Step 6: the first of each pair is kept.
//!
//! **Cost**, a column (which becomes an authenticated bit of the offerer), each way: `2 tau` bits on the wire, `6 tau`
//! bits expanded in all, `tau` bits hashed at each party.

use comity_channel::Channel;
use comity_core::{Backend, Block, Prg, Result, declassify, mask, sum_rows};
use comity_protocol::Conduct;
use rand_core::Rng;
use zeroize::Zeroizing;

use super::conduct::Act;
use super::context::{Context, Packed};
use super::ot::Seeds;

use crate::checks;

/// Rows that go over the wire at a time.
const GROUP: usize = 16;

/// Rows of as many bits as there are columns.
pub(super) struct Rows {
    /// Bytes of a row, and from one row to the next.
    width: usize,
    stride: usize,
    bytes: Zeroizing<Vec<u8>>,
}

impl Rows {
    /// `rows` rows of `columns` zeros. Rows do not start a power of two apart, lest all fall into one set of a cache.
    pub(super) fn zeros(rows: usize, columns: usize) -> Rows {
        let width = columns / 8;
        let stride = width + 64;
        Rows { width, stride, bytes: Zeroizing::new(vec![0; rows * stride]) }
    }

    pub(super) fn columns(&self) -> usize {
        8 * self.width
    }

    pub(super) fn get(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.stride..][..self.width]
    }

    fn get_mut(&mut self, i: usize) -> &mut [u8] {
        &mut self.bytes[i * self.stride..][..self.width]
    }
}

/// LaBit: the leaky bits of one run, and their memory for the next.
pub(super) struct LaBit {
    /// `Gamma` of the direction in which this party offers: its bits, once the matrix is read by columns.
    pub(super) gamma: Zeroizing<Vec<u8>>,
    /// `L_i`.
    pub(super) offered: Rows,
    /// The numbers of the `L_i` that are kept.
    pub(super) offered_kept: Vec<usize>,
    /// `N_i` of the other direction.
    pub(super) chosen: Rows,
    /// The numbers of the `N_i` that are kept.
    pub(super) chosen_kept: Vec<usize>,
    /// `y_i` of those that are kept.
    pub(super) y: Zeroizing<Vec<bool>>,
    /// Corrections to send, and received.
    wire: [Vec<u8>; 2],
}

impl LaBit {
    /// Memory for runs with `2 tau` seeds and `columns` columns.
    pub(super) fn new(tau: usize, columns: usize) -> LaBit {
        let wire = || vec![0; GROUP * columns / 8];
        LaBit {
            gamma: Zeroizing::new(vec![0; columns / 8]),
            offered: Rows::zeros(2 * tau, columns),
            offered_kept: Vec::new(),
            chosen: Rows::zeros(2 * tau, columns),
            chosen_kept: Vec::new(),
            y: Zeroizing::default(),
            wire: [wire(), wire()],
        }
    }

    /// Figure 12, both ways.
    pub(super) fn run(
        &mut self,
        context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
        ch: &mut dyn Channel,
        seeds: &Seeds,
    ) -> Result<()> {
        // 1. and 2. (the choices came with the seeds)
        context.rng.fill_bytes(&mut self.gamma);
        // 3.
        let rows = seeds.pairs.len();
        for start in (0..rows).step_by(GROUP) {
            self.transfer(context, ch, seeds, start, GROUP.min(rows - start))?;
        }
        // 4. and 5.(a)
        let pairing = context.block();
        let ours = pairs(context.backend, pairing, rows);
        let y = |i: usize| seeds.choices[i];
        let mut sums = Packed::collect(ours.iter().map(|&[i, j]| y(i) ^ y(j)));
        context.conduct.before(Act::Sums(&mut sums.0));
        let mut theirs = vec![0; 16 + sums.0.len()];
        ch.exchange(&[&pairing.to_bytes()[..], &sums.0].concat(), &mut theirs)?;
        let (pairing, sums) = theirs.split_first_chunk().expect("16 bytes and more");
        let theirs = pairs(context.backend, Block::new(*pairing), rows);
        // 5.(b) and (c), first the direction in which party 0 offers.
        let mut hasher = blake3::Hasher::new();
        for offers in [context.party.0 == 0, context.party.0 != 0] {
            if offers {
                self.hash_offered(context, &theirs, &Packed(sums.to_vec()), &mut hasher);
            } else {
                self.hash_chosen(context.backend, &ours, &mut hasher);
            }
        }
        context.equal(ch, &hasher, checks::LEAKY_BIT)?;
        // 6.
        self.offered_kept = theirs.iter().map(|pair| pair[0]).collect();
        self.chosen_kept = ours.iter().map(|pair| pair[0]).collect();
        self.y = Zeroizing::new(self.chosen_kept.iter().map(|&i| y(i)).collect());
        Ok(())
    }

    /// Step 3 of `count` OTs from `start` on.
    fn transfer(
        &mut self,
        context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
        ch: &mut dyn Channel,
        seeds: &Seeds,
        start: usize,
        count: usize,
    ) -> Result<()> {
        let (backend, width) = (context.backend, self.gamma.len());
        let [out, into] = &mut self.wire;
        for (i, out) in (start..start + count).zip(out.chunks_exact_mut(width)) {
            let [zero, one] = seeds.pairs[i];
            let row = self.offered.get_mut(i);
            Prg::new(backend, zero).fill(row);
            Prg::new(backend, one).fill(out);
            add(out, row);
            add(out, &self.gamma);
            context.conduct.before(Act::Correction { i, row: out });
        }
        ch.exchange(&out[..count * width], &mut into[..count * width])?;
        for (i, correction) in (start..start + count).zip(into.chunks_exact(width)) {
            let row = self.chosen.get_mut(i);
            Prg::new(backend, seeds.chosen[i]).fill(row);
            let chosen = mask(seeds.choices[i]) as u8;
            row.iter_mut().zip(correction).for_each(|(n, u)| *n ^= u & chosen);
        }
        Ok(())
    }

    /// `Z_i` of all pairs, that we offered.
    fn hash_offered(
        &self,
        context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
        pairs: &[[usize; 2]],
        sums: &Packed,
        hasher: &mut blake3::Hasher,
    ) {
        let mut row = Zeroizing::new(vec![0; self.gamma.len()]);
        for (at, &[i, j]) in pairs.iter().enumerate() {
            let (one, other) = (self.offered.get(i), self.offered.get(j));
            // The sum was announced: it is no secret.
            if sums.get(at) {
                sum_rows(context.backend, [one, other, &self.gamma], &mut row);
            } else {
                sum_rows(context.backend, [one, other], &mut row);
            }
            context.conduct.before(Act::Compared { pair: [i, j], sum: sums.get(at), row: &mut row });
            hasher.update(&row);
        }
    }

    /// `W_i` of all pairs, that we chose in.
    fn hash_chosen(&self, backend: Backend, pairs: &[[usize; 2]], hasher: &mut blake3::Hasher) {
        let mut row = Zeroizing::new(vec![0; self.gamma.len()]);
        for &[i, j] in pairs {
            sum_rows(backend, [self.chosen.get(i), self.chosen.get(j)], &mut row);
            hasher.update(&row);
        }
    }
}

/// The pairing that a seed names: `T / 2` pairs in random order.
pub(super) fn pairs(backend: Backend, seed: Block, rows: usize) -> Vec<[usize; 2]> {
    let mut prg = Prg::new(backend, declassify(seed, "the peer is told the pairing"));
    let mut order: Vec<usize> = (0..rows).collect();
    for i in (1..rows).rev() {
        order.swap(i, below(i + 1, &mut prg));
    }
    order.as_chunks().0.to_vec()
}

fn add(row: &mut [u8], other: &[u8]) {
    row.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
}

/// A uniform number below `bound`.
fn below(bound: usize, prg: &mut Prg) -> usize {
    let bound = bound as u64;
    // Numbers from the largest multiple of the bound on would favour the small ones.
    let end = u64::MAX - u64::MAX % bound;
    loop {
        let word = prg.next_u64();
        if word < end {
            return (word % bound) as usize;
        }
    }
}
