//! Queries and keys whose checksum is right, but whose fields are not: whoever makes a file on purpose makes
//! its checksum, too.

use comity_core::{Error, Kind};
use comity_mail::{Query, QueryKey};

/// The place of the text of a query's reference: after the beginning and the key for answers.
const TEXT: usize = 18 + 32;

/// The place where a key says whether it is spent: after the beginning, the seed, the fingerprint and the
/// number of answers expected.
const SPENT: usize = 18 + 32 + 32 + 4;

/// The bytes with a right checksum.
fn summed(label: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 32;
    let sum = blake3::derive_key(label, &bytes[..end]);
    bytes[end..].copy_from_slice(&sum);
    bytes
}

fn query(bytes: Vec<u8>) -> Result<Query, Error> {
    Query::from_bytes(&summed("comity mail: the fingerprint of a query", bytes))
}

fn key(bytes: Vec<u8>) -> Result<QueryKey, Error> {
    QueryKey::from_bytes(&summed("comity mail: the checksum of a key", bytes))
}

#[track_caller]
fn malformed<T>(result: Result<T, Error>, words: &str) {
    match result.err() {
        Some(Error { kind: Kind::Malformed(what), .. }) => assert!(what.contains(words), "`{words}` is not in: {what}"),
        other => panic!("{words}: {other:?}"),
    }
}

/// The bytes of a query with these in the place of its reference's text, `mul16`.
fn with_text(text: &[u8]) -> Vec<u8> {
    let bytes = crate::common::key(3, 1).query().to_bytes().to_vec();
    assert_eq!(bytes[TEXT..TEXT + 7], *b"\x05\0mul16");
    [&bytes[..TEXT], &(text.len() as u16).to_le_bytes(), text, &bytes[TEXT + 7..]].concat()
}

#[test]
fn a_query_shows_nothing_that_controls_a_terminal() {
    assert_eq!(query(with_text(b"mul16")).unwrap().reference().text(), "mul16");
    for text in ["\x1b[2J", "a\nb", "a\rb", "a\u{202e}b", "a\u{200b}b", "\0"] {
        malformed(query(with_text(text.as_bytes())), "control a terminal");
    }
    malformed(query(with_text(b"\xff\xfe")), "control a terminal");
    assert!(query(with_text(&[b'x'; 1024])).is_ok());
    malformed(query(with_text(&[b'x'; 1025])), "more than 1024 bytes");
    // A length beyond the end.
    let mut bytes = with_text(b"mul16");
    let long = bytes.len() as u16;
    bytes[TEXT..TEXT + 2].copy_from_slice(&long.to_le_bytes());
    assert!(query(bytes).is_err());
}

#[test]
fn a_query_is_for_two_parties_and_ends_where_it_ends() {
    let bytes = with_text(b"mul16");
    let owners = TEXT + 7;
    assert_eq!(bytes[owners..owners + 4], [2, 0, 0, 1]);
    for at in [owners + 2, owners + 3] {
        let mut other = bytes.clone();
        other[at] = 2;
        malformed(query(other), "a party that does not exist");
    }
    let mut other = bytes.clone();
    other[owners] = 0xff;
    other[owners + 1] = 0xff;
    malformed(query(other), "in the middle of a field");
    let mut more = bytes.clone();
    more.splice(bytes.len() - 32..bytes.len() - 32, [0; 64]);
    assert!(query(more).is_err());
}

#[test]
fn a_key_has_one_form() {
    let bytes = crate::common::key(3, 1).to_bytes().to_vec();
    assert!(key(bytes.clone()).is_ok());
    for (value, spent) in [(0, false), (1, true)] {
        let mut other = bytes.clone();
        other[SPENT] = value;
        assert_eq!(key(other).unwrap().spent(), spent);
    }
    for value in [2, 0xff] {
        let mut other = bytes.clone();
        other[SPENT] = value;
        malformed(key(other), "neither fresh nor spent");
    }
    // Opened answers: in order, and none twice.
    let opened = SPENT + 1 + 2 + "folder/mul16".len() + 2 + "mul16".len() + 2 + 2;
    let with = |entries: &[[u8; 64]]| {
        let count = (entries.len() as u32).to_le_bytes();
        [&bytes[..opened], &count, entries.as_flattened(), &bytes[opened + 4..]].concat()
    };
    assert_eq!(key(with(&[[1; 64], [2; 64]])).unwrap().opened(), 2);
    malformed(key(with(&[[2; 64], [1; 64]])), "not encoded as comity encodes it");
    malformed(key(with(&[[1; 64], [1; 64]])), "not encoded as comity encodes it");
    let mut many = bytes.clone();
    many[opened..opened + 4].fill(0xff);
    malformed(key(many), "in the middle of a field");
}

/// Version 1 bound an answer to the protocol's query alone, so that it could be passed off as another's.
#[test]
fn files_of_another_version_say_what_to_do() {
    let mine = crate::common::key(3, 1);
    let sealed = crate::common::answer(&mine.query(), "ann", 5, 2);
    let of = |version: u8, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[16..18].copy_from_slice(&[version, 0]);
        bytes
    };
    let check = |version| mine.check(&crate::common::program(), &mut &crate::common::mend(of(version, &sealed))[..]);
    malformed(
        query(of(1, mine.query().to_bytes())),
        "a query of version 1, and this program takes version 2: its publisher",
    );
    malformed(key(of(1, &mine.to_bytes())), "publish a new query, which makes a new key");
    malformed(check(1), "an answer of version 1, and this program takes version 2: publish a new query");
    for result in [query(of(3, mine.query().to_bytes())).err(), key(of(3, &mine.to_bytes())).err(), check(3).err()] {
        malformed::<()>(Err(result.unwrap()), "of a newer comity");
    }
}
