//! What a session reports when it is done.

use comity_channel::{Counter, PerPeer, Traffic};
use comity_core::{Bits, Params, PartyId};
use comity_format::ValueShare;
use comity_protocol::{Adversary, Card, Here, OptionValue, Options};

use crate::clock::Times;

/// The outcome of a session, and what it cost this party. It exists only if every check passed.
#[derive(Clone, Debug)]
pub struct Report {
    /// The outputs that this party learns, each with its index in the program.
    pub outputs: Vec<(usize, Bits)>,
    /// This party's shares of the outputs that stay shared, each with its index. A share alone says nothing
    /// about the value.
    pub shares: Vec<(usize, ValueShare)>,
    /// The input values that came in as shares although the protocol withstands malicious parties: shares
    /// have no MACs, so any holder of one could have flipped bits of the value unnoticed.
    pub unauthenticated: Vec<usize>,
    /// The protocol's name.
    pub protocol: &'static str,
    /// The protocol's options as they were settled. A choice between two parts is named by the first part,
    /// and its value is the party that has it.
    pub options: Vec<(&'static str, OptionValue)>,
    /// The adversary against whom the protocol is secure.
    pub adversary: Adversary,
    /// The assumption that this run needs of a primitive, where the protocol's options differ in it.
    pub assumption: Option<&'static str>,
    /// The security parameters.
    pub params: Params,
    /// This party's number.
    pub party: u16,
    /// The number of parties.
    pub parties: u16,
    /// AND gates computed.
    pub and_gates: u64,
    /// Time since the peer was there, in seconds: waiting for it is not counted.
    pub seconds: f64,
    /// The time of each phase, in seconds, in the order in which they began.
    pub phases: Vec<(&'static str, f64)>,
    /// Bytes that the protocol and its hello sent. What TCP and TLS add is not counted.
    pub bytes_sent: u64,
    /// Bytes received, counted likewise.
    pub bytes_received: u64,
    /// Bytes sent to and received from each peer.
    pub peers: Vec<(PartyId, Traffic)>,
    /// The number of times that this party waited for an answer to what it had sent.
    pub rounds: u64,
    /// The most memory that this process ever held, in bytes; `None` if the system does not tell (Linux
    /// does).
    pub peak_rss: Option<u64>,
}

impl Report {
    /// The garbling scheme, where the protocol has a choice of them.
    pub fn garbling(&self) -> Option<&'static str> {
        self.options.iter().find_map(|(name, value)| match value {
            OptionValue::Word(word) if *name == "garbling" => Some(*word),
            _ => None,
        })
    }

    pub(crate) fn new(
        card: &'static Card,
        options: &Options,
        here: Here,
        and_gates: u64,
        counters: &PerPeer<Counter>,
        times: Times,
    ) -> Report {
        let Times { seconds, phases, outputs } = times;
        let counts = sum(counters);
        Report {
            outputs,
            shares: Vec::new(),
            unauthenticated: Vec::new(),
            protocol: card.name,
            options: options.all().filter_map(|(option, value)| Some((option.field(), value?))).collect(),
            adversary: card.adversary,
            assumption: None,
            params: here.params,
            party: here.me.0,
            parties: here.parties,
            and_gates,
            seconds,
            phases,
            bytes_sent: counts.sent,
            bytes_received: counts.received,
            peers: counters.iter().map(|(peer, counter)| (peer, counter.counts())).collect(),
            rounds: counts.rounds,
            peak_rss: peak_rss(),
        }
    }
}

/// Bytes of all links together, and the rounds of the one that had most of them: links wait side by side.
pub(crate) fn sum(counters: &PerPeer<Counter>) -> Traffic {
    counters.iter().map(|(_, counter)| counter.counts()).fold(Traffic::default(), |all, one| Traffic {
        sent: all.sent + one.sent,
        received: all.received + one.received,
        rounds: all.rounds.max(one.rounds),
    })
}

/// The outcome of [`Session::prepare`](crate::Session::prepare) or
/// [`Session::prepare_any`](crate::Session::prepare_any).
#[derive(Clone, Debug)]
pub struct Filled {
    /// The amount that was made, in `unit`.
    pub count: u64,
    /// The unit: `runs` of the program, or a unit of the material.
    pub unit: &'static str,
    /// The size of the lots in this party's store, in bytes.
    pub stored_bytes: u64,
    /// The cost of the lots to this party; without outputs.
    pub report: Report,
}

/// The peak resident size of this process, in bytes.
pub(crate) fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn the_peak_is_plausible() {
        let peak = super::peak_rss().unwrap();
        assert!((100 << 10..100 << 30).contains(&peak), "{peak}");
    }
}
