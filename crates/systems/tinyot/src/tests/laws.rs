//! What every protocol must do, with each of the dealers.

use comity_core::{Check, Result};
use comity_protocol::{Card, Job, Party, Protocol, Supplies};
use comity_testing::laws;
use comity_testing::laws::Laws;

use crate::protocol::{TinyOt, card};
use crate::{checks, fast, nnob};

static FOR_MANY: Card = card(16);

/// The protocol where it is for many.
struct ForMany;

impl Protocol for ForMany {
    fn card(&self) -> &'static Card {
        &FOR_MANY
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        TinyOt.run(me, job, from)
    }
}

mod fast_dealer {
    use super::*;

    fn cheats() -> Vec<&'static Check> {
        [fast::tests::cheats(), nnob::tests::cheats()].concat()
    }

    laws!(ForMany, Laws { rho: 8, checks: Some((checks::ALL, cheats)), ..Laws::USUAL });
}

mod nnob12_dealer {
    use super::*;

    laws!(
        TinyOt,
        Laws {
            rho: 8,
            programs: 2,
            deviations: 30,
            options: &[("dealer", "nnob12")],
            checks: Some((checks::ALL, nnob::tests::cheats)),
            ..Laws::USUAL
        }
    );
}
