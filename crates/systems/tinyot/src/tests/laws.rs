//! What every protocol must do, with each of the dealers.

use comity_core::Check;
use comity_testing::laws;
use comity_testing::laws::Laws;

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
