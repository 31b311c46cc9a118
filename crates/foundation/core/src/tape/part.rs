//! `Part`: a stretch of a tape, and `Cursor`, where a run over it stands.

use crate::memory::block::Block;
use crate::tape::runs::Run;
use crate::tape::{Segment, Tape, TapeGate};

/// The place of a run in a tape: between two segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    segment: usize,
    xor: usize,
    and: usize,
}

/// A stretch of whole segments of one tape.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    tape: &'a Tape,
    from: Cursor,
    to: Cursor,
}

impl Cursor {
    /// The longest stretch from here with at most `max_ands` AND gates and at least one segment; `None` at
    /// the end of the tape. The cursor moves behind it.
    ///
    /// # Panics
    /// If `max_ands` is less than [`Tape::MAX_ANDS`]: a segment might not fit.
    pub fn advance<'a>(&mut self, tape: &'a Tape, max_ands: usize) -> Option<Part<'a>> {
        assert!(max_ands >= Tape::MAX_ANDS, "a part must be able to hold any segment");
        let from = *self;
        let ends = &tape.ends()[from.segment..];
        let fits = ends.partition_point(|end| end.ands as usize - from.and <= max_ands);
        let end = ends[..fits].last()?;
        *self = Cursor { segment: from.segment + fits, xor: end.xors as usize, and: end.ands as usize };
        Some(Part { tape, from, to: *self })
    }
}

impl<'a> Part<'a> {
    /// The number of AND gates of this stretch.
    pub fn ands(&self) -> usize {
        self.to.and - self.from.and
    }

    /// The tape that this is a stretch of.
    pub fn tape(&self) -> &'a Tape {
        self.tape
    }

    /// The number of XOR gates of this stretch.
    pub fn xors(&self) -> usize {
        self.to.xor - self.from.xor
    }

    /// The gates, segment after segment: first the XOR gates of one, executed in order, then its AND gates, which are
    /// independent of each other. For schemes without a kernel of their own.
    pub fn gates(&self) -> impl Iterator<Item = (&'a [TapeGate], &'a [TapeGate])> {
        let (mut xors, mut ands) = (self.xor_gates(), self.and_gates());
        self.segments().iter().map(move |segment| {
            let of_segment = (&xors[..segment.xors as usize], &ands[..segment.ands as usize]);
            (xors, ands) = (&xors[segment.xors as usize..], &ands[segment.ands as usize..]);
            of_segment
        })
    }

    /// The gates in the order in which garbling without free XOR takes them: see [`Run`].
    pub fn runs(&self) -> impl Iterator<Item = Run<'a>> {
        self.tape.runs().between(self.tape, [self.from, self.to].map(|at| [at.segment, at.xor, at.and]))
    }

    /// The number of XOR gates of this stretch that have no constant among their inputs.
    pub fn sums(&self) -> usize {
        self.tape.runs().sums(self.to.segment) - self.tape.runs().sums(self.from.segment)
    }

    pub(crate) fn segments(&self) -> &'a [Segment] {
        &self.tape.segments()[self.from.segment..self.to.segment]
    }

    pub(crate) fn xor_gates(&self) -> &'a [TapeGate] {
        &self.tape.xors()[self.from.xor..self.to.xor]
    }

    pub(crate) fn and_gates(&self) -> &'a [TapeGate] {
        &self.tape.ands()[self.from.and..self.to.and]
    }
}

/// Takes the next gates, and gives the `COPIES` of each, one after another, in slots whose copies lie side by side: as
/// many as there is room for. One copy is the gates themselves, all of them.
#[inline(always)]
pub(crate) fn beside<'r, 'g: 'r, const COPIES: usize>(
    gates: &mut &'g [TapeGate],
    room: &'r mut [TapeGate],
) -> &'r [TapeGate] {
    if COPIES == 1 {
        return core::mem::take(gates);
    }
    let (now, later) = gates.split_at(gates.len().min(room.len() / COPIES));
    *gates = later;
    for (gate, copies) in now.iter().zip(room.chunks_exact_mut(COPIES)) {
        for (copy, at) in copies.iter_mut().zip(0..) {
            let slot = |first: u32| first * COPIES as u32 + at * size_of::<Block>() as u32;
            *copy = TapeGate { a: slot(gate.a), b: slot(gate.b), out: slot(gate.out) };
        }
    }
    &room[..now.len() * COPIES]
}
