//! The tables of protocols in README.md and SECURITY.md are what the cards say. `make tables` writes them anew.

use std::fs;
use std::path::Path;

use comity::{Card, PROTOCOLS, SERVICES};

const BEGIN: &str = "<!-- from the cards: make tables -->\n";
const END: &str = "<!-- end -->\n";

fn cards() -> impl Iterator<Item = &'static Card> {
    PROTOCOLS.iter().map(|protocol| protocol.card()).chain(SERVICES.iter().copied())
}

fn parties(card: &Card) -> String {
    match (card.parties.start(), card.parties.end()) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// What is there, for whom, and what it is.
fn protocols() -> String {
    let mut table = "| Name | Parties | Protects against | What it is | From |\n|---|---|---|---|---|\n".to_owned();
    for card in cards() {
        let (name, parties, adversary) = (card.name, parties(card), card.adversary);
        table += &format!("| `{name}` | {parties} | {adversary} | {} | {} |\n", card.summary, card.paper);
    }
    table
}

/// What each promises, and what is left.
fn promises() -> String {
    let mut table = "| Name | Promise | What is left |\n|---|---|---|\n".to_owned();
    for card in cards() {
        table += &format!("| `{}` ({}) | {} | {} |\n", card.name, card.adversary, card.protects, card.risk);
    }
    table
}

#[test]
fn tables_are_what_the_cards_say() {
    for (file, table) in [("README.md", protocols()), ("SECURITY.md", promises())] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{file} has no table of protocols"));
        let (shown, after) = rest.split_once(END).unwrap_or_else(|| panic!("{file}: its table does not end"));
        if std::env::var_os("COMITY_WRITE_TABLES").is_some() {
            fs::write(&path, [before, BEGIN, &table, END, after].concat()).unwrap_or_else(|e| panic!("{file}: {e}"));
        } else {
            assert!(shown == table, "{file}: the table of protocols is not what the cards say: run `make tables`");
        }
    }
}
