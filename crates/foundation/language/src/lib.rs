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
//! A text goes through four stages. The *lexer* and the *parser* make a syntax tree, and go on after a
//! mistake. The *checker* resolves names and finds types by unification, once for each set of sizes that a
//! function is called with. The *lowering* walks the program as if it ran, building gates by
//! [`comity_library`]: calls are copied in, small loops are unrolled, long ones become
//! [`Step::Repeat`](comity_circuit::Step), or one call with many turns if these are independent. Costs: time
//! and memory in proportion to what is unrolled, and none for what is kept.
//!
//! Two smaller grammars stand beside it: [`expression`] names a program on a command line (`aes128*1000`),
//! [`statement`] is a line of an interactive session (`c = a < b`).
//!
//! The text may be anybody's: its size, the depth of nesting, the widths, the gates and the steps of compiling are
//! bounded, each by an error that says so. The same text gives the same program on every machine.

mod ast;
mod builtins;
mod check;
mod diagnostic;
mod elsewhere;
pub mod expression;
mod ir;
mod lexer;
mod lower;
mod parser;
pub mod statement;
mod types;

use comity_circuit::{Goal, Program, Type};

pub use diagnostic::{Diagnostic, Diagnostics};
use diagnostic::{Errors, Span};
use lower::Limits;

/// Compiles a source text to few AND gates. `file` is what messages call it, and the program's name.
///
/// # Errors
/// All mistakes that were found, each with its line and column.
pub fn compile(file: &str, source: &str) -> Result<Program, Diagnostics> {
    compile_for(file, source, Goal::Size)
}

/// Compiles a source text to circuits for a goal. `file` is what messages call it, and the program's name.
///
/// # Errors
/// All mistakes that were found, each with its line and column.
pub fn compile_for(file: &str, source: &str, goal: Goal) -> Result<Program, Diagnostics> {
    compile_with(file, source, goal, Limits::default())
}

/// Compiles one expression over values that exist already, such as `if c { a } else { b }`; its type is
/// inferred. The program's input values are `values`, by name and type, in order; its output value is the
/// expression's, called `result`.
///
/// Values of structs are not possible: the text has no place where a struct is declared.
///
/// # Errors
/// All mistakes that were found, each with its line and column in `text`.
pub fn compile_expression(file: &str, values: &[(&str, &Type)], text: &str) -> Result<Program, Diagnostics> {
    let values: Vec<String> = values.iter().map(|(name, ty)| format!("{name}: {ty} from 0")).collect();
    compile_line(file, &format!("fn main({}) {{", values.join(", ")), text, "}", values.len())
}

/// The type that the text is, such as `[u32; 8]`.
///
/// # Errors
/// All mistakes that were found, each with its line and column in `text`.
pub fn parse_type(text: &str) -> Result<Type, Diagnostics> {
    let program = compile_line("type", "fn main(x:", text, "from 0) { x }", 1)?;
    Ok(program.inputs()[0].ty.clone())
}

/// Compiles `text` between `before` and `after`, which make it a program of one function with `params`
/// parameters.
fn compile_line(file: &str, before: &str, text: &str, after: &str, params: usize) -> Result<Program, Diagnostics> {
    let source = format!("{before}\n{text}\n{after}");
    let mut errors = Errors::default();
    let compiled = compile_tree(file, &source, true, Goal::Size, Limits::default(), &mut errors, |tree| {
        // A brace in the text could have closed the function and begun something else.
        let alone = tree.parties.is_empty() && tree.consts.is_empty() && tree.structs.is_empty();
        alone && matches!(&tree.functions[..], [main] if main.params.len() == params)
    });
    compiled.ok_or_else(|| {
        let mut report = errors.report(file, &source);
        // Line 2 of the source is the text's first; what is found behind the text is missing at its end.
        let lines: Vec<&str> = text.lines().collect();
        for mistake in &mut report.all {
            mistake.line = mistake.line.saturating_sub(1).max(1);
            if mistake.line > lines.len() {
                let end = lines.last().copied().unwrap_or_default();
                let (column, after) = (end.chars().count(), after.split(' ').next().unwrap_or_default());
                (mistake.line, mistake.column) = (lines.len().max(1), column + 1);
                (mistake.text, mistake.caret) = (end.to_owned(), column);
                mistake.message = mistake.message.replace(&format!("found `{after}`"), "found the end");
            }
        }
        report
    })
}

fn compile_with(file: &str, source: &str, goal: Goal, limits: Limits) -> Result<Program, Diagnostics> {
    // The byte-order mark with which some editors begin a text is no part of it.
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut errors = Errors::default();
    let compiled = compile_tree(file, source, false, goal, limits, &mut errors, |_| true);
    compiled.ok_or_else(|| errors.report(file, source))
}

/// Compiles a text whose tree has to be as `fits` says.
fn compile_tree(
    file: &str,
    source: &str,
    inferred: bool,
    goal: Goal,
    limits: Limits,
    errors: &mut Errors,
    fits: impl FnOnce(&ast::File<'_>) -> bool,
) -> Option<Program> {
    if source.len() > lexer::MAX_SOURCE {
        errors.add(Span::default(), format!("a source text has at most {} bytes", lexer::MAX_SOURCE));
        return None;
    }
    let tree = parser::parse(source, errors);
    if errors.is_empty() && !fits(&tree) {
        errors.add(Span::default(), "there is more here than one expression or type: a bracket is too many");
    }
    if errors.is_empty()
        && let Some(module) = check::check(source, &tree, inferred, goal, errors)
    {
        let names = tree.parties.iter().map(|party| party.text.to_owned()).collect();
        return lower::lower(file, &module, limits, errors)?.with_party_names(names).ok();
    }
    None
}

#[cfg(test)]
mod tests;
