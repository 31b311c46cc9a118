//! The token itself: a state machine without I/O.
//!
//! *Init*: [`FreshSeeds::init`] takes the next counter, which is on the disk by then, draws 128 bits, and
//! makes the seeds and party 0's share of `c`. The partners are not known yet. *Set-up*:
//! [`FreshSeeds::set_up`] consumes the seeds. So one counter serves one session, with one key for each other
//! party, ever: by type, and not by a mark that could be put back.
//!
//! ```compile_fail
//! # fn twice(seeds: comity_token::FreshSeeds, keys: &comity_token::TokenKeys, request: &comity_token::SeedRequest,
//! #     rng: &mut dyn rand_core::CryptoRng) {
//! let one = seeds.set_up(keys, request, rng);
//! let two = seeds.set_up(keys, request, rng); // the seeds were moved
//! # }
//! ```

use comity_core::{Backend, Block, Error, Prg, Result};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::keys::TokenKeys;
use crate::messages::{SeedAnswer, SeedInit, SeedOrder, SeedRequest};
use crate::seal::{SeedUse, seal};
use crate::seeds;

/// A counter that never gives a number twice.
pub trait SeedCounter: Send {
    /// The next number. When this returns, it counts as given after a crash too.
    ///
    /// # Errors
    /// If that cannot be noted; the number is then not used.
    fn next(&mut self) -> Result<u64>;
}

/// Seeds that nobody has got yet. They are for one set-up, and are wiped by it.
pub struct FreshSeeds {
    counter: u64,
    order: SeedOrder,
    seeds: Zeroizing<Vec<Block>>,
}

impl FreshSeeds {
    /// The init phase: seeds under the next number, and party 0's share of `c`.
    ///
    /// # Errors
    /// Those of the counter.
    pub fn init(
        keys: &TokenKeys,
        counter: &mut dyn SeedCounter,
        order: SeedOrder,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<(FreshSeeds, SeedInit)> {
        let counter = counter.next()?;
        // Of an old folder that was put back the counter comes again, and these do not.
        let mut drawn = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut drawn[..]);
        let seeds: Zeroizing<Vec<Block>> = Zeroizing::new(
            (0..order.parties()).map(|party| seeds::seed(keys.master(), counter, &drawn, party)).collect(),
        );
        let product_share = seeds::product_share(backend, &seeds, order.rows());
        let init = SeedInit { counter, introduction: *keys.introduction(), product_share };
        Ok((FreshSeeds { counter, order, seeds }, init))
    }

    /// The set-up phase: party 0's seed in the clear, every other party's sealed to its key and bound to the session.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if a key is not valid. The seeds are gone even then.
    pub fn set_up(self, keys: &TokenKeys, request: &SeedRequest, rng: &mut dyn CryptoRng) -> Result<SeedAnswer> {
        let parties = self.order.parties();
        if request.recipients.len() != usize::from(parties - 1) {
            return Err(Error::malformed(format!(
                "seeds for {parties} parties are asked for with {} keys of others",
                request.recipients.len()
            )));
        }
        let others = (1..parties).zip(&request.recipients).zip(&self.seeds[1..]);
        let sealed = others.map(|((party, recipient), seed)| {
            let for_ = SeedUse {
                session: request.session,
                party,
                parties,
                recipient: *recipient,
                triples: self.order.triples(),
            };
            seal(&for_, self.counter, *seed, keys.signing(), rng)
        });
        let sealed = sealed.collect::<Result<_>>()?;
        Ok(SeedAnswer { seed: Zeroizing::new(self.seeds[0].to_bytes()), sealed })
    }
}

/// What a holder asks of its token. After an error it is not asked again.
pub trait TokenAccess: Send {
    /// The init phase.
    ///
    /// # Errors
    /// Those of the token, and of what leads to it.
    fn init(&mut self, order: SeedOrder) -> Result<SeedInit>;

    /// The set-up phase of what was made last.
    ///
    /// # Errors
    /// As [`TokenAccess::init`].
    fn set_up(&mut self, request: &SeedRequest) -> Result<SeedAnswer>;
}

/// A token in the memory of its holder, under keys of its own: for trials and tests. It protects nobody from
/// its holder.
pub struct MemoryToken {
    keys: TokenKeys,
    next: u64,
    backend: Backend,
    rng: Prg,
    fresh: Option<FreshSeeds>,
}

impl MemoryToken {
    /// A token whose keys and seeds follow from this generator.
    pub fn new(backend: Backend, rng: &mut dyn CryptoRng) -> MemoryToken {
        let keys = TokenKeys::new(&TokenKeys::draw(rng));
        MemoryToken { keys, next: 0, backend, rng: Prg::new(backend, Block::random(rng)), fresh: None }
    }

    /// What it shows of itself.
    pub fn introduction(&self) -> &crate::keys::Introduction {
        self.keys.introduction()
    }
}

/// Numbers that are forgotten with the keys that they were used under.
struct Counted<'n>(&'n mut u64);

impl SeedCounter for Counted<'_> {
    fn next(&mut self) -> Result<u64> {
        *self.0 += 1;
        Ok(*self.0)
    }
}

impl TokenAccess for MemoryToken {
    fn init(&mut self, order: SeedOrder) -> Result<SeedInit> {
        let counter = &mut Counted(&mut self.next);
        let (fresh, init) = FreshSeeds::init(&self.keys, counter, order, self.backend, &mut self.rng)?;
        self.fresh = Some(fresh);
        Ok(init)
    }

    fn set_up(&mut self, request: &SeedRequest) -> Result<SeedAnswer> {
        let fresh =
            self.fresh.take().ok_or_else(|| Error::invalid_input("the token has no seeds that are not spent"))?;
        fresh.set_up(&self.keys, request, &mut self.rng)
    }
}
