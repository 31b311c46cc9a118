//! What a program takes is what was counted.

use std::sync::Mutex;

use comity_circuit::Builder;
use comity_share::Joint;
use comity_testing::Net;
use comity_testing::laws::Outputs;

use super::dealing::IdealDealer;
use super::*;
use crate::engine::prepare_in;
use crate::{Masks, StringMasks};

/// What a program that is garbled in chunks of this room takes of a dealer.
fn taken<const N: usize>(program: &Program, room: usize, strings: bool) -> Planned {
    let counted = if strings { Planned::of_chunks(program, room) } else { Planned::of(program) };
    let all = Net::<N>::run(|net| {
        let (me, parties) = (net.me(), net.parties());
        let here = Here::new(me, parties, SessionId::derive("test", &[b"counted"]));
        let (noted, mut rng, mut observer) = (Mutex::default(), laws::rng(me.0.into()), Outputs::default());
        let bits = TripleMasks::new(here, Box::new(IdealDealer::new(here, &noted)), counted, &mut rng);
        let mut masks: Box<dyn Masks> = Box::new(bits);
        if strings {
            let joint = Joint::setup(net, here.child("offsets"), &mut rng).unwrap();
            let bits = TripleMasks::new(here, Box::new(IdealDealer::new(here, &noted)), counted, &mut rng);
            masks = Box::new(StringMasks::new(bits, joint));
        }
        let mut party = Party { net, here, rng: &mut rng, observer: &mut observer };
        let ground = Ground { masks: &mut *masks, opener: Opener::Balanced };
        prepare_in(&mut party, ground, program, &mut Vec::new(), room, &mut Honest).unwrap();
        drop(masks);
        noted.into_inner().unwrap().taken
    });
    assert!(all.iter().all(|taken| *taken == all[0]));
    all[0]
}

/// A room in which no two steps are together, small ones, and one for all.
const ROOMS: [usize; 4] = [0, 300, 700, crate::chunk::CHUNK];

/// Any program takes just what was counted, however it is cut.
#[test]
fn a_program_takes_what_was_counted() {
    let mut rng = laws::rng(44);
    for case in 0..6 {
        let programs = [laws::random_program(2, 500, true, &mut rng), laws::random_program(3, 500, case < 5, &mut rng)];
        for room in ROOMS {
            assert_eq!(taken::<2>(&programs[0], room, false), Planned::of(&programs[0]), "{case}, {room}");
            assert_eq!(taken::<3>(&programs[1], room, false), Planned::of(&programs[1]), "{case}, {room}");
        }
        let room = ROOMS[case % ROOMS.len()];
        assert_eq!(taken::<2>(&programs[0], room, true), Planned::of_chunks(&programs[0], room), "{case}, {room}");
    }
}

/// What is asked for at a time is not all, of inputs of one party after those of the other.
#[test]
fn a_large_program_takes_what_was_counted() {
    let mut b = Builder::new();
    let mut wires = |name: &str, bits: usize| -> Vec<_> { (0..4).flat_map(|_| b.input(name, bits)).collect() };
    let (x, y) = (wires("x", 10_000), wires("y", 9_000));
    let ands: Vec<_> = (0..40_000).map(|i| b.and(x[i], y[i % 36_000])).collect();
    b.output("all", &ands);
    let program = Program::from_circuit(b.finish()).unwrap();
    let program = (0..8).fold(program, |program, i| program.with_owner(i, u16::from(i >= 4)).unwrap());
    let counted = Planned::of(&program);
    assert!(counted.own > crate::triple_masks::MOST as u64 && counted.ands > crate::triple_masks::MOST as u64);
    assert_eq!(taken::<2>(&program, crate::chunk::CHUNK / 2, false), counted);
}

/// The masking bits of the check of products are of each chunk that has something to multiply, and of more
/// chunks among more parties.
#[test]
fn masking_bits_are_counted_for_each_chunk() {
    let program = laws::turns(1000, 50);
    let beside = |planned: Planned| planned.shares - Planned::of(&program).shares;
    let room = crate::chunk::CHUNK / 3;
    assert_eq!(beside(Planned::of_chunks(&program, usize::MAX)), 128);
    assert_eq!(beside(Planned::of_chunks(&program, room)), 256);
    assert_eq!(Planned::below_strings(&program, 3), Planned::of_chunks(&program, room));
    let many: Vec<u64> = (2..=32).map(|parties| beside(Planned::below_strings(&program, parties))).collect();
    assert!(many.is_sorted() && many[30] > 10 * many[0]);
}
