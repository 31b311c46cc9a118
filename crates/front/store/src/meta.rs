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
    /// The fingerprint of the peer's key; `None` if the peer did not prove who it is.
    pub peer: Option<[u8; 32]>,
}

impl Meta {
    /// Bytes of the encoding.
    pub(crate) const BYTES: usize = 32 + 32 + 1 + 32 + 3 * 4 + 2 * TEXT + 8;

    /// The encoding, with the entry's place in the order of all.
    pub(crate) fn encode(&self, number: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Meta::BYTES);
        bytes.extend(number.to_le_bytes());
        bytes.extend(self.id.to_bytes());
        bytes.extend(self.program);
        bytes.push(u8::from(self.peer.is_some()));
        bytes.extend(self.peer.unwrap_or_default());
        bytes.extend([self.party, self.params.kappa, self.params.rho].into_iter().flat_map(u32::to_le_bytes));
        for text in [&self.protocol, &self.name] {
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
        let peer = match fields.take()? {
            [0] => fields.take::<32>()?.eq(&[0; 32]).then_some(None)?,
            [1] => Some(fields.take()?),
            _ => return None,
        };
        let party = u32::from_le_bytes(fields.take()?);
        let (kappa, rho) = (u32::from_le_bytes(fields.take()?), u32::from_le_bytes(fields.take()?));
        let params = Params::new(kappa, rho).ok()?;
        let (protocol, name) = (fields.text()?, fields.text()?);
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
            peer: Some([9; 32]),
        };
        for peer in [meta.peer, None] {
            let meta = Meta { peer, ..meta.clone() };
            let mut bytes: [u8; Meta::BYTES] = meta.encode(u64::MAX - 1).try_into().unwrap();
            let cut = Meta { name: "é".repeat(63), ..meta.clone() };
            assert_eq!(Meta::decode(&bytes), Some((u64::MAX - 1, cut)));
            bytes[8 + 64] = 2;
            assert_eq!(Meta::decode(&bytes), None);
        }
    }
}
