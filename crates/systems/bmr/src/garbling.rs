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
//! with its mask the party that speaks last knew the sum of the others' inputs before it said its own, and could
//! choose the output. The public value of `w` is seen only with keys of `u`, and these leave when all public
//! values of inputs are fixed. All outputs pass such a gate: the sum of two that have a gate in common may be a sum
//! of inputs, too.
//!
//! Bit 0 of a key of 0 is 0 and of `R` is 1, so that bit 0 of a party's own active key is the wire's public
//! value (figure 9, step 4).
//!
//! *XOR gates in rows* ([`Xor::Garbled`]; Lindell, Pinkas, Smart, Yanai, Crypto 2015). A wire has this party's
//! key of the public value 1, too, and no two keys have anything in common. `R^j` above is the offset of the
//! gate's output `w`. An XOR gate has rows and a mask like an AND gate, where the sum of `lambda_u`, `lambda_v`
//! and `lambda_w` takes the place of the product. NOT is free: its mask is the other one, and keys and public
//! value stay. A constant's key of its public value is zero, and its other key is secret, so that only the rows
//! of that value open.

use comity_core::{Backend, Block, Part, Prg, SessionId, TapeGate};
use comity_protocol::Conduct;
use zeroize::{Zeroize, Zeroizing};

use crate::act::GarblingAct;
use crate::chunk::with_constant;
use crate::hash::{OUTPUT_ROWS, ROWS, RowHash, add};
#[cfg(doc)]
use crate::masks::Xor;
use crate::row_prf::{Kind, RowPrf};

/// The memory of a garbling party.
pub(crate) struct Garbling {
    pub(crate) slots: Vec<Block>,
    parties: usize,
    /// The row of the constant one.
    one: Vec<Block>,
    keys: Prg,
    way: Way,
    me: usize,
}

/// How rows are hidden, and what keys of 1 are.
enum Way {
    /// XOR is free: keys of 1 follow from the offset.
    Free { hash: Box<RowHash>, offset: Block },
    /// XOR gates have rows. A wire has both keys; the constants' key of 1 is this.
    Garbled { prf: RowPrf, constant: Block },
}

/// New wires: rows of their masks, and, where wires have their own, this party's offsets and the numbers of
/// these.
#[derive(Default)]
pub(crate) struct Fresh {
    pub(crate) rows: Zeroizing<Vec<Block>>,
    pub(crate) offsets: Zeroizing<Vec<Block>>,
    pub(crate) first: usize,
}

impl Fresh {
    /// Those that follow one another, of this width.
    fn take(&self, used: &mut usize, wires: usize, width: usize) -> New<'_> {
        let range = *used..*used + wires;
        *used = range.end;
        let offsets = if self.offsets.is_empty() { &[][..] } else { &self.offsets[range.clone()] };
        New { rows: &self.rows[range.start * width..range.end * width], offsets, first: self.first + range.start }
    }
}

/// Some of them.
#[derive(Clone, Copy)]
struct New<'f> {
    rows: &'f [Block],
    offsets: &'f [Block],
    first: usize,
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
    /// The numbers of the outputs' offsets, where wires have their own.
    pub(crate) wires: Vec<usize>,
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
    /// The memory of party `me` of `parties`, whose keys come from `seed`, and whose row of the constant one
    /// is `one`. Without an offset for all wires they have their own.
    pub(crate) fn new(
        backend: Backend,
        session: &SessionId,
        [me, parties]: [usize; 2],
        offset: Option<Block>,
        one: Vec<Block>,
        seed: Block,
    ) -> Garbling {
        let mut keys = Prg::new(backend, seed);
        let way = match offset {
            Some(offset) => Way::Free { hash: Box::new(RowHash::new(backend, session, me, parties, offset)), offset },
            None => Way::Garbled { prf: RowPrf::new(backend, parties), constant: keys.block() },
        };
        Garbling { slots: Vec::new(), parties, one, keys, way, me }
    }

    /// Blocks of the row of a mask.
    pub(crate) fn width(&self) -> usize {
        self.one.len()
    }

    /// Blocks of a wire: a row, and this party's key of 0, or both of its keys.
    pub(crate) fn stride(&self) -> usize {
        self.width() + self.keys_of_wire()
    }

    fn keys_of_wire(&self) -> usize {
        match self.way {
            Way::Free { .. } => 1,
            Way::Garbled { .. } => 2,
        }
    }

    /// This party's offset of a wire.
    fn offset_of(&self, wire: &[Block]) -> Block {
        match (&self.way, &wire[self.width()..]) {
            (Way::Free { offset, .. }, _) => *offset,
            (Way::Garbled { .. }, keys) => keys[0] ^ keys[1],
        }
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
        // Constants have keys 0 of the public value 0: the mask is the constant, a row that needs nobody
        // else.
        self.slots[..2 * stride].fill(Block::ZERO);
        self.slots[stride..][..self.one.len()].copy_from_slice(&self.one);
        if let Way::Garbled { constant, .. } = self.way {
            [stride - 1, 2 * stride - 1].into_iter().for_each(|at| self.slots[at] = constant);
        }
    }

    /// Step 2 of wires of inputs, which come as rows of new masks: they have new keys, and offsets that
    /// nobody else has a share of.
    pub(crate) fn input(
        &mut self,
        mut fresh: Fresh,
        wires: &mut [Block],
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) {
        if let Way::Garbled { .. } = self.way {
            fresh.offsets = Zeroizing::new(vec![Block::ZERO; fresh.rows.len() / self.width()]);
            self.keys.fill_blocks(&mut fresh.offsets);
        }
        let all = fresh.take(&mut 0, fresh.rows.len() / self.width(), self.width());
        self.fresh(all, wires, conduct);
    }

    /// Step 2: writes wires of new masks with new keys.
    fn fresh(&mut self, new: New<'_>, wires: &mut [Block], conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>) {
        let (width, stride) = (self.width(), self.stride());
        for (i, (row, wire)) in new.rows.chunks_exact(width).zip(wires.chunks_exact_mut(stride)).enumerate() {
            wire[..width].copy_from_slice(row);
            let key = self.keys.block();
            wire[width] = if let Way::Free { .. } = self.way { key.with_lsb(false) } else { key };
            conduct.before(GarblingAct::NewKey(&mut wire[width]));
            if let Some(offset) = new.offsets.get(i) {
                wire[width + 1] = wire[width] ^ *offset;
            }
        }
    }

    /// Step 2 for the gates of a part: sums, and of each AND gate, and each XOR gate with rows, a new output
    /// wire, of those in `fresh` in turn. The gates are noted.
    pub(crate) fn walk(
        &mut self,
        part: &Part<'_>,
        fresh: &Fresh,
        [gates, xor_gates]: [&mut Gates; 2],
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) {
        let (width, stride) = (self.width(), self.stride());
        let mut used = 0;
        let mut wires = Zeroizing::new(Vec::new());
        for (xors, ands) in part.gates() {
            match self.way {
                Way::Free { .. } => sums(&mut self.slots, xors, stride),
                // One after another: a gate may take another one's output.
                Way::Garbled { .. } => {
                    wires.resize(stride, Block::ZERO);
                    for gate in xors {
                        if with_constant(gate) {
                            self.not(gate);
                            continue;
                        }
                        let new = fresh.take(&mut used, 1, width);
                        self.fresh(new, &mut wires, conduct);
                        self.note(core::slice::from_ref(gate), new, &wires, xor_gates);
                    }
                }
            }
            if ands.is_empty() {
                continue;
            }
            let new = fresh.take(&mut used, ands.len(), width);
            wires.resize(ands.len() * stride, Block::ZERO);
            self.fresh(new, &mut wires, conduct);
            self.note(ands, new, &wires, gates);
        }
    }

    /// Notes gates that do not depend on one another, with their new output wires.
    fn note(&mut self, of: &[TapeGate], new: New<'_>, wires: &[Block], gates: &mut Gates) {
        let stride = self.stride();
        for gate in of {
            gates.u.extend_from_slice(&self.slots[gate.a() * stride..][..stride]);
            gates.v.extend_from_slice(&self.slots[gate.b() * stride..][..stride]);
        }
        for (gate, wire) in of.iter().zip(wires.chunks_exact(stride)) {
            self.slots[gate.out() * stride..][..stride].copy_from_slice(wire);
        }
        gates.w.extend_from_slice(wires);
        gates.batches.push(of.len());
        gates.wires.extend(new.first..new.first + new.offsets.len());
    }

    /// The sum of a wire and a constant: the mask changes by it, and keys stay.
    fn not(&mut self, gate: &TapeGate) {
        let (constant, wire) = if gate.a() < 2 { (gate.a(), gate.b()) } else { (gate.b(), gate.a()) };
        let (stride, out) = (self.stride(), gate.out() * self.stride());
        self.slots.copy_within(wire * stride..(wire + 1) * stride, out);
        if constant == 1 {
            add(&mut self.slots[out..], &self.one);
        }
    }

    /// An output value, whose bits are these wires: gates with new masks. They are noted.
    pub(crate) fn output(
        &mut self,
        fresh: &Fresh,
        wires: &[Block],
        outputs: &mut Gates,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) {
        let bits = wires.len() / self.stride();
        let new = fresh.take(&mut 0, bits, self.width());
        let mut behind = Zeroizing::new(vec![Block::ZERO; wires.len()]);
        self.fresh(new, &mut behind, conduct);
        outputs.u.extend_from_slice(wires);
        outputs.w.extend_from_slice(&behind);
        outputs.batches.push(bits);
        outputs.wires.extend(new.first..new.first + new.offsets.len());
    }

    /// Steps 3d and 4: this party's shares of all rows of AND gates, of XOR gates that have some, and of
    /// those of outputs, of which `strings` are shares of the products with the offsets: of all `lambda_u`,
    /// of all `lambda_v`, and of all `lambda_u lambda_v + lambda_w`; of the XOR gates' `lambda_u + lambda_v +
    /// lambda_w`; and of the outputs' `lambda_u + lambda_w`.
    pub(crate) fn garble(&mut self, [gates, xors, outputs]: [&Gates; 3], strings: &[Block]) -> Vec<Block> {
        let n = self.parties;
        let blocks = [gates.len() * ROWS * n, xors.len() * ROWS * n, outputs.len() * OUTPUT_ROWS * n];
        let mut shares = vec![Block::ZERO; blocks.iter().sum()];
        let (of_gates, rest) = shares.split_at_mut(blocks[0]);
        let (of_xors, of_outputs) = rest.split_at_mut(blocks[1]);
        let (strings, rest) = strings.split_at(3 * gates.len() * n);
        let (of_sums, last) = rest.split_at(xors.len() * n);
        self.garble_gates(gates, strings, of_gates);
        self.garble_sums(xors, Kind::Xor, of_sums, of_xors);
        self.garble_sums(outputs, Kind::Output, last, of_outputs);
        shares
    }

    /// Both keys of a wire, where it has them.
    fn pair(&self, wire: &[Block]) -> [Block; 2] {
        [wire[self.width()], wire[self.width() + 1]]
    }

    /// Rows of gates whose value is a sum: of both inputs and the mask of `w`, or of the one that an output
    /// has.
    fn garble_sums(&mut self, gates: &Gates, kind: Kind, strings: &[Block], shares: &mut [Block]) {
        let (n, width, stride) = (self.parties, self.width(), self.stride());
        let rows = if let Kind::Output = kind { OUTPUT_ROWS } else { ROWS };
        let of_gates = gates.w.chunks_exact(stride).zip(strings.chunks_exact(n));
        for ((w, string), shares) in of_gates.zip(shares.chunks_exact_mut(n * rows)) {
            let (key, offset) = (w[width], self.offset_of(w));
            for (row, shares) in shares.chunks_exact_mut(n).enumerate() {
                add(shares, string);
                shares[self.me] ^= offset.masked(row.count_ones() & 1 == 1) ^ key;
            }
        }
        if let Way::Garbled { .. } = self.way {
            self.add_prf(gates, kind, shares);
            return;
        }
        self.add_outputs(gates, shares);
    }

    /// Adds the values of the PRF under both keys of each input of these gates, some gates at a time.
    fn add_prf(&mut self, gates: &Gates, kind: Kind, shares: &mut [Block]) {
        const TOGETHER: usize = 64;
        let (n, stride) = (self.parties, self.stride());
        let mut v = gates.v.chunks_exact(stride);
        let mut sides = Zeroizing::new(Vec::with_capacity(2 * TOGETHER));
        for (u, shares) in gates.u.chunks(TOGETHER * stride).zip(shares.chunks_mut((TOGETHER * n) << kind.sides())) {
            sides.clear();
            for u in u.chunks_exact(stride) {
                sides.extend([Some(u), v.next()].into_iter().flatten().map(|wire| self.pair(wire)));
            }
            let Way::Garbled { prf, .. } = &mut self.way else { unreachable!("wires have both keys") };
            prf.add_rows(kind, &sides, shares);
        }
    }

    fn add_outputs(&mut self, outputs: &Gates, shares: &mut [Block]) {
        let (n, width, stride) = (self.parties, self.width(), self.stride());
        let Way::Free { hash, .. } = &mut self.way else { unreachable!("wires have one key") };
        let mut zeros = outputs.u.chunks_exact(stride).map(|u| u[width]);
        let mut rest = shares;
        for &bits in &outputs.batches {
            let now;
            (now, rest) = rest.split_at_mut(bits * n * OUTPUT_ROWS);
            let zeros: Zeroizing<Vec<Block>> = Zeroizing::new(zeros.by_ref().take(bits).collect());
            hash.add_outputs(zeros.iter().copied(), now);
        }
    }

    fn garble_gates(&mut self, gates: &Gates, strings: &[Block], shares: &mut [Block]) {
        let (n, width, stride) = (self.parties, self.width(), self.stride());
        let mut strings = strings.chunks_exact((gates.len() * n).max(1));
        let [u, v, uvw] = [(); 3].map(|()| strings.next().unwrap_or_default().chunks_exact(n));
        let w = gates.w.chunks_exact(stride);
        for ((((u, v), uvw), w), shares) in u.zip(v).zip(uvw).zip(w).zip(shares.chunks_exact_mut(n * ROWS)) {
            let (key, offset) = (w[width], self.offset_of(w));
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
                shares[self.me] ^= offset.masked(a & b) ^ key;
            }
        }
        let Way::Free { hash, .. } = &mut self.way else { return self.add_prf(gates, Kind::And, shares) };
        let (mut u, mut v) = (gates.u.chunks_exact(stride), gates.v.chunks_exact(stride));
        let mut rest = shares;
        for &ands in &gates.batches {
            let now;
            (now, rest) = rest.split_at_mut(ands * n * ROWS);
            let zeros: Vec<_> = u.by_ref().zip(v.by_ref()).take(ands).map(|(u, v)| [u[width], v[width]]).collect();
            hash.add(zeros.iter().copied(), now);
        }
    }
}

impl Drop for Garbling {
    fn drop(&mut self) {
        self.slots.zeroize();
        match &mut self.way {
            Way::Free { offset, .. } => offset.zeroize(),
            Way::Garbled { constant, .. } => constant.zeroize(),
        }
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
