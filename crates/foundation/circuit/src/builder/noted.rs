//! Which words the functions that build gates compute: [`Builder::noted`], and the notes of the finished circuit.
//!
//! The outermost function that notes something wins: what stands inside it is part of it. What a note reads
//! may be gone in the end, since no output needs it. Then the note says so where it can, and is left out
//! where it cannot: a gate without a note cannot be named when it is gone. The gates are the same with notes
//! and without.

use std::collections::HashMap;

use super::{Builder, Wire};
use crate::circuit::{Circuit, Gate, Group};
use crate::goal::Goal;
use crate::note::{ArgBit, Form, Gadgets, Note, WordOp, most_gates};

/// The results of a function whose gates are noted: a wire, or words.
pub trait Results {
    /// Calls `word` for each result, in order.
    fn each(&self, word: &mut dyn FnMut(&[Wire]));
}

impl Results for Wire {
    fn each(&self, word: &mut dyn FnMut(&[Wire])) {
        word(std::slice::from_ref(self));
    }
}

impl Results for Vec<Wire> {
    fn each(&self, word: &mut dyn FnMut(&[Wire])) {
        word(self);
    }
}

impl Results for Vec<Vec<Wire>> {
    fn each(&self, word: &mut dyn FnMut(&[Wire])) {
        self.iter().for_each(|result| word(result));
    }
}

impl Results for (Vec<Wire>, Vec<Wire>) {
    fn each(&self, word: &mut dyn FnMut(&[Wire])) {
        word(&self.0);
        word(&self.1);
    }
}

/// The notes so far.
#[derive(Default)]
pub(super) struct Recorder {
    /// Whether nothing is noted at present.
    quiet: bool,
    line: u32,
    /// The form that what is noted is pinned to.
    pin: Option<Form>,
    /// What checks the notes.
    pub(super) gadgets: Option<Gadgets>,
    notes: Vec<Recorded>,
    /// The wires of all notes: of each the arguments, then the results.
    wires: Vec<Wire>,
    /// The widths of the arguments of all notes.
    widths: Vec<usize>,
    /// Whether an operation that is noted is being built.
    noting: bool,
    /// The gates that were there already when operations asked for them, by operation.
    shared: Vec<u32>,
}

struct Recorded {
    op: WordOp,
    line: u32,
    pin: Option<Form>,
    /// The gates before the operation's, and how many were new.
    at: usize,
    pushed: usize,
    /// The widths of the arguments: up to here, and from where those of the note before end.
    widths: usize,
    /// Where its wires are: the arguments from `start` on, the results from `outs` on, up to `end`.
    start: usize,
    outs: usize,
    end: usize,
    /// Where the gates are that it shares with others: up to here, and from where those of the note before end.
    shared: usize,
}

impl Builder {
    /// Builds the gates of an operation on words, and notes the operation. `build` must give what `gadgets`,
    /// the function for [checking](crate::Circuit::with_notes), gives for the same operation, goal and words.
    pub fn noted<R: Results>(
        &mut self,
        gadgets: Gadgets,
        op: WordOp,
        args: &[&[Wire]],
        build: impl FnOnce(&mut Builder) -> R,
    ) -> R {
        if self.recorder.quiet {
            return build(self);
        }
        let at = self.gates.len();
        self.recorder.noting = true;
        let results = self.quiet(build);
        self.recorder.noting = false;
        let (pushed, first) = (self.gates.len() - at, self.first_gate_wire());
        let recorder = &mut self.recorder;
        let (shared, widths) = recorder.notes.last().map_or((0, 0), |note| (note.shared, note.widths));
        recorder.widths.extend(args.iter().map(|word| word.len()));
        let start = recorder.wires.len();
        if op.results(&recorder.widths[widths..]).is_none() {
            recorder.forget(start, widths, shared);
            return results;
        }
        args.iter().for_each(|word| recorder.wires.extend_from_slice(word));
        let outs = recorder.wires.len();
        results.each(&mut |word| recorder.wires.extend_from_slice(word));
        // What is no gate needs no note.
        if recorder.wires[outs..].iter().all(|wire| (wire.0 as usize) < first) {
            recorder.forget(start, widths, shared);
            return results;
        }
        recorder.gadgets = Some(gadgets);
        let (line, pin) = (recorder.line, recorder.pin);
        let (end, widths, shared) = (recorder.wires.len(), recorder.widths.len(), recorder.shared.len());
        recorder.notes.push(Recorded { op, line, pin, at, pushed, widths, start, outs, end, shared });
        results
    }

    /// Builds gates without noting anything inside.
    pub fn quiet<R>(&mut self, build: impl FnOnce(&mut Builder) -> R) -> R {
        let before = std::mem::replace(&mut self.recorder.quiet, true);
        let results = build(self);
        self.recorder.quiet = before;
        results
    }

    /// Sets the line of the source text that the next gates come from, for people who read the notes; 0 for
    /// no line.
    pub fn set_line(&mut self, line: u32) {
        self.recorder.line = line;
    }

    /// Pins the operations that are noted from now on to a form, or to none; returns what they were pinned to
    /// before. Gates are built as they are without.
    pub fn pin(&mut self, form: Option<Form>) -> Option<Form> {
        std::mem::replace(&mut self.recorder.pin, form)
    }

    /// A builder for `input_bits` input bits and at most `gates` gates. Gates after these are
    /// [not built](Builder::is_full).
    pub(crate) fn bounded(input_bits: usize, gates: usize) -> Builder {
        let mut b = Builder { input_bits, ..Builder::new() };
        b.recorder.quiet = true;
        b.most.0 = b.most.0.min(b.first_gate_wire() + gates);
        b
    }

    /// Whether there were more gates than a bounded builder takes: its wires are not to be trusted then.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Input bit `bit`.
    pub(crate) fn input_wire(bit: usize) -> Wire {
        Wire(2 + bit as u32)
    }

    /// Builds gates for a goal.
    pub(crate) fn build_for<R>(&mut self, goal: Goal, build: impl FnOnce(&mut Builder) -> R) -> R {
        self.goal = goal;
        build(self)
    }
}

/// How the wires of a builder are called in the finished circuit.
pub(super) struct Finished<'a> {
    pub(super) goal: Goal,
    pub(super) first: usize,
    /// Whether a wire is still there.
    pub(super) needed: &'a [bool],
    /// The new name of a wire that is, and of one that is not that of the next one that is.
    pub(super) renamed: &'a [u32],
}

impl Finished<'_> {
    /// Whether a wire is a gate's that no longer is there.
    fn is_gone(&self, wire: Wire) -> bool {
        wire.0 as usize >= self.first && !self.needed[wire.0 as usize]
    }
}

impl Recorder {
    /// An operation gets a gate that is there already.
    #[inline]
    pub(super) fn shares(&mut self, gate: usize) {
        if self.noting {
            self.shared.push(gate as u32);
        }
    }

    /// Forgets what is known of an operation that is not noted, whose parts begin here.
    fn forget(&mut self, wires: usize, widths: usize, shared: usize) {
        self.wires.truncate(wires);
        self.widths.truncate(widths);
        self.shared.truncate(shared);
    }

    /// The widths of the arguments of a note.
    fn widths(&self, note: usize) -> &[usize] {
        let from = note.checked_sub(1).map_or(0, |before| self.notes[before].widths);
        &self.widths[from..self.notes[note].widths]
    }

    /// The notes of a finished circuit of `gates` gates; and whether the notes build again every gate that is
    /// gone and that their operations shared, so that a check repeats just what the builder did: what else is
    /// gone was of no consequence to what is left.
    pub(super) fn finish(self, finished: &Finished<'_>, gates: usize) -> (Vec<Note>, bool) {
        let Recorder { notes, wires, .. } = &self;
        // The dead results that later notes may read, by the first note that has them: note and bit.
        let mut dead: HashMap<Wire, (usize, u32)> = HashMap::new();
        let mut kept = vec![false; notes.len()];
        for (index, note) in notes.iter().enumerate() {
            let known = |wire: &Wire| !finished.is_gone(*wire) || dead.contains_key(wire);
            kept[index] = wires[note.start..note.outs].iter().all(known);
            if kept[index] {
                for (bit, &wire) in (0..).zip(&wires[note.outs..note.end]) {
                    if finished.is_gone(wire) {
                        dead.entry(wire).or_insert((index, bit));
                    }
                }
            }
        }
        // From the last one on: those that are left have a result that is, or that one of them reads.
        let mut read = vec![false; notes.len()];
        for (index, note) in notes.iter().enumerate().rev() {
            let left = |wire: &Wire| wire.0 as usize >= finished.first && !finished.is_gone(*wire);
            kept[index] &= read[index] || wires[note.outs..note.end].iter().any(left);
            if kept[index] {
                for wire in wires[note.start..note.outs].iter().filter(|wire| finished.is_gone(**wire)) {
                    read[dead[wire].0] = true;
                }
            }
        }
        let pins = self.drop_repeated(&mut kept);
        let mut places = vec![0; notes.len()];
        let mut all: Vec<Note> = Vec::with_capacity(kept.iter().filter(|kept| **kept).count());
        let before = |gate: usize| {
            finished.renamed.get(finished.first + gate).map_or(gates, |&next| next as usize - finished.first)
        };
        let mut pushed = gates;
        for (index, note) in notes.iter().enumerate().filter(|(index, _)| kept[*index]) {
            places[index] = all.len() as u32;
            let argument = |&wire: &Wire| match dead.get(&wire) {
                Some(&(note, bit)) if finished.is_gone(wire) => ArgBit::Result { note: places[note], bit },
                _ => ArgBit::Wire(finished.renamed[wire.0 as usize]),
            };
            let mut from = note.start;
            let mut word = |bits: usize| {
                from += bits;
                wires[from - bits..from].iter().map(argument).collect::<Vec<_>>()
            };
            let args = self.widths(index).iter().map(|&bits| word(bits)).collect();
            let result = |&wire: &Wire| (!finished.is_gone(wire)).then(|| finished.renamed[wire.0 as usize]);
            let outs = wires[note.outs..note.end].iter().map(result).collect();
            let at = before(note.at) as u32;
            let (op, pin, line, goal) = (note.op.clone(), pins[index], note.line, finished.goal);
            all.push(Note { op, goal, pin, line, at, args, outs });
            pushed += note.pushed;
        }
        // Notes that take long to check are dropped, such as those of large operations of which hardly
        // anything is left.
        if 2 * pushed > most_gates(gates, &all) {
            all.clear();
        }
        let exact = self.builds_again(finished, &kept);
        (all, exact)
    }

    /// Whether each gate that the operations of kept notes shared is left, or is one of a kept note's
    /// operation, which builds it again.
    fn builds_again(&self, finished: &Finished<'_>, kept: &[bool]) -> bool {
        let built = |gate: usize| {
            let after = self.notes.partition_point(|note| note.at <= gate);
            // Of notes that begin at one gate only the last one builds any.
            after
                .checked_sub(1)
                .is_some_and(|index| kept[index] && gate < self.notes[index].at + self.notes[index].pushed)
        };
        let mut from = 0;
        self.notes.iter().zip(kept).all(|(note, kept)| {
            let shared = &self.shared[std::mem::replace(&mut from, note.shared)..note.shared];
            !kept || shared.iter().all(|&gate| finished.needed[finished.first + gate as usize] || built(gate as usize))
        })
    }

    /// Drops the notes of operations that were noted before: they are the same wires. The pins that are left:
    /// that of an operation which was pinned first where it is there several times.
    fn drop_repeated(&self, kept: &mut [bool]) -> Vec<Option<Form>> {
        let mut pins: Vec<Option<Form>> = self.notes.iter().map(|note| note.pin).collect();
        let key = |index: usize| {
            let note = &self.notes[index];
            (&note.op, self.widths(index), &self.wires[note.start..note.outs])
        };
        let mixed =
            |hash: u64, wire: &Wire| (hash.rotate_left(5) ^ u64::from(wire.0)).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = |note: &Recorded| self.wires[note.start..note.outs].iter().fold(0, mixed);
        let mut hashes: Vec<(u64, usize)> =
            (0..self.notes.len()).filter(|&i| kept[i]).map(|i| (hash(&self.notes[i]), i)).collect();
        hashes.sort_unstable();
        for group in hashes.chunk_by(|x, y| x.0 == y.0).filter(|group| group.len() > 1) {
            let mut known: Vec<usize> = Vec::new();
            for &(_, index) in group {
                if let Some(&other) = known.iter().find(|&&other| key(other) == key(index)) {
                    kept[index] = false;
                    pins[other] = pins[other].or(pins[index]);
                } else {
                    known.push(index);
                }
            }
        }
        pins
    }
}

impl Circuit {
    /// The circuit with the operations that are pinned to no form pinned to this one, if it is one.
    #[must_use]
    pub fn pinned(self, form: Option<Form>) -> Circuit {
        let mut notes = self.notes().to_vec();
        notes.iter_mut().for_each(|note| note.pin = note.pin.or(form));
        self.noted(notes)
    }

    /// The circuit with fewer input bits, or with them in another order: input bit `i` is what was on wire
    /// `kept[i]`. No gate reads an input bit that is left out, and no output is one; notes that read it say
    /// that it is gone.
    ///
    /// # Panics
    /// If a gate or an output reads another input bit, or if the groups do not add up.
    #[must_use]
    pub fn rewired(self, inputs: Vec<Group>, outputs: Vec<Group>, kept: &[u32]) -> Circuit {
        let (old, new) = (self.first_gate_wire(), 2 + kept.len());
        let mut names = vec![None; old];
        let constants = [Circuit::ZERO, Circuit::ONE];
        for (new, &wire) in (0..).zip(constants.iter().chain(kept)) {
            names[wire as usize] = Some(new);
        }
        let name = |wire: u32| match names.get(wire as usize) {
            Some(&name) => name,
            None => Some(wire - old as u32 + new as u32),
        };
        let there = |wire: u32| name(wire).expect("an input bit that is read is kept");
        let (gates, output_wires, mut notes) = self.into_gates();
        let gates = gates.into_iter().map(|gate| Gate { a: there(gate.a), b: there(gate.b), ..gate }).collect();
        let output_wires = output_wires.into_iter().map(there).collect();
        let mut gone: HashMap<ArgBit, u32> = HashMap::new();
        for note in &mut notes {
            for bit in note.args.iter_mut().flatten() {
                let named = match *bit {
                    ArgBit::Wire(wire) => name(wire).map(ArgBit::Wire),
                    ArgBit::Gone(_) => None,
                    ArgBit::Result { .. } => Some(*bit),
                };
                let next = gone.len() as u32;
                *bit = named.unwrap_or_else(|| ArgBit::Gone(*gone.entry(*bit).or_insert(next)));
            }
            // An input bit that is gone was a result only by being an argument.
            note.outs.iter_mut().for_each(|out| *out = out.and_then(name));
        }
        Circuit::new(inputs, outputs, gates, output_wires).expect("only inputs were renamed").noted(notes)
    }
}
