//! What is said when it is done.

use std::collections::BTreeMap;

use comity::psi::{Matches, Terms};
use comity::{Adversary, Intersected, Params, Recipients};
use comity_core::PartyId;
use comity_table::JoinCounts;
use comity_terminal::console::{emit, note};
use comity_terminal::failure::Outcome;
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, duration, grouped};
use serde::Serialize;

use super::args::OutArgs;
use super::table::Table;
use crate::json;
use crate::parties::Names;

/// The outcome for people, and the object that `--json` prints.
#[derive(Serialize)]
pub(super) struct Report {
    method: &'static str,
    adversary: &'static str,
    party: u16,
    /// The parties that learn the common rows.
    recipients: Vec<u16>,
    /// Keys of both sides' sets, as announced; of several keys all together.
    mine: u64,
    theirs: u64,
    /// Keys that the other side can have compared if it cheats; `null` where nothing holds against one that does.
    theirs_at_most: Option<u64>,
    /// Common keys; `null` at a party that does not learn them.
    common: Option<u64>,
    /// Rows of the table whose key is common.
    common_rows: Option<u64>,
    rows_written: u64,
    /// Common keys whose payload from the other side cannot be read.
    payload_unreadable: u64,
    /// One for each `--key`.
    keys: Vec<OneKey>,
    seconds: json::Seconds,
    bytes: json::Bytes,
    rounds: u64,
    peak_rss_bytes: Option<u64>,
    #[serde(skip)]
    rows: u64,
    #[serde(skip)]
    place: String,
    #[serde(skip)]
    malicious: bool,
    #[serde(skip)]
    padded: bool,
    #[serde(skip)]
    sends_payload: bool,
}

/// What there is to say of one key.
#[derive(Serialize)]
struct OneKey {
    key: String,
    mine: u64,
    theirs: u64,
    theirs_at_most: Option<u64>,
    common: Option<u64>,
    /// How the keys of this table look, to be compared with the other side's in words.
    shape: String,
    /// Rows without this key.
    empty: u64,
    /// Keys that hashing could not place: the result lacks them.
    left_out: u64,
}

impl Report {
    pub(super) fn new(
        (method, adversary): (&'static str, Adversary),
        to: Recipients,
        me: PartyId,
        table: &Table,
        pad_to: usize,
        done: &Intersected,
    ) -> Report {
        let keys: Vec<OneKey> = table
            .keys
            .iter()
            .zip(&done.runs)
            .enumerate()
            .map(|(at, (key, learnt))| OneKey {
                key: key.title(),
                mine: table.items[at].len().max(pad_to) as u64,
                theirs: learnt.theirs as u64,
                theirs_at_most: None,
                common: None,
                shape: table.profiles[at].to_string(),
                empty: table.elements[at].empty(),
                left_out: learnt.left_out as u64,
            })
            .collect();
        let phases: BTreeMap<String, f64> = done.phases.iter().map(|&(name, s)| (name.to_owned(), s)).collect();
        Report {
            method,
            adversary: adversary.name(),
            party: me.0,
            recipients: (0..2).filter(|party| to.includes(PartyId(*party))).collect(),
            mine: keys.iter().map(|key| key.mine).sum(),
            theirs: keys.iter().map(|key| key.theirs).sum(),
            theirs_at_most: None,
            common: None,
            common_rows: None,
            rows_written: 0,
            payload_unreadable: 0,
            keys,
            seconds: json::Seconds { total: done.seconds, phases },
            bytes: json::Bytes { sent: done.traffic.sent, received: done.traffic.received },
            rounds: done.traffic.rounds,
            peak_rss_bytes: done.peak_rss,
            rows: table.elements[0].rows() as u64,
            place: String::new(),
            malicious: adversary == Adversary::Malicious,
            padded: pad_to > 0,
            sends_payload: table.payload.is_some(),
        }
    }

    /// Takes how many keys the other side can have compared if it cheats, in a run of these terms.
    pub(super) fn reach(&mut self, terms: &Terms) {
        let me = PartyId(self.party);
        let rho = Params::default().rho;
        for key in &mut self.keys {
            let (mine, theirs) = (key.mine as usize, key.theirs as usize);
            let sends = self.recipients.contains(&me.0).then(|| terms.reach(true, (theirs, mine), rho));
            let receives = self.recipients.contains(&me.other().0).then(|| terms.reach(false, (mine, theirs), rho));
            key.theirs_at_most = sends.into_iter().chain(receives).flatten().max().map(|keys| keys as u64);
        }
        self.theirs_at_most = self.keys.iter().map(|key| key.theirs_at_most).sum();
    }

    /// Takes the common items.
    pub(super) fn common(&mut self, matches: &[Matches]) {
        for (key, matches) in self.keys.iter_mut().zip(matches) {
            key.common = Some(matches.matched.len() as u64);
        }
        self.common = self.keys.iter().map(|key| key.common).sum();
    }

    /// Takes the counts of the output.
    pub(super) fn written(&mut self, written: &JoinCounts, args: &OutArgs) {
        self.payload_unreadable = written.unreadable;
        self.common_rows = Some(written.common);
        self.rows_written = written.rows;
        let path = args.out.as_deref().map_or(String::new(), |path| path.display().to_string());
        self.place = if path == "-" { "standard output".to_owned() } else { path };
    }

    /// Says it: as one object, or in sentences on standard error.
    pub(super) fn show(&self, names: &Names, json: bool, verbose: bool) -> Outcome {
        if json {
            return emit(&to_line(self));
        }
        self.sentences(names).iter().for_each(|sentence| note(sentence));
        if verbose || self.common == Some(0) {
            self.shapes().iter().for_each(|shape| note(shape));
        }
        if verbose {
            for (phase, seconds) in &self.seconds.phases {
                note(&format!("  {phase:<10} {}", duration(*seconds)));
            }
        }
        Ok(())
    }

    /// The look of the keys on this side, for users who wonder why nothing is common.
    fn shapes(&self) -> Vec<String> {
        let line = |key: &OneKey| format!("keys here by {}: {}", key.key, key.shape);
        let mut shapes: Vec<String> = self.keys.iter().map(line).collect();
        if self.common == Some(0) {
            shapes.push(
                "no key is common. If some should be, compare these lines with what the other side sees with \
                    --verbose: lengths, kinds, and the order of columns. The same steps do not make keys equal that \
                    are spelled differently"
                    .to_owned(),
            );
        }
        shapes
    }

    fn sentences(&self, names: &Names) -> Vec<String> {
        let mut out = Vec::new();
        let peer = PartyId(self.party).other().0;
        let other = format!("party {}", names.title(peer));
        if let Some(common) = self.common_rows {
            let by_key = match &self.keys[..] {
                [key] => format!("{} of {} keys", grouped(key.common.unwrap_or(0)), grouped(key.mine)),
                keys => {
                    let each = keys.iter().map(|key| {
                        format!("{} of {} by {}", grouped(key.common.unwrap_or(0)), grouped(key.mine), key.key)
                    });
                    each.collect::<Vec<_>>().join(", ")
                }
            };
            out.push(format!(
                "{by_key} are common, in {} of {} rows; {} rows written to {}",
                grouped(common),
                grouped(self.rows),
                grouped(self.rows_written),
                self.place
            ));
        }
        let model = match self.malicious {
            true => "malicious: withstands a peer that cheats; still, a peer may put any keys it likes into its table",
            false => "semi-honest: holds if the peer keeps to the protocol",
        };
        out.push(format!("{}, {model}", self.method));
        out.push(format!(
            "{other} has {}, and learnt {}{}",
            count(self.theirs),
            if self.padded { "the padded size of this table, " } else { "the size of this table, " },
            count(self.mine)
        ));
        if let Some(most) = self.theirs_at_most.filter(|most| *most > self.theirs) {
            out.push(format!("if {other} cheated, it may have compared as many as {} keys", grouped(most)));
        }
        if self.payload_unreadable > 0 {
            out.push(format!(
                "{other} sent a payload that does not decode beside {} common keys: its columns are empty in those \
                    rows",
                grouped(self.payload_unreadable)
            ));
        }
        if self.recipients.contains(&peer) {
            let beside = if self.sends_payload { ", with the columns that go with them" } else { "" };
            out.push(format!("{other} learnt which of its keys are in this table{beside}"));
        }
        if self.recipients.len() > 1 && self.malicious {
            out.push("both learnt, in two runs: nothing binds a party that cheats to one table in both".to_owned());
        }
        for key in &self.keys {
            if key.empty > 0 {
                let rows = if key.empty == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(key.empty)) };
                out.push(format!("left out: {rows} without {}", key.key));
            }
            if key.left_out > 0 {
                out.push(format!(
                    "{} keys of {} could not be placed by hashing, and are missing from the result: run it again",
                    grouped(key.left_out),
                    key.key
                ));
            }
        }
        out.push(format!(
            "{}, {} sent, {} received",
            duration(self.seconds.total),
            bytes(self.bytes.sent),
            bytes(self.bytes.received)
        ));
        out
    }
}

fn count(keys: u64) -> String {
    if keys == 1 { "1 key".to_owned() } else { format!("{} keys", grouped(keys)) }
}
