//! Straight-line code: the circuits between loops.
//!
//! Gates are built into the segment that is open. A bit of an earlier segment, or of the memory, is loaded when it is
//! used; what is loaded from a segment gets a place in the memory then. So only values that live on are passed, and
//! nobody has to find out beforehand which ones these are.

use std::collections::HashMap;

use comity_circuit::{Builder, Circuit, Group, Wire};

use super::emit::Item;
use super::{Failure, Lower};
use crate::diagnostic::Span;

/// Gates of one circuit after which the next one begins.
const SEGMENT_GATES: usize = 1 << 21;
/// Gates of all circuits together, at most.
const MAX_GATES: usize = 1 << 24;
/// Room for loaded bits in the first circuit.
const POOL: usize = 1 << 9;

/// A place of a bit in the memory: the class says how it moves with loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) class: u32,
    pub(super) base: u32,
}

impl Cell {
    pub(super) fn at(self, offset: u64) -> Cell {
        Cell { base: self.base + offset as u32, ..self }
    }
}

/// One bit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    Constant(bool),
    /// A wire of a segment.
    Gate(u32, Wire),
    /// A place in the memory that holds this value as long as it is seen.
    Cell(Cell),
}

#[derive(Default)]
pub(super) struct Segment {
    builder: Builder,
    /// Wires for loaded bits.
    pool: Vec<Wire>,
    /// The places that the first wires of the pool load, and whether the place keeps its value.
    loads: Vec<(Cell, bool)>,
    known: HashMap<Cell, Wire>,
    /// The places in which wires that are used later are kept.
    spills: HashMap<Wire, u32>,
    /// The wires that are written to the memory at the end, and where.
    outs: Vec<(Wire, Cell)>,
    counted: usize,
}

/// Runs of wires of one value of a circuit.
pub(super) type Runs = Vec<(Cell, u64)>;

impl Segment {
    /// The circuit, where its input values come from and where its output values go. None if it writes nothing.
    pub(super) fn finish(mut self) -> Option<(Circuit, Runs, Runs)> {
        self.outs.sort_by_key(|&(_, cell)| cell);
        if self.outs.is_empty() {
            return None;
        }
        let wires: Vec<Wire> = self.outs.iter().map(|&(wire, _)| wire).collect();
        self.builder.output("", &wires);
        let circuit = self.builder.finish();
        let pool = self.pool.len() as u32;
        // The loads that are used, in the order of the memory.
        let mut used = vec![false; self.loads.len()];
        let reads = circuit.gates().iter().flat_map(|gate| [gate.a, gate.b]);
        for wire in reads.chain(circuit.output_wires().iter().copied()) {
            if (2..2 + pool).contains(&wire) {
                used[wire as usize - 2] = true;
            }
        }
        let mut order: Vec<(Cell, u32)> =
            (0u32..).zip(&self.loads).filter(|(i, _)| used[*i as usize]).map(|(i, load)| (load.0, i)).collect();
        order.sort_unstable();
        let kept: Vec<u32> = order.iter().map(|&(_, old)| 2 + old).collect();
        let args = runs(order.into_iter().map(|(cell, _)| cell));
        let outs = runs(self.outs.iter().map(|&(_, cell)| cell));
        let groups = |runs: &Runs| {
            runs.iter().map(|&(_, bits)| Group { name: String::new(), bits: bits as usize }).collect::<Vec<_>>()
        };
        Some((circuit.rewired(groups(&args), groups(&outs), &kept), args, outs))
    }
}

/// Cells that follow each other, joined.
fn runs(cells: impl Iterator<Item = Cell>) -> Runs {
    let mut runs: Runs = Vec::new();
    for cell in cells {
        match runs.last_mut() {
            Some((first, bits))
                if first.class == cell.class && u64::from(first.base) + *bits == u64::from(cell.base) =>
            {
                *bits += 1;
            }
            _ => runs.push((cell, 1)),
        }
    }
    runs
}

impl Lower<'_> {
    /// Memory for `bits` bits.
    pub(super) fn allocate(&mut self, bits: u64, at: Span) -> Result<Cell, Failure> {
        let base = self.wires;
        self.wires = base.saturating_add(bits);
        if self.wires > comity_circuit::Program::MAX_WIRES {
            return Err(Failure::new(at, "the program's values need more than 2^32 bits of memory"));
        }
        Ok(Cell { class: 0, base: base as u32 })
    }

    /// Closes the open segment, so that reads see what it writes.
    pub(super) fn close(&mut self) {
        if let Some(id) = self.open.take() {
            self.items.last_mut().expect("the program's own items").push(Item::Segment(id));
        }
        self.look_up();
    }

    /// The open segment, with room for `loads` more bits to be loaded.
    fn segment(&mut self, loads: usize, at: Span) -> Result<u32, Failure> {
        let mut room = POOL;
        if let Some(id) = self.open {
            let segment = &mut self.segments[id as usize];
            let gates = segment.builder.gates();
            self.gates += gates - std::mem::replace(&mut segment.counted, gates);
            if self.gates > MAX_GATES {
                return Err(too_many(at));
            }
            if segment.loads.len() + loads <= segment.pool.len() && gates < SEGMENT_GATES {
                return Ok(id);
            }
            room = (2 * segment.pool.len()).min(1 << 16);
            self.close();
        }
        let mut segment = Segment { builder: Builder::for_goal(self.module.goal), ..Segment::default() };
        segment.pool = segment.builder.input("", room.max(loads));
        let id = self.segments.len() as u32;
        self.segments.push(segment);
        self.open = Some(id);
        Ok(id)
    }

    /// Fails if `gates` more gates, which is an estimate, would be too many.
    pub(super) fn room(&self, gates: u64, at: Span) -> Result<(), Failure> {
        if gates.saturating_add(self.gates as u64) > MAX_GATES as u64 { Err(too_many(at)) } else { Ok(()) }
    }

    /// The wire of a place in the memory, in the open segment, which has room for it.
    fn load(&mut self, id: u32, cell: Cell, stable: bool) -> Wire {
        let segment = &mut self.segments[id as usize];
        if let Some(&wire) = segment.known.get(&cell) {
            return wire;
        }
        let wire = segment.pool[segment.loads.len()];
        segment.loads.push((cell, stable));
        segment.known.insert(cell, wire);
        wire
    }

    /// The bit's wire in the open segment, which has room for it.
    fn wire(&mut self, id: u32, bit: Bit, at: Span) -> Result<Wire, Failure> {
        Ok(match bit {
            Bit::Constant(value) => Wire::constant(value),
            Bit::Gate(segment, wire) if segment == id => wire,
            Bit::Gate(segment, wire) => {
                let base = match self.segments[segment as usize].spills.get(&wire) {
                    Some(&base) => base,
                    None => {
                        let cell = self.allocate(1, at)?;
                        let segment = &mut self.segments[segment as usize];
                        segment.spills.insert(wire, cell.base);
                        segment.outs.push((wire, cell));
                        cell.base
                    }
                };
                self.load(id, Cell { class: 0, base }, true)
            }
            Bit::Cell(cell) => self.load(id, cell, true),
        })
    }

    /// The bit that a wire of a segment is.
    fn bit(&self, id: u32, wire: Wire) -> Bit {
        if let Some(value) = wire.as_constant() {
            return Bit::Constant(value);
        }
        let segment = &self.segments[id as usize];
        match segment.pool.binary_search(&wire) {
            Ok(i) if segment.loads[i].1 => Bit::Cell(segment.loads[i].0),
            _ => Bit::Gate(id, wire),
        }
    }

    /// Builds gates over words.
    pub(super) fn gates(
        &mut self,
        words: &[&[Bit]],
        at: Span,
        build: impl FnOnce(&mut Builder, Vec<Vec<Wire>>) -> Vec<Wire>,
    ) -> Result<Vec<Bit>, Failure> {
        self.await_rows(words);
        let id = self.segment(words.iter().map(|word| word.len()).sum(), at)?;
        let mut args = Vec::with_capacity(words.len());
        for word in words {
            args.push(word.iter().map(|&bit| self.wire(id, bit, at)).collect::<Result<Vec<_>, _>>()?);
        }
        let (line, pin) = (self.module.lines.line(at), self.pin);
        let builder = &mut self.segments[id as usize].builder;
        builder.set_line(line);
        builder.pin(pin);
        let wires = build(builder, args);
        Ok(wires.into_iter().map(|wire| self.bit(id, wire)).collect())
    }

    /// Reads places that may change later: the value is that of now.
    pub(super) fn read(&mut self, cell: Cell, bits: u64, at: Span) -> Result<Vec<Bit>, Failure> {
        let id = self.segment(bits as usize, at)?;
        Ok((0..bits).map(|i| Bit::Gate(id, self.load(id, cell.at(i), false))).collect())
    }

    /// Writes bits to the memory at the end of the open segment. It has to be closed before they are read.
    pub(super) fn write(&mut self, cell: Cell, bits: &[Bit], at: Span) -> Result<(), Failure> {
        self.await_rows(&[bits]);
        let id = self.segment(bits.len(), at)?;
        for (i, &bit) in bits.iter().enumerate() {
            let wire = self.wire(id, bit, at)?;
            self.segments[id as usize].outs.push((wire, cell.at(i as u64)));
        }
        Ok(())
    }
}

fn too_many(at: Span) -> Failure {
    Failure::new(at, format!("the program's circuits have more than {MAX_GATES} gates; put repeated parts into a loop"))
}
