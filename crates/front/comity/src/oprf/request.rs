//! What a client and a server say to each other before queries are asked: a request, and what becomes of it.

use comity_core::{Error, Result, SessionId};
use comity_protocol::Party;

/// A request of a client.
pub(super) struct Request {
    pub(super) queries: u64,
    /// Whether they are prepared and kept, and not asked now.
    pub(super) ahead: bool,
    /// The lot that they come from, and the client's next batch of it.
    pub(super) lot: Option<(SessionId, u32)>,
}

impl Request {
    pub(super) const BYTES: usize = 8 + 1 + 1 + 32 + 4;

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (id, next) = self.lot.map_or(([0; 32], 0), |(id, next)| (id.to_bytes(), next));
        let mut bytes = self.queries.to_le_bytes().to_vec();
        bytes.extend([u8::from(self.ahead), u8::from(self.lot.is_some())]);
        bytes.extend(id);
        bytes.extend(next.to_le_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8; Request::BYTES]) -> Result<Request> {
        let wrong = || Error::malformed("the client's request does not decode");
        let (queries, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
        let (flags, rest) = rest.split_first_chunk::<2>().ok_or_else(wrong)?;
        let (id, next) = rest.split_first_chunk().ok_or_else(wrong)?;
        let next = u32::from_le_bytes(*next.first_chunk().ok_or_else(wrong)?);
        let (ahead, lot) = match flags {
            [0, 0] => (false, None),
            [1, 0] => (true, None),
            [0, 1] => (false, Some((SessionId::new(*id), next))),
            _ => return Err(wrong()),
        };
        Ok(Request { queries: u64::from_le_bytes(*queries), ahead, lot })
    }
}

/// A server's answer to a request.
pub(super) enum Verdict {
    /// Go on, from this batch of the lot.
    Granted(u32),
    /// The client may ask only this many more queries.
    Limited(u64),
    /// The lot goes on at this batch here, and so has too little left; beyond its end if it is not there at
    /// all. Another request may follow.
    Behind(u32),
    /// No queries are prepared here.
    NoneAhead,
    /// Nothing, and never again: a session with this client ended in misbehaviour.
    Barred,
}

impl Verdict {
    pub(super) const BYTES: usize = 9;

    pub(super) fn to_bytes(&self) -> [u8; Verdict::BYTES] {
        let (kind, number) = match *self {
            Verdict::Granted(next) => (0, u64::from(next)),
            Verdict::Limited(left) => (1, left),
            Verdict::Behind(next) => (2, u64::from(next)),
            Verdict::Barred => (3, 0),
            Verdict::NoneAhead => (4, 0),
        };
        let mut bytes = [kind; Verdict::BYTES];
        bytes[1..].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8; Verdict::BYTES]) -> Result<Verdict> {
        let number = u64::from_le_bytes(*bytes.last_chunk().expect("eight bytes"));
        match (bytes[0], u32::try_from(number)) {
            (0, Ok(next)) => Ok(Verdict::Granted(next)),
            (1, _) => Ok(Verdict::Limited(number)),
            (2, Ok(next)) => Ok(Verdict::Behind(next)),
            (3, _) => Ok(Verdict::Barred),
            (4, _) => Ok(Verdict::NoneAhead),
            _ => Err(Error::malformed("the server's answer to a request does not decode")),
        }
    }
}

/// An answer to a request that does not end the session.
pub(super) enum Answer {
    /// The request is granted, from this batch of the lot on.
    From(u32),
    /// The lot goes on at this batch there: another request is wanted.
    Behind(u32),
}

/// Asks for queries.
pub(super) fn granted(me: &mut Party<'_, '_>, request: &Request) -> Result<Answer> {
    let (_, ch) = me.net.pair()?;
    ch.send(&request.to_bytes())?;
    let mut bytes = [0; Verdict::BYTES];
    ch.recv(&mut bytes)?;
    match Verdict::read(&bytes)? {
        Verdict::Granted(from) => Ok(Answer::From(from)),
        Verdict::Behind(next) => Ok(Answer::Behind(next)),
        Verdict::Limited(left) => Err(Error::invalid_input(format!(
            "the server allows this client {left} more queries, and it asks {}: ask for fewer keys, or ask the \
                server's owner for more queries",
            request.queries
        ))),
        Verdict::Barred => Err(Error::invalid_input(
            "the server does not serve this client any more: a session with it ended in misbehaviour. Its owner knows which (S/asked)",
        )),
        Verdict::NoneAhead => Err(Error::invalid_input("the server keeps no prepared queries: ask without the store")),
    }
}
