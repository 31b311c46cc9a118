//! Whether both parties are about to do the same.

use comity_core::{Error, Result, SessionId};

use super::Interactive;

/// The longest statement, in bytes.
pub const MAX_STATEMENT: usize = 1 << 14;

impl Interactive<'_> {
    /// Compares statements with the peer: each tells what it is about to do. `None` if that is the same, and else what the
    /// peer's statement is. The texts are public; no input value belongs into them.
    ///
    /// Both send a digest at once, and the texts if these differ. It waits for the peer to come to its statement. This keeps
    /// mistakes apart; a peer that lies about its statement is a peer that cheats, against which the protocol protects.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the statement has more than [`MAX_STATEMENT`] bytes; [`Malformed`](comity_core::Kind) if the peer's has;
    /// those of the channel.
    pub fn agree(&mut self, statement: &str) -> Result<Option<String>> {
        let len = statement.len();
        if len > MAX_STATEMENT {
            return Err(Error::invalid_input(format!("a statement of {len} bytes; {MAX_STATEMENT} are possible")));
        }
        let parts: [&[u8]; 3] = [&self.here.session.to_bytes(), &self.statements.to_le_bytes(), statement.as_bytes()];
        let ours = SessionId::derive("interactive statement", &parts).to_bytes();
        self.statements += 1;
        let mut theirs = [0; SessionId::BYTES];
        let (_, channel) = self.mesh.pair()?;
        channel.exchange(&ours, &mut theirs)?;
        if theirs == ours {
            return Ok(None);
        }
        let mut length = [0; 4];
        channel.exchange(&(len as u32).to_le_bytes(), &mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_STATEMENT {
            return Err(Error::malformed(format!("the peer's statement has {length} bytes")));
        }
        let mut text = vec![0; length];
        channel.exchange(statement.as_bytes(), &mut text)?;
        let text = String::from_utf8_lossy(&text);
        // It goes to a terminal, where other characters could do more than be seen.
        let plain = |c: char| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ';
        Ok(Some(text.chars().map(|c| if plain(c) { c } else { '?' }).collect()))
    }
}
