//! By hand: inputs that depend on outputs, among two and among four.

use comity_circuit::{Program, Recipients};
use comity_core::{Bits, Error, Kind, PartyId};
use comity_gmw::Gmw;
use comity_protocol::{Options, Party, Protocol, Reactive, Shares};
use comity_testing::laws::{bits, chain_and_layer, clear, rng};

use super::parties;

fn by_hand<const N: usize>(dealer: &str) {
    let mut options = Options::new(Gmw.card());
    options.set(PartyId(0), "dealer", dealer).unwrap();
    let program = Program::from_circuit(chain_and_layer(8)).unwrap();
    let [x, y] = [bits(8, &mut rng(1)), bits(8, &mut rng(2))];
    let results: [_; N] = parties(|me| {
        let mut by_hand = Gmw.reactive(me, &options).unwrap();
        let put = |me: &mut Party<'_, '_>, by_hand: &mut dyn Reactive, owner: u16, value: &Bits| {
            let value = (me.me().0 == owner).then_some(value);
            by_hand.input(me, PartyId(owner), 8, value).unwrap()
        };
        let a = put(me, &mut *by_hand, 0, &x);
        let b = put(me, &mut *by_hand, 1, &y);
        let once = by_hand.call(me, &program, &[&a, &b]).unwrap().remove(0);
        let learned = by_hand.reveal(me, Recipients::only(1), &once).unwrap();
        assert_eq!(learned.is_some(), me.me() == PartyId(1));
        // What party 1 has learned it puts in again, with a value that was there before.
        let again = learned.map_or(Bits::zeros(8), |bits| (0..8).map(|i| bits.get(i)).collect());
        let c = put(me, &mut *by_hand, 1, &again);
        let twice = by_hand.call(me, &program, &[&a, &c]).unwrap().remove(0);
        let random = by_hand.random(me, 64).unwrap();
        assert_eq!((once.bits, twice.bits, random.bits), (9, 9, 64));
        let foreign = Shares { bits: 8, held: Box::new("another's") };
        let refused = by_hand.call(me, &program, &[&a, &foreign]).map(drop);
        assert!(matches!(refused, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("another")));
        [&twice, &random].map(|value| by_hand.reveal(me, Recipients::All, value).unwrap().unwrap())
    });
    let once: Bits = clear(&program, &[x.clone(), y]).remove(0).iter().take(8).collect();
    let twice = clear(&program, &[x, once]).remove(0);
    let ones = results[0][1].iter().filter(|&bit| bit).count();
    assert!(results.iter().all(|values| *values == results[0]) && results[0][0] == twice && (12..52).contains(&ones));
}

#[test]
fn values_go_in_and_out_in_any_order() {
    by_hand::<2>("softspoken");
    by_hand::<2>("iknp");
    by_hand::<4>("softspoken");
}

#[test]
fn an_error_is_the_end() {
    let ends = parties::<2, _>(|me| {
        let mut machine = comity_gmw::BitMachine::setup(me, None).unwrap();
        let value = machine.input(PartyId(0).into(), (me.me().0 == 0).then(|| Bits::zeros(3)).as_ref(), 3).unwrap();
        let (none, then) = (machine.and(me.net, &value, &value), machine.reveal(me.net, Recipients::All, &value));
        [none.map(drop), then.map(drop)].map(|end| end.unwrap_err().to_string())
    });
    for [first, second] in ends {
        assert!(
            first.contains("without a dealer of triples") && second.contains("start a new session"),
            "{first}; {second}"
        );
    }
}
