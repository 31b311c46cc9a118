//! Programs on a [`BitMachine`]: an engine whose wires are XOR shares, layer after layer.
//!
//! A call runs the layered lowering. What depends on nothing but earlier layers is one message each way: the ANDs of one
//! depth, of all the calls that run side by side. Of a wire of calls side by side the shares lie packed, 64 calls a word, so that a
//! gate is an operation on a few words; of a single call a wire is a byte, and the ANDs of a layer are packed into words. As many
//! calls run side by side as their wires fit 8 MiB; the wires of a single one are bounded by the lowering.

use std::collections::BTreeMap;

use comity_channel::Mesh;
use comity_circuit::{Call, Engine, LookupTable, Lowered, Meaning, Memory, Place, Program, Put, Shown, Step};
use comity_core::{Bits, Error, Result, TapeGate, Vectorize, mask};
use comity_share::bits::BitShares;
use zeroize::{Zeroize, Zeroizing};

use crate::machine::{BitMachine, Operands, PIECE};
use crate::table::{self, PublicTable, UnitPool};

/// Words of calls side by side: 8 MiB.
const WORDS: usize = (8 << 20) / 8;

/// Runs calls on a machine over a mesh.
pub struct BitSharing<'a, 'n, 'd> {
    net: &'a mut Mesh<'n>,
    machine: &'a mut BitMachine<'d>,
    /// The wires of the program: a share each, zero or one.
    pub(crate) memory: Memory<u8>,
    /// The wires of calls side by side: slot after slot, of each slot 64 calls a word.
    words: Zeroizing<Vec<u64>>,
    /// The wires of a single call, a byte each.
    bytes: Zeroizing<Vec<u8>>,
    /// Unit vectors, by the bits of an index.
    pools: Vec<UnitPool>,
    /// Tables that were looked up, as circuits of the program mean them.
    tables: Vec<(LookupTable, PublicTable)>,
    /// Whether circuits that mean a table are looked up.
    looks_up: bool,
}

impl<'a, 'n, 'd> BitSharing<'a, 'n, 'd> {
    /// An engine over this machine, which can be used by hand before and after.
    pub fn new(net: &'a mut Mesh<'n>, machine: &'a mut BitMachine<'d>) -> BitSharing<'a, 'n, 'd> {
        BitSharing {
            net,
            machine,
            memory: Memory::default(),
            words: Zeroizing::default(),
            bytes: Zeroizing::default(),
            pools: Vec::new(),
            tables: Vec::new(),
            looks_up: false,
        }
    }

    /// Has made now what a program wants: triples, and of the tables in it the unit vectors. From then on what means a table is
    /// looked up, in one round; before, it is computed by its gates.
    ///
    /// # Errors
    /// Errors of the dealer and of the channels.
    pub fn prepare(&mut self, program: &Program) -> Result<()> {
        self.machine.plan(triples_of(program));
        self.machine.prepare(self.net)?;
        for (delta, look_ups) in look_ups(program) {
            let mut pool = UnitPool::new(delta, look_ups);
            pool.fill(self.net, self.machine, 0)?;
            self.pools.push(pool);
        }
        for table in (0..program.meanings().len()).filter_map(|index| table_in(program, index)) {
            self.tables.push((table.clone(), PublicTable::from(table)));
        }
        self.looks_up = true;
        Ok(())
    }

    /// The calls of a circuit whose one input value is an index into this table and whose one output value is the entry there,
    /// by [unit vectors](table::UnitVectors) and not by its gates. Beyond the table's end there are zeros.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the circuit has other values; those of the machine.
    pub fn look_up(&mut self, call: &Call<'_>, table: &PublicTable) -> Result<()> {
        let (&[index], &[entry]) = (call.circuit.input_widths(), call.circuit.output_widths()) else {
            return Err(Error::invalid_input("a table has one index and one entry"));
        };
        if entry != table.bits() {
            return Err(Error::invalid_input(format!("entries of {} bits do not fit {entry} bits", table.bits())));
        }
        let bit = |value: Place, bit: usize| Place { start: value.start + bit, ..value };
        let at = self.pools.iter().position(|pool| pool.delta() == table.delta()).unwrap_or_else(|| {
            self.pools.push(UnitPool::new(table.delta(), 0));
            self.pools.len() - 1
        });
        let mut first = 0;
        while first < call.times {
            let vectors = self.pools[at].take(self.net, self.machine, call.times - first)?;
            let columns = Columns { memory: &mut self.memory, first, copies: vectors.copies() };
            let copies = columns.copies;
            let column = |from| {
                let mut words = vec![0; copies.div_ceil(64)];
                columns.load(from, &mut words);
                BitShares::from_words(words, copies)
            };
            let index: Vec<BitShares> = (0..index).map(|i| column(bit(call.args[0], i))).collect();
            let found = table::look_up(self.net, self.machine, (table, vectors), index)?;
            let mut columns = Columns { memory: &mut self.memory, first, copies };
            for (i, found) in found.iter().enumerate() {
                columns.store(bit(call.outs[0], i), found.words());
            }
            first += copies as u64;
        }
        Ok(())
    }

    /// One call.
    fn single(&mut self, call: &Call<'_>, t: u64) -> Result<()> {
        let memory = &mut self.memory;
        let layered = call.circuit.layered();
        let wires = &mut self.bytes;
        if wires.len() < layered.slots() {
            // Memory that is moved is not wiped where it was.
            **wires = {
                wires.zeroize();
                vec![0; layered.slots()]
            };
        }
        (wires[0], wires[1]) = (0, u8::from(self.machine.one()));
        for (slot, from) in spread(2.., call.circuit.input_widths(), call.args) {
            wires[slot] = memory[from.at(t)];
        }
        let mut rest = layered.gates();
        for layer in layered.layers() {
            let (ands, xors);
            (ands, rest) = rest.split_at(layer.ands);
            (xors, rest) = rest.split_at(layer.xors);
            self.machine.ands(self.net, &mut Single { wires, gates: ands, read: 0, written: 0 })?;
            for gate in xors {
                wires[gate.out()] = wires[gate.a()] ^ wires[gate.b()];
            }
        }
        let slots = layered.outputs().iter().map(|&slot| slot as usize);
        for (slot, to) in spread(slots, call.circuit.output_widths(), call.outs) {
            memory[to.at(t)] = wires[slot];
        }
        Ok(())
    }

    /// The calls from `first` on, `copies` of them, side by side.
    fn side_by_side(&mut self, call: &Call<'_>, first: u64, copies: usize) -> Result<()> {
        let layered = call.circuit.layered();
        let (width, wires) = (copies.div_ceil(64), &mut self.words);
        if wires.len() < layered.slots() * width {
            **wires = {
                wires.zeroize();
                vec![0; layered.slots() * width]
            };
        }
        wires[..width].fill(0);
        wires[width..2 * width].fill(if self.machine.one() { u64::MAX } else { 0 });
        let mut memory = Columns { memory: &mut self.memory, first, copies };
        for (slot, from) in spread(2.., call.circuit.input_widths(), call.args) {
            memory.load(from, &mut wires[slot * width..][..width]);
        }
        let backend = self.machine.backend();
        let mut rest = layered.gates();
        for layer in layered.layers() {
            let (ands, xors);
            (ands, rest) = rest.split_at(layer.ands);
            (xors, rest) = rest.split_at(layer.xors);
            self.machine.ands(self.net, &mut Lanes { wires, gates: ands, width, copies, read: 0, written: 0 })?;
            backend.vectorize(Xors { wires, gates: xors, width });
        }
        let slots = layered.outputs().iter().map(|&slot| slot as usize);
        for (slot, to) in spread(slots, call.circuit.output_widths(), call.outs) {
            memory.store(to, &self.words[slot * width..][..width]);
        }
        Ok(())
    }
}

impl Engine for BitSharing<'_, '_, '_> {
    type Error = Error;
    const SHARES: bool = true;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let shares = self.machine.input(put.owner, value, put.bits)?;
        unpack(&shares, &mut self.memory[put.wires()]);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        if let Some(meant) = table_of(call.circuit, call.meaning).filter(|_| self.looks_up) {
            let at = self.tables.iter().position(|(known, _)| known == meant).unwrap_or_else(|| {
                self.tables.push((meant.clone(), PublicTable::from(meant)));
                self.tables.len() - 1
            });
            let (meant, table) = self.tables.swap_remove(at);
            let done = self.look_up(call, &table);
            self.tables.push((meant, table));
            return done;
        }
        let together = together(call.circuit.layered().slots(), call.times);
        let mut done = 0;
        while done < call.times {
            let copies = together.min(call.times - done);
            match copies {
                1 => self.single(call, done)?,
                _ => self.side_by_side(call, done, copies as usize)?,
            }
            done += copies;
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.machine.reveal(self.net, shown.to, &pack(&self.memory[shown.wires()]))
    }
}

/// How many of so many calls of a circuit of so many slots run side by side.
pub(crate) fn together(slots: usize, times: u64) -> u64 {
    // Of one gate all calls go in one message.
    let most = (WORDS / slots * 64).clamp(64, PIECE) as u64;
    // As few turns as that makes, all alike.
    times.div_ceil(times.div_ceil(most).max(1))
}

/// The table that a circuit means, if looking it up saves rounds: its gates take more than one.
fn table_of<'m>(circuit: &Lowered, meaning: Option<&'m Meaning>) -> Option<&'m LookupTable> {
    let Some(Meaning::Table(table)) = meaning else { return None };
    let rounds = circuit.layered().layers().iter().filter(|layer| layer.ands > 0).count();
    (rounds > 1).then_some(table)
}

/// The table that circuit `index` of a program means.
pub(crate) fn table_in(program: &Program, index: usize) -> Option<&LookupTable> {
    table_of(&program.lowered()[index], program.meanings()[index].as_ref())
}

/// The look-ups of a program, by the bits of an index.
pub(crate) fn look_ups(program: &Program) -> BTreeMap<usize, u64> {
    fn walk(program: &Program, steps: &[Step], turns: u64, found: &mut BTreeMap<usize, u64>) {
        for step in steps {
            match step {
                Step::Call { circuit, times, .. } => {
                    if let Some(table) = table_in(program, *circuit) {
                        *found.entry(table.delta()).or_default() += turns * times;
                    }
                }
                Step::Repeat { times, body } => walk(program, body, turns * times, found),
                Step::Input { .. } | Step::Reveal { .. } => {}
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(program, program.steps(), 1, &mut found);
    found
}

/// The triples that a program uses up: those of the unit vectors of what it looks up, and one for each other AND.
pub(crate) fn triples_of(program: &Program) -> u64 {
    fn gates(program: &Program, steps: &[Step]) -> u64 {
        let of = |step: &Step| match step {
            Step::Call { circuit, times, .. } if table_in(program, *circuit).is_none() => {
                times * program.lowered()[*circuit].tape().ands().len() as u64
            }
            Step::Repeat { times, body } => times * gates(program, body),
            _ => 0,
        };
        steps.iter().map(of).sum()
    }
    let vectors =
        look_ups(program).into_iter().map(|(delta, count)| count.saturating_mul(table::triples(delta) as u64));
    vectors.fold(gates(program, program.steps()), u64::saturating_add)
}

/// Shares of a byte each, packed.
pub(crate) fn pack(wires: &[u8]) -> BitShares {
    let mut shares = BitShares::with_room(wires.len());
    for wires in wires.chunks(64) {
        let word = wires.iter().enumerate().fold(0, |word, (i, &share)| word | u64::from(share) << i);
        shares.push(&[word], wires.len());
    }
    shares
}

/// Shares as a byte each.
pub(crate) fn unpack(shares: &BitShares, wires: &mut [u8]) {
    for (wires, &word) in wires.chunks_mut(64).zip(shares.words()) {
        wires.iter_mut().enumerate().for_each(|(i, wire)| *wire = (word >> i & 1) as u8);
    }
}

/// The bits of the values, each with its slot, and where it is in the memory.
fn spread<'a>(
    slots: impl IntoIterator<Item = usize> + 'a,
    widths: &'a [usize],
    values: &'a [Place],
) -> impl Iterator<Item = (usize, Place)> + 'a {
    let bits = widths
        .iter()
        .zip(values)
        .flat_map(|(&width, &value)| (0..width).map(move |bit| Place { start: value.start + bit, ..value }));
    slots.into_iter().zip(bits)
}

/// The memory as calls side by side see it: of each bit a column.
struct Columns<'a> {
    memory: &'a mut [u8],
    first: u64,
    copies: usize,
}

impl Columns<'_> {
    /// Puts a bit of all calls into words.
    fn load(&self, from: Place, words: &mut [u64]) {
        if from.stride == 0 {
            words.fill(mask(self.memory[from.start] != 0));
            return;
        }
        for (word, start) in words.iter_mut().zip((0..self.copies).step_by(64)) {
            let calls = 0..(self.copies - start).min(64);
            let share = |i: usize| u64::from(self.memory[from.at(self.first + (start + i) as u64)]);
            *word = calls.fold(0, |word, i| word | share(i) << i);
        }
    }

    /// Puts words back as a bit of all calls.
    fn store(&mut self, to: Place, words: &[u64]) {
        for (word, start) in words.iter().zip((0..self.copies).step_by(64)) {
            for i in 0..(self.copies - start).min(64) {
                self.memory[to.at(self.first + (start + i) as u64)] = (word >> i & 1) as u8;
            }
        }
    }
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

impl Operands for Single<'_> {
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

impl Operands for Lanes<'_> {
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
