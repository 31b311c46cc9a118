use comity_circuit::eval_many;

use super::*;

#[test]
fn the_program_finds_what_is_in_a_bin() {
    let shape = Shape { bins: 3, slots: 4, bits: 7 };
    let program = program(shape, PartyId(0), Goal::Size).unwrap();
    assert_eq!(program.and_gates(), 3 * 4 * 6);
    let theirs = [5, 6, 7, 127, 1, 2, 3, 4, 0, 64, 32, 16];
    for (own, found) in [([5, 1, 0], 7u8), ([127, 4, 16], 7), ([1, 5, 5], 0), ([6, 9, 32], 5), ([8, 2, 17], 2)] {
        let inputs = vec![value(&theirs, 7), value(&own, 7)];
        let outputs = eval_many(&program, &[inputs]).unwrap().remove(0);
        assert_eq!(outputs[0].to_bytes(), [found], "{own:?}");
    }
}

#[test]
fn what_the_program_costs_is_what_is_said() {
    let program = comparison(1 << 10, 1 << 10, 40, PartyId(1), Goal::Size).unwrap();
    let shape = Shape::new(Sizes { sender: 1 << 10, receiver: 1 << 10, rho: 40 }).unwrap();
    assert_eq!((shape.bins, shape.bits), (1301, 40 + 20 - 10 + 2));
    assert_eq!(program.and_gates(), 1301 * shape.slots as u64 * 51);
    assert!((12..24).contains(&shape.slots), "{}", shape.slots);
    assert_eq!(program.inputs()[0].owner.party(), Some(PartyId(1)));
    assert!(comparison(1 << 28, 1 << 28, 40, PartyId(0), Goal::Size).is_err());
}

#[test]
fn a_bin_that_overflows_leaves_its_items_out_and_nobody_else() {
    // Four items whose first bin is bin 0, which has room for two.
    let mut placed = Placed::room(4, 4, 10);
    (0..4).for_each(|n| placed.push(comity_hashing::Short { bins: [0, 1 + n, 5 + n], rest: u128::from(n) }));
    let shape = Shape { bins: 10, slots: 2, bits: 6 };
    let (slots, left_out) = fill(&placed, shape, 4);
    assert_eq!(left_out, 2);
    assert_eq!(slots[..2], [0, 1 << FUNCTION_BITS]);
    assert_eq!(slots.iter().filter(|&&slot| slot != SENDERS_DUMMY).count(), 2 + 8);
    assert_eq!(fill(&placed, shape, 3).1, 1, "the last one is a dummy");
}
