//! What a party holds of each wire while it evaluates: figure 9.
//!
//! A wire is `n` blocks: the active key of each party. Bit 0 of the own one is the public value. Where XOR
//! gates have rows keys tell nothing by themselves, and a wire is `n + 1` blocks: the last one is the public
//! value, 0 or 1, which follows from the own key.

use comity_core::{Backend, Bits, Block, Error, Part, Result, SessionId, declassify, verdict};
use subtle::{Choice, ConstantTimeEq};

use crate::checks;
use crate::chunk::with_constant;
use crate::garbling::sums;
use crate::hash::{ActiveHash, OUTPUT_ROWS, ROWS};
use crate::row_prf::{Kind, RowPrf};

/// The memory of an evaluating party.
pub(crate) struct Evaluating {
    pub(crate) slots: Vec<Block>,
    parties: usize,
    me: usize,
    way: Way,
    keys: Vec<Block>,
}

/// What hides rows, and which keys are of a wire.
enum Way {
    /// XOR is free.
    Free { hashes: Vec<ActiveHash>, offset: Block },
    /// XOR gates have rows.
    Garbled(RowPrf),
}

/// Rows of gates of a kind that are still to be evaluated, and this party's keys of their outputs.
pub(crate) struct Table<'t> {
    pub(crate) rows: &'t [Block],
    pub(crate) own: &'t [Block],
}

impl<'t> Table<'t> {
    /// Those of the next gate, which has `rows` rows.
    fn next(&mut self, rows: usize, parties: usize) -> (&'t [Block], [Block; 2]) {
        let (now, own);
        (now, self.rows) = self.rows.split_at(rows * parties);
        (own, self.own) = self.own.split_at(2);
        (now, [own[0], own[1]])
    }
}

impl Evaluating {
    /// The memory of party `me` of `parties`. Without an offset for all wires they have their own.
    pub(crate) fn new(
        backend: Backend,
        session: &SessionId,
        [me, parties]: [usize; 2],
        offset: Option<Block>,
    ) -> Evaluating {
        let hashes = || (0..parties).map(|party| ActiveHash::new(backend, session, party, parties)).collect();
        let way = match offset {
            Some(offset) => Way::Free { hashes: hashes(), offset },
            None => Way::Garbled(RowPrf::new(backend, parties)),
        };
        Evaluating { slots: Vec::new(), parties, me, way, keys: Vec::new() }
    }

    /// Blocks of a wire.
    pub(crate) fn stride(&self) -> usize {
        self.parties + self.keys_of_wire() - 1
    }

    /// This party's keys of a wire that it has to have: that of 0, or both.
    pub(crate) fn keys_of_wire(&self) -> usize {
        match self.way {
            Way::Free { .. } => 1,
            Way::Garbled(_) => 2,
        }
    }

    /// The own key of a public value, of the keys that this party has of a wire.
    pub(crate) fn own_key(&self, keys: &[Block], value: bool) -> Block {
        let offset = match &self.way {
            Way::Free { offset, .. } => *offset,
            Way::Garbled(_) => keys[0] ^ keys[1],
        };
        keys[0] ^ offset.masked(value)
    }

    /// Makes room for the slots of a tape. Constants have public value 0 and keys 0.
    pub(crate) fn grow(&mut self, slots: usize) {
        let wanted = slots.max(2) * self.stride();
        if self.slots.len() < wanted {
            self.slots.resize(wanted, Block::ZERO);
        }
        let constants = 2 * self.stride();
        self.slots[..constants].fill(Block::ZERO);
    }

    /// Steps 1 to 5 for the gates of a part: AND gates, and XOR gates that have rows. What was used of the
    /// tables is cut off.
    ///
    /// # Errors
    /// [`GARBLED_ROW`](checks::GARBLED_ROW) if an own key is not one of the two.
    pub(crate) fn walk(&mut self, part: &Part<'_>, [table, xor_table]: [&mut Table<'_>; 2]) -> Result<()> {
        let stride = self.stride();
        let Evaluating { slots, me, way: Way::Garbled(prf), .. } = self else {
            return self.walk_free(part, &mut table.rows, &mut table.own);
        };
        let mut waiting = Waiting::new(*me, stride);
        for (xors, ands) in part.gates() {
            for gate in xors {
                if waiting.is_full() || [gate.a(), gate.b(), gate.out()].iter().any(|slot| waiting.outs.contains(slot))
                {
                    waiting.open_into(prf, Kind::Xor, xor_table, slots)?;
                }
                if with_constant(gate) {
                    let wire = gate.a().max(gate.b());
                    slots.copy_within(wire * stride..(wire + 1) * stride, gate.out() * stride);
                } else {
                    waiting.add([gate.a(), gate.b()].map(|slot| &slots[slot * stride..][..stride]), gate.out());
                }
            }
            waiting.open_into(prf, Kind::Xor, xor_table, slots)?;
            for gates in ands.chunks(TOGETHER) {
                for gate in gates {
                    waiting.add([gate.a(), gate.b()].map(|slot| &slots[slot * stride..][..stride]), gate.out());
                }
                waiting.open_into(prf, Kind::And, table, slots)?;
            }
        }
        Ok(())
    }

    /// Steps 1 to 5 where XOR is free. `table` has the rows, and `zeros` this party's keys of 0 of the gates'
    /// outputs.
    fn walk_free(&mut self, part: &Part<'_>, table: &mut &[Block], zeros: &mut &[Block]) -> Result<()> {
        let (n, me) = (self.parties, self.me);
        for (xors, ands) in part.gates() {
            sums(&mut self.slots, xors, n);
            if ands.is_empty() {
                continue;
            }
            let (rows, own);
            (rows, *table) = table.split_at(ands.len() * n * ROWS);
            (own, *zeros) = zeros.split_at(ands.len());
            self.keys.clear();
            for (gate, rows) in ands.iter().zip(rows.chunks_exact(n * ROWS)) {
                // Nobody knows the masks that these values are under.
                let public = |slot: usize| declassify(self.slots[slot * n + me].lsb(), "an external value is public");
                let [a, b] = [gate.a(), gate.b()].map(|slot| usize::from(public(slot)));
                self.keys.extend_from_slice(&rows[(2 * a + b) * n..][..n]);
            }
            let Way::Free { hashes, .. } = &mut self.way else { unreachable!("XOR is free") };
            for (party, hash) in hashes.iter_mut().enumerate() {
                let of = |slot: usize| self.slots[slot * n + party];
                hash.add(ands.iter().map(|gate| [of(gate.a()), of(gate.b())]), &mut self.keys);
            }
            self.check(own)?;
            for (gate, keys) in ands.iter().zip(self.keys.chunks_exact(n)) {
                self.slots[gate.out() * n..][..n].copy_from_slice(keys);
            }
        }
        Ok(())
    }

    /// The same for the gates of an output's bits, of whose wires these are the active keys. Returns the
    /// public values.
    ///
    /// # Errors
    /// As [`Evaluating::walk`].
    pub(crate) fn reveal(&mut self, wires: &[Block], table: &mut Table<'_>) -> Result<Bits> {
        let stride = self.stride();
        let Evaluating { me, way: Way::Garbled(prf), .. } = self else {
            return self.reveal_free(wires, &mut table.rows, &mut table.own);
        };
        let mut waiting = Waiting::new(*me, stride);
        let mut values = Bits::default();
        for wires in wires.chunks(TOGETHER * stride) {
            wires.chunks_exact(stride).enumerate().for_each(|(i, wire)| waiting.add([wire], i));
            let opened = waiting.open(prf, Kind::Output, table)?;
            values.extend_from(&opened.chunks_exact(stride).map(|wire| wire[stride - 1].lsb()).collect());
        }
        Ok(values)
    }

    fn reveal_free(&mut self, wires: &[Block], table: &mut &[Block], zeros: &mut &[Block]) -> Result<Bits> {
        let (n, me) = (self.parties, self.me);
        let bits = wires.len() / n;
        let (rows, own);
        (rows, *table) = table.split_at(bits * n * OUTPUT_ROWS);
        (own, *zeros) = zeros.split_at(bits);
        self.keys.clear();
        for (wire, rows) in wires.chunks_exact(n).zip(rows.chunks_exact(n * OUTPUT_ROWS)) {
            let a = usize::from(declassify(wire[me].lsb(), "an external value is public"));
            self.keys.extend_from_slice(&rows[a * n..][..n]);
        }
        let Way::Free { hashes, .. } = &mut self.way else { unreachable!("XOR is free") };
        for (party, hash) in hashes.iter_mut().enumerate() {
            hash.add_outputs(wires.chunks_exact(n).map(|wire| wire[party]), &mut self.keys);
        }
        self.check(own)?;
        Ok(self.keys.chunks_exact(n).map(|key| key[me].lsb()).collect())
    }

    /// Step 4: whether each own key is one of the two of its wire.
    fn check(&self, zeros: &[Block]) -> Result<()> {
        let Way::Free { offset, .. } = &self.way else { unreachable!("XOR is free") };
        let mut whole = Choice::from(1);
        for (key, zero) in self.keys.chunks_exact(self.parties).zip(zeros) {
            let difference = key[self.me] ^ *zero;
            whole &= difference.ct_eq(&Block::ZERO) | difference.ct_eq(offset);
        }
        if verdict(whole) { Ok(()) } else { Err(Error::from(checks::GARBLED_ROW)) }
    }
}

/// Gates that are evaluated together at most.
const TOGETHER: usize = 16;

/// Gates that wait to be evaluated, where wires have offsets of their own: none reads what another one writes.
struct Waiting {
    me: usize,
    /// Blocks of a wire.
    stride: usize,
    /// The number of the row of each that its public values name, and the active keys of its inputs.
    rows: Vec<usize>,
    keys: Vec<Block>,
    /// Where its output is to be.
    outs: Vec<usize>,
}

impl Waiting {
    fn new(me: usize, stride: usize) -> Waiting {
        Waiting { me, stride, rows: Vec::new(), keys: Vec::new(), outs: Vec::new() }
    }

    fn is_full(&self) -> bool {
        self.outs.len() == TOGETHER
    }

    /// A gate with these inputs.
    fn add<const K: usize>(&mut self, inputs: [&[Block]; K], out: usize) {
        let n = self.stride - 1;
        // Nobody knows the masks that these values are under.
        let public = |input: &[Block]| usize::from(declassify(input[n].lsb(), "an external value is public"));
        self.rows.push(inputs.iter().fold(0, |row, input| 2 * row + public(input)));
        inputs.iter().for_each(|input| self.keys.extend_from_slice(&input[..n]));
        self.outs.push(out);
    }

    /// The output wires of the gates, from their rows and both own keys of each output.
    fn open(&mut self, prf: &mut RowPrf, kind: Kind, table: &mut Table<'_>) -> Result<Vec<Block>> {
        let n = self.stride - 1;
        let mut entries = Vec::with_capacity(self.rows.len() * n);
        let mut pairs = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let (rows, own) = table.next(1 << kind.sides(), n);
            entries.extend_from_slice(&rows[row * n..][..n]);
            pairs.push(own);
        }
        prf.add_active(kind, &self.keys, &self.rows, &mut entries);
        let mut wires = Vec::with_capacity(self.rows.len() * self.stride);
        let mut whole = Choice::from(1);
        for (keys, own) in entries.chunks_exact(n).zip(&pairs) {
            let [zero, one] = own.map(|own| keys[self.me].ct_eq(&own));
            whole &= zero | one;
            wires.extend_from_slice(keys);
            wires.push(Block::from_u128(one.unwrap_u8().into()));
        }
        self.rows.clear();
        self.keys.clear();
        self.outs.clear();
        if verdict(whole) { Ok(wires) } else { Err(Error::from(checks::GARBLED_ROW)) }
    }

    /// The same, in their places.
    fn open_into(&mut self, prf: &mut RowPrf, kind: Kind, table: &mut Table<'_>, slots: &mut [Block]) -> Result<()> {
        let outs = core::mem::take(&mut self.outs);
        let wires = self.open(prf, kind, table)?;
        for (out, wire) in outs.iter().zip(wires.chunks_exact(self.stride)) {
            slots[out * self.stride..][..self.stride].copy_from_slice(wire);
        }
        Ok(())
    }
}
