//! The small grammars inside flags: `NAME=VALUE`, `VALUE=PARTY`, `PARTY=ADDR`, `8GiB`.

use std::fmt;
use std::str::FromStr;

use comity_core::PartyId;

/// The word for what every party has a share of.
const SHARED: &str = "shared";

/// `--input [NAME_OR_INDEX=]VALUE`. Not `Debug` beyond the name: the value is often a secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Assigned {
    /// The value that is meant, if it was said.
    pub(crate) name: Option<String>,
    /// The text of the value.
    pub(crate) value: String,
}

impl FromStr for Assigned {
    type Err = String;

    fn from_str(text: &str) -> Result<Assigned, String> {
        // A file name may hold `=`, and so may a text in quotes inside a value, but no name begins like these.
        match text
            .split_once('=')
            .filter(|_| !text.starts_with(['@', '"', '[', '(', '{']) && !text.starts_with("text:"))
        {
            Some(("", _)) => Err("there is no name of a value before `=`".to_owned()),
            Some((name, value)) => Ok(Assigned { name: Some(name.to_owned()), value: value.to_owned() }),
            None => Ok(Assigned { name: None, value: text.to_owned() }),
        }
    }
}

impl fmt::Debug for Assigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Assigned({:?}, ..)", self.name)
    }
}

/// A party: its number, or the name that the program or the group gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Number(PartyId),
    Name(String),
}

impl FromStr for Who {
    type Err = String;

    fn from_str(text: &str) -> Result<Who, String> {
        if let Ok(party) = text.parse() {
            return Ok(Who::Number(PartyId(party)));
        }
        let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(fits)
            && !["all", SHARED].contains(&text)
        {
            return Ok(Who::Name(text.to_owned()));
        }
        Err(format!("`{text}` is no party: write its number, from 0 on, or its name"))
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Number(party) => party.fmt(f),
            Who::Name(name) => f.write_str(name),
        }
    }
}

/// `--owner VALUE=PARTY|shared`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) value: String,
    /// The party that gives it; `None` if each gives a share.
    pub(crate) party: Option<Who>,
}

impl FromStr for Owner {
    type Err = String;

    fn from_str(text: &str) -> Result<Owner, String> {
        let (value, party) = text.split_once('=').ok_or("VALUE=PARTY is wanted, such as 1=0")?;
        let party = if party == SHARED { None } else { Some(party.parse()?) };
        Ok(Owner { value: value.to_owned(), party })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.value)?;
        match &self.party {
            Some(party) => party.fmt(f),
            None => f.write_str(SHARED),
        }
    }
}

/// `--output-to [OUTPUT=]PARTY,..|all|shared`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputTo {
    /// The output that is meant; all of them if it was not said.
    pub(crate) output: Option<String>,
    pub(crate) to: Learners,
}

/// Who learns an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Learners {
    All,
    Parties(Vec<Who>),
    /// Nobody: each party keeps a share.
    Shared,
}

impl FromStr for OutputTo {
    type Err = String;

    fn from_str(text: &str) -> Result<OutputTo, String> {
        let (output, who) = match text.split_once('=') {
            Some((output, who)) => (Some(output.to_owned()), who),
            None => (None, text),
        };
        let to = match who {
            "all" => Learners::All,
            SHARED => Learners::Shared,
            who => Learners::Parties(who.split(',').map(str::parse).collect::<Result<Vec<_>, _>>()?),
        };
        Ok(OutputTo { output, to })
    }
}

impl fmt::Display for OutputTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.output.iter().try_for_each(|output| write!(f, "{output}="))?;
        match &self.to {
            Learners::All => f.write_str("all"),
            Learners::Shared => f.write_str(SHARED),
            Learners::Parties(to) => f.write_str(&to.iter().map(Who::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

/// `--bits [VALUE=]lsb|msb`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BitOrder {
    /// The value that is meant; all of them if it was not said. `out:` in front means an output.
    pub(crate) value: Option<String>,
    /// Whether the most significant bit is on wire 0.
    pub(crate) msb: bool,
}

impl FromStr for BitOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<BitOrder, String> {
        let (value, order) = match text.split_once('=') {
            Some((value, order)) => (Some(value.to_owned()), order),
            None => (None, text),
        };
        match order {
            "lsb" => Ok(BitOrder { value, msb: false }),
            "msb" => Ok(BitOrder { value, msb: true }),
            _ => Err(format!("the bit order is `lsb` or `msb`, not `{order}`")),
        }
    }
}

impl fmt::Display for BitOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.iter().try_for_each(|value| write!(f, "{value}="))?;
        f.write_str(if self.msb { "msb" } else { "lsb" })
    }
}

/// `--peer PARTY=ADDR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) party: Who,
    pub(crate) address: String,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Peer, String> {
        let (party, address) = text.split_once('=').ok_or("PARTY=ADDR is wanted, such as 1=192.0.2.7:7000")?;
        Ok(Peer { party: party.parse()?, address: address.to_owned() })
    }
}

/// `--store-limit BYTES`: a number of bytes, perhaps with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let power = ["", "KiB", "MiB", "GiB", "TiB"].iter().position(|&u| u == unit);
        power
            .and_then(|power| number.parse::<u64>().ok()?.checked_mul(1 << (10 * power)))
            .map(Size)
            .ok_or_else(|| format!("a number of bytes is wanted, such as 1000000, 500MiB or 8GiB, not `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(text: &str) -> (Option<String>, String) {
        let a: Assigned = text.parse().unwrap();
        (a.name, a.value)
    }

    #[test]
    fn inputs() {
        assert_eq!(assigned("00ff"), (None, "00ff".into()));
        assert_eq!(assigned("key=00ff"), (Some("key".into()), "00ff".into()));
        assert_eq!(assigned("1=@a=b"), (Some("1".into()), "@a=b".into()));
        assert_eq!(assigned("@a=b"), (None, "@a=b".into()));
        assert_eq!(assigned("text:a=b"), (None, "text:a=b".into()));
        assert_eq!(assigned("key=text:a=b"), (Some("key".into()), "text:a=b".into()));
        assert_eq!(assigned("[\"=\"]"), (None, "[\"=\"]".into()));
        assert_eq!(assigned("bids=[1, 2]"), (Some("bids".into()), "[1, 2]".into()));
        assert_eq!(assigned("0=u64:7"), (Some("0".into()), "u64:7".into()));
        assert!("=00".parse::<Assigned>().is_err());
        let secret: Assigned = "key=00ff".parse().unwrap();
        assert!(!format!("{secret:?}").contains("00ff"));
    }

    #[test]
    fn flags_are_written_as_they_are_read() {
        for text in ["sum=1", "sum=ann", "sum=shared"] {
            assert_eq!(text.parse::<Owner>().unwrap().to_string(), text);
        }
        for text in ["all", "1", "sum=0", "0=all", "0,2", "sum=1,3", "ann", "sum=ann,2", "shared", "0=shared"] {
            assert_eq!(text.parse::<OutputTo>().unwrap().to_string(), text);
        }
        for text in ["msb", "out:0=lsb"] {
            assert_eq!(text.parse::<BitOrder>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn owners_and_recipients() {
        let (number, name) = (|party| Who::Number(PartyId(party)), |name: &str| Who::Name(name.into()));
        assert_eq!("1=0".parse(), Ok(Owner { value: "1".into(), party: Some(number(0)) }));
        assert_eq!("a=ann".parse(), Ok(Owner { value: "a".into(), party: Some(name("ann")) }));
        assert!("1".parse::<Owner>().is_err());
        assert!("1=-1".parse::<Owner>().is_err());
        assert_eq!("all".parse(), Ok(OutputTo { output: None, to: Learners::All }));
        assert_eq!("1".parse(), Ok(OutputTo { output: None, to: Learners::Parties(vec![number(1)]) }));
        let some = Learners::Parties(vec![number(2), name("ann")]);
        assert_eq!("shared".parse(), Ok(OutputTo { output: None, to: Learners::Shared }));
        assert_eq!("1=2,ann".parse(), Ok(OutputTo { output: Some("1".into()), to: some }));
        for bad in ["", "0,", "0,all", "0, 1", "65536", "a b", "all,ann", "0,shared"] {
            assert!(bad.parse::<OutputTo>().is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("0", 0), ("1000", 1000), ("3KiB", 3072), ("8GiB", 8 << 30), ("1TiB", 1 << 40)] {
            assert_eq!(text.parse::<Size>(), Ok(Size(bytes)));
        }
        for bad in ["", "GiB", "1GB", "1.5GiB", "-1", "1 GiB", "99999999TiB", "18446744073709551616"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn orders_and_peers() {
        assert_eq!("msb".parse(), Ok(BitOrder { value: None, msb: true }));
        assert_eq!("0=lsb".parse(), Ok(BitOrder { value: Some("0".into()), msb: false }));
        assert!("0=big".parse::<BitOrder>().is_err());
        assert_eq!("1=[::1]:7000".parse(), Ok(Peer { party: Who::Number(PartyId(1)), address: "[::1]:7000".into() }));
        assert!("localhost:7000".parse::<Peer>().is_err());
    }
}
