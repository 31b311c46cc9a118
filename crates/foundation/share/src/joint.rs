//! `Joint`: authenticated bits of any number of parties, from OT extension between every two of them.
//!
//! **Functionality**: random bits of which each party has a share, with MACs under every other party's one
//! global key: in the forms of [`forms`](crate::forms). **Adversary**: malicious, all parties but one,
//! static; an error ends the keys of all.
//!
//! **How.** Between every two parties an extension runs both ways ([`TwoWay`]): its correlation is that of
//! MACs. Two things are to be made sure of beyond what each pair sees: that a party has one global key
//! towards all ([`deltas`], once, at set-up), and that it has one string of shares towards all ([`alike`],
//! for each chunk before it is used). [`zero`] tests whether shares sum up to zero without showing them, and
//! [`opening`](crate::opening) checks bits that were opened.
//!
//! **The rule of every check.** No message in the clear depends on its sender's own global key, unless
//! nothing secret has been or will be masked under this key before the check has passed. Each module says why
//! its check keeps to it. A check that has begun and not passed, whatever the reason, ends the key: a
//! [`Joint`] refuses to go on after an error, and its owner sees to it that nothing else is used that was
//! made under the same keys.
//!
//! **Order.** All coins are committed to before the first is opened, in the echo; a coin is opened when all
//! that it decides on has been received ([`coins`]).
//!
//! **Cost** of a bit, to each peer: 4 bytes, and a product in GF(2^128) for every 128 bits and row of the
//! extension. A chunk of up to 262,016 bits takes four rounds. Set-up: the base OTs of one direction with
//! each peer, and some fourteen rounds, in which a first chunk is made, too, for a party that says that it
//! will want one ([`Provisions`]).

mod act;
pub mod alike;
pub mod coins;
pub mod deltas;
mod first;
pub(crate) mod talk;
pub mod zero;

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, SessionId};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_ot::softspoken::TwoWay;
use comity_protocol::{Conduct, Here, Honest};
use rand_core::CryptoRng;

pub use act::JointAct;
use coins::Coins;
use first::{COMMITMENTS, First};
use talk::Talk;

#[cfg(doc)]
use crate::checks;
use crate::forms::Pairwise;
use crate::share::GlobalKey;
use crate::zero_shares::{PairSeeds, ZeroShares};

/// Levels of the extensions' trees: 128/k bits an OT on the wire.
const LEVELS: usize = 4;

/// One party of several that make authenticated bits together.
pub struct Joint<C = Honest> {
    me: PartyId,
    parties: u16,
    session: SessionId,
    backend: Backend,
    key: GlobalKey,
    links: PerPeer<TwoWay>,
    /// The seeds with each peer, which hide opened bits, here and above.
    seeds: PairSeeds,
    zeros: ZeroShares,
    echo: Echo,
    coins: Coins,
    /// Memory of the corrections of a chunk, this party's and the peers'.
    corrections: [PerPeer<Vec<u8>>; 2],
    /// Whether something said to all was not yet compared, and is before a coin is opened.
    unsettled: bool,
    /// Bits that were made with the set-up, and how many of them are used up.
    stock: (Pairwise, usize),
    rng: Prg,
    /// The number of blind tests so far, and of those in sight.
    tests: [u64; 2],
    conduct: C,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
}

impl Joint {
    /// The most bits of a [`chunk`](Joint::chunk).
    pub const CHUNK: usize = TwoWay::LONGEST;

    /// Sets up all parties. This party draws a global key for this use alone. No other use may have the
    /// session.
    ///
    /// # Errors
    /// Those of the base OTs and of the extension; [`DELTAS`](checks::DELTAS), which names no party, if some
    /// party uses different global keys towards different peers; [`EQUIVOCATION`](checks::EQUIVOCATION);
    /// those of the channels.
    pub fn setup(mesh: &mut Mesh<'_>, here: Here, rng: &mut dyn CryptoRng) -> Result<Joint> {
        Joint::with(mesh, here, rng, Honest)
    }

    /// As [`Joint::setup`], and makes the material of `ahead` with it, in fewer rounds than later.
    ///
    /// # Errors
    /// As [`Joint::setup`] and [`Joint::chunk`].
    pub fn setup_for(mesh: &mut Mesh<'_>, here: Here, ahead: Provisions, rng: &mut dyn CryptoRng) -> Result<Joint> {
        Joint::with_ahead(mesh, here, ahead, rng, Honest)
    }
}

/// The material that a [`Joint`] makes with its set-up.
#[derive(Clone, Copy, Default)]
pub struct Provisions {
    /// Random bits. Later calls for random bits use these up first.
    pub bits: usize,
    /// Coins that are committed to for later calls.
    pub coins: usize,
}

impl<C: for<'a> Conduct<JointAct<'a>>> Joint<C> {
    /// As [`Joint::setup`], for a party that may not be honest.
    ///
    /// # Errors
    /// As [`Joint::setup`].
    pub fn with(mesh: &mut Mesh<'_>, here: Here, rng: &mut dyn CryptoRng, conduct: C) -> Result<Joint<C>> {
        Joint::with_ahead(mesh, here, Provisions::default(), rng, conduct)
    }

    /// As [`Joint::setup_for`], for a party that may not be honest.
    ///
    /// # Errors
    /// As [`Joint::setup_for`].
    pub fn with_ahead(
        mesh: &mut Mesh<'_>,
        here: Here,
        ahead: Provisions,
        rng: &mut dyn CryptoRng,
        conduct: C,
    ) -> Result<Joint<C>> {
        Joint::over::<Csw>(mesh, here, ahead, rng, conduct)
    }

    /// As [`Joint::with_ahead`], by other base OTs than [`Csw`].
    ///
    /// # Errors
    /// As [`Joint::with_ahead`].
    pub fn over<B: BaseOt<Model = Malicious>>(
        mesh: &mut Mesh<'_>,
        here: Here,
        ahead: Provisions,
        rng: &mut dyn CryptoRng,
        mut conduct: C,
    ) -> Result<Joint<C>> {
        let Here { me, parties, session, backend, .. } = here;
        let key = GlobalKey::of(me, rng);
        let bits = deltas::BITS + ahead.bits;
        let mut drawn = generator(backend, rng);
        let mut coins = Coins::new(session.child("coins"), me, parties);
        let count = bits.div_ceil(Joint::CHUNK) + ahead.coins;
        let first = First::new(&mut coins, (me, parties), count, &mut drawn, &mut conduct);
        let mut states = PerPeer::new(me, parties, |peer| {
            let mut delta = key.block();
            conduct.before(JointAct::Key { peer, delta: &mut delta });
            (delta, generator(backend, rng), &first.said[peer])
        });
        // Beside the first message of the one and the last of the other, which costs no flight.
        let set_up = mesh.each_with(&mut states, |peer, ch, (delta, rng, said)| {
            let of = |owner: PartyId, other: PartyId| {
                session.child(&format!("under the key of party {owner}, with {other}"))
            };
            let sessions = [&of(me, peer), &of(peer, me)];
            let mut heard = vec![0; first.bytes];
            if me < peer {
                ch.recv(&mut heard)?;
                let link = TwoWay::setup::<B>(ch, sessions, backend, LEVELS, *delta, true, rng)?;
                ch.send(said)?;
                ch.flush()?;
                Ok((link, heard))
            } else {
                ch.send(said)?;
                let link = TwoWay::setup::<B>(ch, sessions, backend, LEVELS, *delta, false, rng)?;
                ch.recv(&mut heard)?;
                Ok((link, heard))
            }
        })?;
        let (links, heard) = set_up.into_vec().into_iter().unzip();
        let links = PerPeer::from_vec(me, links).expect("one a peer");
        let heard: PerPeer<Vec<u8>> = PerPeer::from_vec(me, heard).expect("one a peer");
        let (halves, commitments) = first.heard(&heard, &mut conduct);
        let seeds = PairSeeds::new(&session.child("seeds of pairs"), &first.halves, &halves);
        let mut echo = Echo::new(session.child("echo"));
        coins.committed(&commitments);
        echo.hear(COMMITMENTS, &first.commitments, &commitments);
        let mut joint = Joint {
            me,
            parties,
            session,
            backend,
            key,
            links,
            zeros: seeds.zero_shares(backend, &session.child("zero-shares")),
            seeds,
            echo,
            coins,
            corrections: [(); 2].map(|()| PerPeer::new(me, parties, |_| Vec::new())),
            unsettled: true,
            stock: (Pairwise::zeros(me, parties, 0), 0),
            rng: drawn,
            tests: [0; 2],
            conduct,
            broken: false,
        };
        joint.guarded(|joint| {
            let first = bits.min(Joint::CHUNK);
            let mut stock = Pairwise::zeros(me, parties, first);
            let [mut macs, mut keys] = stock.slices(0..first);
            let sum = joint.first(mesh, &mut macs, &mut keys)?;
            let rows = stock.slice(0..deltas::BITS).rows(&joint.key);
            joint.stock = (stock, deltas::BITS);
            joint.check_deltas(mesh, &rows, sum)?;
            // What comes later, after it.
            let rest = joint.made(mesh, bits - first, None)?;
            joint.stock.0.append(&rest);
            Ok(())
        })?;
        Ok(joint)
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// The CPU backend.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// This party's global key, the same for its whole life and towards all.
    pub fn key(&self) -> &GlobalKey {
        &self.key
    }

    /// The seeds of this party with each peer, for [`Openings`](crate::Openings) of bits under this key.
    pub fn seeds(&self) -> &PairSeeds {
        &self.seeds
    }

    /// The conduct of the party.
    pub fn conduct(&mut self) -> &mut C {
        &mut self.conduct
    }

    /// The number of bits that were made with the set-up and are left: a call for at most this number of
    /// random bits takes no coin.
    pub fn stocked(&self) -> usize {
        self.stock.0.len() - self.stock.1
    }

    /// Makes sure that `coins` coins are committed to. Each [`chunk`](Joint::chunk), each
    /// [`coin`](Joint::coin) and each [`sums_to_zero`](Joint::sums_to_zero) takes one. At most two rounds.
    ///
    /// # Errors
    /// [`EQUIVOCATION`](checks::EQUIVOCATION), which names no party; those of the channels.
    pub fn plan(&mut self, mesh: &mut Mesh<'_>, coins: usize) -> Result<()> {
        self.guarded(|joint| joint.commit(mesh, coins))
    }

    /// 256 random bits, the same for all. This party opens its part only when it has received everything that
    /// the coin decides on. One round.
    ///
    /// # Errors
    /// [`COIN_OPENING`](checks::COIN_OPENING) by a party that opens another seed than it committed to; those
    /// of the channels.
    ///
    /// # Panics
    /// If no coin was [planned](Joint::plan).
    pub fn coin(&mut self, mesh: &mut Mesh<'_>) -> Result<[u8; 32]> {
        self.guarded(|joint| joint.open(mesh))
    }

    /// Random bits, at most [`CHUNK`](Joint::CHUNK): `macs` get the MACs on this party's shares, with the
    /// share as bit 0, under each peer's key, and `keys` the keys to each peer's shares. It is checked that
    /// every party's shares are the same towards all. Takes a coin.
    ///
    /// # Errors
    /// [`INCONSISTENT_CHOICES`](comity_ot::checks::INCONSISTENT_CHOICES) by a party;
    /// [`EQUIVOCATION`](checks::EQUIVOCATION), which names no party; those of the channels. Nothing is then
    /// in `macs` and `keys`.
    ///
    /// # Panics
    /// If the lengths differ or are too large, or no coin was planned.
    pub fn chunk(
        &mut self,
        mesh: &mut Mesh<'_>,
        macs: &mut PerPeer<&mut [Block]>,
        keys: &mut PerPeer<&mut [Block]>,
    ) -> Result<()> {
        self.guarded(|joint| {
            let bits = macs.as_mut_slice().first().map_or(0, |macs| macs.len());
            let (stock, used) = &mut joint.stock;
            if stock.len() - *used < bits {
                return joint.alike(mesh, macs, keys, None);
            }
            let range = *used..*used + bits;
            macs.iter_mut().for_each(|(peer, macs)| macs.copy_from_slice(&stock.macs[peer][range.clone()]));
            keys.iter_mut().for_each(|(peer, keys)| keys.copy_from_slice(&stock.keys[peer][range.clone()]));
            *used += bits;
            Ok(())
        })
    }

    /// Any number of random bits. Takes a coin for each [chunk](Joint::CHUNK).
    ///
    /// # Errors
    /// As [`Joint::chunk`].
    pub fn bits(&mut self, mesh: &mut Mesh<'_>, bits: usize) -> Result<Pairwise> {
        self.guarded(|joint| {
            if joint.stocked() < bits {
                joint.commit(mesh, bits.div_ceil(Joint::CHUNK))?;
            }
            joint.pairwise(mesh, bits, None)
        })
    }

    /// Authenticates bits of which this party's shares are given. Takes a coin for each
    /// [chunk](Joint::CHUNK). It is checked that every party uses the same shares towards all, not which
    /// shares.
    ///
    /// # Errors
    /// As [`Joint::chunk`].
    ///
    /// # Panics
    /// If too few coins were planned.
    pub fn chosen(&mut self, mesh: &mut Mesh<'_>, shares: &Bits) -> Result<Pairwise> {
        self.guarded(|joint| joint.pairwise(mesh, shares.len(), Some(shares)))
    }

    /// As [`Joint::chosen`], but puts the shares into `into`, in the place of those that are there.
    ///
    /// # Errors
    /// As [`Joint::chunk`].
    ///
    /// # Panics
    /// If `into` and `shares` differ in length, or too few coins were planned.
    pub fn chosen_into(&mut self, mesh: &mut Mesh<'_>, shares: &Bits, into: &mut Pairwise) -> Result<()> {
        assert_eq!(shares.len(), into.len(), "a place for each bit");
        self.guarded(|joint| joint.make(mesh, into, Some(shares)))
    }

    /// Makes sure that the `own` of all parties sum up to zero, block by block: all commit to them, and show
    /// them. Blocks that depend on a global key may be shown so only before anything is masked under that
    /// key; afterwards use [`Joint::sums_to_zero`]. Three rounds.
    ///
    /// # Errors
    /// `otherwise`, which names no party, if the sum is not zero; [`ROW_OPENING`](checks::ROW_OPENING) by a
    /// party that shows other blocks than it committed to; [`EQUIVOCATION`](checks::EQUIVOCATION), which
    /// names no party; those of the channels.
    pub fn shown_zero(
        &mut self,
        mesh: &mut Mesh<'_>,
        own: &mut [Block],
        otherwise: &'static comity_core::Check,
    ) -> Result<()> {
        self.guarded(|joint| joint.vanishes(mesh, own, otherwise))
    }

    /// Makes sure that the `sigma` of all parties sum up to zero, and shows nothing else about them. Takes a
    /// coin.
    ///
    /// # Errors
    /// `otherwise`, which names no party, if the sum is not zero; [`PRODUCT`](checks::PRODUCT) by a party;
    /// those of [`Joint::chunk`].
    ///
    /// # Panics
    /// If no coin was planned.
    pub fn sums_to_zero(
        &mut self,
        mesh: &mut Mesh<'_>,
        sigma: Block,
        otherwise: &'static comity_core::Check,
    ) -> Result<()> {
        self.guarded(|joint| joint.blind(mesh, sigma, otherwise, false).map(drop))
    }

    /// As [`Joint::sums_to_zero`], followed by a [`coin`](Joint::coin). The coin's seeds are opened with the
    /// shares of the product, to which all have committed before. Takes two coins.
    ///
    /// # Errors
    /// As [`Joint::sums_to_zero`] and [`Joint::coin`].
    ///
    /// # Panics
    /// If too few coins were planned.
    pub fn sums_to_zero_then_coin(
        &mut self,
        mesh: &mut Mesh<'_>,
        sigma: Block,
        otherwise: &'static comity_core::Check,
    ) -> Result<[u8; 32]> {
        self.guarded(|joint| Ok(joint.blind(mesh, sigma, otherwise, true)?.expect("a coin was asked for")))
    }

    /// Sends the same message to all, and receives one of the same length from each. Whether all received the
    /// same is only known after [`Joint::settle`]. One round.
    ///
    /// # Errors
    /// Those of the channels.
    pub fn tell(&mut self, mesh: &mut Mesh<'_>, what: &'static str, own: &[u8]) -> Result<PerPeer<Vec<u8>>> {
        self.guarded(|joint| joint.talk(mesh).tell(what, own))
    }

    /// Sends each peer a message of its own, and receives one of the same length from each. One round.
    ///
    /// # Errors
    /// Those of the channels.
    pub fn send(&mut self, mesh: &mut Mesh<'_>, what: &'static str, out: PerPeer<Vec<u8>>) -> Result<PerPeer<Vec<u8>>> {
        self.guarded(|joint| {
            let lengths: Vec<usize> = out.iter().map(|(_, bytes)| bytes.len()).collect();
            let lengths = PerPeer::from_vec(joint.me, lengths).expect("one a peer");
            joint.talk(mesh).send(what, out, |peer| lengths[peer])
        })
    }

    /// Makes sure that all have received the same of each message that was sent to all. One round.
    ///
    /// # Errors
    /// [`EQUIVOCATION`](checks::EQUIVOCATION), which names no party; those of the channels.
    pub fn settle(&mut self, mesh: &mut Mesh<'_>) -> Result<()> {
        self.guarded(|joint| {
            joint.unsettled = false;
            joint.talk(mesh).settle()
        })
    }

    /// As [`Joint::settle`] and [`Joint::coin`], in one round: everybody has received what the coin decides
    /// on, though perhaps not the same.
    ///
    /// # Errors
    /// As [`Joint::settle`] and [`Joint::coin`].
    ///
    /// # Panics
    /// If no coin was [planned](Joint::plan).
    pub fn settled_coin(&mut self, mesh: &mut Mesh<'_>) -> Result<[u8; 32]> {
        self.guarded(|joint| {
            let mut talk = Talk { mesh, echo: &mut joint.echo, conduct: &mut joint.conduct };
            if core::mem::take(&mut joint.unsettled) {
                talk.settle()?;
            }
            let (own, message) = joint.coins.next(&talk);
            let heard = talk.settle_with(vec![message])?;
            joint.coins.sum(*own, &heard[0])
        })
    }

    fn talk<'t, 'n>(&'t mut self, mesh: &'t mut Mesh<'n>) -> Talk<'t, 'n, C> {
        Talk { mesh, echo: &mut self.echo, conduct: &mut self.conduct }
    }

    /// Commits to as many more coins as are missing. The commitments are still to be settled.
    fn commit(&mut self, mesh: &mut Mesh<'_>, coins: usize) -> Result<()> {
        let missing = coins.saturating_sub(self.coins.left());
        if missing > 0 {
            let own = self.coins.commitments(self.me, missing, &mut self.rng);
            let heard = self.talk(mesh).tell(COMMITMENTS, &own)?;
            self.coins.committed(&heard);
            self.unsettled = true;
        }
        Ok(())
    }

    fn open(&mut self, mesh: &mut Mesh<'_>) -> Result<[u8; 32]> {
        let mut talk = Talk { mesh, echo: &mut self.echo, conduct: &mut self.conduct };
        if core::mem::take(&mut self.unsettled) {
            talk.settle()?;
        }
        self.coins.open(&mut talk)
    }

    /// `bits` shared bits. This party's shares are random or given. Random bits come from the stock if that
    /// suffices.
    fn pairwise(&mut self, mesh: &mut Mesh<'_>, bits: usize, given: Option<&Bits>) -> Result<Pairwise> {
        let (stock, used) = &mut self.stock;
        if given.is_none() && stock.len() - *used >= bits {
            *used += bits;
            return Ok(stock.slice(*used - bits..*used));
        }
        self.made(mesh, bits, given)
    }

    /// Likewise, all new, from coins that were committed to.
    fn made(&mut self, mesh: &mut Mesh<'_>, bits: usize, given: Option<&Bits>) -> Result<Pairwise> {
        let mut all = Pairwise::zeros(self.me, self.parties, bits);
        self.make(mesh, &mut all, given)?;
        Ok(all)
    }

    /// Makes shares in the place of those in `all`.
    fn make(&mut self, mesh: &mut Mesh<'_>, all: &mut Pairwise, given: Option<&Bits>) -> Result<()> {
        for start in (0..all.len()).step_by(Joint::CHUNK) {
            let range = start..all.len().min(start + Joint::CHUNK);
            let [mut macs, mut keys] = all.slices(range.clone());
            let given = given.map(|given| given.slice(range.start, range.len()));
            self.alike(mesh, &mut macs, &mut keys, given.as_ref())?;
        }
        Ok(())
    }

    /// Does the work of a call, unless an earlier call failed.
    fn guarded<T>(&mut self, call: impl FnOnce(&mut Joint<C>) -> Result<T>) -> Result<T> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::invalid_input(
                "these global keys ended with an earlier error: set up new ones, with new base OTs",
            ));
        }
        let result = call(self)?;
        self.broken = false;
        Ok(result)
    }
}

fn generator(backend: Backend, rng: &mut dyn CryptoRng) -> Prg {
    let mut seed = zeroize::Zeroizing::new([0; 16]);
    rng.fill_bytes(&mut *seed);
    Prg::new(backend, Block::new(*seed))
}
