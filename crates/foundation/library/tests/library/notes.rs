//! What the gadgets note: it is true, it is kept in an encoding, and it does not change a gate.

use comity_circuit::random::Rng;
use comity_circuit::{ArgBit, Builder, Circuit, Goal, LookupTable, Note, NoteFlaw, Program, Wire, WordOp};
use comity_library::{arith, gadget, lookup, program_for};

/// A circuit of random operations of these kinds on random words, of which some results are put out, most of them
/// in part.
fn random_circuit(rng: &mut Rng, goal: Goal, kinds: usize) -> Circuit {
    let mut b = Builder::for_goal(goal);
    let width = [1, 2, 3, 5, 8, 16][rng.below(6)];
    let mut words: Vec<Vec<Wire>> = (0..3).map(|_| b.input("x", width)).collect();
    let mut bits: Vec<Wire> = words.concat();
    let constant = rng.word();
    words.push((0..width).map(|i| Wire::constant(constant >> (i % 64) & 1 == 1)).collect());
    for _ in 0..2 + rng.below(10) {
        let word = |rng: &mut Rng| words[rng.below(words.len())].clone();
        let (x, y) = (word(rng), word(rng));
        let b = &mut b;
        let word = match rng.below(kinds) {
            0 | 1 => arith::add(b, &x, &y),
            2 | 3 => arith::sub(b, &x, &y),
            4 => arith::negate(b, &x),
            5 | 6 => arith::mul(b, &x, &y),
            7 => arith::mul_full(b, &x, &y)[width..].to_vec(),
            8 => arith::square(b, &x),
            9 => arith::div(b, &x, &y),
            10 => arith::rem_signed(b, &x, &y),
            11 => arith::div_rem(b, &x, &y).1,
            12 => arith::div_rem_signed(b, &x, &y).0,
            13 => arith::div_rem_by(b, &x, 1 + rng.below(9) as u128).0,
            14 => arith::div_rem_signed_by(b, &x, [-3, 5, -1, 1, 100][rng.below(5)]).1,
            15 => {
                let less = [arith::lt, arith::le_signed, arith::gt, arith::ge_signed][rng.below(4)];
                bits.push(less(b, &x, &y));
                arith::min(b, &x, &y)
            }
            16 => {
                bits.push(arith::eq(b, &x, &y));
                arith::max_signed(b, &x, &y)
            }
            17 | 18 => arith::mux(b, bits[rng.below(bits.len())], &x, &y),
            19 => arith::shl_by(b, &x, &y[..width.min(4)]),
            20 => arith::shr_by(b, &x, &y),
            21 => arith::sar_by(b, &x, &y[..width.min(3)]),
            22 => arith::rotl_by(b, &x, &y[..width.min(3)]),
            23 => arith::xor(b, &x, &y),
            24 => arith::and(b, &x, &y),
            25 => arith::not(b, &x),
            26 => {
                let table = LookupTable::new(2, 3, vec![5, 1, 6]).unwrap();
                let index: Vec<Wire> = (0..2).map(|i| x[i % width]).collect();
                let row = lookup(b, &table, &index);
                (0..width).map(|i| row[i % 3]).collect()
            }
            27 => arith::shl(&x, rng.below(width + 1)),
            28 => arith::abs_diff(b, &x, &y),
            30 => arith::dot(b, &[x.clone(), word(rng)], &[y, word(rng)]),
            31 => arith::mat_mul(b, [2, 1, 2], &[x.clone(), word(rng)], &[y, word(rng)]).swap_remove(rng.below(4)),
            32 if width > 1 => {
                let rounded = arith::mul_shift(b, &x, &y, 1 + rng.below(width - 1));
                arith::padded(&rounded, width)
            }
            _ => arith::popcount(b, &x).iter().chain(&y).copied().take(width).collect(),
        };
        words.push(word);
    }
    for _ in 0..1 + rng.below(3) {
        let word = &words[words.len() - 1 - rng.below(4)];
        let from = rng.below(width);
        let out = match rng.below(3) {
            0 => word.clone(),
            _ => word[from..from + 1 + rng.below(width - from)].to_vec(),
        };
        b.output("y", &out);
    }
    b.finish()
}

/// Whether what is noted of a circuit is true, and is there again after an encoding.
fn check(circuit: &Circuit, rng: &mut Rng, what: &str) {
    for _ in 0..4 {
        assert_eq!(circuit.false_note(rng), None, "{what}: {:?}", circuit.notes());
    }
    let again = circuit.clone().without_notes().with_notes(circuit.notes().to_vec(), gadget);
    assert_eq!(again.as_ref().map(|again| again == circuit), Ok(true), "{what}: {:?}", circuit.notes());
}

fn random_circuits(count: u64) -> usize {
    let mut notes = 0;
    // In the last one a gate that is gone, and that no note builds again, gave a shift other wires than it has without.
    for (seed, kinds) in (0..count).map(|seed| (seed, 33)).chain([(45_900, 30)]) {
        let mut rng = Rng(seed);
        let goal = [Goal::Size, Goal::Depth][seed as usize % 2];
        let circuit = random_circuit(&mut rng, goal, kinds);
        notes += circuit.notes().len();
        check(&circuit, &mut rng, &format!("circuit {seed}"));
    }
    notes
}

#[test]
fn what_random_circuits_note_is_true_and_is_kept() {
    let notes = random_circuits(600);
    assert!(notes > 600, "{notes}");
}

#[test]
#[ignore = "minutes"]
fn what_very_many_random_circuits_note_is_true_and_is_kept() {
    let notes = random_circuits(100_000);
    assert!(notes > 100_000, "{notes}");
}

#[test]
fn programs_of_the_library_are_read_back_with_their_notes() {
    let mut rng = Rng(1);
    for name in [
        "add64",
        "mul32",
        "mulfull16",
        "sqr24",
        "div16",
        "sdivrem16",
        "slt32",
        "min32",
        "mux9",
        "shl32",
        "rotl12",
        "sort8x8",
    ] {
        for goal in [Goal::Size, Goal::Depth] {
            let program = program_for(name, goal).unwrap();
            program.circuits().iter().for_each(|circuit| check(circuit, &mut rng, name));
            assert_eq!(Program::decode(&program.encode(), gadget).as_ref(), Ok(&program), "{name}");
        }
    }
    let noted = |name| program_for(name, Goal::Size).unwrap().noted().into_iter().collect::<Vec<_>>();
    assert_eq!(noted("add64"), [("add", 1)]);
    assert_eq!(noted("min32"), [("less", 1), ("select", 1)]);
    assert_eq!(noted("aes128table"), [("lookup", 200)]);
    // The rows that are sorted are sums of two parties' words.
    assert_eq!([noted("sha256"), noted("f32add"), noted("sort8x8")], [vec![], vec![], vec![("xor", 8)]]);
}

/// Each function notes the operation by which its gates are built again, in both forms.
#[test]
fn every_operation_is_noted_by_its_gadget() {
    for op in [
        WordOp::Add,
        WordOp::Sub,
        WordOp::Neg,
        WordOp::Mul,
        WordOp::MulWide,
        WordOp::Square,
        WordOp::Div { signed: false },
        WordOp::Div { signed: true },
        WordOp::Rem { signed: false },
        WordOp::Rem { signed: true },
        WordOp::DivRem { signed: false },
        WordOp::DivRem { signed: true },
        WordOp::Less { signed: false, or_equal: false },
        WordOp::Less { signed: false, or_equal: true },
        WordOp::Less { signed: true, or_equal: false },
        WordOp::Less { signed: true, or_equal: true },
        WordOp::Equal,
        WordOp::Select,
        WordOp::Shl,
        WordOp::Shr,
        WordOp::ShrSigned,
        WordOp::Rotl,
        WordOp::And,
        WordOp::Or,
        WordOp::Xor,
        WordOp::Not,
        WordOp::Lookup(LookupTable::new(8, 8, (0..=255).rev().collect()).unwrap()),
        WordOp::Dot { n: 3 },
        WordOp::MatMul { m: 2, n: 3, p: 2 },
        WordOp::MulShift { fraction: 3 },
    ] {
        for goal in [Goal::Size, Goal::Depth] {
            let mut b = Builder::for_goal(goal);
            let args: Vec<Vec<Wire>> =
                (0..op.arity()).map(|i| b.input("x", if op == WordOp::Select && i == 0 { 1 } else { 8 })).collect();
            for word in gadget(&mut b, &op, &args) {
                b.output("y", &word);
            }
            let circuit = b.finish();
            let [note] = circuit.notes() else { panic!("{} notes of {}", circuit.notes().len(), op.name()) };
            assert_eq!((&note.op, note.goal), (&op, goal));
            check(&circuit, &mut Rng(3), op.name());
        }
    }
}

#[test]
fn sums_of_products_that_the_gates_do_not_compute_are_refused() {
    type Lie = fn(&mut Note);
    let lies: [(WordOp, usize, Lie); 4] = [
        (WordOp::Dot { n: 3 }, 6, |note| note.args.swap(0, 1)),
        (WordOp::MatMul { m: 1, n: 2, p: 2 }, 6, |note| note.op = WordOp::MatMul { m: 2, n: 2, p: 1 }),
        (WordOp::MulShift { fraction: 3 }, 2, |note| note.args[0][7] = ArgBit::Wire(2)),
        (WordOp::MulShift { fraction: 3 }, 2, |note| note.outs.swap(0, 1)),
    ];
    for (op, words, lie) in lies {
        for goal in [Goal::Size, Goal::Depth] {
            let mut b = Builder::for_goal(goal);
            let args: Vec<Vec<Wire>> = (0..words).map(|_| b.input("x", 8)).collect();
            gadget(&mut b, &op, &args).iter().for_each(|word| b.output("y", word));
            let circuit = b.finish();
            check(&circuit, &mut Rng(4), op.name());
            let mut notes = circuit.notes().to_vec();
            lie(&mut notes[0]);
            let refused = circuit.without_notes().with_notes(notes, gadget).unwrap_err();
            assert_eq!(refused.flaw, NoteFlaw::Gates, "{op:?}");
        }
    }
}

/// Division by a public number is another one than by a private one, and both are noted as what they are.
#[test]
fn division_by_a_public_number_is_noted() {
    for goal in [Goal::Size, Goal::Depth] {
        for (signed, by) in [(false, 10i128), (true, 10), (true, -7), (false, 1 << 20), (true, 300), (false, 256)] {
            let mut b = Builder::for_goal(goal);
            let x = b.input("x", 8);
            let (q, r) = match signed {
                true => arith::div_rem_signed_by(&mut b, &x, by),
                false => arith::div_rem_by(&mut b, &x, by as u128),
            };
            b.output("q", &q);
            b.output("r", &r);
            let circuit = b.finish();
            // A number that the word does not hold is no word.
            assert_eq!(circuit.notes().len(), usize::from(by.abs() < 100), "{by}");
            check(&circuit, &mut Rng(5), "by a number");
        }
        // In the way of a private one it is not noted.
        let mut b = Builder::for_goal(goal);
        let x = b.input("x", 8);
        let (q, _) = arith::div_rem(&mut b, &x, &arith::constant(10, 8));
        b.output("q", &q);
        let circuit = b.finish();
        assert!(circuit.notes().is_empty() && circuit.counts().and > 0);
    }
}
