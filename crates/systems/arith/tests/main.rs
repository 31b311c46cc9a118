//! Words: what every protocol must do, programs of the language, what is refused, what is heard, bytes and
//! rounds.

mod conversions;
mod cost;
mod hand;
mod heard;
mod programs;
mod refused;
mod stored;

use comity_arith::dealers::{WordDealer, from_ot_over};
use comity_arith::{Arith, Conversions, run_with};
use comity_core::{Backend, Params, Result};
use comity_protocol::{Job, Party};
use comity_share::triples::OtKind;
use comity_testing::laws;
use comity_testing::laws::{Laws, RunBy, Setting};
use comity_testing::ot::DealtBaseOts;

/// Runs over dealt base OTs.
fn dealt(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let kind = match job.options.word("dealer") {
        "iknp" => OtKind::Iknp,
        "silent" => OtKind::Silent,
        _ => OtKind::SoftSpoken,
    };
    let dealer =
        |me: &mut Party<'_, '_>| -> Result<Box<dyn WordDealer>> { Ok(from_ot_over::<DealtBaseOts>(me, kind)?) };
    let conversions = |me: &mut Party<'_, '_>, both| Conversions::setup_over::<DealtBaseOts>(me, kind, both);
    run_with(&mut me.sub("arith"), dealer, conversions, job)
}

const DEALT: RunBy<Arith> = RunBy { protocol: Arith, run: dealt };

laws!(Arith, Laws { wire: &["0178c2cde8c4dfbe4ea320e84a841ff3"], programs: 1, deviations: 12, ..Laws::USUAL });

/// Laws 1 and 3 in more runs, over dealt base OTs. Much of what is then changed is of triples that are not
/// used up.
#[test]
fn laws_over_dealt_base_ots() {
    laws::equal_to_the_evaluator(&DEALT, &Laws { programs: 12, ..Laws::USUAL });
    laws::deviations(&DEALT, &Laws { felt: 50, ..Laws::USUAL });
    laws::deviations(&DEALT, &Laws { felt: 50, deviations: 36, options: &[("dealer", "iknp")], ..Laws::USUAL });
}

mod silent {
    use super::*;

    laws!(Arith, Laws { programs: 1, deviations: 12, options: &[("dealer", "silent")], ..Laws::USUAL });
}

fn setting(backend: Backend) -> Setting {
    Setting { params: Params::default(), backend, options: &[], session: 1 }
}
