//! Answers that somebody takes for its own: a publisher opens what was sealed to it, and seals that again for another.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{Cursor, Read, Write};

use comity_circuit::{Program, Recipients};
use comity_core::{Backend, Bits, Block, Error, Kind, Prg, Result};
use comity_nisc::{Copies, Cost};

use crate::answer::respond;
use crate::batch::Verdict;
use crate::envelope::Tie;
use crate::file::{FileKind, START};
use crate::head::Head;
use crate::key::QueryKey;
use crate::name::Name;
use crate::query::Query;
use crate::seal::{Opener, Sealer, public_key};
use crate::store::{CopyStore, Destination, respond_stored};

/// The place where the protocol's answer says what it answers: after its header.
const ANSWERED: usize = 16 + 2 + 2 + 32;

/// Every form that an answer can have.
fn forms() -> [Copies; 3] {
    [Copies::all(4), Copies::coded(4, 2), Copies::stored(4)].map(|copies| copies.unwrap())
}

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn program() -> Program {
    comity_library::program("add8").unwrap().with_recipients(0, Recipients::only(0)).unwrap()
}

fn number(value: u8) -> Bits {
    Bits::from_bytes(&[value], 8)
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn key(x: u8, copies: Copies, seed: u128) -> QueryKey {
    let inputs = [Some(number(x)), None];
    QueryKey::publish(Backend::detect(), &program(), "add8", &inputs, copies, 4, &mut rng(seed)).unwrap()
}

/// A store.
#[derive(Default)]
struct Shelf(BTreeMap<String, Vec<u8>>);

impl CopyStore for Shelf {
    fn whole(&self) -> bool {
        true
    }

    fn fetch(&mut self, name: &str, _: u64) -> Result<Box<dyn Read>> {
        Ok(Box::new(Cursor::new(self.0[name].clone())))
    }
}

/// An honest answer.
fn answer(query: &Query, who: &str, y: u8, seed: u128, shelf: &mut Shelf) -> Vec<u8> {
    let (backend, program, inputs) = (Backend::detect(), program(), [None, Some(number(y))]);
    let (name, rng, mut out) = (name(who), &mut rng(seed), Vec::new());
    if query.message().copies().is_stored() {
        let mut names = Vec::new();
        let place = |name: &str| {
            names.push(name.to_owned());
            Ok(Vec::new())
        };
        let to = Destination { answer: &mut out, place };
        let files = respond_stored(backend, query, &program, &inputs, &name, rng, to).unwrap();
        shelf.0.extend(names.into_iter().zip(files));
    } else {
        respond(backend, query, &program, &inputs, &name, rng, &mut out).unwrap();
    }
    out
}

/// The outcomes of answers, opened in one batch or, adaptively, one after another.
fn opened(key: &mut QueryKey, answers: &[&[u8]], shelf: &mut Shelf, adaptively: bool) -> Vec<Verdict> {
    fn saved(_: &QueryKey) -> Result<(), Infallible> {
        Ok(())
    }
    let (program, stored) = (program(), key.secret().copies().is_stored());
    let mut verdicts = Vec::new();
    for answers in answers.chunks(if adaptively { 1 } else { answers.len() }) {
        let mut batch = key.batch(Backend::detect(), &program).unwrap();
        if stored {
            answers.iter().for_each(|answer| batch.admit(&mut &answer[..]));
            let mut fetching = batch.fetch(saved).unwrap();
            answers.iter().for_each(|answer| fetching.add(&mut &answer[..], shelf));
            verdicts.extend(fetching.tell());
        } else {
            answers.iter().for_each(|answer| batch.add(&mut &answer[..]));
            verdicts.extend(if adaptively { batch.settle(saved) } else { batch.close(saved) }.unwrap());
        }
    }
    verdicts
}

/// The sum that an answer gave.
fn sum(verdict: &Verdict) -> Option<u8> {
    let opened = verdict.outcome.as_ref().ok()?;
    Some(opened.outputs[0].to_bytes()[0])
}

/// The parts of an answer as a publisher finds them: what was sealed, and the stored copies.
struct Inside {
    plain: Vec<u8>,
    copies: Vec<Vec<u8>>,
}

/// Opens the seal of an answer to this query, whose key for answers has this seed.
fn unsealed(seed: &[u8; 32], query: &Query, answer: &[u8], shelf: &Shelf) -> Inside {
    let cost = Cost::new(&program(), query.message().copies()).unwrap();
    let mut from = answer;
    let head = Head::read(&mut from).unwrap().to_bytes();
    let (encapsulated, mut rest) = from.split_first_chunk().unwrap();
    let mut opener = Opener::new(seed, query.fingerprint(), &head, encapsulated, cost.answer_bytes, &mut rest).unwrap();
    let tie = opener.tie();
    let (mut plain, mut copies) = (Vec::new(), Vec::new());
    opener.read_to_end(&mut plain).unwrap();
    opener.finish().unwrap();
    for i in 0..if query.message().copies().is_stored() { 4 } else { 0 } {
        let mut file = &shelf.0[&tie.name(i)][..];
        let mut opener = Opener::copy(seed, query.fingerprint(), &tie, i, cost.copy_bytes, &mut file).unwrap();
        let mut copy = Vec::new();
        opener.read_to_end(&mut copy).unwrap();
        opener.finish().unwrap();
        copies.push(copy);
    }
    Inside { plain, copies }
}

/// Seals what was found in an answer for another query: as it is, or with the words at its beginning put
/// right that say what it answers.
fn sealed(query: &Query, who: &str, inside: &Inside, reworded: bool, seed: u128, shelf: &mut Shelf) -> Vec<u8> {
    let (mut out, rng, mut plain) = (Vec::new(), &mut rng(seed), inside.plain.clone());
    let (mut sealer, tie): (_, Tie) = Sealer::with_tie(query, &name(who), rng, &mut out).unwrap();
    if reworded {
        let answered = [query.message().fingerprint(), *sealer.context()];
        let answered = blake3::derive_key("comity NISC: a query and its context", answered.as_flattened());
        plain[ANSWERED..][..32].copy_from_slice(&answered);
        let end = plain.len() - 32;
        let sum = blake3::derive_key("comity NISC: the checksum of a file", &plain[..end]);
        plain[end..].copy_from_slice(&sum);
    }
    sealer.write_all(&plain).unwrap();
    for (i, copy) in inside.copies.iter().enumerate() {
        let mut file = Vec::new();
        let mut sealer = Sealer::copy(query, &tie, i, rng, &mut file).unwrap();
        sealer.write_all(copy).unwrap();
        sealer.finish().unwrap();
        shelf.0.insert(tie.name(i), file);
    }
    sealer.finish().unwrap();
    out
}

/// A query with another key for answers, that of this seed: all else is as its publisher made it.
fn usurped(query: &Query, seed: &[u8; 32]) -> Query {
    let mut bytes = query.to_bytes().to_vec();
    bytes[START..START + 32].copy_from_slice(&public_key(seed));
    let end = bytes.len() - 32;
    let sum = FileKind::Query.checksum().update(&bytes[..end]).finalize();
    bytes[end..].copy_from_slice(sum.as_bytes());
    Query::from_bytes(&bytes).unwrap()
}

/// A form, whether the query was refreshed, whether answers are opened one by one, and whether the copy is reworded.
type Case = (Copies, [bool; 3]);

/// All cases. Where copies are stored all answers are opened together.
fn cases() -> impl Iterator<Item = Case> {
    let all = |form: Copies| (0..8).map(move |bits| (form, [0, 1, 2].map(|k| bits >> k & 1 == 1)));
    forms().into_iter().flat_map(all).filter(|(form, [_, adaptively, _])| !(form.is_stored() && *adaptively))
}

/// Pia's key, and her query.
fn published((form, [refreshed, ..]): Case) -> (QueryKey, Query) {
    let key = key(40, form, 1);
    let key = if refreshed { key.refresh(&mut rng(2)).unwrap() } else { key };
    let query = key.query();
    (key, query)
}

/// Whether a copy was refused, as a copy if it is one word for word, and else by a check.
fn refused((_, [.., reworded]): Case, verdict: &Verdict) -> bool {
    match &verdict.outcome {
        Ok(_) => false,
        Err(Error { kind: Kind::Misbehaved(_), .. }) => reworded,
        Err(error) => !reworded && error.to_string().contains("it is a copy"),
    }
}

/// Mallory puts her key before Pia's query. Sam takes it for hers, and answers. She seals his answer for Pia,
/// as her own.
#[test]
fn an_answer_to_one_publisher_does_not_open_for_another() {
    let mallory = [0x4d; 32];
    let mut copied = Vec::new();
    for case @ (form, [_, adaptively, reworded]) in cases() {
        let ((pia, query), shelf) = (published(case), &mut Shelf::default());
        let hers = usurped(&query, &mallory);
        assert!(hers.message() == query.message() && hers.fingerprint() != query.fingerprint());
        let from_sam = answer(&hers, "sam", 2, 3, shelf);
        let inside = unsealed(&mallory, &hers, &from_sam, shelf);
        let olgas = answer(&query, "olga", 7, 5, shelf);
        // Sealed afresh; and as if she had what Sam's encapsulated key was made from.
        for seed in [4, 3] {
            let as_hers = sealed(&query, "mallory", &inside, reworded, seed, shelf);
            let mut pia = QueryKey::from_bytes(&pia.to_bytes()).unwrap();
            let verdicts = opened(&mut pia, &[&olgas, &as_hers], shelf, adaptively);
            assert_eq!(sum(&verdicts[0]), Some(47), "{form:?}");
            if !refused(case, &verdicts[1]) {
                copied.push((case, sum(&verdicts[1]), verdicts[1].outcome.as_ref().err().map(Error::to_string)));
            }
        }
    }
    assert!(copied.is_empty(), "what Sam answered, Pia learned as Mallory's: {copied:?}");
}

/// One answer, sealed twice, for one batch or for two.
#[test]
fn an_answer_counts_once_however_often_it_is_sealed() {
    let mut twice = Vec::new();
    for case @ (form, [_, adaptively, reworded]) in cases() {
        let ((pia, query), shelf) = (published(case), &mut Shelf::default());
        let first = answer(&query, "sam", 2, 3, shelf);
        let inside = unsealed(&pia.seed, &query, &first, shelf);
        for who in ["sam", "somebody else"] {
            let second = sealed(&query, who, &inside, reworded, 4, shelf);
            let mut pia = QueryKey::from_bytes(&pia.to_bytes()).unwrap();
            let verdicts = opened(&mut pia, &[&first, &second], shelf, adaptively);
            assert_eq!(sum(&verdicts[0]), Some(42), "{form:?}");
            if !refused(case, &verdicts[1]) {
                twice.push((case, who, sum(&verdicts[1]), verdicts[1].outcome.as_ref().err().map(Error::to_string)));
            }
        }
    }
    assert!(twice.is_empty(), "it counts twice: {twice:?}");
}

/// Pia has refreshed her query: what answered the last one, sealed for the next, is for that one no answer.
#[test]
fn a_refreshed_query_takes_no_answer_to_the_last_one() {
    for form in forms() {
        let (pia, shelf) = (key(40, form, 1), &mut Shelf::default());
        let first = answer(&pia.query(), "sam", 2, 3, shelf);
        let inside = unsealed(&pia.seed, &pia.query(), &first, shelf);
        let next = pia.refresh(&mut rng(2)).unwrap();
        assert_ne!(*pia.seed, *next.seed, "a refreshed query has another key for answers");
        for reworded in [false, true] {
            let again = sealed(&next.query(), "sam", &inside, reworded, 4, shelf);
            let mut next = QueryKey::from_bytes(&next.to_bytes()).unwrap();
            let verdicts = opened(&mut next, &[&again], shelf, false);
            assert!(refused((form, [true, false, reworded]), &verdicts[0]), "{form:?}: {:?}", verdicts[0]);
        }
    }
}

/// The encapsulated key has several encodings of one point: only the sender's opens.
#[test]
fn an_encapsulated_key_in_another_encoding_is_another() {
    let (mut pia, query) = published((Copies::all(4).unwrap(), [false; 3]));
    let mut other = answer(&query, "sam", 2, 3, &mut Shelf::default());
    let at = START + 32 + 32 + 1 + "sam".len();
    // X25519 does not look at this bit.
    other[at + 31] ^= 0x80;
    let end = other.len() - 32;
    let sum = FileKind::Answer.checksum().update(&other[..end]).finalize();
    other[end..].copy_from_slice(sum.as_bytes());
    let verdicts = opened(&mut pia, &[&other], &mut Shelf::default(), false);
    let said = verdicts[0].outcome.as_ref().unwrap_err().to_string();
    assert!(said.contains("seal does not open"), "{said}");
}
