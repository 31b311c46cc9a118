//! A plan of faults: all of it follows from a seed.

use std::fmt;

/// The work of the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    /// A run that makes what it needs.
    Run,
    /// Preparing two runs.
    Prepare,
    /// A run on one of two that were prepared.
    Stored,
}

/// The fault of the victim.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Its process is killed.
    Kill,
    /// Its process stops, and goes on after this number of milliseconds.
    Pause(u64),
    /// Its process stops for good.
    Freeze,
    /// All its connections are cut.
    Disconnect,
    /// Whatever arrives at it or leaves it takes this number of milliseconds longer.
    Delay(u64),
    /// No file of it can have more than this number of blocks of 512 bytes: a writer sees a full disk.
    Full(u64),
}

impl Fault {
    /// Whether the run takes longer by it, and that is all.
    pub(crate) fn is_harmless(self) -> bool {
        matches!(self, Fault::Pause(_) | Fault::Delay(_))
    }
}

/// Who does what, and what goes wrong when.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) protocol: &'static str,
    pub(crate) parties: usize,
    pub(crate) work: Work,
    pub(crate) fault: Fault,
    pub(crate) victim: usize,
    /// The instant: when this number of thousandths of the bytes of a run without faults have gone over all
    /// links.
    pub(crate) at: u64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { seed, protocol, parties, work, fault, victim, at } = self;
        write!(
            f,
            "plan {seed}: {work:?} of {protocol} among {parties}, {fault:?} at party {victim} after {at} of 1000 parts"
        )
    }
}

impl Plan {
    /// The plan of this seed.
    pub(crate) fn new(seed: u64) -> Plan {
        let mut draw = Draw(seed);
        let (protocol, most) =
            draw.of(&[("cutchoose", 2), ("yao", 2), ("ag", 2), ("tinyot", 4), ("gmw", 5), ("bmr", 5)]);
        let parties = 2 + draw.below(most - 1) as usize;
        // These prepare a lot for each run, which shows at a glance how many were used.
        let prepares = ["cutchoose", "ag", "bmr"].contains(&protocol);
        let work = if prepares { draw.of(&[Work::Run, Work::Prepare, Work::Stored]) } else { Work::Run };
        let fault = match draw.below(if work == Work::Run { 5 } else { 7 }) {
            0 => Fault::Kill,
            1 => Fault::Pause(20 + draw.below(300)),
            2 => Fault::Freeze,
            3 => Fault::Disconnect,
            4 => Fault::Delay(1 + draw.below(15)),
            _ => Fault::Full(draw.below(40)),
        };
        let victim = draw.below(parties as u64) as usize;
        // The beginning and the end are where the parties may part in what they believe.
        let at = match draw.below(4) {
            0 => draw.below(20),
            1 => 980 + draw.below(21),
            _ => draw.below(1000),
        };
        Plan { seed, protocol, parties, work, fault, victim, at }
    }
}

/// Numbers that follow from a seed (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }

    fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u64) as usize]
    }
}
