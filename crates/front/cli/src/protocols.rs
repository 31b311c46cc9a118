//! What the cards say: `comity protocols`, the flags of options, and what help prints of protocols.

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use comity::{Adversary, Card, PROTOCOLS, Protocol, SERVICES};
use comity_protocol::{CardKind, Opt, Values};

use crate::console::emit;
use crate::failure::{Failure, Outcome};
use crate::json;

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
    /// Their cards.
    fn cards(self) -> impl Iterator<Item = &'static Card> {
        self.0.iter().map(|protocol| protocol.card())
    }

    /// The protocol of this name, or the preferred one.
    pub(crate) fn named(self, name: Option<&str>) -> Outcome<&'static dyn Protocol> {
        Ok(match name {
            Some(name) => comity::among(self.0, name)?,
            None => self.0[0],
        })
    }

    /// The name of the first on which a session by hand can run.
    pub(crate) fn reactive(self) -> Outcome<&'static str> {
        let card = self.cards().find(|card| card.reactive);
        card.map(|card| card.name).ok_or_else(|| Failure::input("no protocol here runs a session by hand"))
    }

    /// All options that there are, by name, each with the protocols that have it.
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

#[derive(Args, Debug)]
pub(crate) struct ProtocolsArgs {
    /// Only this one
    name: Option<String>,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
    #[arg(skip)]
    pub(crate) list: List,
}

/// The command.
pub(crate) fn run(args: &ProtocolsArgs) -> Outcome {
    let all = args.list.cards().chain(SERVICES.iter().copied());
    let wanted = |card: &&Card| args.name.as_ref().is_none_or(|name| card.name == name);
    let cards: Vec<&Card> = all.filter(wanted).collect();
    if let (true, Some(name)) = (cards.is_empty(), &args.name) {
        let names: Vec<&str> = args.list.cards().chain(SERVICES.iter().copied()).map(|card| card.name).collect();
        return Err(Failure::input(format!("there is no protocol `{name}`; there is: {}", names.join(", "))));
    }
    if args.json {
        return emit(&json::line(&cards.iter().map(|card| describe(card)).collect::<Vec<_>>()));
    }
    if args.name.is_some() {
        return cards.iter().try_for_each(|card| emit(&page(card)));
    }
    cards.iter().try_for_each(|card| emit(&format!("{:<11}{:<12}{}\n", card.name, card.adversary.name(), card.summary)))
}

/// The object that `--json` prints.
fn describe(card: &Card) -> json::Card {
    json::Card {
        name: card.name,
        kind: card.kind.name(),
        paper: card.paper,
        parties: [*card.parties.start(), *card.parties.end()],
        adversary: card.adversary.name(),
        offline: card.offline.iter().map(|material| material.name).collect(),
        options: card
            .options
            .iter()
            .map(|option| json::Opt {
                name: option.name,
                values: option.values.words(),
                agreed: option.agreed,
                about: option.about,
            })
            .collect(),
        protects: card.protects,
        risk: card.risk,
    }
}

/// All of a card.
fn page(card: &Card) -> String {
    let (least, most) = (card.parties.start(), card.parties.end());
    let parties = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let mut text = format!("{}\n\n", card.name);
    let mut row = |name: &str, value: &str| text += &fill(&format!("  {name:<11}"), value, 100);
    row("is", card.summary);
    row("paper", card.paper);
    row("parties", &parties);
    row("adversary", card.adversary.name());
    row("protects", card.protects);
    row("risk", card.risk);
    row("about", card.about);
    for material in card.offline {
        let of = if material.program { "for one program" } else { "for any program" };
        row("offline", &format!("{}, {of}", material.name));
    }
    for option in card.options {
        let kind = match (&option.values, option.agreed) {
            (Values::Part(_), _) => ", the other party has the other one",
            (_, true) => ", the same at all parties",
            (_, false) => "",
        };
        let values = option.values.words().join("|");
        row("option", &format!("{}={values}{kind}: {}", option.name, option.about));
    }
    if card.kind == CardKind::Service {
        row("run it with", &format!("comity {}", card.name));
    }
    text
}

/// What help says of protocols.
pub(crate) fn help(list: List) -> String {
    let mut text =
        "Protocols, which each party names alike (--protocol; `comity protocols NAME` says more):\n".to_owned();
    for card in list.cards() {
        let against = match card.adversary {
            Adversary::Malicious => "Against a party that cheats (malicious).",
            Adversary::SemiHonest => "Against a party that follows the protocol and is curious (semi-honest).",
        };
        text += &fill(&format!("  {:<11}", card.name), &format!("{against} {}", card.about), 80);
    }
    text += PROMISES;
    text
}

/// What holds for all of them.
const PROMISES: &str = "\
Each party learns its outputs (--output-to), the program, and the lengths of all
values, and nothing else of the other's. Not hidden: that you compute, when, and
how long it takes. There is no fairness: a party may stop the run, also when it
has its outputs and others have not. An input is whatever its party says. Nobody
outside the project has audited comity.";

/// Text in lines of at most so many characters, the first behind a label and the others below it.
fn fill(label: &str, text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = label.to_owned();
    for word in text.split_whitespace() {
        if line.len() > label.len() && line.chars().count() + 1 + word.chars().count() > width {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(label.len());
        }
        if line.len() > label.len() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

/// A command that knows these protocols: their names, and a flag for each of their options.
pub(crate) fn with_protocols(command: Command, list: List) -> Command {
    let names: Vec<&'static str> = list.cards().map(|card| card.name).collect();
    let preferred = names[0];
    let command = command.mut_arg("protocol", |arg| {
        arg.value_parser(PossibleValuesParser::new(names)).help(format!("The protocol [default: {preferred}]"))
    });
    list.options().into_iter().fold(command, |command, (option, names)| command.arg(flag(option, &names)))
}

/// The flag that is short for an option.
fn flag(option: &'static Opt, protocols: &[&str]) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(format!("{} ({})", option.about, protocols.join(", ")));
    match &option.values {
        Values::Switch => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("yes")
            .value_parser(["yes", "no"])
            .hide_possible_values(true)
            .value_name("yes|no"),
        Values::OneOf(words) => arg.value_parser(PossibleValuesParser::new(words.iter().copied())),
        Values::Part(words) => arg.value_parser(PossibleValuesParser::new(words.iter().copied())),
        Values::Number(_) => arg.value_name("N"),
    }
}

/// What these flags set.
pub(crate) fn given(matches: &ArgMatches, list: List) -> Vec<(String, String)> {
    let said = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let options = list.options().into_iter().map(|(option, _)| option.name).filter(|name| said(name));
    options.filter_map(|name| Some((name.to_owned(), matches.get_one::<String>(name)?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_filled_below_its_label() {
        assert_eq!(fill("ab ", "one two three four", 12), "ab one two\n   three\n   four\n");
    }

    #[test]
    fn help_names_every_protocol() {
        let text = help(List::default());
        assert!(PROTOCOLS.iter().all(|protocol| text.contains(protocol.card().name)));
        assert!(text.lines().all(|line| line.chars().count() <= 90), "{text}");
    }
}
