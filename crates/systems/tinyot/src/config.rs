//! How a party runs, and the dealer that follows.

use comity_channel::Channel;
use comity_circuit::{Observer, Program};
use comity_core::{Backend, Bits, Params, Result, SessionId};
use rand_core::CryptoRng;

use crate::Dealer;
use crate::bucket::Budget;
use crate::fast::{self, Fast};
use crate::nnob::{Nnob, Plan};
use crate::run::{check, run_with};

/// How a party runs.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// What the machine can run.
    pub backend: Backend,
    /// This party: 0 or 1.
    pub party: u32,
    /// The security parameters: a session fails to catch a cheat with probability `2^-rho`.
    pub params: Params,
    /// Who deals. Both parties have the same.
    pub dealer: DealerKind,
}

/// How authenticated triples are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DealerKind {
    /// [`Fast`]: SoftSpoken and the leaky AND of 2018.
    #[default]
    Fast,
    /// [`Nnob`]: as the paper of 2012 does.
    Nnob12,
}

/// How many ANDs a session will use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ands {
    /// So many, all of which are sure to be used.
    Exactly(u64),
    /// At most so many, a few at a time.
    UpTo(u64),
}

/// A dealer, set up with the peer. `session` is the dealer's alone.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if so many ANDs cannot be dealt at this rho; those of the setup, and of the channel.
pub fn dealer(
    ch: &mut dyn Channel,
    session: &SessionId,
    config: &Config,
    ands: Ands,
    rng: &mut dyn CryptoRng,
) -> Result<Box<dyn Dealer>> {
    let (backend, party, rho) = (config.backend, config.party, config.params.rho);
    Ok(match config.dealer {
        DealerKind::Fast => {
            let budget = match ands {
                Ands::Exactly(ands) => Budget::known(ands, rho, 1, fast::OBJECTS),
                Ands::UpTo(most) => Budget::open(most, rho, 1, fast::OBJECTS),
            }?;
            Box::new(Fast::new(ch, session, backend, party, budget, rng)?)
        }
        DealerKind::Nnob12 => {
            let plan = match ands {
                Ands::Exactly(ands) => Plan::known(ands, rho),
                Ands::UpTo(most) => Plan::open(most, rho),
            }?;
            Box::new(Nnob::new(*session, backend, party, plan, rng))
        }
    })
}

/// Runs this party's side of a program: sets up a dealer, and then as [`run_with`]. Phases: `setup`, and those of [`run_with`].
///
/// # Errors
/// Those of [`dealer`] and of [`run_with`].
pub fn run(
    ch: &mut dyn Channel,
    session: &SessionId,
    config: &Config,
    program: &Program,
    inputs: &[Option<Bits>],
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
) -> Result<()> {
    check(config.party, program, inputs)?;
    let session = session.child("tinyot");
    observer.phase("setup");
    let dealer = dealer(ch, &session.child("dealer"), config, Ands::Exactly(program.and_gates()), rng)?;
    run_with(ch, &session, dealer, program, inputs, observer)
}
