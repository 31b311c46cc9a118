//! What of a program is looked up whole: circuits that are tables of few bits, such as S-boxes.
//!
//! D13.3 calls any function of few bits a table, and runs AES by tables of its S-box. Here a table is a
//! circuit that a program calls: one that the builder noted as a look-up
//! ([`Circuit::table`](comity_circuit::Circuit::table), which is checked and never believed), or one of at
//! most [`INDEX`] input bits, which is evaluated at all of them. Both parties find the same ones.
//!
//! **The table of a box.** The mask of its index is `r`, and that of its output `s`, both shared. Party `A`
//! keeps its share of the unit vector of `r` ([`UnitVectors`](comity_gmw::table::UnitVectors)) and of `s`: at the
//! masked index `e` its share of the masked output `T(e + r) + s` is a sum of rows of the public table, turned
//! by `e`. That is 2^delta bits and those of the output for a box, 33 bytes for an S-box of AES, where the
//! literal table of the paper has 256 bytes; a test holds both to equal bytes on the wire.
//!
//! Vectors of boxes that are looked up in one message are kept 512 at a time
//! ([`TOGETHER`](comity_gmw::table::TOGETHER)), bit after bit of all of them, so that a run turns and adds them
//! up in the first cache as they are read; then come the masks of all rows.

use std::collections::BTreeMap;

use comity_circuit::{Call, Circuit, LookupTable, Program, Step, eval_many};
use comity_core::{Bits, SessionId};
use comity_gmw::table::{PublicTable, triples};
use comity_protocol::Options;
use comity_share::bits::BitShares;
use comity_sharing::BitRows;

/// The bits of an index below which a circuit is evaluated to see its table.
pub const INDEX: usize = 8;

/// Bits of the unit vectors of a message: 2 MiB. Its boxes' number is a whole number of words.
const ROOM: usize = 1 << 24;

/// The circuits of a program that are looked up whole, each as one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boxing {
    /// None: each AND gate has a table of its own.
    Gates,
    /// Each circuit that is a table and has an AND gate.
    Boxes,
    /// Each of these whose gates would take more rounds, and no fewer bits.
    Auto,
}

impl Boxing {
    /// The values of the option `tables`.
    pub const WORDS: &'static [&'static str] = &["auto", "gates", "sbox"];

    /// The choice that the option `tables` makes.
    pub fn of(options: &Options) -> Boxing {
        match options.word("tables") {
            "gates" => Boxing::Gates,
            "sbox" => Boxing::Boxes,
            _ => Boxing::Auto,
        }
    }
}

/// A program, with the tables that are looked up whole.
pub struct Boxed<'p> {
    program: &'p Program,
    /// By the number of the circuit.
    tables: Vec<Option<PublicTable>>,
}

impl<'p> Boxed<'p> {
    /// The program, with the tables that this choice gives it.
    pub fn new(program: &'p Program, boxing: Boxing) -> Boxed<'p> {
        let circuits = program.circuits().iter().enumerate();
        let tables = circuits.map(|(index, circuit)| {
            let layers = program.lowered()[index].layered().layers();
            let ands: usize = layers.iter().map(|layer| layer.ands).sum();
            let rounds = layers.iter().filter(|layer| layer.ands > 0).count();
            let bits = circuit.output_wires().len();
            let pays = match boxing {
                Boxing::Gates => false,
                Boxing::Boxes => ands > 0,
                Boxing::Auto => rounds > 1 && bits <= ands,
            };
            if pays { table(circuit).as_ref().map(PublicTable::from) } else { None }
        });
        Boxed { program, tables: tables.collect() }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The table of a circuit of the program that is looked up whole.
    pub(crate) fn table(&self, circuit: usize) -> Option<&PublicTable> {
        self.tables[circuit].as_ref()
    }

    /// The digest of the program and of what is looked up in it.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let boxes: Bits = self.tables.iter().map(Option::is_some).collect();
        if !boxes.iter().any(|looked_up| looked_up) {
            return self.program.digest();
        }
        SessionId::derive("tinytable: boxes", &[&self.program.digest(), &boxes.to_bytes()]).to_bytes()
    }

    /// Goes through the calls of the program: a circuit's number, and how often it is called at once.
    pub(crate) fn calls(&self, each: &mut dyn FnMut(usize, u64, u64)) {
        walk(self.program.steps(), 1, each);
    }

    /// The AND gates that have tables of their own.
    pub(crate) fn gates(&self) -> u64 {
        let mut gates = 0_u64;
        self.calls(&mut |circuit, times, turns| {
            if self.table(circuit).is_none() {
                let ands = self.program.lowered()[circuit].tape().ands().len() as u64;
                gates = gates.saturating_add(ands.saturating_mul(times).saturating_mul(turns));
            }
        });
        gates
    }

    /// The boxes, by the bits of an index.
    pub(crate) fn boxes(&self) -> BTreeMap<usize, u64> {
        let mut boxes = BTreeMap::<usize, u64>::new();
        self.calls(&mut |circuit, times, turns| {
            if let Some(table) = self.table(circuit) {
                let of = boxes.entry(table.delta()).or_default();
                *of = of.saturating_add(times.saturating_mul(turns));
            }
        });
        boxes
    }

    /// The triples that the tables are made of.
    pub fn triples(&self) -> u64 {
        let boxes = self.boxes().into_iter().map(|(delta, count)| count.saturating_mul(triples(delta) as u64));
        boxes.fold(self.gates(), u64::saturating_add)
    }
}

fn walk(steps: &[Step], turns: u64, each: &mut dyn FnMut(usize, u64, u64)) {
    for step in steps {
        match step {
            Step::Call { circuit, times, .. } => each(*circuit, *times, turns),
            Step::Repeat { times, body } => walk(body, turns.saturating_mul(*times), each),
            Step::Input { .. } | Step::Reveal { .. } => {}
        }
    }
}

/// The table that a circuit is: its input values, one after another, are the index, and its output values the row.
fn table(circuit: &Circuit) -> Option<LookupTable> {
    if let Some(table) = circuit.table() {
        return Some(table.clone());
    }
    let (delta, sigma) = (circuit.input_bits(), circuit.output_wires().len());
    if delta > INDEX {
        return None;
    }
    let values = |index: u64| {
        let mut rest = index;
        circuit.inputs().iter().map(|value| taken(&mut rest, value.bits)).collect::<Vec<Bits>>()
    };
    let indices: Vec<Vec<Bits>> = (0..1 << delta).map(values).collect();
    let program = Program::from_circuit(circuit.clone()).ok()?;
    let rows = eval_many(&program, &indices).ok()?;
    let row = |values: &Vec<Bits>| values.iter().flat_map(Bits::iter).collect::<Bits>().to_bytes();
    LookupTable::new(delta, sigma, rows.iter().flat_map(row).collect())
}

/// The next bits of an index.
fn taken(rest: &mut u64, bits: usize) -> Bits {
    let value = Bits::from_bytes(&rest.to_le_bytes(), bits);
    *rest >>= bits;
    value
}

/// The boxes of `times` calls that come at once, message by message: the first call of each, and how many.
pub(crate) fn messages(delta: usize, times: u64) -> impl Iterator<Item = (u64, usize)> {
    let most = (ROOM >> delta) as u64;
    (0..times).step_by(most as usize).map(move |first| (first, most.min(times - first) as usize))
}

/// Whether unit vectors of `bits` bits in all must be made before more are taken on.
pub(crate) fn is_full(bits: u64) -> bool {
    bits >= ROOM as u64
}

/// The indices of calls: bit `t` of all of them, for each `t`.
pub(crate) fn indices(call: &Call<'_>, memory: &BitRows, first: u64, copies: usize) -> Vec<BitShares> {
    let values = call.circuit.input_widths().iter().zip(call.args);
    values.flat_map(|(&width, &at)| memory.columns(at, width, first, copies)).collect()
}

/// Writes the rows of calls to where their outputs go.
pub(crate) fn put_rows(call: &Call<'_>, memory: &mut BitRows, first: u64, mut rows: &[BitShares]) {
    for (&width, &at) in call.circuit.output_widths().iter().zip(call.outs) {
        let value;
        (value, rows) = rows.split_at(width);
        memory.put_columns(at, first, value);
    }
}

/// The bits of one party for the boxes of a message: one after another, each of all boxes side by side.
pub(crate) fn joined(rows: &[BitShares]) -> BitShares {
    let mut all = BitShares::with_room(rows.iter().map(BitShares::len).sum());
    rows.iter().for_each(|row| all.push(row.words(), row.len()));
    all
}

/// The rows that were [`joined`], of `copies` boxes.
pub(crate) fn parted(all: &BitShares, copies: usize) -> Vec<BitShares> {
    let part = |start| {
        let mut row = BitShares::with_room(copies);
        row.push_from(all, start, copies);
        row
    };
    (0..all.len()).step_by(copies).map(part).collect()
}
