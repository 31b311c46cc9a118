//! The key directory: what is written, with which mode, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use comity_core::{Error, Kind, PartyId};
use comity_net::{Identity, KeyDir, PartyGroup, Security, SystemRng};
use rand_core::Rng;

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        Scratch(std::env::temp_dir().join(format!("comity-keys-{:016x}", SystemRng.next_u64())))
    }

    fn keys(&self) -> KeyDir {
        KeyDir::new(self.0.join("party"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join("party").join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refusal<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error { kind: Kind::InvalidInput(said), .. }) => said,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[test]
fn a_key_is_made_once() {
    let scratch = Scratch::new();
    let keys = scratch.keys();
    assert!(refusal(keys.identity()).contains("comity key new"));
    let made = keys.create(&mut SystemRng).unwrap();
    assert_eq!(keys.identity().unwrap().fingerprint(), made.fingerprint());
    assert!(refusal(keys.create(&mut SystemRng)).contains("does not overwrite"));
    assert_eq!(keys.identity().unwrap().fingerprint(), made.fingerprint());
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(scratch.path("")).unwrap().count(), 1);
}

#[test]
fn trust_is_bound_to_a_party() {
    let scratch = Scratch::new();
    let keys = scratch.keys();
    keys.create(&mut SystemRng).unwrap();
    let [bob, carol] = [(); 2].map(|()| Identity::generate(&mut SystemRng).fingerprint());
    assert!(refusal(keys.security(PartyId(0), 2)).contains("comity key trust"));
    keys.trust(2, carol).unwrap();
    keys.trust(1, bob).unwrap();
    keys.trust(1, bob).unwrap();
    assert_eq!(keys.trusted().unwrap(), [(1, bob), (2, carol)]);
    assert!(matches!(keys.security(PartyId(0), 2).unwrap(), Security::Tls { peers, .. } if peers[PartyId(1)] == bob));
    assert!(refusal(keys.trust(1, carol)).contains("remove its line"));
    assert!(refusal(keys.trust(3, bob)).contains("party 1"));
    assert_eq!(keys.trusted().unwrap(), [(1, bob), (2, carol)]);
}

#[test]
fn a_wrong_line_is_named() {
    let scratch = Scratch::new();
    let keys = scratch.keys();
    keys.create(&mut SystemRng).unwrap();
    let key = Identity::generate(&mut SystemRng).fingerprint();
    keys.trust(1, key).unwrap();
    let good = fs::read_to_string(scratch.path("trusted")).unwrap();
    for wrong in ["1", "x comity:aaaa", "1 comity:aaaa", &format!("1 {key}"), &format!("7 {key}"), "-1 a"] {
        fs::write(scratch.path("trusted"), format!("# a comment\n\n{good}{wrong}\n")).unwrap();
        assert!(refusal(keys.trusted()).contains("line 4"), "{wrong}");
    }
    // A terminal would obey it.
    for wrong in ["\u{1b}[2J comity:aaaa", "1 \u{1b}[2J"] {
        fs::write(scratch.path("trusted"), wrong).unwrap();
        assert!(!refusal(keys.trusted()).contains('\u{1b}'), "{wrong:?}");
    }
    fs::write(scratch.path("identity.der"), b"junk").unwrap();
    assert!(refusal(keys.identity()).contains("identity.der"));
}

#[cfg(unix)]
#[test]
fn files_are_the_owners_only() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    let keys = scratch.keys();
    keys.create(&mut SystemRng).unwrap();
    keys.trust(1, Identity::generate(&mut SystemRng).fingerprint()).unwrap();
    let mode = |name: &str| fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(""), mode("identity.der"), mode("trusted")], [0o700, 0o600, 0o600]);
    let set = |name: &str, mode| fs::set_permissions(scratch.path(name), fs::Permissions::from_mode(mode)).unwrap();
    for loose in [0o640, 0o604, 0o620, 0o666] {
        set("identity.der", loose);
        let said = refusal(keys.identity());
        assert!(said.contains("chmod 600 ") && said.contains(&format!("identity.der (mode {loose:o})")), "{said}");
    }
    set("identity.der", 0o400);
    keys.identity().unwrap();
    for loose in [0o620, 0o602] {
        set("trusted", loose);
        let said = refusal(keys.trusted());
        assert!(said.contains("chmod go-w ") && said.contains("trusted"), "{said}");
    }
    set("trusted", 0o644);
    keys.trusted().unwrap();
    // Whoever may write into the folder can put another key there.
    for loose in [0o770, 0o707] {
        set("", loose);
        let said = refusal(keys.identity());
        assert!(said.contains("chmod go-w "), "{said}");
    }
    set("", 0o755);
    keys.identity().unwrap();
}

/// A party whose own key is trusted as the other's would take itself for it.
#[test]
fn the_own_key_is_nobody_elses() {
    let scratch = Scratch::new();
    let own = scratch.keys().create(&mut SystemRng).unwrap().fingerprint();
    assert!(refusal(scratch.keys().trust(1, own)).contains("this party's own key"));
    assert_eq!(scratch.keys().trusted().unwrap(), []);
}

/// What would be cut is refused: a list without its end names others than the whole one.
#[test]
fn a_file_that_is_too_long_is_refused() {
    let scratch = Scratch::new();
    let keys = scratch.keys();
    keys.create(&mut SystemRng).unwrap();
    keys.trust(1, Identity::generate(&mut SystemRng).fingerprint()).unwrap();
    let good = fs::read_to_string(scratch.path("trusted")).unwrap();
    let filled = |bytes: usize| format!("{good}#{}\n", " ".repeat(bytes - good.len() - 2));
    fs::write(scratch.path("trusted"), filled(1 << 20)).unwrap();
    assert_eq!(keys.trusted().unwrap().len(), 1);
    fs::write(scratch.path("trusted"), filled((1 << 20) + 1)).unwrap();
    assert!(refusal(keys.trusted()).contains("more than 1048576 bytes"));
    let party = "[[party]]\nid = 0\nname = \"ann\"\naddress = \"-\"\n";
    let group = scratch.path("group.toml");
    fs::write(&group, format!("{party}#{}", " ".repeat(1 << 20))).unwrap();
    assert!(refusal(PartyGroup::read(&group)).contains("more than 1048576 bytes"));
}

/// A pipe without a writer is waited for without end, and a device has no end.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let scratch = Scratch::new();
    let keys = scratch.keys();
    fs::create_dir_all(scratch.path("")).unwrap();
    for name in ["identity.der", "trusted", "group.toml"] {
        assert!(std::process::Command::new("mkfifo").arg(scratch.path(name)).status().unwrap().success());
    }
    let files =
        [keys.identity().map(drop), keys.trusted().map(drop), PartyGroup::read(&scratch.path("group.toml")).map(drop)];
    for refused in files.into_iter().chain([PartyGroup::read(Path::new("/dev/zero")).map(drop)]) {
        assert!(refusal(refused).contains("a pipe or a device"));
    }
    assert!(refusal(PartyGroup::read(&scratch.path(""))).contains("a folder"));
}
