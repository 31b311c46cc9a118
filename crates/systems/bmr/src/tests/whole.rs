//! The protocol with its own dealer.

use comity_testing::laws::Laws;

use crate::Bmr;

comity_testing::laws!(Bmr, Laws { programs: 1, deviations: 40, ..Laws::USUAL });

mod by_ot {
    use super::*;

    const BY_OT: Laws = Laws { programs: 1, gates: 100, deviations: 40, options: &[("products", "ot")], ..Laws::USUAL };

    comity_testing::laws!(Bmr, BY_OT);
}
