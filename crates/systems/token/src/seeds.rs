//! Seeds, and the triples that follow from them.
//!
//! Party 0 has a seed of its shares of `a` and `b`, every other party one of its shares of `a`, `b` and `c`.
//! Party 0's share of `c` is then determined by all seeds, `c_0 = (sum of a)(sum of b) + c_1 + c_2 + ...`,
//! and it is the only thing that grows with the number of triples.
//!
//! Triples are counted in [rows](ROW) of 128, a block each of `a`, `b` and `c`.

use comity_core::{Backend, Block, Prg};
use comity_share::BitTriples;
use comity_share::bits::BitShares;
use zeroize::Zeroizing;

/// Triples of a row.
pub const ROW: usize = 128;

/// Rows that are made at once: three strings of them stay in the first cache.
const PIECE: usize = 512;

/// The seed of one party: the master key under the counter, what was drawn for it, and the party.
pub(crate) fn seed(master: &[u8; 32], counter: u64, drawn: &[u8; 16], party: u16) -> Block {
    let mut hash = blake3::Hasher::new_keyed(master);
    hash.update(b"comity: a seed of a token, version 1").update(&counter.to_le_bytes()).update(drawn);
    hash.update(&party.to_le_bytes());
    let mut seed = [0; 16];
    hash.finalize_xof().fill(&mut seed);
    zeroize::Zeroize::zeroize(&mut hash);
    Block::new(seed)
}

/// The streams of one party's shares.
struct ShareStreams {
    a: Prg,
    b: Prg,
    c: Prg,
}

impl ShareStreams {
    fn new(backend: Backend, seed: Block) -> ShareStreams {
        let mut keys = Prg::new(backend, seed);
        let mut stream = || Prg::new(backend, keys.block());
        ShareStreams { a: stream(), b: stream(), c: stream() }
    }
}

/// Party 0's share of `c` in `rows` rows, where the parties have these seeds.
pub fn product_share(backend: Backend, seeds: &[Block], rows: usize) -> Zeroizing<Vec<Block>> {
    let mut streams: Vec<ShareStreams> = seeds.iter().map(|seed| ShareStreams::new(backend, *seed)).collect();
    let mut c = Zeroizing::new(vec![Block::ZERO; rows]);
    let mut strings = [(); 3].map(|()| Zeroizing::new(vec![Block::ZERO; PIECE.min(rows)]));
    for out in c.chunks_mut(PIECE) {
        let [a, b, share] = strings.each_mut().map(|string| &mut string[..out.len()]);
        let mut others = streams.iter_mut();
        let own = others.next().expect("there is a party 0");
        own.a.fill_blocks(a);
        own.b.fill_blocks(b);
        for other in others {
            other.a.fill_blocks(share);
            add(a, share);
            other.b.fill_blocks(share);
            add(b, share);
            other.c.fill_blocks(share);
            add(out, share);
        }
        for ((c, a), b) in out.iter_mut().zip(&*a).zip(&*b) {
            *c ^= *a & *b;
        }
    }
    c
}

fn add(to: &mut [Block], share: &[Block]) {
    to.iter_mut().zip(share).for_each(|(to, share)| *to ^= *share);
}

/// The triples of a party with this seed: of party 0 with its share of `c`, of another one with a number of
/// rows.
pub(crate) fn triples(backend: Backend, seed: Block, share_of_c: Share) -> BitTriples {
    let mut streams = ShareStreams::new(backend, seed);
    let rows = match &share_of_c {
        Share::Told(c) => c.len(),
        Share::Drawn(rows) => *rows,
    };
    let drawn = |prg: &mut Prg| {
        let mut blocks = Zeroizing::new(vec![Block::ZERO; rows]);
        prg.fill_blocks(&mut blocks);
        shares(&blocks)
    };
    let (a, b) = (drawn(&mut streams.a), drawn(&mut streams.b));
    let c = match share_of_c {
        Share::Told(c) => shares(&c),
        Share::Drawn(_) => drawn(&mut streams.c),
    };
    BitTriples::new(a, b, c)
}

/// A party's share of `c`.
pub(crate) enum Share {
    /// The token told it.
    Told(Zeroizing<Vec<Block>>),
    /// It follows from the seed, in this number of rows.
    Drawn(usize),
}

fn shares(blocks: &[Block]) -> BitShares {
    let words = blocks.iter().flat_map(|block| {
        let bits = block.to_u128();
        [bits as u64, (bits >> 64) as u64]
    });
    // With its room at once: what a vector leaves behind when it grows is not wiped.
    let mut all = Vec::with_capacity(2 * blocks.len());
    all.extend(words);
    BitShares::from_words(all, ROW * blocks.len())
}
