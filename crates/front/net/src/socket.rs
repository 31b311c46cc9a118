//! `Socket`: a connected socket, and how long its reads and writes wait.
//!
//! The system's time-out of a socket is a [`TICK`]: whoever waits looks at the clock that was passed in, at
//! the deadline and at the handle that stops the run that often. A peer that computes says so by keep-alives
//! ([`keep`](crate::keep)), so a wait for it lasts as long as they come. A peer whose program is stopped, or
//! whose machine is gone, says nothing for [`QUIET`], and ends the wait.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use comity_core::{Error, Result};
use socket2::SockRef;

use crate::frame::{Source, Wait};
use crate::keep::IDLE;
use crate::limits::Limits;
use crate::tcp::seconds;

/// The time between two looks of a wait.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// The silence that ends a wait: the peer had to say something three times, and a fourth time now.
pub(crate) const QUIET: Duration = IDLE.saturating_mul(4);

/// Unread bytes behind which keep-alives may not get through, where the system gives a socket as much room as
/// it begins with.
const CROWD: usize = 64 << 10;

/// Bytes that any system takes for a program that does not read.
const LITTLE: u64 = 16 << 10;

/// The most unread bytes that are counted.
const MOST_UNREAD: usize = 8 << 20;

/// The flags of a write that does not wait: `MSG_DONTWAIT`, and `MSG_NOSIGNAL`, as in the library's own writes.
const AT_ONCE: Option<i32> = if cfg!(target_os = "linux") { Some(0x40 | 0x4000) } else { None };

/// The silence that ends a wait to send when the unread bytes may leave no room for the peer's next ones:
/// then this side cannot see whether the peer says that it is there. Also the time that a peer gets to read
/// what was sent last.
const CROWDED: Duration = Duration::from_secs(15 * 60);

/// A connected socket, and what errors say about it.
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) limits: Limits,
    timeout: Duration,
    /// The number of pieces that have come.
    heard: AtomicU64,
    /// The number of pieces that have gone.
    said: AtomicU64,
    /// The bytes that have gone since something came.
    ahead: AtomicU64,
    given_up: AtomicBool,
}

/// A stretch of time without any news.
#[derive(Default)]
struct Silence {
    since: Option<Instant>,
    late: bool,
}

impl Silence {
    /// Whether the silence has lasted for `limit`, at two looks one after another: bytes that came while this
    /// process itself stood still are read between them.
    fn lasts(&mut self, now: Instant, limit: Duration) -> bool {
        let since = *self.since.get_or_insert(now);
        let late = now.saturating_duration_since(since) >= limit;
        std::mem::replace(&mut self.late, late) && late
    }
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, timeout: Duration, limits: Limits) -> Socket {
        let [heard, said, ahead] = [(); 3].map(|()| AtomicU64::new(0));
        Socket { stream, peer, limits, timeout, heard, said, ahead, given_up: AtomicBool::new(false) }
    }

    /// Gives the connection up after an error, so that neither the peer nor a thread of ours that sends meanwhile
    /// waits for what will not come.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Relaxed);
        // A socket that cannot be shut down is closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Whether the end of what has gone may not be with the peer: its system takes [little](LITTLE) without
    /// its reading.
    pub(crate) fn is_ahead(&self) -> bool {
        self.ahead.load(Relaxed) > LITTLE && !self.given_up.load(Relaxed)
    }

    /// Sends nothing more, and reads and drops the peer's bytes until it closes, too, or sends nothing for
    /// [`QUIET`]. A peer that never closes is left after [`CROWDED`].
    pub(crate) fn hear_out(&self) {
        // A socket that cannot be shut down is closed already.
        let _ = self.stream.shutdown(Shutdown::Write);
        let (mut silence, mut whole, mut scratch) = (Silence::default(), Silence::default(), vec![0; CROWD]);
        loop {
            match (&self.stream).read(&mut scratch) {
                Ok(0) => return,
                Ok(_) => silence = Silence::default(),
                Err(error) if error.kind() == ErrorKind::Interrupted || is_tick(&error) => {}
                Err(_) => return,
            }
            let now = self.limits.now.get();
            if self.limits.check().is_err() || silence.lasts(now, QUIET) || whole.lasts(now, CROWDED) {
                return;
            }
        }
    }

    /// The number of pieces that were sent. It changes with each.
    pub(crate) fn said(&self) -> u64 {
        self.said.load(Relaxed)
    }

    pub(crate) fn sending(&self, error: io::Error) -> Error {
        Error::io(format!("sending to {}", self.peer), error)
    }

    /// The error of a connection that ended: the run's own end explains it, if that has come.
    fn ended(&self, error: Error) -> Error {
        self.limits.check().err().unwrap_or(error)
    }

    /// Writes all of these bytes.
    ///
    /// # Errors
    /// [`TimedOut`](comity_core::Kind) if the peer takes none of them for the time-out, and says nothing meanwhile.
    pub(crate) fn write(&self, mut bytes: &mut [IoSlice<'_>]) -> Result<()> {
        let mut blocked = Blocked::default();
        IoSlice::advance_slices(&mut bytes, 0);
        while !bytes.is_empty() {
            match (&self.stream).write_vectored(bytes) {
                Ok(0) => return Err(self.sending(ErrorKind::WriteZero.into())),
                Ok(count) => {
                    self.said.fetch_add(1, Relaxed);
                    self.ahead.fetch_add(count as u64, Relaxed);
                    IoSlice::advance_slices(&mut bytes, count);
                    blocked = Blocked::default();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_tick(&error) => {
                    self.limits.check().and_then(|()| blocked.check(self)).inspect_err(|_| self.give_up())?;
                }
                Err(error) => return Err(self.ended(self.sending(error))),
            }
        }
        Ok(())
    }

    /// Whether [`Socket::write_at_once`] works on this system.
    pub(crate) const CAN_WRITE_AT_ONCE: bool = AT_ONCE.is_some();

    /// Writes as many of these bytes as the system takes without a wait, and returns their number: 0 where it
    /// cannot be asked.
    pub(crate) fn write_at_once(&self, bytes: &[IoSlice<'_>]) -> Result<usize> {
        let Some(flags) = AT_ONCE else { return Ok(0) };
        match SockRef::from(&self.stream).send_vectored_with_flags(bytes, flags) {
            Ok(count) => {
                self.said.fetch_add(1, Relaxed);
                self.ahead.fetch_add(count as u64, Relaxed);
                Ok(count)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
            Err(error) => Err(self.ended(self.sending(error))),
        }
    }

    /// Writes as many of these bytes as go at once, and returns their number.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> usize {
        // A connection that has an error tells it to whoever uses it.
        let count = (&self.stream).write(bytes).unwrap_or(0);
        self.said.fetch_add(u64::from(count > 0), Relaxed);
        count
    }
}

/// Whether an error is the system's time-out.
fn is_tick(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A wait for the peer to take bytes.
#[derive(Default)]
struct Blocked {
    silence: Silence,
    /// The pieces that had come, and the bytes that nobody had read, at the last look.
    signs: (u64, usize),
    scratch: Vec<u8>,
}

impl Blocked {
    /// Whether the peer may still take them: it computes, and says that it is there.
    fn check(&mut self, socket: &Socket) -> Result<()> {
        let crowd = crowd(&socket.stream);
        self.scratch.resize(crowd, 0);
        let unread = socket.stream.peek(&mut self.scratch).unwrap_or(0);
        let signs = (socket.heard.load(Relaxed), unread);
        if signs != self.signs {
            (self.signs, self.silence) = (signs, Silence::default());
        }
        let limit = if unread == crowd { CROWDED } else { socket.timeout.max(QUIET) };
        if !self.silence.lasts(socket.limits.now.get(), limit) {
            return Ok(());
        }
        let (peer, limit) = (socket.peer, seconds(limit));
        Err(Error::timed_out(format!(
            "the peer at {peer} neither received nor sent anything for {limit}: its program was stopped, or the line \
                is broken"
        )))
    }
}

/// The unread bytes at which a socket may have no room for more. The system lets the room grow with what
/// comes, and counts its own bookkeeping, for which a half or less is left: at a quarter there is room yet.
fn crowd(stream: &TcpStream) -> usize {
    let room = SockRef::from(stream).recv_buffer_size().unwrap_or(0);
    (room / 4).clamp(CROWD, MOST_UNREAD)
}

/// The incoming direction of a connection.
pub(crate) struct Incoming {
    socket: Arc<Socket>,
    /// The wait for a message that has to come soon: keep-alives do not prolong it.
    message: Silence,
}

impl Incoming {
    pub(crate) fn new(socket: Arc<Socket>) -> Incoming {
        Incoming { socket, message: Silence::default() }
    }

    /// The error of a wait that lasted too long.
    fn late(&self, wait: Wait) -> Error {
        let (peer, timeout, quiet) = (self.socket.peer, seconds(self.socket.timeout), seconds(QUIET));
        Error::timed_out(match wait {
            Wait::Message => format!("the peer at {peer} said nothing for {timeout}"),
            Wait::Rest => format!(
                "a message from the peer at {peer} began, and its rest did not come for {timeout}: the line is broken, \
                    or bytes were lost on the way"
            ),
            Wait::Forever => format!(
                "the peer at {peer} sent nothing for {quiet}, not even a sign of life: its program was stopped, or the \
                    line is broken"
            ),
        })
    }
}

impl Source for Incoming {
    fn read(&mut self, into: &mut [u8], wait: Wait) -> Result<usize> {
        let socket = &*self.socket;
        let timeout = socket.timeout;
        // It begins with the first read, whether anything comes then or not.
        if wait == Wait::Message && self.message.lasts(socket.limits.now.get(), timeout) {
            return Err(self.late(wait));
        }
        let mut silence = Silence::default();
        loop {
            match (&socket.stream).read(into) {
                Ok(0) => return Err(socket.ended(Error::closed())),
                Ok(count) => {
                    socket.heard.fetch_add(1, Relaxed);
                    socket.ahead.store(0, Relaxed);
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if is_tick(&error) => {}
                Err(error) => return Err(socket.ended(Error::io(format!("receiving from {}", socket.peer), error))),
            }
            socket.limits.check()?;
            let (silence, limit) = match wait {
                Wait::Message => (&mut self.message, timeout),
                Wait::Rest => (&mut silence, timeout),
                Wait::Forever => (&mut silence, QUIET),
            };
            if silence.lasts(socket.limits.now.get(), limit) {
                return Err(self.late(wait));
            }
        }
    }

    fn came(&mut self) {
        self.message = Silence::default();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::limits::{Now, Stop};

    /// A socket with `bytes` unread bytes, its peer, and the seconds on its clock.
    fn unread(bytes: usize) -> (Socket, TcpStream, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // As the system does by itself where much comes.
        SockRef::from(&listener).set_recv_buffer_size(4 << 20).unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, address) = listener.accept().unwrap();
        peer.set_nonblocking(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let (mut gone, mut there) = (0, vec![0; bytes]);
        while gone < bytes || (bytes > 0 && stream.peek(&mut there).unwrap_or(0) < bytes) {
            gone += peer.write(&vec![0; bytes - gone]).unwrap_or(0);
        }
        let (start, seconds) = (Instant::now(), Arc::<AtomicU64>::default());
        let hand = seconds.clone();
        let limits = Limits::new(Now::new(move || start + Duration::from_secs(hand.load(Relaxed))), Stop::default());
        (Socket::new(stream, address, Duration::from_secs(30), limits), peer, seconds)
    }

    /// The seconds after which a blocked write is given up when `bytes` bytes are unread.
    fn patience(bytes: usize) -> u64 {
        let (socket, _peer, seconds) = unread(bytes);
        let mut blocked = Blocked::default();
        while blocked.check(&socket).is_ok() {
            seconds.fetch_add(1, Relaxed);
        }
        seconds.load(Relaxed)
    }

    #[test]
    fn a_stopped_peer_is_seen_behind_much_that_is_unread() {
        let room = crowd(&unread(1).0.stream);
        assert!(room > CROWD, "the system gives {room} bytes");
        assert_eq!([patience(0), patience(CROWD), patience(room - 1)].map(|seconds| seconds / 10), [3; 3]);
        // Where there may be no room for its word nobody can tell.
        assert!(patience(room) >= CROWDED.as_secs());
    }

    #[test]
    fn silence_is_too_long_at_the_second_look() {
        let (start, limit) = (Instant::now(), Duration::from_secs(20));
        let mut silence = Silence::default();
        for (at, too_long) in [(0, false), (19, false), (20, false), (20, true)] {
            assert_eq!(silence.lasts(start + Duration::from_secs(at), limit), too_long, "{at} s");
        }
    }
}
