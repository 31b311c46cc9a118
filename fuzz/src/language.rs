//! Source texts of the language.

use comity_circuit::{Goal, Observer, Plain};
use comity_core::Bits;

/// The largest work that a body runs.
const SMALL: u64 = 1 << 16;

/// An observer that forgets what it hears.
struct Deaf;

impl Observer for Deaf {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// A source text: what compiles runs, and what does not is told where and why. What compiles for one goal is
/// compiled for the other one, too; the length says which comes first.
pub(crate) fn language(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut goals = [Goal::Size, Goal::Depth];
    goals.rotate_left(text.len() % 2);
    let _ = goals.into_iter().all(|goal| compile(text, goal));
}

/// Whether it compiles.
fn compile(text: &str, goal: Goal) -> bool {
    let program = match comity_language::compile_for("fuzz.cty", text, goal) {
        Ok(program) => program,
        Err(error) => {
            let shown = error.to_string();
            assert!(!error.all.is_empty() && !shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
            return false;
        }
    };
    let totals = program.totals();
    let work = [program.wires(), totals.calls, totals.and, totals.xor, totals.not];
    if work.iter().any(|&part| part > SMALL) {
        return true;
    }
    let inputs: Vec<Option<Bits>> = program.inputs().iter().map(|input| Some(Bits::zeros(input.bits))).collect();
    comity_circuit::run(&program, &mut Plain::new(), &inputs, &mut Deaf).expect("a compiled program runs");
    true
}
