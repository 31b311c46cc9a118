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
    Yao,
}

/// The first line is the default.
static PROTOCOLS: [Protocol; 1] = [Protocol {
    name: "yao",
    adversary: Adversary::SemiHonest,
    parties: 2..=2,
    summary: "Yao's garbled circuits with half-gates, for two parties",
    protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
    risk: "a peer that breaks the rules could learn this party's inputs, or make its outputs wrong, unnoticed",
    system: System::Yao,
}];

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
    /// [`Error::InvalidInput`], with the names that there are.
    pub fn named(name: &str) -> Result<&'static Protocol> {
        PROTOCOLS.iter().find(|p| p.name == name).ok_or_else(|| {
            let names: Vec<&str> = PROTOCOLS.iter().map(|p| p.name).collect();
            Error::InvalidInput(format!("there is no protocol `{name}`; there is: {}", names.join(", ")))
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
}
