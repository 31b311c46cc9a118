//! `comity key`: this party's key, and whose keys it trusts.

use std::path::PathBuf;

use clap::Subcommand;
use comity_net::{Fingerprint, KeyDir, SystemRng};
use comity_terminal::console::{emit, note};
use comity_terminal::failure::Outcome;

#[derive(Subcommand, Debug)]
pub(crate) enum KeyCommand {
    /// Make a key pair in DIR and print its fingerprint
    New {
        /// A folder; it is made if it is not there. The secret key in it is readable by its owner only
        dir: PathBuf,
    },
    /// Print this party's fingerprint and the fingerprints that it trusts
    Show {
        /// The folder that `comity key new` made
        dir: PathBuf,
    },
    /// Trust the key with this fingerprint to be party PARTY, from now on
    #[command(after_help = "\
Compare fingerprints over a way that you trust already: by telephone, on paper, in a signed message.")]
    Trust {
        /// The folder that `comity key new` made
        dir: PathBuf,
        /// Which party the key belongs to
        #[arg(long, value_name = "ID")]
        party: u32,
        /// What `comity key show` prints at the other party
        fingerprint: String,
    },
}

/// The command.
pub(crate) fn run(command: &KeyCommand) -> Outcome {
    match command {
        KeyCommand::New { dir } => {
            let identity = KeyDir::new(dir).create(&mut SystemRng)?;
            note(
                "The other party trusts this key with `comity key trust ITS_DIR --party YOUR_ID FINGERPRINT`; of a group, it \
                 stands in the group's file (`comity group add`):",
            );
            emit(&format!("{}\n", identity.fingerprint()))
        }
        KeyCommand::Show { dir } => {
            let keys = KeyDir::new(dir);
            let mut text = format!("{}\n", keys.identity()?.fingerprint());
            for (party, fingerprint) in keys.trusted()? {
                text += &format!("party {party} {fingerprint}\n");
            }
            emit(&text)
        }
        KeyCommand::Trust { dir, party, fingerprint } => {
            let fingerprint: Fingerprint = fingerprint.parse()?;
            let keys = KeyDir::new(dir);
            // A folder without a key is most likely a slip of the hand.
            keys.identity()?;
            keys.trust(*party, fingerprint)?;
            note(&format!("party {party} is trusted with {fingerprint}"));
            Ok(())
        }
    }
}
