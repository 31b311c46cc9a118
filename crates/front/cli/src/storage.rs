//! Opening a store of material: its folder, and the passphrase or key file that opens it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use comity::{Store, StoreKey};
use comity_net::SystemRng;
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use zeroize::Zeroizing;

use crate::source::short;

/// The most bytes of a file with a passphrase.
const LONGEST: u64 = 64 << 10;

/// How long one that is a pipe may take: somebody types it, perhaps.
const PATIENCE: Duration = Duration::from_secs(60);

/// What opens a store.
#[derive(Args, Debug, Clone)]
pub(crate) struct KeyArgs {
    /// The passphrase (of the store or token) is the first line of FILE
    #[arg(long, value_name = "FILE", requires = "store", conflicts_with = "key_file")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// The key (of the store or token) is in FILE, 32 random bytes; a new folder gets a new one if FILE is
    /// not there
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(crate) key_file: Option<PathBuf>,
}

/// The store in this folder.
pub(crate) fn open(dir: &Path, args: &KeyArgs) -> Outcome<Store> {
    Ok(Store::open(dir, &key(args, "store")?)?)
}

/// The files that a command made for a store that did not exist. It removes them if nothing came of it.
pub(crate) struct Made {
    store: Option<PathBuf>,
    folder: bool,
    key: Option<PathBuf>,
}

impl Made {
    /// Removes what was made, unless a lot is in it by now.
    pub(crate) fn undo(self) {
        let Some(dir) = self.store else { return };
        let ours = ["store", "lock"];
        let Ok(entries) = fs::read_dir(&dir) else { return };
        let names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
        if names.iter().any(|name| !ours.iter().any(|ours| name == ours)) {
            return;
        }
        // Nobody depends on it: what cannot be removed is an empty store.
        ours.iter().for_each(|name| drop(fs::remove_file(dir.join(name))));
        if self.folder {
            let _ = fs::remove_dir(&dir);
        }
        if let Some(key) = self.key
            && fs::remove_file(&key).is_ok()
        {
            note(&format!("removed {} again, since nothing was prepared with it", key.display()));
        }
    }
}

/// The store in this folder, or a new one, with a new key if the file for it does not exist either. And the
/// files that were made.
pub(crate) fn open_or_create(dir: &Path, args: &KeyArgs) -> Outcome<(Store, Made)> {
    let fresh = !dir.join("store").exists();
    let mut made = Made { store: fresh.then(|| dir.to_owned()), folder: !dir.exists(), key: None };
    made.key = args.key_file.clone().filter(|path| fresh && !path.exists());
    let key = key_or_new(args, "store", fresh)?;
    match Store::open_or_create(dir, &key, &mut SystemRng) {
        Ok(store) => Ok((store, made)),
        Err(error) => {
            made.undo();
            Err(error.into())
        }
    }
}

/// The first line of a file with a passphrase or a PIN.
pub(crate) fn first_line(path: &Path) -> Outcome<Zeroizing<Vec<u8>>> {
    let text = short(path, LONGEST, PATIENCE)?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(Zeroizing::new(line.strip_suffix(b"\r").unwrap_or(line).to_vec()))
}

/// The key that opens a folder; where nothing was made in it and the key's file is not there either, a new
/// one.
pub(crate) fn key_or_new(args: &KeyArgs, what: &str, fresh: bool) -> Outcome<StoreKey> {
    match &args.key_file {
        Some(path) if fresh && !path.exists() => {
            let key = StoreKey::create(path, &mut SystemRng)?;
            note(&format!("made {}, the key of the {what}: without it the {what} cannot be opened", path.display()));
            Ok(key)
        }
        _ => key(args, what),
    }
}

/// The key that opens a folder: `what` it is of.
pub(crate) fn key(args: &KeyArgs, what: &str) -> Outcome<StoreKey> {
    let unreadable = |path: &Path, e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", path.display()));
    match (&args.passphrase_file, &args.key_file) {
        (Some(path), _) => StoreKey::passphrase(&first_line(path)?[..]).map_err(|e| unreadable(path, &e)),
        (None, Some(path)) if !path.exists() => Err(unreadable(path, &"there is no such key file")),
        (None, Some(path)) => Ok(StoreKey::read(path)?),
        (None, None) => {
            Err(Failure::input(format!("a {what} is encrypted: add --passphrase-file FILE or --key-file FILE")))
        }
    }
}
