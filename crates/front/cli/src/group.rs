//! `comity group`: the parties of many runs, in one file.

use std::path::PathBuf;

use clap::Subcommand;
use comity::{Fingerprint, Member, PartyGroup};
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;

use crate::json;
use crate::parties::group;

/// The help: what a group is for.
pub(crate) const ABOUT: &str = "\
All parties hold the same file, and compare the one digest that `comity group show`
prints, by a way that they trust already: by telephone, on paper. That takes the
place of comparing a key for each pair. Then each party runs
  comity run PROGRAM --group FILE --tls DIR --input VALUE
and its key in DIR tells which party it is (`comity key new DIR`). Without keys a
group is for one machine, or needs --plaintext, and each adds --party NAME.";

#[derive(Subcommand, Debug)]
pub(crate) enum GroupCommand {
    /// Add a party, the next one, to the group in FILE; the first one begins the file
    Add {
        /// The file
        file: PathBuf,
        /// The party's name: letters, digits, - and _
        #[arg(long)]
        name: String,
        /// Where the party listens, HOST:PORT; - if nobody can call it
        #[arg(long, value_name = "ADDR", allow_hyphen_values = true)]
        address: String,
        /// What `comity key show` prints at the party
        #[arg(long, value_name = "FINGERPRINT")]
        key: Option<Fingerprint>,
        /// The relay where parties meet that nobody can call (`comity relay`): one for the whole group
        #[arg(long, value_name = "ADDR")]
        relay: Option<String>,
    },
    /// Print the parties, and the digest to compare
    Show {
        /// The file
        file: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// The command.
pub(crate) fn run(command: &GroupCommand) -> Outcome {
    match command {
        GroupCommand::Add { file, name, address, key, relay } => {
            let address = Some(address.as_str()).filter(|address| *address != NOWHERE);
            let place = file.display().to_string();
            let group = PartyGroup::change(file, |there| {
                let group = match &there {
                    Some(group) => group.and(name, address, *key),
                    None => PartyGroup::begin(name, address, *key),
                };
                match relay {
                    Some(relay) => group.and_then(|group| group.at_relay(relay)),
                    None => group,
                }
            });
            let group = group.map_err(|error| Failure::from(error).at(&place))?;
            let (file, id) = (file.display(), group.parties() - 1);
            note(&format!(
                "{name} is party {id} in {file}; when all are in it, every party compares `comity group show {file}`"
            ));
            Ok(())
        }
        GroupCommand::Show { file, json } => {
            let group = group(file)?;
            emit(&if *json { to_line(&object(&group)) } else { text(&group) })
        }
    }
}

/// The address of a party that nobody can call.
const NOWHERE: &str = "-";

fn object(group: &PartyGroup) -> json::Group {
    let member = |member: &Member| json::Member {
        id: member.id.0,
        name: member.name.clone(),
        address: member.address.clone(),
        key: member.key.map(|key| key.to_string()),
    };
    let relay = group.relay().map(str::to_owned);
    json::Group { relay, parties: group.members().iter().map(member).collect(), digest: group.digest().to_string() }
}

/// A line a party, one for the relay if there is one, and the digest.
fn text(group: &PartyGroup) -> String {
    let widest = |text: &dyn Fn(&Member) -> usize| group.members().iter().map(text).max().unwrap_or(0);
    let address = |member: &Member| member.address.clone().unwrap_or_else(|| NOWHERE.to_owned());
    let (names, addresses) = (widest(&|member| member.name.len()), widest(&|member| address(member).len()));
    let line = |member: &Member| {
        let key = member.key.map_or("no key".to_owned(), |key| key.to_string());
        format!("{:<2}  {:names$}  {:addresses$}  {key}\n", member.id.0, member.name, address(member))
    };
    let lines: String = group.members().iter().map(line).collect();
    let relay = group.relay().map_or(String::new(), |relay| format!("relay  {relay}\n"));
    format!("{lines}{relay}{}\n", group.digest())
}
