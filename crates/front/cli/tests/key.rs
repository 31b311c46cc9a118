//! `comity key`, and runs over TLS with keys that are trusted and not.

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use common::*;

struct Keys {
    folder: Folder,
    fingerprints: [String; 2],
}

fn keys(test: &str) -> Keys {
    let folder = Folder::new(test);
    let new = |dir: &str| comity(&["key", "new", &folder.path(dir)]).ok().trim().to_owned();
    let fingerprints = [new("a"), new("b")];
    Keys { folder, fingerprints }
}

impl Keys {
    fn trust(&self, dir: &str, party: &str, fingerprint: &str) -> Done {
        comity(&["key", "trust", &self.folder.path(dir), "--party", party, fingerprint])
    }

    fn run(&self) -> (Done, Done) {
        let (a, b) = (self.folder.path("a"), self.folder.path("b"));
        both(&["aes128"], &["--tls", &a, "--input", AES_KEY], &["--tls", &b, "--input", AES_BLOCK])
    }
}

#[test]
fn keys_are_made_shown_and_trusted() {
    let keys = keys("keys");
    let dir = keys.folder.path("a");
    let show = comity(&["key", "show", &dir]);
    assert_eq!(show.ok(), format!("{}\n", keys.fingerprints[0]));
    assert_eq!(keys.trust("a", "1", &keys.fingerprints[1]).ok(), "");
    let show = comity(&["key", "show", &dir]);
    assert_eq!(show.ok(), format!("{}\nparty 1 {}\n", keys.fingerprints[0], keys.fingerprints[1]));
    #[cfg(unix)]
    for entry in std::fs::read_dir(&dir).unwrap() {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o077, 0, "others may not read it");
    }
    comity(&["key", "new", &dir]).fails(2, &["already"]);
    comity(&["key", "show", &keys.folder.path("none")]).fails(2, &["comity key new"]);
    keys.trust("a", "1", "nonsense").fails(2, &["nonsense"]);
    keys.trust("a", "1", &keys.fingerprints[0]).fails(2, &["already"]);
    keys.trust("none", "1", &keys.fingerprints[0]).fails(2, &["comity key new"]);
}

#[test]
fn two_parties_who_trust_each_other_run() {
    let keys = keys("trusted");
    keys.trust("a", "1", &keys.fingerprints[1]).ok();
    keys.trust("b", "0", &keys.fingerprints[0]).ok();
    let (a, b) = keys.run();
    assert_eq!((a.ok(), b.ok()), (&*format!("{AES_OUT}\n"), &*format!("{AES_OUT}\n")));
}

#[test]
fn a_key_that_is_not_trusted_stops_the_run() {
    let keys = keys("untrusted");
    let (a, _) = (keys.folder.path("a"), ());
    comity(&["run", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--tls", &a, "--input", AES_KEY])
        .fails(2, &["party 1", "comity key trust"]);
    let stranger = comity(&["key", "new", &keys.folder.path("c")]).ok().trim().to_owned();
    keys.trust("a", "1", &stranger).ok();
    keys.trust("b", "0", &keys.fingerprints[0]).ok();
    let (a, b) = keys.run();
    a.fails(3, &[&keys.fingerprints[1], &stranger]);
    assert_eq!((b.code, b.out.as_str()), (3, ""), "{}", b.err);
}

#[test]
fn tls_and_plain_text_do_not_mix() {
    let keys = keys("mixed");
    keys.trust("a", "1", &keys.fingerprints[1]).ok();
    keys.trust("b", "0", &keys.fingerprints[0]).ok();
    let (a, b) = (keys.folder.path("a"), keys.folder.path("b"));
    let (one, other) = both(&["aes128"], &["--tls", &a, "--input", AES_KEY], &["--input", AES_BLOCK]);
    assert!(matches!(one.code, 3 | 4), "{}", one.err);
    assert!(matches!(other.code, 3 | 4), "{}", other.err);
    assert!(one.err.contains("plain") || other.err.contains("TLS"), "{}{}", one.err, other.err);
    let (one, other) = both(&["aes128"], &["--input", AES_KEY], &["--tls", &b, "--input", AES_BLOCK]);
    assert!(matches!((one.code, other.code), (3 | 4, 3 | 4)), "{}{}", one.err, other.err);
    assert!(one.err.contains("TLS") || other.err.contains("plain"), "{}{}", one.err, other.err);
    comity(&["run", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--tls", &a, "--plaintext", "-i", AES_KEY])
        .fails(2, &["cannot be used with"]);
}
