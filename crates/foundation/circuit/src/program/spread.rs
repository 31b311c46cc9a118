//! Loops whose turns do not need each other, side by side.
//!
//! A protocol pays a wait for each layer of each step, and a loop's turns come one after another. If no turn reads or
//! writes what another one writes, all turns of the first step may be done at once, then all of the second step, and so
//! on: the loop is split over its steps, and each of them becomes one call of as many times. An inner loop that stays
//! one goes to the outside.
//!
//! Turns most often meet only in what they use for themselves: a sum that begins at zero, a bit that one step leaves to
//! the next. Such a place is written in each turn before it is read, and nothing outside the loop reads it. It is given
//! to each turn anew, if that takes no more memory than [`room`] has; else as many turns go side by side as fit, and
//! then the next ones.

mod meet;
mod region;

use meet::{Meeting, Use};
use region::{Copies, LoopId, Regions, Written};

use super::{Circuit, Program, Span, Step, check};

/// The most wires that places of single turns take together: as many as the program has anyway, within these
/// bounds.
fn room(wires: u64) -> u64 {
    wires.clamp(1 << 16, 1 << 20)
}

impl Program {
    /// The same program, with turns of loops side by side where they do not need each other. It gives the same outputs
    /// for all inputs and executes the same calls, in fewer waits; it may have more wires. Where that cannot be found
    /// out by arithmetic on strides, a loop stays what it is.
    #[must_use]
    pub fn side_by_side(self) -> Program {
        let regions = Regions::of(self.wires, &self.steps);
        let loops = Vec::new();
        let room = room(self.wires);
        let mut spreader = Spreader { circuits: &self.circuits, regions, loops, next: 0, room };
        let mut steps = spreader.steps(&self.steps);
        if steps == self.steps {
            return self;
        }
        let wires = spreader.regions.wires();
        check::normalize(&mut steps);
        // Too many loops inside each other, or too tangled for the check: the program stays what it was.
        let Ok(check::Checked { totals, .. }) = check::check(wires, &self.circuits, &steps) else { return self };
        Program { steps, wires, totals, ..self }
    }
}

struct Spreader<'a> {
    circuits: &'a [Circuit],
    regions: Regions,
    /// The turns of the loops around, outermost first.
    loops: Vec<u64>,
    /// The number of the next loop, in the order of the program.
    next: LoopId,
    /// The wires that are left for places of single turns.
    room: u64,
}

impl Spreader<'_> {
    fn steps(&mut self, steps: &[Step]) -> Vec<Step> {
        let mut spread = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Repeat { times, body } => {
                    let id = self.next;
                    self.next += 1;
                    self.loops.push(*times);
                    let body = self.steps(body);
                    self.loops.pop();
                    match self.turns(id, *times, &body) {
                        Some(steps) => spread.extend(steps),
                        None => spread.push(Step::Repeat { times: *times, body }),
                    }
                }
                step => spread.push(step.clone()),
            }
        }
        spread
    }

    /// The loop's turns side by side, if they do not need each other.
    fn turns(&mut self, id: LoopId, times: u64, body: &[Step]) -> Option<Vec<Step>> {
        let depth = self.loops.len();
        if times == 1 {
            return None;
        }
        let own = self.own(id, times, body)?;
        // What only moves bits waits for nobody, and memory would be all that it costs.
        if !own.is_empty() && !has_gates(body, self.circuits) {
            return None;
        }
        let bits: u64 = own.iter().map(|&region| self.regions.bits(region)).sum();
        let chunk = self.room.checked_div(bits).map_or(times, |most| times.min(most));
        if chunk < 2 {
            return None;
        }
        self.room -= bits * chunk;
        let copies: Vec<Copies> =
            own.iter().map(|&region| self.regions.copies(region, chunk, id)).collect::<Option<_>>()?;
        let mut body = body.to_vec();
        each_span(&mut body, &mut |span| copies.iter().for_each(|copies| copies.take(span, depth)));
        let (whole, rest) = (times / chunk, times % chunk);
        if (whole, rest) == (1, 0) {
            return Some(spread(&body, depth, depth, chunk));
        }
        // A turn is `chunk * block` and its number in the block, which is what the copies are counted by.
        let is_copy = |span: &Span| copies.iter().any(|copies| copies.has(span));
        let mut block = body.clone();
        each_span(&mut block, &mut |span| {
            if let Some(&stride) = span.strides.get(depth) {
                span.strides.insert(depth, if is_copy(span) { 0 } else { stride * chunk as i64 });
            }
        });
        let mut steps = vec![Step::Repeat { times: whole, body: spread(&block, depth + 1, depth + 1, chunk) }];
        if rest > 0 {
            each_span(&mut body, &mut |span| {
                let stride = span.strides.get(depth).copied().unwrap_or(0);
                if !is_copy(span) {
                    span.start = span.start.wrapping_add_signed(stride * (whole * chunk) as i64);
                }
            });
            steps.extend(spread(&body, depth, depth, rest));
        }
        Some(steps)
    }

    /// The regions of which each turn needs one of its own, so that no turn needs another; `None` if some do.
    fn own(&self, id: LoopId, times: u64, body: &[Step]) -> Option<Vec<usize>> {
        let depth = self.loops.len();
        let mut uses = Vec::new();
        collect(body, &mut Vec::new(), &mut uses);
        let mut by_region: Vec<(usize, &Use)> = uses.iter().map(|one| (self.regions.at(one.span.start), one)).collect();
        by_region.sort_by_key(|(region, _)| *region);
        let mut meeting = Meeting::new(&self.loops, times);
        let mut own = Vec::new();
        for uses in by_region.chunk_by(|a, b| a.0 == b.0) {
            let region = uses[0].0;
            if !meeting.turns_meet(uses) {
                continue;
            }
            let still = |one: &Use| one.span.strides.iter().take(depth + 1).all(|&stride| stride == 0);
            if !self.regions.is_within(region, id) || !uses.iter().all(|(_, one)| still(one)) {
                return None;
            }
            own.push(region);
        }
        let mut written = Written::new(&self.regions, &own, depth);
        written.begins_anew(body).then_some(own)
    }
}

/// Whether a call in these steps has AND gates.
fn has_gates(steps: &[Step], circuits: &[Circuit]) -> bool {
    steps.iter().any(|step| match step {
        Step::Call { circuit, .. } => circuits[*circuit].counts().and > 0,
        Step::Repeat { body, .. } => has_gates(body, circuits),
        Step::Input { .. } | Step::Reveal { .. } => false,
    })
}

/// All spans of the calls, with the loops inside this one that are around them.
fn collect<'s>(steps: &'s [Step], inner: &mut Vec<u64>, uses: &mut Vec<Use<'s>>) {
    for step in steps {
        match step {
            Step::Call { times, args, outs, .. } => {
                let operands = args.iter().map(|arg| (false, arg)).chain(outs.iter().map(|out| (true, out)));
                for (write, (span, stride)) in operands.filter(|(_, (span, _))| span.bits > 0) {
                    uses.push(Use { write, span, stride: *stride, times: *times, inner: inner.clone() });
                }
            }
            Step::Repeat { times, body } => {
                inner.push(*times);
                collect(body, inner, uses);
                inner.pop();
            }
            Step::Input { .. } | Step::Reveal { .. } => {}
        }
    }
}

fn each_span(steps: &mut [Step], change: &mut impl FnMut(&mut Span)) {
    for step in steps {
        match step {
            Step::Call { args, outs, .. } => args.iter_mut().chain(outs).for_each(|(span, _)| change(span)),
            Step::Repeat { body, .. } => each_span(body, change),
            Step::Input { .. } | Step::Reveal { .. } => {}
        }
    }
}

/// The steps with the loop at `depth` in each of them instead of around them all, as calls. `around` is how many other
/// loops are around the steps.
fn spread(steps: &[Step], depth: usize, around: usize, turns: u64) -> Vec<Step> {
    let each = |step: &Step| match step {
        Step::Repeat { times, body } => Step::Repeat { times: *times, body: spread(body, depth, around + 1, turns) },
        Step::Call { circuit, times, args, outs } => {
            let row = Row { depth, around, turns, times: *times };
            let [args, outs] = [args, outs].map(|spans| spans.iter().map(|span| row.moves(span)).collect::<Vec<_>>());
            row.calls(*circuit, &args, &outs)
        }
        value => value.clone(),
    };
    steps.iter().map(each).collect()
}

/// A row of `times` calls in each of the turns of a loop.
struct Row {
    depth: usize,
    around: usize,
    turns: u64,
    times: u64,
}

/// A span, and how far it moves from one turn to the next, and from one call to the next.
struct Moves {
    span: Span,
    turn: i64,
    call: i64,
}

impl Row {
    fn moves(&self, (span, call): &(Span, i64)) -> Moves {
        let mut span = span.clone();
        let turn = if self.depth < span.strides.len() { span.strides.remove(self.depth) } else { 0 };
        Moves { span, turn, call: *call }
    }

    /// The calls of all rows in one step.
    fn calls(&self, circuit: usize, args: &[Moves], outs: &[Moves]) -> Step {
        let all = |fits: &dyn Fn(&Moves) -> bool| args.iter().chain(outs).all(fits);
        let step = |times: u64, span: &dyn Fn(&Moves) -> (Span, i64)| {
            let [args, outs] = [args, outs].map(|of| of.iter().map(span).collect());
            Step::Call { circuit, times, args, outs }
        };
        // The next row begins where another call of this one would be, or each call's next turn where its row ends.
        if self.turns == 1 || all(&|one| one.turn == one.call * self.times as i64) {
            return step(self.times * self.turns, &|one| (one.span.clone(), one.call));
        }
        if self.times == 1 || all(&|one| one.call == one.turn * self.turns as i64) {
            return step(self.times * self.turns, &|one| (one.span.clone(), one.turn));
        }
        // The longer of the two is the step, and the other one a loop around it.
        let by_turn = self.turns >= self.times;
        let (outer, inner) = if by_turn { (self.times, self.turns) } else { (self.turns, self.times) };
        let call = step(inner, &|one| {
            let (outer, inner) = if by_turn { (one.call, one.turn) } else { (one.turn, one.call) };
            let mut span = one.span.clone();
            span.strides.resize(self.around, 0);
            span.strides.push(outer);
            (span, inner)
        });
        Step::Repeat { times: outer, body: vec![call] }
    }
}
