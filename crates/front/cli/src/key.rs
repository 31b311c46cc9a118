//! `comity key`: this party's key, and whose keys it trusts.

use comity_net::{Fingerprint, KeyDir, SystemRng};

use crate::args::KeyCommand;
use crate::console::{emit, note};
use crate::failure::Outcome;

/// The command.
pub(crate) fn run(command: &KeyCommand) -> Outcome {
    match command {
        KeyCommand::New { dir } => {
            let identity = KeyDir::new(dir).create(&mut SystemRng)?;
            note("The other party trusts this key with `comity key trust ITS_DIR --party YOUR_ID FINGERPRINT`:");
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
            let own = keys.identity()?.fingerprint();
            if own == fingerprint {
                note("note: this is the folder's own fingerprint; the other party's is wanted, most likely");
            }
            keys.trust(*party, fingerprint)?;
            note(&format!("party {party} is trusted with {fingerprint}"));
            Ok(())
        }
    }
}
