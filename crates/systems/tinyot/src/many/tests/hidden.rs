//! What leaves a party that opens bits is never its shares: over several runs on one lot, and where a value
//! stays in shares.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use comity_circuit::{Builder, Circuit, Observer, Program, ProgramBuilder, Recipients};
use comity_sharing::SharedEngine;
use comity_testing::Kept;
use comity_testing::laws::{bits, rng as drawn};

use super::ideal::Trusted;
use super::*;
use crate::many::RowMachine;
use comity_triples::many::stored::{RowAmounts, RowMaker, RowsFromShelf};

/// What a party was about to hide or said, with the name of the message and for whom.
#[derive(Clone)]
struct Said {
    from: PartyId,
    what: &'static str,
    to: Option<PartyId>,
    bare: bool,
    bytes: Vec<u8>,
}

type Log = Arc<Mutex<Vec<Said>>>;

fn watched(log: &Log, from: PartyId) -> Lie {
    let log = log.clone();
    lie(move |act| {
        let said = match act {
            JointAct::Hides { what, to, bare } => Said { from, what, to, bare: true, bytes: bare.to_vec() },
            JointAct::Says { what, peer, bytes } => {
                Said { from, what, to: Some(peer), bare: false, bytes: bytes.clone() }
            }
            _ => return,
        };
        log.lock().unwrap().push(said);
    })
}

/// Each thing that a party hid, with how it left the party, to one peer if it was for all.
fn hidden(log: &[Said], from: PartyId) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let first = PartyId(u16::from(from.0 == 0));
    let mut all = Vec::new();
    let mut waiting: Vec<&Said> = Vec::new();
    for said in log.iter().filter(|said| said.from == from) {
        if said.bare {
            waiting.push(said);
        } else if let Some(at) = waiting
            .iter()
            .position(|bare| bare.what == said.what && bare.to.map_or(said.to == Some(first), |to| said.to == Some(to)))
        {
            let bare = waiting.remove(at);
            all.push((said.what, bare.bytes.clone(), said.bytes[..bare.bytes.len()].to_vec()));
        }
    }
    assert!(waiting.is_empty(), "all that was hidden was said");
    all
}

/// The sum of values of 64 bits, one of each of these parties.
fn sum_of(owners: &[u16]) -> Program {
    let mut p = ProgramBuilder::new("sum");
    let values: Vec<_> = owners.iter().map(|&owner| p.input(format!("x{owner}"), owner, 64)).collect();
    let sum = p.circuit(sum_circuit(owners.len()));
    let out = p.register(64);
    p.call(sum, &values.iter().map(|value| value.span()).collect::<Vec<_>>(), &[out.span()]);
    p.reveal("sum", Recipients::All, out);
    p.finish().unwrap()
}

fn sum_circuit(count: usize) -> Circuit {
    let mut b = Builder::new();
    let values: Vec<Vec<_>> = (0..count).map(|i| b.input(&format!("x{i}"), 64)).collect();
    let sum: Vec<_> =
        (0..64).map(|k| values[1..].iter().fold(values[0][k], |sum, value| b.xor(sum, value[k]))).collect();
    b.output("sum", &sum);
    b.finish()
}

/// Runs a program on a dealer, and gives what this party learns.
fn ran(
    net: &mut Mesh<'_>,
    here: Here,
    dealer: Box<dyn RowDealer + '_>,
    program: &Program,
    inputs: &[Option<Bits>],
    conduct: Lie,
) -> Vec<(usize, Bits)> {
    #[derive(Default)]
    struct Outputs(Vec<(usize, Bits)>);
    impl Observer for Outputs {
        fn output(&mut self, index: usize, value: Bits) {
            self.0.push((index, value));
        }
    }
    let mut machine = RowMachine::with(here, dealer, &mut rng(5, here.me), conduct);
    let (mut outputs, mut engine) = (Outputs::default(), SharedEngine::new(RowSharing::new(net, &mut machine)));
    comity_circuit::run(program, &mut engine, inputs, &mut outputs).unwrap();
    outputs.0
}

/// Two programs on one lot, one batch after the other, and once more on a copy that was put back: what hides
/// the shares is never the same.
#[test]
fn runs_on_one_lot_hide_nothing_by_the_same() {
    let (log, amounts) = (Log::default(), RowAmounts { parties: 3, triples: 4, masks: 256, shares: 4 });
    let program = sum_of(&[0, 1, 2]);
    Net::<3>::run(|net| {
        let me = net.me();
        let own: Vec<Option<Bits>> =
            (0..3).map(|owner| (owner == me.0).then(|| bits(64, &mut drawn(u128::from(owner))))).collect();
        let mut maker = RowMaker::new(Box::new(Trusted::new(me, 3, 31, 4)));
        let mut batches: Vec<Vec<u8>> = Vec::new();
        for _ in 0..2 {
            let mut bytes = Vec::new();
            maker.make(net, &amounts).unwrap().write(&mut bytes).unwrap();
            batches.push(bytes);
        }
        // The first batch, the second one, and the first one again.
        for (run, batch) in [0, 1, 0].into_iter().enumerate() {
            let mut kept = Kept::new("shares", vec![batches[batch].clone()]);
            let dealer = Box::new(RowsFromShelf::new(&mut kept, me, amounts).unwrap());
            let here = here(me, 3, SESSION.child(&format!("run {run}")));
            ran(net, here, dealer, &program, &own, watched(&log, me));
        }
    });
    let log = log.lock().unwrap();
    for from in (0..3).map(PartyId) {
        let pads: Vec<Vec<u8>> = hidden(&log, from)
            .into_iter()
            .map(|(_, bare, wire)| bare.iter().zip(&wire).take(8).map(|(a, b)| a ^ b).collect())
            .collect();
        // In each run a settlement before the output, the output, and a settlement after it.
        assert_eq!(pads.len(), 3 * (1 + 2 * 2));
        assert_eq!(pads.iter().collect::<HashSet<_>>().len(), pads.len(), "party {from}");
    }
}

/// A value that stays in shares, linear in inputs of all but party 0, which hears what the others have of it:
/// the shares in the files follow neither from that nor from what any other party heard.
#[test]
fn a_value_that_stays_in_shares_is_hidden_from_who_sums_it_up() {
    let log = Log::default();
    let program = sum_of(&[1, 2, 3]).with_recipients(0, Recipients::Shared).unwrap();
    let ends = Net::<4>::run(|net| {
        let me = net.me();
        let unshared = program.unshared(4).unwrap();
        let given: Vec<Option<Bits>> =
            (1..4).map(|owner| (owner == me.0).then(|| bits(64, &mut drawn(owner.into())))).collect();
        let mut random = drawn(40 + u128::from(me.0));
        let (own, masks) = unshared.inputs(me, &given, |count| bits(count, &mut random));
        let here = here(me, 4, SESSION.child("unshared"));
        let dealer = Box::new(Trusted::new(me, 4, 32, 4));
        let learned = ran(net, here, dealer, unshared.program(), &own, watched(&log, me));
        if me.0 == 0 { learned.into_iter().next().unwrap().1 } else { masks.into_iter().next().unwrap().1 }
    });
    let log = log.lock().unwrap();
    let mut value = Bits::zeros(64);
    ends.iter().for_each(|share| value.xor_assign(share));
    let mut expected = Bits::zeros(64);
    let inputs: Vec<Bits> = (1..4u16).map(|owner| bits(64, &mut drawn(owner.into()))).collect();
    inputs.iter().for_each(|input| expected.xor_assign(input));
    assert!(value == expected);
    // Windows of 64 bits of what anybody said: of no two or three of them the sum is a share or an input of
    // an honest party.
    let said: HashSet<u64> = log
        .iter()
        .filter(|said| !said.bare)
        .flat_map(|said| {
            said.bytes.as_chunks::<8>().0.iter().map(|&window| u64::from_le_bytes(window)).collect::<Vec<_>>()
        })
        .collect();
    let word = |bits: &Bits| bits.words()[0];
    for secret in ends[1..].iter().chain(&inputs).map(word) {
        for a in &said {
            assert!(!said.contains(&(secret ^ a)) && *a != secret);
            assert!(!said.iter().any(|b| said.contains(&(secret ^ a ^ b))));
        }
    }
    assert!((0..4).map(PartyId).all(|from| hidden(&log, from).iter().all(|(_, bare, wire)| bare != wire)));
}
