//! What is wrong with a source text, and where.

use std::fmt;

/// The most mistakes that are shown.
const SHOWN: usize = 20;
/// The number of mistakes after which no more are looked for. Each may be compared with every name in the
/// program.
const MOST: usize = 200;
/// The longest line that is shown whole: of a longer one there is only the part around the mistake.
const LINE: usize = 160;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// The message: what is wrong, and what would be right. It may quote the source; control characters are spaces.
    pub message: String,
    /// The line's text, control characters as spaces; of a long line, the part around the column.
    pub text: String,
    /// The number of characters of the text before the mistake.
    pub caret: usize,
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

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Diagnostic { line, column, message, text, caret }) in self.all.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(
                f,
                "{newline}{}:{line}:{column}: {message}\n  {text}\n  {:>width$}",
                self.file,
                "^",
                width = caret + 1
            )?;
        }
        Ok(())
    }
}

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    /// The span from the start of this one to the end of the other.
    pub(crate) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.end) }
    }
}

/// The mistakes that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<(Span, String)>);

impl Errors {
    /// Whether there are too many mistakes to look for more.
    pub(crate) fn are_many(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(crate) fn add(&mut self, at: Span, message: impl Into<String>) {
        self.0.push((at, message.into()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mistakes as they are shown: in order, one for each place.
    pub(crate) fn report(mut self, file: &str, source: &str) -> Diagnostics {
        if self.0.is_empty() {
            self.add(
                Span::default(),
                "this is refused without a reason, which is the compiler's mistake; please report it",
            );
        }
        self.0.sort_by_key(|(at, _)| at.start);
        self.0.dedup_by_key(|(at, _)| at.start);
        self.0.truncate(SHOWN);
        let all = self.0.into_iter().map(|(at, message)| locate(source, at.start as usize, message)).collect();
        Diagnostics { file: file.to_owned(), all }
    }
}

/// Where the lines of a source text begin.
pub(crate) struct Lines(Vec<u32>);

impl Lines {
    pub(crate) fn of(source: &str) -> Lines {
        Lines(source.match_indices('\n').map(|(at, _)| at as u32 + 1).collect())
    }

    /// The line of a place, from 1.
    pub(crate) fn line(&self, at: Span) -> u32 {
        self.0.partition_point(|&start| start <= at.start) as u32 + 1
    }
}

fn locate(source: &str, at: usize, message: String) -> Diagnostic {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let before = &source[..at];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[start..].chars().count();
    let from = column.saturating_sub(LINE / 2);
    let whole = source[start..].lines().next().unwrap_or_default().chars().skip(from).take(LINE);
    let (message, text) = (message.chars().map(harmless).collect(), whole.map(harmless).collect());
    Diagnostic { line, column: column + 1, message, text, caret: column - from }
}

/// A character that does nothing to a terminal.
fn harmless(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// `; did you mean X?` if one of the names is almost this one.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    // The comparison takes as many steps, and as much memory, as one length times the other.
    const LONGEST: usize = 64;
    let limit = name.chars().count() / 3;
    let names = names.into_iter().filter(|other| name.len().max(other.len()) <= LONGEST);
    let near = names.map(|other| (strsim::damerau_levenshtein(name, other), other));
    match near.filter(|&(distance, _)| distance <= limit).min() {
        Some((_, other)) => format!("; did you mean `{other}`?"),
        None => String::new(),
    }
}
