//! The file of a key: locked as long as it is worked on, and replaced whole.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use comity_files::{Access, OwnersAlone, others_may};
use comity_mail::{FileKind, QueryKey};
use comity_terminal::failure::{Failure, Outcome};

use super::files::{self, Partial, exists, failed};

/// The file of a key, locked so that nobody else works on it.
pub(super) struct KeyFile {
    path: PathBuf,
    _lock: File,
}

impl KeyFile {
    /// Refuses to make a key where there is a file already, before any work is done for it.
    pub(super) fn check_new(path: &Path) -> Outcome {
        if path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
    }

    /// Writes a new key.
    pub(super) fn create(path: &Path, key: &QueryKey) -> Outcome {
        let mut partial = Partial::new(path, Access::Owner)?;
        partial.write_all(&key.to_bytes()).map_err(|e| failed(path, "cannot write it", &e))?;
        partial.keep_new()
    }

    /// Locks and reads a key.
    pub(super) fn open(path: &Path) -> Outcome<(KeyFile, QueryKey)> {
        // The file itself: a link would be replaced, and lead to a key that is not marked.
        let path = &fs::canonicalize(path).map_err(|e| failed(path, "cannot read it", &e))?;
        // A look at it first, so that no lock is left beside what is no key, and nobody guards a query as if
        // it were one.
        files::read(path, FileKind::Key)?;
        check_mode(path)?;
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&lock).map_err(|e| failed(&lock, "cannot open it", &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::input(format!(
                    "{}: another process is using this key; try again when it has ended",
                    path.display()
                )));
            }
            Err(TryLockError::Error(e)) => return Err(failed(&lock, "cannot lock it", &e)),
        }
        let bytes = files::read(path, FileKind::Key)?;
        let key = QueryKey::from_bytes(&bytes).map_err(|e| Failure::from(e).at(&path.display().to_string()))?;
        Ok((KeyFile { path: path.clone(), _lock: file }, key))
    }

    /// Replaces the key. When this returns, that is so after a crash too.
    pub(super) fn save(&self, key: &QueryKey) -> Outcome {
        let mut partial = Partial::new(&self.path, Access::Owner)?;
        partial.write_all(&key.to_bytes()).map_err(|e| failed(&self.path, "cannot write it", &e))?;
        partial.keep()
    }
}

fn check_mode(path: &Path) -> Outcome {
    let found = File::open(path).and_then(|file| others_may(&file, path, OwnersAlone::Use));
    match found.map_err(|e| failed(path, "cannot read it", &e))? {
        Some(found) => Err(Failure::input(found.to_string())),
        None => Ok(()),
    }
}
