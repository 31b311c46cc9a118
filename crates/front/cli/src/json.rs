//! The objects that `--json` prints. Their keys are names that people script against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The report of one party.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) program: String,
    pub(crate) protocol: String,
    /// The protocol's options, as they were settled.
    pub(crate) options: BTreeMap<String, Value>,
    pub(crate) adversary: String,
    /// The garbling scheme, where there is a choice of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) garbling: Option<String>,
    /// What has to hold of a primitive, where options differ in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) assumption: Option<String>,
    pub(crate) kappa: u32,
    pub(crate) rho: u32,
    pub(crate) party: u16,
    pub(crate) parties: u16,
    /// The outputs by index, in hex.
    pub(crate) outputs: BTreeMap<usize, String>,
    /// The outputs by name, as JSON values of their types; what has no type as in `outputs`.
    pub(crate) values: BTreeMap<String, Value>,
    /// The files with this party's shares of outputs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) shares: BTreeMap<usize, String>,
    /// The inputs that came in as shares, of which whoever held one could flip bits, though the protocol
    /// withstands parties that cheat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unauthenticated_shares: Vec<usize>,
    /// The parties that learn each output of the program, by name.
    pub(crate) recipients: BTreeMap<String, Vec<u16>>,
    pub(crate) and_gates: u64,
    pub(crate) seconds: Seconds,
    pub(crate) bytes: Bytes,
    /// Bytes sent to and received from each of the others.
    pub(crate) peers: BTreeMap<u16, Bytes>,
    pub(crate) rounds: u64,
    /// `null` where the system does not tell.
    pub(crate) peak_rss_bytes: Option<u64>,
}

/// The bytes by peer of a report.
pub(crate) fn peers(report: &comity::Report) -> BTreeMap<u16, Bytes> {
    let bytes = |counts: &comity::Traffic| Bytes { sent: counts.sent, received: counts.received };
    report.peers.iter().map(|(peer, counts)| (peer.0, bytes(counts))).collect()
}

/// The recipients of a value, `all` if it is everybody.
pub(crate) fn recipients(to: comity::Recipients) -> Value {
    match to {
        comity::Recipients::All => "all".into(),
        comity::Recipients::Shared => "shared".into(),
        to => to.named().iter().map(|party| party.0).collect::<Vec<_>>().into(),
    }
}

/// An option's value.
pub(crate) fn option(value: comity_protocol::OptionValue) -> Value {
    use comity_protocol::OptionValue as Said;
    match value {
        Said::Switch(on) => on.into(),
        Said::Word(word) => word.into(),
        Said::Number(number) => number.into(),
        Said::First(party) => party.0.into(),
        Said::Text(text) => text.into(),
        file @ Said::File(_) => file.to_string().into(),
    }
}

/// One protocol of `comity protocols`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Card {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) paper: &'static str,
    /// The number of parties: the least and the most.
    pub(crate) parties: [u16; 2],
    pub(crate) adversary: &'static str,
    /// The material that it can make ahead.
    pub(crate) offline: Vec<&'static str>,
    pub(crate) options: Vec<Opt>,
    pub(crate) protects: &'static str,
    pub(crate) risk: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Opt {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<String>,
    /// Whether the option has to be the same at all parties.
    pub(crate) agreed: bool,
    pub(crate) about: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seconds {
    pub(crate) total: f64,
    pub(crate) phases: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bytes {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// The report of `comity prepare`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Prepare {
    pub(crate) program: String,
    pub(crate) protocol: String,
    pub(crate) adversary: String,
    pub(crate) kappa: u32,
    pub(crate) rho: u32,
    pub(crate) party: u16,
    pub(crate) parties: u16,
    /// The number of runs that were prepared; without a program, the amount of the protocol's material.
    pub(crate) count: u64,
    pub(crate) and_gates: u64,
    /// The room that the new lots take on the disk.
    pub(crate) stored_bytes: u64,
    pub(crate) seconds: Seconds,
    pub(crate) bytes: Bytes,
    /// Bytes sent to and received from each of the others.
    pub(crate) peers: BTreeMap<u16, Bytes>,
    pub(crate) rounds: u64,
    /// `null` where the system does not tell.
    pub(crate) peak_rss_bytes: Option<u64>,
}

/// The report of `comity local`: one object for each party, in order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Local {
    pub(crate) parties: Vec<Run>,
}

/// The report of `comity eval`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Eval {
    pub(crate) program: String,
    pub(crate) outputs: BTreeMap<usize, String>,
    /// The outputs by name, as JSON values of their types; what has no type as in `outputs`.
    pub(crate) values: BTreeMap<String, Value>,
}

/// What `comity group show` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Group {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) relay: Option<String>,
    pub(crate) parties: Vec<Member>,
    pub(crate) digest: String,
}

/// A party of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Member {
    pub(crate) id: u16,
    pub(crate) name: String,
    /// `null` if nobody can call it.
    pub(crate) address: Option<String>,
    /// `null` in a group without keys.
    pub(crate) key: Option<String>,
}

/// The report of `comity circuit info`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Info {
    pub(crate) name: String,
    /// The names of the parties, from party 0 on, if the program gives them some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) party_names: Vec<String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) and: u64,
    pub(crate) xor: u64,
    pub(crate) not: u64,
    pub(crate) and_depth: u64,
    pub(crate) calls: u64,
    pub(crate) goal: &'static str,
    /// How often each operation is computed that is noted.
    pub(crate) notes: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Input {
    /// Absent if each party gives a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) party: Option<u16>,
    pub(crate) name: String,
    pub(crate) bits: u64,
    /// If it has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) ty: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) bits: u64,
    /// `all`, the parties that learn it, or `shared`.
    pub(crate) to: Value,
    /// If it has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) ty: Option<String>,
}

/// One built-in of `comity circuit list`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Builtin {
    /// `N`, `W` and `K` in it stand for numbers.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The largest number for each of these.
    pub(crate) limits: BTreeMap<char, usize>,
}

/// An event that a child of `comity local` tells its parent, one JSON object a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The child listens at this address, and waits to be told where the others are.
    Listening(String),
    /// The number of AND gates that are done.
    Progress(u64),
    /// A line for the person at the terminal.
    Note(String),
    /// The child is done. The texts are the outputs as a person reads them.
    Report { run: Box<Run>, texts: BTreeMap<usize, String> },
    /// The child failed.
    Error { kind: String, message: String, party: Option<u16> },
}

/// The orders of a parent to its child, its first line.
#[derive(Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) parties: u16,
    /// Input values by their index, each as the hex of its wires, packed.
    pub(crate) inputs: BTreeMap<usize, String>,
}

/// The addresses of all parties, the second line of a parent to its child.
#[derive(Serialize, Deserialize)]
pub(crate) struct Addresses(pub(crate) Vec<String>);
