//! The laws of every protocol, in both forms and with either party as the garbler.

use comity_core::Check;
use comity_testing::laws;
use comity_testing::laws::Laws;

use super::{evaluators, garblers};
use crate::checks;
use crate::protocol::CutChoose;

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
        deviations: 120,
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
            deviations: 120,
            options: &[("role", "evaluator"), ("coded", "yes")],
            ..Laws::USUAL
        }
    );
}
