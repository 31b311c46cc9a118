//! What a party holds of each wire while it garbles, and its shares of the gates: figure 6.
//!
//! A wire is the row of its mask `lambda` ([`BitMpc`](crate::BitMpc)) and one more block, this party's key of
//! the public value 0. The sum of two wires is the wire of an XOR gate, masks and keys alike.
//!
//! *Outputs.* Each bit of an output passes a gate of one input `u`, whose output `w` has a mask and keys of
//! its own, and it is the mask of `w` that is opened:
//!
//! ```text
//! sum over i of F_{k^i_(u,a)}(g, j)  +  k^j_(w,0)  +  R^j (lambda_u + a + lambda_w)
//! ```
//!
//! in two rows and without a product. In the figure the mask of the output's wire itself is opened. Where
//! that wire is a sum of inputs, as free XOR makes it, its public value follows from those of the inputs:
//! with its mask who speaks last knew the sum of the others' inputs before it said its own, and could choose
//! the output. The public value of `w` is seen by who has keys of `u`, and these leave when all public values
//! of inputs are fixed. All outputs pass such a gate: the sum of two that have a gate in common may be a sum
//! of inputs, too.
//!
//! Bit 0 of a key of 0 is 0 and of `R` is 1, so that bit 0 of a party's own active key is the wire's public
//! value (figure 9, step 4).

use comity_core::{Backend, Block, Part, Prg, SessionId, TapeGate};
use comity_protocol::Conduct;
use zeroize::{Zeroize, Zeroizing};

use crate::act::GarblingAct;
use crate::hash::{OUTPUT_ROWS, ROWS, RowHash, add};

/// The memory of a garbling party.
pub(crate) struct Garbling {
    pub(crate) slots: Vec<Block>,
    parties: usize,
    /// The row of the constant one.
    one: Vec<Block>,
    keys: Prg,
    hash: RowHash,
    offset: Block,
    me: usize,
}

/// Gates that wait to be garbled together: the wires of their inputs and outputs, and how many were in each
/// batch of the tape, or bits in each output, after which all parties hash alike. Gates of outputs have no
/// `v`.
#[derive(Default)]
pub(crate) struct Gates {
    pub(crate) u: Vec<Block>,
    pub(crate) v: Vec<Block>,
    pub(crate) w: Vec<Block>,
    pub(crate) batches: Vec<usize>,
}

impl Gates {
    pub(crate) fn len(&self) -> usize {
        self.batches.iter().sum()
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        [&mut self.u, &mut self.v, &mut self.w].into_iter().for_each(Zeroize::zeroize);
    }
}

impl Garbling {
    /// The memory of party `me` of `parties`, whose keys come from `seed`, and whose row of the constant one is `one`.
    pub(crate) fn new(
        backend: Backend,
        session: &SessionId,
        [me, parties]: [usize; 2],
        offset: Block,
        one: Vec<Block>,
        seed: Block,
    ) -> Garbling {
        let hash = RowHash::new(backend, session, me, parties, offset);
        Garbling { slots: Vec::new(), parties, one, keys: Prg::new(backend, seed), hash, offset, me }
    }

    /// Blocks of the row of a mask.
    pub(crate) fn width(&self) -> usize {
        self.one.len()
    }

    /// Blocks of a wire.
    pub(crate) fn stride(&self) -> usize {
        self.width() + 1
    }

    /// Makes room for the slots of a tape. What is there stays.
    pub(crate) fn grow(&mut self, slots: usize) {
        let (stride, wanted) = (self.stride(), slots.max(2) * self.stride());
        if self.slots.len() < wanted {
            // Memory that is moved is not wiped where it was.
            let mut more = vec![Block::ZERO; wanted];
            more[..self.slots.len()].copy_from_slice(&self.slots);
            self.slots.zeroize();
            self.slots = more;
        }
        // Constants have keys 0 of the public value 0: the mask is the constant, a row that needs nobody else.
        self.slots[..2 * stride].fill(Block::ZERO);
        self.slots[stride..][..self.one.len()].copy_from_slice(&self.one);
    }

    /// Step 2: writes wires of new masks, which come as rows, with new keys.
    pub(crate) fn fresh(
        &mut self,
        rows: &[Block],
        wires: &mut [Block],
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) {
        let width = self.width();
        for (row, wire) in rows.chunks_exact(width).zip(wires.chunks_exact_mut(width + 1)) {
            wire[..width].copy_from_slice(row);
            wire[width] = self.keys.block().with_lsb(false);
            conduct.before(GarblingAct::NewKey(&mut wire[width]));
        }
    }

    /// Step 2 for the gates of a part: sums, and of each AND gate a new output wire, whose masks are `rows`.
    /// The gates are noted.
    pub(crate) fn walk(
        &mut self,
        part: &Part<'_>,
        rows: &[Block],
        gates: &mut Gates,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) {
        let (width, stride) = (self.width(), self.stride());
        let mut rows = rows;
        let mut fresh = Vec::new();
        for (xors, ands) in part.gates() {
            sums(&mut self.slots, xors, stride);
            if ands.is_empty() {
                continue;
            }
            let now;
            (now, rows) = rows.split_at(ands.len() * width);
            fresh.resize(ands.len() * stride, Block::ZERO);
            self.fresh(now, &mut fresh, conduct);
            for gate in ands {
                gates.u.extend_from_slice(&self.slots[gate.a() * stride..][..stride]);
                gates.v.extend_from_slice(&self.slots[gate.b() * stride..][..stride]);
            }
            for (gate, wire) in ands.iter().zip(fresh.chunks_exact(stride)) {
                self.slots[gate.out() * stride..][..stride].copy_from_slice(wire);
            }
            gates.w.extend_from_slice(&fresh);
            gates.batches.push(ands.len());
        }
        fresh.zeroize();
    }

    /// An output value, whose bits are these wires: gates with new masks, which come as rows. They are noted.
    pub(crate) fn output(
        &mut self,
        rows: &[Block],
        wires: &[Block],
        outputs: &mut Gates,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) {
        let mut fresh = vec![Block::ZERO; wires.len()];
        self.fresh(rows, &mut fresh, conduct);
        outputs.u.extend_from_slice(wires);
        outputs.w.extend_from_slice(&fresh);
        outputs.batches.push(wires.len() / self.stride());
        fresh.zeroize();
    }

    /// Steps 3d and 4: this party's shares of all rows of the gates, and of those of outputs, of which
    /// `strings` are shares of the products with the offsets: of all `lambda_u`, of all `lambda_v`, and of
    /// all `lambda_u lambda_v + lambda_w`; and of the outputs' `lambda_u + lambda_w`.
    pub(crate) fn garble(&mut self, gates: &Gates, outputs: &Gates, strings: &[Block]) -> Vec<Block> {
        let n = self.parties;
        let mut shares = vec![Block::ZERO; (gates.len() * ROWS + outputs.len() * OUTPUT_ROWS) * n];
        let (of_gates, of_outputs) = shares.split_at_mut(gates.len() * ROWS * n);
        let (strings, last) = strings.split_at(3 * gates.len() * n);
        self.garble_gates(gates, strings, of_gates);
        self.garble_outputs(outputs, last, of_outputs);
        shares
    }

    fn garble_outputs(&mut self, outputs: &Gates, strings: &[Block], shares: &mut [Block]) {
        let (n, width, stride) = (self.parties, self.width(), self.stride());
        let keys = outputs.w.chunks_exact(stride).map(|w| w[width]);
        for ((string, key), shares) in strings.chunks_exact(n).zip(keys).zip(shares.chunks_exact_mut(n * OUTPUT_ROWS)) {
            for (a, shares) in shares.chunks_exact_mut(n).enumerate() {
                add(shares, string);
                shares[self.me] ^= self.offset.masked(a > 0) ^ key;
            }
        }
        let mut zeros = outputs.u.chunks_exact(stride).map(|u| u[width]);
        let mut rest = shares;
        for &bits in &outputs.batches {
            let now;
            (now, rest) = rest.split_at_mut(bits * n * OUTPUT_ROWS);
            let zeros: Zeroizing<Vec<Block>> = Zeroizing::new(zeros.by_ref().take(bits).collect());
            self.hash.add_outputs(zeros.iter().copied(), now);
        }
    }

    fn garble_gates(&mut self, gates: &Gates, strings: &[Block], shares: &mut [Block]) {
        let (n, width, stride) = (self.parties, self.width(), self.stride());
        let mut strings = strings.chunks_exact((gates.len() * n).max(1));
        let [u, v, uvw] = [(); 3].map(|()| strings.next().unwrap_or_default().chunks_exact(n));
        let keys = gates.w.chunks_exact(stride).map(|w| w[width]);
        for ((((u, v), uvw), key), shares) in u.zip(v).zip(uvw).zip(keys).zip(shares.chunks_exact_mut(n * ROWS)) {
            for (row, shares) in shares.chunks_exact_mut(n).enumerate() {
                let (a, b) = (row & 2 > 0, row & 1 > 0);
                // rho of (3d): the term a b R^j is at party j alone.
                add(shares, uvw);
                if a {
                    add(shares, v);
                }
                if b {
                    add(shares, u);
                }
                shares[self.me] ^= self.offset.masked(a & b) ^ key;
            }
        }
        let (mut u, mut v) = (gates.u.chunks_exact(stride), gates.v.chunks_exact(stride));
        let mut rest = shares;
        for &ands in &gates.batches {
            let now;
            (now, rest) = rest.split_at_mut(ands * n * ROWS);
            let zeros: Vec<_> = u.by_ref().zip(v.by_ref()).take(ands).map(|(u, v)| [u[width], v[width]]).collect();
            self.hash.add(zeros.iter().copied(), now);
        }
    }
}

impl Drop for Garbling {
    fn drop(&mut self) {
        self.slots.zeroize();
        self.offset.zeroize();
    }
}

/// XOR gates over wires of `stride` blocks.
pub(crate) fn sums(slots: &mut [Block], gates: &[TapeGate], stride: usize) {
    for gate in gates {
        let [a, b, out] = [gate.a(), gate.b(), gate.out()].map(|slot| slot * stride);
        for i in 0..stride {
            slots[out + i] = slots[a + i] ^ slots[b + i];
        }
    }
}
