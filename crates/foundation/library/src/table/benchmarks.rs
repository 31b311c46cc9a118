//! The functions that papers measure, by the names that they go by.
//!
//! Those of Wang, Malozemoff and Katz ("Faster Secure Two-Party Computation in the Single-Execution Setting", 2017,
//! table 8): `cmp16384`, `sum128`, `mult128`, `modexp1024` and the like; the sorting ones are among the arrays. Party 0
//! gives the first value and party 1 the second one, of N bits each, and both learn the result. They are programs of
//! repeated small calls.
//!
//! **What the paper's `cmp` computes.** It counts 16,383 ANDs for 16,384 bits. Whether a < b has, as a
//! polynomial in the bits of two n-bit numbers, the degree n + 1: n ANDs are needed, and `lt16384` takes
//! 16,384. One less is what the sign of the difference modulo 2^n costs, whose top bit makes no carry:
//! whether a < b as signed numbers, if a - b has no more than n bits, so for numbers of n - 1 bits. That is
//! `cmpN`; for all numbers of n bits there are `ltN` and `sltN`.
//!
//! **Exponentiation.** The paper has two inputs of 1,024 bits, so its modulus is fixed. Here the modulus is a third
//! value, secret too, and given by the party of the exponent: as in RSA, whose private key they are.

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Register, Wire};

use super::{fixed, sized, value};
use crate::arith::{self, wide};
use crate::entry::{Build, Entry, Size, Value, Width};

/// The widest words of a ripple.
const RIPPLE: usize = 1 << 24;
/// The widest factors, and the widest numbers of an exponentiation.
const WIDE: usize = 16_384;

const PAIR: &[Value] = &[value("a", Width::N), value("b", Width::N)];

pub(super) const ENTRIES: &[Entry] = &[
    sized(
        ("cmpN", &[RIPPLE]),
        "the sign of a - b: whether a < b, signed, if the difference fits N bits (WMK17)",
        PAIR,
        &[fixed("less", 1)],
        Build::Program(|goal, Size { n, .. }| ripple(goal, "less", n, false)),
    ),
    sized(
        ("sumN", &[RIPPLE]),
        "a + b modulo 2^N, a few bits at a time (WMK17)",
        PAIR,
        &[value("sum", Width::N)],
        Build::Program(|goal, Size { n, .. }| ripple(goal, "sum", n, true)),
    ),
    sized(
        ("multN", &[WIDE]),
        "a * b modulo 2^N, in small calls (WMK17)",
        PAIR,
        &[value("product", Width::N)],
        Build::Program(|goal, Size { n, .. }| wide::product(goal, n)),
    ),
    sized(
        ("modexpN", &[WIDE]),
        "base^exponent modulo an odd modulus; 0 for an even one (WMK17)",
        &[value("base", Width::N), value("exponent", Width::N), value("modulus", Width::N)],
        &[value("result", Width::N)],
        Build::Program(|goal, Size { n, .. }| wide::modexp(goal, n)),
    ),
];

/// The number of bits that one call takes: for size few, since a ripple is the same in one call or many.
fn chunk(goal: Goal) -> u64 {
    match goal {
        Goal::Size => 64,
        Goal::Depth => 1 << 16,
    }
}

/// A program of `a + b`, or of the top bit of `a - b`. The carry goes from call to call; the top bit makes none.
fn ripple(goal: Goal, name: &'static str, n: usize, add: bool) -> Program {
    let (n, chunk) = (n as u64, chunk(goal));
    let mut p = ProgramBuilder::for_goal(name, goal);
    let (a, b) = (p.input("a", 0, n), p.input("b", 1, n));
    let (carry, result) = (p.register(1), p.register(if add { n } else { 1 }));
    let calls = (n - 1) / chunk;
    let moving = |word: Register, turn| word.slice(0, chunk).span().moving(turn, chunk as i64);
    if calls > 0 {
        let step = p.circuit(step(p.builder(), chunk as usize, add, false));
        p.repeat(calls, |p, turn| {
            let mut outs = vec![carry.span()];
            if add {
                outs.push(moving(result, turn));
            }
            p.call(step, &[moving(a, turn), moving(b, turn), carry.span()], &outs);
        });
    }
    let (from, rest) = (calls * chunk, n - calls * chunk);
    let last = p.circuit(step(p.builder(), rest as usize, add, true));
    let to = if add { result.slice(from, rest) } else { result };
    p.call(last, &[a.slice(from, rest).span(), b.slice(from, rest).span(), carry.span()], &[to.span()]);
    p.reveal(name, Recipients::All, result);
    p.finish().expect("a loop over words that are there")
}

/// The circuit of a call: the carry or borrow out and, for a sum, the bits; of the last call the bits or the
/// top one only.
fn step(mut b: Builder, bits: usize, add: bool, last: bool) -> comity_circuit::Circuit {
    let [x, y, carry] = [("a", bits), ("b", bits), ("carry", 1)].map(|(name, bits)| b.input(name, bits));
    let ripple = if add { arith::add_carry } else { arith::sub_borrow };
    let (word, over): (Vec<Wire>, Wire) = ripple(&mut b, &x, &y, carry[0]);
    if !last {
        b.output("carry", &[over]);
    }
    match (add, last) {
        (true, _) => b.output("sum", &word),
        (false, true) => b.output("sign", &word[bits - 1..]),
        (false, false) => {}
    }
    b.finish()
}
