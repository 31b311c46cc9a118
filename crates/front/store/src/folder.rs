//! The folder: names, the lock, and what has to be on the disk before the next step.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use comity_core::{Error, Result, SessionId};
use zeroize::Zeroizing;

/// A store's folder, locked as long as this lives.
pub(crate) struct Folder {
    dir: PathBuf,
    /// The key from which all others follow.
    pub(crate) root: Zeroizing<[u8; 32]>,
    _lock: File,
}

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Partial,
    Ready,
    Used,
}

impl Stage {
    const ALL: [Stage; 3] = [Stage::Partial, Stage::Ready, Stage::Used];

    fn name(self) -> &'static str {
        match self {
            Stage::Partial => "partial",
            Stage::Ready => "ready",
            Stage::Used => "used",
        }
    }
}

impl Folder {
    pub(crate) fn new(dir: PathBuf, root: Zeroizing<[u8; 32]>, lock: File) -> Folder {
        Folder { dir, root, _lock: lock }
    }

    /// The file of an entry.
    pub(crate) fn path(&self, id: &SessionId, stage: Stage) -> PathBuf {
        let id: String = id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        self.dir.join(format!("{id}.{}", stage.name()))
    }

    /// All entries there are. Files that are none of the store's are left alone.
    pub(crate) fn entries(&self) -> Result<Vec<(SessionId, Stage)>> {
        let cannot = |error| failed("cannot read the folder", &self.dir, error);
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.dir).map_err(cannot)? {
            let name = file.map_err(cannot)?.file_name();
            entries.extend(name.to_str().and_then(entry));
        }
        Ok(entries)
    }

    /// Takes an entry a stage further. When this returns, that is so after a crash too.
    pub(crate) fn promote(&self, id: &SessionId, from: Stage, to: Stage) -> Result<()> {
        let from = self.path(id, from);
        fs::rename(&from, self.path(id, to)).map_err(|error| failed("cannot rename", &from, error))?;
        sync(&self.dir)
    }
}

/// The entry that a file of this name is.
fn entry(name: &str) -> Option<(SessionId, Stage)> {
    let (hex, stage) = name.split_once('.')?;
    let stage = Stage::ALL.into_iter().find(|s| s.name() == stage)?;
    let lower = hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let mut id = [0; 32];
    for (byte, at) in id.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(hex.get(at..at + 2).filter(|_| lower)?, 16).ok()?;
    }
    Some((SessionId::new(id), stage))
}

/// Makes the folder, if it is not there, for its owner only.
pub(crate) fn make(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|error| failed("cannot make the folder", dir, error))
}

/// Keeps other processes out until the file is dropped.
pub(crate) fn lock(dir: &Path) -> Result<File> {
    let path = dir.join("lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = options.open(&path).map_err(|error| failed("cannot open", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InvalidInput(format!(
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

/// Elsewhere folders cannot be opened as files, and the file system's journal has to do.
#[cfg(not(unix))]
pub(crate) fn sync(_dir: &Path) -> Result<()> {
    Ok(())
}

pub(crate) fn failed(what: &str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { context: format!("{what} {}", path.display()), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_entries_are_entries() {
        let hex = "00ff".repeat(16);
        for (name, stage) in [("partial", Stage::Partial), ("ready", Stage::Ready), ("used", Stage::Used)] {
            let (id, found) = entry(&format!("{hex}.{name}")).unwrap();
            assert_eq!((&id.to_bytes()[..3], found), (&[0, 255, 0][..], stage));
        }
        let other = ["store", "lock", "", ".ready", "00ff.ready", "store.partial"].map(str::to_owned);
        let long = format!("{hex}00.used");
        for name in other.into_iter().chain([hex.to_uppercase() + ".used", hex.clone(), hex + ".ready.bak", long]) {
            assert!(entry(&name).is_none(), "{name}");
        }
        assert!(entry(&format!("é{}.used", "0".repeat(62))).is_none());
    }
}
