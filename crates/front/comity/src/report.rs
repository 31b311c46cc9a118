//! What a session reports when it is done.

use comity_core::{Bits, Params};

use crate::Adversary;

/// The outcome of a session, and what it cost this party. It exists only if every check passed.
#[derive(Clone, Debug)]
pub struct Report {
    /// The outputs that this party learns, each with its index in the program.
    pub outputs: Vec<(usize, Bits)>,
    /// The protocol's name.
    pub protocol: &'static str,
    /// Against whom it is secure.
    pub adversary: Adversary,
    /// The security parameters.
    pub params: Params,
    /// Which party this was.
    pub party: u32,
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
    /// How often this party waited for an answer to what it had sent.
    pub rounds: u64,
    /// The most memory that this process ever held, in bytes, where the system tells (Linux).
    pub peak_rss: Option<u64>,
}

/// The outcome of [`Session::prepare`](crate::Session::prepare) or [`Session::deal`](crate::Session::deal).
#[derive(Clone, Debug)]
pub struct Preparation {
    /// How many preparations were stored, each for one run; with `tinyot`, for how many AND gates.
    pub count: u64,
    /// What they take in this party's store, in bytes.
    pub stored_bytes: u64,
    /// What they cost this party; without outputs.
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
