//! Where a command writes: results to standard output or a file, everything else to standard error.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use comity_files::{Access, Draft};

use crate::failure::{Failure, Outcome};

/// Writes a result to standard output, whole. A reader that closes early (`comity circuit export … | head`)
/// is not an error.
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
/// errors, if standard error is a terminal and `NO_COLOR` is not set.
pub fn complain(text: &str) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let _ = writeln!(anstream::stderr().lock(), "{red}error:{red:#} {text}");
}

/// Writes a warning for the person at the terminal, coloured as [`complain`] does.
pub fn warn(text: &str) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let _ = writeln!(anstream::stderr().lock(), "{yellow}warning:{yellow:#} {text}");
}

/// Writes a result to a file, if one is named, and else to standard output. A closed standard output is an
/// error: the result would be lost.
///
/// # Errors
/// The errors of either; a file then stays as it was.
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

/// Writes a file, as [`OutFile`] does: afterwards it is whole, or as it was before.
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Outcome {
    OutFile::create(path)?.fill(bytes)
}

/// Writes a file as [`write_whole`], which only its owner may read.
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Outcome {
    OutFile::begin(path, Access::Owner)?.fill(bytes)
}

/// An output file, written as a [`Draft`]: afterwards it is whole, or as it was before. A device or a pipe,
/// which a rename would replace, is written directly.
pub struct OutFile {
    path: PathBuf,
    to: Sink,
}

/// What an [`OutFile`] writes to.
enum Sink {
    Special(File),
    Draft(Draft),
}

impl OutFile {
    /// Begins the file of this name.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn create(path: &Path) -> Outcome<OutFile> {
        OutFile::begin(path, Access::Umask)
    }

    fn begin(path: &Path, access: Access) -> Outcome<OutFile> {
        let path = named(path);
        let to = match is_special(&path) {
            true => Sink::Special(File::options().write(true).open(&path).map_err(|e| unwritable(&path, &e))?),
            false => Sink::Draft(draft(&path, access)?),
        };
        Ok(OutFile { path, to })
    }

    fn file(&self) -> &File {
        match &self.to {
            Sink::Special(file) => file,
            Sink::Draft(draft) => draft.file(),
        }
    }

    /// The file, to write to.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sink(&self) -> Outcome<File> {
        self.file().try_clone().map_err(|e| unwritable(&self.path, &e))
    }

    /// Reserves room on the disk for `bytes` bytes, so that [`fill`](OutFile::fill) has it.
    ///
    /// # Errors
    /// An error that says why there is no room.
    pub fn reserve(&self, bytes: u64) -> Outcome {
        let Sink::Draft(draft) = &self.to else { return Ok(()) };
        let mut file = draft.file();
        let zeros = io::copy(&mut io::Read::take(io::repeat(0), bytes), &mut file);
        let done = zeros.and_then(|_| file.sync_all()).and_then(|()| file.rewind());
        done.map_err(|e| unwritable(&self.path, &e))
    }

    /// Whether the draft can still be given its name: its folder may be gone.
    pub fn is_there(&self) -> bool {
        match &self.to {
            Sink::Special(_) => true,
            Sink::Draft(draft) => draft.is_there(),
        }
    }

    /// Waits until the written bytes are on the disk: [`commit`](OutFile::commit) then takes no time.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn sync(&self) -> Outcome {
        // A device or a pipe has no disk.
        let Sink::Draft(draft) = &self.to else { return Ok(()) };
        draft.file().sync_all().map_err(|e| unwritable(&self.path, &e))
    }

    /// Writes all bytes of the file, and gives it its name.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn fill(self, bytes: &[u8]) -> Outcome {
        let cut = || match &self.to {
            Sink::Special(_) => Ok(()),
            Sink::Draft(draft) => draft.file().set_len(bytes.len() as u64),
        };
        self.file().write_all(bytes).and_then(|()| cut()).map_err(|e| unwritable(&self.path, &e))?;
        self.commit()
    }

    /// Gives the file its name: now it is whole.
    ///
    /// # Errors
    /// An error that says why the file cannot be written.
    pub fn commit(self) -> Outcome {
        match self.to {
            Sink::Special(_) => Ok(()),
            Sink::Draft(draft) => draft.keep().map_err(|e| unwritable(&self.path, &e)),
        }
    }
}

/// A draft beside the file at this path.
///
/// # Errors
/// An error that says why there can be no such draft.
pub fn draft(path: &Path, access: Access) -> Outcome<Draft> {
    Draft::new(path, access).map_err(|e| match e.kind() {
        io::ErrorKind::IsADirectory => Failure::input(format!("{}: it is a folder; name a file in it", path.display())),
        _ => unwritable(path, &e),
    })
}

/// Refuses an output file that cannot be written, before any work is done for it.
///
/// # Errors
/// An error that says why the file cannot be written.
pub fn check_writable(path: &Path) -> Outcome {
    if is_special(path) {
        return Ok(());
    }
    draft(&named(path), Access::Umask).map(drop)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::disk(&format!("{}: cannot write it", path.display()), error)
}

/// The file that a link leads to, else the path itself: the link stays, even /dev/stdout when it leads to a
/// file.
fn named(path: &Path) -> PathBuf {
    let linked = fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
    let target = if linked { fs::canonicalize(path).ok() } else { None };
    target.unwrap_or_else(|| path.to_owned())
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_links_and_devices_stay() {
        let dir = std::env::temp_dir().join(format!("comity-console-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("result");
        check_writable(&path).unwrap();
        assert!(!path.exists());
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        // Room that was taken before is the file's, and no more of it.
        let out = OutFile::create(&path).unwrap();
        out.reserve(1000).unwrap();
        assert_eq!(out.file().metadata().unwrap().len(), 1000);
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
