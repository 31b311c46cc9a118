//! The receiver as the paper has it: absolute numbers of leaves, one bit at a time, no kernels.

use blake3::Hasher;
use comity_core::{Backend, Bits, Block, Prg, SessionId};

/// Blocks of a row in a piece on the wire.
const PIECE: usize = 128;

pub(super) struct Textbook {
    session: SessionId,
    checked: bool,
    trees: Vec<u8>,
    /// The streams of every leaf of every tree.
    leaves: Vec<Vec<Prg>>,
    chunk: u64,
    n: usize,
    random: bool,
    /// The chunk, bit by bit: each tree's `u`, the 128 rows, and `x`.
    u: Vec<Vec<bool>>,
    v: Vec<Vec<bool>>,
    x: Vec<bool>,
}

impl Textbook {
    pub(super) fn new(session: SessionId, k: usize, checked: bool, pairs: &[[Block; 2]]) -> Textbook {
        let mut message = Vec::new();
        let mut leaves = Vec::new();
        for (tree, pairs) in pairs.chunks(k).enumerate() {
            let mut nodes = vec![pairs[0][1], pairs[0][0]];
            for pair in &pairs[1..] {
                let children: Vec<[Block; 2]> = nodes
                    .iter()
                    .map(|&node| {
                        let mut prg = prg(node);
                        [prg.block(), prg.block()]
                    })
                    .collect();
                nodes = children.iter().map(|pair| pair[0]).chain(children.iter().map(|pair| pair[1])).collect();
                for side in [0, 1] {
                    let sum = children.iter().fold(pair[1 - side], |sum, pair| sum ^ pair[side]);
                    message.extend(sum.to_bytes());
                }
            }
            if checked && pairs.len() > 1 {
                let mut total = [0; 32];
                let mut hash = Hasher::new_derive_key("comity SoftSpoken OT: the check values of a tree");
                hash.update(&session.to_bytes()).update(&(tree as u64).to_le_bytes());
                for node in &mut nodes {
                    let mut leaf = Hasher::new_derive_key("comity SoftSpoken OT: a seed's check value and key");
                    leaf.update(&session.to_bytes()).update(&(tree as u64).to_le_bytes()).update(&node.to_bytes());
                    let mut output = [0; 48];
                    leaf.finalize_xof().fill(&mut output);
                    total.iter_mut().zip(&output).for_each(|(total, byte)| *total ^= byte);
                    hash.update(&output[..32]);
                    *node = Block::new(std::array::from_fn(|i| output[32 + i]));
                }
                message.extend(total);
                message.extend(hash.finalize().as_bytes());
            }
            leaves.push(nodes.into_iter().map(prg).collect());
        }
        Textbook {
            session,
            checked,
            trees: message,
            leaves,
            chunk: 0,
            n: 0,
            random: false,
            u: Vec::new(),
            v: Vec::new(),
            x: Vec::new(),
        }
    }

    pub(super) fn trees(&self) -> &[u8] {
        &self.trees
    }

    /// The next chunk.
    pub(super) fn chunk(&mut self, n: usize, choices: Option<&Bits>) {
        let columns = 128 * (n.div_ceil(128) + usize::from(self.checked));
        (self.n, self.random, self.u, self.v) = (n, choices.is_none(), Vec::new(), Vec::new());
        for leaves in &mut self.leaves {
            let mut u = vec![false; columns];
            let mut rows = vec![vec![false; columns]; leaves.len().ilog2() as usize];
            for (x, leaf) in leaves.iter_mut().enumerate() {
                let mut stream = vec![0; columns / 8];
                leaf.fill(&mut stream);
                for j in 0..columns {
                    let bit = stream[j / 8] >> (j % 8) & 1 == 1;
                    u[j] ^= bit;
                    rows.iter_mut().enumerate().for_each(|(b, row)| row[j] ^= bit & (x >> b & 1 == 1));
                }
            }
            self.u.push(u);
            self.v.extend(rows);
        }
        self.x = (0..columns)
            .map(|j| match choices {
                Some(choices) if j < n => choices.get(j),
                _ => self.u[0][j],
            })
            .collect();
    }

    pub(super) fn corrections(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in (0..self.x.len()).collect::<Vec<_>>().chunks(128 * PIECE) {
            for u in &self.u[usize::from(self.random)..] {
                for byte in piece.chunks(8) {
                    bytes.push(byte.iter().enumerate().fold(0, |bits, (i, &j)| bits | u8::from(u[j] ^ self.x[j]) << i));
                }
            }
        }
        bytes
    }

    pub(super) fn choices(&self) -> Bits {
        self.x[..self.n].iter().copied().collect()
    }

    pub(super) fn columns(&self) -> Vec<Block> {
        let column = |j: usize| self.v.iter().enumerate().fold(0, |bits, (i, row)| bits | u128::from(row[j]) << i);
        (0..self.n).map(|j| Block::from_u128(column(j))).collect()
    }

    /// The answer of a receiver that added errors to corrections: the tree, the error, and its guess of the
    /// tree's bits of delta.
    pub(super) fn answer(&self, challenge: [u8; 16], lies: &[(usize, Vec<bool>, usize)]) -> Vec<u8> {
        let mut key = prg(Block::new(challenge));
        let mut elements: Vec<u128> = (0..self.x.len() / 128).map(|_| key.block().to_u128()).collect();
        *elements.last_mut().unwrap() = 1;
        let hash = |row: &[bool]| {
            row.chunks(128).zip(&elements).fold(0, |sum, (block, &element)| {
                let block = block.iter().enumerate().fold(0, |bits, (i, &bit)| bits | u128::from(bit) << i);
                sum ^ multiply(block, element)
            })
        };
        let mut rows: Vec<u128> = self.v.iter().map(|row| hash(row)).collect();
        for (tree, error, guess) in lies {
            let first: usize = self.leaves[..*tree].iter().map(|leaves| leaves.len().ilog2() as usize).sum();
            for b in (0..self.leaves[*tree].len().ilog2() as usize).filter(|b| guess >> b & 1 == 1) {
                rows[first + b] ^= hash(error);
            }
        }
        let x = hash(&self.x).to_le_bytes();
        let mut hasher = Hasher::new_derive_key("comity SoftSpoken OT: hashes of the rows of a chunk");
        hasher.update(&self.session.to_bytes()).update(&self.chunk.to_le_bytes()).update(&challenge).update(&x);
        for row in rows {
            hasher.update(&row.to_le_bytes());
        }
        [&x[..], hasher.finalize().as_bytes()].concat()
    }
}

fn prg(seed: Block) -> Prg {
    Prg::new(Backend::detect(), seed)
}

/// GF(2^128), bit by bit.
fn multiply(mut a: u128, b: u128) -> u128 {
    let mut product = 0;
    for i in 0..128 {
        product ^= a * (b >> i & 1);
        a = (a << 1) ^ (0x87 * (a >> 127));
    }
    product
}
