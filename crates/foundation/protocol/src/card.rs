//! `Card`: everything that is said about a protocol, in one place.

use std::fmt;
use std::ops::RangeInclusive;

use comity_circuit::{Goal, Program};
use comity_core::{Error, PartyId, Result};

use crate::material::Material;

/// What is known of a protocol or service: its name, the adversary that it withstands, its options.
#[derive(Clone, Debug)]
pub struct Card {
    /// The name in flags, reports and the hello.
    pub name: &'static str,
    /// Whether the card is of a protocol or of a service.
    pub kind: CardKind,
    /// The paper that the protocol comes from.
    pub paper: &'static str,
    /// The numbers of parties that the protocol takes.
    pub parties: RangeInclusive<u16>,
    /// The adversary that the protocol withstands.
    pub adversary: Adversary,
    /// The number of parties that may be the adversary's.
    pub corrupt: Corrupt,
    /// The programs that the protocol runs.
    pub takes: Takes,
    /// Whether a session by hand can run on it.
    pub reactive: bool,
    /// The goal that circuits are built for, unless the user chooses another.
    pub goal: Goal,
    /// The materials that the protocol can make ahead; first the one that a run asks for.
    pub offline: &'static [Material],
    /// The options that can be set.
    pub options: &'static [Opt],
    /// The phases of a run that are the protocol's own, in order.
    pub phases: &'static [&'static str],
    /// What the protocol is, in one line.
    pub summary: &'static str,
    /// What the protocol protects against, in one line.
    pub protects: &'static str,
    /// What a cheating peer could do, in one line.
    pub risk: &'static str,
    /// What the protocol costs and when to take it, in a few lines.
    pub about: &'static str,
}

/// What a card describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardKind {
    /// A protocol that runs any program among parties who meet.
    Protocol,
    /// A service with a command of its own.
    Service,
}

impl CardKind {
    /// `protocol` or `service`.
    pub fn name(self) -> &'static str {
        match self {
            CardKind::Protocol => "protocol",
            CardKind::Service => "service",
        }
    }
}

/// An adversary: what corrupt parties may do while the protocol still protects the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adversary {
    /// Corrupt parties follow the protocol, and try to learn more from what they see.
    SemiHonest,
    /// Corrupt parties do whatever they like.
    Malicious,
}

impl Adversary {
    /// `semi-honest` or `malicious`.
    pub fn name(self) -> &'static str {
        match self {
            Adversary::SemiHonest => "semi-honest",
            Adversary::Malicious => "malicious",
        }
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The number of parties that may be the adversary's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// All parties but one, whichever.
    AllButOne,
}

/// Which programs a protocol runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Any program whose values are put in by one party each and revealed.
    Any,
    /// Any program, including those with input or output values that stay shared.
    Shares,
    /// Programs without AND gates.
    NoAnds,
    /// Programs that the protocol's [`fits`](crate::Protocol::fits) finds to be operations on words.
    Words,
    /// Programs of which one party gives all inputs that are not public.
    Statement,
}

impl Takes {
    /// Whether every program is taken whose values are put in by one party each and revealed.
    pub fn is_any(self) -> bool {
        matches!(self, Takes::Any | Takes::Shares)
    }
}

/// An option: something that can be set.
#[derive(Debug)]
pub struct Opt {
    /// The key of `--option KEY=VALUE`; `--KEY` is short for it.
    pub name: &'static str,
    /// The values that the option can have.
    pub values: Values,
    /// The value of an option that nobody sets.
    pub default: Default,
    /// Whether the option has to be the same at all parties: then it is a field of the hello, and of stored
    /// material.
    pub agreed: bool,
    /// What the option does, in a sentence.
    pub about: &'static str,
}

/// The values that an option can have.
#[derive(Clone, Debug)]
pub enum Values {
    /// `yes` or `no`.
    Switch,
    /// A word, one of these.
    OneOf(&'static [&'static str]),
    /// A number in this range.
    Number(RangeInclusive<u64>),
    /// For two parties: this party's part, one of two words; the other party's is the other one.
    Part(&'static [&'static str; 2]),
    /// The address of a helper that is not a party: a path with a slash in it, or `HOST:PORT`; or this word.
    Place(&'static str),
    /// The fingerprint of a helper's key, as people write it; or this word.
    Key(&'static str),
    /// A text that is read: its one form, if it can be read.
    Text {
        /// What is written, for people.
        what: &'static str,
        /// The form of the text that is equal for all texts that say the same.
        read: fn(&str) -> Option<String>,
    },
    /// A word, one of these, or the text of a file, whole lines. The hello has the text's digest.
    File(&'static [&'static str]),
}

/// The value of an option that nobody sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// This value.
    Given(&'static str),
    /// The value that follows from the program. A party that does not set it takes the other parties' value.
    FromProgram,
    /// No default: the protocol says which party must set it. Where one person runs all parties to try it
    /// out, it has this value.
    Wanted(&'static str),
}

impl Card {
    /// Whether `parties` parties can run this program, as far as the card says.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) names the value or the number that does not fit.
    pub fn fits(&self, parties: u16, program: &Program) -> Result<()> {
        self.fits_parties(parties)?;
        if self.takes != Takes::Shares {
            program.check_plain()?;
        }
        let name = self.name;
        for value in program.inputs() {
            if let Some(party) = value.owner.party().filter(|party| party.0 >= parties) {
                return Err(Error::invalid_input(format!(
                    "input `{}` belongs to party {party}, and this run of {name} has {}: say who owns it",
                    value.name,
                    Parties(parties)
                )));
            }
        }
        for value in program.outputs() {
            if let Some(party) = value.to.named().iter().find(|party| party.0 >= parties) {
                return Err(Error::invalid_input(format!(
                    "output `{}` is for party {party}, and this run of {name} has {}",
                    value.name,
                    Parties(parties)
                )));
            }
        }
        if self.takes == Takes::NoAnds && program.and_gates() > 0 {
            return Err(Error::invalid_input(format!(
                "{name} runs programs without AND gates, and `{}` has {}: take another protocol",
                program.name(),
                program.and_gates()
            )));
        }
        Ok(())
    }

    /// Whether `parties` parties can take part.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says how many can.
    pub fn fits_parties(&self, parties: u16) -> Result<()> {
        if self.parties.contains(&parties) {
            return Ok(());
        }
        let (least, most) = (*self.parties.start(), *self.parties.end());
        let takes = if least == most { Parties(most).to_string() } else { format!("{least} to {most} parties") };
        Err(Error::invalid_input(format!("{} is for {takes}, and there are {parties}", self.name)))
    }

    /// Whether `party` is one of `parties` parties.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says which there are.
    pub fn has(&self, party: PartyId, parties: u16) -> Result<()> {
        self.fits_parties(parties)?;
        if party.0 < parties {
            return Ok(());
        }
        Err(Error::invalid_input(format!(
            "{} has the parties 0 to {} here; there is no party {party}",
            self.name,
            parties - 1
        )))
    }

    /// The option of this name.
    pub fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.name == name)
    }

    /// The options that some party must set, with their values for a trial in which one person runs all
    /// parties.
    pub fn trial(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.options.iter().filter_map(|option| match option.default {
            Default::Wanted(value) => Some((option.name, value)),
            _ => None,
        })
    }

    /// The first material that is made for one program, if `for_a_program`; else the first that any program
    /// can use.
    pub fn material(&self, for_a_program: bool) -> Option<&'static Material> {
        self.offline.iter().find(|material| material.program == for_a_program)
    }
}

/// A number of parties, in words.
struct Parties(u16);

impl fmt::Display for Parties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("one party"),
            2 => f.write_str("two parties"),
            n => write!(f, "{n} parties"),
        }
    }
}

impl Values {
    /// The values that the option can have, in words.
    pub fn words(&self) -> Vec<String> {
        match self {
            Values::Switch => vec!["yes".into(), "no".into()],
            Values::OneOf(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            Values::Number(range) => vec![format!("{} to {}", range.start(), range.end())],
            Values::Part(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            Values::Place(word) => vec!["PATH".into(), "HOST:PORT".into(), (*word).to_owned()],
            Values::Key(word) => vec!["FINGERPRINT".into(), (*word).to_owned()],
            Values::Text { what, .. } => vec![(*what).to_owned()],
            Values::File(words) => words.iter().copied().chain(["FILE"]).map(str::to_owned).collect(),
        }
    }
}
