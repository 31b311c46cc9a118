//! `comity store`: what is left, for whom and of what; and what is removed.

use std::fs;

use serde_json::{Value, json};

use crate::common::*;

/// Both parties prepare, each in a store of its own, over plain text.
fn prepare(folder: &Folder, more: &[&str]) {
    let store = |party: usize| (folder.path(&format!("store{party}")), folder.path(&format!("key{party}")));
    let [(a, a_key), (b, b_key)] = [store(0), store(1)];
    let zero = [&["--party", "0", "--store", &a, "--key-file", &a_key][..], more].concat();
    let listener = Listener::begin("prepare", &zero);
    let one = ["prepare", "--party", "1", "--connect", &listener.address, "--store", &b, "--key-file", &b_key];
    comity(&[&one[..], more].concat()).ok();
    listener.end().ok();
}

/// `comity store` on party 0's store.
fn store(folder: &Folder, args: &[&str]) -> Done {
    let (dir, key) = (folder.path("store0"), folder.path("key0"));
    comity(&[&["store"][..], args, &["--store", &dir, "--key-file", &key]].concat())
}

#[test]
fn what_is_left_is_listed_shown_and_removed() {
    let folder = Folder::new("store-list");
    prepare(&folder, &["add8", "--rho", "7", "--count", "2"]);
    prepare(&folder, &["--protocol", "tinyot", "--count", "10000"]);

    let listed = store(&folder, &["list", "--json"]).json();
    let lots = listed["lots"].as_array().unwrap();
    assert_eq!((lots.len(), &listed["damaged"], &listed["destroyed"]), (3, &json!([]), &json!([])));
    let (copies, shares) = (&lots[0], &lots[2]);
    assert_eq!((&copies["material"], &copies["party"], &copies["rho"]), (&json!("copies"), &json!(0), &json!(7)));
    assert_eq!((&copies["program"]["name"], &copies["peers"]), (&json!("add8"), &json!([{"party": 1, "key": null}])));
    assert_eq!(copies["amounts"], json!([{"unit": "runs", "made": 1, "left": 1}]));
    assert_eq!((&shares["material"], &shares["program"]), (&json!("shares"), &Value::Null));
    assert_eq!(shares["amounts"], json!([{"unit": "AND gates", "made": 16_384, "left": 16_384}]));
    assert_eq!((&shares["batches"], &shares["batches_used"]), (&json!(2), &json!(0)));
    let files = fs::read_dir(folder.path("store0")).unwrap().map(|file| file.unwrap());
    let files = files.filter(|file| file.file_name().len() > 64);
    let bytes: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
    assert_eq!(lots.iter().map(|lot| lot["bytes"].as_u64().unwrap()).sum::<u64>(), bytes);
    let ids: Vec<&str> = lots.iter().map(|lot| lot["id"].as_str().unwrap()).collect();

    let text = store(&folder, &["list"]).ok().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 4 && lines[0].starts_with("LOT "), "{text}");
    for (line, words) in [(lines[1], "add8"), (lines[1], "1 of 1 runs"), (lines[3], "16384 of 16384 AND gates")] {
        assert!(line.contains(words) && line.contains("0 with 1 (no key)"), "{text}");
    }
    let shown = store(&folder, &["inspect", &ids[2][..12]]);
    for words in [ids[2], "dealer=fast", "any program", "kappa 128, rho 40", "0 of 2 used"] {
        assert!(shown.ok().contains(words), "{words}: {}", shown.out);
    }
    assert_eq!(store(&folder, &["inspect", ids[0], "--json"]).json()["options"], copies["options"]);

    // A damaged lot is said, stands in nobody's way, and can be removed.
    let record = format!("{}/{}.lot", folder.path("store0"), ids[1]);
    fs::write(&record, b"x").unwrap();
    let listed = store(&folder, &["list", "--json"]).json();
    assert_eq!((listed["lots"].as_array().unwrap().len(), &listed["damaged"][0]["id"]), (2, &json!(ids[1])));
    assert!(store(&folder, &["list"]).ok().contains(&format!("{}  cannot be used", &ids[1][..8])));
    store(&folder, &["inspect", ids[1]]).fails(3, &["damaged", &record]);
    let removed = store(&folder, &["remove", ids[1], ids[0], "--json"]).json();
    let mut gone = vec![ids[0], ids[1]];
    gone.sort_unstable();
    assert_eq!(removed["removed"], json!(gone));
    let removed = store(&folder, &["remove", "--all"]);
    assert!(removed.ok().starts_with("1 lot is removed") && removed.err.contains("of no use"), "{}", removed.err);
    assert!(store(&folder, &["list"]).ok().contains("no lot"));
    assert_eq!(fs::read_dir(folder.path("store0")).unwrap().count(), 2);
}

#[test]
fn misuse_is_refused() {
    let folder = Folder::new("store-misuse");
    store(&folder, &["list"]).fails(2, &["no such key file"]);
    let key = folder.path("key0");
    let made = ["prepare", "--party", "0", "--listen", "127.0.0.1:0", "--protocol", "tinyot", "--store-limit", "1"];
    comity(&[&made[..], &["--store", &folder.path("store0"), "--key-file", &key]].concat()).fails(2, &["limit"]);
    store(&folder, &["list"]).fails(2, &["no such key file"]);
    prepare(&folder, &["add8", "--rho", "7"]);
    store(&folder, &["inspect", "ab"]).fails(2, &["no lot whose id begins with `ab`"]);
    store(&folder, &["remove", "ab"]).fails(2, &["no lot"]);
    store(&folder, &["remove"]).fails(2, &["<ID>"]);
    store(&folder, &["remove", "--all", "ab"]).fails(2, &["cannot be used with"]);
    comity(&["store", "list", "--store", &folder.path("store0")]).fails(2, &["--passphrase-file"]);
    comity(&["store", "list", "--key-file", &key]).fails(2, &["--store"]);
    comity(&["store", "list", "--store", &folder.path("none"), "--key-file", &key]).fails(2, &["no store"]);
    // While another process works on it nothing is looked at or removed.
    let lock = fs::OpenOptions::new().write(true).open(format!("{}/lock", folder.path("store0"))).unwrap();
    lock.lock().unwrap();
    for args in [&["list"][..], &["remove", "--all"]] {
        store(&folder, args).fails(2, &["in use by another process"]);
    }
    drop(lock);
    store(&folder, &["remove", "--all"]).ok();
    assert_eq!(store(&folder, &["remove", "--all", "--json"]).json(), json!({"removed": [], "bytes": 0}));
    // A store of the first version is told what to do about.
    let own = format!("{}/store", folder.path("store0"));
    let mut bytes = fs::read(&own).unwrap();
    bytes[14] = b'1';
    fs::write(&own, bytes).unwrap();
    store(&folder, &["list"]).fails(2, &["version 1", "delete the folder"]);
}
