use std::cell::Cell;

use comity_core::Bits;

use super::check::reads_few;
use super::*;
use crate::builder::{Builder, Wire};
use crate::circuit::{Circuit, Group};
use crate::random::Rng;

fn xor(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadgets, WordOp::Xor, &[x, y], |b| x.iter().zip(y).map(|(&x, &y)| b.xor(x, y)).collect::<Vec<_>>())
}

fn and(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadgets, WordOp::And, &[x, y], |b| x.iter().zip(y).map(|(&x, &y)| b.and(x, y)).collect::<Vec<_>>())
}

/// A ripple for size; for depth the same with the XORs in another order.
fn add(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadgets, WordOp::Add, &[x, y], |b| {
        let mut carry = Wire::ZERO;
        let mut sum = Vec::new();
        for (&x, &y) in x.iter().zip(y) {
            let bits = if b.goal() == Goal::Size { [x, y, carry] } else { [x, carry, y] };
            let first = b.xor(bits[0], bits[1]);
            sum.push(b.xor(first, bits[2]));
            let (x, y) = (b.xor(x, carry), b.xor(y, carry));
            let both = b.and(x, y);
            carry = b.xor(both, carry);
        }
        sum
    })
}

fn gadgets(b: &mut Builder, op: &WordOp, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    match op {
        WordOp::Xor => vec![xor(b, &args[0], &args[1])],
        WordOp::And => vec![and(b, &args[0], &args[1])],
        WordOp::Add => vec![add(b, &args[0], &args[1])],
        _ => vec![],
    }
}

/// A circuit of two words of four bits.
fn of_words(build: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 4), b.input("y", 4));
    let z = build(&mut b, &x, &y);
    b.output("z", &z);
    b.finish()
}

/// The circuit with its notes as somebody changed them.
fn changed(circuit: &Circuit, change: impl FnOnce(&mut Vec<Note>)) -> Result<Circuit, NoteError> {
    let mut notes = circuit.notes().to_vec();
    change(&mut notes);
    circuit.clone().without_notes().with_notes(notes, gadgets)
}

/// The flaw for which the changed notes are refused.
fn flaw(circuit: &Circuit, change: impl FnOnce(&mut Vec<Note>)) -> NoteFlaw {
    changed(circuit, change).expect_err("a note that was changed").flaw
}

/// Which results of the first note are there.
fn there(circuit: &Circuit) -> Vec<bool> {
    circuit.notes()[0].outs.iter().map(Option::is_some).collect()
}

fn ops(circuit: &Circuit) -> Vec<&'static str> {
    circuit.notes().iter().map(|note| note.op.name()).collect()
}

#[test]
fn the_outermost_function_is_noted_and_nothing_where_it_is_quiet() {
    let circuit = of_words(|b, x, y| {
        b.set_line(3);
        let sum = b.noted(gadgets, WordOp::Add, &[x, y], |b| {
            let sum = add(b, x, y);
            xor(b, &sum, x);
            sum
        });
        b.set_line(0);
        let hidden = b.quiet(|b| add(b, &sum, x));
        and(b, &hidden, &sum)
    });
    assert_eq!(ops(&circuit), ["add", "and"]);
    let note = &circuit.notes()[0];
    let words: [Vec<ArgBit>; 2] = [2, 6].map(|first| (first..first + 4).map(ArgBit::Wire).collect());
    assert_eq!((note.args.as_slice(), note.at, note.line, note.pin), (&words[..], 0, 3, None));
    assert!(note.outs.iter().all(Option::is_some));
    assert_eq!(changed(&circuit, |_| {}).as_ref(), Ok(&circuit));
    // The gates are the same without.
    let alone = of_words(|b, x, y| {
        b.quiet(|b| {
            let sum = add(b, x, y);
            xor(b, &sum, x);
            let more = add(b, &sum, x);
            and(b, &more, &sum)
        })
    });
    assert!(alone.same_gates(&circuit) && alone.notes().is_empty() && alone != circuit);
    assert_eq!(circuit.clone().without_notes(), alone);
}

#[test]
fn what_is_gone_is_named_and_what_cannot_be_is_left_out() {
    // One bit of the sum is left; the other bits of what it reads are gone, and are results of the note
    // before.
    let circuit = of_words(|b, x, y| {
        let both = and(b, x, y);
        let sum = add(b, &both, x);
        vec![sum[1]]
    });
    assert_eq!(ops(&circuit), ["and", "add"]);
    let args = &circuit.notes()[1].args[0];
    assert!(matches!(args[0], ArgBit::Wire(_)) && matches!(args[1], ArgBit::Wire(_)));
    assert_eq!(args[2..], [2, 3].map(|bit| ArgBit::Result { note: 0, bit }));
    assert_eq!(circuit.notes()[1].outs.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, false]);
    assert!(changed(&circuit, |_| {}).is_ok());
    // Nothing names a gate that is gone and that nobody noted.
    let circuit = of_words(|b, x, y| {
        let both = b.quiet(|b| and(b, x, y));
        let sum = add(b, &both, x);
        vec![sum[1]]
    });
    assert_eq!(ops(&circuit), [""; 0]);
    // A note of which nothing is left or read.
    let circuit = of_words(|b, x, y| {
        let sum = add(b, x, y);
        xor(b, &sum, x);
        and(b, &sum, y)
    });
    assert_eq!(ops(&circuit), ["add", "and"]);
    // The same once more is the same wires.
    let circuit = of_words(|b, x, y| {
        let (sum, again) = (add(b, x, y), add(b, x, y));
        let (one, other) = (and(b, &sum, y), and(b, &again, x));
        xor(b, &one, &other)
    });
    assert_eq!(ops(&circuit), ["add", "and", "and", "xor"]);
}

#[test]
fn false_notes_are_refused_for_what_is_wrong_with_them() {
    let circuit = of_words(|b, x, y| {
        let sum = add(b, x, y);
        let both = and(b, &sum, x);
        let more = add(b, &both, &sum);
        vec![more[0], more[1]]
    });
    assert_eq!(ops(&circuit), ["add", "and", "add"]);
    assert!(changed(&circuit, |_| {}).is_ok());
    // Another operation, another goal, other words, moved to where its gates are built by others.
    assert_eq!(flaw(&circuit, |notes| notes[0].op = WordOp::Xor), NoteFlaw::Gates);
    assert_eq!(flaw(&circuit, |notes| notes[0].goal = Goal::Depth), NoteFlaw::Gates);
    assert_eq!(flaw(&circuit, |notes| notes[0].args[0][1] = ArgBit::Wire(2)), NoteFlaw::Gates);
    assert_eq!(flaw(&circuit, |notes| notes[0].outs.swap(0, 1)), NoteFlaw::Gates);
    assert_eq!(flaw(&circuit, |notes| notes[2].outs[3] = Some(1)), NoteFlaw::Gates);
    let wider = |notes: &mut Vec<Note>| {
        let note = &mut notes[2];
        note.args.iter_mut().for_each(|word| word.insert(0, ArgBit::Wire(0)));
        note.outs.insert(0, note.outs[0]);
    };
    assert_eq!(flaw(&circuit, wider), NoteFlaw::Gates);
    // A note of the same sum with its bits shifted by a zero would be true.
    let shifted = |notes: &mut Vec<Note>| {
        let note = &mut notes[2];
        note.args.iter_mut().for_each(|word| word.insert(0, ArgBit::Wire(0)));
        note.outs.insert(0, Some(0));
    };
    assert!(changed(&circuit, shifted).is_ok());
    assert_eq!(flaw(&circuit, |notes| notes[0].op = WordOp::Sub), NoteFlaw::Gates);
    assert_eq!(flaw(&circuit, |notes| notes[0].op = WordOp::Dot { n: 2 }), NoteFlaw::Shape);
    assert_eq!(flaw(&circuit, |notes| notes[0].op = WordOp::Not), NoteFlaw::Shape);
    assert_eq!(flaw(&circuit, |notes| notes[0].args[0].truncate(3)), NoteFlaw::Shape);
    assert_eq!(flaw(&circuit, |notes| notes[0].outs.truncate(3)), NoteFlaw::Shape);
    let last = circuit.gates().len() as u32;
    assert_eq!(flaw(&circuit, |notes| notes[2].at = last + 1), NoteFlaw::Place);
    assert_eq!(flaw(&circuit, |notes| notes[0].at = notes[1].at + 1), NoteFlaw::Place);
    assert_eq!(flaw(&circuit, |notes| notes[0].args[1][0] = ArgBit::Wire(10)), NoteFlaw::Argument);
    assert_eq!(flaw(&circuit, |notes| notes[0].args[1][0] = ArgBit::Gone(1)), NoteFlaw::Argument);
    let result = |note, bit| move |notes: &mut Vec<Note>| notes[2].args[0][0] = ArgBit::Result { note, bit };
    // A result that is there is named by its wire; a note does not read itself, or what comes later.
    assert_eq!(flaw(&circuit, result(0, 0)), NoteFlaw::Argument);
    assert_eq!(flaw(&circuit, result(2, 3)), NoteFlaw::Argument);
    assert_eq!(flaw(&circuit, result(1, 4)), NoteFlaw::Argument);
    let wires = (circuit.first_gate_wire() + circuit.gates().len()) as u32;
    assert_eq!(flaw(&circuit, |notes| notes[0].outs[0] = Some(wires)), NoteFlaw::Result);
    assert_eq!(flaw(&circuit, |notes| notes[2].outs.fill(None)), NoteFlaw::Idle);
    let twice = |notes: &mut Vec<Note>| {
        let again = Note { at: last, ..notes[0].clone() };
        notes.push(again);
    };
    assert_eq!(flaw(&circuit, twice), NoteFlaw::Twice);
    let error = changed(&circuit, |notes| notes[2].op = WordOp::Xor).unwrap_err();
    assert_eq!(error.to_string(), "note 2 (xor) is not what the gates compute");
}

#[test]
fn a_circuit_over_fewer_inputs_says_which_bits_are_gone() {
    let group = |bits| vec![Group { name: String::new(), bits }];
    let circuit = of_words(|b, x, y| {
        let sum = add(b, x, y);
        let more = add(b, &sum, y);
        vec![more[0], more[1]]
    });
    // The lower bits of both words are left, in another order.
    let wired = circuit.rewired(group(4), group(2), &[6, 7, 2, 3]);
    let word = |first, gone| [ArgBit::Wire(first), ArgBit::Wire(first + 1), ArgBit::Gone(gone), ArgBit::Gone(gone + 1)];
    assert_eq!(wired.notes()[0].args, [word(4, 0).to_vec(), word(2, 2).to_vec()]);
    assert_eq!(wired.notes()[1].args[1], word(2, 2));
    let alone = wired.clone().without_notes();
    assert_eq!(alone.with_notes(wired.notes().to_vec(), gadgets).as_ref(), Ok(&wired));
    assert_eq!(flaw(&wired, |notes| notes[1].args[1][2] = ArgBit::Gone(5)), NoteFlaw::Argument);
    assert_eq!(wired.false_note(&mut Rng(1)), None);
    // Once more, and what was gone stays so.
    let again = wired.clone().rewired(group(4), group(2), &[2, 3, 4, 5]);
    assert_eq!(again, wired);
}

/// What is gone is none of the inputs, so that no note is true because it takes one for the other; nor is what nobody builds.
#[test]
fn what_is_gone_and_what_nobody_builds_is_no_input() {
    let circuit = of_words(|b, x, y| {
        let both = xor(b, x, y);
        vec![both[0], both[1], both[3]]
    });
    let gone = |notes: &mut Vec<Note>| {
        notes[0].args[0][2] = ArgBit::Gone(0);
        notes[0].args[1][3] = ArgBit::Gone(1);
    };
    assert_eq!(there(&circuit), [true, true, false, true]);
    assert_eq!(flaw(&circuit, gone), NoteFlaw::Gates);
    assert_eq!(flaw(&of_words(xor), |notes| notes[0].args[0][0] = ArgBit::Gone(0)), NoteFlaw::Gates);

    // Its results are the last input, and what is left of the second note reads none of them.
    let circuit = of_words(|b, x, y| {
        let both = and(b, x, y);
        let sum = add(b, &both, x);
        vec![sum[1]]
    });
    let unbuilt = |notes: &mut Vec<Note>| {
        notes[0].op = WordOp::Sub;
        notes[0].args[0][0] = ArgBit::Gone(0);
        notes[0].outs[..2].fill(Some(9));
    };
    assert_eq!(there(&circuit), [true, true, false, false]);
    assert_eq!(flaw(&circuit, unbuilt), NoteFlaw::Gates);

    // A result of it is not the first input, and what is gone is something else again, whose sum with it is not zero.
    let read = |notes: &mut Vec<Note>| {
        notes.insert(0, Note { op: WordOp::Sub, outs: vec![None; 4], ..notes[0].clone() });
        notes[1].args[0][0] = ArgBit::Result { note: 0, bit: 0 };
    };
    let both = |notes: &mut Vec<Note>| {
        read(notes);
        notes[1].args[1][0] = ArgBit::Gone(0);
        notes[1].outs[0] = Some(0);
    };
    assert_eq!(flaw(&of_words(xor), read), NoteFlaw::Gates);
    assert_eq!(flaw(&of_words(xor), both), NoteFlaw::Gates);
}

#[test]
fn of_more_inputs_than_gates_can_read_only_those_are_looked_at_that_are_read() {
    for (inputs, wanted) in [(1024 + 2 * 3 - 2, false), (1024 + 2 * 3 - 1, true)] {
        let mut b = Builder::new();
        let x = b.input("x", inputs);
        let z = xor(&mut b, &x[..3], &x[inputs - 3..]);
        b.output("z", &z);
        let circuit = b.finish();
        assert_eq!((circuit.gates().len(), reads_few(&circuit)), (3, wanted));
        assert!(ops(&circuit) == ["xor"] && changed(&circuit, |_| {}).is_ok());
        assert_eq!(flaw(&circuit, |notes| notes[0].args[0][0] = ArgBit::Wire(7)), NoteFlaw::Gates);
    }
}

#[test]
fn checking_is_bounded_by_what_the_notes_take() {
    // A gadget of far more gates than the note has bytes, of which one is left.
    fn dear(b: &mut Builder, op: &WordOp, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let sum = gadgets(b, op, args);
        let mut bit = args[0][0];
        for i in 0..10_000 {
            bit = if i % 2 == 0 { b.and(bit, args[0][1]) } else { b.xor(bit, args[1][(i / 2) % 4]) };
        }
        sum
    }
    let circuit = of_words(add);
    let notes = || circuit.notes().to_vec();
    let refused = circuit.clone().without_notes().with_notes(notes(), dear).unwrap_err();
    assert!(most_gates(circuit.gates().len(), &notes()) < 10_000 && refused.flaw == NoteFlaw::TooLarge);
    // Whoever builds it has no notes, either.
    let dearly = of_words(|b, x, y| {
        b.noted(gadgets, WordOp::Add, &[x, y], |b| dear(b, &WordOp::Add, &[x.to_vec(), y.to_vec()]).swap_remove(0))
    });
    assert!(dearly.same_gates(&circuit) && dearly.notes().is_empty());
}

#[test]
fn the_last_note_is_refused_where_the_gates_after_it_are_too_many() {
    thread_local!(static GATES: Cell<usize> = const { Cell::new(0) });
    fn some(b: &mut Builder, _: &WordOp, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let (x, y) = (&args[0], &args[1]);
        let sum = b.xor(x[0], y[0]);
        (1..GATES.get()).fold(sum, |bit, i| if i % 2 == 0 { b.and(bit, y[1]) } else { b.xor(bit, y[2 + i / 2 % 2]) });
        vec![vec![sum, Wire::ZERO, Wire::ZERO, Wire::ZERO]]
    }
    // One gate of the note, and three behind it, of which the last one is named as its result.
    let circuit = of_words(|b, x, y| {
        let word = b.noted(some, WordOp::Xor, &[x, y], |b| vec![b.xor(x[0], y[0]), Wire::ZERO, Wire::ZERO, Wire::ZERO]);
        (1..4).map(|i| b.and(word[0], x[i])).collect()
    });
    assert_eq!((ops(&circuit), circuit.gates().len()), (vec!["xor"], 4));
    let most = most_gates(4, circuit.notes());
    for gates in most - 5..most + 3 {
        GATES.set(gates);
        let mut notes = circuit.notes().to_vec();
        notes[0].outs[0] = Some(13);
        let error = circuit.clone().without_notes().with_notes(notes, some).unwrap_err();
        let flaw = if gates + 3 > most { NoteFlaw::TooLarge } else { NoteFlaw::Gates };
        assert_eq!((error.note, error.flaw), (0, flaw), "{gates} of {most}");
    }
}

#[test]
fn a_circuit_of_one_lookup_is_its_table() {
    let table = LookupTable::new(4, 1, vec![0, 0, 0, 1]).unwrap();
    let op = WordOp::Lookup(table.clone());
    let of = |put: fn(&mut Builder, Wire) -> Vec<Wire>| {
        let mut b = Builder::new();
        let x = b.input("x", 4);
        let row = b.noted(gadgets, op.clone(), &[&x], |b| {
            let lower = b.and(x[0], x[1]);
            let upper = b.nor(x[2], x[3]);
            b.and(lower, upper)
        });
        let out = put(&mut b, row);
        b.output("y", &out);
        b.finish()
    };
    assert_eq!(of(|_, row| vec![row]).table(), Some(&table));
    assert_eq!(of(|_, row| vec![row, row]).table(), None);
    assert_eq!(of(|b, row| vec![b.not(row)]).table(), None);
    assert_eq!(of(|_, row| vec![row]).without_notes().table(), None);
}

#[test]
fn operations_take_words_of_widths_that_go_together() {
    let table = LookupTable::new(3, 5, vec![]).unwrap();
    for (op, args, results) in [
        (WordOp::Add, &[7, 7][..], Some(vec![7])),
        (WordOp::Add, &[7, 8], None),
        (WordOp::Add, &[7], None),
        (WordOp::Add, &[7, 7, 7], None),
        (WordOp::Add, &[0, 0], None),
        (WordOp::Add, &[WordOp::WIDEST; 2], Some(vec![WordOp::WIDEST])),
        (WordOp::Xor, &[WordOp::WIDEST + 1; 2], None),
        (WordOp::Mul, &[WordOp::WIDEST_FACTOR; 2], Some(vec![WordOp::WIDEST_FACTOR])),
        (WordOp::Mul, &[WordOp::WIDEST_FACTOR + 1; 2], None),
        (WordOp::Square, &[WordOp::WIDEST_FACTOR + 1], None),
        (WordOp::DivRem { signed: true }, &[WordOp::WIDEST_FACTOR + 1; 2], None),
        (WordOp::DivRem { signed: true }, &[9, 9], Some(vec![9, 9])),
        (WordOp::MulWide, &[9, 9], Some(vec![18])),
        (WordOp::Neg, &[9], Some(vec![9])),
        (WordOp::Neg, &[9, 9], None),
        (WordOp::Equal, &[9, 9], Some(vec![1])),
        (WordOp::Select, &[1, 9, 9], Some(vec![9])),
        (WordOp::Select, &[2, 9, 9], None),
        (WordOp::Select, &[9, 9], None),
        (WordOp::Rotl, &[9, 3], Some(vec![9])),
        (WordOp::Rotl, &[WordOp::WIDEST, 65], None),
        (WordOp::Lookup(table.clone()), &[3], Some(vec![5])),
        (WordOp::Lookup(table.clone()), &[4], None),
        (WordOp::Lookup(table), &[3, 3], None),
        (WordOp::Dot { n: 0 }, &[], None),
        (WordOp::Dot { n: 2 }, &[9; 4], Some(vec![9])),
        (WordOp::Dot { n: 2 }, &[9; 3], None),
        (WordOp::Dot { n: 2 }, &[9, 9, 9, 8], None),
        (WordOp::Dot { n: 1 }, &[WordOp::WIDEST_FACTOR; 2], Some(vec![WordOp::WIDEST_FACTOR])),
        (WordOp::Dot { n: 1 }, &[WordOp::WIDEST_FACTOR + 1; 2], None),
        (WordOp::Dot { n: 1 << 13 }, &[64; 1 << 14], Some(vec![64])),
        (WordOp::Dot { n: (1 << 13) + 1 }, &[64; (1 << 14) + 2], None),
        (WordOp::MatMul { m: 2, n: 3, p: 4 }, &[5; 18], Some(vec![5; 8])),
        (WordOp::MatMul { m: 2, n: 3, p: 4 }, &[5; 17], None),
        (WordOp::MatMul { m: 0, n: 3, p: 4 }, &[5; 12], None),
        (WordOp::MatMul { m: 2, n: 0, p: 4 }, &[], None),
        (WordOp::MatMul { m: 1 << 13, n: 1, p: 1 << 13 }, &[1; 1 << 14], None),
        (WordOp::MatMul { m: u32::MAX, n: u32::MAX, p: u32::MAX }, &[1, 1], None),
        (WordOp::MulShift { fraction: 4 }, &[9, 9], Some(vec![5])),
        (WordOp::MulShift { fraction: 8 }, &[9, 9], Some(vec![1])),
        (WordOp::MulShift { fraction: 9 }, &[9, 9], None),
        (WordOp::MulShift { fraction: 0 }, &[9, 9], None),
        (WordOp::MulShift { fraction: 4 }, &[9, 8], None),
        (WordOp::MulShift { fraction: 4 }, &[9], None),
    ] {
        assert_eq!(op.results(args), results, "{op:?} {args:?}");
    }
    assert_eq!((WordOp::Dot { n: 0 }.arity(), WordOp::MatMul { m: 2, n: 3, p: 4 }.arity()), (0, 18));
    let most = u32::MAX;
    assert_eq!(WordOp::MatMul { m: most, n: most, p: most }.arity(), usize::MAX);
}

/// All words of four bits, against the machine's own arithmetic.
#[test]
fn plain_arithmetic_is_that_of_the_machine() {
    let bits = |value: i32, bits: usize| (0..bits).map(|i| value >> i & 1 == 1).collect::<Bits>();
    for (x, y) in (0..256).map(|i| (i % 16, i / 16)) {
        let signed = |x: i32| x - 16 * (x >> 3);
        let (sx, sy) = (signed(x), signed(y));
        let (q, r) = if y == 0 { (15, x) } else { (x / y, x % y) };
        let (sq, sr) = if y == 0 { (-1, sx) } else { (sx / sy, sx % sy) };
        let rotl = |x: i32, by: i32| x << by | x >> (4 - by);
        let table = LookupTable::new(4, 4, (0..16).map(|i| i * 7 % 16).collect()).unwrap();
        let cases: Vec<(WordOp, Vec<(i32, usize)>)> = vec![
            (WordOp::Add, vec![(x + y, 4)]),
            (WordOp::Sub, vec![(x - y, 4)]),
            (WordOp::Mul, vec![(x * y, 4)]),
            (WordOp::MulWide, vec![(x * y, 8)]),
            (WordOp::Div { signed: false }, vec![(q, 4)]),
            (WordOp::Rem { signed: false }, vec![(r, 4)]),
            (WordOp::DivRem { signed: false }, vec![(q, 4), (r, 4)]),
            (WordOp::Div { signed: true }, vec![(sq, 4)]),
            (WordOp::Rem { signed: true }, vec![(sr, 4)]),
            (WordOp::DivRem { signed: true }, vec![(sq, 4), (sr, 4)]),
            (WordOp::Less { signed: false, or_equal: false }, vec![((x < y).into(), 1)]),
            (WordOp::Less { signed: false, or_equal: true }, vec![((x <= y).into(), 1)]),
            (WordOp::Less { signed: true, or_equal: false }, vec![((sx < sy).into(), 1)]),
            (WordOp::Less { signed: true, or_equal: true }, vec![((sx <= sy).into(), 1)]),
            (WordOp::Equal, vec![((x == y).into(), 1)]),
            (WordOp::Shl, vec![(x << y, 4)]),
            (WordOp::Shr, vec![(x >> y, 4)]),
            (WordOp::ShrSigned, vec![(sx >> y, 4)]),
            (WordOp::Rotl, vec![(rotl(x, y % 4), 4)]),
            (WordOp::And, vec![(x & y, 4)]),
            (WordOp::Or, vec![(x | y, 4)]),
            (WordOp::Xor, vec![(x ^ y, 4)]),
            (WordOp::Dot { n: 1 }, vec![(x * y, 4)]),
            (WordOp::MatMul { m: 1, n: 1, p: 1 }, vec![(x * y, 4)]),
            (WordOp::MulShift { fraction: 1 }, vec![(((x * y + 1) % 16) >> 1, 3)]),
            (WordOp::MulShift { fraction: 3 }, vec![(((x * y + 4) % 16) >> 3, 1)]),
        ];
        for (op, want) in cases {
            let want: Vec<Bits> = want.into_iter().map(|(value, width)| bits(value, width)).collect();
            assert_eq!(op.eval(&[bits(x, 4), bits(y, 4)]), want, "{} {x} {y}", op.name());
        }
        for (op, want) in
            [(WordOp::Neg, -x), (WordOp::Square, x * x), (WordOp::Not, !x), (WordOp::Lookup(table), x * 7)]
        {
            assert_eq!(op.eval(&[bits(x, 4)]), [bits(want, 4)], "{} {x}", op.name());
        }
        let chosen = WordOp::Select.eval(&[bits(y, 1), bits(x, 4), bits(y, 4)]);
        assert_eq!(chosen, [bits(if y & 1 == 1 { x } else { y }, 4)]);
        let words = [x, y, 7, x ^ 5, 11, y + 1].map(|word| bits(word, 4));
        let dot = WordOp::Dot { n: 3 }.eval(&words);
        assert_eq!(dot, [bits(x * (x ^ 5) + y * 11 + 7 * (y + 1), 4)]);
        let product = WordOp::MatMul { m: 1, n: 2, p: 2 }.eval(&words);
        assert_eq!(product, [x * 7 + y * 11, x * (x ^ 5) + y * (y + 1)].map(|word| bits(word, 4)));
        let product = WordOp::MatMul { m: 2, n: 2, p: 1 }.eval(&words);
        assert_eq!(product, [x * 11 + y * (y + 1), 7 * 11 + (x ^ 5) * (y + 1)].map(|word| bits(word, 4)));
        // The product of numbers of four bits with two behind the point, all of whose bits are there.
        for (x, y) in [(x, y), (sx, sy)] {
            let rounded = WordOp::MulShift { fraction: 2 }.eval(&[bits(x, 6), bits(y, 6)]);
            assert_eq!(rounded, [bits((x * y + 2) >> 2, 4)], "{x} {y}");
        }
    }
}
