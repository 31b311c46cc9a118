//! What an entry is for.

use comity_core::{Params, SessionId};

/// Bytes of a text: its length, and the text with zeros after it.
const TEXT: usize = 128;

/// What an entry is for. It is encrypted with the entry, and a run that does not fit it must not use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The session that prepared it. The peer's part has the same id.
    pub id: SessionId,
    /// The protocol's name, with everything that both sides must set alike in it. At most 127 bytes.
    pub protocol: String,
    /// The program's digest.
    pub program: [u8; 32],
    /// What people call the program; cut after 127 bytes.
    pub name: String,
    /// This party.
    pub party: u32,
    /// The security parameters.
    pub params: Params,
    /// The fingerprint of the peer's key; empty if the peer did not prove who it is. At most 127 bytes.
    pub peer: String,
}

impl Meta {
    /// Bytes of the encoding.
    pub(crate) const BYTES: usize = 8 + 32 + 32 + 3 * 4 + 3 * TEXT;

    /// The encoding, with the entry's place in the order of all.
    pub(crate) fn encode(&self, number: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Meta::BYTES);
        bytes.extend(number.to_le_bytes());
        bytes.extend(self.id.to_bytes());
        bytes.extend(self.program);
        bytes.extend([self.party, self.params.kappa, self.params.rho].into_iter().flat_map(u32::to_le_bytes));
        for text in [&self.protocol, &self.name, &self.peer] {
            let text = &text[..text.floor_char_boundary(TEXT - 1)];
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
            bytes.resize(bytes.len() + TEXT - 1 - text.len(), 0);
        }
        bytes
    }

    /// What [`Meta::encode`] wrote; `None` for anything else.
    pub(crate) fn decode(bytes: &[u8; Meta::BYTES]) -> Option<(u64, Meta)> {
        let mut fields = Fields(bytes);
        let number = u64::from_le_bytes(fields.take()?);
        let id = SessionId::new(fields.take()?);
        let program = fields.take()?;
        let party = u32::from_le_bytes(fields.take()?);
        let (kappa, rho) = (u32::from_le_bytes(fields.take()?), u32::from_le_bytes(fields.take()?));
        let params = Params::new(kappa, rho).ok()?;
        let (protocol, name, peer) = (fields.text()?, fields.text()?, fields.text()?);
        Some((number, Meta { id, protocol, program, name, party, params, peer }))
    }
}

/// What is left to decode.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn text(&mut self) -> Option<String> {
        let bytes: [u8; TEXT] = self.take()?;
        let text = bytes.get(1..=usize::from(bytes[0]))?;
        Some(str::from_utf8(text).ok()?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let meta = Meta {
            id: SessionId::new([7; 32]),
            protocol: "cutchoose, garbled by party 1".into(),
            program: [8; 32],
            name: "é".repeat(100),
            party: 1,
            params: Params::new(128, 64).unwrap(),
            peer: "p".repeat(127),
        };
        let mut bytes: [u8; Meta::BYTES] = meta.encode(u64::MAX - 1).try_into().unwrap();
        let cut = Meta { name: "é".repeat(63), ..meta };
        assert_eq!(Meta::decode(&bytes), Some((u64::MAX - 1, cut)));
        for (at, wrong) in [(8 + 64 + 12, 128), (8 + 64 + 13, 0xff), (8 + 64 + 8, 200)] {
            let right = std::mem::replace(&mut bytes[at], wrong);
            assert_eq!(Meta::decode(&bytes), None, "{at}");
            bytes[at] = right;
        }
    }
}
