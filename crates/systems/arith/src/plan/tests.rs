//! Plans on all shares of all operands, with a trusted party in place of what needs messages.

use comity_circuit::{Builder, Circuit, Wire, eval_circuit};
use comity_core::Bits;
use comity_library::arith;
use comity_share::ring::word_mask;

use super::{Term, WordPlan};
use crate::words::Port;

/// The shares of both parties, by slot.
type Shares = [Vec<u128>; 2];

/// A word shared anew, by what is drawn.
fn split(value: u128, draw: &mut u128) -> [u128; 2] {
    *draw = draw.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(7);
    let share = *draw ^ *draw >> 61;
    [share, value.wrapping_sub(share)]
}

fn split_bits(value: u128, draw: &mut u128) -> [u128; 2] {
    let share = split(0, draw)[0];
    [share, share ^ value]
}

/// What the parties' shares of the input words become.
fn outputs(plan: &WordPlan, ins: &Shares, draw: &mut u128) -> Vec<u128> {
    let mut slots: Shares = [0, 1].map(|party: usize| {
        let mut slots = ins[party].clone();
        slots.resize(plan.slots, 0);
        slots
    });
    fn share(slots: &Shares, party: usize, term: &Term) -> u128 {
        term.share(party == 0, |slot| slots[party][slot])
    }
    let open =
        |slots: &Shares, term: &Term| share(slots, 0, term).wrapping_add(share(slots, 1, term)) & word_mask(term.bits);
    let set = |slots: &mut Shares, out: usize, shares: [u128; 2]| {
        slots.iter_mut().zip(shares).for_each(|(slots, share)| slots[out] = share);
    };
    for layer in &plan.layers {
        let before = slots.clone();
        for factors in &layer.products {
            let product = open(&before, &factors.x).wrapping_mul(open(&before, &factors.y));
            set(&mut slots, factors.out, split(product, draw));
        }
        for matrix in &layer.matrices {
            let [x, y] =
                [&matrix.x, &matrix.y].map(|terms| terms.iter().map(|term| open(&before, term)).collect::<Vec<_>>());
            let (n, p) = (matrix.what.n as usize, matrix.what.p as usize);
            for (at, out) in matrix.outs.iter().enumerate() {
                let product = |i: usize| x[at / p * n + i].wrapping_mul(y[i * p + at % p]);
                let sum = (0..n).fold(0u128, |sum, i| sum.wrapping_add(product(i)));
                set(&mut slots, *out, split(sum, draw));
            }
        }
        for garble in &layer.garbles {
            let gates = &plan.circuits[garble.circuit];
            let words = [0, 1].iter().flat_map(|party| garble.ins.iter().map(move |term| (*party, term)));
            let bits = |(party, term): (usize, &Term)| {
                Bits::from_u128(share(&before, party, term), term.bits as usize).expect("a word")
            };
            let results = eval_circuit(&gates.circuit, &words.map(bits).collect::<Vec<_>>());
            for ((out, result), bits) in garble.outs.iter().zip(&results).zip(&gates.outs) {
                let shares = split_bits(result.to_u128().expect("a word"), draw);
                set(&mut slots, *out, shares.map(|share| share & word_mask(*bits)));
            }
        }
        for lift in &layer.lifts {
            let bits = (before[0][lift.of] ^ before[1][lift.of]) & word_mask(lift.bits);
            set(&mut slots, lift.out, split(bits, draw));
        }
        for choice in &layer.choices {
            let bit = (share(&before, 0, &choice.by) ^ share(&before, 1, &choice.by)) & 1;
            set(&mut slots, choice.out, split(bit * open(&before, &choice.word), draw));
        }
        for (local, out) in &layer.locals {
            let shares = [0, 1].map(|party| local.share(party == 0, |term| share(&slots, party, term)));
            set(&mut slots, *out, shares);
        }
    }
    plan.outs.iter().map(|(_, term)| open(&slots, term)).collect()
}

/// A plan whose two input values and whose outputs are a word each.
fn plan(circuit: &Circuit) -> WordPlan {
    let port = |value, bits| Port { value, offset: 0, skip: 0, bits };
    let ports =
        |groups: &[comity_circuit::Group]| groups.iter().enumerate().map(|(i, group)| port(i, group.bits)).collect();
    WordPlan::new(circuit, ports(circuit.inputs()), ports(circuit.outputs())).expect("all of it is on words")
}

/// Holds a plan against the circuit's gates for these values and all or some of their shares.
fn holds(name: &str, circuit: &Circuit, values: impl Iterator<Item = [u128; 2]>, splits: &[[u128; 2]]) {
    let plan = plan(circuit);
    let widths: Vec<usize> = circuit.inputs().iter().map(|group| group.bits).collect();
    let mut draw = 11;
    for value in values {
        let bits: Vec<Bits> = value.iter().zip(&widths).map(|(x, bits)| Bits::from_u128(*x, *bits).unwrap()).collect();
        let expected: Vec<u128> = eval_circuit(circuit, &bits).iter().map(|word| word.to_u128().unwrap()).collect();
        for first in splits {
            let shares = [
                first.to_vec(),
                (0..2).map(|i| value[i].wrapping_sub(first[i]) & word_mask(widths[i] as u32)).collect(),
            ];
            let found = outputs(&plan, &shares, &mut draw);
            assert_eq!(found, expected, "{name} of {value:?} as {first:?} and the rest");
        }
    }
}

type Build = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;

/// Each operation, and bits that move.
const OPERATIONS: &[(&str, Build)] = &[
    ("add", arith::add),
    ("sub", arith::sub),
    ("negate", |b, x, _| arith::negate(b, x)),
    ("not", |b, x, _| arith::not(b, x)),
    ("mul", arith::mul),
    ("dot", |b, x, y| {
        let three = arith::constant(3, x.len());
        arith::dot(b, &[x.to_vec(), y.to_vec(), x.to_vec()], &[y.to_vec(), y.to_vec(), three])
    }),
    ("matrices", |b, x, y| {
        let [x, y] = [x, y].map(<[Wire]>::to_vec);
        let product = arith::mat_mul(b, [2, 1, 2], &[x.clone(), y.clone()], &[y, x]);
        let scaled: Vec<Vec<Wire>> = product.iter().zip(0..).map(|(word, by)| arith::shl(word, by)).collect();
        scaled.into_iter().reduce(|sum, word| arith::add(b, &sum, &word)).expect("four")
    }),
    ("a column of matrices", |b, x, y| {
        let words = [x, y, y, x].map(<[Wire]>::to_vec);
        let product = arith::mat_mul(b, [2, 2, 1], &words, &words[1..3]);
        arith::sub(b, &product[0], &product[1])
    }),
    ("rounded, widened", |b, x, y| {
        let [x, y] = [x, y].map(|x| arith::padded(x, x.len() + 1));
        arith::mul_shift(b, &x, &y, 1)
    }),
    ("rounded, of both halves", |b, x, y| {
        let [x, y] = [x, y].map(|x| [x, &vec![x[x.len() - 1]; x.len()]].concat());
        arith::mul_shift(b, &x, &y, y.len() / 2)
    }),
    ("rounded, of both halves of a square", |b, x, _| {
        let wide = arith::padded(x, 2 * x.len());
        arith::mul_shift(b, &wide, &wide, x.len())
    }),
    ("a rounded lower half", |b, x, y| {
        let [x, y] = [x, y].map(|x| [x, &[x[0]]].concat());
        let rounded = arith::mul_shift(b, &x, &y, 1);
        rounded[..x.len().div_ceil(2)].to_vec()
    }),
    ("square", |b, x, _| arith::square(b, x)),
    ("mul_full", arith::mul_full),
    ("less", |b, x, y| vec![arith::lt(b, x, y)]),
    ("less or equal", |b, x, y| vec![arith::le(b, x, y)]),
    ("greater, signed", |b, x, y| vec![arith::gt_signed(b, x, y)]),
    ("at least, signed", |b, x, y| vec![arith::ge_signed(b, x, y)]),
    ("equal", |b, x, y| vec![arith::eq(b, x, y)]),
    ("not equal", |b, x, y| vec![arith::ne(b, x, y)]),
    ("equal to a part", |b, x, y| vec![arith::eq(b, x, &arith::shr(y, 1))]),
    ("min", arith::min),
    ("max, signed", arith::max_signed),
    ("div", |b, x, y| arith::div(b, x, y)),
    ("rem", |b, x, y| arith::rem(b, x, y)),
    ("div, signed", |b, x, y| arith::div_signed(b, x, y)),
    ("rem, signed", |b, x, y| arith::rem_signed(b, x, y)),
    ("both", |b, x, y| {
        let (q, r) = arith::div_rem(b, x, y);
        [q, r].concat()
    }),
    ("shl", arith::shl_by),
    ("shr", arith::shr_by),
    ("sar", arith::sar_by),
    ("rotl", arith::rotl_by),
    ("shr by one, and one more", |b, x, y| arith::add(b, &arith::shr(x, 1), y)),
    ("shr by two", |_, x, _| arith::shr(x, 2)),
    ("sar by one", |_, x, _| arith::sar(x, 1)),
    ("rotl by one", |_, x, _| arith::rotl(x, 1)),
    ("a bit", |_, x, _| vec![x[x.len() - 1]]),
    ("bits turned round", |_, x, _| x.iter().rev().copied().collect()),
    ("widened", |b, x, y| arith::add(b, &arith::padded(x, x.len() + 2), &arith::padded(y, x.len() + 2))),
    ("widened, signed", |b, x, y| {
        let wide = |word: &[Wire]| [word, &[word[word.len() - 1]; 2]].concat();
        arith::sub(b, &wide(x), &wide(y))
    }),
    ("both of two", |b, x, y| {
        let (less, odd) = (arith::lt(b, x, y), x[0]);
        let both = arith::and(b, &[less], &[odd]);
        let either = arith::or(b, &both, &[y[0]]);
        let other = arith::xor(b, &either, &[less]);
        let not = arith::not(b, &other);
        arith::mux(b, not[0], x, y)
    }),
    ("an inverted bit, widened", |b, x, y| {
        let differ = arith::ne(b, x, y);
        let zeros = vec![Wire::ZERO; x.len() - 1];
        arith::add(b, &[&[differ], &zeros[..]].concat(), x)
    }),
    ("chosen constants", |b, x, y| {
        let less = arith::lt(b, x, y);
        arith::mux(b, less, &arith::constant(5, x.len()), &arith::constant(2, x.len()))
    }),
];

fn circuit(k: usize, build: Build) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", k), b.input("y", k));
    let out = build(&mut b, &x, &y);
    b.output("out", &out);
    b.finish()
}

/// All operands of words of up to three bits in all shares, of four and five bits in some.
#[test]
fn each_operation_is_what_its_gates_are() {
    for (name, build) in OPERATIONS {
        for k in 1..=5usize {
            // Whether two bits differ is their sum, which is no note.
            if (*name, k) == ("not equal", 1) {
                continue;
            }
            let circuit = circuit(k, *build);
            let n = 1u128 << k;
            let some = [[0, 0], [1, n - 1], [n - 1, 1], [n / 2, n / 2], [n / 3, n / 5]];
            let all: Vec<[u128; 2]> = (0..n * n).map(|i| [i % n, i / n]).collect();
            let splits = if k <= 3 { &all[..] } else { &some };
            holds(name, &circuit, all.iter().copied(), splits);
        }
    }
}

/// Extremes and others at widths up to 128.
#[test]
fn each_operation_at_large_widths() {
    for (name, build) in OPERATIONS {
        for k in [7, 8, 31, 32, 33, 63, 64, 65, 127, 128] {
            // Where a result is twice as wide, and two bits wider.
            let twice = ["mul_full", "both"].contains(name) || name.contains("of both halves");
            let more = name.contains("widened") || name.contains("rounded");
            let wide = twice && k > 64 || more && k > 126;
            if wide && !name.contains("inverted") {
                continue;
            }
            let circuit = circuit(k, *build);
            let (mask, top) = (word_mask(k as u32), 1u128 << (k - 1));
            let mut draw = k as u128;
            let mut next = || split(0, &mut draw)[0] & mask;
            let mut values = vec![[0, 0], [mask, mask], [top, mask], [mask, 1], [0, mask], [top, 3], [top - 1, top]];
            values.extend([[mask, 0], [5, k as u128], [mask, k as u128 - 1], [next(), 7], [next(), next() >> (k / 2)]]);
            values.extend((0..4).map(|_| [next(), next()]));
            let splits = [[0, 0], [mask, mask], [top, 1], [next(), next()]];
            holds(name, &circuit, values.into_iter(), &splits);
        }
    }
}

/// All public divisors of words of up to five bits, and some of wide ones.
#[test]
fn division_by_public_numbers() {
    let divided = |k: usize, by: u128| {
        let mut b = Builder::new();
        let (x, _) = (b.input("x", k), b.input("y", 1));
        let (quotient, rest) = arith::div_rem_by(&mut b, &x, by);
        b.output("quotient", &quotient);
        b.output("rest", &rest);
        b.finish()
    };
    for k in 1..=5usize {
        let n = 1u128 << k;
        let splits: Vec<[u128; 2]> = (0..n).map(|share| [share, 0]).collect();
        for by in 1..2 * n {
            holds("a quotient", &divided(k, by), (0..n).map(|x| [x, 0]), &splits);
        }
    }
    for k in [31, 32, 64, 65, 127, 128] {
        let (mask, top) = (word_mask(k as u32), 1u128 << (k - 1));
        for by in [1, 2, 3, 7, 10, 1000, top - 1, top, top + 1, mask - 1, mask] {
            let mut draw = by ^ k as u128;
            let mut next = || split(0, &mut draw)[0] & mask;
            let mut values = vec![[0, 0], [mask, 0], [top, 0], [by, 0], [by - 1, 0], [by.wrapping_mul(3) & mask, 0]];
            values.extend((0..4).map(|_| [next(), 0]));
            let splits = [[0, 0], [mask, 0], [1, 0], [top, 0], [next(), 0]];
            holds("a quotient", &divided(k, by), values.into_iter(), &splits);
        }
    }
}
