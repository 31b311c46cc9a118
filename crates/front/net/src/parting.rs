//! The end of a connection on which this side spoke last.
//!
//! A system that closes a socket while bytes of the peer are unread, or gets some afterwards, resets the
//! connection, and throws away what the peer has no room for yet. A peer that is busy with what has come
//! before says that it is there ([`keep`](crate::keep)), and that is enough: it would lose the end of the
//! last message. So a thread hears the peer out, until that one closes, too.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use crate::socket::Socket;

/// The connections that are being heard out.
static PARTING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Waits until the bytes that this process's connections sent before they were dropped have reached their
/// peers, or the peers are gone. A process that ends right after its last run calls this last: otherwise
/// bytes may be lost. Returns at once if there are no such bytes; otherwise when the peers close or fall
/// silent, and after a quarter of an hour in any case.
pub fn settle() {
    let (parting, ended) = &PARTING;
    let left = parting.lock().unwrap_or_else(PoisonError::into_inner);
    drop(ended.wait_while(left, |left| *left > 0));
}

/// Ends a connection whose last bytes may not have reached the peer. Does not wait.
pub(crate) fn part(socket: &Arc<Socket>) {
    count(|left| left + 1);
    let kept = socket.clone();
    let run = move || {
        kept.hear_out();
        drop(kept);
        count(|left| left - 1);
    };
    // Without a thread it ends as if there were nothing to wait for.
    if thread::Builder::new().name("parting".into()).spawn(run).is_err() {
        count(|left| left - 1);
    }
}

fn count(change: impl FnOnce(usize) -> usize) {
    let (parting, ended) = &PARTING;
    let mut left = parting.lock().unwrap_or_else(PoisonError::into_inner);
    *left = change(*left);
    ended.notify_all();
}
