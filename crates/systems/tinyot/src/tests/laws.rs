//! What every protocol must do, with each of the dealers.

use comity_core::{Check, Result};
use comity_protocol::{Card, Job, Party, Protocol, Supplies};
use comity_testing::laws;
use comity_testing::laws::Laws;

use super::FOR_TWO;
use crate::protocol::TinyOt;
use crate::{checks, fast, nnob};

mod fast_dealer {
    use super::*;

    fn cheats() -> Vec<&'static Check> {
        [fast::tests::cheats(), nnob::tests::cheats()].concat()
    }

    laws!(TinyOt, Laws { rho: 8, checks: Some((checks::ALL, cheats)), ..Laws::USUAL });
}

mod nnob12_dealer {
    use super::*;

    /// The protocol among those whom this dealer is for.
    struct OfTwo;

    impl Protocol for OfTwo {
        fn card(&self) -> &'static Card {
            &FOR_TWO
        }

        fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
            TinyOt.run(me, job, from)
        }
    }

    laws!(
        OfTwo,
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
