//! Zero-shares: what hides a party's share of something that is opened.
//!
//! **Why.** Shares of a bit are not always random: of the mask of an input all are zero but its owner's.
//! Where an output is the sum of inputs of three parties or more, the share of each is the sum of the masks
//! of its own inputs, and all have heard these inputs masked: whoever sees the share as it is knows the
//! inputs. So what leaves is the share and a zero-share: those of all who say something add up to zero, and
//! without that of one honest party the others' are uniform.
//!
//! **How.** Each two parties have a seed that both made ([`PairSeeds`]). A zero-share is the sum of a stream
//! with each other member of a group: both of a pair add the same ([`ZeroShares`]). Whatever a cheat does
//! with its own seeds, the stream of two honest parties is theirs alone.
//!
//! **Bound to what was heard** (`Pads`). A stream's seed is a hash of what is hidden, for whom, the number of
//! the call, and the view of the party: the digest of all that was said to all, or the coefficients that a
//! recipient named. Honest parties of one view have zero-shares. Those of different views, because somebody
//! said different things to them, have streams that have nothing to do with each other, and what each says is
//! uniform. Were it not so, somebody could name different coefficients to two parties and find what they hide
//! in the sum: they hide two different sums of their shares by the same stream.
//!
//! **Never twice.** The key of a pair is a hash of its seed and of the session, and one counter goes through
//! all calls of a session.
//!
//! Of two parties either knows the other's share with the value: they hide nothing.

use comity_channel::PerPeer;
use comity_core::{Backend, Bits, Block, PartyId, Prg, SessionId};
use zeroize::{Zeroize, Zeroizing};

use crate::forms::RowShares;

/// A seed with each peer, made by both: no third party knows the seed of two honest ones. Secret; wiped on
/// drop.
#[derive(Clone)]
pub struct PairSeeds(PerPeer<Block>);

impl PairSeeds {
    /// The seeds made of two halves each: the one that this party sent to the peer, and the one that it
    /// received.
    pub fn new(session: &SessionId, own: &PerPeer<Block>, heard: &PerPeer<Block>) -> PairSeeds {
        let (me, session) = (own.me(), session.to_bytes());
        PairSeeds(PerPeer::new(me, own.parties(), |peer| {
            let (own, heard) = (own[peer], heard[peer]);
            let (lower, higher) = if me < peer { (own, heard) } else { (heard, own) };
            let mut hash = blake3::Hasher::new_derive_key("comity shares: seed of a pair");
            hash.update(&session).update(Block::bytes_of(&[lower, higher]));
            let mut seed = Zeroizing::new([0; Block::BYTES]);
            hash.finalize_xof().fill(&mut *seed);
            Block::new(*seed)
        }))
    }

    /// Seeds from a store, one for each peer in order.
    pub fn stored(seeds: PerPeer<Block>) -> PairSeeds {
        PairSeeds(seeds)
    }

    /// The seed of two parties, who hide nothing from each other by a zero-share: a constant that nothing
    /// depends on.
    pub fn of_two(me: PartyId) -> PairSeeds {
        PairSeeds(PerPeer::new(me, 2, |_| Block::ZERO))
    }

    /// The seeds, one for each peer in order, to be stored.
    pub fn iter(&self) -> impl Iterator<Item = (PartyId, &Block)> {
        self.0.iter()
    }

    /// A stream with each peer, the same at both. No other use may have the session.
    pub fn streams(&self, backend: Backend, session: &SessionId) -> PerPeer<Prg> {
        PerPeer::new(self.0.me(), self.0.parties(), |peer| {
            Prg::new(backend, first_block(&key(session, self.0[peer], "comity shares: stream of a pair")))
        })
    }

    /// Zero-shares of all parties, block after block. No other use may have the session.
    pub fn zero_shares(&self, backend: Backend, session: &SessionId) -> ZeroShares {
        ZeroShares(self.streams(backend, session).into_vec())
    }
}

impl Drop for PairSeeds {
    fn drop(&mut self) {
        self.0.as_mut_slice().iter_mut().for_each(Zeroize::zeroize);
    }
}

/// The key of a pair in a session.
fn key(session: &SessionId, seed: Block, context: &str) -> Zeroizing<[u8; 32]> {
    let mut hash = blake3::Hasher::new_derive_key(context);
    hash.update(&session.to_bytes()).update(&*Zeroizing::new(seed.to_bytes()));
    Zeroizing::new(*hash.finalize().as_bytes())
}

fn first_block(bytes: &[u8; 32]) -> Block {
    Block::new(std::array::from_fn(|i| bytes[i]))
}

/// One party's zero-shares: the sums of its streams with the other members.
pub struct ZeroShares(Vec<Prg>);

impl ZeroShares {
    /// Blocks that are drawn at a time.
    const DRAWN: usize = 1 << 10;

    /// The next zero-share of one block.
    pub fn block(&mut self) -> Block {
        self.0.iter_mut().fold(Block::ZERO, |sum, stream| sum ^ stream.block())
    }

    /// Adds the next zero-shares, one to each block.
    pub fn add_to(&mut self, shares: &mut [Block]) {
        let mut room = Zeroizing::new(vec![Block::ZERO; shares.len().min(ZeroShares::DRAWN)]);
        for shares in shares.chunks_mut(ZeroShares::DRAWN) {
            for stream in &mut self.0 {
                let room = &mut room[..shares.len()];
                stream.fill_blocks(room);
                shares.iter_mut().zip(&*room).for_each(|(share, &block)| *share ^= block);
            }
        }
    }

    /// Adds the next one of some bits.
    fn add_to_bits(&mut self, shares: &mut Bits) {
        let mut room = Zeroizing::new(vec![0; shares.len().div_ceil(8)]);
        for stream in &mut self.0 {
            stream.fill(&mut room);
            shares.xor_assign(&Bits::from_bytes(&room, shares.len()));
        }
    }
}

/// The use of a zero-share: what it hides.
#[derive(Clone, Copy)]
pub(crate) enum Hidden {
    /// Shares of bits.
    Bits,
    /// A product of rows.
    Product,
}

/// The number of a call that opens or checks something.
pub(crate) struct Number(u64);

/// Zero-shares that hide opened bits and the products that check them, each for one call, recipient and view.
pub(crate) struct Pads {
    backend: Backend,
    keys: PerPeer<Zeroizing<[u8; 32]>>,
    count: u64,
}

impl Pads {
    /// The zero-shares of a session, which is used for nothing else.
    pub(crate) fn new(session: &SessionId, backend: Backend, seeds: &PairSeeds) -> Pads {
        let key = |peer| key(session, seeds.0[peer], "comity shares: key of what a pair opens");
        Pads { backend, keys: PerPeer::new(seeds.0.me(), seeds.0.parties(), key), count: 0 }
    }

    /// The number of parties.
    pub(crate) fn parties(&self) -> u16 {
        self.keys.parties()
    }

    /// The number of the next call: all parties make the same ones in the same order.
    pub(crate) fn next(&mut self) -> Number {
        self.count += 1;
        Number(self.count)
    }

    /// This party's shares as they leave it, to all or to one recipient.
    pub(crate) fn blind(&self, rows: &RowShares, number: &Number, to: Option<PartyId>, view: &[u8]) -> Bits {
        let mut shares = rows.shares();
        self.of(Hidden::Bits, number, to, view).add_to_bits(&mut shares);
        shares
    }

    /// This party's product as it leaves it, to one recipient.
    pub(crate) fn blind_product(&self, product: Block, number: &Number, to: PartyId, view: &[u8]) -> Block {
        product ^ self.of(Hidden::Product, number, Some(to), view).block()
    }

    /// Zero-shares among all, or among all but a recipient. Between two parties they are zero.
    fn of(&self, hidden: Hidden, number: &Number, to: Option<PartyId>, view: &[u8]) -> ZeroShares {
        let recipient = to.map_or(u32::MAX, |party| party.0.into());
        let members = self.keys.iter().filter(|(peer, _)| self.parties() > 2 && Some(*peer) != to);
        let stream = |(_, key): (PartyId, &Zeroizing<[u8; 32]>)| {
            let mut hash = blake3::Hasher::new_keyed(key);
            hash.update(&[hidden as u8]).update(&number.0.to_le_bytes()).update(&recipient.to_le_bytes()).update(view);
            Prg::new(self.backend, first_block(&Zeroizing::new(*hash.finalize().as_bytes())))
        };
        ZeroShares(members.map(stream).collect())
    }
}
