//! What a party holds of some wires.

use core::ops::{BitXor, Range};

use comity_circuit::{NoMemory, Place};
use comity_core::TapeGate;
use zeroize::{DefaultIsZeroes, Zeroize};

/// A party's shares of some slots: a row for each, with one copy for each call that runs side by side. A
/// program's memory and a value are rows of one copy.
pub trait WireRows {
    /// Makes room for `slots` slots of `copies` copies. New slots are the constant zero; old ones may have
    /// changed.
    ///
    /// # Errors
    /// [`NoMemory`].
    fn shape(&mut self, slots: usize, copies: usize) -> Result<(), NoMemory>;

    /// Copies from a memory to a slot: its copy `c` is what is at the place in call `first + c`.
    fn load(&mut self, slot: usize, from: &Self, at: Place, first: u64);

    /// Copies from a slot to the places of a memory from which [`load`](WireRows::load) would read it.
    fn store(&self, slot: usize, to: &mut Self, at: Place, first: u64);

    /// [Loads](WireRows::load) a value: its wires lie one after another at the place, and go to slots one
    /// after another.
    fn load_value(&mut self, slots: Range<usize>, from: &Self, at: Place, first: u64) {
        slots.enumerate().for_each(|(bit, slot)| self.load(slot, from, at.bit(bit), first));
    }

    /// [Stores](WireRows::store) a value, the wires of which are in these slots.
    fn store_value(&self, slots: &[u32], to: &mut Self, at: Place, first: u64) {
        slots.iter().enumerate().for_each(|(bit, &slot)| self.store(slot as usize, to, at.bit(bit), first));
    }
}

/// Rows of shares of one size: `width` elements a share. Slots follow each other, and within each slot its
/// copies. Wiped on drop.
pub struct ShareRows<W: DefaultIsZeroes> {
    width: usize,
    copies: usize,
    elements: Vec<W>,
}

impl<W: DefaultIsZeroes> ShareRows<W> {
    /// Empty rows, for shares of `width` elements.
    pub fn new(width: usize) -> ShareRows<W> {
        ShareRows { width, copies: 1, elements: Vec::new() }
    }

    /// The number of copies.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// All elements.
    pub fn elements(&self) -> &[W] {
        &self.elements
    }

    /// All elements.
    pub fn elements_mut(&mut self) -> &mut [W] {
        &mut self.elements
    }

    /// The elements of some slots.
    pub fn slots(&self, slots: Range<usize>) -> &[W] {
        let row = self.width * self.copies;
        &self.elements[slots.start * row..slots.end * row]
    }

    /// The elements of some slots.
    pub fn slots_mut(&mut self, slots: Range<usize>) -> &mut [W] {
        let row = self.width * self.copies;
        &mut self.elements[slots.start * row..slots.end * row]
    }

    /// Writes a share into all copies of a slot.
    pub fn fill(&mut self, slot: usize, share: &[W]) {
        self.slots_mut(slot..slot + 1).chunks_exact_mut(share.len()).for_each(|row| row.copy_from_slice(share));
    }
}

impl<W: DefaultIsZeroes + BitXor<Output = W>> ShareRows<W> {
    /// Does XOR gates in all copies. The lowering gives a gate's output a slot that the gate does not read.
    pub fn add(&mut self, gates: &[TapeGate]) {
        let row = self.width * self.copies;
        if row == 1 {
            for gate in gates {
                self.elements[gate.out()] = self.elements[gate.a()] ^ self.elements[gate.b()];
            }
            return;
        }
        let run = |slot: usize| slot * row..(slot + 1) * row;
        for gate in gates {
            match self.elements.get_disjoint_mut([run(gate.a()), run(gate.b()), run(gate.out())]) {
                Ok([a, b, out]) => {
                    for ((out, &a), &b) in out.iter_mut().zip(&*a).zip(&*b) {
                        *out = a ^ b;
                    }
                }
                // A wire plus itself.
                Err(_) => self.elements[run(gate.out())].fill(W::default()),
            }
        }
    }
}

impl<W: DefaultIsZeroes> WireRows for ShareRows<W> {
    fn shape(&mut self, slots: usize, copies: usize) -> Result<(), NoMemory> {
        let (share, wires) = (self.width.saturating_mul(size_of::<W>()), slots.saturating_mul(copies));
        let wanted = wires.saturating_mul(self.width);
        self.copies = copies;
        if self.elements.len() < wanted {
            // Memory that is moved is not wiped where it was.
            self.elements.zeroize();
            let room = self.elements.try_reserve_exact(wanted);
            room.map_err(|_| NoMemory { wires: wires as u64, bytes: share })?;
            self.elements.resize(wanted, W::default());
        }
        Ok(())
    }

    fn load(&mut self, slot: usize, from: &Self, at: Place, first: u64) {
        let width = self.width;
        let row = self.slots_mut(slot..slot + 1);
        if width == 1 {
            for (t, share) in (first..).zip(row) {
                *share = from.elements[at.at(t)];
            }
            return;
        }
        for (t, share) in (first..).zip(row.chunks_exact_mut(width)) {
            share.copy_from_slice(&from.elements[at.at(t) * width..][..width]);
        }
    }

    fn store(&self, slot: usize, to: &mut Self, at: Place, first: u64) {
        let width = self.width;
        let row = self.slots(slot..slot + 1);
        if width == 1 {
            for (t, &share) in (first..).zip(row) {
                to.elements[at.at(t)] = share;
            }
            return;
        }
        for (t, share) in (first..).zip(row.chunks_exact(width)) {
            to.elements[at.at(t) * width..][..width].copy_from_slice(share);
        }
    }
}

impl<W: DefaultIsZeroes> Drop for ShareRows<W> {
    fn drop(&mut self) {
        self.elements.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, slots: usize, copies: usize) -> ShareRows<u16> {
        let mut rows = ShareRows::new(width);
        rows.shape(slots, copies).unwrap();
        rows.elements.iter_mut().zip(1..).for_each(|(element, number)| *element = number);
        rows
    }

    #[test]
    fn a_row_goes_to_the_memory_and_comes_back() {
        for width in [1, 3] {
            let (mut memory, at) = (rows(width, 40, 1), Place { start: 30, stride: -2 });
            let mut some = rows(width, 3, 5);
            let before = some.slots(2..3).to_vec();
            some.store(2, &mut memory, at, 4);
            for (call, share) in (4..9).zip(before.chunks(width)) {
                assert_eq!(memory.slots(30 - 2 * call..31 - 2 * call), share);
            }
            assert_eq!(memory.slots(23..24), rows(width, 40, 1).slots(23..24));
            some.load(0, &memory, at, 4);
            assert_eq!(some.slots(0..1), before);
            assert_eq!(some.slots(1..2), rows(width, 3, 5).slots(1..2));
        }
    }

    #[test]
    fn slots_are_added_in_all_copies() {
        for (width, copies) in [(1, 1), (1, 4), (3, 1), (2, 3)] {
            let mut some = rows(width, 5, copies);
            let [a, b] = [1, 3].map(|slot: usize| some.slots(slot..slot + 1).to_vec());
            some.add(&[TapeGate::new(1, 3, 4), TapeGate::new(3, 3, 0)]);
            let sum: Vec<u16> = a.iter().zip(&b).map(|(a, b)| a ^ b).collect();
            assert_eq!([some.slots(4..5), some.slots(0..1)], [&sum[..], &vec![0; width * copies]]);
        }
    }

    #[test]
    fn new_room_is_zero_and_what_does_not_fit_is_said() {
        let mut some = rows(2, 3, 1);
        some.shape(4, 1).unwrap();
        assert_eq!(some.elements(), [0; 8]);
        some.fill(3, &[7, 8]);
        some.shape(2, 2).unwrap();
        assert_eq!((some.copies(), some.slots(1..2)), (2, &[0, 0, 7, 8][..]));
        let error = some.shape(usize::MAX >> 2, 1).unwrap_err();
        assert_eq!((error.wires, error.bytes), ((usize::MAX >> 2) as u64, 4));
    }
}
