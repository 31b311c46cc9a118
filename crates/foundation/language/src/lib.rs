//! comity's language: functions over private values, compiled to a [`Program`].
//!
//! ```
//! let source = "
//!     parties alice, bob;
//!     fn main(x: u32 from alice, y: u32 from bob) -> (richer: bool, by: u32 to alice) {
//!         (x > y, abs_diff(x, y))
//!     }";
//! let program = comity_language::compile("millionaires.cty", source)?;
//! assert_eq!(program.and_gates(), 32 + 63);
//! # Ok::<(), comity_language::Diagnostics>(())
//! ```
//!
//! The book's chapter "Writing a program" is its reference. In short: a small Rust without references, recursion and
//! `while`; numbers of any width; `from` and `to` for the parties. Public numbers (constants, sizes, loops' variables)
//! are computed while compiling. Nothing that is done depends on a private value: both branches are computed and
//! one is chosen, and an element at a private index is found by looking at all.
//!
//! A text goes through four stages. The *lexer* and the *parser* make a syntax tree, and go on after a mistake. The
//! *checker* resolves names and finds types by unification, once for each set of sizes that a function is called with. The
//! *lowering* walks the program as if it ran, building gates by [`comity_circuit::library`]: calls are copied in, small
//! loops are unrolled, long ones become [`Step::Repeat`](comity_circuit::Step), or one call with many turns if these
//! are independent. Costs: time and memory in proportion to what is unrolled, and none for what is kept.
//!
//! The text may be anybody's: its size, the depth of nesting, the widths, the gates and the steps of compiling are
//! bounded, each by an error that says so. The same text gives the same program on every machine.

mod ast;
mod builtins;
mod check;
mod diagnostic;
mod ir;
mod lexer;
mod lower;
mod parser;
mod types;

use comity_circuit::Program;

pub use diagnostic::{Diagnostic, Diagnostics};
use diagnostic::{Errors, Span};
use lower::Limits;

/// Compiles a source text. `file` is what messages call it, and the program's name.
///
/// # Errors
/// All mistakes that were found, each with its line and column.
pub fn compile(file: &str, source: &str) -> Result<Program, Diagnostics> {
    compile_with(file, source, Limits::default())
}

fn compile_with(file: &str, source: &str, limits: Limits) -> Result<Program, Diagnostics> {
    let mut errors = Errors::default();
    if source.len() > lexer::MAX_SOURCE {
        errors.add(Span::default(), format!("a source text has at most {} bytes", lexer::MAX_SOURCE));
        return Err(errors.report(file, source));
    }
    let tree = parser::parse(source, &mut errors);
    if errors.is_empty()
        && let Some(module) = check::check(source, &tree, &mut errors)
        && let Some(program) = lower::lower(file, &module, limits, &mut errors)
    {
        return Ok(program);
    }
    Err(errors.report(file, source))
}

#[cfg(test)]
mod tests;
