//! `Poster`: a sending half that a thread of its own can have for a while.
//!
//! The thread is started for the first message that is posted, and waits for the next one. A message is
//! copied once, into memory that is used again: one message is held for each connection, and not more.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use comity_channel::SendHalf;
use comity_core::{Error, Result};

use crate::socket::Socket;

/// Bytes of memory that are kept for the next message.
const KEEP: usize = 4 << 20;

/// A sending half, here or with its thread.
pub(crate) struct Poster<S> {
    socket: Arc<Socket>,
    /// The half; `None` while the thread has it.
    half: Option<S>,
    thread: Option<Thread<S>>,
    /// The memory of the last message.
    spare: Vec<u8>,
}

/// The ways to the thread and back.
struct Thread<S> {
    to: Sender<Letter<S>>,
    back: Receiver<(Letter<S>, Result<()>)>,
}

/// A message to send, and the half to send it by.
struct Letter<S> {
    half: S,
    bytes: Vec<u8>,
}

impl<S: SendHalf + 'static> Poster<S> {
    pub(crate) fn new(half: S, socket: Arc<Socket>) -> Poster<S> {
        Poster { socket, half: Some(half), thread: None, spare: Vec::new() }
    }

    /// The half, once posted bytes have gone.
    pub(crate) fn here(&mut self) -> Result<&mut S> {
        if self.half.is_none()
            && let Some(thread) = &self.thread
            && let Ok((letter, sent)) = thread.back.recv()
        {
            self.half = Some(letter.half);
            if letter.bytes.capacity() <= KEEP {
                self.spare = letter.bytes;
            }
            sent?;
        }
        self.half.as_mut().ok_or_else(Error::closed)
    }

    /// The half, unless the thread has it.
    pub(crate) fn idle(&self) -> Option<&S> {
        self.half.as_ref()
    }

    /// Sends bytes on the thread, after the buffered ones. Waits only while it has an earlier message.
    pub(crate) fn post(&mut self, message: &[u8]) -> Result<()> {
        self.here()?;
        let thread = match &self.thread {
            Some(thread) => thread,
            None => self.thread.insert(start()?),
        };
        let mut bytes = std::mem::take(&mut self.spare);
        bytes.clear();
        bytes.extend_from_slice(message);
        let half = self.half.take().ok_or_else(Error::closed)?;
        thread.to.send(Letter { half, bytes }).map_err(|_| Error::closed())
    }
}

/// Starts a thread that sends the messages that it gets.
fn start<S: SendHalf + 'static>() -> Result<Thread<S>> {
    let (to, letters) = mpsc::channel::<Letter<S>>();
    let (done, back) = mpsc::channel();
    let run = move || {
        for Letter { mut half, bytes } in letters {
            let sent = half.send(&bytes).and_then(|()| half.flush());
            if done.send((Letter { half, bytes }, sent)).is_err() {
                return;
            }
        }
    };
    let started = thread::Builder::new().name("sender".into()).spawn(run);
    started.map_err(|error| Error::system("starting a thread that sends", error))?;
    Ok(Thread { to, back })
}

impl<S: SendHalf + 'static> SendHalf for Poster<S> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.here()?.send(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.here()?.flush()
    }
}

impl<S> Drop for Poster<S> {
    /// Gives up bytes that have not gone by now, so that the thread ends, whether the peer receives or not.
    fn drop(&mut self) {
        if self.half.is_none() && self.thread.as_ref().is_some_and(|thread| thread.back.try_recv().is_err()) {
            self.socket.give_up();
        }
    }
}
