//! Computing by mail: queries, keys and answers, of which a stranger writes the first and the last.

use std::convert::Infallible;
use std::io::Write;
use std::sync::OnceLock;

use comity_circuit::{Builder, Program, Recipients};
use comity_core::{Backend, Bits, Block, Prg};
use comity_mail::{Name, Query, QueryKey, Sealer, examine, respond};
use comity_nisc::Copies;

/// The AND of a bit of either party.
fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 1)[0], b.input("y", 1)[0]);
        let z = b.and(x, y);
        b.output("z", &[z]);
        let program = Program::from_circuit(b.finish());
        program.and_then(|program| program.with_recipients(0, Recipients::only(0))).expect("one circuit is a program")
    })
}

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// A key that has opened nothing, and has the tables that it needs: to make them takes longer than to open an answer.
fn key() -> QueryKey {
    static FIRST: OnceLock<QueryKey> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let (inputs, copies) = ([Some(Bits::from_bytes(&[1], 1)), None], Copies::all(2).expect("there is a copy"));
        QueryKey::publish(Backend::detect(), program(), "and", &inputs, copies, 1, &mut rng(1)).expect("the input fits")
    });
    QueryKey::from_bytes(&first.to_bytes()).expect("it was just made").with_tables_of(first)
}

/// Its query.
fn query() -> &'static Query {
    static QUERY: OnceLock<Query> = OnceLock::new();
    QUERY.get_or_init(|| key().query())
}

fn name() -> Name {
    Name::new("ann").expect("a name of letters")
}

/// The seal of the answers whose inside is given: one for all, since the inside is bound to it.
fn sealer(to: &mut dyn Write) -> Sealer<'_> {
    Sealer::new(query(), &name(), &mut rng(4), to).expect("an honest query")
}

/// Two valid queries, keys and answers; of the second kind of answer what is inside the seal.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let (program, key, inputs) = (program(), key(), [None, Some(Bits::from_bytes(&[1], 1))]);
    let (backend, query, mut answer, mut inner) = (Backend::detect(), query(), vec![0], vec![1]);
    respond(backend, query, program, &inputs, &name(), &mut rng(2), &mut answer).expect("an honest query");
    let context = *sealer(&mut std::io::sink()).context();
    comity_nisc::respond(backend, query.message(), &context, program, &inputs, &mut rng(2), &mut inner)
        .expect("an honest query");
    let cut = |bytes: &[u8]| bytes[..bytes.len() * 2 / 3].to_vec();
    let (query, key) = (query.to_bytes().to_vec(), key.to_bytes().to_vec());
    vec![
        ("mail_query", "cut", cut(&query)),
        ("mail_query", "key", key.clone()),
        ("mail_query", "valid", query.clone()),
        ("mail_key", "cut", cut(&key)),
        ("mail_key", "query", query),
        ("mail_key", "valid", key),
        ("mail_answer", "cut", cut(&answer)),
        ("mail_answer", "inner", inner),
        ("mail_answer", "mended", [&[2], &answer[1..]].concat()),
        ("mail_answer", "valid", answer),
    ]
}

/// The bytes with their last ones made the checksum of the others: damage is found by it, and lies are not.
fn mended(data: &[u8], label: &str) -> Option<Vec<u8>> {
    let body = data.get(..data.len().checked_sub(32)?)?;
    Some([body, &blake3::derive_key(label, body)[..]].concat())
}

/// A query, and the same with its checksum made right.
pub(crate) fn mail_query(data: &[u8]) {
    for bytes in [Some(data.to_vec()), mended(data, "comity mail: the fingerprint of a query")].iter().flatten() {
        let Ok(query) = Query::from_bytes(bytes) else { continue };
        assert_eq!(query.to_bytes(), bytes, "what was decoded encodes otherwise");
        let inputs = [None, Some(Bits::from_bytes(&[1], 1))];
        let _ = respond(Backend::detect(), &query, program(), &inputs, &name(), &mut rng(3), &mut std::io::sink());
    }
}

/// A key, and the same with its checksum made right.
pub(crate) fn mail_key(data: &[u8]) {
    for bytes in [Some(data.to_vec()), mended(data, "comity mail: the checksum of a key")].iter().flatten() {
        if let Ok(key) = QueryKey::from_bytes(bytes) {
            assert!(&key.to_bytes()[..] == bytes, "what was decoded encodes otherwise");
        }
    }
}

/// A sealed answer; if the first byte is odd, what an answer has inside its seal, which here is made by the
/// sender; if bit 1 of it is set, a sealed answer whose checksum is made right.
pub(crate) fn mail_answer(data: &[u8]) {
    let mut key = key();
    let Some(answer) = answer(data) else { return };
    let examined = examine(&mut &answer[..]);
    // To unseal takes longer than all else: only what opens is unsealed twice.
    if open(&mut key, &answer) {
        assert!(examined.is_ok() && key.check(program(), &mut &answer[..]).is_ok());
    }
}

/// The answer that an input is.
fn answer(data: &[u8]) -> Option<Vec<u8>> {
    let (&kind, data) = data.split_first()?;
    if kind & 1 == 1 {
        let inner = mended(data, "comity NISC: the checksum of a file")?;
        let mut sealed = Vec::new();
        let mut sealer = sealer(&mut sealed);
        sealer.write_all(&inner).expect("memory takes all bytes");
        sealer.finish().expect("memory takes all bytes");
        return Some(sealed);
    }
    if kind & 2 == 2 { mended(data, "comity mail: the checksum of an answer") } else { Some(data.to_vec()) }
}

/// Opens an answer, and says whether it was one.
fn open(key: &mut QueryKey, answer: &[u8]) -> bool {
    let mut batch = key.batch(Backend::detect(), program()).expect("the key's own program");
    batch.add(&mut &answer[..]);
    let Ok(verdicts) = batch.settle(|_| Ok::<(), Infallible>(()));
    assert_eq!(verdicts.len(), 1);
    verdicts[0].outcome.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seeds open: else the campaigns begin with what is refused at once.
    #[test]
    fn the_seeds_that_are_answers_open() {
        for seed in [&include_bytes!("../corpus/mail_answer/valid")[..], include_bytes!("../corpus/mail_answer/inner")]
        {
            for kind in [seed[0], 2 | seed[0]] {
                let input = [&[kind], &seed[1..]].concat();
                assert!(open(&mut key(), &answer(&input).expect("it has a beginning and an end")), "{kind}");
            }
        }
    }
}
