//! The form for depth is equal to the form for size, by the plain evaluator: for all inputs where these are
//! few, else for random ones and for those at the edges.

use comity_circuit::{Circuit, Goal, Program, eval_many};
use comity_core::Bits;

use crate::counts::names;
use crate::{Random, evaluate};

/// The bits of all inputs together up to which all are tried.
const FEW: usize = 12;
/// The ANDs above which a program is left out: others do the same in fewer turns.
const LARGE: u64 = 120_000;

/// Holds two circuits of the same inputs against each other.
pub(crate) fn equal(name: &str, size: &Circuit, depth: &Circuit) {
    assert_eq!((size.inputs(), size.outputs()), (depth.inputs(), depth.outputs()));
    let bits = size.input_bits();
    let batches = if bits <= FEW { (1usize << bits).div_ceil(64) } else { 8 };
    let mut random = Random(19);
    for batch in 0..batches {
        let inputs: Vec<u64> = match bits <= FEW {
            true => {
                (0..bits).map(|i| (0..64).fold(0, |word, k| word | ((64 * batch + k) as u64 >> i & 1) << k)).collect()
            }
            false => size.inputs().iter().flat_map(|group| value(&mut random, group.bits)).collect(),
        };
        let (wanted, got) = (evaluate(size, &inputs), evaluate(depth, &inputs));
        for (i, (wanted, got)) in wanted.into_iter().zip(got).enumerate() {
            if let Some(k) = (0..64).find(|k| (wanted ^ got) >> k & 1 == 1) {
                let input: String = inputs.iter().map(|word| if word >> k & 1 == 1 { '1' } else { '0' }).collect();
                panic!("{name}: output bit {i} of the form for depth differs; input bits {input}");
            }
        }
    }
}

/// The bits of a value in 64 instances: random in most, or of a random number of bits, or one of the edges. A
/// quarter has the same values for the same width, so that there are equal operands.
fn value(random: &mut Random, bits: usize) -> Vec<u64> {
    let mut words = vec![0; bits];
    for k in 0..64 {
        let mut own = Random(if k < 16 { k } else { random.next() });
        let (kind, width) = (own.next() % 8, 1 + own.next() as usize % bits.max(1));
        for (i, word) in words.iter_mut().enumerate() {
            let bit = match kind {
                0 => i + 1 == width,
                1 => i < width,
                2 => i >= width,
                3 | 4 => i < width && own.next() & 1 == 1,
                _ => own.next() & 1 == 1,
            };
            *word |= u64::from(bit) << k;
        }
    }
    words
}

/// The same for programs, in a few instances. Those of modular arithmetic ask for operands below the modulus, and have
/// tests of their own.
fn equal_programs(name: &str) {
    if name.starts_with("mod") {
        return;
    }
    let [size, depth] = [Goal::Size, Goal::Depth].map(|goal| comity_library::program_for(name, goal).expect(name));
    assert_eq!((size.goal(), depth.goal()), (Goal::Size, Goal::Depth));
    if size.and_gates() > LARGE {
        return;
    }
    assert!(depth.totals().and_depth <= size.totals().and_depth, "{name} is deeper for depth");
    if let ([size], [depth]) = (size.circuits(), depth.circuits()) {
        return equal(name, size, depth);
    }
    let mut random = Random(20);
    let columns: Vec<Vec<u64>> = size.inputs().iter().map(|input| value(&mut random, input.bits)).collect();
    let instance = |k: usize| -> Vec<Bits> {
        columns.iter().map(|words| words.iter().map(|word| word >> k & 1 == 1).collect()).collect()
    };
    let inputs: Vec<Vec<Bits>> = (0..64).step_by(3).map(instance).collect();
    let run = |program: &Program| eval_many(program, &inputs).expect("the inputs fit");
    assert_eq!(run(&size), run(&depth), "{name}");
}

#[test]
fn all_built_ins_of_small_sizes_have_equal_forms() {
    for entry in comity_library::names() {
        for size in 1..=9usize {
            let number = |capital| match capital {
                'N' => size,
                'W' => 1 + size * 5 % 7,
                _ => 1 + size / 2,
            };
            let name: String = (entry.pattern.chars())
                .map(|c| if matches!(c, 'N' | 'W' | 'K') { number(c).to_string() } else { c.to_string() })
                .collect();
            equal_programs(&name);
            if entry.limits.is_empty() {
                break;
            }
        }
    }
}

#[test]
fn the_built_ins_of_the_table_have_equal_forms() {
    names().for_each(equal_programs);
}
