//! What every protocol must do, with either party as the garbler.

use comity_circuit::Program;
use comity_core::{Backend, Params};
use comity_testing::laws;
use comity_testing::laws::{Laws, RunBy, Setting, bits, chain_and_layer, check, deviations, rng};
use comity_testing::ot::DealtBaseOts;

use super::cheats::caught;
use crate::checks;
use crate::protocol::{Ag, run_over};

laws!(
    Ag,
    Laws {
        rho: 8,
        deviations: 30,
        wire: &["d0d75177afd2916920489ac192cf5afa"],
        constants: Some(1),
        checks: Some((checks::ALL, caught)),
        ..Laws::USUAL
    }
);

mod turned {
    use super::*;

    laws!(
        Ag,
        Laws {
            rho: 8,
            constants: Some(1),
            programs: 2,
            deviations: 30,
            options: &[("role", "evaluator")],
            ..Laws::USUAL
        }
    );
}

/// Law 3 in more runs.
#[test]
fn deviations_over_dealt_base_ots() {
    let dealt = RunBy { protocol: Ag, run: run_over::<DealtBaseOts> };
    deviations(&dealt, &Laws { rho: 8, ..Laws::USUAL });
    deviations(&dealt, &Laws { rho: 8, deviations: 60, options: &[("role", "evaluator")], ..Laws::USUAL });
}

#[test]
fn the_dealer_of_2012_does_as_well() {
    let program = Program::from_circuit(chain_and_layer(10)).unwrap();
    let inputs = [bits(10, &mut rng(1)), bits(10, &mut rng(2))];
    let params = Params::new(128, 4).unwrap();
    let setting = Setting { params, backend: Backend::detect(), options: &[("dealer", "nnob12")], session: 3 };
    check(&Ag, 2, &program, &inputs, setting);
}
