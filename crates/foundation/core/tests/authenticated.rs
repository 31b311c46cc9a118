//! Authenticated garbling: every backend against the formulas, and what is evaluated against the tape on plain bits.

use std::collections::HashSet;

use comity_core::{Aes128, AuthEvaluator, AuthGarbler, Backend, Block, Cursor, Prg, Starts, Tape};

use crate::backends;
use crate::gates::{plain, random_tape, widths};

const FIRST: Block = Block::from_u128(7 << 90);

/// A random sharing of `bit R`: the garbler's part and the evaluator's, in whose bits 0 is a sharing of the bit.
fn share(bit: bool, delta: Block, prg: &mut Prg) -> [Block; 2] {
    let garblers = prg.block();
    [garblers, garblers ^ delta.masked(bit)]
}

/// The masks of a tape's AND gates: of both inputs, and the output's with the product.
struct Masks {
    terms: [Vec<Block>; 2],
}

/// Walks the tape over masks, `masks` being those of the slots, and deals the terms of the two parties, part by part.
fn deal(tape: &Tape, masks: &mut [bool], delta: Block, prg: &mut Prg) -> Vec<Masks> {
    (masks[0], masks[1]) = (false, true);
    let (mut cursor, mut parts) = (Cursor::default(), Vec::new());
    while let Some(part) = cursor.advance(tape, 400) {
        let mut bits = [const { Vec::new() }; 3];
        for (xors, ands) in part.gates() {
            for gate in xors {
                masks[gate.out()] = masks[gate.a()] ^ masks[gate.b()];
            }
            let outs: Vec<bool> = ands.iter().map(|_| prg.block().lsb()).collect();
            for (gate, &out) in ands.iter().zip(&outs) {
                let (u, v) = (masks[gate.a()], masks[gate.b()]);
                for (bits, bit) in bits.iter_mut().zip([u, v, u & v ^ out]) {
                    bits.push(bit);
                }
            }
            for (gate, out) in ands.iter().zip(outs) {
                masks[gate.out()] = out;
            }
        }
        let shares: Vec<[Block; 2]> = bits.iter().flatten().map(|&bit| share(bit, delta, prg)).collect();
        parts.push(Masks { terms: [0, 1].map(|party| shares.iter().map(|share| share[party]).collect()) });
    }
    parts
}

/// The hash of half gates, as its formula has it.
fn hash(start: Block, tweak: u64, x: Block) -> Block {
    let (low, high) = (x.to_u128() as u64, (x.to_u128() >> 64) as u64);
    let x = Block::from_u128(u128::from(low ^ high) << 64 | u128::from(high));
    let mut sealed = [x];
    Aes128::new(Backend::detect(), start ^ Block::from_u128(tweak.into())).encrypt(&mut sealed);
    sealed[0] ^ x
}

/// The tables of a tape by the formulas, and the labels for zero at the end.
fn naive(tape: &Tape, dealt: &[Masks], delta: Block, labels: &[Block]) -> (Vec<Block>, Vec<Block>) {
    let (mut cursor, mut tables, mut slots, mut tweak) = (Cursor::default(), vec![], labels.to_vec(), 0u64);
    (slots[0], slots[1]) = (Block::ZERO, Block::ZERO);
    for dealt in dealt {
        let part = cursor.advance(tape, 400).unwrap();
        let (n, z, mut i) = (part.ands(), &dealt.terms[0], 0);
        for (xors, ands) in part.gates() {
            for gate in xors {
                slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
            }
            for gate in ands {
                let (u, v) = (slots[gate.a()], slots[gate.b()]);
                let h = |x, half| hash(FIRST, tweak + half, x);
                tables.push(h(u, 0) ^ h(u ^ delta, 0) ^ z[n + i]);
                tables.push(h(v, 1) ^ h(v ^ delta, 1) ^ u ^ z[i]);
                slots[gate.out()] = (h(u, 0) ^ h(v, 1) ^ z[2 * n + i]).with_lsb(false);
                (tweak, i) = (tweak + 2, i + 1);
            }
        }
    }
    (tables, slots)
}

#[test]
fn every_backend_garbles_by_the_formulas_and_evaluates_right() {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(2018));
    let widths = widths((0..40).chain([64, 3, 200, 1, 1, 7, 256]));
    let tape = random_tape(&mut prg, if cfg!(miri) { 80 } else { 2100 }, &widths);
    let delta = prg.block().with_lsb(true);
    let labels: Vec<Block> = (0..tape.slots()).map(|_| prg.block().with_lsb(false)).collect();
    let mut masks: Vec<bool> = (0..tape.slots()).map(|_| prg.block().lsb()).collect();
    let mut values: Vec<bool> = (0..tape.slots()).map(|_| prg.block().lsb()).collect();
    let mut active: Vec<Block> = (0..tape.slots()).map(|i| labels[i] ^ delta.masked(values[i] ^ masks[i])).collect();
    let dealt = deal(&tape, &mut masks, delta, &mut prg);
    plain(&tape, &mut values);
    let expected = naive(&tape, &dealt, delta, &labels);
    (active[0], active[1]) = (Block::ZERO, Block::ZERO);

    for backend in backends() {
        let start = Starts::new(FIRST).next_start();
        let mut evaluator = AuthEvaluator::new(backend, start.block());
        let mut garbler = AuthGarbler::new(backend, delta, start);
        let (mut zeros, mut ends, mut all, mut cursor) = (labels.clone(), active.clone(), vec![], Cursor::default());
        for masks in &dealt {
            let part = cursor.advance(&tape, 400).unwrap();
            let n = part.ands();
            let mut tables = vec![Block::ZERO; 2 * n];
            let [mut z, mut m] = masks.terms.clone();
            garbler.garble(&part, &mut zeros, &mut z, &mut tables);
            m[2 * n..].iter_mut().zip(&z[2 * n..]).for_each(|(m, z)| *m ^= Block::from_u128(z.lsb().into()));
            evaluator.evaluate(&part, &mut ends, &mut m, &tables);
            all.extend(tables);
            // What the terms became: the outputs, in order.
            for (i, (zero, active)) in z[2 * n..].iter().zip(&m[2 * n..]).enumerate() {
                let masked = active.lsb();
                assert!(*active == zero.with_lsb(false) ^ delta.masked(masked), "{backend}, gate {i}");
            }
        }
        assert!(all == expected.0 && zeros == expected.1, "{backend} garbles differently");
        for slot in 2..tape.slots() {
            let masked = values[slot] ^ masks[slot];
            assert!(ends[slot] == zeros[slot] ^ delta.masked(masked), "{backend}, slot {slot}");
            assert_eq!(ends[slot].lsb(), masked, "{backend}, slot {slot}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn starts_have_no_key_in_common() {
    let mut starts = Starts::new(FIRST);
    let uppers: HashSet<u128> = (0..1000).map(|_| starts.next_start().block().to_u128() >> 64).collect();
    assert_eq!(uppers.len(), 1000, "tweaks change the lower half alone");
}
