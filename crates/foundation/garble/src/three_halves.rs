//! Three halves: 24 bytes and five bits an AND gate, with free XOR.
//!
//! **Source**: Rosulek, Roy: Three Halves Make a Whole? Beating the Half-Gates Lower Bound for Garbled
//! Circuits (Crypto 2021).
//!
//! **How**: a label is two halves of 64 bits, `(L, R)`; its permute bit is bit 0 of `L`. A gate hashes the
//! labels of `a`, of `b` and of their
//! sum, each under a tweak of its own, to 64 bits and one more. With permute bits `i`, `j` of the active
//! labels `A`, `B`, and `X = A + B`, the evaluator finds
//!
//! ```text
//! C_L = H(A) + H(X) + i G0 + (i + j) G2 + row 1 of R (A_L, A_R, B_L, B_R)
//! C_R = H(B) + H(X) + j G1 + (i + j) G2 + row 2 of R (A_L, A_R, B_L, B_R)
//! R   = R'_ij + r1 S1 + r2 S2,   R'_ij = (1 + i) 0010, (1 + j) 0100,   S1 = 1110, 1001,   S2 = 1001, 0111
//! r1  = z0 + i z2 + (i + j) z4 + h(A) + h(X),   r2 = z1 + j z3 + (i + j) z4 + h(B) + h(X)
//! ```
//!
//! where `h` is the hash's 65th bit. `G0`, `G1`, `G2` are 64 bits each, the `z` five bits that encrypt, for
//! each pair of permute bits, the `r1` and `r2` that make its equations hold: the garbler hides which row is
//! the odd one under two random bits of its own a gate, `p` and `q`.
//!
//! **What holds**: privacy. Given the labels and hashes that an evaluator has, `G0`, `G1`, `G2` and the `z`
//! are uniform, whatever the permute bits,
//! the odd row and the offset are (a test counts all cases of halves of one bit). Three tweaks, since a gate
//! may have one wire twice: with one for all, the hashes of `A` and `B` would cancel and leave the offset.
//!
//! **Assumption**: `H` is randomized tweakable circular correlation robust for linear functions of the
//! offset. `H(x, t) = E(start ^ t, s(x)) ^
//! s(x)`, cut to 65 bits, is so if AES-128 is an ideal cipher: each tweak is a key of its own, under which
//! only one input is unknown to the evaluator, so that what it sees of that input's image is a fresh block,
//! to which nothing linear in the offset that is added says anything. The start is this scheme's own, random
//! for each offset: under that of half gates, one key would hash inputs of both.
//!
//! **Cost** of an AND gate: 24 bytes and 5 bits, the bits of a [`Part`] in whole bytes; three key expansions
//! and six AES calls to garble, three and
//! three to evaluate. XOR and NOT cost no bytes.

mod gate;
#[cfg(test)]
mod tests;

use comity_core::{Backend, Block, Delta, GateHash, Part, Prg, Tape, TapeGate};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::scheme::{Evaluate, FreeXor, Garble, Private, Scheme};
use gate::{Garbled, Halves, Hash, evaluated};

/// Garbling with three halves: see the [module](self).
pub struct ThreeHalves;

/// Bytes of `G0` to `G2`, and the bits beside them.
const BYTES: usize = 24;
const BITS: usize = 5;

impl ThreeHalves {
    /// A garbler. `start` is the random start of the gate keys, never used with another delta or another
    /// scheme; the bits that hide odd rows come from `seed`, which is secret.
    pub fn garbler(backend: Backend, delta: Delta, start: Block, seed: Block) -> ThreeHalvesGarbler {
        let (hash, hiding) = (Hashes::new(backend, start), Prg::new(backend, seed));
        ThreeHalvesGarbler { delta, hash, hiding }
    }

    /// The evaluator of what the garbler with the same `start` garbles, from its first gate on.
    pub fn evaluator(backend: Backend, start: Block) -> ThreeHalvesEvaluator {
        ThreeHalvesEvaluator { hash: Hashes::new(backend, start) }
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
        garbler.delta.block()
    }
}

/// The garbler's side.
pub struct ThreeHalvesGarbler {
    delta: Delta,
    hash: Hashes,
    /// Two bits a gate that hide which row is the odd one.
    hiding: Prg,
}

/// The evaluator's side.
pub struct ThreeHalvesEvaluator {
    hash: Hashes,
}

/// The hash, and room for what is hashed of a segment's gates: three blocks each, under the same keys twice.
struct Hashes {
    hash: GateHash,
    blocks: [Zeroizing<Vec<Block>>; 2],
}

impl Hashes {
    fn new(backend: Backend, start: Block) -> Hashes {
        let room = || Zeroizing::new(vec![Block::ZERO; 3 * Tape::MAX_ANDS]);
        Hashes { hash: GateHash::new(backend, start), blocks: [room(), room()] }
    }
}

/// The tables of a part: `G0` and `G1` of all gates, `G2` of all, two a block, and their bits.
struct Tables<T> {
    pairs: T,
    singles: T,
    bits: T,
}

/// The bytes of `G0` and `G1`, and of `G2`.
fn cuts(part: &Part<'_>) -> [usize; 2] {
    [16 * part.ands(), 8 * part.ands()]
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, tables: usize) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert_eq!(tables, ThreeHalves::rows(part), "the blocks of the tables");
}

/// XOR gates, in order.
fn xors(gates: &[TapeGate], slots: &mut [Block]) {
    for gate in gates {
        slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
    }
}

/// The labels of a gate's inputs whose permute bit is zero.
fn zeroth(slots: &[Block], gate: &TapeGate, delta: Block) -> [Block; 2] {
    [gate.a(), gate.b()].map(|slot| slots[slot] ^ delta.masked(slots[slot].lsb()))
}

/// The eight bits from bit `first` on.
fn bits_at(bits: &[u8], first: usize) -> u8 {
    let low = u16::from(bits[first / 8]);
    let high = bits.get(first / 8 + 1).map_or(0, |&byte| u16::from(byte));
    ((low | high << 8) >> (first % 8)) as u8
}

impl Garble for ThreeHalvesGarbler {
    /// The label for zero stands for the wire.
    type Wire = Block;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Block {
        Block::random(rng)
    }

    fn constant(&self, bit: bool) -> Block {
        self.delta.block().masked(bit)
    }

    fn label(&self, wire: &Block, bit: bool) -> Block {
        *wire ^ self.delta.block().masked(bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        check(part, slots.len(), tables.len());
        let ThreeHalvesGarbler { delta, hash: Hashes { hash, blocks: [zeros, ones] }, hiding } = self;
        let delta = delta.block();
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (Block::ZERO, delta);
        let (pairs, rest) = Block::bytes_of_mut(tables).split_at_mut(cuts(part)[0]);
        let (singles, bits) = rest.split_at_mut(cuts(part)[1]);
        bits.fill(0);
        let tables = Tables { pairs, singles, bits };
        let mut hidden = Zeroizing::new([0; Tape::MAX_ANDS / 4]);
        let mut done = 0;
        for (linear, ands) in part.gates() {
            xors(linear, slots);
            let hidden = &mut hidden[..ands.len().div_ceil(4)];
            hiding.fill(hidden);
            // By permute bits: zeros first, each with the offset added second.
            for ((gate, zeros), ones) in ands.iter().zip(zeros.as_chunks_mut::<3>().0).zip(ones.as_chunks_mut::<3>().0)
            {
                let [a, b] = zeroth(slots, gate, delta);
                *zeros = [a, b, a ^ b];
                *ones = zeros.map(|label| label ^ delta);
            }
            let n = 3 * ands.len();
            hash.pairs(&mut zeros[..n], &mut ones[..n]);
            for (i, gate) in ands.iter().enumerate() {
                let odd = [gate.a(), gate.b()].map(|slot| !slots[slot].lsb());
                let labels = zeroth(slots, gate, delta).map(Halves::of);
                let hashes = [0, 1, 2].map(|k| [&zeros[3 * i + k], &ones[3 * i + k]].map(|&block| Hash::of(block)));
                let random = hidden[i / 4] >> (2 * (i % 4));
                let garbled = Garbled::new(labels, Halves::of(delta), hashes, odd, [random & 1 == 1, random & 2 == 2]);
                let at = done + i;
                tables.pairs[16 * at..][..16]
                    .copy_from_slice(&Halves(garbled.sums[0], garbled.sums[1]).block().to_bytes());
                tables.singles[8 * at..][..8].copy_from_slice(&garbled.sums[2].to_le_bytes());
                let (byte, shift) = (BITS * at / 8, BITS * at % 8);
                let packed = u16::from(garbled.bits) << shift;
                tables.bits[byte] |= packed as u8;
                if shift > 8 - BITS {
                    tables.bits[byte + 1] |= (packed >> 8) as u8;
                }
                slots[gate.out()] = garbled.label.block();
            }
            done += ands.len();
        }
    }
}

impl Evaluate for ThreeHalvesEvaluator {
    fn constant(&self, _: bool) -> Block {
        Block::ZERO
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        check(part, slots.len(), tables.len());
        let Hashes { hash, blocks: [blocks, _] } = &mut self.hash;
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (Block::ZERO, Block::ZERO);
        let (pairs, rest) = Block::bytes_of(tables).split_at(cuts(part)[0]);
        let (singles, bits) = rest.split_at(cuts(part)[1]);
        let tables = Tables { pairs, singles, bits };
        let mut done = 0;
        for (linear, ands) in part.gates() {
            xors(linear, slots);
            for (gate, blocks) in ands.iter().zip(blocks.as_chunks_mut::<3>().0) {
                let [a, b] = [gate.a(), gate.b()].map(|slot| slots[slot]);
                *blocks = [a, b, a ^ b];
            }
            hash.each(&mut blocks[..3 * ands.len()]);
            for (i, (gate, blocks)) in ands.iter().zip(blocks.as_chunks::<3>().0).enumerate() {
                let at = done + i;
                let labels = [gate.a(), gate.b()].map(|slot| Halves::of(slots[slot]));
                let word = |from: &[u8], at: usize| u64::from_le_bytes(*from[8 * at..].first_chunk().expect("a word"));
                let sums = [word(tables.pairs, 2 * at), word(tables.pairs, 2 * at + 1), word(tables.singles, at)];
                let bits = bits_at(tables.bits, BITS * at);
                slots[gate.out()] = evaluated(labels, blocks.map(Hash::of), sums, bits).block();
            }
            done += ands.len();
        }
    }
}
