//! `comity store`: what a store of material holds, and removing lots from it.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comity::{Damaged, LotInfo, Meta, OnDisk, Store};
use comity_core::SessionId;
use comity_net::Fingerprint;
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::bytes;
use serde::Serialize;

use crate::list::List;
use crate::storage::{KeyArgs, open};

/// Notes below the help.
pub(crate) const ABOUT: &str = "\
A store holds lots: what all parties made together in one `comity prepare`, each
its own part. A lot is for these parties with these keys and, unless it is for
any program, for one program; `comity run --store DIR` uses up its batches, each
once. ID is how an id begins. Looking at a store opens it: half-made lots, and
those that a check broke off, are deleted, as they are by every run.";

#[derive(Subcommand, Debug)]
pub(crate) enum StoreCommand {
    /// List the lots: for whom and which program, how much is left, which are damaged
    List(ListArgs),
    /// Show all that is known of one lot
    Inspect(InspectArgs),
    /// Delete lots; the other parties' parts of them are then of no use
    Remove(RemoveArgs),
}

#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The folder of the store
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    #[command(flatten)]
    key: KeyArgs,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    place: Place,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// How the lot's id begins
    id: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// How the ids of the lots begin
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All lots, damaged ones too
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    place: Place,
}

/// The command.
pub(crate) fn run(command: &StoreCommand, list: List) -> Outcome {
    match command {
        StoreCommand::List(args) => self::list(&args.place, list),
        StoreCommand::Inspect(args) => inspect(args, list),
        StoreCommand::Remove(args) => remove(args, list),
    }
}

/// All that a store holds.
#[derive(Debug, Serialize)]
struct Shown {
    lots: Vec<Lot>,
    damaged: Vec<Broken>,
    /// Lots that were deleted now, since a run had broken off while they were checked.
    destroyed: Vec<Gone>,
}

#[derive(Debug, Serialize)]
struct Lot {
    id: String,
    material: String,
    options: String,
    /// `null` if it is for any program.
    program: Option<Program>,
    party: u16,
    peers: Vec<Peer>,
    kappa: u32,
    rho: u32,
    amounts: Vec<Amount>,
    batches: u32,
    batches_used: u32,
    bytes: u64,
    /// The seconds since the lot was made; `null` if the disk does not tell.
    age_seconds: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Program {
    name: String,
    digest: String,
}

#[derive(Debug, Serialize)]
struct Peer {
    party: u16,
    /// The fingerprint of its key; `null` if it proved none.
    key: Option<String>,
}

/// The amount of a material, in one of its units.
#[derive(Debug, Serialize)]
struct Amount {
    unit: &'static str,
    made: u64,
    left: u64,
}

#[derive(Debug, Serialize)]
struct Broken {
    id: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct Gone {
    id: String,
    material: String,
    program: String,
}

#[derive(Debug, Serialize)]
struct Removed {
    removed: Vec<String>,
    bytes: u64,
}

impl Shown {
    /// All that is in this store.
    fn of(store: &Store, list: List) -> Outcome<Shown> {
        let on_disk = store.on_disk()?;
        let on_disk = |id: &SessionId| on_disk.get(id).copied().unwrap_or_default();
        let gone =
            |meta: &Meta| Gone { id: hex(&meta.id), material: meta.material.clone(), program: meta.name.clone() };
        let broken = |Damaged { id, why }: &Damaged| Broken { id: hex(id), why: why.to_string() };
        Ok(Shown {
            lots: store.lots()?.iter().map(|lot| Lot::of(lot, on_disk(&lot.meta.id), list)).collect(),
            damaged: store.damaged()?.iter().map(broken).collect(),
            destroyed: store.destroyed().iter().map(gone).collect(),
        })
    }

    /// Says which lots this look at the store has destroyed.
    fn tell(&self) {
        for Gone { id, material, program } in &self.destroyed {
            let id = short(id);
            note(&format!(
                "lot {id} ({material}, {program}) was destroyed: a run broke off during the check of its material"
            ));
        }
    }

    /// The one lot whose id begins so.
    fn find(&self, prefix: &str) -> Outcome<&str> {
        let prefix = prefix.to_ascii_lowercase();
        let ids = self.lots.iter().map(|lot| &lot.id).chain(self.damaged.iter().map(|lot| &lot.id));
        let mut fits: Vec<&String> = ids.filter(|id| !prefix.is_empty() && id.starts_with(&prefix)).collect();
        fits.dedup();
        match fits[..] {
            [one] => Ok(one),
            [] => Err(Failure::input(format!("the store has no lot whose id begins with `{prefix}`"))),
            _ => Err(Failure::input(format!(
                "`{prefix}` is how the ids of {} lots begin: write more of the id",
                fits.len()
            ))),
        }
    }
}

impl Lot {
    fn of(lot: &LotInfo, on_disk: OnDisk, list: List) -> Lot {
        let meta = &lot.meta;
        let units = list.cards().flat_map(|card| card.offline);
        let units = units.filter(|material| material.name == meta.material).map(|material| material.units).next();
        let unit = |at: usize| units.and_then(|units| units.get(at)).copied().unwrap_or("units");
        let amounts = meta.units.iter().zip(lot.left()).enumerate();
        Lot {
            id: hex(&meta.id),
            material: meta.material.clone(),
            options: meta.options.clone(),
            program: meta.program.map(|digest| Program { name: meta.name.clone(), digest: hex_of(&digest) }),
            party: meta.party.0,
            peers: meta.peers.iter().map(|(party, key)| Peer { party: party.0, key: key.map(fingerprint) }).collect(),
            kappa: meta.params.kappa,
            rho: meta.params.rho,
            amounts: amounts.map(|(at, (&made, left))| Amount { unit: unit(at), made, left }).collect(),
            batches: lot.batches,
            batches_used: lot.next,
            bytes: on_disk.bytes,
            age_seconds: on_disk.made.and_then(|made| made.elapsed().ok()).map(|age| age.as_secs()),
        }
    }

    /// The lot's line in a list, cell by cell.
    fn cells(&self) -> [String; 7] {
        let peer = |peer: &Peer| match &peer.key {
            Some(key) => format!("{} ({}…)", peer.party, key.get(..16).unwrap_or(key)),
            None => format!("{} (no key)", peer.party),
        };
        let peers: Vec<String> = self.peers.iter().map(peer).collect();
        let program = match &self.program {
            Some(program) => format!("{} {}", program.name, short(&program.digest)),
            None => "any program".to_owned(),
        };
        [
            short(&self.id).to_owned(),
            self.material.clone(),
            format!("{} with {}", self.party, peers.join(", ")),
            program,
            self.left(),
            bytes(self.bytes),
            self.age_seconds.map_or("-".to_owned(), ago),
        ]
    }

    fn left(&self) -> String {
        let amount = |Amount { unit, made, left }: &Amount| format!("{left} of {made} {unit}");
        self.amounts.iter().map(amount).collect::<Vec<_>>().join(", ")
    }
}

fn list(place: &Place, list: List) -> Outcome {
    let shown = Shown::of(&open(&place.store, &place.key)?, list)?;
    if place.json {
        return emit(&to_line(&shown));
    }
    shown.tell();
    let head = ["LOT", "MATERIAL", "PARTIES", "PROGRAM", "LEFT", "SIZE", "MADE"].map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(shown.lots.iter().map(Lot::cells)).collect();
    let widths: Vec<usize> =
        (0..7).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows.iter().filter(|_| !shown.lots.is_empty()) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    if shown.lots.is_empty() {
        text += "the store has no lot that could be used\n";
    }
    for Broken { id, why } in &shown.damaged {
        text += &format!("{}  cannot be used: {why}\n", short(id));
    }
    emit(&text)
}

fn inspect(args: &InspectArgs, list: List) -> Outcome {
    let store = open(&args.place.store, &args.place.key)?;
    let shown = Shown::of(&store, list)?;
    shown.tell();
    let id = shown.find(&args.id)?;
    let Some(lot) = shown.lots.iter().find(|lot| lot.id == id) else {
        let why = store.damaged()?.into_iter().find(|lot| hex(&lot.id) == id);
        return why.map_or(Ok(()), |lot| Err(lot.why.into()));
    };
    if args.place.json {
        return emit(&to_line(lot));
    }
    let mut fields =
        vec![("lot", lot.id.clone()), ("material", lot.material.clone()), ("options", lot.options.clone())];
    match &lot.program {
        Some(program) => fields.extend([("program", program.name.clone()), ("digest", program.digest.clone())]),
        None => fields.push(("program", "any program".to_owned())),
    }
    fields.push(("party", lot.party.to_string()));
    for peer in &lot.peers {
        fields.push(("peer", format!("{} {}", peer.party, peer.key.as_deref().unwrap_or("(no key)"))));
    }
    fields.push(("security", format!("kappa {}, rho {}", lot.kappa, lot.rho)));
    fields.push(("left", lot.left()));
    fields.push(("batches", format!("{} of {} used", lot.batches_used, lot.batches)));
    fields.push(("size", bytes(lot.bytes)));
    fields.extend(lot.age_seconds.map(|age| ("made", ago(age))));
    emit(
        &fields
            .iter()
            .map(|(name, value)| format!("{name:9} {value}").trim_end().to_owned() + "\n")
            .collect::<String>(),
    )
}

fn remove(args: &RemoveArgs, list: List) -> Outcome {
    let store = open(&args.place.store, &args.place.key)?;
    let shown = Shown::of(&store, list)?;
    shown.tell();
    let on_disk = store.on_disk()?;
    let named: Vec<&str> = args.ids.iter().map(|prefix| shown.find(prefix)).collect::<Outcome<_>>()?;
    let wanted = |id: &&SessionId| args.all || named.contains(&hex(id).as_str());
    let ids: Vec<&SessionId> = on_disk.keys().filter(wanted).collect();
    ids.iter().try_for_each(|id| store.remove(id))?;
    let mut removed: Vec<String> = ids.iter().map(|id| hex(id)).collect();
    removed.sort();
    let freed = ids.iter().map(|id| on_disk[id].bytes).sum();
    if args.place.json {
        return emit(&to_line(&Removed { removed, bytes: freed }));
    }
    if !removed.is_empty() {
        note("the other parties' parts of what is removed are of no use any more: they can remove them, too");
    }
    let lots = if removed.len() == 1 { "lot is" } else { "lots are" };
    emit(&format!("{} {lots} removed: {}\n", removed.len(), bytes(freed)))
}

/// The time that has passed, for people.
fn ago(seconds: u64) -> String {
    let units = [(86_400, "days"), (3600, "hours"), (60, "minutes")];
    match units.into_iter().find(|(size, _)| seconds >= 2 * size) {
        Some((size, unit)) => format!("{} {unit} ago", seconds / size),
        None => format!("{seconds} s ago"),
    }
}

fn fingerprint(key: [u8; 32]) -> String {
    Fingerprint::from_bytes(key).to_string()
}

fn hex(id: &SessionId) -> String {
    hex_of(&id.to_bytes())
}

fn hex_of(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The part of an id or a digest that tells it from the others there are, most likely.
fn short(hex: &str) -> &str {
    &hex[..hex.len().min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_words() {
        let of = [
            (0, "0 s ago"),
            (119, "119 s ago"),
            (120, "2 minutes ago"),
            (7199, "119 minutes ago"),
            (172_800, "2 days ago"),
        ];
        of.into_iter().for_each(|(seconds, text)| assert_eq!(ago(seconds), text));
    }

    #[test]
    fn an_id_is_found_by_how_it_begins() {
        let broken = |id: &str| Broken { id: id.to_owned(), why: String::new() };
        let shown =
            Shown { lots: vec![], damaged: vec![broken("aabb"), broken("aacc"), broken("ff00")], destroyed: vec![] };
        assert_eq!(shown.find("FF"), Ok("ff00"));
        assert!(shown.find("aa").unwrap_err().message.contains("2 lots"));
        assert!(["", "b", "ff001"].iter().all(|prefix| shown.find(prefix).unwrap_err().message.contains("no lot")));
    }
}
