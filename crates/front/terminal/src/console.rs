//! Where a command writes: results to standard output or a file, everything else to standard error.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use crate::failure::{Failure, Outcome};

/// Writes a result, whole. A reader that closes early (`comity circuit export … | head`) is not an error.
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
    match print(bytes) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::disk("standard output", &e)),
        _ => Ok(()),
    }
}

/// Writes a line for the person at the terminal. Nothing depends on it, so a closed standard error is ignored.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes why a command failed, for the person at the terminal: in the colours of the command line's own
/// errors, where standard error is a terminal and nobody has said `NO_COLOR`.
pub fn complain(text: &str) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let _ = writeln!(anstream::stderr().lock(), "{red}error:{red:#} {text}");
}

/// Writes a warning for the person at the terminal, coloured as [`complain`] does.
pub fn warn(text: &str) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let _ = writeln!(anstream::stderr().lock(), "{yellow}warning:{yellow:#} {text}");
}

/// Writes a result to a file, if one is named, and else to standard output. If nobody hears it there it is
/// lost, which is an error.
///
/// # Errors
/// The errors of either; a file is then as it was before.
pub fn deliver(result: impl AsRef<[u8]>, file: Option<&Path>) -> Outcome {
    match file {
        Some(path) => write_whole(path, result.as_ref()),
        None => print(result.as_ref()).map_err(|e| Failure::disk("standard output", &e)),
    }
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
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
    OutFile::begin(path, true)?.fill(bytes)
}

/// A file that is there whole or not at all: beside its final name first, then renamed. A device or a pipe,
/// which a rename would replace, is written directly.
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
        OutFile::begin(path, false)
    }

    /// As [`OutFile::create`]; a private file can only be read by its owner. A device or a pipe stays as it is.
    fn begin(path: &Path, private: bool) -> Outcome<OutFile> {
        let path = &named(path);
        let (file, temporary) = if is_special(path) {
            (File::options().write(true).open(path).map_err(|e| unwritable(path, &e))?, None)
        } else {
            let (file, temporary) = beside(path, private)?;
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

    /// Takes room on the disk for `bytes` bytes, which [`fill`](OutFile::fill) then has.
    ///
    /// # Errors
    /// An error that says why there is no room.
    pub fn reserve(&self, bytes: u64) -> Outcome {
        if self.temporary.is_none() {
            return Ok(());
        }
        let zeros = io::copy(&mut io::Read::take(io::repeat(0), bytes), &mut &self.file);
        let done = zeros.and_then(|_| self.file.sync_all()).and_then(|()| (&self.file).rewind());
        done.map_err(|e| unwritable(&self.path, &e))
    }

    /// Whether the file is still there to get its name: its folder may be gone.
    pub fn is_there(&self) -> bool {
        self.temporary.as_ref().is_none_or(|temporary| temporary.exists())
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
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn fill(self, bytes: &[u8]) -> Outcome {
        let cut = || if self.temporary.is_some() { self.file.set_len(bytes.len() as u64) } else { Ok(()) };
        (&self.file).write_all(bytes).and_then(|()| cut()).map_err(|e| unwritable(&self.path, &e))?;
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

/// Names that are tried at most, until there is something else wrong.
const MOST_LEFT: u32 = 10_000;

/// Refuses an output file that could not be written in the end, before any work is done for it.
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn check_writable(path: &Path) -> Outcome {
    if is_special(path) {
        return Ok(());
    }
    let (_, temporary) = beside(&named(path), false)?;
    let _ = fs::remove_file(&temporary);
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::disk(&format!("{}: cannot write it", path.display()), error)
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

/// A new file beside this one, and its name, which no other has; a private one can only be read by its owner.
/// It is locked as long as it is open. What processes that were killed have begun beside this file is
/// nobody's, and is removed: it has no lock.
///
/// # Errors
/// An error that says why there can be no such file.
pub fn beside(path: &Path, private: bool) -> Outcome<(File, PathBuf)> {
    let name = path
        .file_name()
        .filter(|_| !path.is_dir())
        .ok_or_else(|| Failure::input(format!("{}: this is a folder; name a file in it", path.display())))?;
    remove_left(path, name);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut tried = 0;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(match tried {
            0 => format!(".{}.partial", std::process::id()),
            _ => format!(".{}-{tried}.partial", std::process::id()),
        });
        let hidden = path.with_file_name(hidden);
        match options.open(&hidden) {
            // Another process that begins may have taken it for one that was left, in the moment before it is locked.
            Ok(file) if is_taken(&file) || !hidden.exists() => {}
            Ok(file) => return Ok((file, hidden)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(unwritable(path, &e)),
        }
        tried += 1;
        if tried > MOST_LEFT {
            return Err(unwritable(path, &io::ErrorKind::AlreadyExists.into()));
        }
    }
}

/// Locks a file; whether another process has it. Where a file system has no locks nothing is ever taken.
fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
}

/// Removes what killed processes have begun beside this file of that name. Whatever cannot be removed does no harm.
fn remove_left(path: &Path, name: &std::ffi::OsStr) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = name.to_str() else { return };
    let start = format!(".{name}.");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let number = other.to_str().and_then(|other| other.strip_prefix(&start)?.strip_suffix(".partial"));
        let begun = number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.'));
        if begun
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
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
        // What a killed process has left goes, and what a living one writes stays; so do files of others.
        let names = [
            format!(".result.{}.partial", std::process::id()),
            ".result.7-3.partial".into(),
            ".result.7.partial".into(),
        ];
        let [left, older, held] = names.map(|name| dir.join(name));
        let other = dir.join(".result.x.partial");
        [&left, &older, &held, &other].into_iter().for_each(|file| fs::write(file, b"half").unwrap());
        let lock = File::open(&held).unwrap();
        lock.lock().unwrap();
        write_whole(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!([&left, &older, &held, &other].map(|file| file.exists()), [false, false, true, true]);
        fs::remove_file(&held).unwrap();
        fs::remove_file(&other).unwrap();
        // Room that was taken before is the file's, and no more of it.
        let out = OutFile::create(&path).unwrap();
        out.reserve(1000).unwrap();
        assert_eq!(out.file.metadata().unwrap().len(), 1000);
        write_whole(&path, b"meanwhile").unwrap();
        assert!(out.is_there(), "another one in the making stays");
        out.fill(b"four, whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"four, whole");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
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
