//! The folder: names, the lock, and what has to be on the disk before the next step.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use comity_core::{Error, Result, SessionId};
use comity_files::{OwnersAlone, others_may};
use zeroize::Zeroizing;

/// A store's folder, locked as long as this lives.
pub(crate) struct Folder {
    dir: PathBuf,
    /// The key from which all others follow.
    pub(crate) root: Zeroizing<[u8; 32]>,
    /// The lots that this process works on.
    pub(crate) busy: Mutex<HashSet<SessionId>>,
    _lock: File,
}

impl Folder {
    pub(crate) fn new(dir: PathBuf, root: Zeroizing<[u8; 32]>, lock: File) -> Folder {
        Folder { dir, root, busy: Mutex::default(), _lock: lock }
    }

    /// The file of this session with this ending.
    pub(crate) fn named(&self, id: &SessionId, ending: &str) -> PathBuf {
        self.dir.join(format!("{}.{ending}", hex(id)))
    }

    /// All files that begin with a session's id, and their endings. Other files are left alone.
    pub(crate) fn files(&self) -> Result<Vec<(SessionId, String)>> {
        let cannot = |error| failed("cannot read the folder", &self.dir, error);
        let mut files = Vec::new();
        for file in fs::read_dir(&self.dir).map_err(cannot)? {
            let name = file.map_err(cannot)?.file_name();
            files.extend(name.to_str().and_then(parts));
        }
        Ok(files)
    }

    /// Renames a file, over one that is there. When this returns, that is so after a crash too.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(|error| failed("cannot rename", from, error))?;
        self.sync()
    }

    /// Waits until the names in the folder are on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        sync(&self.dir)
    }
}

/// An id as it stands in the names of files.
pub(crate) fn hex(id: &SessionId) -> String {
    id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The session and the ending in a file's name.
fn parts(name: &str) -> Option<(SessionId, String)> {
    let (hex, ending) = name.split_once('.')?;
    let lower = hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let mut id = [0; 32];
    for (byte, at) in id.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(hex.get(at..at + 2).filter(|_| lower)?, 16).ok()?;
    }
    Some((SessionId::new(id), ending.to_owned()))
}

/// Makes the folder, if it is not there, for its owner only.
pub(crate) fn make(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|error| failed("cannot make the folder", dir, error))
}

/// Refuses a folder into which others can put files: lots of theirs would be taken for this party's, or its
/// own be taken away.
pub(crate) fn owned(dir: &Path) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = File::open(dir).map_err(|error| failed("cannot open", dir, error))?;
    check_mode(&folder, dir, OwnersAlone::Write)
}

/// Refuses what others may use though that is its owner's alone.
pub(crate) fn check_mode(file: &File, path: &Path, alone: OwnersAlone) -> Result<()> {
    let found = others_may(file, path, alone).map_err(|error| failed("cannot read", path, error))?;
    found.map_or(Ok(()), |found| Err(Error::invalid_input(found.to_string())))
}

/// A lock that keeps other processes out until the file is dropped.
pub(crate) fn lock(dir: &Path) -> Result<File> {
    let path = dir.join("lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = options.open(&path).map_err(|error| failed("cannot open", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::invalid_input(format!(
            "the store {} is in use by another process: each party needs a store of its own, and one run at a time uses it",
            dir.display()
        ))),
        Err(TryLockError::Error(error)) => Err(failed("cannot lock", &path, error)),
    }
}

/// Writes a new file, readable by its owner only, to the disk.
pub(crate) fn new_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // Half a file is worse than none; if removing fails too, the first error says more.
        let _ = fs::remove_file(path);
        failed("cannot write", path, error)
    })
}

/// A new file, readable by its owner only.
pub(crate) fn create(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| failed("cannot make", path, error))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("cannot remove", path, error)),
        _ => Ok(()),
    }
}

/// Waits until the names in a folder are on the disk.
#[cfg(unix)]
pub(crate) fn sync(dir: &Path) -> Result<()> {
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    synced.map_err(|error| failed("cannot write to the disk:", dir, error))
}

/// Does nothing: elsewhere folders cannot be opened as files, and the file system's journal has to do.
#[cfg(not(unix))]
pub(crate) fn sync(_dir: &Path) -> Result<()> {
    Ok(())
}

/// An error of the file system: neither bad input nor the network's.
pub(crate) fn failed(what: &str, path: &Path, source: std::io::Error) -> Error {
    Error::store(format!("{what} {}: {source}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_begin_with_an_id_are_the_stores() {
        let hex = "00ff".repeat(16);
        for ending in ["lot", "lot-partial", "batch.00000001"] {
            let (id, found) = parts(&format!("{hex}.{ending}")).unwrap();
            assert_eq!((&id.to_bytes()[..3], found.as_str()), (&[0, 255, 0][..], ending));
        }
        let other = ["store", "lock", "", ".lot", "00ff.lot", "store.partial"].map(str::to_owned);
        let long = format!("{hex}00.lot");
        for name in other.into_iter().chain([hex.to_uppercase() + ".lot", hex, long]) {
            assert!(parts(&name).is_none(), "{name}");
        }
        assert!(parts(&format!("é{}.lot", "0".repeat(62))).is_none());
    }
}
