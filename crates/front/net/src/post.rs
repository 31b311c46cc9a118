//! `Poster`: a sending half that also sends on a thread of its own.
//!
//! What is posted goes from the caller's memory as far as the system takes it at once ([`Half::at_once`]).
//! The rest is copied once, into memory that is used again, and goes to the thread, which is started for the
//! first one; what is posted before the thread is through goes there, too. What waits for the thread is bounded:
//! a message is taken while less than [`AHEAD`] bytes of earlier ones have not gone.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use comity_channel::{AHEAD, SendHalf};
use comity_core::{Error, Result};

/// Bytes of memory that are kept for the next messages.
const KEEP: usize = 4 << 20;

/// A half that can be asked to send without a wait.
pub(crate) trait Half: SendHalf {
    /// Sends as much of a message as goes at once: the number of its bytes that are done with, and the number of
    /// those that are kept and go with the next flush. By default nothing goes so.
    fn at_once(&mut self, bytes: &[u8]) -> Result<(usize, usize)> {
        let _ = bytes;
        Ok((0, 0))
    }
}

/// A sending half, here and with its thread.
pub(crate) struct Poster<S> {
    /// Ends the connection, so that a thread that sends does not wait for the peer.
    give_up: Box<dyn Fn() + Send>,
    /// The thread has it locked while it sends.
    half: Arc<Mutex<S>>,
    thread: Option<Thread>,
    /// Messages that the thread has and is not known to be through with, and their bytes.
    waiting: usize,
    ahead: usize,
    /// The memory of messages that have gone, and how much it is.
    spare: (Vec<Vec<u8>>, usize),
}

/// The ways to the thread and back.
struct Thread {
    to: Sender<Letter>,
    back: Receiver<(Letter, Result<()>)>,
}

/// A message to send, and the number of bytes that the half keeps and that go with it.
struct Letter {
    bytes: Vec<u8>,
    kept: usize,
}

impl Letter {
    fn len(&self) -> usize {
        self.bytes.len() + self.kept
    }
}

impl<S: Half + 'static> Poster<S> {
    /// A poster of a half whose connection `give_up` ends.
    pub(crate) fn new(half: S, give_up: impl Fn() + Send + 'static) -> Poster<S> {
        let half = Arc::new(Mutex::new(half));
        Poster { give_up: Box::new(give_up), half, thread: None, waiting: 0, ahead: 0, spare: (Vec::new(), 0) }
    }

    /// The half, once posted bytes have gone.
    pub(crate) fn here(&mut self) -> Result<MutexGuard<'_, S>> {
        let mut result = Ok(());
        while self.waiting > 0 {
            // A thread that ended answers no more.
            result = result.and(self.reply(true).ok_or_else(Error::closed)?);
        }
        result?;
        Ok(lock(&self.half))
    }

    /// The half, unless a message is under way.
    pub(crate) fn idle(&self) -> Option<MutexGuard<'_, S>> {
        (self.waiting == 0).then(|| lock(&self.half))
    }

    /// Sends bytes, after the buffered ones: at once as far as they go, and the rest on the thread. Waits only while it
    /// has [`AHEAD`] bytes or more.
    pub(crate) fn post(&mut self, message: &[u8]) -> Result<()> {
        while let Some(sent) = self.reply(self.ahead >= AHEAD) {
            sent?;
        }
        let (gone, kept) = match self.idle() {
            Some(mut half) => half.at_once(message)?,
            None => (0, 0),
        };
        let rest = &message[gone..];
        if rest.is_empty() && kept == 0 && self.waiting == 0 {
            return Ok(());
        }
        let (spare, memory) = &mut self.spare;
        let mut bytes = spare.pop().unwrap_or_default();
        *memory -= bytes.capacity();
        bytes.clear();
        bytes.extend_from_slice(rest);
        let thread = match &self.thread {
            Some(thread) => thread,
            None => self.thread.insert(start(self.half.clone())?),
        };
        let letter = Letter { bytes, kept };
        self.ahead += letter.len();
        self.waiting += 1;
        thread.to.send(letter).map_err(|_| Error::closed())
    }

    /// Takes the thread's next answer in, and perhaps waits for it: how a message was sent. `None` if there is no
    /// answer.
    fn reply(&mut self, wait: bool) -> Option<Result<()>> {
        let back = &self.thread.as_ref()?.back;
        let (letter, sent) = if wait { back.recv().ok()? } else { back.try_recv().ok()? };
        self.ahead -= letter.len();
        self.waiting -= 1;
        let (spare, memory) = &mut self.spare;
        if *memory + letter.bytes.capacity() <= KEEP {
            *memory += letter.bytes.capacity();
            spare.push(letter.bytes);
        }
        Some(sent)
    }
}

fn lock<S>(half: &Mutex<S>) -> MutexGuard<'_, S> {
    half.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread that sends the messages that it gets.
fn start<S: Half + 'static>(half: Arc<Mutex<S>>) -> Result<Thread> {
    let (to, letters) = mpsc::channel::<Letter>();
    let (done, back) = mpsc::channel();
    let run = move || {
        for letter in letters {
            let mut half = lock(&half);
            let sent = half.send(&letter.bytes).and_then(|()| half.flush());
            // The other side may want it when it has the answer.
            drop(half);
            if done.send((letter, sent)).is_err() {
                return;
            }
        }
    };
    let started = thread::Builder::new().name("sender".into()).spawn(run);
    started.map_err(|error| Error::system("starting a thread that sends", error))?;
    Ok(Thread { to, back })
}

impl<S: Half + 'static> SendHalf for Poster<S> {
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
        if gone.count() < self.waiting {
            (self.give_up)();
        }
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Kind;

    use super::*;

    /// A half that waits until it may send each message, and notes what it sent. At once it takes `room` bytes.
    struct Gated {
        may: Receiver<Result<()>>,
        sent: Passed,
        room: usize,
        kept: Vec<u8>,
    }

    impl SendHalf for Gated {
        fn send(&mut self, bytes: &[u8]) -> Result<()> {
            self.may.recv().unwrap()?;
            let mut sent = self.sent.lock().unwrap();
            sent.extend(self.kept.drain(..));
            sent.extend(bytes.first());
            Ok(())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Half for Gated {
        /// In parts of two bytes, of which one may be kept.
        fn at_once(&mut self, bytes: &[u8]) -> Result<(usize, usize)> {
            if self.room == 0 {
                return Ok((0, 0));
            }
            let now = bytes.len().min(self.room).next_multiple_of(2).min(bytes.len());
            let (gone, kept) = bytes[..now].split_at(now.min(self.room));
            self.room -= gone.len();
            self.kept.extend_from_slice(kept);
            self.sent.lock().unwrap().extend_from_slice(gone);
            Ok((now, kept.len()))
        }
    }

    /// What gates let through.
    type Passed = Arc<Mutex<Vec<u8>>>;

    fn gated(room: usize) -> (Poster<Gated>, Sender<Result<()>>, Passed) {
        let ((gate, may), sent) = (mpsc::channel(), Passed::default());
        (Poster::new(Gated { may, sent: sent.clone(), room, kept: Vec::new() }, || ()), gate, sent)
    }

    /// What does not go at once follows, and nothing overtakes it.
    #[test]
    fn the_rest_of_what_goes_at_once_comes_before_what_follows() {
        let (mut poster, gate, sent) = gated(7);
        poster.post(&[1, 2, 3, 4]).unwrap();
        assert!(poster.idle().is_some() && poster.thread.is_none() && sent.lock().unwrap()[..] == [1, 2, 3, 4]);
        // One byte is kept, and one is left.
        poster.post(&[5, 6, 7, 8, 9]).unwrap();
        assert_eq!((poster.waiting, poster.ahead, &sent.lock().unwrap()[..]), (1, 2, &[1, 2, 3, 4, 5, 6, 7][..]));
        poster.post(&[10]).unwrap();
        assert_eq!((poster.waiting, poster.ahead), (2, 3));
        (0..2).for_each(|_| gate.send(Ok(())).unwrap());
        assert_eq!(poster.here().unwrap().room, 0);
        assert_eq!((poster.ahead, &sent.lock().unwrap()[7..]), (0, &[8, 9, 10][..]));
    }

    #[test]
    fn what_is_ahead_is_bounded_and_goes_in_order() {
        let (mut poster, gate, sent) = gated(0);
        // Nothing may go yet, and nobody waits.
        (0..4).for_each(|i| poster.post(&vec![i; AHEAD / 4]).unwrap());
        assert_eq!(poster.ahead, AHEAD);
        assert!(poster.idle().is_none());
        // The next one waits for the first.
        gate.send(Ok(())).unwrap();
        poster.post(&vec![4; 3 * AHEAD]).unwrap();
        assert_eq!((poster.ahead, &sent.lock().unwrap()[..1]), (AHEAD / 4 * 3 + 3 * AHEAD, &[0][..]));
        (0..4).for_each(|_| gate.send(Ok(())).unwrap());
        poster.here().map(drop).unwrap();
        assert_eq!((poster.ahead, &sent.lock().unwrap()[..]), (0, &[0, 1, 2, 3, 4][..]));
        // Memory is kept, and not more than a bound.
        assert!((AHEAD..=KEEP).contains(&poster.spare.1), "{} bytes", poster.spare.1);
        assert_eq!(poster.spare.0.iter().map(Vec::capacity).sum::<usize>(), poster.spare.1);
    }

    #[test]
    fn an_error_of_the_thread_comes_with_the_next_call() {
        let (mut poster, gate, _) = gated(0);
        poster.post(&[1]).and_then(|()| poster.post(&[2])).unwrap();
        gate.send(Err(Error::closed())).unwrap();
        gate.send(Ok(())).unwrap();
        assert!(matches!(poster.here().map(drop), Err(Error { kind: Kind::Closed, .. })));
        // The half is here again.
        assert!(poster.idle().is_some() && poster.ahead == 0);
    }
}
