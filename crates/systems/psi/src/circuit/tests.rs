use std::sync::atomic::{AtomicBool, Ordering};

use comity_circuit::eval_many;
use comity_core::Params;
use comity_hashing::Short;
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Supplies, Takes};
use comity_testing::Pair;

use super::*;
use crate::tests::{circuit, party};

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
    assert_eq!(program.outputs()[0].to, Recipients::only(PartyId(0)), "the sender learns nothing");
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

/// Items with these rests, all in bins 0, 1 and 2.
fn placed(rests: &[u128]) -> Placed {
    let mut placed = Placed::room(rests.len(), 4, 4);
    rests.iter().for_each(|&rest| placed.push(Short { bins: [0, 1, 2], rest }));
    placed
}

/// The number of the sender's items that are left out, and the receiver's result. Each side's number says how
/// many of its rests are items and not dummies.
fn run(sender: (&[u128], usize), receiver: (&[u128], usize)) -> (usize, Matches) {
    let shape = Shape { bins: 4, slots: 3, bits: 6 };
    let (sent, got) = Pair::run(
        |ch| party(0, 1, ch, |me| send_placed(me, &circuit(), (&placed(sender.0), sender.1), shape)),
        |ch| {
            party(1, 1, ch, |me| {
                receive_placed(me, &circuit(), (&placed(receiver.0), receiver.1), shape, sender.0.len())
            })
        },
    );
    (sent.unwrap(), got.unwrap())
}

#[test]
fn who_has_no_place_is_counted_and_dummies_are_not() {
    let (left_out, got) = run((&[1, 2, 3], 3), (&[1, 2, 3], 3));
    assert_eq!((left_out, &got.matched[..], got.left_out), (0, &[0, 1, 2][..], 0));
    assert_eq!(run((&[1, 2, 3], 3), (&[1, 2, 3], 1)).1.matched, [0], "nobody asked for dummies");
    // Four items are in each of three bins with three slots; and five of the receiver have three bins.
    let (left_out, got) = run((&[1, 2, 3, 4], 4), (&[5, 6, 7, 8, 9], 5));
    assert_eq!((left_out, got.left_out, got.matched.len()), (1, 2, 0));
    let (left_out, got) = run((&[1, 2, 3, 4], 0), (&[5, 6, 7, 8, 9], 0));
    assert_eq!((left_out, got.left_out), (0, 0));
}

/// Would the dummies of both be one, the receiver would see whether the sender has an odd number of them in a bin.
#[test]
fn an_empty_bin_has_nothing_of_the_senders() {
    let shape = Shape { bins: 4, slots: 3, bits: 6 };
    // Item 0 by function 0 is a slot of zeros.
    for rests in [&[][..], &[0], &[0, 1], &[15, 14, 13]] {
        let (slots, _) = fill(&placed(rests), shape, rests.len());
        let own = receivers_slots(&placed(&[]), &Cuckoo::place(0, 4, |_| [0, 1, 2]));
        let inputs = vec![value(&slots, shape.bits), value(&own, shape.bits)];
        let outputs = eval_many(&program(shape, PartyId(0), Goal::Size).unwrap(), &[inputs]).unwrap().remove(0);
        assert_eq!(outputs[0].to_bytes(), [0], "{rests:?}");
    }
}

/// A protocol that wants to be asked before it runs.
struct Strict {
    card: &'static Card,
    settled: AtomicBool,
}

const fn card(parties: std::ops::RangeInclusive<u16>) -> Card {
    Card {
        name: "strict",
        kind: CardKind::Protocol,
        paper: "",
        parties,
        adversary: Adversary::SemiHonest,
        corrupt: Corrupt::AllButOne,
        takes: Takes::Any,
        reactive: false,
        goal: Goal::Size,
        offline: &[],
        options: &[],
        phases: &[],
        summary: "",
        protects: "",
        risk: "",
        about: "",
    }
}

static TWO: Card = card(2..=2);
static THREE: Card = card(3..=3);

impl Protocol for Strict {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn settle(&self, _: &mut Options, _: &Program) {
        self.settled.store(true, Ordering::Relaxed);
    }

    fn fits(&self, program: &Program, _: &Options, _: Params) -> Result<()> {
        assert!(self.settled.load(Ordering::Relaxed), "options are settled before they are looked at");
        if program.and_gates() > 1000 { Err(Error::invalid_input("more than a thousand")) } else { Ok(()) }
    }

    fn run(&self, me: &mut Party<'_, '_>, _: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        assert_ne!(me.here.session, crate::tests::here(0, 1).session, "a session of its own");
        Err(Error::invalid_input("it ran"))
    }
}

#[test]
fn a_protocol_is_asked_before_it_runs_and_gets_a_session() {
    let why = |card, slots| {
        let over: &'static Strict = Box::leak(Box::new(Strict { card, settled: AtomicBool::new(false) }));
        let program = program(Shape { bins: 4, slots, bits: 6 }, PartyId(0), Goal::Size).unwrap();
        let mut ch = comity_channel::memory::pair().0;
        party(0, 1, &mut ch, |me| run_below(me, over as &'static dyn Protocol, LABEL, &program, &[]))
            .err()
            .unwrap()
            .to_string()
    };
    assert!(why(&TWO, 3).contains("it ran"));
    assert!(why(&TWO, 300).contains("more than a thousand"));
    assert!(why(&THREE, 3).contains("for 3 parties"));
}
