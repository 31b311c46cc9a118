//! When a message leaves: finds a party that says too early what it must keep to itself until it has heard something.
//!
//! No clock is asked. In the peer's place is a script, which says the first bytes of an honest run and
//! closes: so the party ends whatever it does, and what it has sent by then is all that it ever sends after
//! hearing these bytes.

use comity_channel::{Channel, Error, Recorded, Replay, Result};
use comity_core::Kind;

use crate::parties::Pair;

/// A number of bytes that no test has.
const LIMIT: usize = 1 << 28;

/// Asserts when a party sends each message. A message is given as its name, and the bytes that the party has
/// received and sent when the message leaves: with one byte less received, nothing leaves after those that it
/// has sent.
///
/// The party runs with its peer and then again and again, and must do the same each time (seed its
/// generators).
///
/// # Panics
/// If a message leaves earlier or later, or the honest run fails.
pub fn assert_waits(
    party: impl Fn(&mut dyn Channel) -> Result<()> + Sync,
    peer: impl FnOnce(&mut dyn Channel) -> Result<()> + Send,
    messages: &[(&str, usize, usize)],
) {
    let (heard, ()) = Pair::run(
        |ch| {
            let mut ch = Recorded::new(ch, LIMIT);
            party(&mut ch).expect("an honest peer");
            // What it does not wait for at all is still there.
            while ch.recv(&mut [0]).is_ok() {}
            ch.recorder().recording().received
        },
        |ch| peer(ch).expect("an honest party"),
    );
    for &(what, hears, said) in messages {
        let (sent, ended) = told(&heard[..hears - 1], &party);
        assert_eq!(
            sent.len(),
            said,
            "bytes sent before {what}, of whose {hears} bytes to wait for the last is missing"
        );
        assert!(matches!(ended, Err(Error { kind: Kind::Closed, .. })), "{what}");
        let (sent, _) = told(&heard[..hears], &party);
        assert!(sent.len() > said, "{what} waits for more than {hears} bytes");
    }
}

/// All bytes that a party sends to a peer that sends these bytes and then closes, and how the party ends.
pub fn told<T>(says: &[u8], party: impl FnOnce(&mut dyn Channel) -> Result<T>) -> (Vec<u8>, Result<T>) {
    let mut ch = Recorded::new(Replay::of_peer(says.to_vec()), LIMIT);
    let ended = party(&mut ch);
    (ch.recorder().recording().sent, ended)
}
