//! Files that outlast a crash, and their names.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use comity::SystemRng;
use comity_terminal::failure::{Ending, Failure, Outcome};
use rand_core::Rng;

/// Waits until the names in a file's folder are on the disk: a file that was made, renamed or removed is so after a crash too. Where a system
/// cannot be asked for that, nothing is waited for.
pub(crate) fn sync_names(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Writes what only its owner may read: whole, or not at all. When this returns, it is there after a crash too.
pub(crate) fn keep(path: &Path, secret: &[u8]) -> Outcome {
    let draft = path.with_extension(format!("draft-{:016x}", SystemRng.next_u64()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        let mut file = options.open(&draft)?;
        file.write_all(secret)?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        sync_names(path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&draft);
        Failure::new(Ending::Store, format!("{}: cannot write it: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_file_is_asked() {
        let folder = std::env::temp_dir();
        sync_names(&folder.join("a file")).unwrap();
        sync_names(Path::new("here")).unwrap();
        assert_eq!(sync_names(&folder.join("there is no such folder/a file")).is_err(), cfg!(unix));
    }
}
