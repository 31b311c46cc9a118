//! Garbling under the standard assumption that AES is a pseudorandom function, and under no other.
//!
//! **Source**: Gueron, Lindell, Nof, Pinkas: Fast Garbling of Circuits Under Standard Assumptions (CCS 2015),
//! as deliverable D13.3, section 2.1, describes it: no free XOR, whose offset between all labels asks for
//! circular security; two rows for an AND gate by sums alone, one row for an XOR gate; the key schedules of
//! many keys pipelined. The equations here are comity's own, from that description.
//!
//! **How**: [`comity_core::PrfGarbler`] has the equations. Labels are keys of AES: 127 secret bits, and the permute
//! bit in bit 0. Points are the number of a gate, the side of it that the label is of, and a row: no key meets one
//! twice, not even where both inputs of a gate are one wire, since the sides differ. In a sum of labels bit 0 is
//! apart: there, the rows of an AND gate and a third bit encrypt the output's permute bits, so that a row tells no bit
//! of them; that of an XOR gate's row is zero. A NOT is free: the two labels trade places.
//!
//! **Adversary**: an evaluator with one label of each input wire learns the active label of each wire and
//! nothing else ([`Private`]). Given its keys, what it sees of a gate is uniform but for the one row that it
//! opens: three unknown `K_r` are three blocks that hide `T1`, `T2` and the inactive label, and their bits 0
//! the three bits (a test counts all of them).
//!
//! **Assumption**: AES-128 is a pseudorandom function, with keys of which one bit is public. How the
//! evaluator gets its labels has assumptions of its own, as the sessions have.
//!
//! **Differences from the paper**: each XOR gate translates all of its labels, four AES calls to garble and
//! two to evaluate, where the paper counts three, and one or two. Leaving one label of `B` as it is makes the
//! output's labels differ from it by what the evaluator knows: where another gate reads `B`, its labels are
//! then related keys, which the assumption says nothing on. Row 0 of an AND gate fixes its output's permute
//! bit, which saves one of four bits.
//!
//! **Cost** of an AND gate: 32 bytes and one bit, the bits of a [`Part`] in whole bytes; four key schedules
//! and eight AES calls to garble, two and two to evaluate. Of an XOR gate: 16 bytes; four and four, two and
//! two.

use comity_core::{Backend, Block, Labels, Part, PrfEvaluator, PrfGarbler, Prg};
use rand_core::CryptoRng;

use crate::packed::{pack, unpack};
use crate::scheme::{Evaluate, Garble, Private, Scheme};

/// Garbling under standard assumptions: see the [module](self).
pub struct Standard;

impl Standard {
    /// A garbler; from `rng` comes the seed of the labels that are never active.
    pub fn garbler(backend: Backend, rng: &mut dyn CryptoRng) -> StandardGarbler {
        let mut hidden = Prg::new(backend, Block::random(rng));
        // The label of the constant zero that is never active, and so the offset of its wire; then that of one.
        let delta = hidden.block().with_lsb(true);
        let one = Labels::new([hidden.block().with_lsb(false), active(true)], delta);
        StandardGarbler { gates: PrfGarbler::new(backend, delta, one), hidden, bits: Vec::new() }
    }

    /// The evaluator of what a garbler garbles, from its first gate on.
    pub fn evaluator(backend: Backend) -> StandardEvaluator {
        StandardEvaluator { gates: PrfEvaluator::new(backend), bits: Vec::new() }
    }
}

impl Scheme for Standard {
    const AND_ROWS: usize = 2;
    const XOR_ROWS: usize = 1;
    const UNEVEN: bool = true;
    type Garbler = StandardGarbler;
    type Evaluator = StandardEvaluator;

    /// The rows of all gates but NOTs, then a bit for each AND gate.
    fn bytes(part: &Part<'_>) -> usize {
        Block::BYTES * gate_rows(part) + part.ands().div_ceil(8)
    }
}

/// With a proof from the assumption that AES is a pseudorandom function: Theorem 1 of the paper, and what the
/// [module](self) says of the rows.
impl Private for Standard {}

/// The rows of a stretch of a tape, without the bits.
fn gate_rows(part: &Part<'_>) -> usize {
    Standard::AND_ROWS * part.ands() + Standard::XOR_ROWS * part.sums()
}

/// The active label of a constant, which is public. That of zero is what an evaluator's memory holds where
/// nothing was written.
const fn active(bit: bool) -> Block {
    Block::ZERO.with_lsb(bit)
}

/// The garbler's side of [`Standard`].
pub struct StandardGarbler {
    gates: PrfGarbler,
    /// Labels that are never active.
    hidden: Prg,
    /// A byte an AND gate of a part.
    bits: Vec<u8>,
}

impl StandardGarbler {
    /// The wire whose label for `bit` is this one, with a fresh other label: for a bit of the garbler's,
    /// whose label the evaluator has.
    pub fn around(&mut self, active: Block, bit: bool) -> Labels {
        let other = self.hidden.block().with_lsb(!active.lsb());
        let zero = active ^ (active ^ other).masked(bit);
        self.wire([zero, zero ^ active ^ other])
    }

    /// The wire with these labels for zero and for one, whose permute bits differ.
    pub fn wire(&self, labels: [Block; 2]) -> Labels {
        Labels::new(labels, self.gates.delta())
    }
}

impl Garble for StandardGarbler {
    type Wire = Labels;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Labels {
        let zero = Block::random(rng);
        self.wire([zero, Block::random(rng).with_lsb(!zero.lsb())])
    }

    fn constant(&self, bit: bool) -> Labels {
        self.gates.constant(bit)
    }

    fn label(&self, wire: &Labels, bit: bool) -> Block {
        wire.label(self.gates.delta(), bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Labels], tables: &mut [Block]) {
        assert_eq!(tables.len(), Standard::rows(part), "the blocks of the tables");
        let (rows, packed) = tables.split_at_mut(gate_rows(part));
        self.bits.resize(part.ands(), 0);
        self.gates.garble(part, slots, rows, &mut self.bits);
        pack::<1>(&self.bits, &mut Block::bytes_of_mut(packed)[..part.ands().div_ceil(8)]);
    }
}

/// The evaluator's side of [`Standard`].
pub struct StandardEvaluator {
    gates: PrfEvaluator,
    /// A byte an AND gate of a part.
    bits: Vec<u8>,
}

impl Evaluate for StandardEvaluator {
    fn constant(&self, bit: bool) -> Block {
        active(bit)
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        assert_eq!(tables.len(), Standard::rows(part), "the blocks of the tables");
        let (rows, packed) = tables.split_at(gate_rows(part));
        self.bits.resize(part.ands(), 0);
        unpack::<1>(&Block::bytes_of(packed)[..part.ands().div_ceil(8)], &mut self.bits);
        self.gates.evaluate(part, slots, rows, &self.bits);
    }
}
