//! Lies of either party, each with the check that names it; what is no lie but another input; and what a lie
//! tells the liar.

use std::collections::HashSet;
use std::sync::Mutex;

use comity_circuit::{Builder, Program};
use comity_core::{Bits, Block, Check, Error, Kind};
use comity_share::checks::WRONG_MAC;
use comity_testing::laws::{bits, chain_and_layer, clear, rng};

use super::dealer::{Game, Masks, here, keys, named};
use crate::checks::{self, CIRCUIT_CHECK, INPUT_LABEL};
use crate::conduct::Act;
use crate::verdict::hasher;

/// A lie: the change that a party makes at an act, with the liar's key.
type Lie = fn(&mut Act<'_>, Block);

/// The party that lies in these: the garbler, or the evaluator, or either.
const GARBLER: &[u16] = &[0];
const EVALUATOR: &[u16] = &[1];
const EITHER: &[u16] = &[0, 1];

/// Lies that are caught for certain: whose they are, what the other party names.
const CAUGHT: &[(&str, &[u16], Lie, &Check)] = &[
    (
        "a bit of d",
        EITHER,
        |act, _| {
            if let Act::Opened(bits) = act {
                bits[0] ^= 1
            }
        },
        WRONG_MAC,
    ),
    (
        "a bit of e",
        EITHER,
        |act, _| {
            if let Act::Opened(bits) = act {
                bits[5] ^= 0x40
            }
        },
        WRONG_MAC,
    ),
    (
        "two bits of d",
        EITHER,
        |act, _| {
            if let Act::Opened(bits) = act {
                bits[1] ^= 3
            }
        },
        WRONG_MAC,
    ),
    (
        "a masked value",
        EVALUATOR,
        |act, _| {
            if let Act::Masked(bits) = act {
                bits[0] ^= 4
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "the last masked value",
        EVALUATOR,
        |act, _| {
            if let Act::Masked(bits) = act {
                bits[4] ^= 0x80
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "masked values",
        EVALUATOR,
        |act, _| {
            if let Act::Masked(bits) = act {
                bits.fill(0xff)
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "another value than told",
        GARBLER,
        |act, _| {
            if let Act::Told(bits) = act {
                bits[2] ^= 1
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "bit 0 of an output",
        GARBLER,
        |act, _| {
            if let Act::Tables { flips, .. } = act {
                flips[0] ^= 2
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "both rows",
        GARBLER,
        |act, _| {
            if let Act::Tables { rows, .. } = act {
                rows.fill(Block::ZERO)
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "the label of the other value",
        GARBLER,
        |act, key| {
            if let Act::Labels(labels) = act {
                labels[3] ^= key
            }
        },
        INPUT_LABEL,
    ),
    (
        "a MAC of its own",
        EITHER,
        |act, _| {
            if let Act::Checked(macs) = act {
                macs[7].swap(0, 1)
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "a digest",
        EITHER,
        |act, _| {
            if let Act::Digest(digest) = act {
                digest[31] ^= 0x80
            }
        },
        CIRCUIT_CHECK,
    ),
    (
        "a bit of an output",
        EITHER,
        |act, _| {
            if let Act::Output(bits) = act {
                bits[0] ^= 1
            }
        },
        WRONG_MAC,
    ),
    (
        "bits of an output",
        EITHER,
        |act, _| {
            if let Act::Output(bits) = act {
                bits[1] ^= 0x12
            }
        },
        WRONG_MAC,
    ),
];

/// A chain and a layer of 40 ANDs.
fn program() -> (Program, [Bits; 2]) {
    (Program::from_circuit(chain_and_layer(20)).unwrap(), [bits(20, &mut rng(1)), bits(20, &mut rng(2))])
}

/// Plays a lie; the garbler of the game is party 0, or with `turned` party 1.
fn lied(liar: u16, turned: bool, seed: u64, lie: Lie) -> [super::dealer::Ended; 2] {
    let (program, inputs) = program();
    let own = |party: u16| if turned { 1 - party } else { party };
    let game = Game { program: &program, inputs: &inputs, garbler: own(0), seed, masks: Masks::Random };
    let key = keys(seed)[usize::from(own(liar))].block();
    let [a, b] = game.play(|me, act| {
        if me == own(liar) {
            lie(act, key)
        }
    });
    if turned { [b, a] } else { [a, b] }
}

/// Runs every lie that is caught for certain, and returns which checks it was.
pub(crate) fn caught() -> Vec<&'static Check> {
    for (seed, &(name, liars, lie, check)) in (0..).zip(CAUGHT) {
        for &liar in liars {
            for turned in [false, true] {
                let ended = lied(liar, turned, seed, lie);
                let honest = &ended[1 - usize::from(liar)];
                assert!(named(honest, check), "{name}, told by {liar}, turned: {turned}: {:?}", honest.0);
                // Nor does the liar learn an output, unless it lies about that alone.
                assert!(ended[usize::from(liar)].0.is_err() || name.ends_with("an output"), "{name}");
                // What the shelf hears: a check that began, unless it was over before, and that did not pass.
                assert!(["(", ""].contains(&honest.1.as_str()), "{name}: {}", honest.1);
            }
        }
    }
    CAUGHT.iter().map(|lie| lie.3).filter(|check| checks::ALL.contains(check)).collect()
}

#[test]
fn each_lie_is_named() {
    assert_eq!(caught().into_iter().map(|check| check.name).collect::<HashSet<_>>().len(), 2);
}

#[test]
fn honest_runs_pass_their_checks() {
    let (program, inputs) = program();
    for garbler in [0, 1] {
        let game = Game { program: &program, inputs: &inputs, garbler, seed: 5, masks: Masks::Random };
        for (ended, notes) in game.play(|_, _| ()) {
            assert!(ended.unwrap() == clear(&program, &inputs) && notes == "()", "{notes}");
        }
    }
}

/// A lie that may meet nobody: for the gate or bit of this number.
fn perhaps(garbler_lies: impl Fn(&mut Act<'_>, usize, Block) + Sync) -> [usize; 2] {
    let (program, inputs) = program();
    let expected = clear(&program, &inputs);
    let (mut caught, mut right) = (0, 0);
    for number in 0..40 {
        let seed = 100 + number as u64;
        let key = keys(seed)[0].block();
        let game = Game { program: &program, inputs: &inputs, garbler: 0, seed, masks: Masks::Random };
        let [garbler, evaluator] = game.play(|me, act| {
            if me == 0 {
                garbler_lies(act, number, key)
            }
        });
        match &evaluator.0 {
            Ok(outputs) => {
                assert!(*outputs == expected && garbler.0.is_ok_and(|outputs| outputs == expected), "{number}");
                right += 1;
            }
            Err(_) => {
                assert!(named(&evaluator, CIRCUIT_CHECK), "{number}: {:?}", evaluator.0);
                caught += 1;
            }
        }
    }
    [caught, right]
}

#[test]
fn a_wrong_row_is_caught_where_it_is_visited_and_else_changes_nothing() {
    // The bit that is the masked value, and any other one; of the first row and of the second.
    for row in [0, 1] {
        for bit in [0, 77] {
            let [caught, right] = perhaps(|act, number, _| {
                if let Act::Tables { rows, .. } = act {
                    rows[2 * number + row] ^= Block::from_u128(1 << bit);
                }
            });
            assert!(caught > 3 && right > 3, "row {row}, bit {bit}: {caught} caught, {right} right");
        }
    }
    // A row that is off by the garbler's key, as one of another circuit would be.
    let [caught, right] = perhaps(|act, number, key| {
        if let Act::Tables { rows, .. } = act {
            rows[2 * number] ^= key;
        }
    });
    assert!(caught > 8 && right > 8, "{caught} caught, {right} right");
}

#[test]
fn a_wrong_label_is_caught_or_changes_nothing() {
    let [caught, right] = perhaps(|act, number, _| {
        if let Act::Labels(labels) = act {
            // Labels of either party's inputs.
            labels[number % 20] ^= Block::from_u128(0x1234 << 80);
        }
    });
    assert!(caught > 8, "{caught} caught, {right} right");
}

#[test]
fn another_masked_input_is_another_input() {
    let (program, inputs) = program();
    for liar in [0, 1] {
        let game = Game { program: &program, inputs: &inputs, garbler: 0, seed: 9, masks: Masks::Random };
        let ended = game.play(|me, act| match act {
            Act::MaskedInput(bits) if me == liar => bits[1] ^= 5,
            _ => {}
        });
        let mut other = inputs.clone();
        let mine = &mut other[usize::from(liar)];
        [8, 10].iter().for_each(|&bit| mine.set(bit, !mine.get(bit)));
        for (ended, _) in ended {
            assert!(ended.unwrap() == clear(&program, &other));
        }
    }
}

/// The MACs of a check, and the digest that was compared.
type Seen = (Vec<[Block; 2]>, [u8; 32]);

/// `z = (x & y) & v`, where `v` is the garbler's.
fn two_gates() -> Program {
    let mut b = Builder::new();
    let (x, y, v) = (b.input("x", 1), b.input("y", 1), b.input("v", 1));
    let w = b.and(x[0], y[0]);
    let z = b.and(w, v[0]);
    b.output("z", &[z]);
    Program::from_circuit(b.finish()).unwrap().with_owner(2, 0).unwrap()
}

#[test]
fn a_digest_of_the_garblers_macs_alone_would_tell_a_wire_and_the_digest_of_both_does_not() {
    let program = two_gates();
    let bit = |bit: u64| Bits::from_bytes(&[bit as u8 & 1], 1);
    for case in 0..32 {
        let inputs = [bit(case), bit(case >> 1), bit(case >> 2)];
        let game = Game { program: &program, inputs: &inputs, garbler: 0, seed: case, masks: Masks::Random };
        let seen: [Mutex<Seen>; 2] = Default::default();
        // The evaluator tells the wrong masked value of the first gate's output.
        let ended = game.play(|me, act| {
            let mut seen = seen[usize::from(me)].lock().unwrap();
            match act {
                Act::Masked(bits) => bits[0] ^= 1,
                Act::Checked(macs) => seen.0.extend_from_slice(macs),
                Act::Digest(digest) => seen.1 = **digest,
                _ => {}
            }
        });
        assert!(named(&ended[0], CIRCUIT_CHECK), "{:?}", ended[0].0);
        let [(garblers, sent), (evaluators, _)] = seen.map(|seen| seen.into_inner().unwrap());
        let [garblers_key, key] = keys(case).map(|key| key.block());
        let digest = |macs: &[Block]| *hasher(&here(0, case), 0).update(Block::bytes_of(macs)).finalize().as_bytes();
        // The second gate's share is now v. What the evaluator can make by its key of the garbler's MACs, if
        // v is zero or one.
        let guess = |v: bool| [evaluators[0][0] ^ key, evaluators[1][0] ^ key.masked(v)];
        let alone = digest(&[garblers[0][0], garblers[1][0]]);
        let v = case >> 2 & 1 == 1;
        let told = [false, true].map(|v| digest(&guess(v)) == alone);
        assert_eq!(told, [!v, v], "garbler's MACs alone: the evaluator reads v");
        // What the garbler sends: whatever v is, the evaluator lacks a MAC that is off by the garbler's key.
        assert!(sent == digest(garblers.as_flattened()));
        for v in [false, true] {
            let [first, second] = guess(v);
            assert!(digest(&[first, second]) != sent, "{case}");
            for own in 0..4 {
                let [a, b] = [own & 1, own >> 1].map(Block::from_u128);
                let tried = [first, evaluators[0][1] ^ a, second, evaluators[1][1] ^ b];
                assert!(digest(&tried) != sent, "{case}");
            }
        }
        assert!(garblers[0][1] == evaluators[0][1] ^ garblers_key, "what it lacks is off by the garbler's key");
    }
}

#[test]
fn a_false_opening_ends_a_preparation() {
    let (program, inputs) = program();
    for liar in [0, 1] {
        let game = Game { program: &program, inputs: &inputs, garbler: 0, seed: 3, masks: Masks::Random };
        let ended = game.prepare(|me, act| match act {
            Act::Opened(bits) if me == liar => bits[0] ^= 1,
            _ => {}
        });
        let honest = &ended[1 - usize::from(liar)];
        assert!(matches!(honest, Err(Error { kind: Kind::Misbehaved(WRONG_MAC), .. })), "{honest:?}");
        assert!(game.prepare(|_, _| ()).iter().all(|ended| ended.is_ok()));
    }
}
