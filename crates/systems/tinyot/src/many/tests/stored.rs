//! Material made ahead: the same computation, each bit once, and bytes that are no batch.

use comity_circuit::{Observer, Program, Recipients};
use comity_core::PartyId;
use comity_protocol::{Ahead, Empty, Job, Options, Party, Protocol};
use comity_testing::Kept;
use comity_testing::laws::{bits, chain_and_layer, clear, rng as drawn};

use comity_triples::many::stored::{RowAmounts, RowBatch, RowMaker, RowsFromShelf};

use super::ideal::Trusted;
use super::*;
use crate::TinyOt;

const AMOUNTS: RowAmounts = RowAmounts { parties: 3, triples: 100, masks: 50, shares: 40 };

/// Batches of one party, as bytes.
fn batches(net: &mut Mesh<'_>, amounts: &RowAmounts, seed: u128, count: usize) -> Vec<Vec<u8>> {
    let mut maker = RowMaker::new(Box::new(Trusted::new(net.me(), amounts.parties, seed, 64)));
    let batch = |_| {
        let mut bytes = Vec::new();
        maker.make(net, amounts).unwrap().write(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, amounts.bytes());
        bytes
    };
    (0..count).map(batch).collect()
}

/// The outputs of a party, by number.
#[derive(Default)]
struct Outputs(Vec<(usize, Bits)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

#[test]
fn what_three_prepared_runs_programs_until_it_is_used_up() {
    let program = Program::map(chain_and_layer(50), 90, &[]).unwrap().with_owner(1, 2).unwrap();
    let inputs = [bits(4500, &mut drawn(1)), bits(4500, &mut drawn(2))];
    let options = Options::new(TinyOt.card());
    let need = TinyOt.needs(&program, &options, Params::default()).unwrap().remove(0);
    // 9,000 ANDs, and 4,500 bits of two of the parties.
    assert_eq!(need.batches, 3);
    let ends = Net::<3>::run(|net| {
        let here = Here { params: Params::new(128, 4).unwrap(), ..here(net.me(), 3, SESSION.child("prepared")) };
        let (me, mut outputs, mut rng) = (here.me, Outputs::default(), rng(9, here.me));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        let mut kept = Kept::new("shares", []);
        let ahead = Ahead { program: None, options: &options, make: &need, together: need.batches };
        TinyOt.prepare(&mut party, &ahead, &mut Empty, &mut kept).unwrap();
        let (stored, most) =
            (kept.batches.iter().map(|bytes| bytes.len() as u64).sum::<u64>(), TinyOt.stored_bytes(&need, 3));
        assert!(stored <= most && stored > most * 9 / 10, "{stored} of {most} bytes");
        let own: Vec<Option<Bits>> =
            [0, 2].iter().zip(&inputs).map(|(&owner, value)| (PartyId(owner) == me).then(|| value.clone())).collect();
        let job = Job { program: &program, inputs: &own, options: &options };
        TinyOt.run(&mut party, &job, &mut kept).unwrap();
        assert!(kept.batches.is_empty() && kept.notes() == "()", "{}", kept.notes());
        let none_left = TinyOt.run(&mut party, &job, &mut kept);
        assert!(none_left.is_err_and(|error| error.to_string().contains("no batch of shares is left")));
        outputs.0
    });
    let wanted = [(0, clear(&program, &inputs).remove(0))];
    assert!(ends.iter().all(|learned| learned == &wanted));
}

/// One false bit in what is opened, at each kind of check: whatever the reason, a check that began is never
/// noted as passed.
#[test]
fn a_check_that_does_not_end_well_is_not_noted_as_passed() {
    for (message, to) in
        [("settlement", Recipients::All), ("opened bits", Recipients::All), ("products for some", Recipients::only(1))]
    {
        let ends = Net::<3>::run(|net| {
            let me = net.me();
            let mut kept = Kept::new("shares", batches(net, &AMOUNTS, 6, 1));
            let conduct = match me.0 {
                0 => lie(move |act| {
                    if let JointAct::Says { what, bytes, .. } = act
                        && what == message
                        && !bytes.is_empty()
                    {
                        bytes[0] ^= 1;
                    }
                }),
                _ => honest(),
            };
            let dealer = RowsFromShelf::new(&mut kept, me, AMOUNTS).unwrap();
            let here = here(me, 3, SESSION.child("checks"));
            let mut machine = RowMachine::with(here, Box::new(dealer), &mut rng(9, me), conduct);
            let random = machine.random(net, 20).unwrap();
            let ended = machine.reveal(net, to, &random);
            drop(machine);
            (ended, kept.notes())
        });
        let checked = ends.iter().enumerate().filter(|(party, _)| *party == 1 || to == Recipients::All && *party == 2);
        for (party, (ended, notes)) in checked {
            assert!(ended.is_err() && notes == "(", "{message}: party {party} has noted {notes}");
        }
    }
}

#[test]
fn batches_of_two_lots_do_not_mix() {
    Net::<3>::run(|net| {
        // Other seeds, and else all as in the lot.
        let mut alike = batches(net, &AMOUNTS, 7, 2);
        alike[1][40] ^= 1;
        let mut kept = Kept::new("shares", alike);
        let mut dealer = RowsFromShelf::new(&mut kept, net.me(), AMOUNTS).unwrap();
        dealer.shares(net, 40).unwrap();
        assert!(dealer.shares(net, 1).is_err_and(|error| error.to_string().contains("not of one lot")));
        let mixed = [batches(net, &AMOUNTS, 7, 1), batches(net, &AMOUNTS, 8, 1)].concat();
        let mut kept = Kept::new("shares", mixed);
        let mut dealer = RowsFromShelf::new(&mut kept, net.me(), AMOUNTS).unwrap();
        dealer.shares(net, 40).unwrap();
        assert!(dealer.shares(net, 1).is_err_and(|error| error.to_string().contains("not of one lot")));
    });
}

#[test]
fn what_is_no_batch_is_refused() {
    let ends = Net::<3>::run(|net| batches(net, &AMOUNTS, 9, 1).remove(0));
    for (me, good) in (0..).map(PartyId).zip(&ends) {
        let read = |bytes: &[u8]| RowBatch::read(&mut &*bytes, me, &AMOUNTS).map(drop);
        read(good).unwrap();
        let refused = |bytes: &[u8], words: &str| {
            let error = read(bytes).expect_err(words);
            assert!(matches!(&error.kind, comity_core::Kind::Store(why) if why.contains(words)), "{error}");
        };
        let flipped = |byte: usize, bit: u8| {
            let mut bytes = good.clone();
            bytes[byte] ^= 1 << bit;
            bytes
        };
        refused(&flipped(3, 1), "this version");
        refused(&[b"comity shares 1\n", &good[16..]].concat(), "of an earlier version");
        // A batch for more parties, and one of another party.
        refused(&flipped(16, 2), "this version");
        refused(&flipped(18, 0), "this version");
        // The fixed bits of the global key, and bit 0 of a triple, of a random bit and of a bit of the last party's.
        refused(&flipped(20, 0), "its global key");
        refused(&flipped(20, 1), "its global key");
        refused(&flipped(68, 0), "not the same towards all");
        refused(&flipped(68 + 16 * 900, 0), "not the same towards all");
        refused(&flipped(good.len() - 16, 0), "not the same towards all");
        for len in [0, 16, 35, 36, 67, 68, 5000, good.len() - 1] {
            refused(&good[..len], "cannot be read");
        }
        refused(&[&good[..], &[0]].concat(), "more bytes");
        let other = &ends[usize::from((me.0 + 1) % 3)];
        refused(other, "this version");
    }
}
