//! Sockets that have a path and are on this machine alone: the line between a party and a helper of its own,
//! such as a token.
//!
//! Who may connect is whoever may write the socket's file: its owner, unless that is changed. There is no
//! encryption and no checksum, as in a pipe. Nothing says that it is there meanwhile: the system closes the
//! line of a process that ends.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

use comity_channel::{Channel, RecvHalf, SendHalf, duplex};
use comity_core::{Error, Result};
use rand_core::Rng;
use socket2::SockRef;

use crate::limits::Limits;
use crate::post::{Half, Poster};
use crate::rng::SystemRng;
use crate::socket::TICK;
use crate::tcp::seconds;

/// Bytes that are gathered before they are sent.
const BUFFER: usize = 16 << 10;

/// A connected socket, and what errors say about it.
struct Line {
    stream: UnixStream,
    place: String,
    /// How long the other side may say nothing, and take nothing.
    timeout: Option<Duration>,
    limits: Limits,
}

/// A channel over a socket of this machine.
pub struct LocalChannel {
    sending: Poster<LocalSend>,
    receiving: LocalRecv,
}

struct LocalSend {
    line: Arc<Line>,
    buffer: Vec<u8>,
}

struct LocalRecv {
    line: Arc<Line>,
}

impl LocalChannel {
    /// Connects to the helper whose socket has this path. A call fails if the helper does not answer within
    /// `timeout`.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if nobody listens there: no other party is to blame for that.
    pub fn connect(path: &Path, timeout: Duration, limits: &Limits) -> Result<LocalChannel> {
        let place = path.display().to_string();
        let stream = UnixStream::connect(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                Error::store(format!("the socket {place} does not exist: start the program that listens there"))
            }
            ErrorKind::ConnectionRefused => {
                Error::store(format!("nobody listens at {place} any more: restart the program that listens there"))
            }
            _ => Error::disk(format!("cannot connect to {place}"), error),
        })?;
        LocalChannel::new(stream, place, Some(timeout), limits)
    }

    fn new(stream: UnixStream, place: String, timeout: Option<Duration>, limits: &Limits) -> Result<LocalChannel> {
        let ticks = stream.set_read_timeout(Some(TICK)).and_then(|()| stream.set_write_timeout(Some(TICK)));
        ticks.map_err(|error| Error::disk(format!("the socket {place}"), error))?;
        let line = Arc::new(Line { stream, place, timeout, limits: limits.clone() });
        let (ending, sending) = (line.clone(), LocalSend { line: line.clone(), buffer: Vec::with_capacity(BUFFER) });
        // A socket that cannot be shut down is closed already.
        let give_up = move || drop(ending.stream.shutdown(Shutdown::Both));
        Ok(LocalChannel { sending: Poster::new(sending, give_up), receiving: LocalRecv { line } })
    }
}

impl Line {
    /// Does one piece of work after another until `left` is zero.
    fn until_done(&self, what: &str, mut left: usize, mut some: impl FnMut(usize) -> io::Result<usize>) -> Result<()> {
        let mut since = self.limits.now.get();
        let all = left;
        while left > 0 {
            match some(all - left) {
                Ok(0) => return Err(Error::closed()),
                Ok(count) => (left, since) = (left - count, self.limits.now.get()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    self.limits.check()?;
                    if let Some(timeout) = self.timeout.filter(|timeout| self.limits.now.since(since) >= *timeout) {
                        return Err(Error::timed_out(format!(
                            "{} {what} nothing for {}",
                            self.place,
                            seconds(timeout)
                        )));
                    }
                }
                Err(error) => return Err(Error::io(format!("the line to {}", self.place), error)),
            }
        }
        Ok(())
    }
}

impl LocalSend {
    fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut stream = &self.line.stream;
        self.line.until_done("took", bytes.len(), |done| stream.write(&bytes[done..]))
    }
}

impl SendHalf for LocalSend {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() <= BUFFER {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        self.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        let sent = self.write(&self.buffer);
        self.buffer.clear();
        sent
    }
}

impl Half for LocalSend {}

impl RecvHalf for LocalRecv {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (mut stream, len) = (&self.line.stream, bytes.len());
        self.line.until_done("said", len, |done| stream.read(&mut bytes[done..]))
    }
}

impl Channel for LocalChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.sending.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        if let Some(mut sending) = self.sending.idle() {
            sending.flush()?;
        }
        self.receiving.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.sending.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.sending.post(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (Box::new(&mut self.sending), Box::new(&mut self.receiving))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        duplex(self.split(), out, into)
    }
}

/// A socket of this machine that waits for connections. Its file is removed with it.
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
}

impl LocalListener {
    /// Listens at this path. Only this account can connect, until somebody changes the file's mode.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if another process listens there, or the path is another file's;
    /// [`Store`](comity_core::Kind) if the system refuses.
    pub fn bind(path: &Path) -> Result<LocalListener> {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt};
        let place = path.display();
        if let Ok(data) = path.symlink_metadata() {
            if !data.file_type().is_socket() {
                return Err(Error::invalid_input(format!("{place} exists and is not a socket: name another path")));
            }
            if UnixStream::connect(path).is_ok() {
                return Err(Error::invalid_input(format!("another process listens at {place}")));
            }
        }
        // It gets its name when its mode is right.
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{:08x}", SystemRng.next_u32()));
        let draft = PathBuf::from(draft);
        let bind = || {
            let listener = UnixListener::bind(&draft)?;
            fs::set_permissions(&draft, fs::Permissions::from_mode(0o600))?;
            // Whoever waits looks whether it is to stop that often.
            SockRef::from(&listener).set_read_timeout(Some(TICK))?;
            fs::rename(&draft, path)?;
            Ok(listener)
        };
        let listener = bind().map_err(|error| {
            let _ = fs::remove_file(&draft);
            Error::disk(format!("cannot listen at {place}"), error)
        })?;
        Ok(LocalListener { listener, path: path.to_owned() })
    }

    /// Waits for the next connection; `None` when the limits are reached. A connection that fails does not
    /// end the wait.
    pub fn accept(&self, limits: &Limits) -> Option<LocalChannel> {
        while limits.check().is_ok() {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let place = self.path.display().to_string();
                    // Some systems let nobody set up a socket whose other end is closed already.
                    if let Ok(channel) = LocalChannel::new(stream, place, None, limits) {
                        return Some(channel);
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Too many files are open for now, say.
                Err(_) => thread::sleep(TICK),
            }
        }
        None
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        // Somebody may have taken it away.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use comity_channel::AHEAD;
    use comity_core::Kind;

    use super::*;
    use crate::limits::{Now, Stop};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("comity-local-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Both sides post more than the system holds before either receives, and then something small.
    fn posted(ch: &mut LocalChannel) {
        let much = vec![9; AHEAD];
        ch.send(&[1]).and_then(|()| ch.post(&much)).unwrap();
        let mut bytes = vec![0; 1 + much.len()];
        ch.recv(&mut bytes).unwrap();
        assert!(bytes[0] == 1 && bytes[1..] == much);
        ch.post_more(&[2]).and_then(|()| ch.flush()).unwrap();
        ch.recv(&mut bytes[..1]).unwrap();
        assert_eq!(bytes[0], 2);
    }

    #[test]
    fn bytes_go_both_ways_and_the_end_is_seen() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("bytes");
        let path = folder.join("socket");
        let limits = Limits::default();
        let listener = LocalListener::bind(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let error = LocalListener::bind(&path).err().unwrap();
        assert!(matches!(error.kind, Kind::InvalidInput(_)), "{error}");
        let much = vec![7; 1 << 20];
        thread::scope(|scope| {
            scope.spawn(|| {
                // The first connection is that of the second listener, which only looked.
                let mut ends = std::iter::from_fn(|| listener.accept(&limits));
                let mut there = ends.nth(1).unwrap();
                let mut bytes = vec![0; much.len()];
                there.exchange(&much, &mut bytes).unwrap();
                assert!(bytes == much);
                posted(&mut there);
            });
            let mut here = LocalChannel::connect(&path, Duration::from_secs(600), &limits).unwrap();
            let mut bytes = vec![0; much.len()];
            here.exchange(&much, &mut bytes).unwrap();
            assert!(bytes == much);
            posted(&mut here);
            assert!(matches!(here.recv(&mut [0]).unwrap_err().kind, Kind::Closed));
        });
        drop(listener);
        let error = LocalChannel::connect(&path, Duration::from_secs(1), &limits).err().unwrap();
        assert!(matches!(error.kind, Kind::Store(_)) && error.to_string().contains("does not exist"), "{error}");
        fs::write(&path, "mine").unwrap();
        assert!(LocalListener::bind(&path).err().unwrap().to_string().contains("exists and is not a socket"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_wait_ends_at_the_time_out_and_when_it_is_stopped() {
        let folder = folder("waits");
        let path = folder.join("socket");
        let (stop, listener) = (Stop::default(), LocalListener::bind(&path).unwrap());
        let limits = Limits::new(Now::default(), stop.clone());
        let mut here = LocalChannel::connect(&path, Duration::from_millis(1), &limits).unwrap();
        let error = here.recv(&mut [0]).unwrap_err();
        assert!(matches!(error.kind, Kind::TimedOut(_)) && error.to_string().contains("said nothing"), "{error}");
        stop.stop();
        assert!(matches!(here.recv(&mut [0]).unwrap_err().kind, Kind::Stopped));
        assert!(listener.accept(&limits).is_none());
        drop(listener);
        fs::remove_dir_all(folder).unwrap();
    }
}
