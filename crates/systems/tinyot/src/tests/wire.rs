//! The bytes on the wire: pinned, counted, and broken in every way.

use comity_channel::{Channel, Counted, MemoryChannel, Recorded};
use comity_circuit::{Program, Recipients, run};
use comity_core::{Backend, Bits, Error, Kind, Result, SessionId};
use comity_protocol::Here;
use comity_testing::laws::{Outputs, bits, chain_and_layer, rng};
use comity_testing::{Pair, deviate, never_wrong};

use super::dealer::Trusted;
use super::here;
use crate::machine::Machine;
use crate::sharing::PairSharing;

/// Two outputs: one for both, one for party 1.
fn program() -> Program {
    let mut b = comity_circuit::Builder::new();
    let (x, y) = (b.input("x", 100), b.input("y", 100));
    let out = b.call(&chain_and_layer(100), &[x, y]);
    b.output("all", &out[0][..60]);
    b.output("one", &out[0][60..]);
    Program::from_circuit(b.finish()).unwrap().with_recipients(1, Recipients::only(1)).unwrap()
}

fn party(ch: &mut dyn Channel, party: u16, session: u64, backend: Backend) -> Result<Vec<(usize, Bits)>> {
    let program = program();
    let inputs: Vec<Option<Bits>> = (0..2).map(|i| (i == party).then(|| bits(100, &mut rng(i.into())))).collect();
    let id = SessionId::derive("test", &[&session.to_le_bytes()]);
    let here = Here { backend, ..here(party, id) };
    let mut machine = Machine::new(here, Box::new(Trusted::on(backend, here.me, session.into(), 150)));
    let mut outputs = Outputs::default();
    run(&program, &mut comity_sharing::SharedEngine::new(PairSharing::new(ch, &mut machine)), &inputs, &mut outputs)?;
    ch.flush()?;
    Ok(outputs.0)
}

#[test]
fn every_backend_sends_the_same_bytes() {
    let mut other = None;
    for backend in Backend::available() {
        let run = |ch: &mut MemoryChannel, id| {
            let ch = Recorded::new(ch, 1 << 20);
            let recorder = ch.recorder();
            party(&mut { ch }, id, 1, backend).unwrap();
            blake3::hash(&recorder.recording().sent).to_hex().to_string()
        };
        let (a, b) = Pair::run(|ch| run(ch, 0), |ch| run(ch, 1));
        let pinned = "db34a430a1e8a58153956235bedfa3f27bc88b12525d0198718eab5c8ef543b0";
        assert_eq!([a.as_str(), &b], [pinned, other.get_or_insert(b.clone())], "{backend}");
    }
}

#[test]
fn bytes_and_rounds_are_what_the_docs_say() {
    let count = |ch: &mut MemoryChannel, id| {
        let mut ch = Counted::new(ch);
        party(&mut ch, id, 1, Backend::detect()).unwrap();
        ch.counts()
    };
    let (a, b) = Pair::run(|ch| count(ch, 0), |ch| count(ch, 1));
    assert_eq!((a.sent, a.received), (b.received, b.sent));
    // An input of 100 bits. A chain of 100 ANDs, of which the first layer has 101 in all, cut after 64, where
    // the dealer's batches of 150 leave them: a byte of d and one of e for each 8 of a group.
    let circuit = program();
    let layers = circuit.lowered()[0].layered().layers();
    let message = |ands: usize| (ands / 64 * 8 + (ands % 64).div_ceil(8)) as u64;
    let ands: u64 = layers.iter().map(|layer| 2 * message(layer.ands)).sum();
    // A settlement, and output shares of 60 bits and of 41 with a digest each; the second ones go to party 1 only.
    assert_eq!(b.sent, 13 + ands + 32 + (8 + 32));
    assert_eq!(a.sent, b.sent + (6 + 32));
    let rounds = layers.len() as u64 - 1;
    // One more for the AND that uses up the first batch; party 1 waits for the first input, too, and for its
    // own output.
    assert!((rounds..rounds + 6).contains(&a.rounds), "{} rounds, {rounds} layers", a.rounds);
}

#[test]
fn whatever_becomes_of_a_message_no_output_is_wrong() {
    let (mut caught, mut aborted) = (0, 0);
    let runs = deviate(
        500,
        |ch, session| party(ch.as_mut(), 0, session, Backend::detect()),
        |ch, session| party(ch.as_mut(), 1, session, Backend::detect()),
        |case, verdict0, verdict1| {
            never_wrong(case, verdict0, verdict1);
            let own = if case.party == 0 { verdict1.error() } else { verdict0.error() };
            if let Some(error) = own {
                aborted += 1;
                let named = matches!(error, Error { kind: Kind::Misbehaved(comity_share::checks::WRONG_MAC), .. });
                caught += usize::from(named);
                assert!(
                    named || matches!(error, Error { kind: Kind::Closed | Kind::TimedOut(_), .. }),
                    "{case:?}: {error}"
                );
            }
        },
    );
    assert!(runs > 300 && caught > 150, "{runs} runs, {aborted} aborted, {caught} by a check");
}
