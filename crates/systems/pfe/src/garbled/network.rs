//! The labels on their way through the switches and gates of a universal circuit, the same at both sides.

use comity_circuit::Observer;
use comity_core::{Block, Error, Result};
use comity_library::universal::{Enter, Leave, Pass, Pole, Poles, Walk, walk};
use zeroize::Zeroize;

use super::ends::Ends;

/// A side, as the walk comes to its switches and gates.
pub(super) trait Side {
    /// Switches, by the differences of their two wires: each is replaced by what is to be added to both,
    /// which is the difference itself if the switch exchanges them, and else zero.
    fn switches(&mut self, differences: &mut [Block]) -> Result<()>;
    /// A gate of two wires.
    fn gate(&mut self, wires: [Block; 2]) -> Result<Block>;
    /// The end of the walk.
    fn finish(&mut self) -> Result<()>;
}

/// Switches that are done together. Both sides cut alike, since tweaks are counted by batches.
const BATCH: usize = 1024;

/// The labels of a level that has `graphs` graphs.
struct Level {
    graphs: usize,
    /// What came to a block, two wires for each graph. Once it has entered, the first half is what goes past
    /// the first pole, and the second one what that gives. Nothing comes to the only block of the highest
    /// level: it has the second half alone.
    came: Vec<Block>,
    /// What the second pole gives.
    given: Vec<Block>,
}

impl Level {
    fn new(graphs: usize, highest: bool) -> Level {
        let [came, given] = if highest { [graphs, 0] } else { [2 * graphs, graphs] };
        Level { graphs, came: vec![Block::ZERO; came], given: vec![Block::ZERO; given] }
    }

    /// The place of what pole `at` gives.
    fn given(&mut self, at: usize) -> &mut [Block] {
        match at % 2 {
            0 => {
                let from = self.came.len() - self.graphs;
                &mut self.came[from..]
            }
            _ => &mut self.given,
        }
    }
}

/// A side on its walk.
pub(super) struct Network<'a, S, E> {
    side: S,
    ends: E,
    /// What came to a pole of the lowest level.
    pole: Vec<Block>,
    levels: Vec<Level>,
    batch: Vec<Block>,
    observer: &'a mut dyn Observer,
    and_gates: u64,
    failed: Option<Error>,
}

impl<'a, S: Side, E: Ends> Network<'a, S, E> {
    pub(super) fn new(side: S, poles: &impl Poles, ends: E, observer: &'a mut dyn Observer) -> Network<'a, S, E> {
        let top = poles.count().next_power_of_two().ilog2();
        Network {
            side,
            ends,
            pole: vec![Block::ZERO; E::GRAPHS],
            levels: (0..top).map(|level| Level::new(E::GRAPHS << level, level + 1 == top)).collect(),
            batch: vec![Block::ZERO; BATCH],
            observer,
            and_gates: 0,
            failed: None,
        }
    }

    /// Walks through all poles. Returns the labels of the output.
    pub(super) fn run(mut self, poles: &impl Poles) -> Result<Vec<Block>> {
        walk(poles, &mut self);
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        self.side.finish()?;
        Ok(self.ends.output())
    }

    /// What came to a pole of a level, and that level's and all higher ones' labels.
    fn at(&mut self, level: u32) -> (&mut [Block], &mut [Level], Switching<'_, S>) {
        let (below, here) = self.levels.split_at_mut(level as usize);
        let came = below.last_mut().map_or(&mut self.pole, |below| &mut below.came);
        let switching = Switching {
            side: &mut self.side,
            batch: &mut self.batch,
            and_gates: &mut self.and_gates,
            failed: &mut self.failed,
        };
        (came, here, switching)
    }
}

/// Switches of a level.
struct Switching<'a, S> {
    side: &'a mut S,
    batch: &'a mut [Block],
    and_gates: &'a mut u64,
    failed: &'a mut Option<Error>,
}

impl<S: Side> Switching<'_, S> {
    /// Computes `switches` switches: `wires` gives the two wires of each, and `put` takes them as they leave
    /// it.
    fn each<M>(
        self,
        switches: usize,
        memory: &mut M,
        wires: impl Fn(&M, usize) -> [Block; 2],
        put: impl Fn(&mut M, usize, [Block; 2]),
    ) {
        let mut at = 0;
        while at < switches && self.failed.is_none() {
            let batch = &mut self.batch[..BATCH.min(switches - at)];
            for (difference, at) in batch.iter_mut().zip(at..) {
                let [first, second] = wires(memory, at);
                *difference = first ^ second;
            }
            *self.failed = self.side.switches(batch).err();
            for (change, at) in batch.iter().zip(at..) {
                let two = wires(memory, at);
                put(memory, at, two.map(|wire| wire ^ *change));
            }
            at += batch.len();
        }
        *self.and_gates += switches as u64;
    }
}

impl<S: Side, E: Ends> Walk for Network<'_, S, E> {
    fn whole(&mut self, level: u32, at: usize, kind: Pole, number: usize) -> bool {
        if level > 0 {
            return false;
        }
        if self.failed.is_none() {
            let given = self.levels[0].given(at);
            match self.ends.pole(&mut self.side, (kind, number), &self.pole, given) {
                Ok(and_gates) => self.and_gates += and_gates,
                Err(error) => self.failed = Some(error),
            }
        }
        if number.is_multiple_of(1024) {
            self.observer.and_gates(self.and_gates);
        }
        true
    }

    fn enter(&mut self, level: u32, _: usize, form: Enter) {
        let (below, here, switching) = self.at(level);
        let graphs = here[0].graphs;
        let mut memory = (below, &mut here[0].came);
        // What goes past the first pole is put where was read already.
        switching.each(
            graphs,
            &mut memory,
            |(_, came), k| [came[2 * k], came[2 * k + 1]],
            |(below, came), k, [first, second]| {
                if form != Enter::Second {
                    below[k] = first;
                }
                if form != Enter::First {
                    came[k] = second;
                }
            },
        );
    }

    fn pass(&mut self, level: u32, _: usize, form: Pass) {
        let (below, here, switching) = self.at(level);
        let Level { graphs, came, .. } = &mut here[0];
        let inside = came.len() - *graphs;
        match form {
            Pass::Choose => {
                let mut memory = (below, came);
                switching.each(
                    *graphs,
                    &mut memory,
                    |(_, came), k| [came[k], came[inside + k]],
                    |(below, _), k, [taken, _]| below[k] = taken,
                );
            }
            Pass::Outside => below[..*graphs].copy_from_slice(&came[..*graphs]),
            Pass::Inside => below[..*graphs].copy_from_slice(&came[inside..]),
        }
    }

    fn leave(&mut self, level: u32, block: usize, form: Leave) {
        let (_, here, switching) = self.at(level);
        let (here, above) = here.split_first_mut().expect("the level");
        let (graphs, first) = (here.graphs, here.came.len() - here.graphs);
        let mut memory = (above[0].given(block), here);
        match form {
            Leave::Both => switching.each(
                graphs,
                &mut memory,
                |(_, here), k| [here.came[first + k], here.given[k]],
                |(out, _), k, two| out[2 * k..][..2].copy_from_slice(&two),
            ),
            Leave::First | Leave::Second => {
                let (out, here) = memory;
                let gave = if form == Leave::First { &here.came[first..] } else { &here.given };
                for (out, wire) in out.chunks_exact_mut(2).zip(gave) {
                    out.fill(*wire);
                }
            }
        }
    }
}

impl<S, E> Drop for Network<'_, S, E> {
    fn drop(&mut self) {
        for level in &mut self.levels {
            level.came.zeroize();
            level.given.zeroize();
        }
        [&mut self.pole, &mut self.batch].into_iter().for_each(Zeroize::zeroize);
    }
}
