//! The gates of an operation on words, by the operation: what
//! [`Circuit::with_notes`](comity_circuit::Circuit::with_notes) checks notes by.

use comity_circuit::{Builder, Wire, WordOp};

use crate::arith;
use crate::lookup::lookup;

/// Builds the gates of an operation in the builder's goal, by the function that [notes](Builder::noted) it: a
/// word for each result; no words for operations that no function notes.
///
/// # Panics
/// If the arguments have widths that the operation does not [take](WordOp::results).
pub fn gadget(b: &mut Builder, op: &WordOp, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let word = |i: usize| &args[i][..];
    let both = |(x, y): (Vec<Wire>, Vec<Wire>)| vec![x, y];
    vec![match op {
        WordOp::Add => arith::add(b, word(0), word(1)),
        WordOp::Sub => arith::sub(b, word(0), word(1)),
        WordOp::Neg => arith::negate(b, word(0)),
        WordOp::Mul => arith::mul(b, word(0), word(1)),
        WordOp::MulWide => arith::mul_full(b, word(0), word(1)),
        WordOp::Square => arith::square(b, word(0)),
        WordOp::Div { signed: false } => arith::div(b, word(0), word(1)),
        WordOp::Div { signed: true } => arith::div_signed(b, word(0), word(1)),
        WordOp::Rem { signed: false } => arith::rem(b, word(0), word(1)),
        WordOp::Rem { signed: true } => arith::rem_signed(b, word(0), word(1)),
        WordOp::DivRem { signed } => {
            return both(match (arith::public_divisor(word(1), *signed), signed) {
                (Some(by), false) => arith::div_rem_by(b, word(0), by),
                (Some(by), true) => arith::div_rem_signed_by(b, word(0), by as i128),
                (None, false) => arith::div_rem(b, word(0), word(1)),
                (None, true) => arith::div_rem_signed(b, word(0), word(1)),
            });
        }
        WordOp::Less { signed, or_equal } => {
            let less = match (signed, or_equal) {
                (false, false) => arith::lt,
                (false, true) => arith::le,
                (true, false) => arith::lt_signed,
                (true, true) => arith::le_signed,
            };
            vec![less(b, word(0), word(1))]
        }
        WordOp::Equal => vec![arith::eq(b, word(0), word(1))],
        WordOp::Select => arith::mux(b, args[0][0], word(1), word(2)),
        WordOp::Shl => arith::shl_by(b, word(0), word(1)),
        WordOp::Shr => arith::shr_by(b, word(0), word(1)),
        WordOp::ShrSigned => arith::sar_by(b, word(0), word(1)),
        WordOp::Rotl => arith::rotl_by(b, word(0), word(1)),
        WordOp::And => arith::and(b, word(0), word(1)),
        WordOp::Or => arith::or(b, word(0), word(1)),
        WordOp::Xor => arith::xor(b, word(0), word(1)),
        WordOp::Not => arith::not(b, word(0)),
        WordOp::Lookup(table) => lookup(b, table, word(0)),
        WordOp::Dot { n } => {
            let (x, y) = args.split_at(*n as usize);
            arith::dot(b, x, y)
        }
        WordOp::MatMul { m, n, p } => {
            let sizes = [*m, *n, *p].map(|size| size as usize);
            let (x, y) = args.split_at(sizes[0] * sizes[1]);
            return arith::mat_mul(b, sizes, x, y);
        }
        WordOp::MulShift { fraction } => arith::mul_shift(b, word(0), word(1), *fraction as usize),
        _ => return Vec::new(),
    }]
}
