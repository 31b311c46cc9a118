//! `Report` for serde: the keys of `comity run --json`, with outputs as hex by index.

use std::collections::BTreeMap;

use comity_core::Bits;
use comity_format::value::{BitOrder, to_hex};
use comity_protocol::OptionValue;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::report::Report;

#[derive(Serialize)]
struct Bytes {
    sent: u64,
    received: u64,
}

#[derive(Serialize)]
struct Seconds<'a> {
    total: f64,
    phases: BTreeMap<&'a str, f64>,
}

/// An option's value.
#[derive(Serialize)]
#[serde(untagged)]
enum Said {
    Switch(bool),
    Word(&'static str),
    Number(u64),
    Party(u16),
    Text(String),
}

impl From<OptionValue> for Said {
    fn from(value: OptionValue) -> Said {
        match value {
            OptionValue::Switch(on) => Said::Switch(on),
            OptionValue::Word(word) => Said::Word(word),
            OptionValue::Number(number) => Said::Number(number),
            OptionValue::First(party) => Said::Party(party.0),
            OptionValue::Text(text) => Said::Text(text),
            file @ OptionValue::File(_) => Said::Text(file.to_string()),
        }
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hex = |(index, bits): &(usize, Bits)| (*index, to_hex(bits, BitOrder::Lsb));
        let mut object = serializer.serialize_struct("Report", 16)?;
        object.serialize_field("protocol", self.protocol)?;
        let options = self.options.iter().map(|(name, value)| (*name, Said::from(value.clone())));
        object.serialize_field("options", &options.collect::<BTreeMap<_, _>>())?;
        object.serialize_field("adversary", self.adversary.name())?;
        if let Some(garbling) = self.garbling() {
            object.serialize_field("garbling", garbling)?;
        }
        if let Some(assumption) = self.assumption {
            object.serialize_field("assumption", assumption)?;
        }
        object.serialize_field("kappa", &self.params.kappa)?;
        object.serialize_field("rho", &self.params.rho)?;
        object.serialize_field("party", &self.party)?;
        object.serialize_field("parties", &self.parties)?;
        object.serialize_field("outputs", &self.outputs.iter().map(hex).collect::<BTreeMap<_, _>>())?;
        object.serialize_field("and_gates", &self.and_gates)?;
        let phases = self.phases.iter().copied().collect();
        object.serialize_field("seconds", &Seconds { total: self.seconds, phases })?;
        object.serialize_field("bytes", &Bytes { sent: self.bytes_sent, received: self.bytes_received })?;
        let peers =
            self.peers.iter().map(|(peer, counts)| (peer.0, Bytes { sent: counts.sent, received: counts.received }));
        object.serialize_field("peers", &peers.collect::<BTreeMap<_, _>>())?;
        object.serialize_field("rounds", &self.rounds)?;
        object.serialize_field("peak_rss_bytes", &self.peak_rss)?;
        object.end()
    }
}
