//! Regions of memory: the closure of spans that overlap, over all turns; and which of them a turn begins anew.

use std::collections::BTreeMap;

use crate::program::{Program, Span, Step};

/// The number of a loop, in the order in which they begin in the program.
pub(super) type LoopId = usize;

/// Wires that no span leaves.
struct Region {
    first: i128,
    end: i128,
    /// The innermost loop that all its uses are in.
    within: Option<LoopId>,
}

/// All regions of a program, in the order of the memory.
pub(super) struct Regions {
    regions: Vec<Region>,
    /// For each loop the one around it.
    around: Vec<Option<LoopId>>,
    wires: u64,
}

impl Regions {
    pub(super) fn of(wires: u64, steps: &[Step]) -> Regions {
        let mut regions = Regions { regions: Vec::new(), around: Vec::new(), wires };
        regions.walk(steps, None, &mut Vec::new());
        let mut spans = std::mem::take(&mut regions.regions);
        spans.sort_by_key(|span| span.first);
        for span in spans {
            match regions.regions.last_mut() {
                Some(last) if span.first < last.end => {
                    last.end = last.end.max(span.end);
                    last.within = common(&regions.around, last.within, span.within);
                }
                _ => regions.regions.push(span),
            }
        }
        regions
    }

    fn walk(&mut self, steps: &[Step], within: Option<LoopId>, loops: &mut Vec<u64>) {
        for step in steps {
            match step {
                Step::Call { times, args, outs, .. } => {
                    for (span, stride) in args.iter().chain(outs) {
                        self.span(span, loops, (*stride, *times), within);
                    }
                }
                Step::Repeat { times, body } => {
                    self.around.push(within);
                    let id = self.around.len() - 1;
                    loops.push(*times);
                    self.walk(body, Some(id), loops);
                    loops.pop();
                }
                Step::Input { to: span, .. } | Step::Reveal { from: span, .. } => {
                    self.span(span, loops, (0, 1), within)
                }
            }
        }
    }

    fn span(&mut self, span: &Span, loops: &[u64], call: (i64, u64), within: Option<LoopId>) {
        if span.bits > 0 {
            let (first, end) = reach(span, &span.strides, loops, call);
            self.regions.push(Region { first, end, within });
        }
    }

    pub(super) fn wires(&self) -> u64 {
        self.wires
    }

    /// The region that a wire is in, which a span begins at.
    pub(super) fn at(&self, wire: u64) -> usize {
        self.regions.partition_point(|region| region.first <= i128::from(wire)).saturating_sub(1)
    }

    /// The number of wires of a region.
    pub(super) fn bits(&self, region: usize) -> u64 {
        (self.regions[region].end - self.regions[region].first) as u64
    }

    /// Whether nothing outside a loop uses the region.
    pub(super) fn is_within(&self, region: usize, id: LoopId) -> bool {
        let mut within = self.regions[region].within;
        while let Some(inner) = within {
            if inner == id {
                return true;
            }
            within = self.around[inner];
        }
        false
    }

    /// `times` copies of a region, for a loop; `None` if the memory cannot have them.
    pub(super) fn copies(&mut self, region: usize, times: u64, id: LoopId) -> Option<Copies> {
        let bits = self.bits(region);
        let (from, to) = (self.regions[region].first as u64, self.wires);
        let end =
            bits.checked_mul(times).and_then(|all| to.checked_add(all)).filter(|&end| end <= Program::MAX_WIRES)?;
        self.wires = end;
        self.regions.push(Region { first: to.into(), end: end.into(), within: Some(id) });
        Some(Copies { from, to, bits, end })
    }
}

/// The innermost loop that both are in.
fn common(around: &[Option<LoopId>], a: Option<LoopId>, b: Option<LoopId>) -> Option<LoopId> {
    let (mut a, mut b) = (a?, b?);
    // A loop begins after the one around it, so the later of two is not around the other one.
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = around[*later]?;
    }
    Some(a)
}

/// The first wire that a span reaches, and the one behind the last, where it moves by `strides` with loops of these
/// turns, and from call to call.
fn reach(span: &Span, strides: &[i64], loops: &[u64], call: (i64, u64)) -> (i128, i128) {
    let (mut first, mut end) = (i128::from(span.start), i128::from(span.start) + i128::from(span.bits));
    for (stride, times) in strides.iter().copied().zip(loops.iter().copied()).chain([call]) {
        let far = i128::from(stride) * (i128::from(times) - 1);
        (first, end) = (first + far.min(0), end + far.max(0));
    }
    (first, end)
}

/// A region's copies, one for each turn of a loop.
pub(super) struct Copies {
    from: u64,
    to: u64,
    bits: u64,
    end: u64,
}

impl Copies {
    /// Moves a span that is in the region to the copies, of which a turn of the loop at `depth` takes its own.
    pub(super) fn take(&self, span: &mut Span, depth: usize) {
        if span.bits > 0 && (self.from..self.from + self.bits).contains(&span.start) {
            span.start = span.start - self.from + self.to;
            span.strides.resize(span.strides.len().max(depth + 1), 0);
            span.strides[depth] = self.bits as i64;
        }
    }

    /// Whether a span is in the copies.
    pub(super) fn has(&self, span: &Span) -> bool {
        span.bits > 0 && (self.to..self.end).contains(&span.start)
    }
}

/// The wires of regions that a turn has written so far, in all cases.
pub(super) struct Written<'r> {
    regions: &'r Regions,
    wires: BTreeMap<usize, Wires>,
    /// The loop that is looked at is at this depth.
    depth: usize,
    /// The turns of the loops around, inside of that one.
    inner: Vec<u64>,
}

/// What is written of one region.
#[derive(Default)]
struct Wires {
    /// Runs of wires, in order, which do not touch.
    runs: Vec<(i128, i128)>,
    /// Spans that were written in this turn of all loops around, and how often.
    spans: Vec<(Span, i64, u64)>,
    /// Runs that are written once the loop at this inner depth has ended.
    coming: Vec<(usize, (i128, i128))>,
}

impl<'r> Written<'r> {
    pub(super) fn new(regions: &'r Regions, which: &[usize], depth: usize) -> Written<'r> {
        let wires = which.iter().map(|&region| (region, Wires::default())).collect();
        Written { regions, wires, depth, inner: Vec::new() }
    }

    /// Whether these steps write each wire of the regions before they read it.
    pub(super) fn begins_anew(&mut self, steps: &[Step]) -> bool {
        steps.iter().all(|step| match step {
            Step::Call { times, args, outs, .. } => {
                let known = args.iter().all(|(span, stride)| self.reads(span, *stride, *times));
                outs.iter().for_each(|(span, stride)| self.writes(span, *stride, *times));
                known
            }
            Step::Repeat { times, body } => {
                let before: Vec<usize> = self.wires.values().map(|wires| wires.spans.len()).collect();
                self.inner.push(*times);
                let known = self.begins_anew(body);
                self.inner.pop();
                for (wires, before) in self.wires.values_mut().zip(before) {
                    wires.spans.truncate(before);
                    wires.leave(self.inner.len());
                }
                known
            }
            Step::Input { .. } | Step::Reveal { .. } => false,
        })
    }

    /// How a span moves with the loops inside.
    fn moves<'s>(&self, span: &'s Span) -> &'s [i64] {
        span.strides.get(self.depth + 1..).unwrap_or(&[])
    }

    fn reads(&mut self, span: &Span, stride: i64, times: u64) -> bool {
        let Some(wires) = self.wires.get(&self.regions.at(span.start)).filter(|_| span.bits > 0) else { return true };
        let (first, end) = reach(span, self.moves(span), &self.inner, (stride, times));
        wires.runs.iter().any(|run| run.0 <= first && end <= run.1)
            || wires.spans.iter().any(|(other, by, calls)| other == span && (*by, *calls) == (stride, times))
    }

    fn writes(&mut self, span: &Span, stride: i64, times: u64) {
        let moves = self.moves(span);
        let run = reach(span, moves, &self.inner, (stride, times));
        let outermost = moves.iter().position(|&stride| stride != 0);
        let mut by: Vec<(u64, u64)> = moves
            .iter()
            .copied()
            .zip(self.inner.iter().copied())
            .chain([(stride, times)])
            .map(|(stride, times)| (stride.unsigned_abs(), times))
            .collect();
        by.sort_unstable();
        // Each loop, the one of the smallest steps first, continues a run without a gap.
        let mut length = u128::from(span.bits);
        let whole = by.iter().all(|&(stride, times)| {
            let fits = u128::from(stride) <= length;
            length += u128::from(stride) * u128::from(times - 1);
            fits
        });
        let Some(wires) = self.wires.get_mut(&self.regions.at(span.start)).filter(|_| span.bits > 0) else { return };
        wires.spans.push((span.clone(), stride, times));
        match outermost {
            _ if !whole => {}
            Some(depth) => wires.coming.push((depth, run)),
            None => wires.add(run),
        }
    }
}

impl Wires {
    fn add(&mut self, run: (i128, i128)) {
        let from = self.runs.partition_point(|other| other.1 < run.0);
        let to = self.runs.partition_point(|other| other.0 <= run.1);
        let touched = &self.runs[from..to];
        let first = touched.first().map_or(run.0, |other| other.0.min(run.0));
        let end = touched.last().map_or(run.1, |other| other.1.max(run.1));
        self.runs.splice(from..to, [(first, end)]);
    }

    /// A loop has ended, the one with `depth` others around it.
    fn leave(&mut self, depth: usize) {
        let (done, coming) = std::mem::take(&mut self.coming).into_iter().partition(|(of, _)| *of == depth);
        self.coming = coming;
        let done: Vec<(usize, (i128, i128))> = done;
        done.into_iter().for_each(|(_, run)| self.add(run));
    }
}
