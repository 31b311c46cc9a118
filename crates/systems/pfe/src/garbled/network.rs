//! The labels on their way through the switches and gates of a universal circuit, the same at both sides.

use comity_circuit::Observer;
use comity_core::{Block, Error, Result};
use comity_library::universal::{Enter, Leave, Pass, Pole, Shape, Walk, walk};
use zeroize::Zeroize;

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
    fn new(level: u32, highest: bool) -> Level {
        let graphs = 2 << level;
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
pub(super) struct Network<'a, S> {
    side: S,
    shape: Shape,
    x: Vec<Block>,
    y: Vec<Block>,
    /// What came to a pole of the lowest level.
    pole: Vec<Block>,
    levels: Vec<Level>,
    batch: Vec<Block>,
    observer: &'a mut dyn Observer,
    and_gates: u64,
    failed: Option<Error>,
}

impl<'a, S: Side> Network<'a, S> {
    pub(super) fn new(side: S, shape: Shape, x: Vec<Block>, observer: &'a mut dyn Observer) -> Network<'a, S> {
        let top = shape.poles().next_power_of_two().ilog2();
        Network {
            side,
            shape,
            x,
            y: vec![Block::ZERO; shape.outputs],
            pole: vec![Block::ZERO; 2],
            levels: (0..top).map(|level| Level::new(level, level + 1 == top)).collect(),
            batch: vec![Block::ZERO; BATCH],
            observer,
            and_gates: 0,
            failed: None,
        }
    }

    /// The labels of the output.
    pub(super) fn run(mut self) -> Result<Vec<Block>> {
        let shape = self.shape;
        walk(shape, &mut self);
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        self.side.finish()?;
        Ok(core::mem::take(&mut self.y))
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

    fn gate(&mut self) -> Block {
        let wires = [self.pole[0], self.pole[1]];
        self.and_gates += 3;
        match (&self.failed, self.side.gate(wires)) {
            (None, Ok(wire)) => wire,
            (None, Err(error)) => {
                self.failed = Some(error);
                Block::ZERO
            }
            (Some(_), _) => Block::ZERO,
        }
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
    /// So many switches: `wires` are the two of each, `put` takes them as they leave it.
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

impl<S: Side> Walk for Network<'_, S> {
    fn whole(&mut self, level: u32, at: usize, kind: Pole, number: usize) -> bool {
        if level > 0 {
            return false;
        }
        match kind {
            Pole::Input => {
                let wire = self.x[number];
                self.levels[0].given(at).fill(wire);
            }
            Pole::Gate => {
                let wire = self.gate();
                self.levels[0].given(at).fill(wire);
                if number.is_multiple_of(1024) {
                    self.observer.and_gates(self.and_gates);
                }
            }
            Pole::Output => {
                let mut y = core::mem::take(&mut self.y);
                let (came, _, switching) = self.at(0);
                switching.each(
                    1,
                    &mut (came, &mut y),
                    |(came, _), _| [came[0], came[1]],
                    |(_, y), _, [taken, _]| y[number] = taken,
                );
                self.y = y;
            }
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
            Leave::First => {
                let (out, here) = memory;
                for (out, wire) in out.chunks_exact_mut(2).zip(&here.came[first..]) {
                    out.fill(*wire);
                }
            }
        }
    }
}

impl<S> Drop for Network<'_, S> {
    fn drop(&mut self) {
        for level in &mut self.levels {
            level.came.zeroize();
            level.given.zeroize();
        }
        [&mut self.x, &mut self.pole, &mut self.batch].into_iter().for_each(Zeroize::zeroize);
    }
}
