//! The key directory: what is written, with which mode, and what is refused.

use std::fs;
use std::path::PathBuf;

use comity_core::{Error, Kind, PartyId};
use comity_net::{Identity, KeyDir, Security, SystemRng};
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
    assert!(refusal(keys.create(&mut SystemRng)).contains("not overwritten"));
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
        assert!(said.contains("chmod 600 ") && said.contains("identity.der"), "{said}");
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
}
