//! `Openings`: bits that all parties open to all, and the check that nobody opened another share than it has.
//!
//! **What is said** of a bit is the party's share and a [zero-share](crate::zero_shares): the share as it is
//! could tell its holder's inputs. So are the products of the check below, each for its recipient alone. Two
//! parties need none: either knows the other's share with the value.
//!
//! **Check**, by products of rows, for any number of bits. Shares of bits are said to all, in the
//! [echo](Echo). When some bits are fixed, their coefficients are a hash of the echo; [`Openings::settle`]
//! has party `i` send party `j`, alone, `m_ij = sum chi_k Z_j[k]` over all bits `k` with the blocks of its
//! rows that belong to the global key of `j`, and a zero-share among all but `j`. Party `j` requires that the
//! sum of the `m_ij` is `sum chi_k (Z_j[k] + x_k R_j)` of its own row, where `x_k` are the bits as it heard
//! them. With it goes the digest of the echo.
//!
//! **Sound.** The blocks of all rows for `R_j` add up to `x_k R_j`. A lie in a bit, a zero-share or a product
//! is an error that is added. With false bits, not all zero, `e_k`, liars need `sum chi_k e_k R_j`: 2^-128
//! for the sum to be zero, as the coefficients come after the bits (for each hash that they try), and 2^-126
//! for a guess of the key of an honest `j`. So whether `j` goes on depends on the lies and its key, and on no
//! share of an honest party; that the liars are many helps them nothing. Bits that are told differently show
//! in the digest of the echo. Only sums are checked, so nobody is named.
//!
//! **What the products tell.** All `m_ij` of honest `i` that heard the same are uniform but for their sum,
//! which follows from the liars' own products, the bits and `j`'s row: `j` could have computed it, whatever
//! it told them. Without zero-shares each would be the share of `i` of every bit, times its coefficient,
//! under keys that `j` has: for `j` as good as the shares. Those of parties that heard different things, in
//! the echo or of coefficients, are uniform without any sum: zero-shares are [bound](crate::zero_shares) to
//! what was heard. Nothing depends on the sender's own global key, so bits may be opened while secrets are
//! masked under it. What is *not* done: to show the sum of all rows plus `x_k R_i`, blind it and open it, as
//! for a shared key that hides nothing: after one false bit the sum of the honest parties' openings would be
//! a known factor times the sum of their global keys.
//!
//! **When.** Nothing that depends on opened bits and would harm if they were false leaves before they are
//! settled. Coefficients are drawn for some thousand bits at a time, so that no more rows wait.
//!
//! **To some only** ([`Openings::open_each`]). Here there is no echo to hash: each recipient names its own
//! coefficients when it has all shares. To open the bit plus a bit of the recipient's own to all would show
//! all other parties' shares of it to all. Zero-shares are for each recipient by itself, among all others,
//! who may be recipients too: with one for all recipients, two of them would hear the same sum twice, and
//! with one among those who are no recipients, who may be one party alone, nothing would be hidden.
//!
//! **Cost** of a bit and party: a bit to each peer, and a product for each party. A settlement: 48 bytes to
//! each peer, one round. Zero-shares take a bit of a generator's stream for each bit and peer, and no
//! message.

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, SessionId, gf128, verdict};
use comity_protocol::Conduct;
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::checks;
use crate::forms::RowShares;
use crate::joint::JointAct;
use crate::joint::talk::{Beside, Talk};
use crate::share::GlobalKey;
use crate::zero_shares::{Pads, PairSeeds};

/// Bits whose rows wait at most before they get their coefficients, if they are opened a few at a time. With
/// more they get them at once.
const WAITING: usize = 1 << 12;

/// Coefficients that are drawn at a time: they stay in the first-level cache.
const COEFFICIENTS: usize = 1 << 10;

/// The bits that were opened, and are yet to be checked.
pub struct Openings {
    key: GlobalKey,
    backend: Backend,
    echo: Echo,
    pads: Pads,
    /// RowShares of bits that have no coefficients yet, column by column, and the bits as they were heard. Secret.
    waiting: Vec<Vec<Block>>,
    heard: Bits,
    /// For each peer the sum that it is sent, and for this party the sum that the others must send. Secret.
    sums: Vec<Block>,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
}

impl Openings {
    /// No openings yet. The `session`, the same at all parties, serves nothing else and contains a nonce of
    /// each party; `key` is this party's global key, and `seeds` came with it. Several openings may use the
    /// same seeds: the session keeps apart what hides their bits.
    pub fn new(session: SessionId, backend: Backend, key: GlobalKey, seeds: &PairSeeds) -> Openings {
        let pads = Pads::new(&session, backend, seeds);
        let n = usize::from(pads.parties());
        Openings {
            key,
            backend,
            echo: Echo::new(session),
            pads,
            waiting: vec![Vec::new(); n],
            heard: Bits::default(),
            sums: vec![Block::ZERO; n],
            broken: false,
        }
    }

    /// Opens these bits to all. They may be false: nothing that relies on them may leave before they are
    /// [settled](Openings::settle). One round.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) after an earlier error; those of the channels.
    pub fn open(
        &mut self,
        mesh: &mut Mesh<'_>,
        rows: &RowShares,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> Result<Bits> {
        let nothing = Beside::nothing(mesh);
        self.open_beside(mesh, rows, &nothing, conduct).map(|(bits, _)| bits)
    }

    /// As [`Openings::open`], with another message at the same time; also returns what it heard of that one.
    ///
    /// # Errors
    /// As [`Openings::open`].
    pub fn open_beside(
        &mut self,
        mesh: &mut Mesh<'_>,
        rows: &RowShares,
        beside: &Beside,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> Result<(Bits, PerPeer<Vec<u8>>)> {
        const WHAT: &str = "opened bits";
        self.begin()?;
        assert_eq!(usize::from(rows.parties()), self.waiting.len(), "rows of these parties");
        let number = self.pads.next();
        conduct.before(JointAct::Hides { what: WHAT, to: None, bare: &rows.shares().to_bytes() });
        let mut bits = self.pads.blind(rows, &number, None, &self.echo.digest());
        let mut own = bits.to_bytes();
        conduct.before(JointAct::Tells { what: WHAT, bytes: &mut own });
        let mut talk = Talk { mesh, echo: &mut self.echo, conduct };
        let out = talk.each(|_| own.clone());
        let [heard, theirs] = talk.send_beside(WHAT, out, own.len(), beside)?;
        talk.echo.hear(WHAT, &own, &heard);
        for (_, bytes) in heard.iter() {
            bits.xor_assign(&Bits::from_bytes(bytes, rows.len()));
        }
        if self.heard.len() + bits.len() < WAITING {
            for (waiting, column) in self.waiting.iter_mut().zip(rows.columns()) {
                grow(waiting, column);
            }
            self.heard.extend_from(&bits);
        } else {
            self.weigh(rows.me().0.into(), Some((rows, &bits)));
        }
        self.broken = false;
        Ok((bits, theirs))
    }

    /// Opens these bits to some parties, and checks them. Returns the value if this party is one of them.
    /// Three rounds.
    ///
    /// # Errors
    /// As [`Openings::open_each`].
    pub fn open_to(
        &mut self,
        mesh: &mut Mesh<'_>,
        includes: impl Fn(PartyId) -> bool,
        rows: &RowShares,
        rng: &mut dyn CryptoRng,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> Result<Option<Bits>> {
        self.open_each(mesh, |party| includes(party).then_some(rows), rng, conduct)
    }

    /// Opens to each party the bits of its rows, and checks them. Returns the value if there are rows for
    /// this party. Three rounds.
    ///
    /// The shares go to each recipient alone. When it has all of them, it names coefficients, and each party
    /// answers with the products of its rows' blocks for the recipient's global key, as in a settlement.
    /// Earlier openings must be [settled](Openings::settle).
    ///
    /// # Errors
    /// [`WRONG_MAC`](checks::WRONG_MAC), which names no party; [`InvalidInput`](comity_core::Kind) after an
    /// earlier error; those of the channels.
    pub fn open_each<'r>(
        &mut self,
        mesh: &mut Mesh<'_>,
        rows: impl Fn(PartyId) -> Option<&'r RowShares>,
        rng: &mut dyn CryptoRng,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> Result<Option<Bits>> {
        const SHARES: &str = "shares for some";
        const PRODUCTS: &str = "products for some";
        self.begin()?;
        let (me, parties, backend) = (mesh.me(), mesh.parties(), self.backend);
        let mine = rows(me);
        let (number, view) = (self.pads.next(), self.echo.digest());
        let out = PerPeer::new(me, parties, |peer| {
            rows(peer).map_or(Vec::new(), |rows| {
                conduct.before(JointAct::Hides { what: SHARES, to: Some(peer), bare: &rows.shares().to_bytes() });
                self.pads.blind(rows, &number, Some(peer), &view).to_bytes()
            })
        });
        let mut talk = Talk { mesh, echo: &mut self.echo, conduct };
        let shares = talk.send(SHARES, out, |_| mine.map_or(0, |rows| rows.len().div_ceil(8)))?;
        // Nobody knows them before all shares are here.
        let seed = Block::random(rng);
        let out = talk.each(|_| if mine.is_some() { seed.to_bytes().to_vec() } else { Vec::new() });
        let seeds = talk.send("coefficients", out, |peer| if rows(peer).is_some() { Block::BYTES } else { 0 })?;
        let weighed = |seed: Block, column: &[Block]| {
            let mut coefficients = vec![Block::ZERO; column.len()];
            Prg::new(backend, seed).fill_blocks(&mut coefficients);
            gf128::inner_product(backend, &coefficients, column)
        };
        let out = PerPeer::new(me, parties, |peer| match (rows(peer), seeds[peer].as_chunks()) {
            (Some(rows), ([seed], [])) => {
                let product = weighed(Block::new(*seed), rows.column(peer));
                talk.conduct.before(JointAct::Hides { what: PRODUCTS, to: Some(peer), bare: &product.to_bytes() });
                // What this recipient named to this party.
                let view = [&view[..], seed].concat();
                self.pads.blind_product(product, &number, peer, &view).to_bytes().to_vec()
            }
            _ => Vec::new(),
        });
        let products = talk.send(PRODUCTS, out, |_| if mine.is_some() { Block::BYTES } else { 0 })?;
        let mut value = None;
        if let Some(rows) = mine {
            let mut bits = rows.shares();
            for (_, bytes) in shares.iter() {
                bits.xor_assign(&Bits::from_bytes(bytes, rows.len()));
            }
            // The rows of all add up to this.
            let delta: Vec<Block> = bits.iter().map(|bit| self.key.block().masked(bit)).collect();
            let mut sum = weighed(seed, &Zeroizing::new(delta)) ^ weighed(seed, rows.column(me));
            for (_, bytes) in products.iter() {
                let (blocks, _) = bytes.as_chunks();
                sum ^= Block::new(blocks[0]);
            }
            if !verdict(sum.ct_eq(&Block::ZERO)) {
                return Err(Error::from(checks::WRONG_MAC));
            }
            value = Some(bits);
        }
        self.broken = false;
        Ok(value)
    }

    /// *Input*: turns rows of bits that `owner` alone knows into rows of its value, which is `Some` at the
    /// owner and `None` elsewhere. The owner sends the value, masked by the bits, to all, and these add what
    /// they received. Whether all received the same is only known when it is [settled](Openings::settle). One
    /// round.
    ///
    /// # Errors
    /// As [`Openings::open`].
    ///
    /// # Panics
    /// If the value has another length.
    pub fn input(
        &mut self,
        mesh: &mut Mesh<'_>,
        owner: PartyId,
        value: Option<&Bits>,
        rows: &mut RowShares,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> Result<()> {
        const WHAT: &str = "announced bits";
        self.begin()?;
        let own = value.map_or(Vec::new(), |value| {
            let mut masked = rows.shares();
            masked.xor_assign(value);
            masked.to_bytes()
        });
        let mut talk = Talk { mesh, echo: &mut self.echo, conduct };
        let out = talk.each(|_| own.clone());
        let heard = talk.send(WHAT, out, |peer| if peer == owner { rows.len().div_ceil(8) } else { 0 })?;
        talk.echo.hear(WHAT, &own, &heard);
        let said = if talk.me() == owner { &own } else { &heard[owner] };
        rows.add_constants(&Bits::from_bytes(said, rows.len()), &self.key);
        self.broken = false;
        Ok(())
    }

    /// Checks all bits that were opened since the last check. After an error no party may use its global key
    /// again. One round.
    ///
    /// # Errors
    /// [`WRONG_MAC`](checks::WRONG_MAC) or [`EQUIVOCATION`](checks::EQUIVOCATION), which name no party;
    /// [`InvalidInput`](comity_core::Kind) after an earlier error; those of the channels.
    pub fn settle(&mut self, mesh: &mut Mesh<'_>, conduct: &mut impl for<'a> Conduct<JointAct<'a>>) -> Result<()> {
        let nothing = Beside::nothing(mesh);
        self.settle_beside(mesh, &nothing, conduct).map(drop)
    }

    /// As [`Openings::settle`], with another message at the same time; returns what it heard of that one. The
    /// message must do no harm if the bits are false.
    ///
    /// # Errors
    /// As [`Openings::settle`].
    pub fn settle_beside(
        &mut self,
        mesh: &mut Mesh<'_>,
        beside: &Beside,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> Result<PerPeer<Vec<u8>>> {
        const WHAT: &str = "settlement";
        self.begin()?;
        let me = usize::from(mesh.me().0);
        self.weigh(me, None);
        let (number, digest) = (self.pads.next(), self.echo.digest());
        let out = PerPeer::new(mesh.me(), mesh.parties(), |peer| {
            let product = self.sums[usize::from(peer.0)];
            conduct.before(JointAct::Hides { what: WHAT, to: Some(peer), bare: &product.to_bytes() });
            let product = self.pads.blind_product(product, &number, peer, &digest);
            [&product.to_bytes()[..], &digest].concat()
        });
        let mut talk = Talk { mesh, echo: &mut self.echo, conduct };
        let [heard, theirs] = talk.send_beside(WHAT, out, Block::BYTES + 32, beside)?;
        talk.echo.compare(heard.iter().map(|(_, bytes)| &bytes[Block::BYTES..]))?;
        let mut sum = self.sums[me];
        for (_, bytes) in heard.iter() {
            let (blocks, _) = bytes.as_chunks();
            sum ^= Block::new(blocks[0]);
        }
        if !verdict(sum.ct_eq(&Block::ZERO)) {
            return Err(Error::from(checks::WRONG_MAC));
        }
        self.sums.fill(Block::ZERO);
        self.broken = false;
        Ok(theirs)
    }

    /// Gives the bits that wait their coefficients, and then those of further rows: all are fixed, and so is
    /// everything before them. One stream is for all of them, since two bits with one coefficient could be
    /// false together.
    fn weigh(&mut self, me: usize, further: Option<(&RowShares, &Bits)>) {
        if self.heard.is_empty() && further.is_none() {
            return;
        }
        let seed = blake3::derive_key("comity shares: coefficients of opened bits", &self.echo.digest());
        let mut prg = Prg::new(self.backend, Block::new(std::array::from_fn(|i| seed[i])));
        let mut ones = Block::ZERO;
        let waiting: Vec<&[Block]> = self.waiting.iter().map(|column| &column[..]).collect();
        ones ^= add(self.backend, &mut prg, &mut self.sums, &waiting, &self.heard);
        if let Some((rows, bits)) = further {
            let columns: Vec<&[Block]> = rows.columns().collect();
            ones ^= add(self.backend, &mut prg, &mut self.sums, &columns, bits);
        }
        self.sums[me] ^= gf128::mul(self.backend, ones, self.key.block());
        for column in &mut self.waiting {
            column.as_mut_slice().zeroize();
            column.clear();
        }
        self.heard = Bits::default();
    }

    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::invalid_input("no more bits can be opened after an earlier error: start a new session"));
        }
        Ok(())
    }
}

/// Adds to each sum the products of its column with coefficients from the generator. Returns the sum of the
/// coefficients of bits that are one.
fn add(backend: Backend, prg: &mut Prg, sums: &mut [Block], columns: &[&[Block]], bits: &Bits) -> Block {
    let mut ones = Block::ZERO;
    let mut coefficients = [Block::ZERO; COEFFICIENTS];
    for (start, words) in (0..bits.len()).step_by(COEFFICIENTS).zip(bits.words().chunks(COEFFICIENTS / 64)) {
        let range = start..bits.len().min(start + COEFFICIENTS);
        let coefficients = &mut coefficients[..range.len()];
        prg.fill_blocks(coefficients);
        for (coefficients, word) in coefficients.chunks(64).zip(words) {
            for (i, coefficient) in coefficients.iter().enumerate() {
                ones ^= coefficient.masked(word >> i & 1 == 1);
            }
        }
        for (sum, column) in sums.iter_mut().zip(columns) {
            *sum ^= gf128::inner_product(backend, coefficients, &column[range.clone()]);
        }
    }
    ones
}

/// Appends blocks. Memory that is moved is wiped where it was.
fn grow(to: &mut Vec<Block>, more: &[Block]) {
    if to.capacity() - to.len() < more.len() {
        let mut grown = Vec::with_capacity((to.len() + more.len()).next_power_of_two());
        grown.extend_from_slice(to);
        to.zeroize();
        *to = grown;
    }
    to.extend_from_slice(more);
}

impl Drop for Openings {
    fn drop(&mut self) {
        self.waiting.zeroize();
        self.sums.zeroize();
    }
}
