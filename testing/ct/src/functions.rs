//! Private functions: the function is a secret of its owner.

use comity::pfe::{Arity, PFE_LINEAR, PFE_OT, Shape, YaoPfe};
use comity_circuit::{Goal, Program};
use comity_core::{Bits, classify};
use comity_library::universal::direct::{self, Direct, DirectGate, DirectRead};
use comity_library::universal::universal;
use comity_protocol::Protocol;

use crate::Case;
use crate::protocols::{compute, secret_values};
use crate::secret::bits;

const SHAPE: Shape = Shape { inputs: 5, outputs: 3, gates: 9 };

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("private function, yao-pfe", || any(&YaoPfe, &universal(Goal::Size, SHAPE))),
        Case::new("private function, yao-pfe, public arities", || {
            let arity = Arity::new(&[1, 2, 3, 1, 1], &[2, 1, 1, 3, 1], 2).expect("a small circuit");
            any(&YaoPfe, &arity.program(Goal::Size));
        }),
        Case::new("private function, pfe-ot", || direct(&PFE_OT)),
        Case::new("private function, pfe-linear", || direct(&PFE_LINEAR)),
    ]
}

/// Any bits are some function of a universal program.
fn any(protocol: &dyn Protocol, program: &Program) {
    compute(protocol, program, &secret_values(program), &[], false);
}

/// A function whose gates read the two wires before them.
fn direct(protocol: &dyn Protocol) {
    let read = |wire: usize| DirectRead { wire: wire as u32, negated: wire.is_multiple_of(2) };
    let gate = |at: usize| DirectGate { reads: [read(at - 1), read(at - 2)], xor: at.is_multiple_of(3) };
    let wires = SHAPE.inputs + SHAPE.gates;
    let outputs = (wires - SHAPE.outputs..wires).map(read).collect();
    let function = Direct { gates: (SHAPE.inputs..wires).map(gate).collect(), outputs }.bits(SHAPE);
    let mut words = function.words().to_vec();
    classify(&mut words);
    let function = Bits::from_words(words, function.len());
    compute(protocol, &direct::program(Goal::Size, SHAPE), &[function, bits(SHAPE.inputs)], &[], false);
}
