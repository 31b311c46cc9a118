//! Programs on a [`BitMachine`]: XOR shares, layer after layer, one message each way for the ANDs of a depth.
//!
//! As many calls run side by side as their wires fit 8 MiB; the wires of a single one are bounded by the lowering.

use core::ops::Range;
use std::collections::BTreeMap;

use comity_channel::Mesh;
use comity_circuit::{Call, LookupTable, Program, Put, Shown, Step};
use comity_core::{Bits, Error, Result, TapeGate};
use comity_sharing::{BitRows, Sharing};

use crate::machine::BitMachine;
use crate::table::{self, PublicTable, UnitPool};

/// XOR shares on a machine over a mesh.
pub struct BitSharing<'a, 'n, 'd> {
    net: &'a mut Mesh<'n>,
    machine: &'a mut BitMachine<'d>,
    /// Unit vectors, by the bits of an index.
    pools: Vec<UnitPool>,
    /// The tables that circuits of the program look up, by the number of the circuit.
    tables: Vec<Option<PublicTable>>,
}

impl<'a, 'n, 'd> BitSharing<'a, 'n, 'd> {
    /// Shares on this machine, which can be used by hand before and after.
    pub fn new(net: &'a mut Mesh<'n>, machine: &'a mut BitMachine<'d>) -> BitSharing<'a, 'n, 'd> {
        BitSharing { net, machine, pools: Vec::new(), tables: Vec::new() }
    }

    /// Makes what a program needs: triples, and unit vectors for the tables in it. From then on tables are
    /// looked up, in one round; before, they are computed by their gates.
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
        let circuits = 0..program.lowered().len();
        self.tables = circuits.map(|index| table_in(program, index).map(PublicTable::from)).collect();
        Ok(())
    }

    /// Does calls of a circuit whose one input value is an index into this table and whose one output value
    /// is the entry there, by [unit vectors](table::UnitVectors) and not by its gates. Beyond the table's end
    /// the entries are zeros.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the circuit has other values; those of the machine.
    pub fn look_up_in(&mut self, table: &PublicTable, call: &Call<'_>, memory: &mut BitRows) -> Result<()> {
        let (&[index], &[entry]) = (call.circuit.input_widths(), call.circuit.output_widths()) else {
            return Err(Error::invalid_input(
                "a look-up has one input value, the index, and one output value, the entry",
            ));
        };
        if entry != table.bits() {
            return Err(Error::invalid_input(format!("entries of {} bits do not fit {entry} bits", table.bits())));
        }
        let at = self.pools.iter().position(|pool| pool.delta() == table.delta()).unwrap_or_else(|| {
            self.pools.push(UnitPool::new(table.delta(), 0));
            self.pools.len() - 1
        });
        let mut first = 0;
        while first < call.times {
            let vectors = self.pools[at].take(self.net, self.machine, call.times - first)?;
            let copies = vectors.copies();
            let index = memory.columns(call.args[0], index, first, copies);
            let found = table::look_up(self.net, self.machine, (table, vectors), index)?;
            memory.put_columns(call.outs[0], first, &found);
            first += copies as u64;
        }
        Ok(())
    }
}

impl Sharing for BitSharing<'_, '_, '_> {
    type Rows = BitRows;
    const SHARES: bool = true;

    fn rows(&self) -> BitRows {
        BitRows::new(self.machine.backend())
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        BitRows::together(slots, times)
    }

    fn constants(&self, rows: &mut BitRows) {
        rows.fill(0, false);
        rows.fill(1, self.machine.one());
    }

    fn xors(&self, rows: &mut BitRows, gates: &[TapeGate]) {
        rows.add(gates);
    }

    fn ands(&mut self, rows: &mut BitRows, gates: &[TapeGate]) -> Result<()> {
        if let Some(mut single) = rows.single(gates) {
            return self.machine.ands(self.net, &mut single);
        }
        self.machine.ands(self.net, &mut rows.lanes(gates))
    }

    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut BitRows) -> Result<()> {
        to.unpack(&self.machine.input(put.owner, value, put.bits)?, put.start);
        Ok(())
    }

    fn random(&mut self, to: &mut BitRows, wires: Range<usize>) -> Result<()> {
        to.unpack(&self.machine.random(wires.len()), wires.start);
        Ok(())
    }

    fn reveal(&mut self, shown: Shown, from: &BitRows) -> Result<Option<Bits>> {
        self.machine.reveal(self.net, shown.to, &from.pack(shown.wires()))
    }

    fn look_up(&mut self, call: &Call<'_>, memory: &mut BitRows) -> Result<bool> {
        let Some(table) = self.tables.get_mut(call.index).and_then(Option::take) else { return Ok(false) };
        let done = self.look_up_in(&table, call, memory);
        self.tables[call.index] = Some(table);
        done.map(|()| true)
    }
}

/// The table that circuit `index` of a program looks up, if that saves rounds: its gates take more than one.
pub(crate) fn table_in(program: &Program, index: usize) -> Option<&LookupTable> {
    let layers = || program.lowered()[index].layered().layers();
    program.circuits()[index].table().filter(|_| layers().iter().filter(|layer| layer.ands > 0).count() > 1)
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

/// The triples that a program uses up: those of the unit vectors for its look-ups, and one for each other
/// AND.
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
