//! Three halves: 24 bytes and five bits an AND gate, with free XOR.
//!
//! **Source**: Rosulek, Roy: Three Halves Make a Whole? Beating the Half-Gates Lower Bound for Garbled
//! Circuits (Crypto 2021).
//!
//! **How**: [`comity_core::SlicedGarbler`] has the equations.
//!
//! **What holds**: privacy. Given the labels and hashes that an evaluator has, `G0`, `G1`, `G2` and the `z` are
//! uniform, whatever the permute bits, the odd row and the offset are (a test counts all cases of halves of one
//! bit). Three tweaks, since a gate may have one wire twice: with one for all, the hashes of `A` and `B` would
//! cancel and leave the offset.
//!
//! **Assumption**: `H` is randomized tweakable circular correlation robust for linear functions of the offset.
//! `H(x, t) = E(start ^ t, s(x)) ^ s(x)`, cut to 65 bits, is so if AES-128 is an ideal cipher: each tweak is a key
//! of its own, under which only one input is unknown to the evaluator, so that what it sees of that input's image
//! is a fresh block, to which nothing linear in the offset that is added says anything. The start is this scheme's
//! own, random for each offset: under that of half gates, one key would hash inputs of both.
//!
//! **Cost** of an AND gate: 24 bytes and 5 bits, the bits of a [`Part`] in whole bytes; three key expansions and
//! six AES calls to garble, three and three to evaluate. XOR and NOT cost no bytes.

use comity_core::{Backend, Block, Delta, Part, SlicedEvaluator as Evaluator, SlicedGarbler as Garbler};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::packed::{pack, unpack};
use crate::scheme::{Evaluate, FreeXor, Garble, Private, Scheme};

/// Garbling with three halves: see the [module](self).
pub struct ThreeHalves;

/// Bytes of `G0` to `G2`, and the bits beside them.
const BYTES: usize = 24;
const BITS: usize = 5;

impl ThreeHalves {
    /// A garbler. `start` is the random start of the gate keys, never used with another delta or another
    /// scheme; the bits that hide odd rows come from `seed`, which is secret.
    pub fn garbler(backend: Backend, delta: Delta, start: Block, seed: Block) -> ThreeHalvesGarbler {
        ThreeHalvesGarbler { gates: Garbler::new(backend, delta, start, seed), bits: Zeroizing::default() }
    }

    /// The evaluator of what the garbler with the same `start` garbles, from its first gate on.
    pub fn evaluator(backend: Backend, start: Block) -> ThreeHalvesEvaluator {
        ThreeHalvesEvaluator { gates: Evaluator::new(backend, start), bits: Vec::new() }
    }
}

impl Scheme for ThreeHalves {
    const AND_ROWS: usize = 1;
    const XOR_ROWS: usize = 0;
    const UNEVEN: bool = true;
    type Garbler = ThreeHalvesGarbler;
    type Evaluator = ThreeHalvesEvaluator;

    /// All `G0` and `G1`, then all `G2`, then five bits for each AND gate.
    fn bytes(part: &Part<'_>) -> usize {
        BYTES * part.ands() + (BITS * part.ands()).div_ceil(8)
    }
}

/// The privacy of three halves is Theorem 2 of the paper.
impl Private for ThreeHalves {}

impl FreeXor for ThreeHalves {
    fn delta(garbler: &ThreeHalvesGarbler) -> Block {
        garbler.gates.delta()
    }
}

/// The garbler's side.
pub struct ThreeHalvesGarbler {
    gates: Garbler,
    /// A byte a gate of a part: the random bits, then those of the tables.
    bits: Zeroizing<Vec<u8>>,
}

/// The evaluator's side.
pub struct ThreeHalvesEvaluator {
    gates: Evaluator,
    /// A byte a gate of a part.
    bits: Vec<u8>,
}

impl Garble for ThreeHalvesGarbler {
    /// The label for zero stands for the wire.
    type Wire = Block;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Block {
        Block::random(rng)
    }

    fn constant(&self, bit: bool) -> Block {
        self.gates.delta().masked(bit)
    }

    fn label(&self, wire: &Block, bit: bool) -> Block {
        *wire ^ self.gates.delta().masked(bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        assert_eq!(tables.len(), ThreeHalves::rows(part), "the blocks of the tables");
        let (sums, packed) = Block::bytes_of_mut(tables).split_at_mut(BYTES * part.ands());
        self.bits.resize(part.ands(), 0);
        self.gates.garble(part, slots, sums, &mut self.bits);
        pack::<BITS>(&self.bits, &mut packed[..(BITS * part.ands()).div_ceil(8)]);
    }
}

impl Evaluate for ThreeHalvesEvaluator {
    fn constant(&self, _: bool) -> Block {
        Block::ZERO
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        assert_eq!(tables.len(), ThreeHalves::rows(part), "the blocks of the tables");
        let (sums, packed) = Block::bytes_of(tables).split_at(BYTES * part.ands());
        self.bits.resize(part.ands(), 0);
        unpack::<BITS>(&packed[..(BITS * part.ands()).div_ceil(8)], &mut self.bits);
        self.gates.evaluate(part, slots, sums, &self.bits);
    }
}
