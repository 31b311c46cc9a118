//! What a circuit reads and writes, as far as it shows without knowing where words begin: [`Sketch`].

use comity_circuit::{ArgBit, Circuit, WordOp};

use crate::words::{Of, Piece, Port, Words, is_constant};

/// Input bits that are read as a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) port: Port,
    /// The bits of the word, of which the upper ones may not be read.
    pub(crate) whole: usize,
    /// The line of the source that reads it.
    pub(crate) line: u32,
    /// Whether they may be several words as well: what chooses looks at each bit by itself.
    pub(crate) loose: bool,
}

/// What a circuit reads and writes: hints for [`Layout`](crate::layout::Layout).
#[derive(Default)]
pub(crate) struct Sketch {
    /// Input bits that are read as a word.
    pub(crate) loads: Vec<Load>,
    /// Output bits that are a result.
    pub(crate) stores: Vec<Port>,
    /// Output bits that are input bits: the input's, and the output's place.
    pub(crate) copies: Vec<(Port, Port)>,
}

impl Sketch {
    pub(crate) fn new(circuit: &Circuit) -> Sketch {
        let words = Words::new(circuit, &[]);
        let (mut sketch, mut needed) = (Sketch::default(), vec![0; words.bits.len()]);
        let mut at = 0;
        for (value, group) in circuit.outputs().iter().enumerate() {
            let wires = &circuit.output_wires()[at..at + group.bits];
            at += group.bits;
            let bits: Vec<ArgBit> = wires.iter().map(|&wire| ArgBit::Wire(wire)).collect();
            sketch.output(&words, value, &bits, &mut needed);
        }
        for (index, note) in circuit.notes().iter().enumerate().rev() {
            for (_, args) in words.demands(index, &needed) {
                for (place, read) in args.iter().enumerate() {
                    let Ok(pattern) = words.read(read, words.of_note[index].start) else { continue };
                    // Of what is read only in part, the rest.
                    let rest = match note.op {
                        WordOp::Select => &[],
                        _ => note.args[place].get(read.len()..).unwrap_or_default(),
                    };
                    for piece in pattern.pieces {
                        match piece.of {
                            Of::Word(word) => needed[word] = needed[word].max(piece.from + piece.bits),
                            Of::Input(value) => {
                                let last = (piece.at + piece.bits) as usize == read.len();
                                let rest = if last { rest } else { &[] };
                                let load = load(&words, value, piece, rest);
                                let loose = note.op == WordOp::Select && place > 0 || note.op == WordOp::Equal;
                                sketch.loads.push(Load { line: note.line, loose, ..load });
                            }
                        }
                    }
                }
            }
        }
        sketch
    }

    /// What an output value's bits show: results first, which have a bit that a gate drives; then copies.
    fn output(&mut self, words: &Words<'_>, value: usize, bits: &[ArgBit], needed: &mut [u32]) {
        let mut covered = vec![false; bits.len()];
        let mut from = 0;
        for place in 0..bits.len() {
            if place < from || is_constant(&bits[place]) || words.input(&bits[place]).is_some() {
                continue;
            }
            let longest = |&(word, bit): &(usize, usize)| {
                let start = place.checked_sub(bit).filter(|start| *start >= from)?;
                let alike = words.bits[word].iter().zip(&bits[start..]).take_while(|(one, other)| one == other).count();
                (start + alike > place).then_some((alike, start, word))
            };
            let found = words.places(&bits[place]).iter().filter_map(longest);
            if let Some((alike, start, word)) = found.max_by_key(|&(alike, start, _)| (alike, start)) {
                self.stores.push(Port { value, offset: start, skip: 0, bits: alike });
                needed[word] = needed[word].max(alike as u32);
                covered[start..start + alike].fill(true);
                from = start + alike;
            }
        }
        // Results that go out only in part.
        for place in (0..bits.len()).filter(|place| !covered[*place]) {
            if let Ok(pattern) = words.read(&bits[place..=place], words.bits.len()) {
                for piece in pattern.pieces {
                    if let Of::Word(word) = piece.of {
                        needed[word] = needed[word].max(piece.from + piece.bits);
                    }
                }
            }
        }
        let mut place = 0;
        while place < bits.len() {
            let (start, next) = (place, words.input(&bits[place]).filter(|_| !covered[place]));
            place += 1;
            let Some((of, offset)) = next else { continue };
            while place < bits.len()
                && !covered[place]
                && words.input(&bits[place]) == Some((of, offset + place - start))
            {
                place += 1;
            }
            let bits = place - start;
            let port = |value, offset| Port { value, offset, skip: 0, bits };
            self.copies.push((port(of, offset), port(value, start)));
        }
    }
}

/// Bits of an input value that are read as a word, which goes on with `rest` if that follows.
fn load(words: &Words<'_>, value: usize, piece: Piece, rest: &[ArgBit]) -> Load {
    let port = Port { value, offset: piece.from as usize, skip: 0, bits: piece.bits as usize };
    let follows = |(bit, place): (&ArgBit, usize)| {
        matches!(bit, ArgBit::Gone(_)) || words.input(bit) == Some((port.value, place))
    };
    let of_it = rest.iter().zip(port.offset + port.bits..).all(follows);
    let whole = port.bits + if of_it { rest.len() } else { 0 };
    Load { port, whole, line: 0, loose: false }
}
