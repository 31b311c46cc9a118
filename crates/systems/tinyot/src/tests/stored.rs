//! Material made ahead: the same computation, each batch once, and bytes that are no batch.

use std::collections::VecDeque;

use comity_channel::MemoryChannel;
use comity_circuit::{Program, Recipients};
use comity_core::{Error, Kind, PartyId, SessionId};
use comity_protocol::{Job, Options, Protocol};
use comity_share::{AuthBits, Share};
use comity_testing::laws::{Outputs, bits, chain_and_layer, rng};
use comity_testing::{Kept, Pair};

use super::dealer::Trusted;
use super::here;
use crate::machine::Machine;
use crate::protocol::TinyOt;
use crate::run::run_with;
use comity_triples::TripleDealer;
use comity_triples::stored::{Amounts, FromShelf, Maker, StoredBatch};

const SESSION: SessionId = SessionId::new([0x73; 32]);

const AMOUNTS: Amounts = Amounts { triples: 100, masks: [7, 5], shares: 3 };

/// Batches of one party, as bytes.
fn batches(party: u16, seed: u128, count: usize) -> VecDeque<Vec<u8>> {
    let (mut ch, _other) = comity_channel::memory::pair();
    let mut maker = Maker::new(Box::new(Trusted::new(PartyId(party), seed, 64)));
    let batch = |_| {
        let mut bytes = Vec::new();
        maker.make(&mut ch, &AMOUNTS).unwrap().write(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, AMOUNTS.bytes());
        bytes
    };
    (0..count).map(batch).collect()
}

fn on_shelf(batches: VecDeque<Vec<u8>>) -> Kept {
    Kept::new("shares", batches)
}

/// A dealer of the batches on the shelf.
fn dealer(shelf: &mut Kept, party: u16) -> FromShelf<'_> {
    FromShelf::new(shelf, PartyId(party), AMOUNTS).unwrap()
}

#[test]
fn programs_run_on_stored_material_until_it_is_used_up() {
    let program = Program::from_circuit(chain_and_layer(40)).unwrap().with_recipients(0, Recipients::All).unwrap();
    let inputs = [bits(40, &mut rng(1)), bits(40, &mut rng(2))];
    let run = |ch: &mut MemoryChannel, party: u16, count| {
        let mut shelf = on_shelf(batches(party, 3, count));
        let own = [0, 1].map(|i: u16| (i == party).then(|| inputs[usize::from(i)].clone()));
        let mut outputs = Outputs::default();
        let job = Job { program: &program, inputs: &own, options: &Options::new(TinyOt.card()) };
        let ended = run_with(ch, here(party, SESSION), Box::new(dealer(&mut shelf, party)), &job, &mut outputs);
        (ended.map(|()| outputs.0), (shelf.taken, shelf.notes()))
    };
    // Eight batches have 40 masks of party 1.
    let ((a, _), (b, notes)) = Pair::run(|ch| run(ch, 0, 8), |ch| run(ch, 1, 8));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a, b);
    let lanes = |i: usize| comity_circuit::eval_circuit(&chain_and_layer(40), &inputs)[0].get(i);
    assert!((0..41).all(|i| a[0].1.get(i) == lanes(i)));
    assert_eq!(notes, (8, "()".to_owned()));
    let ((a, _), (b, notes)) = Pair::run(|ch| run(ch, 0, 7), |ch| run(ch, 1, 7));
    for ended in [a, b] {
        assert!(
            matches!(ended, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("no batch of shares is left"))
        );
    }
    assert_eq!(notes, (8, String::new()));
}

#[test]
fn a_check_that_does_not_end_well_is_not_noted_as_passed() {
    let run = |ch: &mut MemoryChannel, party: u16| {
        let mut shelf = on_shelf(batches(party, 3, 1));
        let mut machine = Machine::new(here(party, SESSION), Box::new(dealer(&mut shelf, party)));
        let mut x = [Share::default(); 2];
        machine.random(ch, &mut x).unwrap();
        machine.check(ch).unwrap();
        // Party 1 lies.
        x[0] = if party == 1 { x[0].add_to_own(true) } else { x[0] };
        let ended = machine.reveal(ch, Recipients::All, &x);
        drop(machine);
        (ended, (shelf.taken, shelf.notes()))
    };
    let ((ended, notes), _) = Pair::run(|ch| run(ch, 0), |ch| run(ch, 1));
    assert!(matches!(ended, Err(Error { kind: Kind::Misbehaved(_), .. })));
    assert_eq!(notes, (1, "()(".to_owned()));
}

#[test]
fn batches_of_two_lots_do_not_mix() {
    let mixed = [batches(0, 3, 1), batches(0, 4, 1)].into_iter().flatten().collect();
    let mut shelf = on_shelf(mixed);
    let mut dealer = dealer(&mut shelf, 0);
    let (mut ch, _other) = comity_channel::memory::pair();
    assert!(dealer.shares(&mut ch, &mut [Share::default(); 3]).is_ok());
    let ended = dealer.shares(&mut ch, &mut [Share::default(); 1]);
    assert!(matches!(ended, Err(Error { kind: Kind::Store(message), .. }) if message.contains("not of one lot")));
    assert!(matches!(FromShelf::new(&mut on_shelf(VecDeque::new()), PartyId(0), AMOUNTS).err(),
        Some(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("no batch of shares is left")));
}

#[test]
fn every_share_comes_out_once_and_as_it_was_made() {
    let (mut ch, _other) = comity_channel::memory::pair();
    for party in 0..2 {
        let mut direct = Trusted::new(PartyId(party), 3, 100);
        let mut shelf = on_shelf(batches(party, 3, 1));
        let mut dealer = dealer(&mut shelf, party);
        let triples = |dealer: &mut dyn TripleDealer, ch: &mut MemoryChannel| {
            let mut triples = dealer.triples(ch, 100).unwrap();
            triples.take(100).iter().flat_map(|t| [t.a, t.b, t.c]).collect::<Vec<Share>>()
        };
        let same = |a: &[Share], b: &[Share]| {
            a.len() == b.len()
                && (a.iter().all(|x| b.iter().filter(|y| x.mac() == y.mac() && x.key() == y.key()).count() == 1))
        };
        // The maker takes two batches of 64 where 100 at once come from the same stream.
        let mut longer = Trusted::new(PartyId(party), 3, 128);
        assert!(same(&triples(&mut dealer, &mut ch), &triples(&mut longer, &mut ch)[..300]));
        assert!(dealer.triples(&mut ch, 1).is_err(), "triples come once");
        assert_eq!(direct.key().block(), dealer.key().block());
        triples(&mut direct, &mut ch);
        for owner in [0, 1].map(PartyId) {
            let mut masks = vec![Share::default(); AMOUNTS.masks[usize::from(owner.0)]];
            dealer.bits(&mut ch, owner, &mut masks).unwrap();
            assert!(
                masks.iter().all(|m| if owner == PartyId(party) { m.key() } else { m.mac() } == Default::default())
            );
            assert!(dealer.bits(&mut ch, owner, &mut [Share::default()]).is_err(), "masks come once");
        }
    }
}

#[test]
fn what_is_no_batch_is_refused() {
    let good = batches(1, 3, 1).remove(0).unwrap();
    let read = |bytes: &[u8]| StoredBatch::read(&mut &*bytes, PartyId(1), &AMOUNTS).map(|_| ());
    read(&good).unwrap();
    let refused = |bytes: &[u8], words: &str| match read(bytes) {
        Err(Error { kind: Kind::Store(message), .. }) => assert!(message.contains(words), "{message}"),
        other => panic!("{words}: {other:?}"),
    };
    let flipped = |byte: usize, bit: u8| {
        let mut bytes = good.clone();
        bytes[byte] ^= 1 << bit;
        bytes
    };
    refused(&flipped(3, 1), "this version");
    refused(&flipped(16, 0), "party 1");
    // The fixed bits of the global key, and bit 0 of the keys of a share, of a mask and of a triple.
    refused(&flipped(17, 0), "its global key");
    refused(&flipped(17, 1), "its global key");
    refused(&flipped(33 + 16, 0), "the key of a share does not end in a zero bit");
    refused(&flipped(33 + 9600, 0), "the key of a share does not end in a zero bit");
    refused(&flipped(good.len() - 16, 0), "the key of a share does not end in a zero bit");
    for len in [0, 16, 33, 34, 5000, good.len() - 1] {
        refused(&good[..len], "cannot be read");
    }
    refused(&[&good[..], &[0]].concat(), "more bytes");
    assert!(StoredBatch::read(&mut good.as_slice(), PartyId(0), &AMOUNTS).is_err());
}
