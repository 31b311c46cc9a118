//! `comity key`, and runs over TLS with keys that are trusted and not.

use crate::common::*;

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
    let (a, b) = (keys.folder.path("a"), keys.folder.path("b"));
    let mut listener = Listener::start(&["aes128", "--party", "0", "--tls", &a, "--input", AES_KEY]);
    let called = calls(&listener.address, &["--tls", &b]);
    assert_eq!((called.code, called.out.as_str()), (3, ""), "{}", called.err);
    listener.says(&keys.fingerprints[1]);
    listener.says(&stranger);
    // It goes on waiting for the peer whom it trusts.
    keys.trust("c", "0", &keys.fingerprints[0]).ok();
    let (answer, other) = (calls(&listener.address, &["--tls", &keys.folder.path("c")]), listener.end());
    assert_eq!((answer.ok(), other.ok()), (&*format!("{AES_OUT}\n"), &*format!("{AES_OUT}\n")));
}

#[test]
fn tls_and_plain_text_do_not_mix() {
    let keys = keys("mixed");
    keys.trust("a", "1", &keys.fingerprints[1]).ok();
    keys.trust("b", "0", &keys.fingerprints[0]).ok();
    let (a, b) = (keys.folder.path("a"), keys.folder.path("b"));
    for (listening, calling, said) in [(&["--tls", &*a][..], &[][..], "plain text"), (&[], &["--tls", &*b], "TLS")] {
        let first = ["aes128", "--party", "0", "--input", AES_KEY];
        let mut listener = Listener::start(&[&first[..], listening].concat());
        let called = calls(&listener.address, calling);
        assert!(matches!(called.code, 3 | 4), "{}", called.err);
        assert!(called.err.contains("TLS") || called.err.contains("plain"), "{}", called.err);
        listener.says(said);
        listener.kill();
    }
    comity(&["run", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--tls", &a, "--plaintext", "-i", AES_KEY])
        .fails(2, &["cannot be used with"]);
}

/// Party 1 of the same run calls this address.
fn calls(address: &str, more: &[&str]) -> Done {
    comity(&[&["run", "aes128", "--party", "1", "--connect", address, "--input", AES_BLOCK], more].concat())
}
