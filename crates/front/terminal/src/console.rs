//! Where a command writes: results to standard output or a file, everything else to standard error.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use crate::failure::{Failure, Outcome};

/// Writes a result, whole. A reader who has heard enough (`comity circuit export … | head`) is no error.
///
/// # Errors
/// The errors of standard output.
pub fn emit(text: &str) -> Outcome {
    emit_bytes(text.as_bytes())
}

/// As [`emit`], for bytes.
///
/// # Errors
/// The errors of standard output.
pub fn emit_bytes(bytes: &[u8]) -> Outcome {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::input(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Writes a line for the person at the terminal. Nothing depends on it, so a closed standard error is ignored.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes why a command failed, for the person at the terminal: in the colours of the command line's own errors, where standard error
/// is a terminal and nobody has said `NO_COLOR`.
pub fn complain(text: &str) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let _ = writeln!(anstream::stderr().lock(), "{red}error:{red:#} {text}");
}

/// Writes a warning for the person at the terminal, coloured as [`complain`] does.
pub fn warn(text: &str) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let _ = writeln!(anstream::stderr().lock(), "{yellow}warning:{yellow:#} {text}");
}

/// Writes a result to a file, if one is named, and else to standard output.
///
/// # Errors
/// The errors of either; a file is then as it was before.
pub fn deliver(result: impl AsRef<[u8]>, file: Option<&Path>) -> Outcome {
    match file {
        Some(path) => write_whole(path, result.as_ref()),
        None => emit_bytes(result.as_ref()),
    }
}

/// Writes a file that is there whole or not at all, as [`OutFile`].
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Outcome {
    OutFile::create(path)?.fill(bytes)
}

/// As [`write_whole`], a file that only its owner may read.
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Outcome {
    let out = OutFile::create(path)?;
    // Nothing is in it yet. A device or a pipe stays as it is.
    #[cfg(unix)]
    if out.temporary.is_some() {
        let only_owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        out.file.set_permissions(only_owner).map_err(|e| unwritable(path, &e))?;
    }
    out.fill(bytes)
}

/// A file that is there whole or not at all: beside its final name first, then renamed. A device or a pipe, which a rename
/// would replace, is written directly.
pub struct OutFile {
    path: PathBuf,
    file: File,
    /// The name until it is whole.
    temporary: Option<PathBuf>,
}

impl OutFile {
    /// Begins the file of this name.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn create(path: &Path) -> Outcome<OutFile> {
        let path = &named(path);
        let (file, temporary) = if is_special(path) {
            (File::options().write(true).open(path).map_err(|e| unwritable(path, &e))?, None)
        } else {
            let (file, temporary) = beside(path)?;
            (file, Some(temporary))
        };
        Ok(OutFile { path: path.to_owned(), file, temporary })
    }

    /// The file, to write to.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sink(&self) -> Outcome<File> {
        self.file.try_clone().map_err(|e| unwritable(&self.path, &e))
    }

    /// Waits until what was written is on the disk: [`commit`](OutFile::commit) takes no time then.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn sync(&self) -> Outcome {
        // A device or a pipe has no disk.
        let done = if self.temporary.is_some() { self.file.sync_all() } else { Ok(()) };
        done.map_err(|e| unwritable(&self.path, &e))
    }

    /// Writes all that is in the file, which is whole then.
    fn fill(self, bytes: &[u8]) -> Outcome {
        (&self.file).write_all(bytes).map_err(|e| unwritable(&self.path, &e))?;
        self.commit()
    }

    /// Gives the file its name: now it is whole.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn commit(mut self) -> Outcome {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        let done = self.file.sync_all().and_then(|()| fs::rename(temporary, &self.path));
        done.map_err(|e| unwritable(&self.path, &e))?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Files that killed processes with one number have left at most, until there is something else wrong.
const MOST_LEFT: u32 = 10_000;

/// Refuses an output file that could not be written in the end, before any work is done for it.
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn check_writable(path: &Path) -> Outcome {
    if is_special(path) {
        return Ok(());
    }
    let (_, temporary) = beside(&named(path))?;
    let _ = fs::remove_file(&temporary);
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: cannot write it: {error}", path.display()))
}

/// What a link names, and else the path itself: a link stays one, also /dev/stdout where that leads to a file.
fn named(path: &Path) -> PathBuf {
    let linked = fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
    let target = if linked { fs::canonicalize(path).ok() } else { None };
    target.unwrap_or_else(|| path.to_owned())
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// A new file beside this one, and its name, which no other has. A process that was killed has left its own, perhaps, and in a container its
/// number comes again.
fn beside(path: &Path) -> Outcome<(File, PathBuf)> {
    let name = path
        .file_name()
        .filter(|_| !path.is_dir())
        .ok_or_else(|| Failure::input(format!("{}: this is a folder; name a file in it", path.display())))?;
    let mut tried = 0;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(match tried {
            0 => format!(".{}.partial", std::process::id()),
            _ => format!(".{}-{tried}.partial", std::process::id()),
        });
        let hidden = path.with_file_name(hidden);
        match File::create_new(&hidden) {
            Ok(file) => return Ok((file, hidden)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && tried < MOST_LEFT => tried += 1,
            Err(e) => return Err(unwritable(path, &e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = std::env::temp_dir().join(format!("comity-console-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("result");
        check_writable(&path).unwrap();
        assert!(!path.exists());
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        // What a killed process with this number has left is in nobody's way, and may be another container's.
        let left = dir.join(format!(".result.{}.partial", std::process::id()));
        fs::write(&left, b"half").unwrap();
        check_writable(&path).unwrap();
        write_whole(&path, b"three").unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&left).unwrap()), (b"three".to_vec(), b"half".to_vec()));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
        fs::remove_file(&left).unwrap();
        #[cfg(unix)]
        {
            let link = dir.join("link");
            std::os::unix::fs::symlink("result", &link).unwrap();
            check_writable(&link).unwrap();
            write_whole(&link, b"four").unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "a link stays a link");
            assert_eq!(fs::read(&path).unwrap(), b"four");
            fs::remove_file(&link).unwrap();
        }
        assert!(write_whole(&dir, b"x").unwrap_err().message.contains("folder"));
        assert!(check_writable(&dir.join("no/such")).is_err());
        let (sink, source) = (Path::new("/dev/null"), b"x");
        if sink.exists() {
            check_writable(sink).unwrap();
            write_whole(sink, source).unwrap();
            assert!(is_special(sink), "a device stays a device");
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
