//! Plain TCP: frames on a socket.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use comity_channel::{RecvHalf, SendHalf};
use comity_core::{Error, Kind, Result};

use crate::frame::{FrameReader, FrameWriter};
use crate::post::Poster;
use crate::tcp::{self, Incoming};

/// The last bytes to one that speaks something else, before it closes.
const FAREWELL: &[u8] = b"comity: plain text is spoken here\n";

/// Frames each way over one socket.
pub(crate) struct Plain {
    pub(crate) socket: Arc<Socket>,
    pub(crate) sending: Poster<Sending>,
    pub(crate) receiving: Receiving,
}

/// A connected socket, and what errors say about it.
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) timeout: Duration,
}

impl Socket {
    pub(crate) fn incoming(&self) -> Incoming<'_> {
        Incoming { stream: &self.stream, peer: self.peer, timeout: self.timeout }
    }

    /// Gives the connection up after an error, so that neither the peer nor a thread of ours that sends meanwhile
    /// waits for what will not come.
    pub(crate) fn give_up(&self) {
        // A socket that cannot be shut down is closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    pub(crate) fn sending(&self, error: std::io::Error) -> Error {
        Error::io(format!("sending to {}", self.peer), error)
    }
}

impl Plain {
    pub(crate) fn new(socket: Socket) -> Plain {
        let socket = Arc::new(socket);
        Plain {
            sending: Poster::new(Sending { socket: socket.clone(), writer: FrameWriter::new() }, socket.clone()),
            receiving: Receiving { socket: socket.clone(), reader: FrameReader::new() },
            socket,
        }
    }
}

/// The sending direction.
pub(crate) struct Sending {
    socket: Arc<Socket>,
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
        self.writer.send(&mut &self.socket.stream, bytes).map_err(|error| self.socket.sending(error))
    }

    fn flush(&mut self) -> Result<()> {
        self.writer.flush(&mut &self.socket.stream).map_err(|error| self.socket.sending(error))
    }
}

/// The receiving direction.
pub(crate) struct Receiving {
    socket: Arc<Socket>,
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
        self.reader.recv(&mut self.socket.incoming(), bytes).inspect_err(|error| {
            if matches!(error, Error { kind: Kind::Malformed(_) | Kind::Stranger(_), .. }) && self.reader.is_new() {
                tcp::part(&self.socket.stream, FAREWELL);
            }
            self.socket.give_up();
        })
    }
}
