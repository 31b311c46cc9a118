//! The first message of a session: who are you, and do we want the same thing?
//!
//! Both parties send a hello of [`WIRE_BYTES`] bytes and then read the peer's; neither waits for the other, so it
//! costs one flight. Everything that must agree is in it, and each difference is a [`Mismatch`](comity_core::Kind) with both
//! values, on both sides. Two fresh nonces make the session's id: it is new if one party is honest, and the parties
//! have the same one only if they agree. The hello itself is not authenticated; that is TLS's part.

use comity_core::{Params, SessionId};
use rand_core::CryptoRng;

use crate::{Channel, Error, Result};

/// The version of everything that comity puts on the wire. Parties of different versions cannot talk.
pub const WIRE_VERSION: u32 = 1;

/// The first bytes of a hello. The line break and the high bit show a connection that changes text on the way.
const MAGIC: [u8; 8] = *b"comity\n\x80";

/// How much of a text the peer is shown, in bytes of UTF-8.
const SHOWN: usize = 64;

/// A text on the wire: its beginning, padded with zeros, and the digest of all of it.
const TEXT: usize = SHOWN + 32;

/// Magic and version: the part that every version begins with.
const OPENING: usize = 12;

/// Bytes of a hello on the wire, in each direction.
pub const WIRE_BYTES: usize = OPENING + 32 + 5 * 4 + 32 + 4 * TEXT;

/// What a party says about the session that it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The protocol's name, with everything that both sides must set alike in it.
    pub protocol: String,
    /// The security parameters.
    pub params: Params,
    /// How many parties there are.
    pub parties: u32,
    /// This party, from 0.
    pub party: u32,
    /// The party at the other end of this channel.
    pub peer: u32,
    /// What people call the program. Not compared: a file and a built-in may be the same program.
    pub program: String,
    /// The program's digest.
    pub program_digest: [u8; 32],
    /// Who puts in which value.
    pub owners: String,
    /// Who learns which output.
    pub recipients: String,
}

/// A hello as it arrived, its texts fit to be shown.
struct Theirs {
    nonce: [u8; 32],
    party: u32,
    peer: u32,
    parties: u32,
    kappa: u32,
    rho: u32,
    program_digest: [u8; 32],
    /// Protocol, program, owners, recipients.
    texts: [(String, [u8; 32]); 4],
}

/// Says hello to the peer, and returns the session's id once both sides want the same.
///
/// Compared in this order: wire version, number of parties, party ids, protocol, kappa, rho, program, owners,
/// recipients.
///
/// # Errors
///
/// [`Mismatch`](comity_core::Kind) names the first difference, with both values; the peer meets the same error if it is honest.
/// [`Stranger`](comity_core::Kind) if the peer is no comity at all, with a guess at what it is. Errors of the channel.
pub fn hello<C: Channel + ?Sized>(ch: &mut C, ours: &Hello, rng: &mut impl CryptoRng) -> Result<SessionId> {
    let mut nonce = [0; 32];
    rng.fill_bytes(&mut nonce);
    ch.send(&ours.encode(&nonce))?;
    let mut opening = [0; OPENING];
    ch.recv(&mut opening[..MAGIC.len()])?;
    if opening[..MAGIC.len()] != MAGIC {
        return Err(Error::stranger(no_hello(&opening)));
    }
    ch.recv(&mut opening[MAGIC.len()..])?;
    let version = u32::from_le_bytes([opening[8], opening[9], opening[10], opening[11]]);
    compare("version of the wire format", WIRE_VERSION, version)?;
    let mut rest = [0; WIRE_BYTES - OPENING];
    ch.recv(&mut rest)?;
    let theirs = Theirs::decode(&rest)?;
    ours.compare(&theirs)?;
    Ok(ours.session(&nonce, &theirs.nonce))
}

/// What `bytes`, the first ones of a connection, look like if they are not comity's; `None` if that cannot be told.
pub fn foreign(bytes: &[u8]) -> Option<&'static str> {
    const HTTP: [&[u8]; 7] = [b"GET ", b"POST", b"HTTP", b"HEAD", b"PUT ", b"OPTI", b"PRI "];
    match bytes {
        [0x14..=0x17, 0x03, 0x00..=0x04, ..] => Some("TLS"),
        _ if HTTP.iter().any(|start| bytes.starts_with(start)) => Some("HTTP"),
        _ if bytes.starts_with(b"SSH-") => Some("SSH"),
        _ => None,
    }
}

fn no_hello(bytes: &[u8]) -> String {
    match foreign(bytes) {
        Some("TLS") => "the peer speaks TLS, and this side plain text: set up both sides alike".into(),
        Some(other) => format!("the peer speaks {other}, not comity: check the address and the port"),
        None => "the peer's first bytes are not comity's: check the address and the port".into(),
    }
}

impl Hello {
    fn texts(&self) -> [&str; 4] {
        [&self.protocol, &self.program, &self.owners, &self.recipients]
    }

    fn encode(&self, nonce: &[u8; 32]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(WIRE_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(WIRE_VERSION.to_le_bytes());
        bytes.extend(nonce);
        for number in [self.party, self.peer, self.parties, self.params.kappa, self.params.rho] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.program_digest);
        for text in self.texts() {
            let shown = shown(text);
            bytes.extend(shown.as_bytes());
            bytes.resize(bytes.len() + SHOWN - shown.len(), 0);
            bytes.extend(digest(text));
        }
        bytes
    }

    fn compare(&self, theirs: &Theirs) -> Result<()> {
        compare("number of parties", self.parties, theirs.parties)?;
        if self.party == theirs.party {
            return Err(Error::mismatch(
                "party ids",
                self.party.to_string(),
                format!("{} as well; each side needs its own", theirs.party),
            ));
        }
        compare("id of the party at the peer", self.peer, theirs.party)?;
        compare("id of the party here", self.party, theirs.peer)?;
        let [protocol, program, owners, recipients] = &theirs.texts;
        compare_text("protocol", &self.protocol, protocol)?;
        compare("computational security kappa", self.params.kappa, theirs.kappa)?;
        compare("statistical security rho", self.params.rho, theirs.rho)?;
        if self.program_digest != theirs.program_digest {
            return Err(Error::mismatch(
                "program",
                named(&shown(&self.program), &self.program_digest),
                named(&program.0, &theirs.program_digest),
            ));
        }
        compare_text("owners of the inputs", &self.owners, owners)?;
        compare_text("recipients of the outputs", &self.recipients, recipients)
    }

    /// The hash of all that the parties agree on, and both nonces, that of the lower party first.
    fn session(&self, ours: &[u8; 32], theirs: &[u8; 32]) -> SessionId {
        let low = self.party < self.peer;
        let numbers = [
            WIRE_VERSION,
            self.parties,
            self.party.min(self.peer),
            self.party.max(self.peer),
            self.params.kappa,
            self.params.rho,
        ];
        SessionId::derive(
            "hello",
            &[
                if low { ours } else { theirs },
                if low { theirs } else { ours },
                &numbers.map(u32::to_le_bytes).concat(),
                self.protocol.as_bytes(),
                &self.program_digest,
                self.owners.as_bytes(),
                self.recipients.as_bytes(),
            ],
        )
    }
}

impl Theirs {
    fn decode(bytes: &[u8; WIRE_BYTES - OPENING]) -> Result<Theirs> {
        let mut fields = Fields(bytes);
        let theirs = Theirs {
            nonce: fields.take(),
            party: fields.number(),
            peer: fields.number(),
            parties: fields.number(),
            kappa: fields.number(),
            rho: fields.number(),
            program_digest: fields.take(),
            texts: [fields.text()?, fields.text()?, fields.text()?, fields.text()?],
        };
        Ok(theirs)
    }
}

/// What is left to decode of a buffer whose size was fixed.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().expect("the buffer is as long as all fields");
        self.0 = rest;
        *field
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn text(&mut self) -> Result<(String, [u8; 32])> {
        let shown: [u8; SHOWN] = self.take();
        let end = shown.iter().position(|&byte| byte == 0).unwrap_or(SHOWN);
        if shown[end..].iter().any(|&byte| byte != 0) {
            return Err(Error::malformed("a text in the peer's hello has bytes after its end"));
        }
        let text =
            str::from_utf8(&shown[..end]).map_err(|_| Error::malformed("a text in the peer's hello is not UTF-8"))?;
        if text.contains(unfit) {
            return Err(Error::malformed("a text in the peer's hello cannot be shown"));
        }
        Ok((text.to_owned(), self.take()))
    }
}

/// What a terminal could act on, or show as something else.
fn unfit(c: char) -> bool {
    !(c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ')
}

/// The beginning of a text, in at most [`SHOWN`] bytes and fit to be shown.
fn shown(text: &str) -> String {
    const MORE: &str = "...";
    let mut shown = text.replace(unfit, "?");
    if shown.len() > SHOWN {
        shown.truncate(shown.floor_char_boundary(SHOWN - MORE.len()));
        shown += MORE;
    }
    shown
}

fn digest(text: &str) -> [u8; 32] {
    SessionId::derive("text in a hello", &[text.as_bytes()]).to_bytes()
}

fn named(name: &str, digest: &[u8; 32]) -> String {
    let digest: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name} (digest {digest}..)")
}

fn compare(field: &'static str, ours: u32, theirs: u32) -> Result<()> {
    if ours == theirs {
        return Ok(());
    }
    Err(Error::mismatch(field, ours.to_string(), theirs.to_string()))
}

fn compare_text(field: &'static str, ours: &str, theirs: &(String, [u8; 32])) -> Result<()> {
    let (text, theirs) = theirs;
    let digest = digest(ours);
    if digest == *theirs {
        return Ok(());
    }
    let ours = shown(ours);
    // Two long texts may begin alike.
    if ours == *text {
        return Err(Error::mismatch(field, named(&ours, &digest), named(text, theirs)));
    }
    let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
    Err(Error::mismatch(field, or_none(&ours), or_none(text)))
}
