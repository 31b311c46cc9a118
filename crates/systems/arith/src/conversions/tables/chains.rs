//! The gates of adders: garbled a sheet at a time, and evaluated as far as words need them.

use std::ops::Range;
use std::sync::LazyLock;

use comity_circuit::{Builder, Call, Lowered, Place};
use comity_core::{Backend, Block, Cursor, Delta, Evaluator, Garbler, Part, SessionId, Tape};
use zeroize::Zeroizing;

use super::Drawn;

/// Cells of a segment, segments of a chain, and the cells of these.
pub(super) const SEGMENT: usize = 32;
pub(super) const SEGMENTS: usize = 4;
pub(super) const CHAIN: usize = SEGMENTS * SEGMENT;

/// Chains side by side.
pub(super) const ABREAST: usize = Tape::COPIES;

/// Cells of a sheet. They lie segment by segment, in a segment chain by chain.
pub(super) const SHEET: usize = ABREAST * CHAIN;

/// Blocks of the tables of a segment, with those that lead to it from the one below, and of these alone: the gate, and
/// the difference of the two carries.
const ALONE: usize = 2 * SEGMENT;
const LINK: usize = 2 + 1;
const OF_SEGMENT: [usize; SEGMENTS] = [ALONE, ALONE + LINK, ALONE + LINK, ALONE + LINK];

/// Blocks of the tables of a chain.
pub(super) const OF_CHAIN: usize = SEGMENTS * ALONE + (SEGMENTS - 1) * LINK;

/// The bits of a tweak that tell the gates of a call of these circuits apart, and those of its kind and its segment.
pub(super) const GATES: u32 = 10;
const KINDS: u32 = 2;
const _: () = assert!(2 * ABREAST * (SEGMENT - 1) <= 1 << GATES);

/// The sheets of a lot: the tweaks of their gates are below 2^64.
pub(super) const MOST_SHEETS: u64 = 1 << (64 - GATES - KINDS - SEGMENTS.ilog2());

/// The gates of a segment: of its first cell where a word begins, of that cell where it goes on, and of others.
#[derive(Clone, Copy)]
enum Kind {
    First,
    GoingOn,
    Others,
}

/// The circuits of segments.
struct Circuits {
    first: Lowered,
    going_on: Lowered,
    /// Of 1, 2, ... cells behind the first one.
    others: Vec<Lowered>,
}

static CIRCUITS: LazyLock<Circuits> = LazyLock::new(|| Circuits {
    first: cells(1, false),
    going_on: cells(1, true),
    others: (1..SEGMENT).map(|n| cells(n, true)).collect(),
});

/// The carries out of cells, from the carry into them, if there is one, and the bits of two numbers.
fn cells(n: usize, carried: bool) -> Lowered {
    let mut b = Builder::new();
    let carry = if carried { Some(b.input("carry", 1).to_vec()[0]) } else { None };
    let (x, y) = (b.input("x", n).to_vec(), b.input("y", n).to_vec());
    let mut carries = Vec::with_capacity(n);
    let mut carry = carry;
    for (&x, &y) in x.iter().zip(&y) {
        let next = match carry {
            None => b.and(x, y),
            Some(carry) => {
                let (p, q) = (b.xor(x, carry), b.xor(y, carry));
                let both = b.and(p, q);
                b.xor(both, carry)
            }
        };
        carries.push(next);
        carry = Some(next);
    }
    b.output("carries", &carries);
    Lowered::new(&b.finish())
}

/// The keys of a sheet's gates.
pub(super) struct Keys {
    backend: Backend,
    start: Block,
    /// The sheet's number in its lot.
    sheet: u64,
}

impl Keys {
    pub(super) fn new(backend: Backend, lot: &SessionId, sheet: u64) -> Keys {
        Keys { backend, start: lot.block("start of the gate keys of adder tables"), sheet }
    }

    /// The key of the first of some gates; those behind it count on in the lowest bits.
    fn of(&self, segment: usize, kind: Kind) -> Block {
        let number = self.sheet * SEGMENTS as u64 + segment as u64;
        let tweak = (number << KINDS | kind as u64) << GATES;
        Block::from_u128(self.start.to_u128() ^ u128::from(tweak))
    }
}

/// The keys of the first gates of all calls of these sheets.
#[cfg(test)]
pub(super) fn starts(lot: &SessionId, sheets: impl IntoIterator<Item = u64>) -> Vec<Block> {
    let keys = sheets.into_iter().map(|sheet| Keys::new(Backend::detect(), lot, sheet));
    let segments = keys.flat_map(|keys| {
        let kinds = move |segment| [Kind::First, Kind::GoingOn, Kind::Others].map(|kind| keys.of(segment, kind));
        (0..SEGMENTS).flat_map(kinds).collect::<Vec<_>>()
    });
    segments.collect()
}

/// Where the tables of a kind of gates are among those of a sheet; of the links the differences, too.
fn tables(segment: usize, kind: Kind) -> Range<usize> {
    let start = ABREAST * OF_SEGMENT[..segment].iter().sum::<usize>();
    let [from, to] = match kind {
        Kind::First => [0, 2],
        Kind::Others => [2, ALONE],
        Kind::GoingOn => [ALONE, ALONE + LINK],
    };
    start + ABREAST * from..start + ABREAST * to
}

/// Places in the memory of a segment of 16 chains: the labels of both numbers, the carries out of each cell, those into
/// the segment, and those that the first cell gives where it goes on.
const X: usize = 0;
const Y: usize = ABREAST * SEGMENT;
const CARRIES: usize = 2 * ABREAST * SEGMENT;
const INTO: usize = 3 * ABREAST * SEGMENT;
const OTHER: usize = INTO + ABREAST;
const MEMORY: usize = OTHER + ABREAST;

/// What the garbler puts into a sheet.
pub(super) struct Garbled<'a> {
    pub(super) delta: Block,
    /// The active labels of its numbers.
    pub(super) active: &'a [Block],
    pub(super) drawn: &'a Drawn,
    /// The labels for zero of the evaluator's random bits.
    pub(super) zeros: &'a [Block],
}

/// The memory in which a segment of 16 chains is computed.
pub(super) struct Lanes {
    memory: Zeroizing<Vec<Block>>,
    slots: Zeroizing<Vec<Block>>,
}

impl Default for Lanes {
    fn default() -> Lanes {
        let [memory, slots] = [MEMORY, 0].map(|blocks| Zeroizing::new(vec![Block::ZERO; blocks]));
        Lanes { memory, slots }
    }
}

/// Runs a tape side by side: `each` does a part of it with its tables.
fn walk(
    call: &Call<'_>,
    memory: &mut [Block],
    slots: &mut Zeroizing<Vec<Block>>,
    mut each: impl FnMut(&Part<'_>, &mut [Block], Range<usize>),
) {
    let tape = call.circuit.tape();
    let room = ABREAST * tape.slots().max(2);
    if slots.len() < room {
        *slots = Zeroizing::new(vec![Block::ZERO; room]);
    }
    call.load_side_by_side(0, ABREAST, memory, slots);
    let (mut cursor, mut done) = (Cursor::default(), 0);
    while let Some(part) = cursor.advance(tape, Tape::MAX_ANDS) {
        let rows = 2 * ABREAST * part.ands();
        each(&part, slots, done..done + rows);
        done += rows;
    }
    call.store_side_by_side(0, ABREAST, slots, memory);
}

/// Calls `run` with the call of a kind of gates, of `n` cells.
fn called<T>(kind: Kind, n: usize, run: impl FnOnce(&Call<'_>) -> T) -> T {
    let place = |start: usize| Place { start, stride: SEGMENT as isize };
    let beside = |start: usize| Place { start, stride: 1 };
    let (circuit, args, outs) = match kind {
        Kind::First => (&CIRCUITS.first, vec![place(X), place(Y)], [place(CARRIES)]),
        Kind::GoingOn => (&CIRCUITS.going_on, vec![beside(INTO), place(X), place(Y)], [beside(OTHER)]),
        Kind::Others => {
            (&CIRCUITS.others[n - 1], vec![place(CARRIES), place(X + 1), place(Y + 1)], [place(CARRIES + 1)])
        }
    };
    run(&Call { index: usize::MAX, circuit, times: ABREAST as u64, args: &args, outs: &outs })
}

impl Lanes {
    fn garbled(&mut self, keys: &Keys, delta: Block, segment: usize, kind: Kind, to: &mut [Block]) {
        let mut garbler = Garbler::new(keys.backend, Delta::new(delta), keys.of(segment, kind));
        let (memory, slots) = (&mut self.memory, &mut self.slots);
        called(kind, SEGMENT - 1, |call| {
            walk(call, memory, slots, |part, slots, rows| garbler.garble_side_by_side(part, slots, &mut to[rows]));
        });
    }

    fn evaluated(&mut self, keys: &Keys, segment: usize, (kind, n): (Kind, usize), from: &[Block]) {
        let mut evaluator = Evaluator::new(keys.backend, keys.of(segment, kind));
        let (memory, slots) = (&mut self.memory, &mut self.slots);
        let from = &from[tables(segment, kind)];
        called(kind, n, |call| {
            walk(call, memory, slots, |part, slots, rows| evaluator.evaluate_side_by_side(part, slots, &from[rows]));
        });
    }

    /// The labels of the carries of a chain's segment, cell by cell.
    fn carries(&self, chain: usize) -> &[Block] {
        &self.memory[CARRIES + chain * SEGMENT..][..SEGMENT]
    }

    /// The carries out of a segment are those into the next one.
    fn go_on(&mut self) {
        for chain in 0..ABREAST {
            self.memory[INTO + chain] = self.memory[CARRIES + (chain + 1) * SEGMENT - 1];
        }
    }

    /// Garbles a sheet: its carries' labels for zero, and its tables.
    pub(super) fn garble(&mut self, keys: &Keys, of: &Garbled<'_>, carries: &mut [Block], all: &mut [Block]) {
        for (segment, carries) in carries.chunks_mut(ABREAST * SEGMENT).enumerate() {
            let first = segment * ABREAST * SEGMENT;
            for at in 0..ABREAST * SEGMENT {
                let (cell, bit) = (first + at, of.drawn.numbers[(first + at) / SEGMENT] >> (at % SEGMENT) & 1);
                self.memory[X + at] = of.active[cell] ^ of.delta.masked(bit == 1);
                self.memory[Y + at] = of.drawn.zeros[cell] ^ of.zeros[cell];
            }
            self.garbled(keys, of.delta, segment, Kind::First, &mut all[tables(segment, Kind::First)]);
            self.garbled(keys, of.delta, segment, Kind::Others, &mut all[tables(segment, Kind::Others)]);
            if segment > 0 {
                for chain in 0..ABREAST {
                    let (cell, at) = (first + chain * SEGMENT, chain * SEGMENT);
                    self.memory[Y + at] = of.drawn.going_on[cell / SEGMENT] ^ of.zeros[cell];
                }
                let (gates, differences) = all[tables(segment, Kind::GoingOn)].split_at_mut(2 * ABREAST);
                self.garbled(keys, of.delta, segment, Kind::GoingOn, gates);
                for (chain, difference) in differences.iter_mut().enumerate() {
                    *difference = self.memory[OTHER + chain] ^ self.memory[CARRIES + chain * SEGMENT];
                }
            }
            carries.copy_from_slice(&self.memory[CARRIES..][..ABREAST * SEGMENT]);
            self.go_on();
        }
    }

    /// Puts the active labels of both numbers of a chain's segment.
    pub(super) fn put(&mut self, chain: usize, cell: usize, x: Block, y: Block) {
        let at = chain * SEGMENT + cell;
        (self.memory[X + at], self.memory[Y + at]) = (x, y);
    }

    /// Evaluates the lowest `cells` cells of a segment, whose labels were put: the sums' labels go to `sum`, by the
    /// chain and the cell. `begins` is whether words begin here, and `ends` whether no other segment follows.
    pub(super) fn evaluate(
        &mut self,
        keys: &Keys,
        (segment, begins, ends): (usize, bool, bool),
        cells: usize,
        all: &[Block],
    ) {
        if !begins {
            self.go_on();
        }
        if cells > 1 || !ends {
            if begins {
                self.evaluated(keys, segment, (Kind::First, 1), all);
            } else {
                self.evaluated(keys, segment, (Kind::GoingOn, 1), all);
                let differences = &all[tables(segment, Kind::GoingOn)][2 * ABREAST..];
                for (chain, difference) in differences.iter().enumerate() {
                    self.memory[CARRIES + chain * SEGMENT] = self.memory[OTHER + chain] ^ *difference;
                }
            }
            let others = if ends { cells - 2 } else { SEGMENT - 1 };
            if others > 0 {
                self.evaluated(keys, segment, (Kind::Others, others), all);
            }
        }
    }

    /// The label of a cell's sum, in the segment that was evaluated.
    pub(super) fn sum(&self, chain: usize, cell: usize, begins: bool) -> Block {
        let at = chain * SEGMENT + cell;
        let carry = match cell {
            0 if begins => Block::ZERO,
            0 => self.memory[INTO + chain],
            _ => self.carries(chain)[cell - 1],
        };
        self.memory[X + at] ^ self.memory[Y + at] ^ carry
    }
}
