//! Keepers: a thread a connection, which says that this side is there while it says nothing else, and ends
//! the connection when the run is over before its time.
//!
//! A side that has sent nothing for [`IDLE`] sends an empty frame (on TLS, an empty chunk). It follows from
//! the time since the last bytes alone, which whoever sees the line knows: it tells nothing of secrets.
//! Nothing answers it, and the receiver drops it wherever it stands between two messages, so a side may
//! compute for hours and read nothing meanwhile. The cost is 16 bytes each time (26 with TLS).

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use comity_core::{Error, Result};

use crate::socket::{Socket, TICK};

/// The time after which a side that says nothing says that it is there.
pub(crate) const IDLE: Duration = Duration::from_secs(5);

/// A connection that is kept.
pub(crate) trait Kept: Send + Sync + 'static {
    fn socket(&self) -> &Socket;

    /// Says that this side is there, unless it is just saying something else. Waits for nobody.
    fn say_alive(&self);
}

/// Keeps a connection as long as it is there.
pub(crate) fn keep(connection: &Arc<impl Kept>) -> Result<()> {
    let connection = Arc::downgrade(connection);
    let started = thread::Builder::new().name("keeper".into()).spawn(move || run(&connection));
    started.map(drop).map_err(|error| Error::system("starting a thread that keeps a connection", error))
}

fn run(connection: &Weak<impl Kept>) {
    let mut idle: Option<Idle> = None;
    while let Some(connection) = connection.upgrade() {
        let socket = connection.socket();
        if socket.limits.check().is_err() {
            // Whoever waits or computes meets the reason at its next step.
            return socket.give_up();
        }
        let (said, now) = (socket.said(), socket.limits.now.get());
        let begun = idle.get_or_insert(Idle { said, since: now, looked: now });
        if begun.is_over(said, now) {
            connection.say_alive();
            idle = Some(Idle { said: socket.said(), since: now, looked: now });
        }
        drop(connection);
        thread::park_timeout(TICK);
    }
}

/// The time since this side said something.
struct Idle {
    said: u64,
    since: Instant,
    /// The last look. Bytes that were sent since then count as sent right after it.
    looked: Instant,
}

impl Idle {
    /// Whether it is time to say something, when `said` pieces have been sent by now.
    fn is_over(&mut self, said: u64, now: Instant) -> bool {
        if said != self.said {
            (self.said, self.since) = (said, self.looked);
        }
        self.looked = now;
        now.saturating_duration_since(self.since) >= IDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_nothing_for_five_seconds_says_that_it_is_there() {
        let start = Instant::now();
        let mut idle = Idle { said: 0, since: start, looked: start };
        let look = |(at, said, over)| {
            assert_eq!(idle.is_over(said, start + Duration::from_secs(at)), over, "{said} said at {at} s");
        };
        [(4, 0, false), (5, 0, true), (6, 1, false), (9, 1, false), (10, 1, true), (11, 2, false), (17, 3, true)]
            .into_iter()
            .for_each(look);
    }
}
