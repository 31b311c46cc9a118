//! `List`: the protocols that the command knows, a flag for each of their options, and what help says of them.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use comity::{Adversary, Card, Goal, PROTOCOLS, Program, Protocol};
use comity_protocol::{Opt, Values};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::text::fill;

use crate::source::regular;

/// The protocols that the command knows.
#[derive(Clone, Copy)]
pub(crate) struct List(pub(crate) &'static [&'static dyn Protocol]);

impl Default for List {
    fn default() -> List {
        List(PROTOCOLS)
    }
}

impl std::fmt::Debug for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.cards().map(|card| card.name)).finish()
    }
}

impl List {
    /// The protocols' cards.
    pub(crate) fn cards(self) -> impl Iterator<Item = &'static Card> {
        self.0.iter().map(|protocol| protocol.card())
    }

    /// The protocol of this name; without a name, the preferred one of `parties` parties.
    pub(crate) fn chosen(
        self,
        name: Option<&str>,
        parties: u16,
        program: Option<&Program>,
    ) -> Outcome<&'static dyn Protocol> {
        Ok(match name {
            Some(name) => comity::among(self.0, name)?,
            None => comity::preferred(self.0, parties, program)?,
        })
    }

    /// The goal that suits the protocol of this name. Without a name it is size: what runs then follows from
    /// the program's parties, and all that may want few ANDs.
    pub(crate) fn goal(self, name: Option<&str>) -> Outcome<Goal> {
        Ok(name.map_or(Ok(Goal::Size), |name| comity::among(self.0, name).map(|protocol| protocol.card().goal))?)
    }

    /// What runs where no protocol is named, by the number of parties.
    fn defaults(self, used: Use) -> String {
        let mut runs: Vec<(&str, u16, u16)> = Vec::new();
        for parties in 2..=Program::MAX_PARTIES {
            let preferred = match used {
                Use::Programs => comity::preferred(self.0, parties, None),
                Use::ByHand => comity::preferred_reactive(self.0, parties),
            };
            let Ok(protocol) = preferred else { continue };
            match runs.last_mut() {
                Some((name, _, last)) if *name == protocol.card().name && *last + 1 == parties => *last = parties,
                _ => runs.push((protocol.card().name, parties, parties)),
            }
        }
        let text = |(name, first, last): &(&str, u16, u16)| match first == last {
            true => format!("{name} for {first} parties"),
            false => format!("{name} for {first} to {last}"),
        };
        match &runs[..] {
            [] => "none".to_owned(),
            runs => runs.iter().map(text).collect::<Vec<_>>().join(", "),
        }
    }

    /// The names of all options of the protocols.
    pub(crate) fn option_names(self) -> Vec<&'static str> {
        self.options().into_iter().map(|(option, _)| option.name).collect()
    }

    /// All options of the protocols, by name, each with the protocols that have it.
    fn options(self) -> Vec<(&'static Opt, Vec<&'static str>)> {
        let mut options: Vec<(&'static Opt, Vec<&'static str>)> = Vec::new();
        for card in self.cards() {
            for option in card.options {
                match options.iter_mut().find(|(known, _)| known.name == option.name) {
                    Some((_, names)) => names.push(card.name),
                    None => options.push((option, vec![card.name])),
                }
            }
        }
        options
    }
}

/// The help's text on protocols.
pub(crate) fn help(list: List) -> String {
    let mut text =
        "Protocols, which each party names alike (--protocol; `comity protocols NAME` says more):\n".to_owned();
    let width = list.cards().map(|card| card.name.len()).max().unwrap_or_default() + 1;
    for card in list.cards() {
        let against = match card.adversary {
            Adversary::Malicious => "Against a party that cheats (malicious).",
            Adversary::SemiHonest => "Against a party that follows the protocol and is curious (semi-honest).",
        };
        text += &fill(&format!("  {:<width$}", card.name), &format!("{against} {}", card.about), 80);
    }
    text += PROMISES;
    text
}

/// The part of the help that holds for all protocols.
const PROMISES: &str = "\
Each party learns its outputs (--output-to), the program, and the lengths of all
values, and nothing else of the other's. Not hidden: that you compute, when, and
how long it takes. There is no fairness: a party may stop the run, also when it
has its outputs and others have not. An input is whatever its party says. Nobody
outside the project has audited comity.";

/// The use that a command makes of a protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It runs programs.
    Programs,
    /// It runs statements as they come, which not every protocol can.
    ByHand,
}

/// A command that knows these protocols: the names of those that it can use, and a flag for each of their options.
pub(crate) fn with_protocols(command: Command, list: List, used: Use) -> Command {
    let usable = |card: &&'static Card| used == Use::Programs || card.reactive;
    let names: Vec<&'static str> = list.cards().filter(usable).map(|card| card.name).collect();
    let preferred = list.defaults(used);
    let flags = names.clone();
    let command = command.mut_arg("protocol", |arg| {
        arg.value_parser(PossibleValuesParser::new(names)).help(format!("The protocol [default: {preferred}]"))
    });
    list.options().into_iter().fold(command, |command, (option, names)| {
        // Options of one name may have other values with another protocol, which says itself what fits.
        let same = list.cards().filter_map(|card| card.option(option.name)).map(|option| &option.values);
        let mut words: Vec<&'static str> = Vec::new();
        same.filter_map(|values| if let Values::OneOf(words) = values { Some(*words) } else { None })
            .flatten()
            .for_each(|word| {
                if !words.contains(word) {
                    words.push(word)
                }
            });
        // Whoever says a flag of another protocol is told that it is not this one's.
        command.arg(flag(option, &names, words).hide(!names.iter().any(|name| flags.contains(name))))
    })
}

/// The flag that is short for an option.
fn flag(option: &'static Opt, protocols: &[&str], words: Vec<&'static str>) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(format!("{} ({})", option.about, protocols.join(", ")));
    match &option.values {
        Values::Switch => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("yes")
            .value_parser(["yes", "no"])
            .hide_possible_values(true)
            .value_name("yes|no"),
        Values::OneOf(_) => arg.value_parser(PossibleValuesParser::new(words)),
        Values::Part(words) => arg.value_parser(PossibleValuesParser::new(words.iter().copied())),
        Values::Number(_) => arg.value_name("N"),
        Values::Place(_) => arg.value_name("PATH"),
        Values::Key(_) => arg.value_name("FINGERPRINT"),
        Values::Text { .. } => arg.value_name("TEXT"),
        Values::File(_) => arg.value_name("WORD|FILE"),
    }
}

/// The options that these flags set.
pub(crate) fn given(matches: &ArgMatches, list: List) -> Vec<(String, String)> {
    let said = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let options = list.options().into_iter().map(|(option, _)| option.name).filter(|name| said(name));
    options.filter_map(|name| Some((name.to_owned(), matches.get_one::<String>(name)?.clone()))).collect()
}

/// The most bytes of a file that is the value of an option.
const FILE: u64 = 1 << 20;

/// The value of an option as a protocol takes it: the text of a file that it names.
pub(crate) fn value<'v>(card: &Card, name: &str, value: &'v str) -> Outcome<Cow<'v, str>> {
    let words = match card.option(name).map(|option| &option.values) {
        Some(Values::File(words)) if !words.contains(&value) => words,
        _ => return Ok(Cow::Borrowed(value)),
    };
    let path = Path::new(value);
    if !path.exists() {
        let words = words.join(", ");
        return Err(Failure::input(format!(
            "--{name} {value}: it is one of {words}, or a file, and there is no such file"
        )));
    }
    let mut text = String::new();
    match regular(path)?.take(FILE + 1).read_to_string(&mut text) {
        Err(error) => Err(Failure::disk(&format!("{value}: cannot read it as text"), &error)),
        Ok(_) if text.len() as u64 > FILE => Err(Failure::input(format!("{value}: it has more than {FILE} bytes"))),
        Ok(_) if text.ends_with('\n') => Ok(Cow::Owned(text)),
        Ok(_) => Ok(Cow::Owned(text + "\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_unnamed_wants_few_ands() {
        let list = List::default();
        for parties in 2..=Program::MAX_PARTIES {
            if let Ok(protocol) = list.chosen(None, parties, None) {
                assert_eq!(list.goal(None).ok(), Some(protocol.card().goal), "{parties} parties");
            }
        }
    }

    #[test]
    fn help_names_every_protocol() {
        let text = help(List::default());
        assert!(PROTOCOLS.iter().all(|protocol| text.contains(protocol.card().name)));
        assert!(text.lines().all(|line| line.chars().count() <= 90), "{text}");
    }
}
