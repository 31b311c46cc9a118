//! Opening a store of material: its folder, and the passphrase or key file that opens it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use comity::{Store, StoreKey};
use comity_net::SystemRng;
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};

use crate::source::short;

/// The most bytes of a file with a passphrase.
const LONGEST: u64 = 64 << 10;

/// How long one that is a pipe may take: somebody types it, perhaps.
const PATIENCE: Duration = Duration::from_secs(60);

/// What opens a store.
#[derive(Args, Debug, Clone)]
pub(crate) struct KeyArgs {
    /// The store's passphrase is the first line of FILE
    #[arg(long, value_name = "FILE", requires = "store", conflicts_with = "key_file")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// The store's key is in FILE, 32 random bytes; `prepare` makes it if neither it nor the store is there
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(crate) key_file: Option<PathBuf>,
}

/// The store in this folder.
pub(crate) fn open(dir: &Path, args: &KeyArgs) -> Outcome<Store> {
    Ok(Store::open(dir, &key(args)?)?)
}

/// What a command made for a store that was not there, and takes away again if nothing came of it.
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
            note(&format!("removed {} again: nothing was prepared under it", key.display()));
        }
    }
}

/// The store in this folder, or a new one; with a new key, if the file for it is not there either. And what was made.
pub(crate) fn open_or_create(dir: &Path, args: &KeyArgs) -> Outcome<(Store, Made)> {
    let fresh = !dir.join("store").exists();
    let mut made = Made { store: fresh.then(|| dir.to_owned()), folder: !dir.exists(), key: None };
    let key = match &args.key_file {
        Some(path) if !path.exists() && !dir.join("store").exists() => {
            let key = StoreKey::create(path, &mut SystemRng)?;
            note(&format!("made {}, the key of the store: without it the store is worth nothing", path.display()));
            made.key = Some(path.clone());
            key
        }
        _ => key(args)?,
    };
    match Store::open_or_create(dir, &key, &mut SystemRng) {
        Ok(store) => Ok((store, made)),
        Err(error) => {
            made.undo();
            Err(error.into())
        }
    }
}

/// The key that opens the store.
fn key(args: &KeyArgs) -> Outcome<StoreKey> {
    let unreadable = |path: &Path, e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", path.display()));
    match (&args.passphrase_file, &args.key_file) {
        (Some(path), _) => {
            let text = short(path, LONGEST, PATIENCE)?;
            let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            StoreKey::passphrase(line).map_err(|e| unreadable(path, &e))
        }
        (None, Some(path)) if !path.exists() => Err(unreadable(path, &"there is no such key file")),
        (None, Some(path)) => Ok(StoreKey::read(path)?),
        (None, None) => Err(Failure::input("a store is encrypted: name --passphrase-file FILE or --key-file FILE")),
    }
}
