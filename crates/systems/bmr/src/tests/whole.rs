//! The protocol with its own dealer.

use comity_testing::laws::Laws;

use crate::Bmr;

comity_testing::laws!(Bmr, Laws { programs: 1, deviations: 40, ..Laws::USUAL });
