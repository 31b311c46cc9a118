//! What a program is named by: a name or a file, called several times side by side (`*K`) or in turns (`^K`).

use std::path::{Path, PathBuf};

/// A program as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The innermost program.
    pub base: Base,
    /// The ways in which it is called again, first to last.
    pub powers: Vec<Power>,
}

/// The program that an expression repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A built-in's name (or what should have been one).
    Name(String),
    /// A file that exists, or whose name says that it is a file.
    File(PathBuf),
}

/// One of the two ways to call a program several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// `*K`: independent calls.
    Map(u64),
    /// `^K`: one turn after another.
    Iterate(u64),
}

/// Parses the text that names a program. At every level a built-in's name comes first (write `./NAME` for a
/// file of that name), then a file that exists under the whole text, `*` and `^` included, and only then are
/// these signs.
///
/// # Errors
/// A text that shows what stands where a number should, for the person who wrote it.
pub fn parse(
    text: &str,
    is_builtin: &dyn Fn(&str) -> bool,
    is_file: &dyn Fn(&Path) -> bool,
) -> Result<Expression, String> {
    // In turns: each sign would be a call deeper, and a command line has room for a hundred thousand of them.
    let (mut rest, mut powers) = (text, Vec::new());
    let base = loop {
        if is_builtin(rest) {
            break Base::Name(rest.to_owned());
        }
        if is_file(Path::new(rest)) {
            break Base::File(rest.into());
        }
        let Some(at) = rest.rfind(['*', '^']) else { break unknown(rest) };
        let (sign, count) = (rest.as_bytes()[at], &rest[at + 1..]);
        let count = match count.parse::<u64>() {
            Ok(number) if number > 0 && number.to_string().len() == count.len() => number,
            _ => return Err(format!("`{rest}`: after `{}` a number from 1 on is wanted, not `{count}`", sign as char)),
        };
        powers.push(if sign == b'*' { Power::Map(count) } else { Power::Iterate(count) });
        rest = &rest[..at];
    };
    powers.reverse();
    Ok(Expression { base, powers })
}

/// A base that is neither a built-in nor a file that exists: a file if the text looks like one, else a name.
fn unknown(text: &str) -> Base {
    let endings = [".txt", ".cty", ".blif", ".json", ".shdl", ".v"];
    let looks_like_a_file = text.contains(['/', '\\']) || endings.iter().any(|ending| text.ends_with(ending));
    if looks_like_a_file { Base::File(text.into()) } else { Base::Name(text.to_owned()) }
}

impl Expression {
    /// The number of calls that lie side by side, and of turns that follow each other. The signs' order does
    /// not matter: every lane has turns of its own. `None` if there are 2^64 or more.
    pub fn lanes_and_turns(&self) -> Option<(u64, u64)> {
        self.powers.iter().try_fold((1u64, 1u64), |(lanes, turns), power| match power {
            Power::Map(count) => Some((lanes.checked_mul(*count)?, turns)),
            Power::Iterate(count) => Some((lanes, turns.checked_mul(*count)?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, files: &[&str]) -> Result<Expression, String> {
        parse(text, &|name| name == "aes128", &|path| files.iter().any(|f| Path::new(f) == path))
    }

    fn of(base: Base, powers: &[Power]) -> Result<Expression, String> {
        Ok(Expression { base, powers: powers.to_vec() })
    }

    #[test]
    fn names_files_and_powers() {
        let (name, file) = (|n: &str| Base::Name(n.into()), |f: &str| Base::File(f.into()));
        assert_eq!(parsed("aes128", &["aes128"]), of(name("aes128"), &[]));
        assert_eq!(parsed("./aes128", &["./aes128"]), of(file("./aes128"), &[]));
        assert_eq!(parsed("aes128*4", &[]), of(name("aes128"), &[Power::Map(4)]));
        assert_eq!(parsed("aes128^5*4", &[]), of(name("aes128"), &[Power::Iterate(5), Power::Map(4)]));
        assert_eq!(parsed("a*4", &["a"]), of(file("a"), &[Power::Map(4)]));
        assert_eq!(parsed("a*4", &["a", "a*4"]), of(file("a*4"), &[]));
        assert_eq!(parsed("a*4^2", &["a", "a*4"]), of(file("a*4"), &[Power::Iterate(2)]));
        assert_eq!(parsed("dir/missing", &[]), of(file("dir/missing"), &[]));
        assert_eq!(parsed("missing.cty", &[]), of(file("missing.cty"), &[]));
        assert_eq!(parsed("aes", &[]), of(name("aes"), &[]));
        assert_eq!(parsed("aes128^5*4*3", &[]).unwrap().lanes_and_turns(), Some((12, 5)));
    }

    /// As many as an argument of a command has room for, on a thread that has as little stack as any.
    #[test]
    fn a_hundred_thousand_signs_overflow_no_stack() {
        let text = format!("aes128{}", "*1".repeat(1 << 16));
        let parsed = std::thread::Builder::new().stack_size(1 << 18).spawn(move || parsed(&text, &[])).unwrap();
        assert_eq!(parsed.join().unwrap().unwrap().powers.len(), 1 << 16);
    }

    #[test]
    fn counts_are_checked() {
        for bad in ["aes128*", "aes128*0", "aes128^-1", "aes128*1.5", "aes128*+1", "aes128^99999999999999999999"] {
            assert!(parsed(bad, &[]).is_err(), "{bad}");
        }
        assert_eq!(parsed("aes128*9999999999*9999999999", &[]).unwrap().lanes_and_turns(), None);
    }
}
