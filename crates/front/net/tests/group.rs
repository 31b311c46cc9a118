//! Files that list the parties of a group.

use std::fs;

use comity_core::{Kind, PartyId};
use comity_net::{Fingerprint, Identity, PartyGroup, Security, SystemRng, Ways};
use proptest::prelude::*;

fn key() -> Fingerprint {
    Identity::generate(&mut SystemRng).fingerprint()
}

fn three() -> PartyGroup {
    let alone = "[[party]]\nid = 0\nname = \"alice\"\naddress = \"a.example:7000\"\n";
    let group = PartyGroup::parse(&format!("{alone}key = \"{}\"\n", key())).unwrap();
    group.and("bob", None, Some(key())).unwrap().and("carol", Some("c.example:7000"), Some(key())).unwrap()
}

fn why(text: &str) -> String {
    let error = PartyGroup::parse(text).unwrap_err();
    assert!(matches!(error.kind, Kind::InvalidInput(_)), "{error}");
    error.to_string()
}

#[test]
fn a_group_survives_its_text_and_its_file() {
    let group = three();
    assert_eq!(PartyGroup::parse(&group.to_text()).unwrap(), group);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("survives.toml");
    group.write(&path).unwrap();
    assert_eq!(PartyGroup::read(&path).unwrap().unwrap(), group);
    #[cfg(unix)]
    {
        let mut mode = fs::metadata(&path).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o666);
        fs::set_permissions(&path, mode).unwrap();
        assert!(PartyGroup::read(&path).unwrap_err().to_string().contains("chmod go-w"));
    }
    fs::remove_file(&path).unwrap();
    assert!(PartyGroup::read(&path).unwrap().is_none());
}

#[test]
fn each_word_of_it_is_in_the_digest() {
    let group = three();
    let text = group.to_text();
    assert!(group.digest().to_string().starts_with("group:") && group.digest().to_string().len() == 6 + 49);
    let other_key = text.replacen(&group.members()[1].key.unwrap().to_string(), &key().to_string(), 1);
    let other_address = text.replacen("a.example:7000", "a.example:7001", 1);
    for changed in [other_key, other_address, text.replacen("bob", "rob", 1), text.replacen("\"-\"", "\"x:1\"", 1)] {
        assert_ne!(changed, text);
        assert_ne!(PartyGroup::parse(&changed).unwrap().digest(), group.digest());
    }
    // How it is written is not.
    let comments = format!("# ours\n{}", text.replace("id =", "id   ="));
    assert_eq!(PartyGroup::parse(&comments).unwrap().digest(), group.digest());
}

#[test]
fn what_is_wrong_is_said() {
    let text = three().to_text();
    let keys: Vec<String> = three().members().iter().map(|member| member.key.unwrap().to_string()).collect();
    assert!(why("").contains("0 parties"));
    assert!(why("[[party]]\nid = 0\n").contains("line 1"), "{}", why("[[party]]\nid = 0\n"));
    assert!(why("\n\nparties = 3\n").contains("line 3"), "{}", why("\n\nparties = 3\n"));
    assert!(why(&text.replacen("id = 1", "id = 2", 1)).contains("ids are 0, 1"));
    assert!(why(&text.replacen("id = 1", "id = 70000", 1)).contains("line"));
    assert!(why(&text.replacen("bob", "ALICE", 1)).contains("two parties are called"));
    assert!(why(&text.replacen("bob", "1st", 1)).contains("of a party is refused"));
    assert!(why(&text.replacen("bob", "all", 1)).contains("of a party is refused"));
    assert!(why(&text.replacen("bob", "All", 1)).contains("of a party is refused"));
    for address in ["a.example", "a.example:0", "a example:1", "a.example:1\\u001b[2J", "a.example:1\\n"] {
        let said = why(&text.replacen("a.example:7000", address, 1));
        assert!(said.contains("party 0 (alice)") && said.contains("is not an address"), "{said}");
        assert!(!said.contains(|c: char| c.is_control()), "{said:?}");
    }
    assert!(why(&text.replacen("bob", "bob\\u001b[2J", 1)).contains("of a party is refused"));
    assert!(why(&text.replacen("c.example", "a.example", 1)).contains("address of another"));
    let group = PartyGroup::parse(&text).unwrap();
    let twice =
        text.replacen(&group.members()[1].key.unwrap().to_string(), &group.members()[0].key.unwrap().to_string(), 1);
    assert!(why(&twice).contains("key of another"));
    assert!(why(&text.replacen("key = ", "# ", 1)).contains("all parties have a key"));
    assert!(why(&text.replacen("comity:", "comity:?", 1)).contains("not a fingerprint"));
    let mut many = three();
    while many.parties() < 64 {
        many = many.and(&format!("p{}", many.parties()), None, Some(key())).unwrap();
    }
    assert!(many.and("more", None, Some(key())).unwrap_err().to_string().contains("1 to 64"));
    assert_eq!(keys.len(), 3);
}

#[test]
fn of_each_pair_one_is_called() {
    let group = three();
    let calls = |me: u16| {
        let Ways { listens, calls, apart } = group.ways(PartyId(me), None).unwrap();
        assert!(apart.is_empty());
        (listens, calls)
    };
    // Bob cannot be called: he calls both.
    assert_eq!(calls(0), (Some("a.example:7000"), vec![]));
    assert_eq!(calls(1), (None, vec![(PartyId(0), "a.example:7000".into()), (PartyId(2), "c.example:7000".into())]));
    assert_eq!(calls(2), (Some("c.example:7000"), vec![(PartyId(0), "a.example:7000".into())]));
    let hidden = group.and("dan", None, Some(key())).unwrap();
    let error = hidden.ways(PartyId(3), None).unwrap_err().to_string();
    assert!(error.contains("dan") && error.contains("bob") && error.contains("--relay"), "{error}");
    // Or both call a relay: the one that is named, or that of the group.
    let there = hidden.ways(PartyId(3), Some("r.example:7431")).unwrap();
    assert_eq!((there.listens, there.apart.as_slice()), (None, &[PartyId(1)][..]));
    assert_eq!(there.calls.last(), Some(&(PartyId(1), "r.example:7431".into())));
    assert_eq!(there.calls.len(), 3);
    let with = hidden.clone().at_relay("s.example:7431").unwrap();
    assert_eq!(with.ways(PartyId(3), None).unwrap().calls.last(), Some(&(PartyId(1), "s.example:7431".into())));
    assert_eq!(with.ways(PartyId(3), Some("r.example:7431")).unwrap(), there);
}

#[test]
fn a_relay_is_part_of_the_group() {
    let group = three().at_relay("r.example:7431").unwrap();
    assert_eq!(PartyGroup::parse(&group.to_text()).unwrap(), group);
    assert_eq!(group.relay(), Some("r.example:7431"));
    assert_ne!(group.digest().0, three().digest().0);
    assert_ne!(group.digest().0, three().at_relay("s.example:7431").unwrap().digest().0);
    assert_eq!(group.and("dan", None, Some(key())).unwrap().relay(), group.relay());
    let refused = |text: &str| PartyGroup::parse(text).unwrap_err().to_string();
    assert!(
        refused(&group.to_text().replace("r.example:7431", "r.example"))
            .contains("relay \"r.example\" is not an address")
    );
    let plain = "relay = \"a:1\"\n[[party]]\nid = 0\nname = \"a\"\naddress = \"-\"\n";
    assert!(refused(plain).contains("TLS only"));
}

#[test]
fn parties_are_found_by_name_number_and_key() {
    let group = three();
    assert_eq!(group.find("Carol"), Some(PartyId(2)));
    assert_eq!(group.find("1"), Some(PartyId(1)));
    assert_eq!(group.find("3"), None);
    assert_eq!(group.whose(&group.members()[2].key.unwrap()).unwrap(), PartyId(2));
    assert!(group.whose(&key()).unwrap_err().to_string().contains("none of the group's 3"));
    let own = Identity::generate(&mut SystemRng);
    let with = group.and("eve", Some("e.example:1"), Some(own.fingerprint())).unwrap();
    assert!(
        matches!(with.security(PartyId(3), own.clone()).unwrap(), Security::Tls { peers, .. } if peers.parties() == 4)
    );
    assert!(with.security(PartyId(0), own).is_err());
}

proptest! {
    /// Whatever a file says, it is a group or an error, and a group is read back from what is written of it.
    #[test]
    fn any_text_is_a_group_or_an_error(text in "(\\[\\[party\\]\\]|[a-z\"=\\[\\]0-9 \n:.-]){0,200}") {
        if let Ok(group) = PartyGroup::parse(&text) {
            prop_assert_eq!(PartyGroup::parse(&group.to_text()).unwrap(), group);
        }
    }
}
