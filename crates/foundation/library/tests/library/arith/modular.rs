//! Arithmetic modulo a secret number.

use comity_library::arith;

use comity_circuit::Goal;

use crate::{Random, circuit_for, run};

#[test]
fn modular_sums_differences_and_products() {
    // Where an operand is not less than the modulus, the result is anything: the two forms need not agree.
    let widths = [1, 2, 3, 4, 5, 8, 13, 31, 32, 63].into_iter();
    for (n, goal) in widths.flat_map(|n| [(n, Goal::Size), (n, Goal::Depth)]) {
        let c = circuit_for(goal, [n, n, n], |b, [x, y, m]| {
            vec![arith::add_mod(b, x, y, m), arith::sub_mod(b, x, y, m), arith::mul_mod(b, x, y, m)]
        });
        let mut random = Random(n as u64);
        for _ in 0..16 {
            let (mut x, mut y, m) = (random.words(n), random.words(n), random.words(n).map(|m| m.max(1)));
            for k in 0..64 {
                x[k] %= m[k];
                y[k] %= m[k];
            }
            let out = run(&c, &[x, y, m]);
            for k in 0..64 {
                let (x, y, m) = (x[k], y[k], m[k]);
                let want = [(x + y) % m, (m + x - y) % m, x * y % m];
                assert_eq!([out[0][k], out[1][k], out[2][k]], want, "{x}, {y} modulo {m} in {n} bits");
            }
        }
    }
}

#[test]
fn modular_operations_cost_what_they_say() {
    for n in [2, 8, 32, 64] {
        let ands =
            |build: fn(&mut comity_circuit::Builder, [&[comity_circuit::Wire]; 3]) -> Vec<comity_circuit::Wire>| {
                circuit_for(Goal::Size, [n, n, n], |b, words| vec![build(b, words)]).counts().and as usize
            };
        assert_eq!(ands(|b, [x, y, m]| arith::add_mod(b, x, y, m)), 3 * n);
        assert_eq!(ands(|b, [x, y, m]| arith::sub_mod(b, x, y, m)), 3 * n - 1);
        let product = ands(|b, [x, y, _]| arith::mul_full(b, x, y));
        assert!(ands(|b, [x, y, m]| arith::mul_mod(b, x, y, m)) <= product + n * n + 4 * n);
    }
}
