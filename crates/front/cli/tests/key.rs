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
    let other = comity(&["key", "new", &keys.folder.path("c")]).ok().trim().to_owned();
    keys.trust("a", "1", &other).fails(2, &["already"]);
    keys.trust("a", "2", &keys.fingerprints[0]).fails(2, &["this party's own key", "comity key show"]);
    assert_eq!(comity(&["key", "show", &dir]).ok(), show.ok());
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

/// Twelve commands at a time lose nothing: each waits until the one before has written the file.
#[test]
fn keys_and_parties_that_are_added_side_by_side_are_all_there() {
    let keys = keys("side-by-side");
    let (dir, file) = (keys.folder.path("a"), keys.folder.path("group.toml"));
    let made: Vec<String> = (0..12)
        .map(|at| comity(&["key", "new", &keys.folder.path(&format!("k{at}"))]).ok().trim().to_owned())
        .collect();
    let all = |args: &(dyn Fn(usize) -> Vec<String> + Sync)| {
        std::thread::scope(|scope| {
            let run = |at: usize| scope.spawn(move || comity(&args(at).iter().map(String::as_str).collect::<Vec<_>>()));
            (0..12).map(run).collect::<Vec<_>>().into_iter().for_each(|done| _ = done.join().unwrap().ok());
        });
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    all(&|at| words(&["key", "trust", &dir, "--party", &(at + 1).to_string(), &made[at]]));
    let shown = comity(&["key", "show", &dir]);
    assert!(made.iter().all(|key| shown.ok().contains(key)), "{}", shown.out);
    all(&|at| {
        words(&[
            "group",
            "add",
            &file,
            "--name",
            &format!("party{at}"),
            "--address",
            &format!("127.0.0.1:{}", 7000 + at),
        ])
    });
    let group = comity(&["group", "show", &file, "--json"]).json();
    let mut names: Vec<&str> =
        group["parties"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let mut expected: Vec<String> = (0..12).map(|at| format!("party{at}")).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
