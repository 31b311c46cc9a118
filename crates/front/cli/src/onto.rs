//! Outputs that would take the place of what the command reads: refused, for all commands alike.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use comity_terminal::failure::{Failure, Outcome};

/// The flags that name a file to write.
const OUTPUTS: [&str; 6] = ["--out", "--output", "-o", "--plot", "--shares-out", "--log"];

/// Refuses an output file that another argument names, too: a program, a table, an input's `NAME=@FILE`. Its
/// content would be lost.
pub(crate) fn check(args: &[OsString]) -> Outcome {
    let mut rest = args.iter().enumerate().skip(1);
    while let Some((at, arg)) = rest.next() {
        let text = arg.to_string_lossy();
        let (flag, said) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some((at, OsString::from(value)))),
            None => (text.as_ref(), None),
        };
        if !OUTPUTS.contains(&flag) {
            continue;
        }
        let Some((at, value)) = said.or_else(|| rest.next().map(|(at, value)| (at, value.clone()))) else { break };
        // A share is NAME=FILE.
        let written = named(&value);
        let others = args.iter().enumerate().filter(|(other, _)| *other != at);
        let read = others.flat_map(|(_, other)| named(other).into_iter().map(move |file| (file, other)));
        for (file, other) in read {
            if written.iter().any(|written| is_same(written, &file)) {
                return Err(Failure::input(format!(
                    "{flag} {}: the command also reads this file (`{}`), and writing would destroy it: name another \
                        file",
                    value.display(),
                    other.display()
                )));
            }
        }
    }
    Ok(())
}

/// The files that an argument may name: itself, the text behind `=` and `@`, or that before the signs of an
/// expression.
fn named(arg: &OsStr) -> Vec<PathBuf> {
    let Some(text) = arg.to_str() else { return vec![arg.into()] };
    let behind = text.match_indices('=').map(|(at, _)| &text[at + 1..]);
    let parts = std::iter::once(text).chain(behind).map(|part| part.strip_prefix('@').unwrap_or(part));
    parts.flat_map(|part| [part, part.split(['*', '^']).next().unwrap_or(part)]).map(PathBuf::from).collect()
}

/// Whether both exist and are one file. A device or a pipe is fine: it loses nothing.
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(here), Ok(there)) = (fs::metadata(one), fs::metadata(other)) else { return false };
    if !here.is_file() || !there.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (here.dev(), here.ino()) == (there.dev(), there.ino())
    }
    #[cfg(not(unix))]
    {
        fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_not_written_over() {
        let dir = std::env::temp_dir().join(format!("comity-onto-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = |name: &str| dir.join(name).display().to_string();
        let (file, link, other) = (path("a.cty"), path("link"), path("b"));
        fs::write(&file, "x").unwrap();
        fs::write(&other, "x").unwrap();
        fs::hard_link(&file, &link).unwrap();
        let refused = |args: &[&str]| {
            let args: Vec<OsString> = std::iter::once(&"comity").chain(args).map(OsString::from).collect();
            check(&args).is_err()
        };
        for out in [&["--out", &file][..], &["-o", &link], &["--output", &file], &[&format!("--plot={file}")]] {
            for read in [file.clone(), format!("{file}*3^2"), format!("--input=0=@{file}"), format!("x=@{link}")] {
                assert!(refused(&[&["eval", &read], out].concat()), "{read} {out:?}");
                assert!(refused(&[&["eval"], out, &[&read]].concat()), "{out:?} {read}");
            }
            assert!(!refused(&[&["eval", &other], out].concat()));
        }
        assert!(refused(&["run", &file, "--shares-out", &format!("sum={file}")]));
        assert!(!refused(&["eval", &file, "--input", &file]), "nothing is written");
        assert!(!refused(&["eval", &file, "--out", &path("new")]) && !refused(&["eval", &file, "--out"]));
        assert!(!refused(&["eval", "/dev/null", "--out", "/dev/null"]));
        fs::remove_dir_all(dir).unwrap();
    }
}
