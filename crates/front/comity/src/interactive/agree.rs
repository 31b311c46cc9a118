//! Whether all parties are about to do the same.

use comity_channel::PerPeer;
use comity_core::{Error, PartyId, Result, SessionId};

use super::Interactive;

/// The longest statement, in bytes.
pub const MAX_STATEMENT: usize = 1 << 14;

impl Interactive<'_> {
    /// Compares statements with the peers: each tells what it is about to do. Returns nothing if that is the
    /// same at all, else what each peer is about to do. The texts are public: they must contain no input
    /// value.
    ///
    /// All send a digest at once, and the texts if any differ. The call waits until the peers come to their
    /// statements. It catches mistakes; a peer that lies about its statement cheats, and the protocol
    /// protects against that.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the statement has more than [`MAX_STATEMENT`] bytes;
    /// [`Malformed`](comity_core::Kind) if the peer's has; those of the channel.
    pub fn agree(&mut self, statement: &str) -> Result<Vec<(PartyId, String)>> {
        let len = statement.len();
        if len > MAX_STATEMENT {
            return Err(Error::invalid_input(format!(
                "the statement has {len} bytes, and {MAX_STATEMENT} are the most"
            )));
        }
        let parts: [&[u8]; 3] = [&self.here.session.to_bytes(), &self.statements.to_le_bytes(), statement.as_bytes()];
        let ours = SessionId::derive("interactive statement", &parts).to_bytes();
        self.statements += 1;
        if self.mesh.tell(&ours)?.iter().all(|(_, theirs)| theirs[..] == ours) {
            return Ok(Vec::new());
        }
        let lengths = self.mesh.tell(&(len as u32).to_le_bytes())?;
        let (me, parties) = (self.here.me, self.here.parties);
        let mut texts = PerPeer::new(me, parties, |_| Vec::new());
        for (peer, length) in lengths.iter() {
            let length = u32::from_le_bytes(length[..].try_into().expect("four bytes")) as usize;
            if length > MAX_STATEMENT {
                return Err(Error::malformed(format!("the peer's statement has {length} bytes")).by(peer));
            }
            texts[peer] = vec![0; length];
        }
        self.mesh.exchange(&PerPeer::new(me, parties, |_| statement.as_bytes().to_vec()), &mut texts)?;
        // They go to a terminal, where other characters could do more than be seen.
        let plain = |c: char| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ';
        let shown = |text: &[u8]| -> String {
            String::from_utf8_lossy(text).chars().map(|c| if plain(c) { c } else { '?' }).collect()
        };
        Ok(texts.iter().map(|(peer, text)| (peer, shown(text))).collect())
    }
}
