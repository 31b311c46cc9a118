//! What lies in files: the key of a store, and what it seals.

use std::io::{Read, Write};

use comity_core::{Params, PartyId, SessionId};
use comity_store::{BatchWriter, Meta, Store, StoreKey};

use crate::Case;
use crate::secret::{SecretRng, bits};

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new("store", store)]
}

/// A lot is written and read again. That the key is secret is marked where it is read from its file.
fn store() {
    let dir = std::env::temp_dir().join(format!("comity-ct-{}", std::process::id()));
    std::fs::create_dir(&dir).expect("a folder of its own");
    let key = StoreKey::create(&dir.join("key"), &mut SecretRng::new(1)).expect("a new key");
    drop(key);
    let key = StoreKey::read(&dir.join("key")).expect("the key");
    let id = SessionId::new([5; 32]);
    let meta = Meta {
        id,
        material: "shares".into(),
        options: String::new(),
        program: None,
        name: String::new(),
        units: vec![2],
        party: PartyId(0),
        peers: vec![(PartyId(1), None)],
        params: Params::default(),
    };
    {
        let store = Store::open_or_create(&dir.join("store"), &key, &mut SecretRng::new(2)).expect("a new store");
        let mut writer = store.new_lot(&meta, &mut SecretRng::new(3)).expect("a new lot");
        let secret = bits(8000).to_bytes();
        let write = |batch: &mut BatchWriter| {
            batch.write_all(&secret).expect("the disk takes it");
            Ok(())
        };
        writer.batch(write).expect("a batch");
        writer.finish().expect("the disk takes it");
    }
    let store = Store::open(&dir.join("store"), &key).expect("the store");
    let mut lot = store.open_lot(&id).expect("the lot");
    let mut read = Vec::new();
    lot.take().expect("the disk gives it").expect("a batch").read_to_end(&mut read).expect("what was written");
    assert_eq!(read.len(), 1000);
    drop((lot, store));
    std::fs::remove_dir_all(&dir).expect("it was just made");
}
