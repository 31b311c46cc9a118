//! Garbling without privacy and without free XOR: one row for a gate of any kind.
//!
//! **Source**: Frederiksen, Nielsen, Orlandi (Eurocrypt 2015, ePrint 2014/598), the construction with one
//! ciphertext a gate and no cryptography for XOR gates: the one whose figures deliverable D13.3, section 3.6,
//! gives. (In half the rows or fewer, since XOR gates have none: [`PrivacyFree`](crate::PrivacyFree).)
//!
//! **How**: labels for zero have permute bit zero, so that an active label's bit 0 *is* what it stands for.
//! The two labels of a wire differ by an offset of its own.
//! - AND of `a` and `b`: the row `T = H(A0) ^ H(B0)`; the labels are `C0 = H(A0)` and `C1 = H(A1 ^ s(B1))`.
//!   Where `a` is zero the evaluator has `C0`, where only `b` is, `T ^ H(B0)`, and where both are one, `C1`.
//! - XOR: `C0 = A0 ^ B0`, and the offset is that of `b`. The row, the sum of both offsets, makes one of
//!   `a`'s, where `a` is one.
//!
//! **What holds**: authenticity, and no privacy, as with [`PrivacyFree`](crate::PrivacyFree).
//!
//! **Differences from the paper**: a wire's offset is kept as its difference to one of the garbling, which
//! constants have, so that a wire that nothing was written to is the constant zero. The evaluator hashes
//! twice where the paper's hashes once, whichever row it needs: what it knows is secret to everybody else,
//! and it must not branch on it.
//!
//! **Assumption**: AES-128 as an ideal cipher; `H` is that of [`GateHash`], a fresh key for each gate, and
//! another one for `C1`; `s` is a linear orthomorphism.
//!
//! **Cost** of an AND gate: 16 bytes; three AES calls to garble, two to evaluate. Of an XOR gate: 16 bytes.

use comity_core::{Backend, Block, Delta, GateHash, Labels, Part, Tape};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::hidden::orthomorphism;
use crate::scheme::{Evaluate, Garble, Readable, Scheme};

/// Garbling with a row for every gate, without privacy: see the [module](self).
pub struct RowReduced;

impl Scheme for RowReduced {
    const AND_ROWS: usize = 1;
    const XOR_ROWS: usize = 1;
    type Garbler = RowReducedGarbler;
    type Evaluator = RowReducedEvaluator;
}

impl Readable for RowReduced {
    fn garbler(backend: Backend, delta: Delta, start: Block) -> RowReducedGarbler {
        RowReducedGarbler { delta, hash: GateHash::new(backend, start), hashes: core::array::from_fn(|_| room()) }
    }

    fn evaluator(backend: Backend, start: Block) -> RowReducedEvaluator {
        RowReducedEvaluator { hash: GateHash::new(backend, start), hashes: core::array::from_fn(|_| room()) }
    }
}

/// The garbler's side.
pub struct RowReducedGarbler {
    /// The offset of constants.
    delta: Delta,
    hash: GateHash,
    /// `H(A0)`, `H(B0)` and `H(A1 ^ s(B1))` of a segment's gates.
    hashes: [Zeroizing<Vec<Block>>; 3],
}

/// The evaluator's side.
pub struct RowReducedEvaluator {
    hash: GateHash,
    /// The hash of one active label, and that of both, of a segment's gates.
    hashes: [Zeroizing<Vec<Block>>; 2],
}

/// Room for the hashes of a segment.
fn room() -> Zeroizing<Vec<Block>> {
    Zeroizing::new(vec![Block::ZERO; Tape::MAX_ANDS])
}

/// The active label of a constant.
const fn active(bit: bool) -> Block {
    Block::ZERO.with_lsb(bit)
}

/// What is hashed of two labels: the first one and a linear orthomorphism of the second.
fn joined(a: Block, b: Block) -> Block {
    a ^ orthomorphism(b)
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, tables: usize) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert_eq!(tables, RowReduced::rows(part), "one block for each gate");
}

impl Garble for RowReducedGarbler {
    type Wire = Labels;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Labels {
        let [zero, offset] = [(); 2].map(|()| Block::random(rng).with_lsb(false));
        Labels { zero, offset }
    }

    fn constant(&self, bit: bool) -> Labels {
        Labels { zero: active(bit) ^ self.delta.block().masked(bit), offset: Block::ZERO }
    }

    fn label(&self, wire: &Labels, bit: bool) -> Block {
        wire.label(self.delta.block(), bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Labels], mut tables: &mut [Block]) {
        check(part, slots.len(), tables.len());
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = self.constant(slot == Tape::ONE));
        for (linear, ands) in part.gates() {
            let rows = tables.split_off_mut(..linear.len()).expect("a row for each XOR gate");
            for (gate, row) in linear.iter().zip(rows) {
                let (a, b) = (slots[gate.a()], slots[gate.b()]);
                *row = a.offset ^ b.offset;
                slots[gate.out()] = Labels { zero: a.zero ^ b.zero, offset: b.offset };
            }
            for (i, gate) in ands.iter().enumerate() {
                let (a, b) = (slots[gate.a()], slots[gate.b()]);
                let ones = joined(self.label(&a, true), self.label(&b, true));
                [self.hashes[0][i], self.hashes[1][i], self.hashes[2][i]] = [a.zero, b.zero, ones];
            }
            let [first, second, ones] = &mut self.hashes;
            self.hash.pairs(&mut first[..ands.len()], &mut second[..ands.len()]);
            self.hash.each(&mut ones[..ands.len()]);
            let rows = tables.split_off_mut(..ands.len()).expect("a row for each AND gate");
            for (i, (gate, row)) in ands.iter().zip(rows).enumerate() {
                let (zero, one) = (first[i].with_lsb(false), ones[i].with_lsb(true));
                *row = (first[i] ^ second[i]).with_lsb(false);
                slots[gate.out()] = Labels { zero, offset: zero ^ one ^ self.delta.block() };
            }
        }
    }
}

impl Evaluate for RowReducedEvaluator {
    fn constant(&self, bit: bool) -> Block {
        active(bit)
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], mut tables: &[Block]) {
        check(part, slots.len(), tables.len());
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = active(slot == Tape::ONE));
        for (linear, ands) in part.gates() {
            let rows = tables.split_off(..linear.len()).expect("a row for each XOR gate");
            for (gate, row) in linear.iter().zip(rows) {
                let (a, b) = (slots[gate.a()], slots[gate.b()]);
                slots[gate.out()] = a ^ b ^ row.masked(a.lsb());
            }
            let [single, double] = &mut self.hashes;
            for (i, gate) in ands.iter().enumerate() {
                let (a, b) = (slots[gate.a()], slots[gate.b()]);
                // That of the wire that is zero: the first one's, if it is.
                [single[i], double[i]] = [a ^ (a ^ b).masked(a.lsb()), joined(a, b)];
            }
            self.hash.each(&mut single[..ands.len()]);
            self.hash.each(&mut double[..ands.len()]);
            let rows = tables.split_off(..ands.len()).expect("a row for each AND gate");
            for (i, (gate, row)) in ands.iter().zip(rows).enumerate() {
                let (a, b) = (slots[gate.a()].lsb(), slots[gate.b()].lsb());
                let zero = single[i].with_lsb(false) ^ row.masked(a);
                slots[gate.out()] = zero ^ (zero ^ double[i].with_lsb(true)).masked(a & b);
            }
        }
    }
}
