//! Circuits without a gate that is read more than twice, as universal circuits have them.
//!
//! A wire that more than two read needs copies. A gate that copies takes one of the two places and gives two,
//! so `r` readers need `r - 2` of them (D13.3, section 2.4.4, counts these). Often fewer will do: where
//! `w = x + y`, and both `w` and `y` are read once, each has a place that nobody reads by, and `w + y` is `x`
//! again, in two new places for none of its own. So readers of `x` are merged behind `w`.
//!
//! That is worth little: it saves 4 % of the copies of the library's DES, and so 1.5 % of its switches, 0.6 %
//! of those of MD5, 0.1 % of those of a multiplier, and none for AES-128, a sum and a comparison (`comity bench
//! d133.pfe.copies`).

use crate::function::Gate;

/// The tables of a copy, of an XOR and of its negation.
const COPY: u8 = 0b1010;
const XORS: [u8; 2] = [0b0110, 0b1001];

/// A circuit in which no node is read more than twice.
pub(crate) struct Limited {
    pub(crate) gates: Vec<Gate>,
    pub(crate) outputs: Vec<u32>,
    /// Gates that were added.
    pub(crate) added: usize,
    /// The gates that would have been added if each were a copy.
    pub(crate) copies: usize,
}

/// The places by which a node can still be read.
#[derive(Clone, Copy, Default)]
struct Places {
    from: [u32; 3],
    count: usize,
}

impl Places {
    /// Two more, of this node.
    fn add(&mut self, node: u32) {
        self.from[self.count..][..2].fill(node);
        self.count += 2;
    }

    fn take(&mut self) -> u32 {
        self.count -= 1;
        self.from[self.count]
    }
}

struct Limiting {
    inputs: usize,
    gates: Vec<Gate>,
    places: Vec<Places>,
    /// Readers of each node that have no place yet.
    readers: Vec<u32>,
    added: usize,
}

/// The circuit of the gates that are `used`, each read by whom it is read, and of `outputs`.
pub(crate) fn limited(inputs: usize, gates: &[Gate], used: &[bool], outputs: &[u32]) -> Limited {
    let mut readers = vec![0u32; inputs + gates.len()];
    let reading = gates.iter().zip(&used[inputs..]).filter(|(_, used)| **used);
    let reads = reading.flat_map(|(gate, _)| gate.reads).flatten().chain(outputs.iter().copied());
    reads.for_each(|node| readers[node as usize] += 1);
    let copies = readers.iter().map(|&readers| readers.saturating_sub(2) as usize).sum();
    let mut places = vec![Places::default(); readers.len()];
    (0..).zip(&mut places[..inputs]).for_each(|(input, places)| places.add(input));
    let mut limiting = Limiting { inputs, gates: Vec::new(), places, readers, added: 0 };
    for (node, gate) in (inputs..).zip(gates).filter(|&(node, _)| used[node]) {
        limiting.place(node, *gate);
    }
    let outputs = outputs.iter().map(|&node| limiting.read(node as usize, false)).collect();
    Limited { gates: limiting.gates, outputs, added: limiting.added, copies }
}

impl Limiting {
    fn push(&mut self, gate: Gate) -> u32 {
        self.gates.push(gate);
        (self.inputs + self.gates.len() - 1) as u32
    }

    /// A place of a node for its next reader, in front of which it is copied if it has to be. If it
    /// `comes_back` behind that reader, it has not.
    fn read(&mut self, node: usize, comes_back: bool) -> u32 {
        if self.places[node].count == 1 && self.readers[node] > 1 && !comes_back {
            let from = self.places[node].take();
            let copy = self.push(Gate { table: COPY, reads: [Some(from), None] });
            self.places[node].add(copy);
            self.added += 1;
        }
        self.readers[node] -= 1;
        self.places[node].take()
    }

    /// Whether a gate that is an XOR can give its read `x` back, since `y` and the gate itself have places
    /// that nobody needs.
    fn comes_back(&self, node: usize, x: usize, y: usize) -> bool {
        let lacks = self.readers[x] as usize > self.places[x].count;
        let spare = self.places[y].count > self.readers[y] as usize;
        lacks && self.places[x].count <= 2 && spare && self.readers[node] <= 1
    }

    /// Adds a gate, and behind it one that gives back what it read.
    fn place(&mut self, node: usize, gate: Gate) {
        let back = match gate.reads {
            [Some(a), Some(b)] if XORS.contains(&gate.table) => {
                let ways = [(a as usize, b as usize), (b as usize, a as usize)];
                ways.into_iter().find(|&(x, y)| self.comes_back(node, x, y))
            }
            _ => None,
        };
        let reads = gate.reads.map(|read| {
            let read = read? as usize;
            Some(self.read(read, back.is_some_and(|(x, _)| x == read)))
        });
        let own = self.push(Gate { table: gate.table, reads });
        self.places[node].add(own);
        if let Some((x, y)) = back {
            let reads = [self.places[node].take(), self.places[y].take()].map(Some);
            let again = self.push(Gate { table: gate.table, reads });
            self.places[x].add(again);
            self.added += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XOR: u8 = XORS[0];

    fn gate(table: u8, a: u32, b: u32) -> Gate {
        Gate { table, reads: [Some(a), Some(b)] }
    }

    #[test]
    fn readers_of_a_sum_are_merged_behind_it() {
        // `x` is read four times, the first time in a sum of which nobody reads anything else.
        let gates = [gate(XOR, 0, 1), gate(0b1000, 0, 2), gate(0b1000, 0, 3), gate(0b1000, 0, 4)];
        let outputs = [5, 6, 7, 8];
        let merged = limited(5, &gates, &[true; 9], &outputs);
        assert_eq!((merged.added, merged.copies, merged.gates.len()), (1, 2, 5));
        assert_eq!(merged.gates[1].reads, [Some(5), Some(1)], "the sum less its second part is the first one");
        // If the other part of the sum is read twice, there is no place left.
        let twice = [&gates[..], &[gate(0b1000, 1, 2)]].concat();
        let copied = limited(5, &twice, &[true; 10], &[5, 6, 7, 8, 9]);
        assert_eq!((copied.added, copied.copies), (2, 2));
        assert!(copied.gates.iter().filter(|gate| gate.table == COPY).count() == 2);
        // As if the sum is.
        let read = limited(5, &gates, &[true; 9], &[5, 5, 6, 7, 8]);
        assert_eq!((read.added, read.copies), (2, 2));
    }
}
