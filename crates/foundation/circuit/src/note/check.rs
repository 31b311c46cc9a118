//! Notes are checked by building the circuit again, with the gates of each noted operation at its place.
//!
//! The builder of the check joins equal gates, so where a note is true its operation's gates are there when
//! the circuit's own come, and both are the same wires. Where it is not, some result is another wire. Dead
//! gates of an operation are built, too, so what is built is [bounded](super::most_gates) by what the notes
//! and the gates take in an encoding.

use std::collections::HashSet;

use super::{ArgBit, Note, WordOp, most_gates};
use crate::builder::{Builder, Wire};
use crate::circuit::{Circuit, Op};

/// Builds the gates of an operation for the builder's goal, and returns a word for each result. It is only
/// asked for operations and widths that [`WordOp::results`] knows.
pub type Gadgets = fn(&mut Builder, &WordOp, &[Vec<Wire>]) -> Vec<Vec<Wire>>;

/// The reason why a note was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("note {note} ({op}) {flaw}")]
pub struct NoteError {
    /// The note's index.
    pub note: usize,
    /// The name of its operation.
    pub op: &'static str,
    /// What is wrong with it.
    pub flaw: NoteFlaw,
}

/// What is wrong with a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteFlaw {
    /// The operation does not take words of these widths.
    #[error("has arguments of widths that the operation does not take, or nobody builds its gates")]
    Shape,
    /// Notes are not in the order of the gates.
    #[error("begins before the note ahead of it does, or behind the last gate")]
    Place,
    /// An argument names a bit that does not exist at its place.
    #[error("reads a bit that is not there before it, or that is named otherwise")]
    Argument,
    /// A result names a wire that does not exist.
    #[error("has a result on a wire that is not there")]
    Result,
    /// No result is left: no gate drives one, and no other note reads one.
    #[error("has no result that a gate drives or that another note reads")]
    Idle,
    /// Another note says the same of the same words.
    #[error("is there twice")]
    Twice,
    /// The gates compute something else.
    #[error("is not what the gates compute")]
    Gates,
    /// Checking would take too long.
    #[error("takes more gates to check than notes of this size may")]
    TooLarge,
}

impl Circuit {
    /// The circuit with these notes, all of which are checked against its gates.
    ///
    /// # Errors
    /// [`NoteError`] for the first note that is not true, or not in the one form in which it is written.
    pub fn with_notes(self, notes: Vec<Note>, gadgets: Gadgets) -> Result<Circuit, NoteError> {
        if !notes.is_empty() {
            check_form(&self, &notes)?;
            let refuse = |note: usize, flaw| Err(NoteError { note, op: notes[note].op.name(), flaw });
            match rebuild(&self, &notes, gadgets) {
                Err(note) => return refuse(note, NoteFlaw::TooLarge),
                Ok(others) if !others.is_empty() => return refuse(others[0], NoteFlaw::Gates),
                Ok(_) => {}
            }
        }
        Ok(self.noted(notes))
    }

    /// The circuit with those of its notes that pass the check. A builder merges gates with others that are
    /// gone in the end; where no note builds these again, the results of a true note may be other wires.
    pub(crate) fn with_notes_that_pass(self, gadgets: Gadgets) -> Circuit {
        let mut notes = self.notes().to_vec();
        loop {
            match rebuild(&self, &notes, gadgets) {
                Ok(others) if others.is_empty() => return self.noted(notes),
                Ok(others) => notes = without(notes, &others, self.first_gate_wire()),
                Err(_) => notes.clear(),
            }
        }
    }
}

/// The notes without `dropped`, without those that read a result of a dropped one that is gone, and without
/// those of which nothing is left then.
fn without(notes: Vec<Note>, dropped: &[usize], first_gate_wire: usize) -> Vec<Note> {
    let mut kept = vec![true; notes.len()];
    dropped.iter().for_each(|&note| kept[note] = false);
    let results = |note: &Note| {
        let read = |bit: &ArgBit| if let ArgBit::Result { note, .. } = bit { Some(*note as usize) } else { None };
        note.args.iter().flatten().filter_map(read).collect::<Vec<_>>()
    };
    for (index, note) in notes.iter().enumerate() {
        kept[index] &= results(note).into_iter().all(|read| kept[read]);
    }
    let mut read = vec![false; notes.len()];
    for (index, note) in notes.iter().enumerate().rev() {
        kept[index] &= read[index] || !note.is_idle(first_gate_wire);
        if kept[index] {
            results(note).into_iter().for_each(|note| read[note] = true);
        }
    }
    let mut next = 0;
    let place = |kept: &bool| {
        next += u32::from(*kept);
        next.wrapping_sub(1)
    };
    let places: Vec<u32> = kept.iter().map(place).collect();
    let mut left: Vec<Note> = notes.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(note, _)| note).collect();
    for bit in left.iter_mut().flat_map(|note| note.args.iter_mut().flatten()) {
        if let ArgBit::Result { note, .. } = bit {
            *note = places[*note as usize];
        }
    }
    left
}

/// Whether the notes are written as they are to be, whatever the gates compute.
fn check_form(circuit: &Circuit, notes: &[Note]) -> Result<(), NoteError> {
    let (first, gates) = (circuit.first_gate_wire(), circuit.gates().len());
    let (mut at, mut gone) = (0, 0);
    let mut read = vec![false; notes.len()];
    let mut seen = HashSet::new();
    for (index, note) in notes.iter().enumerate() {
        let refuse = |flaw| Err(NoteError { note: index, op: note.op.name(), flaw });
        let widths: Vec<usize> = note.args.iter().map(Vec::len).collect();
        match note.op.results(&widths) {
            Some(results) if results.iter().sum::<usize>() == note.outs.len() => {}
            _ => return refuse(NoteFlaw::Shape),
        }
        if note.at < at || note.at as usize > gates {
            return refuse(NoteFlaw::Place);
        }
        at = note.at;
        for bit in note.args.iter().flatten() {
            let there = match *bit {
                ArgBit::Wire(wire) => (wire as usize) < first + at as usize,
                // They are counted as they come.
                ArgBit::Gone(bit) => {
                    let counted = bit <= gone;
                    gone += u32::from(bit == gone);
                    counted
                }
                ArgBit::Result { note, bit } => {
                    let dead = |note: &Note| note.outs.get(bit as usize) == Some(&None);
                    let earlier = (note as usize) < index && dead(&notes[note as usize]);
                    if earlier {
                        read[note as usize] = true;
                    }
                    earlier
                }
            };
            if !there {
                return refuse(NoteFlaw::Argument);
            }
        }
        if note.outs.iter().flatten().any(|&wire| wire as usize >= first + gates) {
            return refuse(NoteFlaw::Result);
        }
        if !seen.insert((&note.op, note.goal, &note.args)) {
            return refuse(NoteFlaw::Twice);
        }
    }
    match notes.iter().zip(read).position(|(note, read)| !read && note.is_idle(first)) {
        Some(note) => Err(NoteError { note, op: notes[note].op.name(), flaw: NoteFlaw::Idle }),
        None => Ok(()),
    }
}

/// Whether a circuit has so many inputs that it is worth while to look for those that something reads: it may have
/// far more than it has bytes, and a builder has memory for each wire.
pub(super) fn reads_few(circuit: &Circuit) -> bool {
    circuit.first_gate_wire() > 2 * circuit.gates().len() + 1024
}

/// The notes that the gates do not compute; or the note whose check would take too many gates.
fn rebuild(circuit: &Circuit, notes: &[Note], gadgets: Gadgets) -> Result<Vec<usize>, usize> {
    let first = circuit.first_gate_wire();
    let bits = || notes.iter().flat_map(|note| note.args.iter().flatten());
    let outs = || notes.iter().flat_map(|note| note.outs.iter().flatten().copied());
    let read: Option<Vec<u32>> = reads_few(circuit).then(|| {
        let of_gates = circuit.gates().iter().flat_map(|gate| [gate.a, gate.b]);
        let of_args = bits().filter_map(|bit| if let ArgBit::Wire(wire) = bit { Some(*wire) } else { None });
        let is_input = |wire: &u32| (2..first).contains(&(*wire as usize));
        let mut read: Vec<u32> = of_gates.chain(of_args).chain(outs()).filter(is_input).collect();
        read.sort_unstable();
        read.dedup();
        read
    });
    let inputs = read.as_ref().map_or(circuit.input_bits(), Vec::len);
    let gone = bits().filter_map(|bit| if let ArgBit::Gone(bit) = bit { Some(*bit as usize + 1) } else { None }).max();
    // And one more that nothing reads.
    let unknown = gone.unwrap_or(0);
    let mut b = Builder::bounded(inputs + unknown + 1, most_gates(circuit.gates().len(), notes));
    let gone = inputs;
    let mut built: Vec<Wire> = Vec::with_capacity(circuit.gates().len());
    let of = |built: &[Wire], wire: u32| match (wire as usize).checked_sub(first) {
        Some(gate) => built[gate],
        None if wire < 2 => Wire::constant(wire == 1),
        None => Builder::input_wire(match &read {
            Some(read) => read.binary_search(&wire).expect("an input that something reads"),
            None => wire as usize - 2,
        }),
    };
    let mut results: Vec<Vec<Wire>> = Vec::with_capacity(notes.len());
    let mut waiting = notes.iter().enumerate().peekable();
    // Later gates drive no result.
    let last = outs().filter_map(|wire| (wire as usize).checked_sub(first)).max().unwrap_or(0);
    for at in 0..=last.max(notes.last().map_or(0, |note| note.at as usize)) {
        while let Some((index, note)) = waiting.next_if(|(_, note)| note.at as usize == at) {
            let bit = |bit: &ArgBit| match *bit {
                ArgBit::Wire(wire) => of(&built, wire),
                ArgBit::Gone(bit) => Builder::input_wire(gone + bit as usize),
                ArgBit::Result { note, bit } => results[note as usize][bit as usize],
            };
            let args: Vec<Vec<Wire>> = note.args.iter().map(|word| word.iter().map(bit).collect()).collect();
            let mut words = b.build_for(note.goal, |b| gadgets(b, &note.op, &args)).concat();
            if b.is_full() {
                return Err(index);
            }
            // Where nobody builds the gates, no wire is the result.
            words.resize(note.outs.len(), Builder::input_wire(gone + unknown));
            results.push(words);
        }
        let Some(gate) = circuit.gates().get(at) else { break };
        let (x, y) = (of(&built, gate.a), of(&built, gate.b));
        built.push(match gate.op {
            Op::Xor => b.xor(x, y),
            Op::And => b.and(x, y),
        });
    }
    let differ = |(note, results): (&Note, &Vec<Wire>)| {
        note.outs.iter().zip(results).any(|(out, &result)| out.is_some_and(|wire| of(&built, wire) != result))
    };
    if b.is_full() {
        return Err(notes.len() - 1);
    }
    let others = notes.iter().zip(&results).enumerate().filter(|(_, pair)| differ(*pair));
    Ok(others.map(|(note, _)| note).collect())
}
