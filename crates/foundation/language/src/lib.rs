//! comity's language: functions over private values, compiled to a [`Program`](comity_circuit::Program).

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
    if errors.is_empty() {
        if let Some(module) = check::check(source, &tree, &mut errors) {
            if let Some(program) = lower::lower(file, &module, limits, &mut errors) {
                return Ok(program);
            }
        }
    }
    Err(errors.report(file, source))
}

#[cfg(test)]
mod tests;
