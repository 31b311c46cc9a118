//! The registry: every protocol that a session can run, and what each protects against.

use std::fmt;
use std::ops::RangeInclusive;

use comity_core::{Error, Result};

/// What the other parties may do without harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adversary {
    /// They follow the protocol, and try to learn more from what they see.
    SemiHonest,
    /// They do whatever they like.
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

/// A protocol: its name, what it protects against, and what it does not.
#[derive(Debug)]
pub struct Protocol {
    /// The name in flags, reports and the hello.
    pub name: &'static str,
    /// Against whom it is secure.
    pub adversary: Adversary,
    /// How many parties it takes.
    pub parties: RangeInclusive<u32>,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What it protects against, in one line.
    pub protects: &'static str,
    /// What a cheating peer could do, in one line.
    pub risk: &'static str,
    pub(crate) system: System,
}

/// Which crate runs it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum System {
    CutChoose,
    TinyOt,
    Yao,
}

/// The first line is the default.
static PROTOCOLS: [Protocol; 3] = [
    Protocol {
        name: "cutchoose",
        adversary: Adversary::Malicious,
        parties: 2..=2,
        summary: "rho garbled circuits, cut and choose (Wang, Malozemoff, Katz 2017), for two parties",
        protects: "a party that cheats learns only its outputs, and is caught or changes nothing, but for one guess in \
                   2^rho - 1",
        risk: "a peer could stop the run at any time, also when it has its own outputs and this party does not",
        system: System::CutChoose,
    },
    Protocol {
        name: "tinyot",
        adversary: Adversary::Malicious,
        parties: 2..=2,
        summary: "authenticated shares (Nielsen, Nordholt, Orlandi, Burra 2012), for two parties",
        protects: "a party that cheats learns only its outputs, and is caught before anything else leaves the other one, but \
                   with probability 2^-rho",
        risk: "a peer could stop the run at any time, also when it has its own outputs and this party does not",
        system: System::TinyOt,
    },
    Protocol {
        name: "yao",
        adversary: Adversary::SemiHonest,
        parties: 2..=2,
        summary: "Yao's garbled circuits with half-gates, for two parties",
        protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
        risk: "a peer that breaks the rules could learn this party's inputs, or make its outputs wrong, unnoticed",
        system: System::Yao,
    },
];

/// How `tinyot` makes its authenticated triples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dealer {
    /// From SoftSpoken OT extension and the leaky AND of Katz, Ranellucci, Rosulek and Wang (2018).
    #[default]
    Fast,
    /// As the paper of 2012 does.
    Nnob12,
}

impl Dealer {
    /// `fast` or `nnob12`.
    pub fn name(self) -> &'static str {
        match self {
            Dealer::Fast => "fast",
            Dealer::Nnob12 => "nnob12",
        }
    }
}

impl fmt::Display for Dealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a party does in a protocol of garbled circuits, where one of two makes them and the other one evaluates them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It makes the garbled circuits.
    Garbler,
    /// It evaluates them.
    Evaluator,
}

impl Role {
    /// `garbler` or `evaluator`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Garbler => "garbler",
            Role::Evaluator => "evaluator",
        }
    }

    /// The other one of the two.
    #[must_use]
    pub fn other(self) -> Role {
        match self {
            Role::Garbler => Role::Evaluator,
            Role::Evaluator => Role::Garbler,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Protocol {
    /// Every protocol there is; the first one is the default.
    pub fn all() -> &'static [Protocol] {
        &PROTOCOLS
    }

    /// The protocol that runs when none is named.
    pub fn preferred() -> &'static Protocol {
        &PROTOCOLS[0]
    }

    /// The protocol of this name.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), with the names that there are.
    pub fn named(name: &str) -> Result<&'static Protocol> {
        PROTOCOLS.iter().find(|p| p.name == name).ok_or_else(|| {
            let names: Vec<&str> = PROTOCOLS.iter().map(|p| p.name).collect();
            Error::invalid_input(format!("there is no protocol `{name}`; there is: {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for protocol in Protocol::all() {
            assert!(std::ptr::eq(Protocol::named(protocol.name).unwrap(), protocol));
        }
        let error = Protocol::named("yoa").unwrap_err().to_string();
        assert!(error.contains("yoa") && error.contains("yao"), "{error}");
    }

    #[test]
    fn nobody_falls_into_a_semi_honest_protocol() {
        assert_eq!(Protocol::preferred().adversary, Adversary::Malicious);
    }
}
