//! Constant arrays at a private index, as tables of the program.
//!
//! Where circuits are for depth, a protocol may look a table up in one round, so each lookup is a call of its
//! own. It waits until somebody wants a row: lookups in one table that do not need each other are done side
//! by side.

use std::rc::Rc;

use comity_circuit::{Circuit, Form, Goal, LookupTable};
use comity_library::{arith, table_circuit};

use super::emit::{Call, Item};
use super::segment::{Bit, Cell};
use super::{Failure, Lower};
use crate::diagnostic::Span;

/// A table, the form that it is pinned to, and its circuit.
pub(super) struct Known {
    table: LookupTable,
    pin: Option<Form>,
    circuit: Rc<Circuit>,
}

/// A lookup that waits: its index is written to the memory by the segment that is open.
pub(super) struct Waiting {
    table: usize,
    index: Cell,
    row: Cell,
}

impl Lower<'_> {
    /// The element at a private index of a constant array of `width` bits an element. `None` if gates suit it
    /// better than a table.
    pub(super) fn lookup(
        &mut self,
        elements: &[Bit],
        width: usize,
        index: &[Bit],
        at: Span,
    ) -> Result<Option<Vec<Bit>>, Failure> {
        let rows = elements.len() / width;
        let delta = rows.next_power_of_two().ilog2().max(1) as usize;
        if self.module.goal == Goal::Size
            || index.len() < delta
            || index.iter().any(|bit| matches!(bit, Bit::Constant(_)))
        {
            return Ok(None);
        }
        let (index, high) = index.split_at(delta);
        let Some(table) = table(elements, width, delta) else { return Ok(None) };
        let table = match self.known_tables.iter().position(|known| known.table == table && known.pin == self.pin) {
            Some(known) => known,
            None => {
                let (goal, pin) = (self.module.goal, self.pin);
                let circuit = Rc::new(table_circuit(&table, goal).pinned(pin));
                self.known_tables.push(Known { table, pin, circuit });
                self.known_tables.len() - 1
            }
        };
        let (to, row) = (self.allocate(delta as u64, at)?, self.allocate(width as u64, at)?);
        self.write(to, index, at)?;
        self.waiting.push(Waiting { table, index: to, row });
        let row: Vec<Bit> = (0..width as u64).map(|i| Bit::Cell(row.at(i))).collect();
        if high.is_empty() {
            return Ok(Some(row));
        }
        // Beyond the end there is nothing.
        let masked = self.gates(&[&row, high], at, |b, words| {
            let inside = arith::is_zero(b, &words[1]);
            words[0].iter().map(|&bit| b.and(inside, bit)).collect()
        })?;
        Ok(Some(masked))
    }

    /// Does what waits, if one of these bits is in a row of it.
    pub(super) fn await_rows(&mut self, words: &[&[Bit]]) {
        let Some(first) = self.waiting.first().map(|waiting| waiting.row.base) else { return };
        let waits = |bit: &Bit| match bit {
            Bit::Cell(cell) if cell.class == 0 && cell.base >= first => self.waiting.iter().any(|waiting| {
                let width = self.known_tables[waiting.table].table.sigma() as u32;
                (waiting.row.base..waiting.row.base + width).contains(&cell.base)
            }),
            _ => false,
        };
        if words.iter().copied().flatten().any(waits) {
            self.close();
        }
    }

    /// The lookups that wait, as calls: those in one table at the same distance from each other are one.
    pub(super) fn look_up(&mut self) {
        let mut rest = &std::mem::take(&mut self.waiting)[..];
        while let [first, more @ ..] = rest {
            let Known { table, circuit, .. } = &self.known_tables[first.table];
            let distance = |from: Cell, to: Cell| i64::from(to.base) - i64::from(from.base);
            let strides =
                more.first().map_or((0, 0), |next| (distance(first.index, next.index), distance(first.row, next.row)));
            let follows = |(i, next): &(usize, &Waiting)| {
                let steps = *i as i64 + 1;
                let moved = (distance(first.index, next.index), distance(first.row, next.row));
                next.table == first.table && moved == (steps * strides.0, steps * strides.1)
            };
            let count = 1 + more.iter().enumerate().take_while(follows).count();
            let call = Call {
                circuit: circuit.clone(),
                args: vec![(first.index, table.delta() as u64)],
                outs: vec![(first.row, table.sigma() as u64)],
                times: count as u64,
                strides: (vec![strides.0], vec![strides.1]),
            };
            self.items.last_mut().expect("the program's own items").push(Item::Circuit(Box::new(call)));
            rest = &rest[count..];
        }
    }
}

/// The table of constant elements, if it is not too large.
fn table(elements: &[Bit], width: usize, delta: usize) -> Option<LookupTable> {
    let mut bytes = Vec::with_capacity(elements.len().div_ceil(8));
    for element in elements.chunks(width) {
        for byte in element.chunks(8) {
            let one = |sum, (i, bit): (usize, &Bit)| match bit {
                Bit::Constant(one) => Some(sum | u8::from(*one) << i),
                _ => None,
            };
            bytes.push(byte.iter().enumerate().try_fold(0, one)?);
        }
    }
    LookupTable::new(delta, width, bytes)
}
