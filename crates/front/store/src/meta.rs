//! What a lot is for.

use comity_core::{Params, PartyId, SessionId};

/// The most bytes of a text.
const TEXT: usize = 255;

/// The most peers: those of the largest session that there can be.
const PEERS: usize = 1 << 16;

/// The meta of a lot: what it was made for. It is encrypted on the disk. A run that it does not fit must not
/// use the lot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The session in which the lot was made. The other parties' parts have the same id.
    pub id: SessionId,
    /// The name of the material. At most 255 bytes.
    pub material: String,
    /// The agreed options under which the lot was made, as text. At most 255 bytes.
    pub options: String,
    /// The digest of the program that the lot is for; `None` if it is for any program.
    pub program: Option<[u8; 32]>,
    /// The name that people call the program by; cut after 255 bytes.
    pub name: String,
    /// The amount that was made, in each of the material's units; at most 255 of them.
    pub units: Vec<u64>,
    /// This party.
    pub party: PartyId,
    /// The peers, in order, each with the fingerprint of its key; `None` if the peer did not prove a key.
    pub peers: Vec<(PartyId, Option<[u8; 32]>)>,
    /// The security parameters.
    pub params: Params,
}

impl Meta {
    /// The most bytes of an encoding.
    pub(crate) const MOST: usize = 8 + 32 + 3 * (1 + TEXT) + 1 + 32 + 1 + 8 * 255 + 2 + 8 + 4 + 35 * PEERS;

    /// Whether the meta can be encoded whole, but for the program's name.
    pub(crate) fn fits(&self) -> bool {
        self.material.len().max(self.options.len()).max(self.units.len()) <= TEXT && self.peers.len() <= PEERS
    }

    /// The encoding, with the lot's place in the order of all.
    pub(crate) fn encode(&self, number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(number.to_le_bytes());
        bytes.extend(self.id.to_bytes());
        for text in [&self.material, &self.options, &self.name] {
            let text = &text[..text.floor_char_boundary(TEXT)];
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
        }
        put_key(&mut bytes, self.program.as_ref());
        bytes.push(self.units.len() as u8);
        bytes.extend(self.units.iter().flat_map(|units| units.to_le_bytes()));
        bytes.extend(self.party.0.to_le_bytes());
        bytes.extend([self.params.kappa, self.params.rho].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend((self.peers.len() as u32).to_le_bytes());
        for (party, key) in &self.peers {
            bytes.extend(party.0.to_le_bytes());
            put_key(&mut bytes, key.as_ref());
        }
        bytes
    }

    /// The meta that [`Meta::encode`] wrote; `None` for anything else.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(u64, Meta)> {
        let mut fields = Fields(bytes);
        let number = u64::from_le_bytes(fields.take()?);
        let id = SessionId::new(fields.take()?);
        let (material, options, name) = (fields.text()?, fields.text()?, fields.text()?);
        let program = fields.key()?;
        let units = (0..fields.byte()?).map(|_| fields.take().map(u64::from_le_bytes)).collect::<Option<_>>()?;
        let party = fields.party()?;
        let (kappa, rho) = (u32::from_le_bytes(fields.take()?), u32::from_le_bytes(fields.take()?));
        let params = Params::new(kappa, rho).ok()?;
        let count = u32::from_le_bytes(fields.take()?);
        let peers = (0..count).map(|_| Some((fields.party()?, fields.key()?))).collect::<Option<_>>()?;
        let meta = Meta { id, material, options, program, name, units, party, peers, params };
        fields.0.is_empty().then_some((number, meta))
    }
}

/// Writes 32 bytes, if they are there.
fn put_key(bytes: &mut Vec<u8>, key: Option<&[u8; 32]>) {
    bytes.push(u8::from(key.is_some()));
    bytes.extend(key.into_iter().flatten());
}

/// The bytes that are left to decode.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]: [u8; 1]| byte)
    }

    fn party(&mut self) -> Option<PartyId> {
        self.take().map(u16::from_le_bytes).map(PartyId)
    }

    fn key(&mut self) -> Option<Option<[u8; 32]>> {
        match self.byte()? {
            0 => Some(None),
            1 => self.take().map(Some),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<String> {
        let len = usize::from(self.byte()?);
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
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
            material: "copies".into(),
            options: "garbler=party_1".into(),
            program: Some([8; 32]),
            name: "é".repeat(200),
            units: vec![1, u64::MAX],
            party: PartyId(1),
            peers: vec![(PartyId(0), None), (PartyId(2), Some([9; 32]))],
            params: Params::new(128, 64).unwrap(),
        };
        assert!(meta.fits());
        let bytes = meta.encode(u64::MAX - 1);
        let cut = Meta { name: "é".repeat(127), ..meta.clone() };
        assert_eq!(Meta::decode(&bytes), Some((u64::MAX - 1, cut)));
        for len in 0..bytes.len() {
            assert_eq!(Meta::decode(&bytes[..len]), None, "cut at {len}");
        }
        assert_eq!(Meta::decode(&[&bytes[..], &[0]].concat()), None);
        // A key that is neither present nor absent, text that is not UTF-8, and no security.
        let end = bytes.len();
        for (at, wrong) in [(end - 33, 2), (41, 0xff), (end - 35 - 3 - 4 - 8, 0)] {
            let mut bytes = bytes.clone();
            bytes[at] = wrong;
            assert_eq!(Meta::decode(&bytes), None, "{at}");
        }
        let any = Meta { program: None, name: String::new(), units: Vec::new(), peers: Vec::new(), ..meta.clone() };
        assert_eq!(Meta::decode(&any.encode(0)), Some((0, any)));
        assert!(!Meta { options: "x".repeat(256), ..meta }.fits());
    }

    #[test]
    fn no_encoding_is_longer_than_the_most() {
        let long = |len| "x".repeat(len);
        let meta = Meta {
            id: SessionId::new([0; 32]),
            material: long(255),
            options: long(255),
            program: Some([0; 32]),
            name: long(999),
            units: vec![0; 255],
            party: PartyId(0),
            peers: vec![(PartyId(1), Some([0; 32])); PEERS],
            params: Params::default(),
        };
        assert!(meta.fits() && meta.encode(0).len() == Meta::MOST);
    }
}
