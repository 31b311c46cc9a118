//! Names of files that outlast a crash.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until the names in a file's folder are on the disk: a file that was made, renamed or removed is so
/// after a crash too. Where a system cannot be asked for that, nothing is waited for.
pub(crate) fn sync_names(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
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
