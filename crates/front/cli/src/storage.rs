//! Opening a store of material: its folder, and the passphrase or key file that opens it.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use comity::{Store, StoreKey};
use comity_net::SystemRng;
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};

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

/// The store in this folder, or a new one; with a new key, if the file for it is not there either.
pub(crate) fn open_or_create(dir: &Path, args: &KeyArgs) -> Outcome<Store> {
    let key = match &args.key_file {
        Some(path) if !path.exists() && !dir.join("store").exists() => {
            let key = StoreKey::create(path, &mut SystemRng)?;
            note(&format!("made {}, the key of the store: without it the store is worth nothing", path.display()));
            key
        }
        _ => key(args)?,
    };
    Ok(Store::open_or_create(dir, &key, &mut SystemRng)?)
}

/// The key that opens the store.
fn key(args: &KeyArgs) -> Outcome<StoreKey> {
    let unreadable = |path: &Path, e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", path.display()));
    match (&args.passphrase_file, &args.key_file) {
        (Some(path), _) => {
            let text = zeroize::Zeroizing::new(fs::read(path).map_err(|e| unreadable(path, &e))?);
            let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            StoreKey::passphrase(line).map_err(|e| unreadable(path, &e))
        }
        (None, Some(path)) if !path.exists() => Err(unreadable(path, &"there is no such key file")),
        (None, Some(path)) => Ok(StoreKey::read(path)?),
        (None, None) => Err(Failure::input("a store is encrypted: name --passphrase-file FILE or --key-file FILE")),
    }
}
