//! `Runs`: a tape's XOR gates, batched by independence as its AND gates are.
//!
//! A tape has the XOR gates of a segment in an order in which each may depend on the gate before. Without
//! free XOR a gate is AES under its labels, and many calls of AES should be under way at once. So here the
//! gates of a segment are in *runs*: first those with a constant, which are free, one after another; then
//! sums, none of which reads what another one writes. A gate is in the earliest run in which it finds what it
//! reads, and overwrites nothing that an earlier one has to read.

use crate::tape::{Tape, TapeGate};

/// Gates of a stretch, to be done one group after another.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// XOR gates with a constant, to be done one after another: see [`TapeGate::unary`].
    pub free: &'a [TapeGate],
    /// XOR gates of two wires. None reads what another one writes; one may write what an earlier one reads.
    pub sums: &'a [TapeGate],
    /// AND gates, independent of each other. They end a segment.
    pub ands: &'a [TapeGate],
}

/// The order of a tape's gates.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    xors: Vec<TapeGate>,
    counts: Vec<Counts>,
    /// The numbers of runs, and of sums, before each segment, and at the end.
    before: Vec<[usize; 2]>,
}

/// The numbers of a run's gates.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    free: u32,
    sums: u32,
    ands: u32,
}

impl TapeGate {
    /// For an XOR gate with a constant: the slot that is not constant (or the second one), and whether the
    /// gate is a NOT of it.
    pub fn unary(&self) -> Option<(usize, bool)> {
        let one = |slot: usize| slot == Tape::ONE as usize;
        let constant = |slot: usize| slot == Tape::ZERO as usize || one(slot);
        match (self.a(), self.b()) {
            (a, b) if constant(a) => Some((b, one(a))),
            (a, b) if constant(b) => Some((a, one(b))),
            _ => None,
        }
    }
}

/// From which run on a slot may be read, written by a sum, and written by a free gate.
#[derive(Clone, Copy, Default)]
struct Slot {
    readable: u32,
    summed: u32,
    freed: u32,
}

impl Runs {
    pub(crate) fn of(tape: &Tape) -> Runs {
        let mut runs = Runs { xors: Vec::with_capacity(tape.xors().len()), counts: Vec::new(), before: vec![[0; 2]] };
        let (mut slots, mut sums) = (vec![Slot::default(); tape.slots()], 0);
        let mut xors = tape.xors();
        for segment in tape.segments() {
            let gates = xors.split_off(..segment.xors as usize).expect("as many as the segments say");
            let mut placed: Vec<(u32, bool, TapeGate)> = gates.iter().map(|gate| place(gate, &mut slots)).collect();
            gates.iter().flat_map(|gate| [gate.a(), gate.b(), gate.out()]).for_each(|at| slots[at] = Slot::default());
            // Stable: what may be in one run in this order stays in it.
            placed.sort_by_key(|&(run, sum, _)| (run, sum));
            let mut counts = vec![Counts::default(); placed.last().map_or(0, |&(run, ..)| run as usize + 1).max(1)];
            for (run, sum, gate) in placed {
                let Counts { free, sums: in_run, .. } = &mut counts[run as usize];
                *if sum { in_run } else { free } += 1;
                sums += usize::from(sum);
                runs.xors.push(gate);
            }
            counts.last_mut().expect("one at least").ands = segment.ands;
            runs.counts.extend(counts);
            runs.before.push([runs.counts.len(), sums]);
        }
        runs
    }

    /// The runs between two places, by their numbers of segments, of XOR gates and of AND gates.
    pub(crate) fn between<'a>(
        &'a self,
        tape: &'a Tape,
        [from, to]: [[usize; 3]; 2],
    ) -> impl Iterator<Item = Run<'a>> + use<'a> {
        let (mut xors, mut ands) = (&self.xors[from[1]..to[1]], &tape.ands()[from[2]..to[2]]);
        let [first, last] = [from, to].map(|at| self.before[at[0]][0]);
        self.counts[first..last].iter().map(move |counts| {
            let mut take = |count| xors.split_off(..count as usize).expect("the gates of runs");
            let (free, sums) = (take(counts.free), take(counts.sums));
            Run { free, sums, ands: ands.split_off(..counts.ands as usize).expect("the gates of runs") }
        })
    }

    /// The number of sums before a segment.
    pub(crate) fn sums(&self, segment: usize) -> usize {
        self.before[segment][1]
    }
}

/// The run of a gate, and whether it is a sum; marks what it reads and writes.
fn place(gate: &TapeGate, slots: &mut [Slot]) -> (u32, bool, TapeGate) {
    let (inputs, out) = ([gate.a(), gate.b()], gate.out());
    let ready = inputs.iter().map(|&slot| slots[slot].readable).max().unwrap_or(0);
    let sum = gate.unary().is_none();
    // Free gates come first in a run: what a sum reads or writes, one overwrites in a later run.
    let run = ready.max(if sum { slots[out].summed } else { slots[out].freed });
    for input in inputs {
        let slot = &mut slots[input];
        slot.summed = slot.summed.max(run);
        slot.freed = slot.freed.max(run + u32::from(sum));
    }
    let after = run + u32::from(sum);
    slots[out] = Slot { readable: after, summed: after, freed: after };
    (run, sum, *gate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Backend;
    use crate::hash::prg::Prg;
    use crate::memory::block::Block;
    use crate::tape::Segment;
    use crate::tape::part::Cursor;

    /// A tape of few slots, so that gates depend on each other in every way, in one part or many.
    fn tape(prg: &mut Prg, slots: u32, segments: u32) -> Tape {
        let mut below = |n: u32| (prg.block().to_u128() % u128::from(n)) as u32;
        let (mut xors, mut ands, mut counts) = (vec![], vec![], vec![]);
        for _ in 0..segments {
            let count = below(30);
            xors.extend((0..count).map(|_| TapeGate::new(below(slots), below(slots), 2 + below(slots - 2))));
            let and = below(2);
            ands.extend((0..and).map(|_| TapeGate::new(below(slots - 1), below(slots - 1), slots - 1)));
            counts.push(Segment { xors: count, ands: and });
        }
        Tape::new(slots, xors, ands, counts).expect("a valid tape")
    }

    /// The tape of the same gates, never asked for an order.
    fn again(tape: &Tape) -> Tape {
        let (xors, ands) = (tape.xors().to_vec(), tape.ands().to_vec());
        Tape::new(tape.slots() as u32, xors, ands, tape.segments().to_vec()).expect("a valid tape")
    }

    /// In the order of the runs, each group of sums read before any is written, every slot ends as in the tape's order;
    /// no sum of a run reads what another one writes, nor do two write one slot.
    #[test]
    #[cfg_attr(miri, ignore = "safe code")]
    fn the_order_of_runs_gives_what_the_tape_gives() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(1));
        for slots in 4..20 {
            let tape = tape(&mut prg, slots, 400);
            let mut values: Vec<bool> = (0..slots).map(|slot| slot == 1 || slot > 1 && prg.block().lsb()).collect();
            let mut wanted = values.clone();
            tape.evaluate(&mut wanted);
            let (mut cursor, mut sums, mut xors) = (Cursor::default(), 0, 0);
            while let Some(part) = cursor.advance(&tape, Tape::MAX_ANDS) {
                for run in part.runs() {
                    for gate in run.free {
                        let (from, inverted) = gate.unary().expect("a constant");
                        values[gate.out()] = values[from] ^ inverted;
                    }
                    let results: Vec<bool> = run.sums.iter().map(|gate| values[gate.a()] ^ values[gate.b()]).collect();
                    for (i, (gate, result)) in run.sums.iter().zip(results).enumerate() {
                        assert!(gate.unary().is_none());
                        values[gate.out()] = result;
                        for later in &run.sums[i + 1..] {
                            assert!(![later.a(), later.b(), later.out()].contains(&gate.out()));
                        }
                    }
                    for gate in run.ands {
                        values[gate.out()] = values[gate.a()] & values[gate.b()];
                    }
                    sums += run.sums.len();
                    xors += run.sums.len() + run.free.len();
                }
                sums -= part.sums();
            }
            // It was asked for an order, and is the tape that it was.
            assert!(tape == again(&tape));
            assert!(values == wanted && sums == 0 && xors == tape.xors().len(), "{slots} slots");
        }
    }

    /// A chain of sums is a run a gate; sums of the same two wires are one run; a NOT of each is in the next.
    #[test]
    fn a_gate_is_in_the_first_run_that_it_can_be_in() {
        let xors = |gates: &[[u32; 3]]| gates.iter().map(|&[a, b, out]| TapeGate::new(a, b, out)).collect::<Vec<_>>();
        let lengths = |gates: &[[u32; 3]]| {
            let segment = Segment { xors: gates.len() as u32, ands: 0 };
            let tape = Tape::new(20, xors(gates), vec![], vec![segment]).expect("a valid tape");
            let part = Cursor::default().advance(&tape, Tape::MAX_ANDS).expect("a segment");
            part.runs().map(|run| [run.free.len(), run.sums.len()]).collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[[2, 3, 4], [4, 3, 5], [5, 3, 6]]), [[0, 1]; 3]);
        assert_eq!(lengths(&[[2, 3, 4], [4, 1, 5], [2, 3, 6], [1, 6, 7], [2, 1, 8]]), [[1, 2], [2, 0]]);
        // A sum may write what one before it reads; a free gate has to wait, and so has a second writer.
        assert_eq!(lengths(&[[2, 3, 4], [5, 6, 2]]), [[0, 2]]);
        assert_eq!(lengths(&[[2, 3, 4], [5, 1, 2]]), [[0, 1], [1, 0]]);
        assert_eq!(lengths(&[[2, 3, 4], [5, 6, 4]]), [[0, 1], [0, 1]]);
    }
}
