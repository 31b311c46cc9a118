//! Silent OT as one would write it on paper: trees by recursion, sums by definition, places one by one.

use comity_core::{Aes128, Backend, Bits, Block, Prg, SessionId, gf128};

use super::Parameters;

pub(super) struct Textbook {
    p: Parameters,
    session: SessionId,
    delta: Block,
    /// The iteration's correlations: `q` with bit 0 clear, and the choice bits.
    q: Vec<Block>,
    x: Vec<bool>,
    message: Vec<u8>,
    /// All leaves of all trees, and which ones are at the end of a path.
    leaves: Vec<Block>,
    ends: Vec<bool>,
    /// The outputs of an iteration: `q` and the choice bits.
    out: Vec<(Block, bool)>,
}

fn backend() -> Backend {
    *Backend::available().last().expect("the portable one")
}

/// `pi(s) ^ s` where `s` is the block with its halves exchanged, and their sum in the upper one.
fn hash(key: Block, x: Block) -> Block {
    let x = x.to_u128();
    let (low, high) = (x & u128::from(u64::MAX), x >> 64);
    let s = Block::from_u128(high | (low ^ high) << 64);
    let mut block = [s];
    Aes128::new(backend(), key).encrypt(&mut block);
    block[0] ^ s
}

/// The node that these steps lead to, the first step first.
fn node(key: Block, roots: [Block; 2], steps: &[usize]) -> Block {
    let (&last, before) = steps.split_last().expect("at least a step");
    if before.is_empty() {
        return roots[last];
    }
    let parent = node(key, roots, before);
    let left = hash(key, parent);
    if last == 0 { left } else { parent ^ left }
}

/// The steps to a node: the first one in bit 0 of its number.
fn steps(number: usize, depth: usize) -> Vec<usize> {
    (0..depth).map(|i| number >> i & 1).collect()
}

impl Textbook {
    pub(super) fn new(p: Parameters, session: SessionId, delta: Block, q: &[Block], x: &Bits) -> Textbook {
        Textbook {
            p,
            session,
            delta,
            q: q.iter().map(|q| q.with_lsb(false)).collect(),
            x: x.iter().collect(),
            message: Vec::new(),
            leaves: Vec::new(),
            ends: Vec::new(),
            out: Vec::new(),
        }
    }

    pub(super) fn iteration(&mut self, number: u64, nonce: [u8; 16]) {
        let Parameters { trees, depth, dimension } = self.p;
        let mut keys = Prg::new(backend(), Block::new(nonce));
        (self.message, self.leaves, self.ends) = Default::default();
        for tree in 0..trees {
            let key = keys.block();
            let first = dimension + tree * depth;
            let roots = [self.q[first], self.q[first] ^ self.delta];
            for level in 2..=depth {
                let left = |i| node(key, roots, &steps(i, level));
                let sum = (0..1 << (level - 1)).map(left).fold(Block::ZERO, |sum, x| sum ^ x);
                self.message.extend((sum ^ self.q[first + level - 1]).to_bytes());
            }
            let end = (0..depth).map(|i| usize::from(!self.x[first + i]) << i).sum::<usize>();
            for leaf in 0..1 << depth {
                self.leaves.push(node(key, roots, &steps(leaf, depth)).with_lsb(false));
                self.ends.push(leaf == end);
            }
        }
        let seed = |half| self.session.block(&format!("half {half} of the matrix of iteration {number}"));
        let mut places = [0, 1].map(|half| Prg::new(backend(), seed(half)));
        self.out.clear();
        for (&leaf, &end) in self.leaves.iter().zip(&self.ends) {
            let (mut q, mut x) = (leaf, end);
            for (half, places) in places.iter_mut().enumerate() {
                for _ in 0..5 {
                    let mut place = [0; 2];
                    places.fill(&mut place);
                    let place = (((half << 16) | usize::from(u16::from_le_bytes(place))) * dimension) >> 17;
                    q ^= self.q[place];
                    x ^= self.x[place];
                }
            }
            self.out.push((q, x));
        }
    }

    pub(super) fn message(&self) -> &[u8] {
        &self.message
    }

    /// The powers of a point that belong to the leaves.
    fn powers(&self, point: Block) -> Vec<Block> {
        let (width, mut power) = (1 << self.p.depth, Block::from_u128(1));
        let mut powers = vec![Block::ZERO; self.leaves.len()];
        for tree in (0..self.p.trees).rev() {
            for leaf in 0..width {
                powers[tree * width + leaf] = power;
                power = gf128::mul(backend(), power, point);
            }
        }
        powers
    }

    fn masks(&self) -> usize {
        self.p.reserved() - 128
    }

    /// The sum of the ends' powers, masked.
    pub(super) fn ends(&self, point: Block) -> Block {
        let mask = (0..128).map(|i| u128::from(self.x[self.masks() + i]) << i).sum::<u128>();
        let ends = self.powers(point).into_iter().zip(&self.ends).filter(|(_, end)| **end);
        ends.fold(Block::from_u128(mask), |sum, (power, _)| sum ^ power)
    }

    /// The sum of the leaves times powers, with the mask's correlations, as the sender has it.
    pub(super) fn leaves(&self, point: Block, ends: Block) -> Block {
        let mut sum = gf128::mul(backend(), ends, self.delta);
        for (power, &leaf) in self.powers(point).into_iter().zip(&self.leaves) {
            sum ^= gf128::mul(backend(), power, leaf);
        }
        for i in 0..128 {
            sum ^= gf128::mul(backend(), Block::from_u128(1 << i), self.q[self.masks() + i]);
        }
        sum
    }

    /// The outputs but for those that the next iteration takes.
    pub(super) fn q(&self) -> Vec<Block> {
        self.out[self.p.reserved()..].iter().map(|out| out.0).collect()
    }

    pub(super) fn t(&self) -> Vec<Block> {
        self.out[self.p.reserved()..].iter().map(|&(q, x)| q ^ self.delta.masked(x)).collect()
    }

    /// On to the next iteration.
    pub(super) fn next(&mut self) {
        (self.q, self.x) = self.out[..self.p.reserved()].iter().copied().unzip();
    }
}
