//! Material made ahead: the same computation, each triple once, and bytes that are no batch.

use std::collections::VecDeque;

use comity_circuit::{Program, Recipients};
use comity_core::{Bits, Error, Kind, PartyId, Result};
use comity_gmw::dealers::{BATCH, StoredTriples, batch_bytes, read_batch, write_batch};
use comity_gmw::{BitMachine, Gmw, run_with};
use comity_protocol::{Ahead, Dealer, Empty, Job, Options, Party, Protocol};
use comity_share::BitTriples;
use comity_share::triples::{OtKind, TakenTriples};
use comity_testing::Kept;
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};

use super::parties;

/// Batches of `n` triples, as bytes.
fn batches(me: &mut Party<'_, '_>, count: usize, n: usize) -> VecDeque<Vec<u8>> {
    let mut dealer = comity_gmw::dealers::OtTriples::setup(&mut me.sub("dealer"), OtKind::SoftSpoken).unwrap();
    let batch = |_| {
        let mut bytes = Vec::new();
        let triples = dealer.deal(me.net, n).unwrap();
        write_batch(triples, me.here.me, me.here.parties, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, batch_bytes(n));
        bytes
    };
    (0..count).map(batch).collect()
}

fn inputs(me: PartyId, values: &[Bits]) -> Vec<Option<Bits>> {
    (0..).zip(values).map(|(i, value)| (me.0 == i).then(|| value.clone())).collect()
}

#[test]
fn programs_run_on_stored_triples_until_they_are_used_up() {
    let program = Program::map(chain_and_layer(10), 5, &[]).unwrap().with_recipients(0, Recipients::All).unwrap();
    let ands = program.and_gates();
    let values: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(1))).collect();
    let expected = clear(&program, &values).remove(0);
    let needed = ands.div_ceil(30) as usize;
    for count in [needed, needed - 1] {
        let ends: [_; 3] = parties(|me| {
            let mut shelf = Kept::new("triples", batches(me, count, 30));
            let (own, options, mut outputs) = (inputs(me.me(), &values), Options::new(Gmw.card()), Outputs::default());
            let here = me.here;
            let mut me = Party { net: me.net, here, rng: me.rng, observer: &mut outputs };
            let dealer = Box::new(StoredTriples::new(&mut shelf, 30));
            let end = run_with(&mut me, Some(dealer), &Job { program: &program, inputs: &own, options: &options });
            (end.map(|()| outputs.0), shelf.taken)
        });
        for (end, taken) in ends {
            assert_eq!(taken, needed);
            if count == needed {
                assert!(end.unwrap()[0].1 == expected);
            } else {
                let why = end.unwrap_err();
                assert!(matches!(why.kind, Kind::InvalidInput(why) if why.contains("no batch of triples is left")));
            }
        }
    }
}

#[test]
fn what_is_prepared_is_what_a_run_takes() {
    let program = Program::from_circuit(chain_and_layer(30)).unwrap();
    let values = [bits(30, &mut rng(1)), bits(30, &mut rng(2))];
    let expected = clear(&program, &values).remove(0);
    let options = Options::new(Gmw.card());
    let params = comity_core::Params::default();
    let make = Gmw.amount(BATCH as u64, &options, params).unwrap();
    assert_eq!((make.batches, &make.units[..]), (1, &[BATCH as u64][..]));
    assert_eq!(Gmw.needs(&program, &options, params).unwrap(), std::slice::from_ref(&make));
    assert_eq!(Gmw.amount(BATCH as u64 + 1, &options, params).unwrap().batches, 2);
    let ends: [_; 2] = parties(|me| {
        let mut shelf = Kept::new("triples", []);
        let ahead = Ahead { program: None, options: &options, make: &make, together: 0 };
        Gmw.prepare(me, &ahead, &mut Empty, &mut shelf).unwrap();
        let (sizes, own) = (shelf.batches.iter().map(|b| b.len() as u64).sum::<u64>(), inputs(me.me(), &values));
        let mut outputs = Outputs::default();
        let here = me.here.child("run");
        let mut me = Party { net: me.net, here, rng: me.rng, observer: &mut outputs };
        Gmw.run(&mut me, &Job { program: &program, inputs: &own, options: &options }, &mut shelf).unwrap();
        assert!(shelf.batches.is_empty() && sizes <= make.bytes);
        outputs.0.remove(0).1
    });
    assert!(ends.iter().all(|value| *value == expected));
}

/// No triple is dealt twice, whatever is asked for.
#[test]
fn triples_are_used_once() {
    let ends: [_; 2] = parties(|me| {
        let mut shelf = Kept::new("triples", batches(me, 2, 100));
        let mut machine = BitMachine::setup(me, Some(Box::new(StoredTriples::new(&mut shelf, 100)))).unwrap();
        let value = machine.input(PartyId(0).into(), (me.me().0 == 0).then(|| Bits::zeros(70)).as_ref(), 70).unwrap();
        machine.and(me.net, &value, &value).unwrap();
        machine.and(me.net, &value, &value).unwrap();
        let third = machine.and(me.net, &value, &value).map(drop);
        drop(machine);
        (third, shelf.taken)
    });
    for (third, taken) in ends {
        assert!(matches!(third, Err(Error { kind: Kind::InvalidInput(why), .. }) if why.contains("no batch")));
        assert_eq!(taken, 3);
    }
}

#[test]
fn what_is_no_batch_is_refused() {
    let [_, good] = parties::<2, _>(|me| batches(me, 1, 100).remove(0).unwrap());
    let read = |bytes: &[u8], me: u16, parties: u16, n: usize| -> Result<BitTriples> {
        read_batch(&mut &*bytes, PartyId(me), parties, n)
    };
    let mut all = TakenTriples::default();
    read(&good, 1, 2, 100).unwrap().take(1000, &mut all);
    assert_eq!(all.len(), 100);
    let refused = |triples: Result<BitTriples>, words: &str| match triples.map(drop) {
        Err(Error { kind: Kind::Store(message), .. }) => assert!(message.contains(words), "{message}"),
        other => panic!("{words}: {other:?}"),
    };
    let mut other = good.clone();
    other[3] ^= 2;
    refused(read(&other, 1, 2, 100), "as one of this version");
    refused(read(&good, 0, 2, 100), "another party than party 0 of 2");
    refused(read(&good, 1, 3, 100), "another party than party 1 of 3");
    refused(read(&good, 1, 2, 90), "more bytes");
    for len in [0, 16, 19, 20, 40, good.len() - 1] {
        refused(read(&good[..len], 1, 2, 100), "cannot be read");
    }
    refused(read(&[&good[..], &[0]].concat(), 1, 2, 100), "more bytes");
}
