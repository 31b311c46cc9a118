//! Notes of circuits: forged, moved, widened, of another goal.

use comity_circuit::random::Rng;
use comity_circuit::{ArgBit, Builder, Circuit, Goal, LookupTable, Note, Wire, WordOp};
use comity_library::{arith, gadget, lookup};

/// Bytes that say what to build and what to change; zeros behind the end.
struct Script<'a>(std::slice::Iter<'a, u8>);

impl Script<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % n
    }
}

/// A circuit of some operations on words, and changes to its notes: the circuit's own notes are true, and
/// those that are let pass are so on random inputs.
pub(crate) fn notes(data: &[u8]) {
    let mut script = Script(data.iter());
    let circuit = build(&mut script);
    let again = circuit.clone().without_notes().with_notes(circuit.notes().to_vec(), gadget);
    assert!(again.as_ref() == Ok(&circuit), "{again:?} from {:?}", circuit.notes());
    let mut forged = circuit.notes().to_vec();
    for _ in 0..1 + script.below(3) {
        change(&mut script, &mut forged, &circuit);
    }
    if let Ok(forged) = circuit.without_notes().with_notes(forged, gadget) {
        let mut rng = Rng(data.len() as u64);
        for _ in 0..8 {
            assert_eq!(forged.false_note(&mut rng), None, "{:?}", forged.notes());
        }
    }
}

fn build(script: &mut Script<'_>) -> Circuit {
    let mut b = Builder::for_goal([Goal::Size, Goal::Depth][script.below(2)]);
    let width = 1 + script.below(9);
    let mut words: Vec<Vec<Wire>> = (0..2).map(|_| b.input("x", width)).collect();
    words.push(arith::constant(script.below(256) as u128, width));
    for _ in 0..1 + script.below(5) {
        let [x, y, z] = [(); 3].map(|()| words[script.below(words.len())].clone());
        let b = &mut b;
        words.push(match script.below(23) {
            0 => arith::add(b, &x, &y),
            1 => arith::sub(b, &x, &y),
            2 => arith::negate(b, &x),
            3 => arith::mul(b, &x, &y),
            4 => arith::mul_full(b, &x, &y)[width / 2..][..width].to_vec(),
            5 => arith::square(b, &x),
            6 => arith::div(b, &x, &y),
            7 => arith::div_rem(b, &x, &y).1,
            8 => arith::div_rem_signed(b, &x, &y).0,
            9 => arith::div_rem_by(b, &x, 1 + script.below(20) as u128).1,
            10 => {
                let less = arith::le_signed(b, &x, &y);
                arith::mux(b, less, &z, &y)
            }
            11 => {
                let equal = arith::eq(b, &x, &y);
                arith::mux(b, equal, &z, &x)
            }
            12 => arith::shl_by(b, &x, &y),
            13 => arith::sar_by(b, &x, &y),
            14 => arith::rotl_by(b, &x, &y),
            15 => arith::xor(b, &x, &y),
            16 => arith::or(b, &x, &y),
            17 => arith::not(b, &x),
            18 => {
                let table = LookupTable::new(1, 2, vec![1, 2]).expect("two rows");
                lookup(b, &table, &x[..1]).into_iter().chain(y).take(width).collect()
            }
            19 => arith::shl(&x, script.below(width)),
            20 => arith::dot(b, &[x.clone(), z], &[y, x]),
            21 => arith::mat_mul(b, [2, 1, 2], &[x.clone(), z], &[y, x]).swap_remove(script.below(4)),
            _ => {
                let fraction = 1 + script.below(width);
                let [x, y] = [x, y].map(|x| [&x[..], &vec![x[width - 1]; fraction]].concat());
                arith::mul_shift(b, &x, &y, fraction)
            }
        });
    }
    let (from, of) = (script.below(width), words.len() - 1 - script.below(2));
    b.output("y", &words[of][from..]);
    b.finish()
}

fn change(script: &mut Script<'_>, notes: &mut Vec<Note>, circuit: &Circuit) {
    let wires = circuit.first_gate_wire() + circuit.gates().len();
    let wire = |script: &mut Script<'_>| (script.below(256) * 256 + script.below(256)) as u32 % (wires as u32 + 1);
    if notes.is_empty() {
        let args = vec![vec![ArgBit::Wire(wire(script))]; 2];
        let (op, outs, pin) = (WordOp::Xor, vec![Some(wire(script))], Default::default());
        notes.push(Note { op, goal: Goal::Size, pin, line: 0, at: 0, args, outs });
        return;
    }
    let index = script.below(notes.len());
    let note = &mut notes[index];
    let bits = note.args[0].len().max(1);
    match script.below(14) {
        0 => note.goal = [Goal::Size, Goal::Depth][script.below(2)],
        1 => note.at = wire(script),
        2 => {
            let ops = [WordOp::Add, WordOp::Sub, WordOp::Mul, WordOp::And, WordOp::Or, WordOp::Xor];
            note.op = ops[script.below(ops.len())].clone();
        }
        3 => {
            let signed = script.below(2) == 1;
            let ops = [WordOp::Less { signed, or_equal: script.below(2) == 1 }, WordOp::Div { signed }, WordOp::Equal];
            note.op = ops[script.below(ops.len())].clone();
        }
        // A bit more, and a bit less, at an end.
        4 => {
            let bit = ArgBit::Wire(wire(script) % 2);
            let top = script.below(2) == 1;
            note.args.iter_mut().for_each(|word| word.insert(if top { word.len() } else { 0 }, bit));
            note.outs.insert(if top { note.outs.len() } else { 0 }, Some(wire(script) % 2));
        }
        5 => {
            note.args.iter_mut().for_each(|word| word.truncate(bits - 1));
            note.outs.truncate(bits - 1);
        }
        6 => {
            let word = script.below(note.args.len());
            let bit = ArgBit::Wire(wire(script));
            let at = script.below(bits);
            if let Some(place) = note.args[word].get_mut(at) {
                *place = bit;
            }
        }
        7 => {
            let bit = match script.below(2) {
                0 => ArgBit::Gone(script.below(4) as u32),
                _ => ArgBit::Result { note: script.below(4) as u32, bit: script.below(16) as u32 },
            };
            let at = script.below(bits);
            if let Some(place) = note.args[0].get_mut(at) {
                *place = bit;
            }
        }
        8 if !note.outs.is_empty() => {
            let at = script.below(note.outs.len());
            note.outs[at] = [None, Some(wire(script))][script.below(2)];
        }
        9 if note.outs.len() > 1 => {
            let (a, b) = (script.below(note.outs.len()), script.below(note.outs.len()));
            note.outs.swap(a, b);
        }
        10 if note.args.len() > 1 => note.args.swap(0, 1),
        11 => {
            let again = note.clone();
            notes.push(again);
        }
        12 => drop(notes.remove(index)),
        _ => {
            let ops = [
                WordOp::Dot { n: 1 },
                WordOp::MatMul { m: 1, n: 1, p: 1 },
                WordOp::MulShift { fraction: 1 },
                WordOp::MatMul { m: 1, n: 1, p: 3 },
            ];
            note.op = ops[script.below(ops.len())].clone();
        }
    }
}

/// What builds different circuits, and one of each change.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    vec![
        ("notes", "a_sum_forged", vec![0, 7, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 1]),
        ("notes", "a_product_for_depth_of_another_goal", vec![1, 7, 5, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0]),
        ("notes", "a_quotient_moved", vec![0, 5, 3, 2, 0, 1, 0, 6, 3, 1, 0, 0, 0, 0, 0, 1, 0, 9]),
        ("notes", "a_choice_widened", vec![0, 5, 3, 1, 0, 1, 0, 10, 3, 2, 0, 1, 0, 0, 0, 1, 4, 1, 1]),
        ("notes", "a_dot_product_of_other_pairs", vec![0, 7, 5, 0, 0, 1, 2, 20, 0, 0, 0, 0, 10]),
        ("notes", "a_product_of_matrices_of_another_shape", vec![0, 4, 3, 0, 0, 1, 2, 21, 2, 0, 0, 0, 0, 13, 3]),
        (
            "notes",
            "a_rounded_product_for_depth_of_other_bits",
            vec![1, 7, 5, 0, 0, 1, 0, 22, 3, 0, 0, 0, 0, 6, 1, 0, 3, 9],
        ),
        ("notes", "a_result_that_is_gone", vec![1, 8, 9, 3, 0, 1, 0, 3, 3, 1, 0, 0, 4, 2, 1, 15, 6, 0, 0, 7, 1, 0, 3]),
    ]
}
