//! `comity protocols`: what the cards say.

use clap::Args;
use comity::{Card, PRIVATE_FUNCTIONS, SERVICES};
use comity_protocol::{CardKind, Values};
use comity_terminal::console::emit;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::text::fill;

use crate::json;
use crate::list::List;

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

/// All cards: of protocols, of services, and of what one service alone runs.
fn cards(list: List) -> impl Iterator<Item = &'static Card> {
    list.cards().chain(SERVICES.iter().copied()).chain(PRIVATE_FUNCTIONS.iter().map(|protocol| protocol.card()))
}

/// The command.
pub(crate) fn run(args: &ProtocolsArgs) -> Outcome {
    let all = cards(args.list);
    let wanted = |card: &&Card| args.name.as_ref().is_none_or(|name| card.name == name);
    let found: Vec<&Card> = all.filter(wanted).collect();
    if let (true, Some(name)) = (found.is_empty(), &args.name) {
        let names: Vec<&str> = cards(args.list).map(|card| card.name).collect();
        return Err(Failure::input(format!("there is no protocol `{name}`; there is: {}", names.join(", "))));
    }
    if args.json {
        return emit(&to_line(&found.iter().map(|card| describe(card)).collect::<Vec<_>>()));
    }
    if args.name.is_some() {
        return found.iter().try_for_each(|card| emit(&page(card)));
    }
    let width = found.iter().map(|card| card.name.len()).max().unwrap_or_default() + 1;
    let line = |card: &&Card| format!("{:<width$}{:<12}{}\n", card.name, card.adversary.name(), card.summary);
    found.iter().try_for_each(|card| emit(&line(card)))
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
        let command = match PRIVATE_FUNCTIONS.iter().any(|protocol| protocol.card().name == card.name) {
            true => comity::pfe::CARD.name,
            false => card.name,
        };
        row("run it with", &format!("comity {command}"));
    }
    text
}
