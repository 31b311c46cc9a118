//! Netlists: cells between named nets, in any order, perhaps with flip-flops and with modules inside modules.
//!
//! The readers of BLIF, yosys' JSON and SHDL each make [`Model`]s; here modules are put into each other, cells are
//! sorted so that each comes after what it reads, and truth tables become gates.

pub(super) mod cells;
mod flatten;
mod lower;
mod sequential;
mod table;

use std::rc::Rc;

use super::lines::shown;
use crate::error::{Malformation, ReadError};

pub(super) use flatten::flatten;
pub(super) use lower::lower;
pub use sequential::SequentialCircuit;

/// A wire of a model.
pub(super) type Net = u32;
/// The constant zero, in every model.
pub(super) const ZERO: Net = 0;
/// The constant one, in every model.
pub(super) const ONE: Net = 1;

/// The longest name that is read, in bytes.
const LONGEST_NAME: usize = 4096;

/// A fault: what is wrong, and at which byte of the text.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) what: String,
}

pub(super) type Result<T> = std::result::Result<T, Wrong>;

/// An error.
pub(super) fn wrong<T>(at: usize, what: impl Into<String>) -> Result<T> {
    Err(Wrong { at, what: what.into() })
}

impl Wrong {
    /// The error with its line and column.
    pub(super) fn locate(self, text: &str) -> ReadError {
        let before = &text.as_bytes()[..self.at.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        ReadError::Malformed { line, column: Some(column), what: Malformation::Netlist(self.what) }
    }
}

/// A name as messages show it.
pub(super) fn named(name: &str) -> String {
    format!("`{}`", shown(name.as_bytes()))
}

/// Whether a name is short enough.
pub(super) fn check_name(at: usize, name: &str) -> Result<()> {
    if name.len() <= LONGEST_NAME { Ok(()) } else { wrong(at, format!("a name of more than {LONGEST_NAME} bytes")) }
}

/// The function that a cell computes from its pins.
#[derive(Clone)]
pub(super) enum Function {
    /// A truth table of up to six pins: bit `i` is the value where pin `j` is bit `j` of `i`.
    Table(u64),
    /// A truth table of more pins.
    Large(Rc<[bool]>),
    /// A cover: whether some cube covers the pins, or if not `on`, none does.
    Cover { cubes: Rc<[Vec<Literal>]>, on: bool },
}

/// A pin that has to have a value.
#[derive(Clone, Copy)]
pub(super) struct Literal {
    pub(super) pin: u32,
    pub(super) value: bool,
}

pub(super) struct Cell {
    pub(super) function: Function,
    /// The place of its pins in the model's list: where they begin, and how many there are.
    pins: (u32, u32),
    pub(super) out: Net,
    pub(super) at: u32,
}

/// A flip-flop: at each tick of the clock `q` becomes what `d` was.
#[derive(Clone)]
pub(super) struct Flop {
    pub(super) d: Net,
    pub(super) q: Net,
    pub(super) clock: Option<Net>,
    pub(super) rising: bool,
    pub(super) init: bool,
    pub(super) at: u32,
}

/// A module inside another: which, and what its ports are connected to.
pub(super) struct Instance {
    pub(super) model: String,
    pub(super) ports: Vec<(String, Vec<Net>)>,
    pub(super) at: usize,
}

pub(super) struct Port {
    pub(super) name: String,
    /// Whether one net of the name `a[3]` is bit 3 of `a`, as netlists write it; else the name is all a name.
    pub(super) brackets: bool,
    pub(super) nets: Vec<Net>,
    pub(super) at: usize,
}

/// A module.
#[derive(Default)]
pub(super) struct Model {
    /// The nets' names.
    names: Vec<Rc<str>>,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    pub(super) cells: Vec<Cell>,
    pins: Vec<Net>,
    pub(super) flops: Vec<Flop>,
    pub(super) instances: Vec<Instance>,
    /// Whether the module is announced without content.
    pub(super) black_box: bool,
}

impl Model {
    pub(super) fn new() -> Model {
        Model { names: vec!["0".into(), "1".into()], ..Model::default() }
    }

    /// A new net.
    pub(super) fn net(&mut self, name: impl Into<Rc<str>>) -> Net {
        self.names.push(name.into());
        self.names.len() as Net - 1
    }

    pub(super) fn rename(&mut self, net: Net, name: &str) {
        self.names[net as usize] = name.into();
    }

    pub(super) fn name(&self, net: Net) -> &str {
        &self.names[net as usize]
    }

    pub(super) fn nets(&self) -> usize {
        self.names.len()
    }

    pub(super) fn cell(&mut self, at: usize, function: Function, pins: &[Net], out: Net) {
        self.cells.push(Cell { function, pins: (self.pins.len() as u32, pins.len() as u32), out, at: at as u32 });
        self.pins.extend(pins);
    }

    /// A cell with a small table, and a new net that it drives.
    pub(super) fn derive(&mut self, at: usize, table: u64, pins: &[Net], like: Net) -> Net {
        let out = self.net(self.names[like as usize].clone());
        self.cell(at, Function::Table(table), pins, out);
        out
    }

    pub(super) fn pins(&self, cell: &Cell) -> &[Net] {
        &self.pins[cell.pins.0 as usize..][..cell.pins.1 as usize]
    }
}
