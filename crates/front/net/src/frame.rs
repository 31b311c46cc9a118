//! Frames: what keeps damage on the way from passing for data on plain TCP.
//!
//! A frame is a header of 16 bytes (payload length, sequence number, CRC-32 of the payload, CRC-32 of the
//! header's first 12 bytes, each 32 bits and little-endian) and a payload of up to [`MAX_PAYLOAD`] bytes. One
//! without a payload says that its sender is there, and nothing else. A flipped byte fails a checksum, a lost
//! or repeated one shifts the stream so that the next header fails, and a lost or repeated frame fails its
//! number. TCP's own checksum has 16 bits and is made anew by every middlebox. This is against accidents:
//! whoever sits on the line can compute a CRC, and only TLS stops them.
//!
//! Cost: 16 bytes a frame (0.012 % of a full one), and a CRC at the speed of carry-less multiplication. A large send
//! goes to the system from the caller's memory and a large receive into it; small ones are copied once through a
//! fixed buffer. Nothing is allocated after construction, whatever a header says.

mod memory;

use std::ops::Range;

use comity_channel::foreign;
use comity_core::{Error, Kind, Result};

pub use memory::unframe;

/// Bytes of a header.
pub(crate) const HEADER: usize = 16;

/// The largest payload. 128 KiB keeps what one frame touches on both sides (payload, the system's copy) in the
/// second-level cache, and makes the system calls, two a frame, some 3 % of the time that the bytes take.
pub(crate) const MAX_PAYLOAD: usize = 128 << 10;

/// Bytes from which on a send or receive is worth a system call of its own to save the copy.
const DIRECT: usize = 32 << 10;

/// Bytes that are read at once while small messages come: many small frames are then one system call.
const READ_AHEAD: usize = 16 << 10;

/// A place where frames go.
pub(crate) trait Sink {
    /// Writes one frame of these bytes, the second part behind the first.
    fn frame(&mut self, payload: [&[u8]; 2]) -> Result<()>;
}

/// The numbers of frames, in the order in which they go.
#[derive(Default)]
pub(crate) struct Numbers {
    next: u32,
}

impl Numbers {
    /// The header of the next frame, which has to go next.
    pub(crate) fn header(&mut self, payload: [&[u8]; 2]) -> [u8; HEADER] {
        let mut checksum = crc32fast::Hasher::new();
        payload.iter().for_each(|part| checksum.update(part));
        let len: usize = payload.iter().map(|part| part.len()).sum();
        let header = Header { len: len as u32, number: self.next, checksum: checksum.finalize() };
        self.next = self.next.wrapping_add(1);
        header.encode()
    }
}

/// Cuts a stream into frames.
pub(crate) struct FrameWriter {
    buffer: Vec<u8>,
}

impl FrameWriter {
    pub(crate) fn new() -> FrameWriter {
        FrameWriter { buffer: Vec::with_capacity(MAX_PAYLOAD) }
    }

    pub(crate) fn send(&mut self, to: &mut impl Sink, mut bytes: &[u8]) -> Result<()> {
        while bytes.len() >= DIRECT || self.buffer.len() + bytes.len() > MAX_PAYLOAD {
            let (now, later) = bytes.split_at(bytes.len().min(MAX_PAYLOAD - self.buffer.len()));
            self.frame(to, now)?;
            bytes = later;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn flush(&mut self, to: &mut impl Sink) -> Result<()> {
        if self.buffer.is_empty() { Ok(()) } else { self.frame(to, &[]) }
    }

    /// The number of bytes that are not yet flushed.
    pub(crate) fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Writes one frame of the bytes that are buffered, and `more`.
    fn frame(&mut self, to: &mut impl Sink, more: &[u8]) -> Result<()> {
        let result = to.frame([&self.buffer, more]);
        self.buffer.clear();
        result
    }
}

struct Header {
    len: u32,
    number: u32,
    checksum: u32,
}

impl Header {
    fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..4].copy_from_slice(&self.len.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.checksum.to_le_bytes());
        let check = crc32fast::hash(&bytes[..12]);
        bytes[12..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; HEADER], expected: u32) -> Result<Header> {
        let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        let header = Header { len: word(0), number: word(4), checksum: word(8) };
        if word(12) != crc32fast::hash(&bytes[..12]) {
            return Err(damaged(expected, "its header's checksum is wrong", bytes));
        }
        if header.number != expected {
            return Err(damaged(expected, &format!("frame {} came instead", header.number), bytes));
        }
        if header.len as usize > MAX_PAYLOAD {
            return Err(damaged(expected, &format!("it claims {} bytes", header.len), bytes));
        }
        Ok(header)
    }
}

/// The error for a frame that is not as it was sent, or was never a frame.
fn damaged(number: u32, what: &str, header: &[u8]) -> Error {
    match foreign(header) {
        Some("TLS") if number == 0 => Error::stranger(
            "the peer speaks TLS, and this side plain text: use TLS on both sides, or plain text on both",
        ),
        Some(other) if number == 0 => {
            Error::stranger(format!("the peer speaks {other}, not comity: check the address and the port"))
        }
        _ if number == 0 => Error::stranger(format!(
            "the first frame is damaged, or the peer is not comity ({what}): check the address and the port"
        )),
        _ => Error::malformed(format!("bytes were damaged on the way, in frame {number}: {what}")),
    }
}

/// The wait for bytes: how long it may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A wait as long as the peer says that it is there: an honest one may compute for long.
    Forever,
    /// A wait for the peer's next message, which should follow at once.
    Message,
    /// A wait for the rest of a frame that has begun.
    Rest,
}

/// A source that frames are read from.
pub(crate) trait Source {
    /// Reads at least one byte.
    fn read(&mut self, into: &mut [u8], wait: Wait) -> Result<usize>;

    /// Takes note that a message came.
    fn came(&mut self) {}
}

/// Puts frames together again.
pub(crate) struct FrameReader {
    buffer: Box<[u8]>,
    /// Bytes read but not looked at.
    raw: Range<usize>,
    /// Verified payload that nobody took yet; it lies before `raw`.
    ready: Range<usize>,
    next: u32,
    /// The number of frames that must still come soon.
    prompt: u32,
    broken: bool,
}

impl FrameReader {
    pub(crate) fn new() -> FrameReader {
        let buffer = vec![0; READ_AHEAD + HEADER + MAX_PAYLOAD].into();
        FrameReader { buffer, raw: 0..0, ready: 0..0, next: 0, prompt: 0, broken: false }
    }

    /// Forgets everything: another stream begins.
    fn restart(&mut self) {
        (self.raw, self.ready) = (0..0, 0..0);
        (self.next, self.prompt, self.broken) = (0, 0, false);
    }

    /// Bounds the wait for the next `frames` frames.
    pub(crate) fn expect(&mut self, frames: u32) {
        self.prompt = frames;
    }

    /// Whether no frame has come yet.
    pub(crate) fn is_new(&self) -> bool {
        self.next == 0
    }

    /// Fills `into`. After an error nothing more can be read.
    pub(crate) fn recv(&mut self, from: &mut impl Source, mut into: &mut [u8]) -> Result<()> {
        if self.broken {
            return Err(Error::closed());
        }
        while !into.is_empty() {
            let ready = self.ready.len().min(into.len());
            let (now, later) = into.split_at_mut(ready);
            now.copy_from_slice(&self.buffer[self.ready.start..][..ready]);
            self.ready.start += ready;
            into = later;
            if !into.is_empty() {
                match self.frame(from, into) {
                    Ok(direct) => into = &mut into[direct..],
                    Err(error) => {
                        self.broken = true;
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads one frame: to the front of `into` if it fits there whole, returning its length, or else to
    /// `ready`. A keep-alive gives nothing to either.
    fn frame(&mut self, from: &mut impl Source, into: &mut [u8]) -> Result<usize> {
        let ahead = if into.len() < DIRECT { READ_AHEAD } else { HEADER };
        self.make_room(ahead.max(HEADER));
        while self.raw.len() < HEADER {
            let limit = self.raw.start + ahead;
            let wait = match self.raw.len() {
                0 if self.prompt == 0 => Wait::Forever,
                0 => Wait::Message,
                _ => Wait::Rest,
            };
            match from.read(&mut self.buffer[self.raw.end..limit], wait) {
                Ok(count) => self.raw.end += count,
                Err(Error { kind: Kind::Closed, .. })
                    if self.next == 0 && foreign(&self.buffer[self.raw.clone()]).is_some() =>
                {
                    return Err(damaged(0, "it ends early", &self.buffer[self.raw.clone()]));
                }
                Err(error) => return Err(error),
            }
        }
        let header = self.buffer[self.raw.start..].first_chunk().expect("a whole header was read");
        let header = Header::decode(header, self.next)?;
        self.raw.start += HEADER;
        let len = header.len as usize;
        if len == 0 {
            self.next = self.next.wrapping_add(1);
            return Ok(0);
        }
        let direct = len <= into.len();
        let payload = if direct {
            let early = self.raw.len().min(len);
            into[..early].copy_from_slice(&self.buffer[self.raw.start..][..early]);
            self.raw.start += early;
            let mut filled = early;
            while filled < len {
                filled += from.read(&mut into[filled..len], Wait::Rest)?;
            }
            &into[..len]
        } else {
            self.make_room(len);
            while self.raw.len() < len {
                let limit = self.raw.start + len;
                self.raw.end += from.read(&mut self.buffer[self.raw.end..limit], Wait::Rest)?;
            }
            self.ready = self.raw.start..self.raw.start + len;
            self.raw.start = self.ready.end;
            &self.buffer[self.ready.clone()]
        };
        if crc32fast::hash(payload) != header.checksum {
            self.ready = 0..0;
            return Err(damaged(self.next, "its payload's checksum is wrong", &[]));
        }
        self.next = self.next.wrapping_add(1);
        self.prompt = self.prompt.saturating_sub(1);
        from.came();
        Ok(if direct { len } else { 0 })
    }

    /// Makes room for `len` bytes from the start of `raw` on. Called only while `ready` is empty. Moves at
    /// most the bytes that were read ahead.
    fn make_room(&mut self, len: usize) {
        if self.raw.is_empty() {
            self.raw = 0..0;
        } else if self.raw.start + len > self.buffer.len() {
            self.buffer.copy_within(self.raw.clone(), 0);
            self.raw = 0..self.raw.len();
        }
    }
}

#[cfg(test)]
mod tests;
