//! `SessionId`: the public name of one run, which enters every hash and transcript of it.

use core::fmt;

use crate::hash::framing::Framed;
use crate::memory::block::Block;

/// The id of a session: 256 bits, different for each session. Public.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId([u8; 32]);

impl SessionId {
    /// Bytes in an id.
    pub const BYTES: usize = 32;

    /// The id with these bytes.
    pub const fn new(bytes: [u8; 32]) -> SessionId {
        SessionId(bytes)
    }

    /// The id's bytes.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// The id derived from parts, for instance both parties' nonces and the hello. `domain` names the use.
    /// Different domains or parts (in number, length or content) give different ids.
    pub fn derive(domain: &str, parts: &[&[u8]]) -> SessionId {
        let mut hash = Framed::new("comity session id v1");
        hash.add(domain.as_bytes());
        for part in parts {
            hash.add(part);
        }
        SessionId(hash.digest())
    }

    /// The id of a sub-protocol. Each label must be used once in a session.
    #[must_use]
    pub fn child(&self, label: &str) -> SessionId {
        let mut hash = Framed::new("comity session child v1");
        hash.add(&self.0);
        hash.add(label.as_bytes());
        SessionId(hash.digest())
    }

    /// A public block bound to this session, for instance the start of a tweak counter.
    pub fn block(&self, label: &str) -> Block {
        let mut hash = Framed::new("comity session block v1");
        hash.add(&self.0);
        hash.add(label.as_bytes());
        let mut bytes = [0; 16];
        hash.fill(&mut bytes);
        Block::new(bytes)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(")?;
        for byte in &self.0[..8] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("..)")
    }
}
