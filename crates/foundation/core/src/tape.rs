//! `Tape`: a circuit lowered to slots, the form that the garbling kernels walk.
//!
//! A tape works on an array of *slots*, each holding one wire's value at a time. Slot 0 is the constant zero,
//! slot 1 the constant one; neither is ever written. The tape is a list of *segments*: in each, first the XOR
//! gates one after another, then the AND gates, which are independent of each other. NOT is an XOR with slot 1.
//!
//! Indices are validated once, here, so that the kernels need no bounds checks (their safety rests on it).

pub(crate) mod authenticated;
pub(crate) mod clear;
pub(crate) mod gates;
pub(crate) mod labels;
pub(crate) mod lanes;
pub(crate) mod lockstep;
pub(crate) mod one_row;
pub(crate) mod part;
pub(crate) mod pseudorandom;
pub(crate) mod runs;
pub(crate) mod three_halves;

use std::sync::OnceLock;

use crate::memory::block::Block;
use crate::tape::runs::Runs;

/// Copies that fill a vector. Groups of copies in lockstep are padded to it.
pub(crate) const LANES: usize = 4;

/// One gate: `slots[out] = slots[a] op slots[b]`.
///
/// Slots are kept as byte offsets into an array of blocks, so that the kernels' addresses need no arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TapeGate {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) out: u32,
}

impl TapeGate {
    /// A gate over these slots. A slot of 2^28 or more is out of every tape's range.
    #[inline]
    pub const fn new(a: u32, b: u32, out: u32) -> TapeGate {
        const SIZE: u32 = size_of::<Block>() as u32;
        TapeGate { a: a.saturating_mul(SIZE), b: b.saturating_mul(SIZE), out: out.saturating_mul(SIZE) }
    }

    /// The slot of the first input.
    #[inline]
    pub const fn a(&self) -> usize {
        self.a as usize / size_of::<Block>()
    }

    /// The slot of the second input.
    #[inline]
    pub const fn b(&self) -> usize {
        self.b as usize / size_of::<Block>()
    }

    /// The slot that is written.
    #[inline]
    pub const fn out(&self) -> usize {
        self.out as usize / size_of::<Block>()
    }
}

/// A segment: the number of its XOR gates, then of its AND gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// The number of XOR gates, executed in order.
    pub xors: u32,
    /// The number of AND gates, independent of one another, at most [`Tape::MAX_ANDS`].
    pub ands: u32,
}

/// A validated sequence of gates over slots.
#[derive(Clone, Debug)]
pub struct Tape {
    slots: u32,
    xors: Vec<TapeGate>,
    ands: Vec<TapeGate>,
    segments: Vec<Segment>,
    /// The numbers of gates before the end of each segment, so that a stretch is found without walking it.
    ends: Vec<Segment>,
    /// The order for garbling without free XOR, made where it is asked for.
    runs: OnceLock<Runs>,
}

/// The same gates in the same segments, whether the order of runs was asked for or not.
impl PartialEq for Tape {
    fn eq(&self, other: &Tape) -> bool {
        self.slots == other.slots
            && self.xors == other.xors
            && self.ands == other.ands
            && self.segments == other.segments
    }
}

impl Eq for Tape {}

/// The reason why a tape was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    /// The segments do not add up to the number of gates.
    #[error("the segments' gate counts do not add up to the gates given")]
    Counts,
    /// A segment has more AND gates than [`Tape::MAX_ANDS`].
    #[error("segment {0} has too many AND gates")]
    TooWide(usize),
    /// More slots than [`Tape::MAX_SLOTS`].
    #[error("a tape holds at most 2^28 - 1 slots")]
    TooManySlots,
    /// A gate names a slot that does not exist, or writes a constant.
    #[error("a gate of segment {0} uses a slot out of range")]
    Slot(usize),
    /// An AND gate reads or writes a slot that another one of its segment writes.
    #[error("the AND gates of segment {0} are not independent")]
    Dependent(usize),
}

impl Tape {
    /// The slot of the constant zero.
    pub const ZERO: u32 = 0;
    /// The slot of the constant one.
    pub const ONE: u32 = 1;
    /// The most AND gates in one segment: a segment's tables fit a fixed buffer, and those of forty copies
    /// (320 KiB) fit a part of the L2 cache.
    pub const MAX_ANDS: usize = 256;

    /// The copies of a circuit that are garbled side by side: as many as keep AES units full where the circuit is a
    /// chain.
    pub const COPIES: usize = 16;

    /// The most slots: a slot's byte offset fits 32 bits.
    pub const MAX_SLOTS: u32 = (1 << 28) - 1;

    /// A tape over `slots` slots (constants included).
    ///
    /// # Errors
    /// [`TapeError`] where these promises do not hold.
    pub fn new(
        slots: u32,
        xors: Vec<TapeGate>,
        ands: Vec<TapeGate>,
        segments: Vec<Segment>,
    ) -> Result<Tape, TapeError> {
        let total = |f: fn(&Segment) -> u32| segments.iter().map(|s| f(s) as usize).sum::<usize>();
        if slots > Tape::MAX_SLOTS {
            return Err(TapeError::TooManySlots);
        }
        if total(|s| s.xors) != xors.len() || total(|s| s.ands) != ands.len() {
            return Err(TapeError::Counts);
        }
        let slots_ok = |g: &TapeGate| g.a() < slots as usize && g.b() < slots as usize && g.out() < slots as usize;
        let in_range = |g: &TapeGate| slots_ok(g) && g.out() > Tape::ONE as usize;
        let (mut x, mut n) = (0, 0);
        let mut ends = Vec::with_capacity(segments.len());
        // written[s] is the last segment (1-based) in which an AND gate wrote slot s.
        let mut written = vec![0u32; slots as usize];
        for (i, seg) in segments.iter().enumerate() {
            if seg.ands as usize > Tape::MAX_ANDS {
                return Err(TapeError::TooWide(i));
            }
            let linear = &xors[x..x + seg.xors as usize];
            let batch = &ands[n..n + seg.ands as usize];
            if !linear.iter().chain(batch).all(in_range) {
                return Err(TapeError::Slot(i));
            }
            for gate in batch {
                if core::mem::replace(&mut written[gate.out()], i as u32 + 1) == i as u32 + 1 {
                    return Err(TapeError::Dependent(i));
                }
            }
            if batch.iter().any(|g| written[g.a()] == i as u32 + 1 || written[g.b()] == i as u32 + 1) {
                return Err(TapeError::Dependent(i));
            }
            x += linear.len();
            n += batch.len();
            // Gates of 12 bytes: 2^32 of them would be 48 GiB, and a circuit has fewer wires than slots have numbers.
            let (xors, ands) = (u32::try_from(x), u32::try_from(n));
            ends.push(Segment { xors: xors.or(Err(TapeError::Counts))?, ands: ands.or(Err(TapeError::Counts))? });
        }
        Ok(Tape { slots, xors, ands, segments, ends, runs: OnceLock::new() })
    }

    /// The number of slots, the two constants included.
    pub fn slots(&self) -> usize {
        self.slots as usize
    }

    /// All XOR gates, segment after segment.
    pub fn xors(&self) -> &[TapeGate] {
        &self.xors
    }

    /// All AND gates, segment after segment: a gate's index here is its index in lowered order.
    pub fn ands(&self) -> &[TapeGate] {
        &self.ands
    }

    /// The numbers of gates before the end of each segment.
    pub(crate) fn ends(&self) -> &[Segment] {
        &self.ends
    }

    /// The gates in the order for garbling without free XOR.
    pub(crate) fn runs(&self) -> &Runs {
        self.runs.get_or_init(|| Runs::of(self))
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}
