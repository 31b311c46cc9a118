//! Batches: who hears of what when, and what a key opens afterwards.

use std::convert::Infallible;

use crate::common::*;
use comity_core::{Error, Kind};
use comity_mail::{QueryKey, Verdict};

/// The end of a batch.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Close,
    Settle,
}

/// Opens answers; returns the verdicts, and the bytes of the key as it was saved.
fn open(key: &mut QueryKey, answers: &[&[u8]], end: End) -> (Vec<Verdict>, Option<Vec<u8>>) {
    let program = program();
    let mut batch = key.batch(backend(), &program).unwrap();
    answers.iter().for_each(|answer| batch.add(&mut &answer[..]));
    let mut saved = None;
    let save = |key: &QueryKey| {
        saved = Some(key.to_bytes().to_vec());
        Ok::<(), Infallible>(())
    };
    let verdicts = if end == End::Close { batch.close(save) } else { batch.settle(save) };
    (verdicts.unwrap(), saved)
}

/// The product that an answer gave, or what was wrong.
fn told(verdict: &Verdict) -> Result<u64, String> {
    match &verdict.outcome {
        Ok(opened) => Ok((0..opened.outputs[0].len()).map(|i| u64::from(opened.outputs[0].get(i)) << i).sum()),
        Err(error) => Err(error.to_string()),
    }
}

#[track_caller]
fn all(verdicts: &[Verdict], expected: &[Result<u64, &str>]) {
    assert_eq!(verdicts.len(), expected.len());
    for (i, (verdict, expected)) in verdicts.iter().zip(expected).enumerate() {
        match (told(verdict), expected) {
            (Ok(value), Ok(expected)) => assert_eq!(value, *expected, "answer {i}"),
            (Err(what), Err(words)) => assert!(what.contains(words), "answer {i}: `{words}` is not in: {what}"),
            (other, expected) => panic!("answer {i}: {other:?} in place of {expected:?}"),
        }
    }
}

#[test]
fn a_batch_opens_all_and_no_later_answer() {
    let mut key = key(3, 1);
    let query = key.query();
    let [ann, ben, late] =
        [("ann", 5, 2), ("ben", 100, 3), ("late", 9, 4)].map(|(who, y, s)| answer(&query, who, y, s));
    let eve = cheat(&query, "eve", 5);
    let (verdicts, saved) = open(&mut key, &[&ann, &eve, &[1; 400], &ben, &late[..999]], End::Close);
    all(&verdicts, &[Ok(15), Err("misbehaved"), Err("something else"), Ok(300), Err("cut short")]);
    assert!(matches!(
        verdicts[1].outcome,
        Err(Error {
            kind: Kind::Misbehaved(comity_nisc::checks::GARBLED_CIRCUIT | comity_nisc::checks::NO_VALID_COPY),
            ..
        })
    ));
    let names: Vec<_> = verdicts.iter().map(|v| v.name.as_ref().map(|name| name.as_str())).collect();
    assert_eq!(names, [Some("ann"), Some("eve"), None, Some("ben"), Some("late")]);
    // What was saved before the verdicts were told knows all of that.
    let mut key = QueryKey::from_bytes(&saved.unwrap()).unwrap();
    assert!(key.spent());
    assert_eq!(key.opened(), 3);
    for end in [End::Close, End::Settle] {
        let (verdicts, saved) = open(&mut key, &[&late, &ben, &eve], end);
        all(&verdicts, &[Err("opened already, and this one was not among them"), Ok(300), Err("misbehaved")]);
        assert!(saved.is_none(), "nothing new was learned");
    }
    let mut next = key.refresh(&mut rng(8)).unwrap();
    assert!(!next.spent() && next.opened() == 0);
    let new = answer(&next.query(), "ann", 7, 9);
    let (verdicts, _) = open(&mut next, &[&ann, &new], End::Close);
    all(&verdicts, &[Err("disagree on the query"), Ok(21)]);
}

#[test]
fn nothing_is_told_if_the_key_cannot_be_saved() {
    let mut key = key(3, 1);
    let answer = answer(&key.query(), "ann", 5, 2);
    for end in [End::Close, End::Settle] {
        let program = program();
        let mut batch = key.batch(backend(), &program).unwrap();
        batch.add(&mut &answer[..]);
        let full = |key: &QueryKey| {
            assert_eq!((key.spent(), key.opened()), (end == End::Close, 1), "it is marked when it is saved");
            Err("the disk is full")
        };
        let told = if end == End::Close { batch.close(full) } else { batch.settle(full) };
        assert_eq!(told.unwrap_err(), "the disk is full");
        key = crate::common::key(3, 1);
    }
}

#[test]
fn a_batch_without_an_answer_to_the_query_is_none() {
    let mut mine = key(3, 1);
    let foreign = answer(&key(3, 99).query(), "ann", 5, 2);
    let sealed = answer(&mine.query(), "ann", 5, 2);
    let mut damaged = sealed.clone();
    damaged[1000] ^= 1;
    let (verdicts, saved) = open(&mut mine, &[&foreign, &[0; 1000], &damaged], End::Close);
    all(&verdicts, &[Err("query"), Err("something else"), Err("damaged")]);
    assert!(saved.is_none() && !mine.spent());
    let (verdicts, _) = open(&mut mine, &[&sealed], End::Close);
    all(&verdicts, &[Ok(15)]);
}

#[test]
fn a_copy_of_an_answer_is_refused_and_does_not_displace_it() {
    let mut key = key(3, 1);
    let query = key.query();
    let ann = answer(&query, "ann", 5, 2);
    // The same randomness gives the same encapsulated key.
    let twin = answer(&query, "ann", 6, 2);
    assert_eq!(ann[86..118], twin[86..118]);
    let mut mangled = ann.clone();
    mangled[5000] ^= 1;
    let (verdicts, _) = open(&mut key, &[&mend(mangled), &ann, &ann, &twin], End::Settle);
    all(&verdicts, &[Err("seal does not open"), Ok(15), Err("repeats"), Err("repeats")]);
    assert!(!key.spent());
    // Also across batches.
    let (verdicts, _) = open(&mut key, &[&twin], End::Settle);
    all(&verdicts, &[Err("repeats")]);
    let (verdicts, saved) = open(&mut key, &[&ann], End::Settle);
    all(&verdicts, &[Ok(15)]);
    assert!(saved.is_none());
}

#[test]
fn adaptively_the_first_cheat_ends_it() {
    let mut key = key(3, 1);
    let query = key.query();
    let [ann, ben, cleo] = [("ann", 5, 2), ("ben", 6, 3), ("cleo", 7, 4)].map(|(who, y, s)| answer(&query, who, y, s));
    let (verdicts, saved) = open(&mut key, &[&ann], End::Settle);
    all(&verdicts, &[Ok(15)]);
    assert!(!QueryKey::from_bytes(&saved.unwrap()).unwrap().spent());
    // Damage is no cheat.
    all(&open(&mut key, &[&ben[..3000]], End::Settle).0, &[Err("cut short")]);
    all(&open(&mut key, &[&ben], End::Settle).0, &[Ok(18)]);
    let (verdicts, saved) = open(&mut key, &[&cheat(&query, "eve", 9)], End::Settle);
    all(&verdicts, &[Err("misbehaved")]);
    assert!(QueryKey::from_bytes(&saved.unwrap()).unwrap().spent());
    let (verdicts, _) = open(&mut key, &[&cleo, &ben], End::Settle);
    all(&verdicts, &[Err("not among them"), Ok(18)]);
}

#[test]
fn sealed_nonsense_is_its_senders_fault() {
    let mut key = key(3, 1);
    let query = key.query();
    let plain = comity_nisc::Cost::new(&program(), key.secret().copies()).unwrap().answer_bytes as usize;
    let nonsense = seal(&query, "eve", &vec![7; plain], 3);
    let (verdicts, saved) = open(&mut key, &[&nonsense], End::Settle);
    all(&verdicts, &[Err("malformed")]);
    assert!(saved.is_some() && key.spent(), "it came from somebody who could read the query, and is no damage");
}
