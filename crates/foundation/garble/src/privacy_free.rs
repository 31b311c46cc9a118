//! Garbling without privacy: one row for an AND gate.
//!
//! **Source**: Frederiksen, Nielsen, Orlandi (Eurocrypt 2015) for garbling whose evaluator knows all values;
//! in half the rows by Zahur, Rosulek, Evans (Eurocrypt 2015, section "Privacy-free garbling"): of the two
//! half gates, the one whose second input the evaluator knows is all that is left. With free XOR.
//!
//! **How**: labels for zero have permute bit zero, so that an active label's bit 0 *is* what it stands for.
//! With `H` cut to an even number, an AND of wires `a` and `b` is the row `T = H(B) ^ H(B ^ delta) ^ A`, and
//! its output has the label for zero `H(B)`. The evaluator, with the active labels `A'` and `B'`, takes `H(B')`
//! where `b` is zero and `H(B') ^ T ^ A'` where it is one: its bit 0 is `a b`.
//!
//! **What holds**: authenticity. An evaluator with one label of each input wire and the tables cannot make the
//! other label of any wire, so that an output's label proves what it stands for; which is what a proof by garbled
//! circuits asks for (Jawurek, Kerschbaum, Orlandi, CCS 2013). **What does not**: privacy. The evaluator
//! reads every wire's value off its label: only an evaluator that may learn all inputs is served so.
//!
//! **Assumption**: AES-128 as an ideal cipher; `H` is that of [`GateHash`](comity_core::GateHash), a fresh
//! key for each gate. Labels have 127 secret bits.
//!
//! **Cost** of an AND gate: 16 bytes; one key expansion and two AES calls to garble, one and one to evaluate.
//! XOR and NOT cost no bytes.

use comity_core::{Backend, Block, Delta, Part, PrivacyFreeEvaluator, PrivacyFreeGarbler};
use rand_core::CryptoRng;

use crate::scheme::{Evaluate, FreeXor, Garble, Readable, Scheme};

/// Privacy-free garbling: see the [module](self).
pub struct PrivacyFree;

impl Readable for PrivacyFree {
    fn garbler(backend: Backend, delta: Delta, start: Block) -> PrivacyFreeGarbler {
        PrivacyFreeGarbler::new(backend, delta, start)
    }

    fn evaluator(backend: Backend, start: Block) -> PrivacyFreeEvaluator {
        PrivacyFreeEvaluator::new(backend, start)
    }
}

impl Scheme for PrivacyFree {
    const AND_ROWS: usize = 1;
    const XOR_ROWS: usize = 0;
    type Garbler = PrivacyFreeGarbler;
    type Evaluator = PrivacyFreeEvaluator;
}

impl FreeXor for PrivacyFree {
    fn delta(garbler: &PrivacyFreeGarbler) -> Block {
        garbler.delta()
    }
}

/// The active label of a constant: like every active label it shows what it stands for.
const fn active(bit: bool) -> Block {
    Block::ZERO.with_lsb(bit)
}

impl Garble for PrivacyFreeGarbler {
    /// The label for zero stands for the wire; its bit 0 is zero.
    type Wire = Block;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Block {
        Block::random(rng).with_lsb(false)
    }

    fn constant(&self, bit: bool) -> Block {
        active(bit) ^ self.delta().masked(bit)
    }

    fn label(&self, wire: &Block, bit: bool) -> Block {
        *wire ^ self.delta().masked(bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        PrivacyFreeGarbler::garble(self, part, slots, tables);
    }
}

impl Evaluate for PrivacyFreeEvaluator {
    fn constant(&self, bit: bool) -> Block {
        active(bit)
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        PrivacyFreeEvaluator::evaluate(self, part, slots, tables);
    }
}
