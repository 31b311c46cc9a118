//! What every protocol must do, with each of the dealers, and what is heard of runs on dealers that are ideal.

use comity_core::Result;
use comity_protocol::{Card, Job, Party, Protocol, Supplies};
use comity_testing::laws;
use comity_testing::laws::{Laws, RunBy};
use comity_testing::ot::DealtBaseOts;

use super::FOR_TWO;
use super::dealer::Online;
use crate::among;
use crate::many::tests::ideal::Trusted;
use crate::protocol::{TinyOt, run_over};

mod fast_dealer {
    use super::*;

    laws!(TinyOt, Laws { rho: 8, deviations: 12, constants: Some(1), ..Laws::USUAL });

    /// Law 3 in more runs.
    #[test]
    fn deviations_over_dealt_base_ots() {
        let dealt = RunBy { protocol: TinyOt, run: run_over::<DealtBaseOts> };
        laws::deviations(&dealt, &Laws { rho: 8, ..Laws::USUAL });
    }
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

    laws!(OfTwo, Laws { rho: 8, programs: 2, deviations: 30, options: &[("dealer", "nnob12")], ..Laws::USUAL });
}

mod on_trusted_dealers {
    use super::*;

    /// The protocol on material of a trusted dealer.
    struct Trusting;

    impl Protocol for Trusting {
        fn card(&self) -> &'static Card {
            TinyOt.card()
        }

        fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
            let here = me.here;
            if here.parties == 2 {
                return Online(100).run(me, job, from);
            }
            let seed = here.session.block("trusted dealer").to_u128();
            among::run_with(me, Box::new(Trusted::new(here.me, here.parties, seed, 100)), job)
        }
    }

    const LISTENED: Laws = Laws { listened: 400, ..Laws::USUAL };

    #[test]
    fn law_listener() {
        comity_testing::laws::listener(&Trusting, &LISTENED);
    }

    #[test]
    #[ignore = "a campaign: see `make test-long`"]
    fn law_listener_long() {
        comity_testing::laws::listener_in(&Trusting, &LISTENED, 10_000);
    }
}
