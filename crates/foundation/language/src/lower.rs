//! Checked program to circuits and loops.
//!
//! The program is walked as if it ran, with bits of circuits in place of private values. Public numbers are computed on
//! the way, so they cost nothing; both branches of an `if` on a private value are taken and joined. A loop is unrolled
//! if that is little work, and otherwise walked once and kept as a loop of the program.

mod affine;
mod builtin;
mod emit;
mod expr;
mod home;
mod lookup;
mod loops;
mod operate;
mod place;
mod public;
mod scan;
mod segment;
mod value;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use comity_circuit::{Form, Program, Span as Wires, Step};

use crate::diagnostic::{Errors, Span};
use crate::ir::{Func, FuncId, Module, VarId};
use crate::types::Ty;

use affine::{Affine, LoopId};
use emit::{Call, Class, Digit, Emitter, Item, Loop};
use home::{Level, Overlay};
use lookup::{Known, Waiting};
use segment::{Bit, Cell, Segment};
use value::{HomeId, Value};

/// Calls and expressions inside each other, at most.
const MAX_DEPTH: u32 = 400;
/// The most steps of the walk: unrolling has to end.
const MAX_WORK: u64 = 1 << 24;

/// A mistake that is found only here, such as an index beyond an array's end.
#[derive(Debug)]
pub(crate) struct Failure(Box<(Span, String)>);

impl Failure {
    fn new(at: Span, message: impl Into<String>) -> Failure {
        Failure(Box::new((at, message.into())))
    }

    /// Something that checking should have refused.
    fn internal(at: Span) -> Failure {
        Failure::new(at, "the compiler does not understand this, which is its mistake; please report it")
    }
}

/// The limits that decide between unrolling a loop and keeping it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// A loop of at most about this number of gates is unrolled.
    pub(crate) unroll: u64,
    /// The limit for loops in which constants save much.
    pub(crate) unroll_for_constants: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { unroll: 1 << 16, unroll_for_constants: 1 << 22 }
    }
}

struct Lower<'m> {
    module: &'m Module,
    limits: Limits,
    /// The variables of the function that is walked.
    frame: Vec<Option<Value>>,
    consts: HashMap<FuncId, Value>,
    /// Constants that are in the memory, for indices that move.
    constant_cells: HashMap<Vec<bool>, Cell>,
    costs: HashMap<FuncId, u64>,
    /// Bits of memory so far.
    wires: u64,
    /// The parts of the program, of each open loop, innermost last.
    items: Vec<Vec<Item>>,
    /// The items that come before everything else: tables.
    prologue: Vec<Item>,
    /// For each width in bits, the table of all its numbers.
    tables: BTreeMap<u32, Cell>,
    /// The constant arrays that were looked up in, and lookups that wait.
    known_tables: Vec<Known>,
    waiting: Vec<Waiting>,
    segments: Vec<Segment>,
    open: Option<u32>,
    gates: usize,
    loops: Vec<Loop>,
    classes: Vec<Class>,
    class_ids: HashMap<Class, u32>,
    homes: HomeId,
    overlay: Overlay,
    levels: Vec<Level>,
    /// The branches around that depend on a loop's turn.
    guards: u32,
    /// The form that operations are pinned to.
    pin: Option<Form>,
    depth: u32,
    work: u64,
}

/// The program of a module.
pub(crate) fn lower(file: &str, module: &Module, limits: Limits, errors: &mut Errors) -> Option<Program> {
    let mut lower = Lower {
        module,
        limits,
        frame: Vec::new(),
        consts: HashMap::new(),
        constant_cells: HashMap::new(),
        costs: HashMap::new(),
        wires: 0,
        items: vec![Vec::new()],
        prologue: Vec::new(),
        tables: BTreeMap::new(),
        known_tables: Vec::new(),
        waiting: Vec::new(),
        segments: Vec::new(),
        open: None,
        gates: 0,
        loops: Vec::new(),
        classes: vec![Vec::new()],
        class_ids: HashMap::from([(Vec::new(), 0)]),
        homes: 0,
        overlay: Overlay::new(),
        levels: Vec::new(),
        guards: 0,
        pin: None,
        depth: 0,
        work: 0,
    };
    match lower.program(file) {
        Ok(program) => Some(program),
        Err(Failure(failure)) => {
            errors.add(failure.0, failure.1);
            None
        }
    }
}

impl<'m> Lower<'m> {
    fn program(&mut self, file: &str) -> Result<Program, Failure> {
        let module = self.module;
        let main = &module.funcs[module.main];
        let start = main.body.as_ref().map_or_else(Span::default, |body| Span { end: body.span.start, ..body.span });
        let mut steps = Vec::new();
        let mut args = Vec::new();
        for input in &module.inputs {
            let bits = input.ty.bits();
            let cell = self.allocate(bits, start)?;
            let to = Wires { start: cell.base.into(), bits, strides: Vec::new() };
            steps.push(Step::Input { name: input.name.clone(), owner: input.owner, to });
            args.push(Value::Stored(cell, None));
        }
        let result = self.call(module.main, args, start)?;
        let at = main.body.as_ref().map_or(start, |body| body.span);
        let mut reveals = Vec::new();
        for (i, output) in module.outputs.iter().enumerate() {
            let value = match &module.outputs[..] {
                [_] => result.clone(),
                _ => self.part(&result, main.ty(main.body.as_ref().ok_or_else(|| Failure::internal(at))?), i as u64),
            };
            let cell = match value {
                Value::Stored(cell, None) if cell.class == 0 => cell,
                value => {
                    let cell = self.allocate(output.ty.bits(), at)?;
                    self.store_at(cell, &value, &output.ty, at)?;
                    cell
                }
            };
            let from = Wires { start: cell.base.into(), bits: output.ty.bits(), strides: Vec::new() };
            reveals.push(Step::Reveal { name: output.name.clone(), to: output.to, from });
        }
        self.close();
        let mut items = self.items.pop().unwrap_or_default();
        self.finish(&mut items);
        let mut emitter = Emitter::new(&self.classes, &self.loops);
        steps.extend(emitter.steps(&self.prologue));
        steps.extend(emitter.steps(&items));
        steps.extend(reveals);
        let program = Program::new(file, self.wires, emitter.circuits(), steps);
        let program = program.map(|program| program.with_goal(module.goal).side_by_side());
        let typed = program.and_then(|mut program| {
            for (i, input) in module.inputs.iter().enumerate() {
                program = program.with_input_type(i, input.ty.to_value_type())?;
            }
            for (i, output) in module.outputs.iter().enumerate() {
                program = program.with_output_type(i, output.ty.to_value_type())?;
            }
            Ok(program)
        });
        typed.map_err(|error| Failure::new(start, format!("the program is too large: {error}")))
    }

    /// Makes circuits of the segments, whose values nobody asks for any more.
    fn finish(&mut self, items: &mut Vec<Item>) {
        for item in items.iter_mut() {
            if let Item::Segment(id) = item {
                let segment = std::mem::take(&mut self.segments[*id as usize]);
                if let Some((circuit, args, outs)) = segment.finish() {
                    let (circuit, strides) = (Rc::new(circuit), (Vec::new(), Vec::new()));
                    let call = Call { circuit, args, outs, times: 1, strides };
                    *item = Item::Circuit(Box::new(call));
                }
            }
        }
        items.retain(|item| !matches!(item, Item::Segment(_)));
    }

    fn func(&self, id: FuncId) -> &'m Func {
        &self.module.funcs[id]
    }

    /// Counts work, so that there is an end.
    fn spend(&mut self, work: u64, at: Span) -> Result<(), Failure> {
        self.work = self.work.saturating_add(work);
        if self.work > MAX_WORK {
            return Err(Failure::new(at, "compiling this takes too many steps: too much is unrolled around here"));
        }
        Ok(())
    }

    /// The class with these terms.
    fn class(&mut self, mut terms: Class) -> u32 {
        terms.sort_unstable();
        let mut merged: Class = Vec::new();
        for (digit, stride) in terms {
            match merged.last_mut() {
                Some((last, sum)) if *last == digit => *sum += stride,
                _ => merged.push((digit, stride)),
            }
        }
        merged.retain(|(_, stride)| *stride != 0);
        if let Some(&id) = self.class_ids.get(&merged) {
            return id;
        }
        let id = self.classes.len() as u32;
        self.classes.push(merged.clone());
        self.class_ids.insert(merged, id);
        id
    }

    /// The first bit that a cell's run reaches in any turn, and the one behind the last.
    fn reach(&self, cell: Cell, bits: u64) -> (i128, i128) {
        let (mut low, mut high) = (i128::from(cell.base), i128::from(cell.base) + i128::from(bits));
        for &(digit, stride) in &self.classes[cell.class as usize] {
            let last = match digit {
                Digit::Turn(id) => self.loops[id as usize].times - 1,
                Digit::Low(id) => (1 << self.loops[id as usize].halves().0) - 1,
                Digit::High(id) => (1 << self.loops[id as usize].halves().1) - 1,
            };
            let far = i128::from(stride) * i128::from(last);
            low += far.min(0);
            high += far.max(0);
        }
        (low, high)
    }

    fn times(&self, id: LoopId) -> u64 {
        self.loops[id as usize].times
    }

    fn range(&self, number: &Affine) -> Option<(i128, i128)> {
        number.range(|id| self.times(id))
    }

    /// A function's value for these arguments.
    fn call(&mut self, id: FuncId, args: Vec<Value>, at: Span) -> Result<Value, Failure> {
        let func = self.func(id);
        let Some(body) = &func.body else { return Err(Failure::internal(at)) };
        let mut frame: Vec<Option<Value>> = vec![None; func.vars.len()];
        for (&param, arg) in func.params.iter().zip(args) {
            let var = &func.vars[param];
            // A parameter that does not change may be the caller's variable: nobody changes that meanwhile.
            frame[param] = Some(if var.mutable { self.snapshot(&arg, &var.ty, at)? } else { arg });
        }
        let outer = std::mem::replace(&mut self.frame, frame);
        let value = self.nested(at, |lower| lower.tail(func, body));
        self.frame = outer;
        self.retire(value?, func.ty(body), at)
    }

    /// Runs a part of the walk that nests.
    fn nested<T>(&mut self, at: Span, part: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        if self.depth >= MAX_DEPTH {
            return Err(Failure::new(at, "calls and expressions are nested too deep; split them"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn var(&self, id: VarId, at: Span) -> Result<Value, Failure> {
        self.frame.get(id).cloned().flatten().ok_or_else(|| Failure::internal(at))
    }

    /// The bits of a public number in a type.
    fn materialize(&mut self, number: &Affine, ty: &Ty, at: Span) -> Result<Rc<[Bit]>, Failure> {
        let (low, high) = match ty {
            Ty::Number => (i128::from(i64::MIN), i128::from(i64::MAX)),
            _ => ty.range(),
        };
        self.in_type(self.range(number), ty, (low, high), at)?;
        let width = ty.bits();
        let constant =
            |value: i128| -> Vec<Bit> { (0..width).map(|i| Bit::Constant(value >> i.min(127) & 1 == 1)).collect() };
        let mut sum: Option<Vec<Bit>> = None;
        for &(id, factor) in &number.terms {
            let counter = self.counter(id, at)?;
            for k in (0..127).filter(|k| factor.unsigned_abs() >> k & 1 == 1) {
                let mut term = vec![Bit::Constant(false); (k as usize).min(width as usize)];
                term.extend(&counter);
                term.resize(width as usize, Bit::Constant(false));
                sum = Some(match sum {
                    None if factor > 0 => term,
                    sum => {
                        let sum = sum.unwrap_or_else(|| constant(0));
                        self.gates(&[&sum, &term], at, |b, words| {
                            use comity_library::arith;
                            let add = if factor > 0 { arith::add } else { arith::sub };
                            add(b, &words[0], &words[1])
                        })?
                    }
                });
            }
        }
        let start = constant(number.start);
        Ok(match sum {
            None => start.into(),
            Some(sum) if number.start == 0 => sum.into(),
            Some(sum) => {
                use comity_library::arith;
                self.gates(&[&sum, &start], at, |b, words| arith::add(b, &words[0], &words[1]))?.into()
            }
        })
    }

    /// The bits of a loop's turn: read from a table, so that counting costs no gates.
    fn counter(&mut self, id: LoopId, at: Span) -> Result<Vec<Bit>, Failure> {
        self.loops[id as usize].counted = true;
        let (low, high) = self.loops[id as usize].halves();
        let mut bits = Vec::new();
        for (digit, width) in [(Digit::Low(id), low), (Digit::High(id), high)] {
            if width > 0 {
                let table = self.table(width, at)?;
                let class = self.class(vec![(digit, i64::from(width))]);
                let cell = Cell { class, base: table.base };
                bits.extend((0..u64::from(width)).map(|i| Bit::Cell(cell.at(i))));
            }
        }
        Ok(bits)
    }

    /// The table of all numbers of `width` bits.
    fn table(&mut self, width: u32, at: Span) -> Result<Cell, Failure> {
        if let Some(&table) = self.tables.get(&width) {
            return Ok(table);
        }
        let bits = u64::from(width) << width;
        let table = self.allocate(bits, at)?;
        let mut b = comity_circuit::Builder::new();
        let number = |n: u64| (0..width).map(move |i| comity_circuit::Wire::constant(n >> i & 1 == 1));
        b.output("", &(0..1u64 << width).flat_map(number).collect::<Vec<_>>());
        let (args, outs) = (Vec::new(), vec![(table, bits)]);
        let call = Call { circuit: Rc::new(b.finish()), args, outs, times: 1, strides: (Vec::new(), vec![0]) };
        self.prologue.push(Item::Circuit(Box::new(call)));
        self.tables.insert(width, table);
        Ok(table)
    }
}
