//! What both sides must have said alike.

use comity_core::{Error, Params, PartyId, Result};
use comity_protocol::{Adversary, Protocol};

use crate::method::Method;
use crate::set::MAX_ITEMS;

/// The most bytes of payload an item.
pub(crate) const MAX_PAYLOAD: usize = 1 << 16;

/// The most items of the peer's set, unless the terms say otherwise: memory is allocated on the peer's word.
pub const MOST: usize = 1 << 26;

/// The terms of a run. The caller's hello contains them; a run compares them again with its first message,
/// all but the last, which each party chooses for itself.
#[derive(Clone, Copy)]
pub struct Terms {
    /// The method.
    pub method: Method,
    /// The adversary that is to be withstood.
    pub adversary: Adversary,
    /// The number of the sender's bytes that come with each common item; 0 for no payload.
    pub payload: usize,
    /// The general protocol below [`Method::Circuit`]; `None` for other methods.
    pub over: Option<&'static dyn Protocol>,
    /// The largest size of its set that the peer may announce: [`MOST`] by default, 2^28 at most.
    pub most: usize,
}

impl Terms {
    /// The terms of a method without payload.
    pub fn new(method: Method, adversary: Adversary) -> Terms {
        Terms { method, adversary, payload: 0, over: None, most: MOST }
    }

    /// The terms as fields of a hello: the name of each, and its value.
    pub fn fields(&self) -> [(&'static str, String); 4] {
        [
            ("method", self.method.name().to_owned()),
            ("adversary", self.adversary.name().to_owned()),
            ("payload", format!("{} bytes an item", self.payload)),
            ("protocol", self.over_name().to_owned()),
        ]
    }

    /// Checks that the method can do this.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says what it cannot do, and what to choose instead.
    pub fn check(&self) -> Result<()> {
        let (card, adversary) = (self.method.card(), self.adversary);
        let name = card.name;
        match self.over.map(|over| over.card()) {
            Some(over) if !card.over => {
                return Err(Error::invalid_input(format!("{name} runs over no protocol: leave {} out", over.name)));
            }
            None if card.over => {
                return Err(Error::invalid_input(format!(
                    "{name} runs over a general protocol: name one (`--protocol NAME`)"
                )));
            }
            Some(over) if adversary == Adversary::Malicious && over.adversary == Adversary::SemiHonest => {
                return Err(Error::invalid_input(format!(
                    "{name} is as secure as the protocol below it, and {} is {}: take another, or ask for semi-honest",
                    over.name, over.adversary
                )));
            }
            _ => {}
        }
        if !card.adversaries.contains(&adversary) {
            let can = |method: &Method| method.card().adversaries.contains(&adversary);
            let others: Vec<&str> = Method::ALL.iter().filter(|m| can(m)).map(|m| m.name()).collect();
            return Err(Error::invalid_input(format!(
                "{name} is not for a {adversary} peer; there is: {}",
                if others.is_empty() { "none".into() } else { others.join(", ") }
            )));
        }
        if self.payload > 0 && !card.payload {
            return Err(Error::invalid_input(format!("{name} has no payload: take another method")));
        }
        if self.payload > MAX_PAYLOAD {
            let bytes = self.payload;
            return Err(Error::invalid_input(format!("{bytes} bytes of payload an item: {MAX_PAYLOAD} at most")));
        }
        Ok(())
    }

    /// The name of the general protocol.
    fn over_name(&self) -> &'static str {
        self.over.map_or("none", |over| over.card().name)
    }
}

/// Bytes of [`Opening`].
pub(crate) const OPENING: usize = 32;

/// The first message of a run: terms, the sender's or the receiver's size, and how many items of the other
/// one it goes along with.
pub(crate) struct Opening {
    /// Whether this party sends.
    pub(crate) sends: bool,
    /// The announced size of its set.
    pub(crate) size: usize,
}

impl Opening {
    /// The message: role, method, adversary, rho, payload, size, the most that the peer may have, and the
    /// start of a hash of the protocol's name.
    pub(crate) fn to_bytes(&self, terms: &Terms, params: Params) -> [u8; OPENING] {
        let mut bytes = [0; OPENING];
        bytes[..4].copy_from_slice(&[self.sends.into(), terms.method as u8, terms.adversary as u8, params.rho as u8]);
        bytes[4..8].copy_from_slice(&(terms.payload as u32).to_le_bytes());
        bytes[8..12].copy_from_slice(&(self.size as u32).to_le_bytes());
        bytes[12..16].copy_from_slice(&(terms.most.min(MAX_ITEMS) as u32).to_le_bytes());
        bytes[16..].copy_from_slice(&blake3::hash(terms.over_name().as_bytes()).as_bytes()[..16]);
        bytes
    }

    /// The peer's size, if it wants the other side of the same, and each goes along with the other's size.
    pub(crate) fn peer(&self, terms: &Terms, params: Params, theirs: &[u8; OPENING], peer: PartyId) -> Result<usize> {
        let ours = self.to_bytes(terms, params);
        let differ = |field, ours: String, theirs: String| Err(Error::mismatch(field, ours, theirs).by(peer));
        let number =
            |message: &[u8; OPENING], at: usize| u32::from_le_bytes(*message[at..].first_chunk().expect("four bytes"));
        let role = |sends: u8| if sends == 1 { "sender" } else { "receiver" }.to_owned();
        let method = |n: u8| Method::ALL.get(usize::from(n)).map_or("unknown", |m| m.name()).to_owned();
        let adversary = |n: u8| {
            let all = [Adversary::SemiHonest, Adversary::Malicious];
            all.into_iter().find(|&a| a as u8 == n).map_or("unknown", Adversary::name).to_owned()
        };
        if theirs[0] != 1 - ours[0] {
            return differ("role", role(ours[0]), role(theirs[0]));
        }
        if theirs[1] != ours[1] {
            return differ("method", method(ours[1]), method(theirs[1]));
        }
        if theirs[2] != ours[2] {
            return differ("adversary", adversary(ours[2]), adversary(theirs[2]));
        }
        if theirs[3] != ours[3] {
            return differ("statistical parameter", ours[3].to_string(), theirs[3].to_string());
        }
        if theirs[4..8] != ours[4..8] {
            let bytes = |message: &[u8; OPENING]| number(message, 4).to_string();
            return differ("bytes of payload", bytes(&ours), bytes(theirs));
        }
        if theirs[16..] != ours[16..] {
            return differ("protocol below", self::name(terms), "another one".into());
        }
        let (size, most) = (number(theirs, 8), number(&ours, 12));
        if size > most {
            let limit = format!("{most} items at most here (`--most` takes more)");
            return differ("size of the peer's set", limit, format!("{size} items"));
        }
        let limit = number(theirs, 12);
        if number(&ours, 8) > limit {
            let theirs = format!("{limit} items at most at the peer (its `--most` takes more)");
            return differ("size of this party's set", format!("{} items", self.size), theirs);
        }
        Ok(size as usize)
    }
}

fn name(terms: &Terms) -> String {
    terms.over_name().to_owned()
}
