//! The tables of protocols in README.md and SECURITY.md are what the cards say. `make tables` writes them anew.

use std::fs;
use std::path::Path;

use comity::{Card, NetProfile, PRIVATE_FUNCTIONS, PROTOCOLS, Params, RunCost, SERVICES, library};

const BEGIN: &str = "<!-- from the cards: make tables -->\n";
const END: &str = "<!-- end -->\n";

fn cards() -> impl Iterator<Item = &'static Card> {
    let private = PRIVATE_FUNCTIONS.iter().map(|protocol| protocol.card());
    PROTOCOLS.iter().map(|protocol| protocol.card()).chain(SERVICES.iter().copied()).chain(private)
}

fn parties(card: &Card) -> String {
    match (card.parties.start(), card.parties.end()) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// What is there, for whom, and what it is.
fn protocols() -> String {
    let mut table = "| Name | Parties | Protects against | What it is |\n|---|---|---|---|\n".to_owned();
    for card in cards() {
        let (name, parties, adversary) = (card.name, parties(card), card.adversary);
        table += &format!("| `{name}` | {parties} | {adversary} | {} |\n", card.summary);
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

/// A number of bytes, in the unit that has few digits.
fn size(bytes: u64) -> String {
    let (unit, by) = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
        .into_iter()
        .find(|(_, by)| bytes as f64 >= *by)
        .unwrap_or(("bytes", 1.0));
    let scaled = bytes as f64 / by;
    format!("{scaled:.*} {unit}", usize::from(scaled < 10.0))
}

/// Seconds with two digits.
fn seconds(seconds: f64) -> String {
    let (unit, by) = if seconds < 0.1 { ("ms", 1e-3) } else { ("s", 1.0) };
    let scaled = seconds / by;
    format!("{scaled:.*} {unit}", if scaled < 1.0 { 2 } else { usize::from(scaled < 10.0) })
}

/// What AES-128 costs by every protocol that runs it among so many: what `comity plan` says.
fn costs() -> String {
    let mut table = "| Protocol | Parties | Protects against | Sent | Rounds | Local network | Wide network | Ahead |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for parties in [2, 3, 5] {
        for protocol in PROTOCOLS {
            let card = protocol.card();
            let program = library::program_for("aes128", card.goal).expect("a built-in");
            let Ok(cost) = RunCost::new(PROTOCOLS, *protocol, &program, parties, Params::default(), &[]) else {
                continue;
            };
            let ahead: Vec<&str> = card.offline.iter().map(|material| material.name).collect();
            table += &format!(
                "| `{}` | {parties} | {} | {} | {} | {} | {} | {} |\n",
                card.name,
                card.adversary,
                size(cost.bytes()),
                cost.rounds.iter().max().copied().unwrap_or(0),
                seconds(cost.seconds(&NetProfile::LAN)),
                seconds(cost.seconds(&NetProfile::WAN)),
                if ahead.is_empty() { "-".to_owned() } else { ahead.join(", ") }
            );
        }
    }
    table
}

#[test]
fn tables_are_what_the_cards_say() {
    let pages = [("README.md", protocols()), ("SECURITY.md", promises()), ("book/src/which-protocol.md", costs())];
    for (file, table) in pages {
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
