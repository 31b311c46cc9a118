//! What a sharing owes whoever runs it: it computes what the program says, cut in whatever way. That nobody
//! learns more is for a real dealer.

use comity_circuit::Program;
use comity_core::{Backend, Bits, Params};
use comity_testing::laws::{self, Laws, Setting, bits, chain_and_layer, rng};
use comity_xor::Xor;

#[test]
fn law_equal_to_the_evaluator() {
    laws::equal_to_the_evaluator(&Xor, &Laws::USUAL);
}

#[test]
fn law_equal_on_backends() {
    laws::equal_on_backends(&Xor, &Laws::USUAL);
}

#[test]
fn law_refusals() {
    laws::refusals(&Xor, &Laws::USUAL);
}

/// More calls than run side by side: their rows are of a million shares.
#[test]
fn calls_come_in_turns() {
    let mut rng = rng(1);
    let program = Program::map(chain_and_layer(400), 1000, &[0]).unwrap();
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
    let setting = Setting { params: Params::default(), backend: Backend::detect(), options: &[], session: 1 };
    laws::check(&Xor, 2, &program, &inputs, setting);
}
