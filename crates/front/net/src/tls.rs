//! TLS 1.3 with raw public keys (RFC 8446, RFC 7250): both sides prove the key that the other one has pinned.
//!
//! There are no certificates, names or authorities: a side knows the fingerprint of its peer's Ed25519 key, and any
//! other key ends the handshake. Nothing is negotiated that has a weak choice: X25519, Ed25519, and AES-128-GCM, or
//! ChaCha20-Poly1305 for a side that does not want AES. Sessions are not resumed.
//!
//! A record holds at most 16 KiB. Records are sealed and read several at a time, so that system calls are
//! few. The halves of a split share the TLS state by a lock that is never held while the socket is waited
//! for. What goes in is cut into chunks of up to [`CHUNK`] bytes, each after its length (32 bits,
//! little-endian): one without bytes says that its sender is there.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_channel::{RecvHalf, SendHalf, foreign};
use comity_core::{Error, Result};
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, ClientConnection, ServerConnection};

use crate::frame::{Source, Wait};
use crate::identity::{Fingerprint, Identity};
use crate::keep::Kept;
use crate::pinned::Pinned;
use crate::post::{Half, Poster};
use crate::socket::{Incoming, Socket};
use crate::tcp;

/// Bytes of a chunk's length.
const LENGTH: usize = 4;

/// Bytes of a chunk, which is sealed at a time: with its length, four full records.
const CHUNK: usize = (64 << 10) - LENGTH;

/// Header of a record, and the most that can follow it.
const HEADER: usize = 5;
const MAX_RECORD: usize = (16 << 10) + 256;

/// Sealed bytes read at a time: some records, in the second-level cache.
const INCOMING: usize = 128 << 10;

/// Receives below this many bytes are served from a buffer of this size.
const SMALL: usize = 4 << 10;

/// The last bytes of a side that speaks TLS to one that does not, before it closes: a fatal alert, protocol_version.
const FAREWELL: [u8; 7] = [21, 3, 3, 0, 2, 2, 70];

/// The last bytes of a relay to one that begins TLS with it: a fatal alert, unrecognized_name.
pub(crate) const AT_A_RELAY: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// TLS over one socket.
pub(crate) struct Tls {
    pub(crate) session: Arc<Session>,
    pub(crate) sending: Poster<Sending>,
    pub(crate) receiving: Receiving,
}

/// The state that both halves and the keeper share.
pub(crate) struct Session {
    socket: Arc<Socket>,
    /// Sealed bytes that are not sent yet. A thread locks this before it seals, so that records leave in
    /// their order.
    sealed: Mutex<Vec<u8>>,
    tls: Mutex<rustls::Connection>,
    pub(crate) pinned: Arc<Pinned>,
    own: Fingerprint,
}

/// Plain bytes that are not sealed yet.
struct Sealer {
    plain: Vec<u8>,
}

/// Sealed bytes that are not opened yet, and plain ones that nobody took yet.
struct Opener {
    incoming: Incoming,
    buffer: Box<[u8]>,
    raw: Range<usize>,
    /// The buffer that small receives are served from, without asking TLS each time.
    plain: Box<[u8]>,
    ready: Range<usize>,
    /// The length of the next chunk, as far as it has come.
    length: ([u8; LENGTH], usize),
    /// Bytes of the chunk that are still to come.
    left: usize,
    /// The number of chunks that must still come soon. A message is one or more.
    prompt: u32,
}

impl Tls {
    /// The handshake of the side that connects.
    pub(crate) fn connect(socket: Socket, identity: &Identity, peer: Fingerprint) -> Result<Tls> {
        let pinned = Pinned::new(vec![peer]);
        let name = ServerName::IpAddress(socket.peer.ip().into());
        let tls = pinned.client(identity).and_then(|config| ClientConnection::new(config, name));
        let tls = tls.map_err(|error| trouble(&socket, &pinned, identity.fingerprint(), error))?;
        Tls::start(socket, pinned, identity, tls.into())
    }

    /// The handshake of the listening side, with a peer that has one of these keys; returns which key it is.
    pub(crate) fn accept(socket: Socket, identity: &Identity, peers: Vec<Fingerprint>) -> Result<(Tls, Fingerprint)> {
        let pinned = Pinned::new(peers);
        let tls = pinned.server(identity).and_then(ServerConnection::new);
        let tls = tls.map_err(|error| trouble(&socket, &pinned, identity.fingerprint(), error))?;
        let peer = socket.peer;
        let tls = Tls::start(socket, pinned.clone(), identity, tls.into())?;
        let presented = pinned.presented();
        Ok((tls, presented.ok_or_else(|| Error::untrusted(format!("the peer at {peer} did not prove a key")))?))
    }

    fn start(socket: Socket, pinned: Arc<Pinned>, identity: &Identity, tls: rustls::Connection) -> Result<Tls> {
        let socket = Arc::new(socket);
        let session = Arc::new(Session {
            socket: socket.clone(),
            sealed: Mutex::default(),
            tls: Mutex::new(tls),
            pinned,
            own: identity.fingerprint(),
        });
        let mut opener = Opener {
            incoming: Incoming::new(socket.clone()),
            buffer: vec![0; INCOMING].into(),
            raw: 0..0,
            plain: vec![0; SMALL].into(),
            ready: 0..0,
            length: ([0; LENGTH], 0),
            left: 0,
            prompt: 0,
        };
        handshake(&session, &mut opener)?;
        let sealer = Sealer { plain: Vec::with_capacity(CHUNK) };
        Ok(Tls {
            sending: Poster::new(Sending { session: session.clone(), sealer }, move || socket.give_up()),
            receiving: Receiving { session: session.clone(), opener },
            session,
        })
    }

    pub(crate) fn socket(&self) -> &Arc<Socket> {
        &self.session.socket
    }
}

/// A side that receives TLS in memory. Not for users: fuzzing does.
#[doc(hidden)]
pub struct TlsEar(Arc<rustls::ServerConfig>);

impl TlsEar {
    /// A side with this identity, which trusts these keys.
    ///
    /// # Errors
    /// Only if the TLS library is broken.
    pub fn new(identity: &Identity, peers: Vec<Fingerprint>) -> std::result::Result<TlsEar, rustls::Error> {
        Pinned::new(peers).server(identity).map(TlsEar)
    }

    /// Takes these bytes, record by record, as a listening party does. Returns how many of them it took.
    ///
    /// # Errors
    /// Those of TLS.
    pub fn hear(&self, said: &[u8]) -> std::result::Result<usize, rustls::Error> {
        let mut tls = ServerConnection::new(self.0.clone())?;
        if !said.is_empty() && !greets(said) {
            return Ok(0);
        }
        let mut raw = said;
        while let Some(len) = record(raw) {
            let (mut bytes, later) = raw.split_at(len);
            while !bytes.is_empty() {
                tls.read_tls(&mut bytes).map_err(|error| rustls::Error::General(error.to_string()))?;
            }
            tls.process_new_packets()?;
            while tls.wants_write() {
                tls.write_tls(&mut std::io::sink()).map_err(|error| rustls::Error::General(error.to_string()))?;
            }
            raw = later;
        }
        Ok(said.len() - raw.len())
    }
}

/// Whether the first bytes of a peer, at least one, are TLS.
fn greets(first: &[u8]) -> bool {
    foreign(first) == Some("TLS") || (first.len() < 3 && first[0] & 0xfc == 0x14)
}

/// The bytes of the record that these begin with, if it is there whole.
fn record(raw: &[u8]) -> Option<usize> {
    let len = HEADER + usize::from(u16::from_be_bytes([*raw.get(3)?, *raw.get(4)?]));
    // TLS itself refuses a longer one; it is handed over as far as it is there.
    let len = len.min(HEADER + MAX_RECORD);
    (raw.len() >= len).then_some(len)
}

fn handshake(session: &Session, opener: &mut Opener) -> Result<()> {
    let mut first = true;
    loop {
        session.push(&[])?;
        if !session.lock().is_handshaking() {
            return Ok(());
        }
        if opener.record().is_none() {
            opener.read(Wait::Message)?;
            if first {
                session.hear(&opener.buffer[opener.raw.clone()])?;
                first = false;
            }
            continue;
        }
        if let Err(error) = opener.open(session) {
            // The peer is to learn why: what TLS has to say is an alert.
            let _ = session.push(&[]);
            tcp::part(&session.socket.stream, &[]);
            return Err(error);
        }
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, rustls::Connection> {
        self.tls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seals these bytes, and sends all records that are ready.
    fn push(&self, bytes: &[IoSlice<'_>]) -> Result<()> {
        let mut sealed = self.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        self.seal(bytes, &mut sealed)?;
        let sent = self.socket.write(&mut [IoSlice::new(&sealed)]);
        sealed.clear();
        sent
    }

    /// Puts the records that are ready behind those that are sealed already, first these bytes'.
    fn seal(&self, bytes: &[IoSlice<'_>], sealed: &mut Vec<u8>) -> Result<()> {
        let failed = |error| self.socket.sending(error);
        let mut tls = self.lock();
        let len: usize = bytes.iter().map(|part| part.len()).sum();
        // TLS keeps what it is given in memory, up to a bound that a chunk just meets.
        if len > 0 && tls.writer().write_vectored(bytes).map_err(failed)? != len {
            return Err(failed(ErrorKind::WriteZero.into()));
        }
        while tls.wants_write() {
            tls.write_tls(sealed).map_err(failed)?;
        }
        Ok(())
    }

    /// Checks that the first bytes of the peer are TLS at all.
    fn hear(&self, first: &[u8]) -> Result<()> {
        if greets(first) {
            return Ok(());
        }
        tcp::part(&self.socket.stream, &FAREWELL);
        let peer = self.socket.peer;
        Err(Error::stranger(match foreign(first) {
            Some(other) => format!("the peer at {peer} speaks {other}, not comity: check the address and the port"),
            None => format!(
                "the peer at {peer} speaks plain text, and this side TLS: use TLS on both sides, or plain text on both"
            ),
        }))
    }

    fn trouble(&self, error: rustls::Error) -> Error {
        trouble(&self.socket, &self.pinned, self.own, error)
    }
}

/// An error of TLS in the user's terms.
fn trouble(socket: &Socket, pinned: &Pinned, own: Fingerprint, error: rustls::Error) -> Error {
    let peer = socket.peer;
    match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::General(_) if pinned.refusal(&peer).is_some() => {
            pinned.refusal(&peer).unwrap_or(Error::closed())
        }
        rustls::Error::AlertReceived(AlertDescription::AccessDenied) => Error::untrusted(format!(
            "the peer at {peer} does not trust this side's key {own}: it must first run `comity key trust` with that \
             fingerprint, or this side must use the key that it trusts"
        )),
        rustls::Error::InvalidCertificate(_)
        | rustls::Error::PeerIncompatible(_)
        | rustls::Error::NoCertificatesPresented => {
            Error::untrusted(format!("the peer at {peer} did not prove its key as comity does ({error})"))
        }
        rustls::Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            Error::stranger(format!("a relay is at {peer}: to meet there, both parties add --relay {peer}"))
        }
        rustls::Error::AlertReceived(AlertDescription::ProtocolVersion) => Error::stranger(format!(
            "the peer at {peer} does not speak TLS 1.3 as comity does: use TLS on both sides, or plain text on both"
        )),
        rustls::Error::DecryptError => {
            Error::untrusted(format!("bytes from {peer} were damaged on the way, or forged ({error})"))
        }
        _ => Error::untrusted(format!("TLS with {peer} failed: {error}")),
    }
}

impl Sealer {
    fn send(&mut self, session: &Session, mut bytes: &[u8]) -> Result<()> {
        if self.plain.len() + bytes.len() > CHUNK {
            if !self.plain.is_empty() {
                let (now, later) = bytes.split_at(CHUNK - self.plain.len());
                self.plain.extend_from_slice(now);
                self.flush(session)?;
                bytes = later;
            }
            let (now, later) = bytes.split_at(bytes.len() - bytes.len() % CHUNK);
            for chunk in now.chunks(CHUNK) {
                self.seal(session, chunk)?;
            }
            bytes = later;
        }
        self.plain.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self, session: &Session) -> Result<()> {
        if self.plain.is_empty() {
            return Ok(());
        }
        let plain = std::mem::take(&mut self.plain);
        let result = self.seal(session, &plain);
        self.plain = plain;
        self.plain.clear();
        result
    }

    fn seal(&mut self, session: &Session, plain: &[u8]) -> Result<()> {
        let length = (plain.len() as u32).to_le_bytes();
        session.push(&[IoSlice::new(&length), IoSlice::new(plain)])
    }
}

impl Kept for Session {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn say_alive(&self) {
        let Ok(mut sealed) = self.sealed.try_lock() else { return };
        // What cannot be sealed is an error of the next message, too.
        if sealed.is_empty() && self.seal(&[IoSlice::new(&[0; LENGTH])], &mut sealed).is_err() {
            return;
        }
        let sent = self.socket.try_write(&sealed);
        sealed.drain(..sent);
    }
}

impl Opener {
    fn recv(&mut self, session: &Session, mut into: &mut [u8]) -> Result<()> {
        while !into.is_empty() {
            if !self.ready.is_empty() {
                let (now, later) = into.split_at_mut(self.ready.len().min(into.len()));
                now.copy_from_slice(&self.plain[self.ready.start..][..now.len()]);
                self.ready.start += now.len();
                into = later;
                continue;
            }
            if self.left == 0 {
                let (length, come) = &mut self.length;
                match session.lock().reader().read(&mut length[*come..]) {
                    Ok(0) => return Err(Error::closed()),
                    Ok(count) => {
                        *come += count;
                        if *come == LENGTH {
                            self.begin_chunk()?;
                        }
                        continue;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(Error::io("opening a TLS record", error)),
                }
            } else {
                let small = into.len() < SMALL;
                let most = self.left.min(if small { SMALL } else { into.len() });
                match session.lock().reader().read(if small { &mut self.plain[..most] } else { &mut into[..most] }) {
                    Ok(0) => return Err(Error::closed()),
                    Ok(count) => {
                        self.left -= count;
                        if small {
                            self.ready = 0..count;
                        } else {
                            into = &mut into[count..];
                        }
                        continue;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(Error::io("opening a TLS record", error)),
                }
            }
            if self.record().is_some() {
                self.open(session)?;
                continue;
            }
            let between = self.raw.is_empty() && self.left == 0 && self.length.1 == 0;
            let wait = match (between, self.prompt) {
                (false, _) => Wait::Rest,
                (true, 0) => Wait::Forever,
                (true, _) => Wait::Message,
            };
            self.read(wait)?;
        }
        Ok(())
    }

    /// A chunk's length has come: an empty one says that the peer is there, and nothing else.
    fn begin_chunk(&mut self) -> Result<()> {
        self.left = u32::from_le_bytes(self.length.0) as usize;
        self.length.1 = 0;
        if self.left > CHUNK {
            return Err(Error::malformed(format!("a chunk in TLS claims {} bytes", self.left)));
        }
        if self.left > 0 {
            self.prompt = self.prompt.saturating_sub(1);
            self.incoming.came();
        }
        Ok(())
    }

    /// The next record, if it is there whole.
    fn record(&self) -> Option<Range<usize>> {
        record(&self.buffer[self.raw.clone()]).map(|len| self.raw.start..self.raw.start + len)
    }

    /// Opens the next record, which is there.
    fn open(&mut self, session: &Session) -> Result<()> {
        let Some(record) = self.record() else { return Ok(()) };
        let mut bytes = &self.buffer[record.clone()];
        self.raw.start = record.end;
        let mut tls = session.lock();
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).map_err(|error| Error::io("reading a TLS record", error))?;
        }
        tls.process_new_packets().map_err(|error| session.trouble(error))?;
        Ok(())
    }

    /// Reads more sealed bytes.
    fn read(&mut self, wait: Wait) -> Result<()> {
        if self.raw.is_empty() {
            self.raw = 0..0;
        } else if self.raw.start + HEADER + MAX_RECORD > self.buffer.len() {
            self.buffer.copy_within(self.raw.clone(), 0);
            self.raw = 0..self.raw.len();
        }
        self.raw.end += self.incoming.read(&mut self.buffer[self.raw.end..], wait)?;
        Ok(())
    }
}

/// The sending direction.
pub(crate) struct Sending {
    session: Arc<Session>,
    sealer: Sealer,
}

impl Sending {
    /// The number of bytes that are not yet flushed.
    pub(crate) fn buffered(&self) -> usize {
        self.sealer.plain.len()
    }
}

impl SendHalf for Sending {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.sealer.send(&self.session, bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.sealer.flush(&self.session)
    }
}

impl Half for Sending {}

/// The receiving direction.
pub(crate) struct Receiving {
    session: Arc<Session>,
    opener: Opener,
}

impl Receiving {
    /// Bounds the wait for the peer's next messages.
    pub(crate) fn expect(&mut self, messages: u32) {
        self.opener.prompt = messages;
    }
}

impl RecvHalf for Receiving {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.opener.recv(&self.session, bytes).inspect_err(|_| self.session.socket.give_up())
    }
}
