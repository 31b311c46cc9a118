//! What only the owner of a file or a folder may do with it.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What is the owner's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnersAlone {
    /// To read the file, or to write it.
    Use,
    /// To write the file, or to put others into the folder.
    Write,
}

impl OwnersAlone {
    /// The bits of a mode that give it to others, and the argument for chmod that takes them away.
    fn bits(self) -> (u32, &'static str) {
        match self {
            OwnersAlone::Use => (0o077, "600"),
            OwnersAlone::Write => (0o022, "go-w"),
        }
    }
}

/// Others may do what is the owner's alone. Its text says how to mend that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OthersMay {
    path: PathBuf,
    mode: u32,
    mend: &'static str,
}

impl fmt::Display for OthersMay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OthersMay { path, mode, mend } = self;
        write!(f, "others may use {path} (mode {mode:03o}): run `chmod {mend} {path}`", path = path.display())
    }
}

impl std::error::Error for OthersMay {}

/// Whether others may do with an open file or folder, which has this path, what is its owner's `alone`. Finds nothing
/// wrong on other systems than Unix: they keep a folder's files from other users unless told otherwise.
///
/// # Errors
/// Those of the system.
pub fn others_may(file: &File, path: &Path, alone: OwnersAlone) -> io::Result<Option<OthersMay>> {
    let (forbidden, mend) = alone.bits();
    let mode = mode_of(file)?;
    Ok((mode & forbidden != 0).then(|| OthersMay { path: path.to_owned(), mode: mode & 0o777, mend }))
}

#[cfg(unix)]
fn mode_of(file: &File) -> io::Result<u32> {
    Ok(std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()))
}

#[cfg(not(unix))]
fn mode_of(_: &File) -> io::Result<u32> {
    Ok(0)
}
