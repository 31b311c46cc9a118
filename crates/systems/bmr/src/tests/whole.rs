//! The protocol with its own dealer.

use comity_testing::laws::Laws;

use crate::Bmr;

comity_testing::laws!(
    Bmr,
    Laws {
        wire: &["7d76ea79cd1f1bafaf4dc92eb4f52c66", "68cf0d91d823789efe09fb48d4047bb8"],
        programs: 1,
        deviations: 40,
        constants: Some(1),
        ..Laws::USUAL
    }
);

mod by_ot {
    use super::*;

    const BY_OT: Laws = Laws {
        programs: 1,
        gates: 100,
        wire: &["44182a9f00b8185757f2251ec94e965e", "59cdfdc9d96e301886126e3274686371"],
        deviations: 40,
        listened: 0,
        constants: Some(1),
        options: &[("products", "ot")],
        ..Laws::USUAL
    };

    comity_testing::laws!(Bmr, BY_OT);
}
