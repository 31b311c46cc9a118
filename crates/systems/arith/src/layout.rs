//! Where words lie in a program's memory, whose addresses are bits: a word lies at one place for the whole
//! program.
//!
//! A circuit that reads bits as a word says where one begins, and in each turn and call where that moves to;
//! of words that overlap the one that begins first is one. Bits that are only copied are words wherever those
//! are that they come from or go to. A result that nobody reads as a word is one where it is put. All other
//! bits are words of one bit. A word ends where something else is written, so that no part of a word is
//! written.
//!
//! These are hints, since any bits can be read as parts of words, at a cost. What holds is that the plan of
//! each circuit comes out, with words at the same places in all turns and calls; else the program is refused.

use comity_circuit::{Call, Place, Program, Span, Step};
use comity_core::Error;
use comity_share::ring::WIDEST_WORD;

use crate::plan::WordPlan;
use crate::sketch::{Load, Sketch};
use crate::words::{Port, Refusal};

/// The words of a program's memory, and the plans of its circuits.
pub(crate) struct Layout {
    /// For each address whether a word begins there, 64 a word.
    starts: Vec<u64>,
    /// The words before those of each entry.
    before: Vec<u32>,
    widths: Vec<u8>,
    wires: usize,
    /// The plans of each circuit, with its values' words.
    plans: Vec<Vec<Planned>>,
}

/// A circuit's plan where its values' words are these.
struct Planned {
    ports: [Vec<Port>; 2],
    plan: WordPlan,
}

/// A word of the memory, or what of it is among some bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The word's number.
    pub(crate) word: usize,
    /// The place of its first bit here.
    pub(crate) offset: usize,
    /// The bits of the word before that one, and those that are here.
    pub(crate) skip: usize,
    pub(crate) bits: usize,
}

/// Values of a call: where they are in the first call, and how far they move.
type Moves<'a> = &'a [(Span, i64)];

/// Where values begin in the first call of the first turn, and their bits.
fn spans(values: Moves<'_>) -> impl Iterator<Item = (usize, usize)> {
    values.iter().map(|(span, _)| (span.start as usize, span.bits as usize))
}

/// The loops, and the calls, that move some of these values: how often, and how far each. The inner ones come
/// last.
fn moving(values: &[&(Span, i64)], loops: &[u64], times: u64) -> Vec<(u64, Vec<i64>)> {
    let of = |level: usize| values.iter().map(|(span, _)| span.strides.get(level).copied().unwrap_or(0)).collect();
    let mut strides: Vec<(u64, Vec<i64>)> =
        loops.iter().enumerate().map(|(level, &times)| (times, of(level))).collect();
    strides.push((times, values.iter().map(|(_, stride)| *stride).collect()));
    strides.retain(|(_, strides)| strides.iter().any(|stride| *stride != 0));
    strides
}

/// Calls `each` with where these values are, in all turns and calls that move them.
fn positions(values: &[&(Span, i64)], loops: &[u64], times: u64, each: &mut dyn FnMut(&[u64])) {
    fn turn(strides: &[(u64, Vec<i64>)], at: &[u64], each: &mut dyn FnMut(&[u64])) {
        let Some(((times, strides), inner)) = strides.split_first() else { return each(at) };
        let mut at = at.to_vec();
        for _ in 0..*times {
            turn(inner, &at, each);
            at.iter_mut().zip(strides).for_each(|(at, stride)| *at = at.wrapping_add_signed(*stride));
        }
    }
    let at: Vec<u64> = values.iter().map(|(span, _)| span.start).collect();
    turn(&moving(values, loops, times), &at, each);
}

/// Whether all values of a program are at so few places, counting each turn that moves them, that these can
/// be gone through.
fn check_places(program: &Program, sketches: &[Sketch]) -> Result<(), Refusal> {
    const MOST: u64 = 1 << 28;
    each_call(program.steps(), &mut Vec::new(), &mut |circuit, loops, times, [args, outs]| {
        let places = |values: &[&(Span, i64)]| {
            moving(values, loops, times).iter().fold(1u64, |all, (times, _)| all.saturating_mul(*times))
        };
        let each = args.iter().chain(outs).map(|value| places(&[value]));
        let both = sketches[circuit].copies.iter().map(|(from, to)| places(&[&args[from.value], &outs[to.value]]));
        match each.chain(both).max() {
            Some(most) if most > MOST => Err(Refusal {
                line: 0,
                what: format!("has a value at {most} places in the turns of its loops, and {MOST} are the most"),
            }),
            _ => Ok(()),
        }
    })
}

/// What is done for a call: it is told the circuit, the turns of the loops around it, the number of calls,
/// the arguments and the results.
type EachCall<'e, 'a> = dyn FnMut(usize, &[u64], u64, [Moves<'a>; 2]) -> Result<(), Refusal> + 'e;

/// Calls `each` for each call of a program.
fn each_call<'a>(steps: &'a [Step], loops: &mut Vec<u64>, each: &mut EachCall<'_, 'a>) -> Result<(), Refusal> {
    for step in steps {
        match step {
            Step::Call { circuit, times, args, outs } => each(*circuit, loops, *times, [args, outs])?,
            Step::Repeat { times, body } => {
                loops.push(*times);
                each_call(body, loops, each)?;
                loops.pop();
            }
            Step::Input { .. } | Step::Reveal { .. } => {}
        }
    }
    Ok(())
}

/// Widths of words by the address at which they begin, zero where none does.
struct Marks(Vec<u8>);

impl Marks {
    /// Whether an address is inside a word that begins before it.
    fn is_inside(&self, at: usize) -> bool {
        let before = at.saturating_sub(WIDEST_WORD as usize - 1);
        (before..at).any(|start| start + usize::from(self.0[start]) > at)
    }

    /// Has words not overlap: one that begins inside of another one begins where that ends, or is a part of
    /// it.
    fn part(&mut self) {
        let mut end = 0;
        for at in 0..self.0.len() {
            let own = at + usize::from(self.0[at]);
            if at < end && own > at {
                self.0[at] = 0;
                if own > end {
                    self.0[end] = self.0[end].max((own - end) as u8);
                }
            } else {
                end = end.max(own);
            }
        }
    }

    /// Has a word begin at an address, or be as wide at least; unless other words are in the way. Whether
    /// anything changed.
    fn widen(&mut self, at: usize, bits: usize) -> bool {
        let bits = bits.min(self.0.len() - at);
        let free = bits <= WIDEST_WORD as usize
            && usize::from(self.0[at]) < bits
            && self.0[at + 1..at + bits].iter().all(|&width| width == 0)
            && !self.is_inside(at);
        if free {
            self.0[at] = bits as u8;
        }
        free
    }
}

impl Layout {
    /// The layout of a program.
    ///
    /// # Errors
    /// [`Refusal`] says what is not on words.
    pub(crate) fn new(program: &Program) -> Result<Layout, Refusal> {
        let sketches: Vec<Sketch> = program.circuits().iter().map(Sketch::new).collect();
        check_places(program, &sketches)?;
        let mut marks = Marks(vec![0; program.wires() as usize]);
        read(program, &sketches, &mut marks)?;
        loop {
            while copy(program, &sketches, &mut marks)? {}
            if !write(program, &sketches, &mut marks)? {
                break;
            }
        }
        let mut layout = Layout::of(marks, &ends(program)?);
        layout.plan(program)?;
        Ok(layout)
    }

    /// The layout of these words, and of single bits where none is; words end at all `ends`.
    fn of(mut marks: Marks, ends: &[bool]) -> Layout {
        let wires = marks.0.len();
        let mut at = 0;
        while at < wires {
            let bits = usize::from(marks.0[at]).max(1);
            let end = (at + 1..at + bits).find(|&end| ends[end]).unwrap_or(at + bits);
            marks.0[at] = (end - at) as u8;
            if end < at + bits {
                marks.0[end] = (at + bits - end) as u8;
            }
            at = end;
        }
        let mut layout = Layout {
            starts: vec![0; wires.div_ceil(64)],
            before: Vec::with_capacity(wires.div_ceil(64)),
            widths: Vec::new(),
            wires,
            plans: Vec::new(),
        };
        for (entry, widths) in marks.0.chunks(64).enumerate() {
            layout.before.push(layout.widths.len() as u32);
            for (bit, &width) in widths.iter().enumerate().filter(|(_, width)| **width > 0) {
                layout.starts[entry] |= 1 << bit;
                layout.widths.push(width);
            }
        }
        layout
    }

    /// The number of words.
    pub(crate) fn words(&self) -> usize {
        self.widths.len()
    }

    /// The number of the word that begins at this address, if one does.
    pub(crate) fn word(&self, at: usize) -> Option<usize> {
        let (entry, bit) = (at / 64, at % 64);
        let before = self.starts[entry] & ((1 << bit) - 1);
        (self.starts[entry] >> bit & 1 == 1).then(|| self.before[entry] as usize + before.count_ones() as usize)
    }

    /// The words among these bits, as far as they are there.
    pub(crate) fn among(&self, start: usize, bits: usize) -> Vec<Part> {
        let (mut parts, mut at, end) = (Vec::new(), start, start + bits);
        while at < end {
            let begin = (0..=at).rev().find(|&begin| self.word(begin).is_some()).expect("the first bit begins a word");
            let word = self.word(begin).expect("it begins there");
            let next = end.min(begin + usize::from(self.widths[word]));
            parts.push(Part { word, offset: at - start, skip: at - begin, bits: next - at });
            at = next;
        }
        parts
    }

    /// Whether these bits are whole words.
    fn is_whole(&self, start: usize, bits: usize) -> bool {
        let begins = |at: usize| at == self.wires || self.word(at).is_some();
        begins(start) && begins(start + bits)
    }

    /// The words of values, each given by the place where it begins and its number of bits.
    fn ports(&self, values: impl Iterator<Item = (usize, usize)>) -> Vec<Port> {
        let of = |(value, (start, bits))| {
            let port = move |part: Part| Port { value, offset: part.offset, skip: part.skip, bits: part.bits };
            self.among(start, bits).into_iter().map(port)
        };
        values.enumerate().flat_map(of).collect()
    }

    /// The plan of a call, whose circuit may be called with words at other places of its values, too.
    pub(crate) fn plan_at(&self, call: &Call<'_>) -> &WordPlan {
        let of = |values: &[Place], bits: &[usize]| {
            self.ports(values.iter().zip(bits).map(|(place, &bits)| (place.at(0), bits)))
        };
        self.planned(call.index, || {
            [of(call.args, call.circuit.input_widths()), of(call.outs, call.circuit.output_widths())]
        })
    }

    /// The plan of a step, if that is a call.
    pub(crate) fn plan_of(&self, step: &Step) -> Option<&WordPlan> {
        let Step::Call { circuit, args, outs, .. } = step else { return None };
        Some(self.planned(*circuit, || [args, outs].map(|values| self.ports(spans(values)))))
    }

    /// The plan of a circuit whose values' words are these.
    fn planned(&self, circuit: usize, ports: impl FnOnce() -> [Vec<Port>; 2]) -> &WordPlan {
        let plans = &self.plans[circuit];
        if let [only] = &plans[..] {
            return &only.plan;
        }
        let ports = ports();
        let found = plans.iter().find(|planned| planned.ports == ports);
        &found.expect("a plan was made for each call").plan
    }

    /// Plans all circuits, for the places where their values are.
    fn plan(&mut self, program: &Program) -> Result<(), Refusal> {
        let mut plans: Vec<Vec<Planned>> = program.circuits().iter().map(|_| Vec::new()).collect();
        each_call(program.steps(), &mut Vec::new(), &mut |circuit, loops, times, values| {
            let ports = values.map(|values| self.ports(spans(values)));
            for (which, values) in values.iter().enumerate() {
                for (value, moved) in values.iter().enumerate() {
                    let bits = moved.0.bits as usize;
                    let first = self.among(moved.0.start as usize, bits);
                    let same = |(part, first): (&Part, &Part)| Part { word: first.word, ..*part } == *first;
                    let mut alike = true;
                    positions(&[moved], loops, times, &mut |at| {
                        let at = at[0] as usize;
                        let parts = self.among(at, bits);
                        alike &= parts.len() == first.len() && parts.iter().zip(&first).all(same);
                        alike &= which == 0 || self.is_whole(at, bits);
                    });
                    if !alike {
                        let notes = program.circuits()[circuit].notes();
                        let reads = if which == 0 { "reads" } else { "writes" };
                        let line = notes.get(value.min(notes.len().saturating_sub(1))).map_or(0, |note| note.line);
                        let what = format!("{reads} words at different places of a value in different turns of a loop");
                        return Err(Refusal { line, what });
                    }
                }
            }
            if plans[circuit].iter().all(|planned| planned.ports != ports) {
                let [ins, outs] = ports.clone();
                let plan = WordPlan::new(&program.circuits()[circuit], ins, outs)?;
                plans[circuit].push(Planned { ports, plan });
            }
            Ok(())
        })?;
        self.plans = plans;
        Ok(())
    }
}

/// Where something ends that is written: each value of a call, input values, outputs.
fn ends(program: &Program) -> Result<Vec<bool>, Refusal> {
    let mut ends = vec![false; program.wires() as usize + 1];
    let mut mark = |start: u64, bits: u64| {
        ends[start as usize] = true;
        ends[(start + bits) as usize] = true;
    };
    each_call(program.steps(), &mut Vec::new(), &mut |_, loops, times, [_, outs]| {
        for value in outs.iter().filter(|value| value.0.bits > 0) {
            positions(&[value], loops, times, &mut |at| mark(at[0], value.0.bits));
        }
        Ok(())
    })?;
    for step in program.steps() {
        if let Step::Input { to: span, .. } | Step::Reveal { from: span, .. } = step {
            mark(span.start, span.bits);
        }
    }
    Ok(ends)
}

/// Marks where words are read.
fn read(program: &Program, sketches: &[Sketch], marks: &mut Marks) -> Result<(), Refusal> {
    each_call(program.steps(), &mut Vec::new(), &mut |circuit, loops, times, [args, _]| {
        for &Load { port, line, .. } in sketches[circuit].loads.iter().filter(|load| !load.loose) {
            if port.bits > WIDEST_WORD as usize {
                let what = format!("has a word of {} bits, and {WIDEST_WORD} are the most", port.bits);
                return Err(Refusal { line, what });
            }
            positions(&[&args[port.value]], loops, times, &mut |at| {
                let width = &mut marks.0[at[0] as usize + port.offset];
                *width = (*width).max(port.bits as u8);
            });
        }
        Ok(())
    })?;
    marks.part();
    // A word has its upper bits also where nobody reads them, unless something else begins there. What may be
    // several words is one where nobody says where these are.
    for loose in [false, true] {
        each_call(program.steps(), &mut Vec::new(), &mut |circuit, loops, times, [args, _]| {
            for &Load { port, whole, .. } in sketches[circuit].loads.iter().filter(|load| load.loose == loose) {
                positions(&[&args[port.value]], loops, times, &mut |at| {
                    marks.widen(at[0] as usize + port.offset, whole);
                });
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Marks where words are copied from and to; whether that marked anything new.
fn copy(program: &Program, sketches: &[Sketch], marks: &mut Marks) -> Result<bool, Refusal> {
    let mut changed = false;
    each_call(program.steps(), &mut Vec::new(), &mut |circuit, loops, times, [args, outs]| {
        for (source, target) in &sketches[circuit].copies {
            positions(&[&args[source.value], &outs[target.value]], loops, times, &mut |at| {
                let (from, to) = (at[0] as usize + source.offset, at[1] as usize + target.offset);
                for bit in 0..source.bits {
                    let seen = |marks: &Marks, at: usize| usize::from(marks.0[at + bit]).min(source.bits - bit);
                    changed |= marks.widen(to + bit, seen(marks, from));
                    changed |= marks.widen(from + bit, seen(marks, to));
                }
            });
        }
        Ok(())
    })?;
    Ok(changed)
}

/// Marks where results are put; whether that marked anything new.
fn write(program: &Program, sketches: &[Sketch], marks: &mut Marks) -> Result<bool, Refusal> {
    let mut changed = false;
    each_call(program.steps(), &mut Vec::new(), &mut |circuit, loops, times, [_, outs]| {
        for port in &sketches[circuit].stores {
            positions(&[&outs[port.value]], loops, times, &mut |at| {
                changed |= marks.widen(at[0] as usize + port.offset, port.bits);
            });
        }
        Ok(())
    })?;
    Ok(changed)
}

impl Refusal {
    /// The error for whoever runs the program.
    pub(crate) fn error(&self, program: &Program) -> Error {
        let place = match self.line {
            0 => format!("`{}`", program.name()),
            line => format!("line {line} of `{}`", program.name()),
        };
        Error::invalid_input(format!(
            "arith computes on numbers of at most {WIDEST_WORD} bits; {place} {}. Take `mixed`, for programs that need \
             both, or another protocol that runs gates",
            self.what
        ))
    }
}
