//! What a party holds of some wires: of a single call a byte a wire, of calls side by side packed words.
//!
//! Of a wire of calls side by side the shares lie packed, 64 calls a word, so that a gate is an operation on
//! a few words; of a single call a wire is a byte, and the ANDs of a layer are packed into words.

use comity_circuit::{Lowered, NoMemory, Place};
use comity_core::{Backend, TapeGate, Vectorize};
use comity_share::bits::BitShares;
use core::ops::Range;
use zeroize::{Zeroize, Zeroizing};

use crate::engine::evenly;
use crate::rows::WireRows;
use columns::{Pack, Span, Unpack};

mod columns;

/// The number of ANDs whose bits go to each peer in one message.
pub const PIECE: usize = 1 << 18;

/// Words of calls side by side: 8 MiB.
const WORDS: usize = (8 << 20) / 8;

/// The most AND gates of the calls that the walk over a program hands on at once.
const HANDED: u64 = 1 << 22;

/// Independent ANDs: access to their operands and to the places of their results.
pub trait BitOperands {
    /// The number of ANDs.
    fn len(&self) -> usize;

    /// Whether there are no ANDs.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the groups of ANDs that must not be split between messages: at most [`PIECE`], and a
    /// divisor of the number of all ANDs.
    fn together(&self) -> usize {
        1
    }

    /// Appends the operands of the next ANDs, `count` of them.
    fn read(&mut self, count: usize, x: &mut BitShares, y: &mut BitShares);

    /// Takes the results of the next ANDs.
    fn write(&mut self, results: &BitShares);

    /// The numbers of ANDs that go in one message each.
    fn pieces(&self) -> impl Iterator<Item = usize> + use<Self> {
        pieces(self.len(), self.together())
    }
}

/// Splits `all` ANDs into messages: the number of ANDs of each, where groups of `together` stay in one
/// message.
fn pieces(all: usize, together: usize) -> impl Iterator<Item = usize> {
    let whole = PIECE / together * together;
    (0..all).step_by(whole).map(move |at| whole.min(all - at))
}

/// The shares of some wires, in one copy or in several.
pub struct BitRows {
    backend: Backend,
    copies: usize,
    /// The wires of one copy, a byte each, zero or one.
    bytes: Zeroizing<Vec<u8>>,
    /// The wires of more: slot after slot, of each slot 64 copies a word.
    words: Zeroizing<Vec<u64>>,
}

impl BitRows {
    /// No wires.
    pub fn new(backend: Backend) -> BitRows {
        BitRows { backend, copies: 0, bytes: Zeroizing::default(), words: Zeroizing::default() }
    }

    /// The number of calls that run side by side, of `times` calls of a circuit of `slots` slots.
    pub fn together(slots: usize, times: u64) -> u64 {
        // If the circuit is one gate, all these calls go in one message.
        evenly(times, (WORDS / slots * 64).clamp(64, PIECE) as u64)
    }

    /// The messages of `times` calls of a circuit: `each` gets the number of ANDs of a message, and how many
    /// messages have that number.
    pub fn messages(circuit: &Lowered, times: u64, mut each: impl FnMut(u64, u64)) {
        let layered = circuit.layered();
        let mut turns = |copies: u64, turns: u64| {
            for layer in layered.layers().iter().filter(|layer| layer.ands > 0 && copies > 0 && turns > 0) {
                pieces(layer.ands * copies as usize, copies as usize).for_each(|ands| each(ands as u64, turns));
            }
        };
        BitRows::handed(circuit, times, |calls, handed| {
            let copies = BitRows::together(layered.slots(), calls);
            turns(copies, calls / copies * handed);
            turns(calls % copies, handed);
        });
    }

    /// How the engine is given `times` calls of a circuit
    /// ([`Engine::at_once`](comity_circuit::Engine::at_once)): `each` gets a number of calls that come at
    /// once, and how often that happens.
    pub fn handed(circuit: &Lowered, times: u64, mut each: impl FnMut(u64, u64)) {
        let handed = (HANDED / (circuit.tape().ands().len() as u64).max(1)).max(1);
        for (calls, turns) in [(handed, times / handed), (times % handed, 1)] {
            if calls > 0 && turns > 0 {
                each(calls, turns);
            }
        }
    }

    /// Words of a slot.
    fn width(&self) -> usize {
        self.copies.div_ceil(64)
    }

    fn row(&self, slot: usize) -> &[u64] {
        &self.words[slot * self.width()..][..self.width()]
    }

    fn row_mut(&mut self, slot: usize) -> &mut [u64] {
        let width = self.width();
        &mut self.words[slot * width..][..width]
    }

    /// Writes a share of a constant into all copies of a slot.
    pub fn fill(&mut self, slot: usize, share: bool) {
        match self.copies {
            1 => self.bytes[slot] = share.into(),
            _ => self.row_mut(slot).fill(if share { u64::MAX } else { 0 }),
        }
    }

    /// The wires of one copy, a byte each, zero or one.
    pub fn wires(&self) -> &[u8] {
        &self.bytes
    }

    /// The wires of one copy. What is written must be zero or one.
    pub fn wires_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The shares of some wires of one copy, packed.
    pub fn pack(&self, wires: Range<usize>) -> BitShares {
        let mut shares = BitShares::with_room(wires.len());
        for wires in self.bytes[wires].chunks(64) {
            let word = wires.iter().enumerate().fold(0, |word, (i, &share)| word | u64::from(share) << i);
            shares.push(&[word], wires.len());
        }
        shares
    }

    /// Writes packed shares into the wires of one copy from `start` on.
    pub fn unpack(&mut self, shares: &BitShares, start: usize) {
        let wires = &mut self.bytes[start..start + shares.len()];
        for (wires, &word) in wires.chunks_mut(64).zip(shares.words()) {
            wires.iter_mut().enumerate().for_each(|(i, wire)| *wire = (word >> i & 1) as u8);
        }
    }

    /// The values of `wires` wires of `copies` calls from `first` on at a place of one copy: bit `t` of all of
    /// them for each `t`.
    pub fn columns(&self, at: Place, wires: usize, first: u64, copies: usize) -> Vec<BitShares> {
        let width = copies.div_ceil(64);
        let mut words = Zeroizing::new(vec![0; wires * width]);
        let span = Span { at, wires, first, copies };
        self.backend.vectorize(Pack { memory: &self.bytes, span, rows: &mut words });
        words.chunks_exact(width).map(|row| BitShares::from_words(row.to_vec(), copies)).collect()
    }

    /// Puts values back where [`columns`](BitRows::columns) reads them.
    pub fn put_columns(&mut self, at: Place, first: u64, columns: &[BitShares]) {
        let copies = columns.first().map_or(0, BitShares::len);
        let span = Span { at, wires: columns.len(), first, copies };
        self.backend.vectorize(Unpack { memory: &mut self.bytes, span, row: |wire: usize| columns[wire].words() });
    }

    /// Does the XOR gates of a layer.
    pub fn add(&mut self, gates: &[TapeGate]) {
        if self.copies == 1 {
            let wires = &mut self.bytes;
            for gate in gates {
                wires[gate.out()] = wires[gate.a()] ^ wires[gate.b()];
            }
            return;
        }
        let width = self.width();
        self.backend.vectorize(Xors { wires: &mut self.words, gates, width });
    }

    /// The operands of the AND gates of a layer, in one call. `None` if there are several copies.
    pub fn single<'a>(&'a mut self, gates: &'a [TapeGate]) -> Option<impl BitOperands + 'a> {
        (self.copies == 1).then(|| Single { wires: &mut self.bytes, gates, read: 0, written: 0 })
    }

    /// The operands of the AND gates of a layer of calls side by side.
    pub fn lanes<'a>(&'a mut self, gates: &'a [TapeGate]) -> impl BitOperands + 'a {
        let (width, copies) = (self.width(), self.copies);
        Lanes { wires: &mut self.words, gates, width, copies, read: 0, written: 0 }
    }
}

impl WireRows for BitRows {
    fn shape(&mut self, slots: usize, copies: usize) -> Result<(), NoMemory> {
        self.copies = copies;
        match copies {
            1 => grow(&mut self.bytes, slots),
            _ => grow(&mut self.words, slots.saturating_mul(copies.div_ceil(64))),
        }
    }

    fn load(&mut self, slot: usize, from: &BitRows, at: Place, first: u64) {
        self.load_value(slot..slot + 1, from, at, first);
    }

    fn store(&self, slot: usize, to: &mut BitRows, at: Place, first: u64) {
        self.store_value(&[slot as u32], to, at, first);
    }

    fn load_value(&mut self, slots: Range<usize>, from: &BitRows, at: Place, first: u64) {
        if self.copies == 1 {
            let start = at.at(first);
            self.bytes[slots.clone()].copy_from_slice(&from.bytes[start..start + slots.len()]);
            return;
        }
        let (width, span) = (self.width(), Span { at, wires: slots.len(), first, copies: self.copies });
        let rows = &mut self.words[slots.start * width..slots.end * width];
        self.backend.vectorize(Pack { memory: &from.bytes, span, rows });
    }

    fn store_value(&self, slots: &[u32], to: &mut BitRows, at: Place, first: u64) {
        if self.copies == 1 {
            let to = &mut to.bytes[at.at(first)..][..slots.len()];
            to.iter_mut().zip(slots).for_each(|(to, &slot)| *to = self.bytes[slot as usize]);
            return;
        }
        let span = Span { at, wires: slots.len(), first, copies: self.copies };
        self.backend.vectorize(Unpack { memory: &mut to.bytes, span, row: |wire| self.row(slots[wire] as usize) });
    }
}

/// Makes room for all that are wanted; new ones are zero.
fn grow<W: Copy + Default + Zeroize>(wires: &mut Zeroizing<Vec<W>>, wanted: usize) -> Result<(), NoMemory> {
    if wires.len() < wanted {
        // Memory that is moved is not wiped where it was.
        wires.zeroize();
        let room = wires.try_reserve_exact(wanted);
        room.map_err(|_| NoMemory { wires: wanted as u64, bytes: size_of::<W>() })?;
        wires.resize(wanted, W::default());
    }
    Ok(())
}

/// XOR gates on words.
struct Xors<'a> {
    wires: &'a mut [u64],
    gates: &'a [TapeGate],
    width: usize,
}

impl Vectorize for Xors<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let run = |slot: usize| slot * self.width..(slot + 1) * self.width;
        for gate in self.gates {
            // The lowering gives the output a slot that the gate does not read.
            match self.wires.get_disjoint_mut([run(gate.a()), run(gate.b()), run(gate.out())]) {
                Ok([a, b, out]) => {
                    for ((out, a), b) in out.iter_mut().zip(&*a).zip(&*b) {
                        *out = a ^ b;
                    }
                }
                // A wire plus itself.
                Err(_) => self.wires[run(gate.out())].fill(0),
            }
        }
    }
}

/// AND gates of a layer of a single call.
struct Single<'a> {
    wires: &'a mut [u8],
    gates: &'a [TapeGate],
    read: usize,
    written: usize,
}

impl BitOperands for Single<'_> {
    fn len(&self) -> usize {
        self.gates.len()
    }

    fn read(&mut self, count: usize, x: &mut BitShares, y: &mut BitShares) {
        for gates in self.gates[self.read..][..count].chunks(64) {
            let (mut a, mut b) = (0, 0);
            for (i, gate) in gates.iter().enumerate() {
                a |= u64::from(self.wires[gate.a()]) << i;
                b |= u64::from(self.wires[gate.b()]) << i;
            }
            x.push(&[a], gates.len());
            y.push(&[b], gates.len());
        }
        self.read += count;
    }

    fn write(&mut self, results: &BitShares) {
        let gates = &self.gates[self.written..][..results.len()];
        for (gates, word) in gates.chunks(64).zip(results.words()) {
            for (i, gate) in gates.iter().enumerate() {
                self.wires[gate.out()] = (word >> i & 1) as u8;
            }
        }
        self.written += results.len();
    }
}

/// AND gates of a layer of calls side by side: gate after gate, of each call after call.
struct Lanes<'a> {
    wires: &'a mut [u64],
    gates: &'a [TapeGate],
    width: usize,
    copies: usize,
    /// Gates that were read, and that were written.
    read: usize,
    written: usize,
}

impl BitOperands for Lanes<'_> {
    fn len(&self) -> usize {
        self.gates.len() * self.copies
    }

    fn together(&self) -> usize {
        self.copies
    }

    fn read(&mut self, count: usize, x: &mut BitShares, y: &mut BitShares) {
        let gates = &self.gates[self.read..][..count / self.copies];
        for gate in gates {
            let wire = |slot: usize| &self.wires[slot * self.width..][..self.width];
            x.push(wire(gate.a()), self.copies);
            y.push(wire(gate.b()), self.copies);
        }
        self.read += gates.len();
    }

    fn write(&mut self, results: &BitShares) {
        let gates = &self.gates[self.written..][..results.len() / self.copies];
        for (gate, start) in gates.iter().zip((0..).step_by(self.copies)) {
            results.copy_to(start, self.copies, &mut self.wires[gate.out() * self.width..][..self.width]);
        }
        self.written += gates.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of one copy, all over the place.
    fn memory(wires: usize) -> BitRows {
        let mut memory = BitRows::new(Backend::detect());
        memory.shape(wires, 1).unwrap();
        memory.bytes.iter_mut().enumerate().for_each(|(i, wire)| *wire = (i * i / 3 % 7 % 2) as u8);
        memory
    }

    /// Values of any width, of any number of calls that lie in any order, by the wire.
    #[test]
    fn values_are_packed_and_put_back_where_they_lie() {
        let sizes = [(1, 2), (7, 64), (8, 2), (8, 63), (8, 200), (20, 70), (40, 129), (64, 64), (75, 130), (128, 65)];
        for ((wires, copies), backend) in
            sizes.into_iter().flat_map(|size| Backend::available().into_iter().map(move |backend| (size, backend)))
        {
            for stride in [wires as isize, -(wires as isize), 2 * wires as isize + 3, 0] {
                let far = (stride.unsigned_abs() * (copies + 3)) + 5;
                let (from, at) = (memory(2 * far + wires), Place { start: far, stride });
                let mut slots = BitRows::new(backend);
                slots.shape(3 + wires, copies).unwrap();
                slots.load_value(3..3 + wires, &from, at, 2);
                let columns = from.columns(at, wires, 2, copies);
                for (bit, column) in columns.iter().enumerate() {
                    let row = BitShares::from_words(slots.row(3 + bit).to_vec(), copies);
                    assert_eq!(row.words(), column.words(), "{wires} {copies} {stride}: {bit}");
                    for call in 0..copies {
                        assert_eq!(row.get(call), from.bytes[at.bit(bit).at(2 + call as u64)] == 1);
                    }
                }
                if stride == 0 {
                    continue;
                }
                // Back to a memory of ones, where nothing else changes; and by way of the slots the same.
                let [mut to, mut by_slots] = [(); 2].map(|()| memory(2 * far + wires));
                [&mut to, &mut by_slots].into_iter().for_each(|to| to.bytes.fill(1));
                let mut expected = to.bytes.clone();
                for wire in (0..copies).flat_map(|call| (0..wires).map(move |bit| at.bit(bit).at(2 + call as u64))) {
                    expected[wire] = from.bytes[wire];
                }
                to.put_columns(at, 2, &columns);
                slots.store_value(&(3..3 + wires as u32).collect::<Vec<_>>(), &mut by_slots, at, 2);
                assert!(to.bytes == expected && by_slots.bytes == expected, "{wires} {copies} {stride}");
            }
        }
    }
}
