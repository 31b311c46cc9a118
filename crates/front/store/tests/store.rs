//! Keys, locks and modes of stores: nobody else gets in.

use std::fs;

use comity_store::{Store, StoreKey};

use crate::common::*;

#[test]
fn only_its_key_opens_a_store() {
    let folder = Folder::new("keys");
    let dir = folder.path("store");
    let passphrase = |text: &str| StoreKey::passphrase(text).unwrap();
    refused(Store::open(&dir, &folder.key()).map(drop), &["no store", "comity prepare"]);
    drop(folder.store());
    let other = StoreKey::create(&folder.path("other key"), &mut rng(77)).unwrap();
    refused(Store::open(&dir, &other).map(drop), &["not the one"]);
    refused(Store::open(&dir, &passphrase("secret")).map(drop), &["key file"]);
    drop(Store::open(&dir, &folder.key()).unwrap());

    let own = dir.join("store");
    let bytes = fs::read(&own).unwrap();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&own, &flipped).unwrap();
        assert!(Store::open(&dir, &folder.key()).is_err(), "byte {at}");
        fs::write(&own, &bytes[..at]).unwrap();
        assert!(Store::open(&dir, &folder.key()).is_err(), "cut at {at}");
    }

    let dir = folder.path("second");
    drop(Store::open_or_create(&dir, &passphrase("secret"), &mut rng(3)).unwrap());
    refused(Store::open(&dir, &passphrase("Secret")).map(drop), &["not the one"]);
    refused(Store::open(&dir, &folder.key()).map(drop), &["made with a passphrase"]);
    drop(Store::open(&dir, &passphrase("secret")).unwrap());
    refused(StoreKey::passphrase("").map(drop), &["empty"]);
    // An older store is told apart from a damaged one, whatever the key.
    let mut bytes = fs::read(dir.join("store")).unwrap();
    bytes[14] = b'1';
    fs::write(folder.path("older"), bytes).unwrap();
    fs::create_dir(folder.path("first")).unwrap();
    fs::rename(folder.path("older"), folder.path("first").join("store")).unwrap();
    for key in [passphrase("secret"), folder.key()] {
        let first = folder.path("first");
        refused(Store::open(&first, &key).map(drop), &["version 1", "uses version 2", "delete the folder", "prepare"]);
        refused(Store::open_or_create(&first, &key, &mut rng(1)).map(drop), &["version 1"]);
    }
    // More memory than any machine gives must not be asked for.
    let mut bytes = fs::read(dir.join("store")).unwrap();
    bytes[17..21].fill(0xff);
    fs::write(dir.join("store"), &bytes).unwrap();
    refused(Store::open(&dir, &passphrase("secret")).map(drop), &["damaged"]);
}

#[test]
fn key_files_are_private_and_never_overwritten() {
    let folder = Folder::new("key-files");
    let path = folder.path("key");
    StoreKey::create(&path, &mut rng(1)).unwrap();
    assert!(StoreKey::create(&path, &mut rng(2)).is_err());
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 32);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        refused(StoreKey::read(&path).map(drop), &["(mode 640)", "chmod 600"]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    StoreKey::read(&path).unwrap();
    #[cfg(unix)]
    for no_file in [folder.path("."), "/dev/zero".into()] {
        refused(StoreKey::read(&no_file).map(drop), &["a folder, a pipe or a device"]);
    }
    for wrong in [&bytes[..31], &[&bytes[..], &[0]].concat(), &[]] {
        fs::write(&path, wrong).unwrap();
        refused(StoreKey::read(&path).map(drop), &["32 bytes"]);
    }
    refused(StoreKey::read(&folder.path("none")).map(drop), &["none"]);
}

/// Whoever may write into the folder could put lots there, or take them away.
#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_into_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("loose");
    drop(folder.store());
    let dir = folder.path("store");
    for mode in [0o770, 0o707] {
        fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
        refused(Store::open(&dir, &folder.key()).map(drop), &["others may use", "chmod go-w"]);
        refused(Store::open_or_create(&dir, &folder.key(), &mut rng(1)).map(drop), &["others may use"]);
    }
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    drop(Store::open(&dir, &folder.key()).unwrap());
}

#[test]
fn one_process_at_a_time() {
    let folder = Folder::new("lock");
    let store = folder.store();
    fill(&store, 1, 2, 10);
    let again = || Store::open(&folder.path("store"), &folder.key());
    refused(again().map(drop), &["in use by another process"]);
    // A lot, a reader and a writer are enough to keep others out: opening would remove what they work on.
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    drop(store);
    refused(again().map(drop), &["in use"]);
    let reader = lot.take().unwrap();
    drop(lot);
    refused(again().map(drop), &["in use"]);
    drop(reader);
    let store = again().unwrap();
    let writer = store.new_lot(&meta(2), &mut rng(1)).unwrap();
    drop(store);
    refused(again().map(drop), &["in use"]);
    drop(writer);
    assert_eq!(again().unwrap().lots().unwrap().len(), 1);
}

#[test]
#[cfg(unix)]
fn a_store_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("modes");
    let store = folder.store();
    fill(&store, 1, 1, 10);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path("store")), 0o700);
    assert_eq!(mode(batch(&folder, 1, 0)), 0o600);
}
