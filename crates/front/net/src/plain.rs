//! Plain TCP: frames on a socket.

use std::io::IoSlice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_channel::{RecvHalf, SendHalf};
use comity_core::{Error, Kind, Result};

use crate::frame::{FrameReader, FrameWriter, MAX_PAYLOAD, Numbers, Sink};
use crate::keep::Kept;
use crate::post::{Half, Poster};
use crate::socket::{Incoming, Socket};
use crate::tcp;

/// The last bytes to one that speaks something else, before it closes.
const FAREWELL: &[u8] = b"comity: plain text is spoken here\n";

/// Frames each way over one socket.
pub(crate) struct Plain {
    pub(crate) line: Arc<Line>,
    pub(crate) sending: Poster<Sending>,
    pub(crate) receiving: Receiving,
}

/// The socket, to which this side's frames and its keeper's go, one after another.
pub(crate) struct Line {
    pub(crate) socket: Arc<Socket>,
    out: Mutex<Out>,
}

/// The order of frames.
struct Out {
    numbers: Numbers,
    /// A keep-alive that is not sent yet, or the rest of it, or of a frame that went as far as it did at once.
    left: Vec<u8>,
}

impl Plain {
    pub(crate) fn new(socket: Socket) -> Plain {
        let socket = Arc::new(socket);
        let out = Out { numbers: Numbers::default(), left: Vec::new() };
        let line = Arc::new(Line { socket: socket.clone(), out: Mutex::new(out) });
        let ending = socket.clone();
        let give_up = move || ending.give_up();
        Plain {
            sending: Poster::new(Sending { line: line.clone(), writer: FrameWriter::new() }, give_up),
            receiving: Receiving { incoming: Incoming::new(socket.clone()), socket, reader: FrameReader::new() },
            line,
        }
    }
}

impl Sink for &Line {
    fn frame(&mut self, payload: [&[u8]; 2]) -> Result<()> {
        let mut out = self.out();
        let header = out.numbers.header(payload);
        let [first, second] = payload.map(IoSlice::new);
        let sent = self.socket.write(&mut [IoSlice::new(&out.left), IoSlice::new(&header), first, second]);
        out.left.clear();
        sent
    }
}

impl Line {
    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a frame as far as it goes at once, and keeps the rest, whose length it returns.
    fn frame_at_once(&self, payload: &[u8]) -> Result<usize> {
        let mut out = self.out();
        let header = out.numbers.header([payload, &[]]);
        let parts = [&out.left, &header[..], payload];
        let mut sent = self.socket.write_at_once(&parts.map(IoSlice::new))?;
        let mut left = Vec::new();
        for part in parts {
            let (_, rest) = part.split_at(sent.min(part.len()));
            sent = sent.saturating_sub(part.len());
            left.extend_from_slice(rest);
        }
        out.left = left;
        Ok(out.left.len())
    }

    /// Sends what is left.
    fn finish(&self) -> Result<()> {
        let mut out = self.out();
        if out.left.is_empty() {
            return Ok(());
        }
        let sent = self.socket.write(&mut [IoSlice::new(&out.left)]);
        out.left.clear();
        sent
    }
}

impl Kept for Line {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn say_alive(&self) {
        let Ok(mut out) = self.out.try_lock() else { return };
        if out.left.is_empty() {
            let header = out.numbers.header([&[], &[]]);
            out.left.extend(header);
        }
        let sent = self.socket.try_write(&out.left);
        out.left.drain(..sent);
    }
}

/// The sending direction.
pub(crate) struct Sending {
    line: Arc<Line>,
    writer: FrameWriter,
}

impl Sending {
    /// The number of bytes that are not yet flushed.
    pub(crate) fn buffered(&self) -> usize {
        self.writer.buffered()
    }
}

impl SendHalf for Sending {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.send(&mut &*self.line, bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.writer.flush(&mut &*self.line)?;
        self.line.finish()
    }
}

impl Half for Sending {
    fn at_once(&mut self, bytes: &[u8]) -> Result<(usize, usize)> {
        let (mut gone, mut kept) = (0, 0);
        // What is buffered would have to go before.
        if Socket::CAN_WRITE_AT_ONCE && self.writer.buffered() == 0 {
            for payload in bytes.chunks(MAX_PAYLOAD) {
                kept = self.line.frame_at_once(payload)?;
                gone += payload.len();
                if kept > 0 {
                    break;
                }
            }
        }
        Ok((gone, kept))
    }
}

/// The receiving direction.
pub(crate) struct Receiving {
    socket: Arc<Socket>,
    incoming: Incoming,
    reader: FrameReader,
}

impl Receiving {
    /// Bounds the wait for the peer's next messages.
    pub(crate) fn expect(&mut self, messages: u32) {
        self.reader.expect(messages);
    }
}

impl RecvHalf for Receiving {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.reader.recv(&mut self.incoming, bytes).inspect_err(|error| {
            if matches!(error, Error { kind: Kind::Malformed(_) | Kind::Stranger(_), .. }) && self.reader.is_new() {
                tcp::part(&self.socket.stream, FAREWELL);
            }
            self.socket.give_up();
        })
    }
}
