//! The protocol with its own dealer.

use comity_testing::laws::{Laws, RunBy, deviations};
use comity_testing::ot::DealtBaseOts;

use crate::{Bmr, run_over};

comity_testing::laws!(
    Bmr,
    Laws {
        wire: &["7d76ea79cd1f1bafaf4dc92eb4f52c66", "68cf0d91d823789efe09fb48d4047bb8"],
        programs: 1,
        deviations: 12,
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
        deviations: 12,
        listened: 0,
        constants: Some(1),
        options: &[("products", "ot")],
        ..Laws::USUAL
    };

    comity_testing::laws!(Bmr, BY_OT);
}

/// Law 3 in more runs, by either kind of products.
#[test]
fn deviations_over_dealt_base_ots() {
    let dealt = RunBy { protocol: Bmr, run: run_over::<DealtBaseOts> };
    for options in [&[][..], &[("products", "ot")]] {
        deviations(&dealt, &Laws { deviations: 40, options, ..Laws::USUAL });
    }
}
