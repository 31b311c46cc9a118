//! What the parties speak over: it counts bytes, and how long the longest chain of messages is.
//!
//! Counting how often a party waits would take bytes that merely travel in pieces for answers. Here each byte
//! has a depth: one more than that of the deepest byte which its sender had read by then. The rounds of a run
//! are the depth of its deepest byte: the number of messages each of which can only be sent when the one
//! before has arrived.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use comity_channel::{Channel, Error, RecvHalf, Result, SendHalf};

/// Depths of the bytes under way, in runs of equal depth: how many, and how deep.
type Direction = Arc<Mutex<VecDeque<(u64, u64)>>>;

/// One party's end of the wire. What goes over halves of it is not counted: protocols of OT do not split a channel.
pub(crate) struct Wire {
    inner: Box<dyn Channel>,
    /// The depths of the bytes that this side sent and the other one has not read yet.
    out: Direction,
    into: Direction,
    /// Bytes sent.
    pub(super) sent: u64,
    /// The depth of the deepest byte that was sent or read here.
    pub(super) depth: u64,
    /// The depth of the deepest byte that was read here.
    heard: u64,
}

/// Both directions between two parties, for [`Wire::new`].
#[derive(Clone, Default)]
pub(super) struct Line([Direction; 2]);

impl Wire {
    /// The end of party 0 or 1.
    pub(super) fn new(inner: Box<dyn Channel>, line: &Line, party: usize) -> Wire {
        let [mut out, mut into] = line.0.clone();
        if party == 1 {
            std::mem::swap(&mut out, &mut into);
        }
        Wire { inner, out, into, sent: 0, depth: 0, heard: 0 }
    }

    /// Counts from zero again. Nothing may be under way, and the peer does the same before anything is.
    pub(super) fn restart(&mut self) {
        (self.sent, self.depth, self.heard) = (0, 0, 0);
    }

    /// Counts bytes before they are sent, so that the peer finds them counted.
    fn sending(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.sent += bytes as u64;
        let depth = self.heard + 1;
        self.depth = self.depth.max(depth);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match out.back_mut() {
            Some(last) if last.1 == depth => last.0 += bytes as u64,
            _ => out.push_back((bytes as u64, depth)),
        }
    }

    /// Counts bytes after they were read.
    fn read(&mut self, bytes: usize) {
        let mut left = bytes as u64;
        let mut into = self.into.lock().unwrap_or_else(PoisonError::into_inner);
        while left > 0 {
            let Some(first) = into.front_mut() else { return };
            self.heard = self.heard.max(first.1);
            let taken = left.min(first.0);
            left -= taken;
            first.0 -= taken;
            if first.0 == 0 {
                into.pop_front();
            }
        }
        self.depth = self.depth.max(self.heard);
    }
}

impl Channel for Wire {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.sending(bytes.len());
        self.inner.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.inner.recv(bytes)?;
        self.read(bytes.len());
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.sending(bytes.len());
        self.inner.post(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        self.inner.split()
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.sending(out.len());
        self.inner.exchange(out, into)?;
        self.read(into.len());
        Ok(())
    }

    fn fork(&mut self, _: &str) -> Result<Box<dyn Channel>> {
        Err(Error::invalid_input("a measured channel does not fork"))
    }
}

#[cfg(test)]
mod tests {
    use comity_channel::memory;

    use super::*;

    fn pair() -> [Wire; 2] {
        let line = Line::default();
        let (a, b) = memory::pair();
        [Wire::new(Box::new(a), &line, 0), Wire::new(Box::new(b), &line, 1)]
    }

    #[test]
    fn a_message_in_pieces_is_one_round_and_an_answer_another() {
        let [mut a, mut b] = pair();
        for piece in [3, 1, 4] {
            a.send(&vec![7; piece]).unwrap();
            a.flush().unwrap();
            b.recv(&mut vec![0; piece]).unwrap();
            // Pieces of an answer between the pieces of the question.
            b.send(&[1]).unwrap();
        }
        a.recv(&mut [0; 2]).unwrap();
        assert_eq!([(a.sent, a.depth), (b.sent, b.depth)], [(8, 2), (3, 2)]);
        // What follows on an answer is deeper, also when not all of the answer was read.
        a.send(&[1]).unwrap();
        a.flush().unwrap();
        b.recv(&mut [0]).unwrap();
        assert_eq!((a.depth, b.depth), (3, 3));
        a.recv(&mut [0]).unwrap();
        let mut got = [0];
        std::thread::scope(|scope| {
            scope.spawn(|| b.exchange(&[9], &mut [0]).unwrap());
            a.exchange(&[8], &mut got).unwrap();
        });
        assert_eq!((a.depth, b.depth, got), (4, 4, [9]), "both at once are one round");
        a.restart();
        b.restart();
        b.send(&[1]).unwrap();
        assert_eq!([(a.sent, a.depth), (b.sent, b.depth)], [(0, 0), (1, 1)]);
    }
}
