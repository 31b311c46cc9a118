//! A circuit cut into parts of one form each: [`Cut`].
//!
//! The nodes are noted operations and the gates that no note accounts for. A bit that is a result of an
//! operation is that operation's, whatever gates stand beside the note; a wire inside of an operation that
//! something else reads is a gate, as is all that it depends on. What no output depends on is left out.
//!
//! Nodes of one form that do not wait for another form are one part. A part's *level* is one more than that of
//! the parts of other forms that it reads, so that parts of one level do not read each other.

use comity_circuit::{ArgBit, Circuit, Op};

use crate::form::{CircuitForms, Form};
use crate::operation::allowed;

/// What computes a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    /// A bit of an input value.
    Input {
        value: u32,
        bit: u32,
    },
    /// A result bit of a note, counted through all of its results.
    Note {
        note: u32,
        bit: u32,
    },
    Gate(u32),
}

/// A bit that something reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bit {
    Constant(bool),
    Of { source: Source, negated: bool },
}

impl Bit {
    fn negated_if(self, negate: bool) -> Bit {
        match self {
            Bit::Constant(bit) => Bit::Constant(bit ^ negate),
            Bit::Of { source, negated } => Bit::Of { source, negated: negated ^ negate },
        }
    }

    /// What computes it, unless it is constant.
    pub(crate) fn source(self) -> Option<Source> {
        match self {
            Bit::Constant(_) => None,
            Bit::Of { source, .. } => Some(source),
        }
    }
}

/// How a value of a call lies in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Held {
    /// Words of so many bits, shared as sums.
    Words(u32),
    /// Bits, in one of the two other forms.
    Bits(Form),
}

/// How the values of a call lie in the memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) ins: Vec<Held>,
    pub(crate) outs: Vec<Held>,
}

impl Shape {
    /// The one form that all values have, if there is one and it is one of bits.
    pub(crate) fn only(&self) -> Option<Form> {
        let all = || self.ins.iter().chain(&self.outs);
        Form::ALL.into_iter().find(|form| all().all(|held| *held == Held::Bits(*form)))
    }
}

/// The bits of a circuit, by what computes them.
pub(crate) struct Wires<'c> {
    pub(crate) circuit: &'c Circuit,
    inputs: Vec<Source>,
    gates: Vec<Bit>,
}

impl<'c> Wires<'c> {
    pub(crate) fn new(circuit: &'c Circuit) -> Wires<'c> {
        let first = circuit.first_gate_wire();
        let inputs = circuit.inputs().iter().enumerate().flat_map(|(value, group)| {
            (0..group.bits).map(move |bit| Source::Input { value: value as u32, bit: bit as u32 })
        });
        let mut owner: Vec<Option<Source>> = vec![None; circuit.gates().len()];
        for (note, of) in circuit.notes().iter().enumerate() {
            for (bit, wire) in of.outs.iter().enumerate() {
                // A gate that was there before the operation is not its own.
                let gate = wire.and_then(|wire| (wire as usize).checked_sub(first)).filter(|g| *g >= of.at as usize);
                if let Some(gate) = gate {
                    owner[gate].get_or_insert(Source::Note { note: note as u32, bit: bit as u32 });
                }
            }
        }
        let mut wires = Wires { circuit, inputs: inputs.collect(), gates: Vec::with_capacity(owner.len()) };
        for (index, (gate, owner)) in circuit.gates().iter().zip(owner).enumerate() {
            let source = owner.unwrap_or(Source::Gate(index as u32));
            let bit = match (owner, gate.op) {
                (None, Op::Xor) if gate.a == Circuit::ONE => wires.bit(gate.b).negated_if(true),
                (None, Op::Xor) if gate.b == Circuit::ONE => wires.bit(gate.a).negated_if(true),
                _ => Bit::Of { source, negated: false },
            };
            wires.gates.push(bit);
        }
        wires
    }

    pub(crate) fn bit(&self, wire: u32) -> Bit {
        let wire = wire as usize;
        match wire {
            0 | 1 => Bit::Constant(wire == 1),
            _ => match self.inputs.get(wire - 2) {
                Some(&source) => Bit::Of { source, negated: false },
                None => self.gates[wire - 2 - self.inputs.len()],
            },
        }
    }

    /// A bit of an argument. What is gone may be anything, and is zero.
    pub(crate) fn arg(&self, bit: ArgBit) -> Bit {
        match bit {
            ArgBit::Wire(wire) => self.bit(wire),
            ArgBit::Gone(_) => Bit::Constant(false),
            ArgBit::Result { note, bit } => Bit::Of { source: Source::Note { note, bit }, negated: false },
        }
    }

    /// The words that a note reads.
    pub(crate) fn words(&self, note: usize) -> impl Iterator<Item = Vec<Bit>> + '_ {
        self.circuit.notes()[note].args.iter().map(|word| word.iter().map(|bit| self.arg(*bit)).collect())
    }

    /// The two bits that a gate reads.
    pub(crate) fn of_gate(&self, gate: usize) -> [Bit; 2] {
        let gate = self.circuit.gates()[gate];
        [self.bit(gate.a), self.bit(gate.b)]
    }

    /// The bits of an output value.
    pub(crate) fn output(&self, value: usize) -> Vec<Bit> {
        let outputs = self.circuit.outputs();
        let start: usize = outputs[..value].iter().map(|group| group.bits).sum();
        self.circuit.output_wires()[start..start + outputs[value].bits].iter().map(|&wire| self.bit(wire)).collect()
    }

    /// Calls `each` for each gate and note, so that what one reads comes before it.
    pub(crate) fn in_order(&self, mut each: impl FnMut(Node)) {
        let mut next = 0;
        let notes = self.circuit.notes();
        for gate in 0..=self.circuit.gates().len() {
            while next < notes.len() && notes[next].at as usize <= gate {
                each(Node::Note(next));
                next += 1;
            }
            if gate < self.circuit.gates().len() {
                each(Node::Gate(gate));
            }
        }
    }
}

/// A node of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Note(usize),
    Gate(usize),
    /// A word of an output value that lies in the memory as words: its number among these.
    Out(usize),
}

/// Nodes of one form and one level.
#[derive(Debug)]
pub(crate) struct Nodes {
    pub(crate) level: u32,
    pub(crate) form: Form,
    pub(crate) nodes: Vec<Node>,
}

/// A word of an output value that lies in the memory as words.
#[derive(Debug)]
pub(crate) struct OutWord {
    pub(crate) value: usize,
    pub(crate) word: usize,
    pub(crate) bits: Vec<Bit>,
}

/// A circuit cut into parts.
pub(crate) struct Cut<'c> {
    pub(crate) wires: Wires<'c>,
    pub(crate) forms: Vec<Form>,
    pub(crate) gates: Form,
    pub(crate) shape: Shape,
    /// In the order of their levels.
    pub(crate) parts: Vec<Nodes>,
    pub(crate) out_words: Vec<OutWord>,
    /// The part of each note and each gate, if an output depends on it.
    of_note: Vec<Option<u32>>,
    of_gate: Vec<Option<u32>>,
}

/// The forms of a circuit's notes, of its gates, and of its adders.
pub(crate) type Possible = (Vec<Form>, Form, Form);

/// The forms of a circuit that are computed: those that are asked for, if they are possible.
pub(crate) fn possible(circuit: &Circuit, forms: &CircuitForms) -> Possible {
    let of_bits = |form: Form| if form == Form::Arithmetic { Form::Yao } else { form };
    let [gates, adders] = [forms.gates, forms.adders].map(of_bits);
    let of = |(index, note)| match forms.notes.get(index) {
        Some(&form) if allowed(note, form) => form,
        _ => gates,
    };
    (circuit.notes().iter().enumerate().map(of).collect(), gates, adders)
}

impl<'c> Cut<'c> {
    pub(crate) fn new(circuit: &'c Circuit, (forms, gates): (Vec<Form>, Form), shape: &Shape) -> Cut<'c> {
        let wires = Wires::new(circuit);
        let mut out_words = Vec::new();
        for (value, held) in shape.outs.iter().enumerate() {
            if let Held::Words(unit) = held {
                let words = wires.output(value);
                let words = words.chunks(*unit as usize).enumerate();
                out_words.extend(words.map(|(word, bits)| OutWord { value, word, bits: bits.to_vec() }));
            }
        }
        let (of_note, of_gate) = (vec![None; circuit.notes().len()], vec![None; circuit.gates().len()]);
        let mut cut = Cut { wires, forms, gates, shape: shape.clone(), parts: Vec::new(), out_words, of_note, of_gate };
        cut.level();
        cut
    }

    /// The bits that a node reads.
    pub(crate) fn reads(&self, node: Node) -> Vec<Bit> {
        match node {
            Node::Note(note) => self.wires.words(note).flatten().collect(),
            Node::Gate(gate) => self.wires.of_gate(gate).to_vec(),
            Node::Out(out) => self.out_words[out].bits.clone(),
        }
    }

    /// The form of a node.
    fn form(&self, node: Node) -> Form {
        match node {
            Node::Note(note) => self.forms[note],
            Node::Gate(_) => self.gates,
            Node::Out(_) => Form::Arithmetic,
        }
    }

    fn level(&mut self) {
        let mut order = Vec::with_capacity(self.of_note.len() + self.of_gate.len());
        self.wires.in_order(|node| order.push(node));
        order.extend((0..self.out_words.len()).map(Node::Out));
        let (mut notes, mut gates) = (vec![false; self.of_note.len()], vec![false; self.of_gate.len()]);
        let mark = |bit: Bit, notes: &mut [bool], gates: &mut [bool]| match bit.source() {
            Some(Source::Note { note, .. }) => notes[note as usize] = true,
            Some(Source::Gate(gate)) => gates[gate as usize] = true,
            _ => {}
        };
        for &wire in self.wires.circuit.output_wires() {
            mark(self.wires.bit(wire), &mut notes, &mut gates);
        }
        let is_live = |node: &Node, notes: &[bool], gates: &[bool]| match *node {
            Node::Note(note) => notes[note],
            Node::Gate(gate) => gates[gate],
            Node::Out(_) => true,
        };
        for node in order.iter().rev() {
            if is_live(node, &notes, &gates) {
                self.reads(*node).into_iter().for_each(|bit| mark(bit, &mut notes, &mut gates));
            }
        }
        order.retain(|node| is_live(node, &notes, &gates));
        let (mut of_notes, mut of_gates) = (vec![0; notes.len()], vec![0; gates.len()]);
        let mut levels: Vec<[Vec<Node>; 3]> = Vec::new();
        for node in order {
            let form = self.form(node);
            let mut level = 0;
            for bit in self.reads(node) {
                let (of, at) = match bit.source() {
                    Some(Source::Note { note, .. }) => (self.forms[note as usize], of_notes[note as usize]),
                    Some(Source::Gate(gate)) => (self.gates, of_gates[gate as usize]),
                    _ => continue,
                };
                level = level.max(at + u32::from(of != form));
            }
            match node {
                Node::Note(note) => of_notes[note] = level,
                Node::Gate(gate) => of_gates[gate] = level,
                Node::Out(_) => {}
            }
            while levels.len() <= level as usize {
                levels.push(Default::default());
            }
            levels[level as usize][form as usize].push(node);
        }
        for (level, forms) in levels.into_iter().enumerate() {
            for (form, nodes) in Form::ALL.into_iter().zip(forms).filter(|(_, nodes)| !nodes.is_empty()) {
                let part = Some(self.parts.len() as u32);
                for node in &nodes {
                    match *node {
                        Node::Note(note) => self.of_note[note] = part,
                        Node::Gate(gate) => self.of_gate[gate] = part,
                        Node::Out(_) => {}
                    }
                }
                self.parts.push(Nodes { level: level as u32, form, nodes });
            }
        }
    }

    /// Whether this part computes a bit.
    pub(crate) fn is_of(&self, source: Source, part: usize) -> bool {
        let of = match source {
            Source::Input { .. } => return false,
            Source::Note { note, .. } => self.of_note[note as usize],
            Source::Gate(gate) => self.of_gate[gate as usize],
        };
        of == Some(part as u32)
    }

    /// The word that a bit is computed as, and which of its bits it is, if it is computed as a word.
    pub(crate) fn word(&self, source: Source) -> Option<(WordKey, u32)> {
        match source {
            Source::Input { value, bit } => match self.shape.ins[value as usize] {
                Held::Words(unit) => Some((WordKey::Input { value, word: bit / unit }, bit % unit)),
                Held::Bits(_) => None,
            },
            Source::Note { note, bit } if self.forms[note as usize] == Form::Arithmetic => {
                let (mut result, mut rest) = (0, bit as usize);
                for bits in self.results(note as usize) {
                    if rest < bits {
                        break;
                    }
                    rest -= bits;
                    result += 1;
                }
                Some((WordKey::Result { note, result }, rest as u32))
            }
            _ => None,
        }
    }

    /// The form that a bit is computed in.
    pub(crate) fn form_of(&self, source: Source) -> Form {
        match source {
            Source::Input { value, .. } => match self.shape.ins[value as usize] {
                Held::Words(_) => Form::Arithmetic,
                Held::Bits(form) => form,
            },
            Source::Note { note, .. } => self.forms[note as usize],
            Source::Gate(_) => self.gates,
        }
    }

    /// The widths of a note's results.
    pub(crate) fn results(&self, note: usize) -> Vec<usize> {
        let note = &self.wires.circuit.notes()[note];
        let widths: Vec<usize> = note.args.iter().map(Vec::len).collect();
        note.op.results(&widths).unwrap_or_default()
    }
}

/// A word that is shared as a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum WordKey {
    /// A word of an input value.
    Input { value: u32, word: u32 },
    /// A result of a note.
    Result { note: u32, result: u32 },
    /// A word of an output value.
    Out(u32),
}
