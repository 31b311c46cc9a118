//! Which forms an operation can have.

use comity_circuit::{ArgBit, Circuit, Note, WordOp};
use comity_share::ring::WIDEST_WORD;

use crate::form::Form;

/// Whether an operation can have this form. Every one can be its gates; on words there are sums, products,
/// choices, equality, and division by a public number, of words of at most 128 bits.
pub fn allowed(note: &Note, form: Form) -> bool {
    if form != Form::Arithmetic {
        return true;
    }
    let widths: Vec<usize> = note.args.iter().map(Vec::len).collect();
    let Some(results) = note.op.results(&widths) else { return false };
    if widths.iter().chain(&results).any(|bits| *bits > WIDEST_WORD as usize) {
        return false;
    }
    let is_public = |word: &Vec<ArgBit>| {
        let constant = |bit: &ArgBit| matches!(bit, ArgBit::Wire(Circuit::ZERO | Circuit::ONE));
        word.iter().all(constant) && word.contains(&ArgBit::Wire(Circuit::ONE))
    };
    match note.op {
        WordOp::Add | WordOp::Sub | WordOp::Neg | WordOp::Not => true,
        WordOp::Mul | WordOp::MulWide | WordOp::Square => true,
        WordOp::Dot { .. } | WordOp::MatMul { .. } | WordOp::MulShift { .. } => true,
        WordOp::Select | WordOp::Equal => true,
        WordOp::Div { signed: false } | WordOp::Rem { signed: false } | WordOp::DivRem { signed: false } => {
            is_public(&note.args[1])
        }
        _ => false,
    }
}
