//! What a party and a relay say to each other before TLS begins: an opening, and an answer.
//!
//! An opening names a *room*, in which two connections meet, and a side of it. A room is a hash: it tells who
//! does not know the group and the pair nothing about them, and whoever knows it can take a place in the
//! room, and fails at the other's TLS.

use comity_core::{PartyId, SessionId};

/// A room's name: a hash of the group and the pair.
pub(crate) type Room = [u8; 32];

/// The first bytes of an opening.
const OPENS: [u8; 8] = *b"comity\x00r";

/// The first bytes of an answer.
const ANSWERS: [u8; 8] = *b"comity\x00R";

/// Bytes of an opening: the first ones, a side and a room.
pub(crate) const OPENING: usize = OPENS.len() + 1 + 32;

/// Bytes of an answer: the first ones, and a byte that says what.
pub(crate) const ANSWER: usize = ANSWERS.len() + 1;

/// A side of a pair: the party with the lower id receives the TLS handshake, and the other one begins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Higher,
}

/// The first message of a party to a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Knock {
    pub(crate) side: Side,
    pub(crate) room: Room,
}

/// The only message of a relay to a party. Behind [`Paired`](Answer::Paired) come the other's bytes; all
/// others are the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The other one is there.
    Paired,
    /// The other one did not come in the time that the relay gives.
    Alone,
    /// A later connection has this one's place.
    Replaced,
    /// There are as many as the relay carries, or as wait.
    Full,
    /// The relay ends.
    Ends,
}

impl Side {
    /// The side of this party, where the other one is `peer`.
    pub(crate) fn of(me: PartyId, peer: PartyId) -> Side {
        if me < peer { Side::Lower } else { Side::Higher }
    }
}

impl Knock {
    pub(crate) fn encode(&self) -> [u8; OPENING] {
        let mut bytes = [0; OPENING];
        bytes[..8].copy_from_slice(&OPENS);
        bytes[8] = match self.side {
            Side::Lower => 0,
            Side::Higher => 1,
        };
        bytes[9..].copy_from_slice(&self.room);
        bytes
    }

    /// The opening in these bytes; `None` if they are not an opening.
    pub(crate) fn decode(bytes: &[u8; OPENING]) -> Option<Knock> {
        let side = match (Knock::may_begin(bytes), bytes[8]) {
            (true, 0) => Side::Lower,
            (true, 1) => Side::Higher,
            _ => return None,
        };
        Some(Knock { side, room: *bytes[9..].first_chunk()? })
    }

    /// Whether these can be the first bytes of an opening.
    pub(crate) fn may_begin(bytes: &[u8]) -> bool {
        bytes.iter().zip(OPENS).all(|(byte, expected)| *byte == expected)
    }
}

impl Answer {
    const ALL: [Answer; 5] = [Answer::Paired, Answer::Alone, Answer::Replaced, Answer::Full, Answer::Ends];

    pub(crate) fn encode(self) -> [u8; ANSWER] {
        let mut bytes = [0; ANSWER];
        bytes[..8].copy_from_slice(&ANSWERS);
        bytes[8] = self as u8;
        bytes
    }

    /// The answer in these bytes; `None` if they are not an answer.
    pub(crate) fn decode(bytes: &[u8; ANSWER]) -> Option<Answer> {
        Answer::ALL.into_iter().find(|answer| answer.encode() == *bytes)
    }
}

/// The room of a fork in that of the connection that it is beside.
pub(crate) fn beside(room: &Room, fork: &[u8; 32]) -> Room {
    SessionId::derive("relay room of a fork v1", &[room, fork]).to_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_what_they_were() {
        for side in [Side::Lower, Side::Higher] {
            let knock = Knock { side, room: [7; 32] };
            assert_eq!(Knock::decode(&knock.encode()), Some(knock));
        }
        for (at, byte) in [(0, b'C'), (7, b'e'), (8, 2)] {
            let mut bytes = Knock { side: Side::Lower, room: [0; 32] }.encode();
            bytes[at] = byte;
            assert_eq!(Knock::decode(&bytes), None, "byte {at}");
        }
        for answer in Answer::ALL {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
        let mut bytes = Answer::Ends.encode();
        bytes[8] += 1;
        assert_eq!(Answer::decode(&bytes), None);
    }

    #[test]
    fn forks_have_rooms_of_their_own() {
        let rooms = [beside(&[1; 32], &[2; 32]), beside(&[1; 32], &[3; 32]), beside(&[2; 32], &[2; 32])];
        assert!(rooms[0] != rooms[1] && rooms[0] != rooms[2] && rooms[1] != rooms[2]);
    }
}
