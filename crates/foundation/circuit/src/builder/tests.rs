use proptest::prelude::*;

use super::*;

/// Column `i` of the truth table of six variables.
const TABLE: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The truth table of each output of a circuit of at most six input bits.
fn tables(circuit: &Circuit) -> Vec<u64> {
    let mut wires = vec![0, u64::MAX];
    wires.extend(&TABLE[..circuit.input_bits()]);
    for gate in circuit.gates() {
        let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
        wires.push(match gate.op {
            Op::Xor => a ^ b,
            Op::And => a & b,
        });
    }
    circuit.output_wires().iter().map(|&w| wires[w as usize]).collect()
}

/// The truth table and the counts of what `build` makes of two inputs.
fn two(build: impl Fn(&mut Builder, Wire, Wire) -> Wire) -> (u64, crate::circuit::Counts) {
    let mut b = Builder::new();
    let x = b.input("x", 2);
    let z = build(&mut b, x[0], x[1]);
    b.output("z", &[z]);
    let circuit = b.finish();
    (tables(&circuit)[0] & 0xf, circuit.counts())
}

#[test]
fn helpers_compute_what_they_are_called_at_the_stated_cost() {
    type Case = (fn(&mut Builder, Wire, Wire) -> Wire, u64, [u64; 3]);
    let cases: [Case; 8] = [
        (|b, x, y| b.xor(x, y), 0b0110, [0, 1, 0]),
        (|b, x, y| b.and(x, y), 0b1000, [1, 0, 0]),
        (|b, x, _| b.not(x), 0b0101, [0, 0, 1]),
        (|b, x, y| b.or(x, y), 0b1110, [1, 0, 3]),
        (|b, x, y| b.xnor(x, y), 0b1001, [0, 1, 1]),
        (|b, x, y| b.nand(x, y), 0b0111, [1, 0, 1]),
        (|b, x, y| b.nor(x, y), 0b0001, [1, 0, 2]),
        (|b, x, y| b.mux(x, y, Wire::ZERO), 0b1000, [1, 0, 0]),
    ];
    for (i, (build, table, cost)) in cases.into_iter().enumerate() {
        let (got, counts) = two(build);
        assert_eq!(got, table, "case {i}");
        assert_eq!([counts.and, counts.xor, counts.not], cost, "case {i}");
    }
}

#[test]
fn an_or_shares_the_and_of_its_operands() {
    for either_first in [false, true] {
        let (_, counts) = two(|b, x, y| {
            let build: [fn(&mut Builder, Wire, Wire) -> Wire; 2] = [Builder::and, Builder::or];
            let [first, second] = if either_first { [1, 0] } else { [0, 1] };
            let (first, second) = (build[first](b, x, y), build[second](b, x, y));
            b.xor(first, second)
        });
        assert_eq!((counts.and, counts.xor), (0, 1), "x & y ^ (x | y) is x ^ y");
    }
}

#[test]
fn mux_selects() {
    let mut b = Builder::new();
    let x = b.input("s, a, b", 3);
    let z = b.mux(x[0], x[1], x[2]);
    b.output("z", &[z]);
    let circuit = b.finish();
    assert_eq!(tables(&circuit), [TABLE[0] & TABLE[1] | !TABLE[0] & TABLE[2]]);
    assert_eq!((circuit.counts().and, circuit.counts().xor), (1, 2));
}

#[test]
fn constants_and_repetitions_fold_away() {
    let mut b = Builder::new();
    let x = b.input("x", 1)[0];
    let n = b.not(x);
    assert_eq!(b.gates(), 1);
    assert_eq!(b.not(n), x);
    for (got, want) in [
        (b.xor(x, x), Wire::ZERO),
        (b.xor(x, n), Wire::ONE),
        (b.xor(n, n), Wire::ZERO),
        (b.xor(x, Wire::ZERO), x),
        (b.xor(Wire::ONE, x), n),
        (b.and(x, x), x),
        (b.and(n, n), n),
        (b.and(n, x), Wire::ZERO),
        (b.and(x, Wire::ZERO), Wire::ZERO),
        (b.and(Wire::ONE, n), n),
        (b.or(x, n), Wire::ONE),
        (b.mux(Wire::ONE, x, n), x),
        (b.mux(Wire::ZERO, x, n), n),
        (b.mux(n, x, x), x),
        (b.not(Wire::ZERO), Wire::ONE),
    ] {
        assert_eq!(got, want);
    }
    assert_eq!(b.gates(), 1);
}

#[test]
fn all_signs_of_a_conjunction_share_one_and() {
    let mut b = Builder::new();
    let x = b.input("x", 2);
    let n = [b.not(x[0]), b.not(x[1])];
    let pairs = [(n[0], x[1]), (x[0], x[1]), (x[1], x[0]), (x[0], n[1]), (n[0], n[1])];
    let outputs = pairs.map(|(p, q)| b.and(p, q));
    assert_eq!(outputs[1], outputs[2]);
    b.output("z", &outputs);
    let circuit = b.finish();
    assert_eq!(tables(&circuit).iter().map(|t| t & 0xf).collect::<Vec<_>>(), [4, 8, 8, 2, 1]);
    assert_eq!(circuit.counts().and, 1);
}

#[test]
fn gates_are_shared_however_many_there_are() {
    let circuit = crate::random::Rng(1).circuit(&[50], 20_000, 1_000, &[200]);
    let mut b = Builder::new();
    let x = b.input("x", 50);
    let once = b.call(&circuit, std::slice::from_ref(&x));
    let gates = b.gates();
    assert!(gates > 10_000);
    assert_eq!(b.call(&circuit, &[x]), once);
    assert_eq!(b.gates(), gates);
}

#[test]
fn gates_are_shared_however_many_read_one_wire() {
    let mut b = Builder::new();
    let x = b.input("x", 5_000);
    let y = b.xor(x[0], x[1]);
    // The hub comes after all that it is combined with, and with the NOTs before some of it.
    for with in [x[2], y] {
        let once: Vec<Wire> = x[3..].iter().map(|&x| b.and(with, x)).collect();
        let negated: Vec<Wire> = x[3..].iter().map(|&x| b.not(x)).collect();
        let gates = b.gates();
        assert_eq!(x[3..].iter().map(|&x| b.and(x, with)).collect::<Vec<_>>(), once);
        for ((x, negated), and) in x[3..].iter().zip(negated).zip(once) {
            assert_eq!(b.not(*x), negated);
            assert_eq!(b.and(and, negated), Wire::ZERO);
        }
        assert_eq!(b.gates(), gates);
    }
    assert_eq!(b.gates(), 1 + 3 * 4_997);
}

#[test]
fn golden_digests_pin_what_is_built() {
    // If this fails, programs of the old builder do not run against the new one, and all published counts are due.
    let mut hasher = blake3::Hasher::new();
    for (gates, reach) in [(30_000, 300), (30_000, 20_000), (10_000, 5)] {
        let circuit = crate::random::Rng(4).circuit(&[50, 500], gates, reach, &[200]);
        let mut b = Builder::new();
        let inputs: Vec<Vec<Wire>> = circuit.inputs().iter().map(|group| b.input("x", group.bits)).collect();
        for value in b.call(&circuit, &inputs) {
            b.output("y", &value);
        }
        let built = b.finish();
        let gates = built.gates().iter().flat_map(|g| [u32::from(g.op == Op::And), g.a, g.b]);
        for number in gates.chain(built.output_wires().iter().copied()) {
            hasher.update(&number.to_le_bytes());
        }
    }
    assert_eq!(hasher.finalize().to_hex().as_str(), "6ea2812d6fcccfb529aedd693cba49412a7690506d6843abe30950ee082b9961");
}

#[test]
fn sums_cancel_and_conjunctions_absorb() {
    let mut b = Builder::new();
    let x = b.input("x", 3);
    let sum = b.xor(x[0], x[1]);
    assert_eq!(b.xor(sum, x[0]), x[1]);
    assert_eq!(b.xor(x[1], sum), x[0]);
    let negated = b.not(x[0]);
    let complement = b.xor(negated, sum);
    assert_eq!(b.not(complement), x[1]);
    let both = b.and(x[0], x[2]);
    assert_eq!(b.and(x[2], both), both);
    assert_eq!(b.and(both, negated), Wire::ZERO);
}

#[test]
fn a_sum_of_negations_needs_none() {
    let (table, counts) = two(|b, x, y| {
        let (x, y) = (b.not(x), b.not(y));
        b.xor(x, y)
    });
    assert_eq!((table, counts.xor, counts.not), (0b0110, 1, 0));
}

#[test]
fn finish_keeps_what_outputs_need_in_order() {
    let mut b = Builder::new();
    let x = b.input("x", 3);
    let kept = b.and(x[0], x[1]);
    let dead = b.and(x[1], x[2]);
    let _ = b.xor(dead, x[0]);
    let last = b.xor(kept, x[2]);
    b.output("z", &[last, Wire::ONE, x[0]]);
    assert_eq!(b.gates(), 4);
    let circuit = b.finish();
    assert_eq!(circuit.gates(), [Gate { op: Op::And, a: 2, b: 3 }, Gate { op: Op::Xor, a: 4, b: 5 }]);
    assert_eq!(circuit.output_wires(), [6, 1, 2]);
}

#[test]
fn call_inlines_a_circuit() {
    let mut inner = Builder::new();
    let (x, y) = (inner.input("x", 1), inner.input("y", 2));
    let z = [inner.and(x[0], y[0]), inner.xor(x[0], y[1])];
    inner.output("and", &z[..1]);
    inner.output("xor", &z[1..]);
    inner.output("one", &[Wire::ONE]);
    let inner = inner.finish();

    let mut b = Builder::new();
    let x = b.input("x", 2);
    let first = b.call(&inner, &[vec![x[0]], vec![x[1], Wire::ONE]]);
    let again = b.call(&inner, &[vec![x[0]], vec![x[1], Wire::ONE]]);
    assert_eq!(first, again);
    assert_eq!(first[2], [Wire::ONE]);
    b.output("z", &[first[0][0], first[1][0]]);
    let circuit = b.finish();
    assert_eq!(tables(&circuit), [TABLE[0] & TABLE[1], !TABLE[0]]);
    assert_eq!(circuit.gates().len(), 2);
}

#[test]
#[should_panic(expected = "widths")]
fn call_refuses_arguments_that_do_not_fit() {
    let mut inner = Builder::new();
    inner.input("x", 2);
    let inner = inner.finish();
    Builder::new().call(&inner, &[vec![Wire::ONE]]);
}

#[test]
#[should_panic(expected = "inputs come before gates")]
fn inputs_come_first() {
    let mut b = Builder::new();
    let x = b.input("x", 2);
    b.and(x[0], x[1]);
    b.input("y", 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every wire that the builder returns has the truth table of what was asked for, and the finished circuit too.
    #[test]
    fn random_circuits_keep_their_truth_table(steps in prop::collection::vec((0u8..8, any::<u16>(), any::<u16>(), any::<u16>()), 0..300)) {
        let mut b = Builder::new();
        let mut wires = vec![(Wire::ZERO, 0), (Wire::ONE, u64::MAX)];
        wires.extend(b.input("x", 6).into_iter().zip(TABLE));
        for (op, i, j, k) in steps {
            // Mostly recent wires, so that the circuits get deep and foldable patterns come up.
            let pick = |at: u16| wires[wires.len() - 1 - at as usize % wires.len().min(12)];
            let ((x, tx), (y, ty), (z, tz)) = (pick(i), pick(j), pick(k));
            let ones = u64::MAX;
            wires.push(match op {
                0 | 1 => (b.and(x, y), tx & ty),
                2 => (b.xor(x, y), tx ^ ty),
                3 => (b.not(x), tx ^ ones),
                4 => (b.or(x, y), tx | ty),
                5 => (b.mux(x, y, z), tx & ty | (tx ^ ones) & tz),
                6 => (b.nand(x, y), (tx & ty) ^ ones),
                _ => (b.xnor(x, y), tx ^ ty ^ ones),
            });
        }
        let outputs: Vec<Wire> = wires.iter().map(|w| w.0).collect();
        b.output("all", &outputs);
        let built = b.gates();
        let circuit = b.finish();
        prop_assert!(circuit.gates().len() <= built);
        prop_assert_eq!(tables(&circuit), wires.iter().map(|w| w.1).collect::<Vec<_>>());
        let mut gates: Vec<_> = circuit.gates().iter().map(|g| (g.op as u8, g.a, g.b)).collect();
        gates.sort_unstable();
        gates.dedup();
        prop_assert_eq!(gates.len(), circuit.gates().len(), "equal gates are shared");
    }
}
