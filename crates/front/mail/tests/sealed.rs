//! The seal: what is not as its sender sealed it, for this query, does not open.

use std::io::{self, Read};

use crate::common::*;
use comity_core::{Error, Kind};
use comity_mail::{Name, Query, QueryKey, examine};

/// Bytes of the head of an answer of `ann`, and of the encapsulated key after it.
const HEAD: usize = 18 + 32 + 32 + 1 + 3;
const SEALED: usize = HEAD + 32;
const CHUNK: usize = (64 << 10) + 16;

fn check(key: &QueryKey, answer: &[u8]) -> Result<Name, Error> {
    key.check(&program(), &mut &answer[..])
}

#[track_caller]
fn malformed(result: Result<Name, Error>, words: &str) {
    match result {
        Err(Error { kind: Kind::Malformed(what), .. }) => assert!(what.contains(words), "`{words}` is not in: {what}"),
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn an_honest_answer_is_whole_and_says_who_sent_it() {
    let key = key(3, 1);
    let query = Query::from_bytes(key.query().to_bytes()).unwrap();
    assert_eq!(query, key.query());
    assert_eq!((query.fingerprint(), query.reference().text()), (key.fingerprint(), "mul16"));
    assert_eq!(key.named(), "folder/mul16");
    let sealed = answer(&query, "ann", 5, 2);
    assert!(sealed.len() > SEALED + CHUNK, "two chunks are wanted here");
    assert_eq!(check(&key, &sealed).unwrap(), name("ann"));
    let (head, bytes) = examine(&mut &sealed[..]).unwrap();
    assert_eq!((head.name, head.query, bytes), (name("ann"), *query.fingerprint(), sealed.len() as u64));
    // The key survives its encoding.
    let again = QueryKey::from_bytes(&key.to_bytes()).unwrap();
    assert_eq!(again.to_bytes(), key.to_bytes());
    assert_eq!(check(&again, &sealed).unwrap(), name("ann"));
}

#[test]
fn damage_anywhere_is_found() {
    let key = key(3, 1);
    let sealed = answer(&key.query(), "ann", 5, 2);
    for at in (0..sealed.len()).step_by(997).chain(0..SEALED + 40).chain(sealed.len() - 60..sealed.len()) {
        let mut flipped = sealed.clone();
        flipped[at] ^= 4;
        assert!(check(&key, &flipped).is_err(), "byte {at}");
        assert!(examine(&mut &flipped[..]).is_err(), "byte {at}");
        // Whoever does it on purpose makes the checksum right: what is sealed does not open, what stands in
        // the clear is bound.
        if at < sealed.len() - 32 {
            assert!(check(&key, &mend(flipped)).is_err(), "byte {at}, on purpose");
        }
    }
    malformed(check(&key, &[&sealed[..], &[0]].concat()), "more follows");
    let mut flipped = sealed.clone();
    flipped[SEALED + 9] ^= 1;
    malformed(check(&key, &flipped), "damaged on its way");
    malformed(check(&key, &mend(flipped)), "seal does not open");
    for length in (0..sealed.len()).step_by(1009).chain(0..SEALED + 40).chain(sealed.len() - 40..sealed.len()) {
        let result = check(&key, &sealed[..length]);
        malformed(result, if length < 18 { "something else" } else { "cut short" });
        assert!(examine(&mut &sealed[..length]).is_err(), "{length}");
    }
}

#[test]
fn parts_of_answers_do_not_make_an_answer() {
    let key = key(3, 1);
    let [a, b] = [2, 3].map(|seed| answer(&key.query(), "ann", 5, seed));
    let (first, rest) = (SEALED..SEALED + CHUNK, SEALED + CHUNK..a.len() - 32);
    let splice = |parts: &[&[u8]]| mend([parts.concat(), vec![0; 32]].concat());
    // A chunk of another answer, chunks in another order, without the last one, and the whole of another
    // under this head.
    malformed(check(&key, &splice(&[&a[..first.end], &b[rest.clone()]])), "seal does not open");
    malformed(check(&key, &splice(&[&a[..SEALED], &b[SEALED..b.len() - 32]])), "seal does not open");
    malformed(check(&key, &splice(&[&a[..SEALED], &a[rest.clone()], &a[first.clone()]])), "seal does not open");
    malformed(check(&key, &splice(&[&a[..first.end]])), "cut short");
    malformed(check(&key, &splice(&[&a[..first.end], &a[first.clone()]])), "damaged on its way");
    // The same answer in another's name.
    let mut renamed = a.clone();
    renamed[HEAD - 3..HEAD].copy_from_slice(b"eve");
    malformed(check(&key, &mend(renamed)), "seal does not open");
    // Fewer or more bytes, sealed as they should be.
    malformed(check(&key, &seal(&key.query(), "ann", &[7; 100], 4)), "cut short");
    assert!(check(&key, &seal(&key.query(), "ann", &vec![7; a.len()], 4)).is_err());
    // Only the mark of the last chunk is wrong: as many bytes, but the sender meant more to follow.
    let plain = a.len() - SEALED - 32 - 2 * 16;
    let longer = seal(&key.query(), "ann", &vec![7; 2 * (CHUNK - 16) + 1], 5);
    assert!(plain < 2 * (CHUNK - 16), "the second chunk of an answer is not full");
    malformed(check(&key, &splice(&[&longer[..SEALED + CHUNK], &a[rest]])), "seal does not open");
}

#[test]
fn answers_to_something_else_say_so() {
    let mine = key(3, 1);
    let mismatch = |answer: &[u8], of: &str| match check(&mine, answer) {
        Err(Error { kind: Kind::Mismatch { field, .. }, .. }) => assert_eq!(field, of),
        other => panic!("{of}: {other:?}"),
    };
    mismatch(&answer(&key(3, 9).query(), "ann", 5, 2), "query");
    let other = key_for(&other_program(), 3, 9);
    mismatch(&answer_as(&other.query(), &other_program(), "ann", 5, 2), "program");
    let next = mine.refresh(&mut rng(7)).unwrap();
    assert_eq!((next.secret().epoch(), next.query().message().id()), (1, mine.query().message().id()));
    mismatch(&answer(&next.query(), "ann", 5, 2), "query");
    assert_eq!(check(&next, &answer(&next.query(), "ann", 5, 2)).unwrap(), name("ann"));
    // Sealed for another query, and claimed to be for this one.
    let mut sealed = answer(&key(3, 9).query(), "ann", 5, 2);
    sealed[50..82].copy_from_slice(mine.fingerprint());
    malformed(check(&mine, &mend(sealed)), "seal does not open");
    assert!(matches!(
        mine.check(&other_program(), &mut &[][..]),
        Err(Error { kind: Kind::Mismatch { field: "program", .. }, .. })
    ));
    malformed(check(&mine, mine.query().to_bytes()), "this is a query");
    malformed(check(&mine, &mine.to_bytes()), "the key of a query");
    let mut future = answer(&mine.query(), "ann", 5, 2);
    future[16] = 9;
    malformed(check(&mine, &future), "version 9");
    malformed(check(&mine, b""), "something else");
}

/// A reader that counts what was read of it.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(bytes)?;
        self.1 += count as u64;
        Ok(count)
    }
}

#[test]
fn ten_gigabytes_of_zeros_cost_nothing() {
    let key = key(3, 1);
    let mut zeros = Counted(io::repeat(0), 0);
    malformed(key.check(&program(), &mut zeros), "something else");
    assert!(zeros.1 < 100);
    let sealed = answer(&key.query(), "ann", 5, 2);
    let mut zeros = Counted((&sealed[..SEALED]).chain(io::repeat(0)), 0);
    malformed(key.check(&program(), &mut zeros), "damaged on its way");
    assert!(zeros.1 <= sealed.len() as u64, "{} bytes were read of an answer of {}", zeros.1, sealed.len());
    // Nor does a query or a key promise more than is there.
    for bytes in [key.query().to_bytes().to_vec(), key.to_bytes().to_vec()] {
        for at in 18..120.min(bytes.len() - 32) {
            let mut large = bytes.clone();
            large[at] = 0xff;
            let label = ["comity mail: the fingerprint of a query", "comity mail: the checksum of a key"];
            let end = large.len() - 32;
            let sum = blake3::derive_key(label[usize::from(bytes.starts_with(b"comity key"))], &large[..end]);
            large[end..].copy_from_slice(&sum);
            // Whatever it is then, reading it ends, and a query is the one that was read.
            if let Ok(query) = Query::from_bytes(&large) {
                assert_eq!(query.to_bytes(), large);
            }
            let _ = QueryKey::from_bytes(&large);
        }
    }
}

#[test]
fn damaged_queries_and_keys_are_refused() {
    let key = key(3, 1);
    let (query, key) = (key.query().to_bytes().to_vec(), key.to_bytes().to_vec());
    for at in (0..query.len()).step_by(13) {
        let mut flipped = query.clone();
        flipped[at] ^= 1;
        assert!(Query::from_bytes(&flipped).is_err() && Query::from_bytes(&query[..at]).is_err(), "{at}");
    }
    for at in 0..key.len() {
        let mut flipped = key.clone();
        flipped[at] ^= 1;
        assert!(QueryKey::from_bytes(&flipped).is_err() && QueryKey::from_bytes(&key[..at]).is_err(), "{at}");
    }
    assert!(Query::from_bytes(&key).is_err() && QueryKey::from_bytes(&query).is_err());
    // A key for answers that everybody knows the other side of.
    let mut low = query.clone();
    low[18..50].fill(0);
    let end = low.len() - 32;
    let sum = blake3::derive_key("comity mail: the fingerprint of a query", &low[..end]);
    low[end..].copy_from_slice(&sum);
    let low = Query::from_bytes(&low).unwrap();
    let mut out = Vec::new();
    let inputs = [None, Some(number(5))];
    let refused = comity_mail::respond(backend(), &low, &program(), &inputs, &name("ann"), &mut rng(2), &mut out);
    assert!(matches!(refused, Err(Error { kind: Kind::Malformed(_), .. })) && out.is_empty());
}
