//! Garbling without privacy: one row for an AND gate.
//!
//! **Source**: Frederiksen, Nielsen, Orlandi (Eurocrypt 2015) for garbling whose evaluator knows all values; in half the rows by
//! Zahur, Rosulek, Evans (Eurocrypt 2015, section "Privacy-free garbling"): of the two half gates, the one whose second input
//! the evaluator knows is all that is left. With free XOR.
//!
//! **How**: labels for zero have permute bit zero, so that an active label's bit 0 *is* what it stands for. With `H` cut to
//! an even number, an AND of wires `a` and `b` is the row `T = H(B) ^ H(B ^ delta) ^ A`, and its output has the label for zero `H(B)`. Who has
//! the active labels `A'` and `B'` takes `H(B')` where `b` is zero and `H(B') ^ T ^ A'` where it is one: its bit 0 is
//! `a b`.
//!
//! **What holds**: authenticity. Who has one label of each input wire and the tables cannot make the other label of any wire, so that an
//! output's label proves what it stands for; which is what a proof by garbled circuits asks for (Jawurek, Kerschbaum, Orlandi, CCS
//! 2013). **What does not**: privacy. The evaluator reads every wire's value off its label, and must be one who may.
//!
//! **Assumption**: AES-128 as an ideal cipher; `H` is that of [`GateHash`], a fresh key for each gate. Labels have 127 secret bits.
//!
//! **Cost** of an AND gate: 16 bytes; one key expansion and two AES calls to garble, one and one to evaluate. XOR and NOT cost
//! nothing. A segment's gates are hashed together, on any backend; there is no fused kernel yet.

use comity_core::{Backend, Block, Delta, GateHash, Part, Tape, TapeGate};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::scheme::{Evaluate, FreeXor, Garble, Readable, Scheme};

/// Privacy-free garbling: see the [module](self).
pub struct PrivacyFree;

impl Readable for PrivacyFree {
    fn garbler(backend: Backend, delta: Delta, start: Block) -> PrivacyFreeGarbler {
        PrivacyFreeGarbler { delta, hash: GateHash::new(backend, start), hashes: room(), others: room() }
    }

    fn evaluator(backend: Backend, start: Block) -> PrivacyFreeEvaluator {
        PrivacyFreeEvaluator { hash: GateHash::new(backend, start), hashes: room() }
    }
}

/// Room for the hashes of a segment.
fn room() -> Zeroizing<Vec<Block>> {
    Zeroizing::new(vec![Block::ZERO; Tape::MAX_ANDS])
}

impl Scheme for PrivacyFree {
    const AND_ROWS: usize = 1;
    const XOR_ROWS: usize = 0;
    type Garbler = PrivacyFreeGarbler;
    type Evaluator = PrivacyFreeEvaluator;
}

impl FreeXor for PrivacyFree {
    fn delta(garbler: &PrivacyFreeGarbler) -> Block {
        garbler.delta.block()
    }
}

/// The garbler's side of privacy-free garbling.
pub struct PrivacyFreeGarbler {
    delta: Delta,
    hash: GateHash,
    /// The hashes `H(B)` of a segment's gates.
    hashes: Zeroizing<Vec<Block>>,
    /// The hashes `H(B ^ delta)` of the same gates.
    others: Zeroizing<Vec<Block>>,
}

/// The evaluator's side of privacy-free garbling.
pub struct PrivacyFreeEvaluator {
    hash: GateHash,
    /// The hashes `H(B')` of a segment's gates.
    hashes: Zeroizing<Vec<Block>>,
}

/// The active label of a constant: like every active label it shows what it stands for.
const fn active(bit: bool) -> Block {
    Block::ZERO.with_lsb(bit)
}

/// Does XOR gates, on either side.
fn xors(gates: &[TapeGate], slots: &mut [Block]) {
    for gate in gates {
        slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
    }
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, tables: usize) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert_eq!(tables, PrivacyFree::rows(part), "one block for each AND gate");
}

impl Garble for PrivacyFreeGarbler {
    /// The label for zero stands for the wire; its bit 0 is zero.
    type Wire = Block;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Block {
        Block::random(rng).with_lsb(false)
    }

    fn constant(&self, bit: bool) -> Block {
        active(bit) ^ self.delta.block().masked(bit)
    }

    fn label(&self, wire: &Block, bit: bool) -> Block {
        *wire ^ self.delta.block().masked(bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], mut tables: &mut [Block]) {
        check(part, slots.len(), tables.len());
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = self.constant(slot == Tape::ONE));
        let delta = self.delta.block();
        for (linear, ands) in part.gates() {
            xors(linear, slots);
            let (hashes, others) = (&mut self.hashes[..ands.len()], &mut self.others[..ands.len()]);
            for ((gate, hash), other) in ands.iter().zip(&mut *hashes).zip(&mut *others) {
                *hash = slots[gate.b()];
                *other = *hash ^ delta;
            }
            self.hash.pairs(hashes, others);
            let rows = tables.split_off_mut(..ands.len()).expect("a row for each AND gate");
            for (((gate, row), hash), other) in ands.iter().zip(rows).zip(hashes).zip(others) {
                // The gates of a segment are independent: no input here is another one's output.
                *row = (*hash ^ *other).with_lsb(false) ^ slots[gate.a()];
                slots[gate.out()] = hash.with_lsb(false);
            }
        }
    }
}

impl Evaluate for PrivacyFreeEvaluator {
    fn constant(&self, bit: bool) -> Block {
        active(bit)
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], mut tables: &[Block]) {
        check(part, slots.len(), tables.len());
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = active(slot == Tape::ONE));
        for (linear, ands) in part.gates() {
            xors(linear, slots);
            let hashes = &mut self.hashes[..ands.len()];
            ands.iter().zip(&mut *hashes).for_each(|(gate, hash)| *hash = slots[gate.b()]);
            self.hash.each(hashes);
            let rows = tables.split_off(..ands.len()).expect("a row for each AND gate");
            for ((gate, row), hash) in ands.iter().zip(rows).zip(hashes) {
                let (a, b) = (slots[gate.a()], slots[gate.b()].lsb());
                slots[gate.out()] = hash.with_lsb(false) ^ (*row ^ a).masked(b);
            }
        }
    }
}
