//! The dealers that there are, and setting one up.

use comity_channel::Channel;
use comity_core::Result;
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::Here;
use rand_core::CryptoRng;

use crate::bucket::Budget;
use crate::deal::TripleDealer;
use crate::fast::{self, Fast};
use crate::nnob::{Nnob, Plan};

/// The protocol that makes authenticated triples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DealerKind {
    /// [`Fast`]: SoftSpoken and the leaky AND of 2018.
    #[default]
    Fast,
    /// [`Nnob`]: the paper of 2012.
    Nnob12,
}

/// The number of ANDs that a session will use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ands {
    /// A number of triples, all of which will be used.
    Exactly(u64),
    /// At most this number, a few at a time.
    UpTo(u64),
}

/// A dealer, set up with the peer. No other use may have the session. Both parties ask for the same kind and
/// the same number of ANDs.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if this number of ANDs cannot be dealt at this rho; those of the
/// setup, and of the channel.
pub fn dealer(
    ch: &mut dyn Channel,
    here: Here,
    kind: DealerKind,
    ands: Ands,
    rng: &mut dyn CryptoRng,
) -> Result<Box<dyn TripleDealer>> {
    dealer_over::<Csw>(ch, here, kind, ands, rng)
}

/// As [`dealer`], by other base OTs. Only the fast one takes them: that of 2012 has its own, which run both
/// ways at once.
///
/// # Errors
/// As [`dealer`].
pub fn dealer_over<B: BaseOt<Model = Malicious>>(
    ch: &mut dyn Channel,
    here: Here,
    kind: DealerKind,
    ands: Ands,
    rng: &mut dyn CryptoRng,
) -> Result<Box<dyn TripleDealer>> {
    let rho = here.params.rho;
    Ok(match kind {
        DealerKind::Fast => {
            let budget = match ands {
                Ands::Exactly(ands) => Budget::known(ands, rho, 1, fast::OBJECTS),
                Ands::UpTo(most) => Budget::open(most, rho, 1, fast::OBJECTS),
            }?;
            Box::new(Fast::over::<B>(ch, here, budget, rng)?)
        }
        DealerKind::Nnob12 => {
            let plan = match ands {
                Ands::Exactly(ands) => Plan::known(ands, rho),
                Ands::UpTo(most) => Plan::open(most, rho),
            }?;
            Box::new(Nnob::new(here, plan, rng))
        }
    })
}
