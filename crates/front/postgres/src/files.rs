//! The client's files: the key, and the cache. Each is replaced whole, and readable by its owner only.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use comity_ope::OpeKey;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    |source| Error::File { path: path.to_owned(), source }
}

/// Reads a key file.
///
/// # Errors
/// [`Error::File`]; [`Error::Ope`] if the file is not a key; [`Error::Invalid`] if others may read it.
pub fn read_key(path: &Path) -> Result<OpeKey> {
    let file = File::open(path).map_err(failed(path))?;
    check_mode(&file, path)?;
    let bytes = Zeroizing::new(fs::read(path).map_err(failed(path))?);
    Ok(OpeKey::from_bytes(&bytes)?)
}

/// Writes a key file that is not there yet.
///
/// # Errors
/// [`Error::File`].
pub fn create_key(path: &Path, key: &OpeKey) -> Result<()> {
    if path.exists() {
        return Err(failed(path)(std::io::Error::from(std::io::ErrorKind::AlreadyExists)));
    }
    replace(path, &key.to_bytes())
}

/// Replaces a key file.
///
/// # Errors
/// [`Error::File`].
pub fn write_key(path: &Path, key: &OpeKey) -> Result<()> {
    replace(path, &key.to_bytes())
}

/// The path of the cache for the key in this file.
pub fn cache_path(key: &Path) -> PathBuf {
    let mut name = key.as_os_str().to_owned();
    name.push(".cache");
    name.into()
}

/// Writes a file beside its final name, and renames it when it is on the disk.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, path)?;
        sweep(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A folder cannot be opened everywhere.
        File::open(folder).map_or(Ok(()), |folder| folder.sync_all())
    });
    written.map_err(|source| {
        let _ = fs::remove_file(&partial);
        failed(path)(source)
    })
}

/// Removes what writers left behind that were killed. One that is still at work fails, and leaves the file as it is.
fn sweep(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let start = path.file_name().map(|name| format!("{}.", name.to_string_lossy())).unwrap_or_default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(&start)?.strip_suffix(".partial"));
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(unix)]
fn check_mode(file: &File, path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().map_err(failed(path))?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Error::invalid(format!("others may use {path} (mode {:03o}): run `chmod 600 {path}`", mode & 0o777)))
}

#[cfg(not(unix))]
fn check_mode(_file: &File, _path: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_what_killed_writers_left_goes() {
        let folder = std::env::temp_dir().join(format!("comity-ope-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["k.7.partial", "k.cache.7.partial", "k.x.partial"] {
            fs::write(folder.join(name), "left").unwrap();
        }
        replace(&folder.join("k"), b"one").unwrap();
        replace(&folder.join("k"), b"two").unwrap();
        assert_eq!(fs::read(folder.join("k")).unwrap(), b"two");
        let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["k", "k.cache.7.partial", "k.x.partial"], "only its own");
        fs::remove_dir_all(folder).unwrap();
    }
}
