//! Values that come in and go out shared, and what a share alone shows.

use comity_circuit::{Builder, Observer, Owner, Program, ProgramBuilder, Recipients, Wire};
use comity_core::{Bits, PartyId};
use comity_gmw::{BitMachine, Gmw};
use comity_protocol::{Empty, Job, Options, Party, Protocol};
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};

use super::{here, parties};
use comity_testing::Net;

/// What each of `N` parties learns of a program, on these inputs of its own.
fn learned<const N: usize>(
    program: &Program,
    inputs: &(dyn Fn(PartyId) -> Vec<Option<Bits>> + Sync),
) -> [Vec<Bits>; N] {
    let options = Options::new(Gmw.card());
    Net::<N>::run(|net| {
        let here = here(net);
        Gmw.card().fits(here.parties, program).unwrap();
        let (mut rng, mut outputs, own) = (super::seeded(here.me.0), Outputs::default(), inputs(here.me));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs as &mut dyn Observer };
        Gmw.run(&mut party, &Job { program, inputs: &own, options: &options }, &mut Empty).unwrap();
        outputs.0.into_iter().map(|(_, value)| value).collect()
    })
}

fn sum(shares: &[Bits]) -> Bits {
    let mut sum = shares[0].clone();
    shares[1..].iter().for_each(|share| sum.xor_assign(share));
    sum
}

#[test]
fn what_goes_out_shared_comes_in_again() {
    let program = Program::from_circuit(chain_and_layer(50)).unwrap();
    let inputs = [bits(50, &mut rng(1)), bits(50, &mut rng(2))];
    let expected = clear(&program, &inputs).remove(0);
    let out = program.clone().with_recipients(0, Recipients::Shared).unwrap();
    let first: [Vec<Bits>; 3] =
        learned(&out, &|me| (0..2).map(|i| (PartyId(i) == me).then(|| inputs[usize::from(i)].clone())).collect());
    let shares: Vec<Bits> = first.iter().map(|values| values[0].clone()).collect();
    assert!(sum(&shares) == expected && shares.iter().all(|share| *share != expected));
    // In another run, with a value of party 2.
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 51), b.input("y", 51));
    let both: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    b.output("both", &both);
    let again =
        Program::from_circuit(b.finish()).unwrap().with_owner(0, Owner::Shared).unwrap().with_owner(1, 2).unwrap();
    let mask = bits(51, &mut rng(3));
    let second: [Vec<Bits>; 3] =
        learned(&again, &|me| vec![Some(shares[usize::from(me.0)].clone()), (me.0 == 2).then(|| mask.clone())]);
    let both: Bits = expected.iter().zip(mask.iter()).map(|(x, y)| x & y).collect();
    assert!(second.iter().all(|values| values[0] == both));
}

/// One file alone, of a constant, of an input of either party that nothing was done to, and of one that came in shared.
#[test]
fn one_share_alone_is_uniform() {
    const BITS: usize = 1 << 14;
    let mut p = ProgramBuilder::new("through");
    let constant = p.constant(&Bits::zeros(BITS));
    let values = [p.input("x", 0, BITS as u64), p.input("y", 1, BITS as u64), p.input("z", 2, BITS as u64)];
    for register in [constant].into_iter().chain(values) {
        p.reveal("out", Recipients::Shared, register);
    }
    let program = p.finish().unwrap().with_owner(2, Owner::Shared).unwrap();
    let out: [Vec<Bits>; 3] = learned(&program, &|me| {
        let value = |i: u16| (i == me.0 || i == 2).then(|| Bits::zeros(BITS));
        (0..3).map(value).collect()
    });
    let fair = |bits: &Bits| {
        let ones = bits.iter().filter(|&bit| bit).count() as f64;
        (ones - BITS as f64 / 2.0).abs() < 3.0 * (BITS as f64).sqrt()
    };
    let mut seen: Vec<&Bits> = Vec::new();
    for value in 0..4 {
        let shares: Vec<Bits> = out.iter().map(|party| party[value].clone()).collect();
        assert!(sum(&shares) == Bits::zeros(BITS), "value {value}");
    }
    for share in out.iter().flatten() {
        assert!(fair(share), "a share shows the value");
        for other in &seen {
            let mut both = share.clone();
            both.xor_assign(other);
            assert!(fair(&both), "two shares show a sum of values");
        }
        seen.push(share);
    }
}

/// Inputs of equal values have unequal shares: no mask comes twice, for no value and for no peer.
#[test]
fn every_input_has_masks_of_its_own() {
    let shares: [Vec<Vec<u64>>; 3] = parties(|me| {
        let mut machine = BitMachine::setup(me, None).unwrap();
        let zero = Bits::zeros(128);
        let owners = [0, 0, 1, 2, 0, 1].map(PartyId);
        let mine = owners.map(|owner| {
            let value = (owner == me.me()).then_some(&zero);
            machine.input(owner.into(), value, 128).unwrap().words().to_vec()
        });
        mine.to_vec()
    });
    let mut all: Vec<&Vec<u64>> = shares.iter().flatten().collect();
    for value in 0..6 {
        let sum =
            shares.iter().fold(vec![0; 2], |sum, party| sum.iter().zip(&party[value]).map(|(a, b)| a ^ b).collect());
        assert_eq!(sum, [0, 0]);
    }
    all.sort();
    assert!(all.windows(2).all(|two| two[0] != two[1]), "a mask came twice");
}

#[test]
fn a_share_that_does_not_fit_is_refused() {
    let refused: [Vec<String>; 2] = parties(|me| {
        let mut machine = BitMachine::setup(me, None).unwrap();
        let value = Bits::zeros(8);
        let why = [
            machine.input(Owner::Shared, None, 8),
            machine.input(Owner::Shared, Some(&value), 9),
            machine.input(me.me().into(), None, 8),
            machine.input(me.me().other().into(), Some(&value), 8),
            machine.input(5.into(), None, 8),
        ];
        why.into_iter().map(|why| why.err().expect("it is refused").to_string()).collect()
    });
    for words in
        ["no value", "a value of 8 bits", "no value", "a value of 8 bits", "party 5, the input's owner, does not exist"]
            .iter()
            .enumerate()
    {
        assert!(refused.iter().all(|why| why[words.0].contains(words.1)), "{refused:?}");
    }
}
