//! What is wrong with a source text, and where.

use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line's text.
    pub text: String,
}

/// All mistakes of a source text, in its order; at least one. `Display` shows each as `FILE:LINE:COLUMN: MESSAGE` with
/// the line below it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics {
    /// The file's name, as it was given.
    pub file: String,
    /// The mistakes.
    pub all: Vec<Diagnostic>,
}

impl Diagnostics {
    /// A single mistake.
    pub(crate) fn one(file: &str, text: &str, line: usize, column: usize, message: impl Into<String>) -> Diagnostics {
        let (message, text) = (message.into(), text.to_owned());
        Diagnostics { file: file.to_owned(), all: vec![Diagnostic { line, column, message, text }] }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Diagnostic { line, column, message, text }) in self.all.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}{}:{line}:{column}: {message}\n  {text}\n  {:>column$}", self.file, "^")?;
        }
        Ok(())
    }
}
