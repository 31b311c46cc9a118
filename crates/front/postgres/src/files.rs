//! The client's files: the key, and the cache. Each is replaced whole, and readable by its owner only.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use comity_files::{Access, OwnersAlone, others_may};
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
    let mut file = File::open(path).map_err(failed(path))?;
    if let Some(found) = others_may(&file, path, OwnersAlone::Use).map_err(failed(path))? {
        return Err(Error::invalid(found.to_string()));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    file.read_to_end(&mut bytes).map_err(failed(path))?;
    Ok(OpeKey::from_bytes(&bytes)?)
}

/// Writes a new key file.
///
/// # Errors
/// [`Error::File`].
pub fn create_key(path: &Path, key: &OpeKey) -> Result<()> {
    comity_files::create(path, Access::Owner, &key.to_bytes()).map_err(failed(path))
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

/// Writes a file, in the place of one that is there: whole, or not at all.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    comity_files::replace(path, Access::Owner, bytes).map_err(failed(path))
}
