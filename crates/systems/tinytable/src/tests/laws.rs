//! What every protocol must do, and what is heard of runs on triples of a trusted dealer.

use comity_core::Result;
use comity_protocol::{Job, Party};
use comity_testing::laws;
use comity_testing::laws::{Laws, RunBy};
use comity_testing::ot::DealtBaseOts;

use super::dealer::Trusted;
use crate::semi_honest::run_with;
use crate::{TinyTableSemiHonest, run_over};

laws!(
    TinyTableSemiHonest,
    Laws { wire: &["bb81d200f722e4d41eb0e74951b4cfcd"], programs: 6, deviations: 12, ..Laws::USUAL }
);

/// Law 3 in more runs, over dealt base OTs.
#[test]
fn deviations_over_dealt_base_ots() {
    let dealt = RunBy { protocol: TinyTableSemiHonest, run: run_over::<DealtBaseOts> };
    laws::deviations(&dealt, &Laws { felt: 70, ..Laws::USUAL });
}

mod silent {
    use super::*;

    laws!(TinyTableSemiHonest, Laws { programs: 1, deviations: 12, options: &[("dealer", "silent")], ..Laws::USUAL });
}

mod boxes {
    use super::*;

    laws!(TinyTableSemiHonest, Laws { programs: 2, deviations: 12, options: &[("tables", "sbox")], ..Laws::USUAL });
}

mod on_a_trusted_dealer {
    use super::*;

    fn run(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
        let seed = me.here.session.block("trusted dealer").to_u128();
        let dealer = Trusted::new(me.here.backend, seed);
        run_with(me, Some(Box::new(dealer)), job)
    }

    const LISTENED: Laws = Laws { listened: 400, ..Laws::USUAL };

    #[test]
    fn law_listener() {
        laws::listener(&RunBy { protocol: TinyTableSemiHonest, run }, &LISTENED);
    }

    #[test]
    #[ignore = "a campaign: see `make test-long`"]
    fn law_listener_long() {
        laws::listener_in(&RunBy { protocol: TinyTableSemiHonest, run }, &LISTENED, 10_000);
    }
}
