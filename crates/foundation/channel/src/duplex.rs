//! `exchange` for channels that have no better way: a thread sends while the caller's thread receives.

use std::thread;

use comity_core::{Error, Kind, Result};

use crate::channel::{RecvHalf, SendHalf};

/// Sends `out` on one half while the other fills `into`. Costs the start of a thread, some 10 to 20 µs.
///
/// # Errors
///
/// The receiver's error if it says more than that the peer has gone, else the sender's. A receiving half that
/// fails must make its sending half fail too; otherwise that one waits for a peer that has given up.
pub fn duplex<'a>(
    (mut sending, mut receiving): (Box<dyn SendHalf + 'a>, Box<dyn RecvHalf + 'a>),
    out: &[u8],
    into: &mut [u8],
) -> Result<()> {
    thread::scope(|scope| {
        let sender = scope.spawn(move || sending.send(out).and_then(|()| sending.flush()));
        let received = receiving.recv(into);
        let sent = match sender.join() {
            Ok(sent) => sent,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        match received {
            Ok(()) | Err(Error { kind: Kind::Closed, .. }) => sent.and(received),
            Err(error) => Err(error),
        }
    })
}
