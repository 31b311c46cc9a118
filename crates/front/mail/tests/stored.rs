//! Stored copies: when they are fetched, which ones, and what is not as its sender stored it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Read;

use crate::common::*;
use comity_core::{Error, Kind, Result};
use comity_mail::{CopyStore, Destination, Query, QueryKey, Verdict, respond_stored, stored_bytes};
use comity_nisc::{Copies, Cost, Writers};

/// A store, and what was asked for.
#[derive(Clone, Default)]
struct Shelf {
    files: BTreeMap<String, Vec<u8>>,
    whole: bool,
    asked: Vec<String>,
}

impl CopyStore for Shelf {
    fn whole(&self) -> bool {
        self.whole
    }

    fn fetch(&mut self, name: &str, bytes: u64) -> Result<Box<dyn Read>> {
        self.asked.push(name.to_owned());
        let gone = || Error::invalid_input("a copy is gone");
        let file = self.files.get(name).ok_or_else(gone)?.clone();
        assert_eq!(bytes, stored_bytes(cost().copy_bytes));
        Ok(Box::new(std::io::Cursor::new(file)))
    }
}

fn copies() -> Copies {
    Copies::stored(COPIES).unwrap()
}

fn cost() -> Cost {
    Cost::new(&program(), copies()).unwrap()
}

fn stored_key(seed: u128) -> QueryKey {
    QueryKey::publish(backend(), &program(), "mul16", &[Some(number(3)), None], copies(), 4, &mut rng(seed)).unwrap()
}

/// An answer; its copies go to the shelf.
fn stored(query: &Query, who: &str, y: u64, seed: u128, shelf: &mut Shelf) -> Vec<u8> {
    let (mut out, mut names) = (Vec::new(), Vec::new());
    let place = |name: &str| {
        names.push(name.to_owned());
        Ok(Vec::new())
    };
    let inputs = [None, Some(number(y))];
    let to = Destination { answer: &mut out, place };
    let files = respond_stored(backend(), query, &program(), &inputs, &name(who), &mut rng(seed), to).unwrap();
    assert!(files.iter().all(|file| file.len() as u64 == stored_bytes(cost().copy_bytes)));
    assert!(names.iter().all(|name| name.len() == 32 + 1 + 3 + 5 && name.ends_with(".copy")));
    shelf.files.extend(names.into_iter().zip(files));
    out
}

fn open(key: &mut QueryKey, answers: &[&[u8]], shelf: &mut Shelf) -> Vec<Verdict> {
    let program = program();
    let mut batch = key.batch(backend(), &program).unwrap();
    answers.iter().for_each(|answer| batch.admit(&mut &answer[..]));
    let mut fetching = batch.fetch(|_| Ok::<(), Infallible>(())).unwrap();
    answers.iter().for_each(|answer| fetching.add(&mut &answer[..], shelf));
    fetching.tell()
}

fn told(verdict: &Verdict) -> Result<u64, String> {
    match &verdict.outcome {
        Ok(opened) => Ok((0..opened.outputs[0].len()).map(|i| u64::from(opened.outputs[0].get(i)) << i).sum()),
        Err(error) => Err(error.to_string()),
    }
}

/// The names of the copies of an answer that was put on an empty shelf, in order.
fn names(shelf: &Shelf) -> Vec<String> {
    shelf.files.keys().cloned().collect()
}

#[test]
fn only_evaluated_copies_are_fetched_or_all() {
    let (mut key, mut shelf) = (stored_key(1), Shelf::default());
    let ann = stored(&key.query(), "ann", 5, 2, &mut shelf);
    let names = names(&shelf);
    assert_eq!((names.len(), ann.len()), (COPIES, 18 + 65 + 3 + 32 + 16 + 32 + cost().answer_bytes as usize));
    let evaluated: Vec<_> = key.secret().evaluated().iter().map(|&i| names[i].clone()).collect();
    assert!(!evaluated.is_empty() && evaluated.len() < COPIES);
    assert_eq!(told(&open(&mut key, &[&ann], &mut shelf)[0]), Ok(15));
    assert_eq!(shelf.asked, evaluated);
    // Again, from a store that is read whole.
    let mut whole = Shelf { whole: true, asked: Vec::new(), ..shelf };
    assert_eq!(told(&open(&mut key, &[&ann], &mut whole)[0]), Ok(15));
    assert_eq!(whole.asked, names);
}

#[test]
fn nothing_is_fetched_before_the_key_is_saved_as_spent() {
    let (mut key, mut shelf) = (stored_key(1), Shelf::default());
    let [ann, late] =
        [("ann", 5, 2), ("late", 6, 3)].map(|(who, y, seed)| stored(&key.query(), who, y, seed, &mut shelf));
    let program = program();
    let mut batch = key.batch(backend(), &program).unwrap();
    batch.admit(&mut &ann[..]);
    assert_eq!(batch.fetch(|key| Err((key.spent(), key.opened()))).err(), Some((true, 1)));
    // The key as it was on the disk; what is not admitted is not opened, and costs no batch.
    let mut key = stored_key(1);
    for cut in [&ann[..3000], &ann[..50], &[1; 400]] {
        assert!(told(&open(&mut key, &[cut], &mut shelf)[0]).is_err());
    }
    assert!(!key.spent() && shelf.asked.is_empty());
    // Nor is a batch that forgets the store.
    let mut batch = key.batch(backend(), &program).unwrap();
    batch.add(&mut &ann[..]);
    let verdicts = batch.close(|_| Ok::<(), Infallible>(())).unwrap();
    assert!(told(&verdicts[0]).unwrap_err().contains("in a store") && !key.spent());
    let verdicts = open(&mut key, &[&ann, &ann, &late[..3000]], &mut shelf);
    assert_eq!(told(&verdicts[0]), Ok(15));
    assert!(told(&verdicts[1]).unwrap_err().contains("repeats"));
    assert!(told(&verdicts[2]).unwrap_err().contains("cut short"));
    assert!(key.spent());
    shelf.asked.clear();
    let verdicts = open(&mut key, &[&late], &mut shelf);
    assert!(told(&verdicts[0]).unwrap_err().contains("not among them") && shelf.asked.is_empty());
    let mut next = key.refresh(&mut rng(8)).unwrap();
    let new = stored(&next.query(), "ann", 7, 9, &mut shelf);
    assert_eq!(told(&open(&mut next, &[&new], &mut shelf)[0]), Ok(21));
}

#[test]
fn a_copy_that_is_not_the_senders_is_nobodys_fault() {
    let (mut key, mut shelf) = (stored_key(1), Shelf::default());
    let ann = stored(&key.query(), "ann", 5, 2, &mut shelf);
    let names = names(&shelf);
    let mut other = Shelf::default();
    stored(&key.query(), "ann", 5, 3, &mut other);
    let foreign: Vec<_> = other.files.into_values().collect();
    let evaluated = key.secret().evaluated();
    let (bad, good) = (evaluated[0], (0..COPIES).find(|i| !evaluated.contains(i)).unwrap());
    let mut check = |i: usize, bytes: Option<Vec<u8>>, words: &str| {
        let mut changed = shelf.clone();
        match bytes {
            Some(bytes) => changed.files.insert(names[i].clone(), bytes),
            None => changed.files.remove(&names[i]),
        };
        for whole in [false, true] {
            changed.whole = whole;
            let verdicts = open(&mut key, &[&ann], &mut changed);
            if i == good && !whole {
                assert_eq!(told(&verdicts[0]), Ok(15), "nobody looks at a checked copy");
                continue;
            }
            assert!(!matches!(verdicts[0].outcome, Err(Error { kind: Kind::Misbehaved(_), .. })));
            let said = told(&verdicts[0]).unwrap_err();
            assert!(said.contains(words), "`{words}` is not in: {said}");
        }
    };
    for i in [bad, good] {
        let file = &shelf.files[&names[i]];
        let summed = |mut bytes: Vec<u8>| {
            let end = bytes.len() - 32;
            let sum = blake3::derive_key("comity mail: the checksum of a stored copy", &bytes[..end]);
            bytes[end..].copy_from_slice(&sum);
            bytes
        };
        check(i, None, "gone");
        check(i, Some(file[..file.len() - 1].to_vec()), "cut short");
        check(i, Some(Vec::new()), "cut short");
        check(i, Some([&file[..], &[0]].concat()), "more follows");
        for at in [18, 60, file.len() - 40] {
            let mut flipped = file.clone();
            flipped[at] ^= 1;
            check(i, Some(flipped.clone()), "");
            check(i, Some(summed(flipped)), "seal");
        }
        // Another copy of this answer, and this copy of another answer by the same sender.
        check(i, Some(shelf.files[&names[(i + 1) % COPIES]].clone()), "seal");
        check(i, Some(foreign[i].clone()), "seal");
        check(i, Some(ann.clone()), "this is an answer");
        let mut future = file.clone();
        future[16] = 9;
        check(i, Some(future), "version 9");
    }
}

/// A sender who puts one thing into the answer and another into the store.
#[test]
fn a_copy_that_its_sender_changed_is_a_cheat() {
    let (key, mut shelf) = (stored_key(1), Shelf::default());
    let honest = stored(&key.query(), "ann", 5, 2, &mut shelf);
    assert!(!honest.is_empty());
    // A writer sees only what is sealed; so the lie is told before the seal, by another set of hashes in a
    // sealed answer.
    let mut plain = Vec::new();
    let mut columns = vec![Vec::new(); COPIES];
    let inputs = [None, Some(number(5))];
    let to = Writers { answer: &mut plain, copies: &mut columns };
    comity_nisc::respond_stored(backend(), key.query().message(), &[0; 32], &program(), &inputs, &mut rng(4), to)
        .unwrap();
    let mut copies: Vec<_> = columns.iter().map(|column| Some(&column[..])).collect();
    let open = |copies: &mut [Option<&[u8]>]| {
        comity_nisc::open_stored(backend(), key.secret(), &[0; 32], &program(), &mut &plain[..], copies)
    };
    assert!(open(&mut copies.clone()).is_ok());
    let bad = key.secret().evaluated()[0];
    let mut changed = columns[bad].clone();
    let end = changed.len() - 64;
    changed[end] ^= 1;
    copies[bad] = Some(&changed);
    assert!(matches!(open(&mut copies), Err(Error { kind: Kind::Misbehaved(comity_nisc::checks::CODED_CIRCUIT), .. })));
}
