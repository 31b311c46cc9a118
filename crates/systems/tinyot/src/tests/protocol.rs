//! The protocol whole: material made ahead and used up, and sessions by hand.

use comity_channel::{MemoryChannel, Mesh};
use comity_circuit::{Program, Recipients};
use comity_core::{Bits, Error, Kind, Params, PartyId, SessionId};
use comity_protocol::{Ahead, Empty, Here, Job, Lot, Options, Party, Protocol, Reactive, Shares};
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};
use comity_testing::{Kept, Pair};

use super::here;
use crate::protocol::TinyOt;

/// Runs the same at both parties, each of which has a generator of its own.
fn both<T: Send>(run: impl Fn(&mut Party<'_, '_>) -> T + Sync) -> [T; 2] {
    let party = |ch: &mut MemoryChannel, me: u16| {
        let here = Here { params: Params::new(128, 4).unwrap(), ..here(me, SessionId::derive("whole", &[])) };
        let (rng, observer) = (&mut rng(me.into()), &mut Outputs::default());
        run(&mut Party { net: &mut Mesh::of_two(PartyId(me), ch), here, rng, observer })
    };
    let (a, b) = Pair::run(|ch| party(ch, 0), |ch| party(ch, 1));
    [a, b]
}

#[test]
fn what_was_prepared_runs_programs_until_it_is_used_up() {
    let program = Program::map(chain_and_layer(50), 90, &[]).unwrap();
    let inputs = [bits(4500, &mut rng(1)), bits(4500, &mut rng(2))];
    let options = Options::new(TinyOt.card());
    let need = TinyOt.needs(&program, &options, Params::default()).unwrap().remove(0);
    // 9,000 ANDs, and 4,500 bits of either party.
    assert_eq!((need.units.as_slice(), need.batches), (&[3 << 13][..], 3));
    assert_eq!(TinyOt.amount((2 << 13) + 1, &options, Params::default()).unwrap(), need);
    let results = both(|me| {
        let mut kept = Kept::new("shares", []);
        let ahead = Ahead { program: None, options: &options, make: &need, together: need.batches };
        TinyOt.prepare(me, &ahead, &mut Empty, &mut kept).unwrap();
        let stored: u64 = kept.batches.iter().map(|bytes| bytes.len() as u64).sum();
        assert!(stored <= need.bytes && stored > need.bytes * 9 / 10, "{stored} of {} bytes", need.bytes);
        let lots: Vec<_> = kept.lots.iter().map(|(_, lot)| lot).collect();
        assert_eq!(lots, [&Lot { units: need.units.clone(), batches: 3 }]);
        let own = [0, 1].map(|i| (PartyId(i) == me.me()).then(|| inputs[usize::from(i)].clone()));
        let job = Job { program: &program, inputs: &own, options: &options };
        let mut outputs = Outputs::default();
        let Party { net, here, rng, .. } = me;
        let mut me = Party { net, here: *here, rng: &mut **rng, observer: &mut outputs };
        TinyOt.run(&mut me, &job, &mut kept).unwrap();
        assert!(kept.batches.is_empty() && kept.notes() == "()", "{}", kept.notes());
        let none_left = TinyOt.run(&mut me, &job, &mut kept);
        assert!(
            matches!(none_left, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("no batch of shares is left"))
        );
        outputs.0
    });
    let wanted = [(0, clear(&program, &inputs).remove(0))];
    assert!(results.iter().all(|learned| learned == &wanted));
}

/// Another engine's.
fn foreign() -> Shares {
    Shares { held: Box::new(7), bits: 1 }
}

#[test]
fn values_by_hand_outlive_programs() {
    for dealer in ["fast", "nnob12"] {
        let mut options = Options::new(TinyOt.card());
        options.set(PartyId(0), "dealer", dealer).unwrap();
        let program = Program::from_circuit(chain_and_layer(8)).unwrap();
        let [x, y] = [bits(8, &mut rng(1)), bits(8, &mut rng(2))];
        let results = both(|me| {
            let mut by_hand = TinyOt.reactive(me, &options).unwrap();
            let put = |me: &mut Party<'_, '_>, by_hand: &mut dyn Reactive, owner, value: &Bits| {
                let value = (me.me() == owner).then_some(value);
                by_hand.input(me, owner, 8, value).unwrap()
            };
            let a = put(me, &mut *by_hand, PartyId(0), &x);
            let b = put(me, &mut *by_hand, PartyId(1), &y);
            let once = by_hand.call(me, &program, &[&a, &b]).unwrap().remove(0);
            let learned = by_hand.reveal(me, Recipients::only(1), &once).unwrap();
            assert_eq!(learned.is_some(), me.me() == PartyId(1));
            // What party 1 has learned it puts in again, with a value that was there before.
            let again = learned.map_or(Bits::zeros(8), |bits| (0..8).map(|i| bits.get(i)).collect());
            let c = put(me, &mut *by_hand, PartyId(1), &again);
            let twice = by_hand.call(me, &program, &[&a, &c]).unwrap().remove(0);
            let random = by_hand.random(me, 64).unwrap();
            assert_eq!((once.bits, twice.bits, random.bits), (9, 9, 64));
            let refused = by_hand.call(me, &program, &[&a, &foreign()]).map(drop);
            assert!(
                matches!(refused, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("another"))
            );
            [&twice, &random].map(|value| by_hand.reveal(me, Recipients::All, value).unwrap().unwrap())
        });
        let once = clear(&program, &[x.clone(), y]).remove(0);
        let once: Bits = (0..8).map(|i| once.get(i)).collect();
        let twice = clear(&program, &[x, once]).remove(0);
        let ones = results[0][1].iter().filter(|&bit| bit).count();
        assert!(results[0] == results[1] && results[0][0] == twice && (12..52).contains(&ones), "{dealer}");
    }
}
