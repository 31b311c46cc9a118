//! Files that are there whole or not at all: written beside their final name, and given it when all is on the
//! disk. When a [`Draft`] is kept, that is so after a crash too.
//!
//! A draft is locked as long as it is open. What processes that were killed have begun beside a file has no
//! lock, and goes when the next one begins there. Where a file system has no locks nothing is taken for left.
//!
//! And files and folders that are [their owner's alone](others_may).

mod owner;

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub use owner::{OthersMay, OwnersAlone, others_may};

/// The permissions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone.
    Owner,
    /// All may read it, and only its owner may write it.
    Published,
    /// The system's default, by the umask.
    Umask,
}

impl Access {
    /// The mode that a new file asks for.
    #[cfg(unix)]
    fn mode(self) -> u32 {
        match self {
            Access::Owner => 0o600,
            Access::Published => 0o644,
            Access::Umask => 0o666,
        }
    }
}

/// A file in the making. Dropped before it is kept, it leaves nothing.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    /// The name until it is whole.
    name: PathBuf,
    file: File,
    kept: bool,
}

/// Names that are tried at most, until there is something else wrong.
const MOST_TRIED: u32 = 10_000;

impl Draft {
    /// Begins a file of this name, in an existing folder.
    ///
    /// # Errors
    /// [`ErrorKind::IsADirectory`] if the path is a folder's; those of the system.
    pub fn new(path: &Path, access: Access) -> io::Result<Draft> {
        let name = path.file_name().filter(|_| !path.is_dir()).ok_or(ErrorKind::IsADirectory)?;
        remove_left(path, name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, access.mode());
        #[cfg(not(unix))]
        let _ = access;
        for tried in 0..MOST_TRIED {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(match tried {
                0 => format!(".{}.partial", std::process::id()),
                _ => format!(".{}-{tried}.partial", std::process::id()),
            });
            let hidden = path.with_file_name(hidden);
            match options.open(&hidden) {
                // Another process that begins may have taken it for one that was left behind, in the moment
                // before it is locked.
                Ok(file) if is_taken(&file) || !hidden.exists() => {}
                Ok(file) => return Ok(Draft { path: path.to_owned(), name: hidden, file, kept: false }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether the draft can still be given its name: its folder may be gone.
    pub fn is_there(&self) -> bool {
        self.name.exists()
    }

    /// Gives the file its name, and replaces an existing file.
    ///
    /// # Errors
    /// Those of the system. An existing file stays as it was, unless the disk fails for the folder.
    pub fn keep(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.name, &self.path)?;
        self.kept = true;
        sync_names(&self.path)
    }

    /// As [`Draft::keep`], but never replaces a file.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if the file exists; those of the system.
    pub fn keep_new(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        match fs::hard_link(&self.name, &self.path) {
            Ok(()) => fs::remove_file(&self.name)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
            Err(_) if self.path.symlink_metadata().is_ok() => return Err(ErrorKind::AlreadyExists.into()),
            // Some file systems have no links. A file that comes to be in this moment is lost there.
            Err(_) => fs::rename(&self.name, &self.path)?,
        }
        self.kept = true;
        sync_names(&self.path)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing else can be done about a draft that is not wanted.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// Writes a file, and replaces an existing one.
///
/// # Errors
/// Those of [`Draft`].
pub fn replace(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::new(path, access)?;
    draft.write_all(bytes)?;
    draft.keep()
}

/// Writes a new file.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if it exists; those of [`Draft`].
pub fn create(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::new(path, access)?;
    draft.write_all(bytes)?;
    draft.keep_new()
}

/// Waits until the names in a file's folder are on the disk, so that a file that was made, renamed or removed
/// is so even after a crash. Returns at once on a system that cannot do this.
///
/// # Errors
/// Those of the system.
pub fn sync_names(file: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder_of(file))?.sync_all() } else { Ok(()) }
}

/// The folder that a file is in.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Locks a file; whether another process has it.
fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Removes what killed processes have begun beside this file of that name. Whatever cannot be removed does no harm.
fn remove_left(path: &Path, name: &OsStr) {
    let Some(name) = name.to_str() else { return };
    let start = format!(".{name}.");
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
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

    /// A folder of one test, removed when it passes.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("comity-files-{test}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = names.collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                let _ = fs::remove_dir_all(&self.0);
            }
        }
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = Folder::new("replace");
        let path = folder.0.join("k");
        replace(&path, Access::Umask, b"one").unwrap();
        replace(&path, Access::Owner, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        // One that is not kept leaves what was there.
        let mut draft = Draft::new(&path, Access::Owner).unwrap();
        draft.write_all(b"half").unwrap();
        assert_eq!((folder.names().len(), fs::read(&path).unwrap()), (2, b"two".to_vec()));
        drop(draft);
        assert_eq!(folder.names(), ["k"]);
        assert_eq!(replace(&folder.0, Access::Umask, b"x").unwrap_err().kind(), ErrorKind::IsADirectory);
    }

    #[test]
    fn a_new_file_never_replaces_one() {
        let folder = Folder::new("new");
        let path = folder.0.join("k");
        create(&path, Access::Owner, b"one").unwrap();
        assert_eq!(create(&path, Access::Owner, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!((folder.names(), fs::read(&path).unwrap()), (vec!["k".to_owned()], b"one".to_vec()));
        #[cfg(unix)]
        {
            let link = folder.0.join("link");
            std::os::unix::fs::symlink("nowhere", &link).unwrap();
            assert_eq!(create(&link, Access::Owner, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        }
    }

    #[test]
    fn what_killed_processes_left_goes_and_what_others_write_stays() {
        let folder = Folder::new("left");
        let own = format!(".k.{}.partial", std::process::id());
        let names = [&own, ".k.7-3.partial", ".k.7.partial", ".k.x.partial", ".k.cache.7.partial"];
        names.iter().for_each(|name| fs::write(folder.0.join(name), b"half").unwrap());
        let held = File::open(folder.0.join(names[2])).unwrap();
        held.lock().unwrap();
        replace(&folder.0.join("k"), Access::Umask, b"whole").unwrap();
        assert_eq!(folder.names(), [".k.7.partial", ".k.cache.7.partial", ".k.x.partial", "k"]);
    }

    #[test]
    #[cfg(unix)]
    fn what_others_may_do_is_told_with_how_to_mend_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("others");
        let path = folder.0.join("k");
        create(&path, Access::Owner, b"secret").unwrap();
        let file = File::open(&path).unwrap();
        let found = |mode, alone| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            others_may(&file, &path, alone).unwrap().map(|found| found.to_string())
        };
        for (alone, mend, fine, loose) in [
            (OwnersAlone::Use, "600", &[0o600, 0o700, 0o400][..], &[0o640, 0o620, 0o610, 0o604, 0o602, 0o601][..]),
            (OwnersAlone::Write, "go-w", &[0o600, 0o755, 0o4644], &[0o620, 0o602, 0o666]),
        ] {
            assert!(fine.iter().all(|&mode| found(mode, alone).is_none()));
            for &mode in loose {
                let path = path.display();
                let text = format!("others may use {path} (mode {mode:o}): run `chmod {mend} {path}`");
                assert_eq!(found(mode, alone), Some(text));
            }
        }
    }

    #[test]
    fn the_folder_of_a_file_is_asked() {
        let folder = std::env::temp_dir();
        sync_names(&folder.join("a file")).unwrap();
        sync_names(Path::new("here")).unwrap();
        assert_eq!(sync_names(&folder.join("there is no such folder/a file")).is_err(), cfg!(unix));
    }
}
