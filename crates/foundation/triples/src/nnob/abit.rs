//! `aBit`: authenticated bits under a key that does not leak, by privacy amplification (figure 9).
//!
//! The key holder draws a matrix of 128 rows and `tau` columns and sends its seed when the comparison of LaBit is over.
//! MACs and keys are multiplied by it: `A M_j = A K_j + x_j A Gamma`.
//!
//! **The key.** In the figure `A Gamma` is the global key. Here the key holder draws its key `Delta`
//! beforehand, with the bits that every [`GlobalKey::of`] has fixed, and announces with the matrix the
//! *offset* `b = Delta + A Gamma`, which the MAC holder adds to the MACs of ones: `M_j = A K_j + x_j Delta`.
//! `A Gamma` is uniform for the peer where the figure's key is ([`tau`](super::tau)), and so `b` is a
//! one-time pad of `Delta`, and tells nothing. This also gives every chunk the same key. Bit 0 of all keys
//! and MACs is replaced: `K_j` has zero, `M_j` the bit `x_j`, as `Delta` has a one there.
//!
//! **Chunks.** A session's bits come in chunks of 2^16 each way. Each has OTs ([`Seeds`]), choices, pairing, matrix and
//! offset of its own: the pairing of one chunk is known when the next begins, and one that is known finds nothing. So a
//! cheating key holder might give every chunk another `Delta`, and then a MAC on a sum over two chunks would tell it
//! both bits. Hence the *test for one key*, which is the test of figure 12 across chunks: the holder of `s` spare bits
//! of either chunk announces the sums of two `e = x + x'`, and `M + M'` is compared with `K + K' + e Delta`. For two
//! keys the key holder must guess every `x`: it passes with probability `2^-s`. A holder that announces another sum
//! must guess `Delta`.
//!
//! **Cost** a bit: see [`labit`](super::labit), and a product with a public matrix by the method of four Russians: sums
//! of four rows are tabulated, and a row of the product is the sum of `tau / 4` of them.

use comity_channel::Channel;
use comity_core::{Backend, Block, Error, Prg, Result, declassify, transpose};
use comity_protocol::Conduct;
use zeroize::{Zeroize, Zeroizing};

use super::conduct::Act;
use super::context::{Context, Packed};
use super::labit::LaBit;
use super::ot::Seeds;
use super::wabit::Half;
use crate::checks;
use crate::deal::stopped;

/// The sizes that a session keeps to.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Bits of the weak keys.
    pub(super) tau: usize,
    /// Bits of a chunk each way, a multiple of 2048.
    pub(super) columns: usize,
    /// Bits of a chunk that are spent on the test for one key.
    pub(super) spares: usize,
    /// The most chunks of a session.
    pub(super) chunks: u64,
}

impl Shape {
    /// The bits of a chunk that are kept back: the seeds of the next one, and those that its test uses up.
    fn reserve(&self) -> usize {
        2 * self.tau + self.spares
    }
}

/// The source of both parties' authenticated bits.
pub(super) struct ABits {
    shape: Shape,
    labit: LaBit,
    /// The bits of a chunk: those before `used` are gone, the last ones kept back.
    macs: Stock,
    keys: Stock,
    next: Next,
    /// The number of chunks that the session may still take.
    left: u64,
}

/// The seeds that the next chunk starts from.
enum Next {
    /// The first one: these OTs, or base OTs that are yet to be made.
    First(Option<Seeds>),
    /// The bits that the last one kept back.
    Kept,
    /// The chunk is lost: it was begun and not ended. Its remaining bits may be zeros, and seeds of zeros
    /// would announce the key.
    Lost,
}

/// Bits of a chunk in one direction.
struct Stock {
    blocks: Zeroizing<Vec<Block>>,
    used: usize,
    /// The end of the bits to give out: those that are kept back begin here.
    end: usize,
}

impl Stock {
    fn new(columns: usize) -> Stock {
        Stock { blocks: Zeroizing::new(vec![Block::ZERO; columns]), used: 0, end: 0 }
    }

    fn take(&mut self, out: &mut [Block]) -> usize {
        let n = out.len().min(self.end - self.used);
        let taken = &mut self.blocks[self.used..self.used + n];
        out[..n].copy_from_slice(taken);
        taken.zeroize();
        self.used += n;
        n
    }
}

impl ABits {
    /// Bits in chunks of this shape. The first chunk comes from these OTs, `2 tau` each way; without them
    /// from base OTs, which the first [`ABits::draw`] makes.
    pub(super) fn new(shape: Shape, first: Option<Seeds>) -> ABits {
        assert!(
            shape.columns.is_multiple_of(STRIP * 8) && shape.columns > 2 * shape.reserve(),
            "a chunk feeds the next"
        );
        let (labit, stock) = (LaBit::new(shape.tau, shape.columns), || Stock::new(shape.columns));
        ABits { shape, labit, macs: stock(), keys: stock(), next: Next::First(first), left: shape.chunks }
    }

    /// The next random bits: MACs on this party's, keys to the peer's. The peer asks for as many, the other way round.
    pub(super) fn draw(
        &mut self,
        context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
        ch: &mut dyn Channel,
        macs: &mut [Block],
        keys: &mut [Block],
    ) -> Result<()> {
        let (mut own, mut theirs) = (0, 0);
        loop {
            own += self.macs.take(&mut macs[own..]);
            theirs += self.keys.take(&mut keys[theirs..]);
            if own == macs.len() && theirs == keys.len() {
                return Ok(());
            }
            self.refill(context, ch)?;
        }
    }

    /// The next chunk, both ways. When one direction runs out, the rest of the other direction is dropped.
    fn refill(&mut self, context: &mut Context<impl for<'a> Conduct<Act<'a>>>, ch: &mut dyn Channel) -> Result<()> {
        let Shape { tau, columns, spares, chunks } = self.shape;
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Error::invalid_input(format!(
                "the session was planned for {chunks} chunks of {columns} bits and wants more: start a new one, planned for all"
            ))
        })?;
        let kept = columns - self.shape.reserve();
        let tail = |stock: &Stock| Zeroizing::new(stock.blocks[kept..].to_vec());
        let (mut macs, mut keys) = (tail(&self.macs), tail(&self.keys));
        let (seeds, first) = match std::mem::replace(&mut self.next, Next::Lost) {
            Next::First(Some(seeds)) => (seeds, true),
            Next::First(None) => (Seeds::base(context, ch, 2 * tau)?, true),
            Next::Kept => {
                let [macs, keys] = [&mut macs, &mut keys].map(|bits| Zeroizing::new(bits.split_off(spares)));
                (Seeds::extend(context, macs, keys), false)
            }
            Next::Lost => return Err(stopped()),
        };
        self.labit.run(context, ch, &seeds)?;
        self.amplify(context, ch)?;
        if !first {
            macs.iter_mut().zip(&self.macs.blocks[..spares]).for_each(|(sum, mac)| *sum ^= *mac);
            keys.iter_mut().zip(&self.keys.blocks[..spares]).for_each(|(sum, key)| *sum ^= *key);
            same(context, ch, &mut macs, &mut keys)?;
        }
        for stock in [&mut self.macs, &mut self.keys] {
            (stock.used, stock.end) = (spares, kept);
        }
        self.next = Next::Kept;
        Ok(())
    }

    /// Figure 9, both ways.
    fn amplify(&mut self, context: &mut Context<impl for<'a> Conduct<Act<'a>>>, ch: &mut dyn Channel) -> Result<()> {
        let backend = context.backend;
        // 2. The key holder's matrix, and what makes the key of it.
        let seed = declassify(context.block(), "the peer is told the matrix");
        let matrix = Matrix::new(backend, seed, self.shape.tau);
        let mut offset = matrix.times(&self.labit.y) ^ context.key.block();
        context.conduct.before(Act::Offset(&mut offset));
        let mut theirs = [0; 32];
        ch.exchange(&[seed.to_bytes(), offset.to_bytes()].concat(), &mut theirs)?;
        let [seed, offset]: [Block; 2] = std::array::from_fn(|i| Block::new(theirs.as_chunks().0[i]));
        // 3. and 4.
        matrix.apply(backend, self.labit.keys(), &mut self.keys.blocks);
        self.keys.blocks.iter_mut().for_each(|key| *key = key.with_lsb(false));
        Matrix::new(backend, seed, self.shape.tau).apply(backend, self.labit.macs(), &mut self.macs.blocks);
        let gamma = &self.labit.gamma;
        for (j, mac) in self.macs.blocks.iter_mut().enumerate() {
            let x = gamma[j / 8] >> (j % 8) & 1 == 1;
            *mac = (*mac ^ offset.masked(x)).with_lsb(x);
        }
        Ok(())
    }
}

/// The test for one key: sums of MACs of the last chunk and of this one, and of keys.
fn same(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    ch: &mut dyn Channel,
    macs: &mut [Block],
    keys: &mut [Block],
) -> Result<()> {
    let sums = Packed::lsbs(macs).exchange(ch, keys.len())?;
    let delta = context.key.block();
    keys.iter_mut().enumerate().for_each(|(j, key)| *key ^= delta.masked(sums.get(j)));
    context.conduct.before(Act::Same(keys));
    let mut hasher = blake3::Hasher::new();
    // First the bits of party 0.
    let [first, second] = if context.party.0 == 0 { [macs, keys] } else { [keys, macs] };
    hasher.update(Block::bytes_of(first)).update(Block::bytes_of(second));
    context.equal(ch, &hasher, checks::LEAKY_BIT)
}

/// Bytes of the columns that are multiplied at a time: tables and sums stay in a first-level cache.
const STRIP: usize = 256;
/// Rows in a table, and tables of which sums are made at a time.
const TABLE: usize = 4;
const TABLES: usize = 8;

/// The matrix of figure 9, 128 rows, as the numbers of what each row takes from each table.
struct Matrix {
    tau: usize,
    /// For each four columns of the matrix 128 numbers below 16.
    picks: Vec<[u8; 128]>,
}

impl Matrix {
    fn new(backend: Backend, seed: Block, tau: usize) -> Matrix {
        let mut picks = vec![[0; 128]; tau.div_ceil(TABLE)];
        Prg::new(backend, seed).fill(picks.as_flattened_mut());
        picks.as_flattened_mut().iter_mut().for_each(|pick| *pick &= 15);
        Matrix { tau, picks }
    }

    /// The product with a secret vector.
    fn times(&self, y: &[bool]) -> Block {
        let column = |i: usize| {
            let bit = |r: usize| u128::from(self.picks[i / TABLE][r] >> (i % TABLE) & 1) << r;
            Block::from_u128((0..128).fold(0, |column, r| column | bit(r)))
        };
        y.iter().enumerate().fold(Block::ZERO, |sum, (i, &y)| sum ^ column(i).masked(y))
    }

    /// The products with all columns of `half`.
    fn apply(&self, backend: Backend, half: Half<'_>, out: &mut [Block]) {
        assert!(half.tau() == self.tau && half.columns() == out.len(), "a matrix that fits");
        let mut tables = Zeroizing::new(vec![[[0; STRIP]; 1 << TABLE]; TABLES]);
        let mut sums = Zeroizing::new(vec![[0; STRIP]; 128]);
        for (strip, out) in out.chunks_exact_mut(8 * STRIP).enumerate() {
            sums.as_flattened_mut().fill(0);
            for (first, picks) in (0..).step_by(TABLES).zip(self.picks.chunks(TABLES)) {
                for (t, table) in tables.iter_mut().enumerate().take(picks.len()) {
                    for row in 0..TABLE {
                        let i = (first + t) * TABLE + row;
                        // Beyond the last row there are rows of zeros.
                        let bytes = if i < self.tau { half.row(i)[strip * STRIP..].first_chunk() } else { None };
                        let bytes = bytes.unwrap_or(&[0; STRIP]);
                        let (known, new) = table.split_at_mut(1 << row);
                        for (known, new) in known.iter().zip(new) {
                            (0..STRIP).for_each(|i| new[i] = known[i] ^ bytes[i]);
                        }
                    }
                }
                if let Some(picks) = picks.first_chunk::<TABLES>() {
                    for (r, sum) in sums.iter_mut().enumerate() {
                        add_all(sum, std::array::from_fn(|t| &tables[t][usize::from(picks[t][r] & 15)]));
                    }
                } else {
                    for (table, picks) in tables.iter().zip(picks) {
                        sums.iter_mut().zip(picks).for_each(|(sum, &pick)| add(sum, &table[usize::from(pick & 15)]));
                    }
                }
            }
            transpose(backend, sums.as_flattened(), Block::bytes_of_mut(out), 128, 8 * STRIP);
        }
    }
}

/// Adds a row.
fn add(sum: &mut [u8; STRIP], row: &[u8; STRIP]) {
    sum.iter_mut().zip(row).for_each(|(sum, row)| *sum ^= row);
}

/// Adds rows, one of each table. Eight streams at a time keep the sum's loads and stores few.
#[inline(always)]
fn add_all(sum: &mut [u8; STRIP], [a, b, c, d, e, f, g, h]: [&[u8; STRIP]; TABLES]) {
    (0..STRIP).for_each(|i| sum[i] ^= a[i] ^ b[i] ^ c[i] ^ d[i] ^ e[i] ^ f[i] ^ g[i] ^ h[i]);
}
