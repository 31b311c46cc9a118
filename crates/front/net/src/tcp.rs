//! Sockets: listening, connecting with patience, and what is set on each connection.

use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use comity_core::{Error, Kind, Result};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

use crate::address::Address;
use crate::limits::{Limits, Now};
use crate::socket::TICK;

/// The time without traffic after which a peer is noticed that has vanished without closing (power, network).
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Opens sockets to listen at all addresses that `address` stands for: a caller may use any of them.
/// Addresses that this machine does not have are left out, if it has at least one.
pub(crate) fn listen(address: &Address) -> Result<Vec<TcpListener>> {
    let mut port = None;
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut missing = io::Error::from(ErrorKind::AddrNotAvailable);
    for socket in address.sockets() {
        let mut socket = *socket;
        // A port that the system chose for the first is the port of all.
        let chosen = port.filter(|_| socket.port() == 0);
        socket.set_port(chosen.unwrap_or(socket.port()));
        match bind(&socket) {
            Ok(listener) => {
                port = listener.local_addr().ok().map(|at| at.port());
                listeners.push(listener);
            }
            // To listen at all IPv6 addresses is to listen at all IPv4 addresses, too, where the system can do that.
            Err(error) if error.kind() == ErrorKind::AddrInUse && !(address.is_everywhere() && port.is_some()) => {
                return Err(cannot_listen(address, error));
            }
            Err(error) => missing = error,
        }
    }
    if listeners.is_empty() {
        return Err(cannot_listen(address, missing));
    }
    // So that waiting for a connection can end in time; nothing else does that on every system.
    let ready = listeners.iter().try_for_each(|listener| listener.set_nonblocking(true));
    ready.map_err(|error| Error::io(format!("listening at {address}"), error))?;
    Ok(listeners)
}

fn cannot_listen(address: &Address, source: io::Error) -> Error {
    Error::from(Kind::Io {
        context: match source.kind() {
            ErrorKind::AddrInUse => format!("cannot listen at {address}: the port is in use, choose another"),
            ErrorKind::AddrNotAvailable => format!(
                "cannot listen at {address}: this machine does not have the address (:PORT listens at all that it has)"
            ),
            ErrorKind::PermissionDenied => format!("cannot listen at {address}: choose a port from 1024 on"),
            _ => format!("cannot listen at {address}"),
        },
        source,
    })
}

/// The length of the queue of arrivals, longer than the standard library's, so that a crowd of strangers
/// keeps no peer out.
fn bind(address: &SocketAddr) -> io::Result<TcpListener> {
    const QUEUE: i32 = 1024;
    let socket = Socket::new(Domain::for_address(*address), Type::STREAM, Some(Protocol::TCP))?;
    // A port that was in use a moment ago can be had, as with the standard library; elsewhere this means
    // something else.
    if cfg!(unix) {
        socket.set_reuse_address(true)?;
    }
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        // A user who says "all addresses" means those of IPv4, too. A system that cannot do it in one has
        // them in two.
        let _ = socket.set_only_v6(false);
    }
    socket.bind(&(*address).into())?;
    socket.listen(QUEUE)?;
    Ok(socket.into())
}

/// A connection that has arrived, if there is one. Returns at once.
pub(crate) fn accept(listeners: &[TcpListener]) -> Result<Option<TcpStream>> {
    for listener in listeners {
        match listener.accept() {
            // One that is gone already can refuse to be set up.
            Ok((stream, _)) => {
                return Ok(stream.set_nonblocking(false).and_then(|()| prepare(&stream)).is_ok().then_some(stream));
            }
            Err(error) if passes(&error) => {}
            Err(error) => return Err(Error::io("accepting a connection", error)),
        }
    }
    Ok(None)
}

/// Whether accepting may succeed next time: nobody was there, the caller has gone, or the system has no room
/// just now.
fn passes(error: &io::Error) -> bool {
    /// Too many open files, in the system or in this process: a number, for want of a name on every system.
    const CROWDED: [i32; 2] = [23, 24];
    let gone =
        [ErrorKind::WouldBlock, ErrorKind::Interrupted, ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset];
    gone.contains(&error.kind())
        || error.kind() == ErrorKind::OutOfMemory
        || (cfg!(unix) && error.raw_os_error().is_some_and(|code| CROWDED.contains(&code)))
}

/// Whether a peer has gone without a word, as those do that only look whether a port is open. Waits a little
/// for its first byte.
pub(crate) fn has_left(stream: &TcpStream) -> bool {
    loop {
        match stream.peek(&mut [0]) {
            Ok(count) => return count == 0,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

/// Whether a peer whose bytes were all read is gone. Waits for nothing.
pub(crate) fn is_gone(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let gone = match stream.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    stream.set_nonblocking(false).is_err() || gone
}

/// Sleeps between two looks for what began to be awaited at `since`: the longer it took, the longer it may take.
pub(crate) fn pause(now: &Now, since: Instant) {
    thread::sleep((now.since(since) / 16).clamp(Duration::from_micros(100), Duration::from_millis(10)));
}

/// Connects, and tries again with growing pauses until `timeout` has passed, a limit is reached or it is
/// `given_up`. `waiting` is called once if the first try meets nobody.
pub(crate) fn connect(
    address: &Address,
    timeout: Duration,
    limits: &Limits,
    given_up: &AtomicBool,
    waiting: &mut dyn FnMut(&str),
) -> Result<TcpStream> {
    let begin = limits.now.get();
    let mut pause = Duration::from_millis(1);
    let mut told = false;
    loop {
        limits.check()?;
        let error = match connect_once(address, timeout.saturating_sub(limits.now.since(begin))) {
            Ok(stream) => return Ok(stream),
            Err(error) => error,
        };
        let nobody = match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => format!("nobody listens at {address}"),
            ErrorKind::TimedOut
            | ErrorKind::WouldBlock
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::Interrupted => format!("{address} does not answer"),
            _ => return Err(Error::system(format!("cannot connect to {address}"), error)),
        };
        let left = timeout.saturating_sub(limits.now.since(begin));
        if left.is_zero() || given_up.load(Relaxed) {
            return Err(Error::from(Kind::Io {
                context: format!("{nobody} (tried for {})", seconds(timeout)),
                source: error,
            }));
        }
        if !told {
            waiting(&format!("waiting for the peer at {address}"));
            told = true;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(500));
    }
}

fn connect_once(address: &Address, timeout: Duration) -> io::Result<TcpStream> {
    let mut result = Err(ErrorKind::TimedOut.into());
    for socket in address.sockets() {
        result = TcpStream::connect_timeout(socket, timeout.max(Duration::from_millis(1)));
        if result.is_ok() {
            break;
        }
    }
    let stream = result?;
    // A port of this machine that nobody listens at can be given to the connecting socket itself.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(ErrorKind::ConnectionRefused.into());
    }
    prepare(&stream)?;
    Ok(stream)
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // What is flushed is awaited: it must not wait for an acknowledgement of what went before.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TICK))?;
    stream.set_write_timeout(Some(TICK))?;
    // Buffer sizes are left to the system: it lets them grow with bandwidth times latency, to megabytes where that is
    // worth it, whereas a size set by hand is fixed, and cut to a system-wide bound that is often far smaller.
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 6))
}

/// The time that a peer has to read why it is turned away.
const PARTING: Duration = Duration::from_millis(500);

/// Sends `last`, and closes so that the peer can still read it: closing while bytes of the peer are unread
/// would reset the connection, and the peer's system may then discard what it has received.
pub(crate) fn part(stream: &TcpStream, last: &[u8]) {
    // The connection is being given up for an error that is already known; a further one has nobody to go to.
    let _ = io::Write::write_all(&mut &*stream, last);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(PARTING));
    let begin = Instant::now();
    let mut scratch = [0; 4096];
    while begin.elapsed() < PARTING && matches!(Read::read(&mut &*stream, &mut scratch), Ok(1..)) {}
    let _ = stream.shutdown(Shutdown::Both);
}

/// A duration as people say it, to a hundredth.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", (duration.as_secs_f64() * 100.0).round() / 100.0)
}
