//! Circuits and programs as they lie in files, and values as people type them.

use std::path::Path;

use comity_circuit::value::{self, BitOrder};
use comity_circuit::{Observer, Plain, Program};
use comity_core::Bits;

use crate::expression;

/// What a body runs is no larger than this.
const SMALL: u64 = 1 << 16;

/// Forgets what it hears.
struct Deaf;

impl Observer for Deaf {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// Evaluates a program in the clear on zeros, if that is little work: what was accepted can be run.
fn evaluate(program: &Program) {
    let totals = program.totals();
    let work = [program.wires(), totals.calls, totals.and, totals.xor, totals.not];
    if work.iter().any(|&part| part > SMALL) {
        return;
    }
    let inputs: Vec<Option<Bits>> = program.inputs().iter().map(|input| Some(Bits::zeros(input.bits))).collect();
    comity_circuit::run(program, &mut Plain::new(), &inputs, &mut Deaf).expect("a valid program runs");
}

/// The encoding of a program.
pub fn program(data: &[u8]) {
    if let Ok(program) = Program::decode(data) {
        assert!(program.encode() == data, "what was decoded encodes otherwise");
        evaluate(&program);
    }
}

/// A value as text: the first byte is its width.
pub fn value(data: &[u8]) {
    let Some((&bits, text)) = data.split_first() else { return };
    let (Ok(text), bits) = (str::from_utf8(text), usize::from(bits)) else { return };
    for order in [BitOrder::Lsb, BitOrder::Msb] {
        match value::parse(text, bits, order) {
            Ok(read) => {
                assert_eq!(read.len(), bits);
                assert!(value::parse(&value::to_hex(&read, order), bits, order) == Ok(read.clone()));
                assert!(value::parse(&format!("bits:{}", value::to_bits(&read)), bits, order) == Ok(read));
            }
            // It may be a secret, mistyped.
            Err(error) => assert!(text.len() < 8 || !error.to_string().contains(text)),
        }
    }
}

/// What the command takes for PROGRAM. Before a line break stands the name of a file that exists.
pub fn program_expression(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (file, text) = text.split_once('\n').unwrap_or(("", text));
    let is_builtin = |name: &str| comity_circuit::library::find(name).is_some();
    if let Ok(expression) = expression::parse(text, &is_builtin, &|path| path == Path::new(file)) {
        let again = expression::parse(text, &is_builtin, &|path| path == Path::new(file));
        assert_eq!(again, Ok(expression));
    }
}
