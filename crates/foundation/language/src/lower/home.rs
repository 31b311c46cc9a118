//! Variables that live in the memory, and branches.
//!
//! A variable that changes in a loop that is kept has a home: a place in the memory. What is read from it and written
//! to it between two loops is remembered in the overlay, and written back when a loop begins or ends. Two elements
//! whose indices move differently may be one: then what is remembered is written back first.
//!
//! Branches on private conditions work on overlays of their own, which are joined by multiplexers. If something has to
//! be written back inside a branch, it is multiplexed with what is there.

use std::collections::BTreeMap;
use std::rc::Rc;

use comity_circuit::{Builder, Circuit};
use comity_library::arith;

use super::emit::{Call, Item};
use super::segment::{Bit, Cell};
use super::value::{HomeId, Value};
use super::{Failure, Lower};
use crate::diagnostic::Span;
use crate::types::Ty;

/// The bits of homes that are remembered.
pub(super) type Overlay = BTreeMap<(HomeId, Cell), Entry>;

#[derive(Clone)]
pub(super) struct Entry {
    bits: Rc<[Bit]>,
    /// Whether the bits are not in the memory yet.
    dirty: bool,
}

/// A branch that is being taken if a condition holds.
pub(super) struct Level {
    condition: Bit,
    /// The entries that were there when the branch began, but for those that were written back since.
    before: Overlay,
    /// The homes from this one on were made in the branch.
    homes: HomeId,
}

/// The entries that a branch leaves behind.
pub(super) struct Branch {
    pub(super) after: Overlay,
    pub(super) before: Overlay,
    homes: HomeId,
}

/// Bits that one call of a copy takes.
const COPY: u64 = 1 << 10;

impl Lower<'_> {
    /// The bits of a leaf of a home.
    pub(super) fn recall(&mut self, home: HomeId, cell: Cell, bits: u64, at: Span) -> Result<Rc<[Bit]>, Failure> {
        if let Some(entry) = self.overlay.get(&(home, cell)) {
            return Ok(entry.bits.clone());
        }
        let dirty = |entry: &Entry| entry.dirty;
        if self.meets(home, cell, bits, dirty) {
            self.flush(at)?;
        }
        let bits: Rc<[Bit]> = self.read(cell, bits, at)?.into();
        self.overlay.insert((home, cell), Entry { bits: bits.clone(), dirty: false });
        Ok(bits)
    }

    /// Changes a leaf of a home.
    pub(super) fn remember(&mut self, home: HomeId, cell: Cell, bits: Rc<[Bit]>, at: Span) -> Result<(), Failure> {
        if self.meets(home, cell, bits.len() as u64, |entry| entry.dirty) {
            self.flush(at)?;
        }
        // What was read before is no longer known.
        let stale: Vec<(HomeId, Cell)> = self.others(home, cell, bits.len() as u64).map(|(key, _)| *key).collect();
        for key in stale {
            self.overlay.remove(&key);
        }
        self.overlay.insert((home, cell), Entry { bits, dirty: true });
        Ok(())
    }

    /// The entries of a home under other classes, which may be in the same place.
    fn others(&self, home: HomeId, cell: Cell, bits: u64) -> impl Iterator<Item = (&(HomeId, Cell), &Entry)> {
        let lowest = Cell { class: 0, base: 0 };
        let below = self.overlay.range((home, lowest)..(home, Cell { class: cell.class, base: 0 }));
        let above = self.overlay.range((home, Cell { class: cell.class + 1, base: 0 })..(home + 1, lowest));
        let here = self.reach(cell, bits);
        below.chain(above).filter(move |((_, other), entry)| {
            let there = self.reach(*other, entry.bits.len() as u64);
            here.0 < there.1 && there.0 < here.1
        })
    }

    fn meets(&self, home: HomeId, cell: Cell, bits: u64, which: impl Fn(&Entry) -> bool) -> bool {
        self.others(home, cell, bits).any(|(_, entry)| which(entry))
    }

    /// Writes back everything that is remembered. Later reads come from the memory.
    pub(super) fn flush(&mut self, at: Span) -> Result<(), Failure> {
        let overlay = std::mem::take(&mut self.overlay);
        let levels = std::mem::take(&mut self.levels);
        let mut writes = Vec::new();
        for ((home, cell), entry) in &overlay {
            if !entry.dirty {
                continue;
            }
            let mut bits = entry.bits.clone();
            for level in levels.iter().rev().filter(|level| *home < level.homes) {
                let before: Rc<[Bit]> = match level.before.get(&(*home, *cell)) {
                    Some(entry) => entry.bits.clone(),
                    None => self.read(*cell, bits.len() as u64, at)?.into(),
                };
                bits = self.choose(level.condition, &bits, &before, at)?;
            }
            writes.push((*cell, bits));
        }
        if !writes.is_empty() {
            for (cell, bits) in writes {
                self.write(cell, &bits, at)?;
            }
            self.close();
        }
        self.levels = levels;
        self.levels.iter_mut().for_each(|level| level.before.clear());
        Ok(())
    }

    /// `a` if the condition holds, else `b`.
    pub(super) fn choose(
        &mut self,
        condition: Bit,
        a: &Rc<[Bit]>,
        b: &Rc<[Bit]>,
        at: Span,
    ) -> Result<Rc<[Bit]>, Failure> {
        if a == b {
            return Ok(a.clone());
        }
        match condition {
            Bit::Constant(true) => return Ok(a.clone()),
            Bit::Constant(false) => return Ok(b.clone()),
            _ => {}
        }
        let chosen =
            self.gates(&[&[condition], a, b], at, |b, words| arith::mux(b, words[0][0], &words[1], &words[2]))?;
        Ok(chosen.into())
    }

    /// The value of the first branch or of the second one.
    pub(super) fn join(&mut self, condition: Bit, a: &Value, b: &Value, ty: &Ty, at: Span) -> Result<Value, Failure> {
        if a.same(b) {
            return Ok(a.clone());
        }
        if ty.is_leaf() {
            let (a, b) = (self.leaf(a, ty, at)?, self.leaf(b, ty, at)?);
            return Ok(Value::Bits(self.choose(condition, &a, &b, at)?));
        }
        if let (Value::Fill(a), Value::Fill(b)) = (a, b) {
            return Ok(Value::Fill(Rc::new(self.join(condition, a, b, ty.part(0).0, at)?)));
        }
        // Most parts are the same, which is seen at once.
        self.spend(ty.parts() / 16, at)?;
        if ty.bits() > LARGE_JOIN {
            let message =
                "a branch on a private condition changes an array of this size; change its elements one by one";
            return Err(Failure::new(at, message));
        }
        let mut parts = Vec::with_capacity(ty.parts() as usize);
        for i in 0..ty.parts() {
            let (a, b) = (self.part(a, ty, i), self.part(b, ty, i));
            parts.push(self.join(condition, &a, &b, ty.part(i).0, at)?);
        }
        Ok(Value::Parts(Rc::new(parts)))
    }

    /// Begins a branch.
    pub(super) fn enter(&mut self, condition: Bit) {
        let (before, homes) = (self.overlay.clone(), self.homes);
        self.levels.push(Level { condition, before, homes });
    }

    /// Ends a branch: what it remembers, and what was remembered before it.
    pub(super) fn leave(&mut self) -> Branch {
        let level = self.levels.pop().expect("the branch that was entered");
        Branch { after: std::mem::take(&mut self.overlay), before: level.before, homes: level.homes }
    }

    /// Joins what two branches remember: the one that was taken if the condition holds, and then the other one.
    pub(super) fn join_overlays(
        &mut self,
        condition: Bit,
        then: Branch,
        otherwise: Branch,
        at: Span,
    ) -> Result<(), Failure> {
        let (before, homes) = (otherwise.before, then.homes);
        let (then, otherwise) = (then.after, otherwise.after);
        let changed = |overlay: &Overlay| -> Vec<(HomeId, Cell, u64)> {
            let new = |(key, entry): (&(HomeId, Cell), &Entry)| {
                let same = before.get(key).is_some_and(|old| old.bits == entry.bits);
                (entry.dirty && !same).then_some((key.0, key.1, entry.bits.len() as u64))
            };
            overlay.iter().filter_map(new).collect()
        };
        let (one, other) = (changed(&then), changed(&otherwise));
        let clash = one.iter().any(|&(home, cell, bits)| {
            other.iter().any(|&(home2, cell2, bits2)| {
                let (a, b) = (self.reach(cell, bits), self.reach(cell2, bits2));
                home == home2 && cell.class != cell2.class && a.0 < b.1 && b.0 < a.1
            })
        });
        if clash {
            // They may have changed the same place under different names: one after the other, then.
            self.overlay = then;
            self.levels.push(Level { condition, before, homes });
            self.flush(at)?;
            self.levels.pop();
            let not = self.not(condition, at)?;
            self.overlay = otherwise.into_iter().filter(|(_, entry)| entry.dirty).collect();
            self.levels.push(Level { condition: not, before: Overlay::new(), homes });
            self.flush(at)?;
            self.levels.pop();
            return Ok(());
        }
        let mut joined = Overlay::new();
        let keys: std::collections::BTreeSet<(HomeId, Cell)> = then.keys().chain(otherwise.keys()).copied().collect();
        for key in keys {
            let dirty = |overlay: &Overlay| overlay.get(&key).is_some_and(|entry| entry.dirty);
            let any = dirty(&then) || dirty(&otherwise);
            let both = then.contains_key(&key) && otherwise.contains_key(&key);
            if !any && !both {
                continue;
            }
            if key.0 >= homes {
                // The value of a variable that only one branch sees.
                if let Some(entry) = then.get(&key).or_else(|| otherwise.get(&key)) {
                    joined.insert(key, entry.clone());
                }
                continue;
            }
            let of = |overlay: &Overlay| overlay.get(&key).or_else(|| before.get(&key)).map(|entry| entry.bits.clone());
            let width = of(&then).or_else(|| of(&otherwise)).map_or(0, |bits| bits.len() as u64);
            let mut sides = [of(&then), of(&otherwise)];
            for side in &mut sides {
                if side.is_none() {
                    *side = Some(self.read(key.1, width, at)?.into());
                }
            }
            let [Some(a), Some(b)] = sides else { continue };
            let bits = self.choose(condition, &a, &b, at)?;
            joined.insert(key, Entry { bits, dirty: any });
        }
        self.overlay = joined;
        Ok(())
    }

    pub(super) fn not(&mut self, bit: Bit, at: Span) -> Result<Bit, Failure> {
        let bits = self.gates(&[&[bit]], at, |b, words| vec![b.not(words[0][0])])?;
        Ok(bits[0])
    }

    /// A value at a home of its own.
    pub(super) fn settle(&mut self, value: &Value, ty: &Ty, at: Span) -> Result<Value, Failure> {
        if let Value::Stored(_, Some(_)) = value {
            return Ok(value.clone());
        }
        let to = self.store(value, ty, at)?;
        let home = self.homes;
        self.homes += 1;
        Ok(Value::Stored(to, Some(home)))
    }

    /// The value in memory of its own.
    pub(super) fn store(&mut self, value: &Value, ty: &Ty, at: Span) -> Result<Cell, Failure> {
        let to = self.allocate(ty.bits(), at)?;
        self.store_at(to, value, ty, at)?;
        self.close();
        Ok(to)
    }

    /// Writes a value to the memory. Reads see it after the segment is closed.
    pub(super) fn store_at(&mut self, to: Cell, value: &Value, ty: &Ty, at: Span) -> Result<(), Failure> {
        match value {
            _ if ty.bits() == 0 => Ok(()),
            Value::Stored(from, home) if ty.bits() > COPY => {
                if home.is_some() {
                    self.flush(at)?;
                }
                self.copy(*from, to, ty.bits());
                Ok(())
            }
            Value::Fill(element) if ty.bits() > COPY => {
                let element_ty = ty.part(0).0;
                let (width, count) = (element_ty.bits(), ty.parts());
                self.store_at(to, element, element_ty, at)?;
                self.close();
                let mut b = Builder::new();
                let wires = b.input("", width as usize);
                b.output("", &wires);
                if count > 1 {
                    self.push_call(
                        Rc::new(b.finish()),
                        vec![(to, width)],
                        vec![(to.at(width), width)],
                        count - 1,
                        (0, width as i64),
                    );
                }
                Ok(())
            }
            Value::Parts(_) if ty.bits() > COPY => {
                for i in 0..ty.parts() {
                    let (part, start) = ty.part(i);
                    self.store_at(to.at(start), &self.part(value, ty, i), part, at)?;
                }
                Ok(())
            }
            _ => {
                let bits = self.flatten(value, ty, at)?;
                self.write(to, &bits, at)
            }
        }
    }

    /// Copies memory.
    pub(super) fn copy(&mut self, from: Cell, to: Cell, bits: u64) {
        self.close();
        let mut part = |start: u64, width: u64, times: u64| {
            if width == 0 || times == 0 {
                return;
            }
            let mut b = Builder::new();
            let wires = b.input("", width as usize);
            b.output("", &wires);
            let stride = width as i64;
            self.push_call(
                Rc::new(b.finish()),
                vec![(from.at(start), width)],
                vec![(to.at(start), width)],
                times,
                (stride, stride),
            );
        };
        part(0, COPY, bits / COPY);
        part(bits / COPY * COPY, bits % COPY, 1);
    }

    /// Calls of a circuit whose arguments, and whose results, move alike.
    pub(super) fn push_call(
        &mut self,
        circuit: Rc<Circuit>,
        args: Vec<(Cell, u64)>,
        outs: Vec<(Cell, u64)>,
        times: u64,
        (arg, out): (i64, i64),
    ) {
        self.close();
        let strides = (vec![arg; args.len()], vec![out; outs.len()]);
        let call = Call { circuit, args, outs, times, strides };
        self.items.last_mut().expect("the program's own items").push(Item::Circuit(Box::new(call)));
    }
}

/// Arrays of more bits are not multiplexed as a whole.
const LARGE_JOIN: u64 = 1 << 22;
