//! The laws of every protocol, in both forms and with either party as the garbler.

use comity_core::Check;
use comity_testing::laws;
use comity_testing::laws::{Laws, RunBy, deviations};
use comity_testing::ot::DealtBaseOts;

use super::{evaluators, garblers};
use crate::checks;
use crate::protocol::{CutChoose, run_over};

/// The checks that the lies of the neighbouring modules provoke.
fn cheats() -> Vec<&'static Check> {
    [garblers::caught(), evaluators::caught()].concat()
}

laws!(
    CutChoose,
    Laws {
        rho: 4,
        constants: Some(1),
        programs: 8,
        deviations: 30,
        checks: Some((checks::ALL, cheats)),
        ..Laws::USUAL
    }
);

mod coded {
    use super::*;

    laws!(
        CutChoose,
        Laws {
            rho: 5,
            constants: Some(1),
            programs: 8,
            deviations: 30,
            options: &[("role", "evaluator"), ("coded", "yes")],
            ..Laws::USUAL
        }
    );
}

/// Law 3 in more runs, in both forms.
#[test]
fn deviations_over_dealt_base_ots() {
    let dealt = RunBy { protocol: CutChoose, run: run_over::<DealtBaseOts> };
    deviations(&dealt, &Laws { rho: 4, deviations: 120, ..Laws::USUAL });
    let coded = &[("role", "evaluator"), ("coded", "yes")];
    deviations(&dealt, &Laws { rho: 5, deviations: 120, options: coded, ..Laws::USUAL });
}
