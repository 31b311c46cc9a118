//! `Poster`: a sending half that a thread of its own can have for a while.
//!
//! The thread is started for the first message that is posted, gets the half with the first one of several, and
//! gives it back when it is asked for. A message is copied once, into memory that is used again. What waits
//! for the thread is bounded: a message is taken while less than [`AHEAD`] bytes of earlier ones have not gone.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use comity_channel::{AHEAD, SendHalf};
use comity_core::{Error, Result};

use crate::socket::Socket;

/// Bytes of memory that are kept for the next messages.
const KEEP: usize = 4 << 20;

/// A sending half, here or with its thread.
pub(crate) struct Poster<S> {
    socket: Arc<Socket>,
    /// The half; `None` while the thread has it.
    half: Option<S>,
    thread: Option<Thread<S>>,
    /// Bytes that were posted and are not known to have gone.
    ahead: usize,
    /// The memory of messages that have gone, and how much it is.
    spare: (Vec<Vec<u8>>, usize),
}

/// The ways to the thread and back.
struct Thread<S> {
    to: Sender<Letter<S>>,
    back: Receiver<Reply<S>>,
}

/// What the thread is told, in this order.
enum Letter<S> {
    /// The half to send by.
    Half(S),
    /// A message to send.
    Bytes(Vec<u8>),
    /// To give the half back.
    Return,
}

/// What the thread answers.
enum Reply<S> {
    /// A message has gone, or its sending failed.
    Sent(Vec<u8>, Result<()>),
    /// The half.
    Half(S),
}

impl<S: SendHalf + 'static> Poster<S> {
    pub(crate) fn new(half: S, socket: Arc<Socket>) -> Poster<S> {
        Poster { socket, half: Some(half), thread: None, ahead: 0, spare: (Vec::new(), 0) }
    }

    /// The half, once posted bytes have gone.
    pub(crate) fn here(&mut self) -> Result<&mut S> {
        if self.half.is_none()
            && let Some(thread) = &self.thread
            && thread.to.send(Letter::Return).is_ok()
        {
            let mut result = Ok(());
            while self.half.is_none()
                && let Some(sent) = self.reply(true)
            {
                result = result.and(sent);
            }
            result?;
        }
        self.half.as_mut().ok_or_else(Error::closed)
    }

    /// The half, unless the thread has it.
    pub(crate) fn idle(&self) -> Option<&S> {
        self.half.as_ref()
    }

    /// Sends bytes on the thread, after the buffered ones. Waits only while it has [`AHEAD`] bytes or more.
    pub(crate) fn post(&mut self, message: &[u8]) -> Result<()> {
        while let Some(sent) = self.reply(self.ahead >= AHEAD) {
            sent?;
        }
        let (spare, kept) = &mut self.spare;
        let mut bytes = spare.pop().unwrap_or_default();
        *kept -= bytes.capacity();
        bytes.clear();
        bytes.extend_from_slice(message);
        let thread = match &self.thread {
            Some(thread) => thread,
            None => self.thread.insert(start()?),
        };
        self.ahead += bytes.len();
        let half = self.half.take().map(Letter::Half);
        half.into_iter()
            .chain([Letter::Bytes(bytes)])
            .try_for_each(|letter| thread.to.send(letter))
            .map_err(|_| Error::closed())
    }

    /// Takes the thread's next answer in, and perhaps waits for it: how a message was sent. `None` if there is no
    /// answer.
    fn reply(&mut self, wait: bool) -> Option<Result<()>> {
        let back = &self.thread.as_ref()?.back;
        match if wait { back.recv().ok()? } else { back.try_recv().ok()? } {
            Reply::Sent(bytes, sent) => {
                self.ahead -= bytes.len();
                let (spare, kept) = &mut self.spare;
                if *kept + bytes.capacity() <= KEEP {
                    *kept += bytes.capacity();
                    spare.push(bytes);
                }
                Some(sent)
            }
            Reply::Half(half) => {
                self.half = Some(half);
                Some(Ok(()))
            }
        }
    }
}

/// Starts a thread that sends the messages that it gets.
fn start<S: SendHalf + 'static>() -> Result<Thread<S>> {
    let (to, letters) = mpsc::channel();
    let (done, back) = mpsc::channel();
    let run = move || {
        let mut half: Option<S> = None;
        for letter in letters {
            let reply = match letter {
                Letter::Half(given) => {
                    half = Some(given);
                    continue;
                }
                Letter::Bytes(bytes) => {
                    let sent = half.as_mut().ok_or_else(Error::closed);
                    let sent = sent.and_then(|half| half.send(&bytes).and_then(|()| half.flush()));
                    Reply::Sent(bytes, sent)
                }
                Letter::Return => match half.take() {
                    Some(half) => Reply::Half(half),
                    None => continue,
                },
            };
            if done.send(reply).is_err() {
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
        let gone = self.thread.iter().flat_map(|thread| thread.back.try_iter());
        let gone: usize = gone.map(|reply| if let Reply::Sent(bytes, _) = reply { bytes.len() } else { 0 }).sum();
        if gone < self.ahead {
            self.socket.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::Mutex;
    use std::time::Duration;

    use comity_core::Kind;

    use super::*;
    use crate::limits::Limits;

    /// A half that waits until it may send each message, and notes what it sent.
    struct Gated {
        may: Receiver<Result<()>>,
        sent: Passed,
    }

    impl SendHalf for Gated {
        fn send(&mut self, bytes: &[u8]) -> Result<()> {
            self.may.recv().unwrap()?;
            self.sent.lock().unwrap().push(bytes[0]);
            Ok(())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// What gates let through.
    type Passed = Arc<Mutex<Vec<u8>>>;

    fn gated() -> (Poster<Gated>, Sender<Result<()>>, Passed) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        let socket = Socket::new(stream, address, Duration::from_secs(30), Limits::default());
        let ((gate, may), sent) = (mpsc::channel(), Passed::default());
        (Poster::new(Gated { may, sent: sent.clone() }, Arc::new(socket)), gate, sent)
    }

    #[test]
    fn what_is_ahead_is_bounded_and_goes_in_order() {
        let (mut poster, gate, sent) = gated();
        // Nothing may go yet, and nobody waits.
        (0..4).for_each(|i| poster.post(&vec![i; AHEAD / 4]).unwrap());
        assert_eq!(poster.ahead, AHEAD);
        assert!(poster.idle().is_none());
        // The next one waits for the first.
        gate.send(Ok(())).unwrap();
        poster.post(&vec![4; 3 * AHEAD]).unwrap();
        assert_eq!((poster.ahead, &sent.lock().unwrap()[..1]), (AHEAD / 4 * 3 + 3 * AHEAD, &[0][..]));
        (0..4).for_each(|_| gate.send(Ok(())).unwrap());
        poster.here().unwrap();
        assert_eq!((poster.ahead, &sent.lock().unwrap()[..]), (0, &[0, 1, 2, 3, 4][..]));
        // Memory is kept, and not more than a bound.
        assert!((AHEAD..=KEEP).contains(&poster.spare.1), "{} bytes", poster.spare.1);
        assert_eq!(poster.spare.0.iter().map(Vec::capacity).sum::<usize>(), poster.spare.1);
    }

    #[test]
    fn an_error_of_the_thread_comes_with_the_next_call() {
        let (mut poster, gate, _) = gated();
        poster.post(&[1]).and_then(|()| poster.post(&[2])).unwrap();
        gate.send(Err(Error::closed())).unwrap();
        gate.send(Ok(())).unwrap();
        assert!(matches!(poster.here().map(drop), Err(Error { kind: Kind::Closed, .. })));
        // The half is here again.
        assert!(poster.idle().is_some() && poster.ahead == 0);
    }
}
