//! A hello on the wire: fields of fixed sizes, so that nothing of a peer's says how much is read.

use comity_core::{Error, PartyId, Result, SessionId};

use super::{Agreed, Hello};

/// The version of everything that comity puts on the wire. Parties of different versions cannot talk.
pub const WIRE_VERSION: u32 = 2;

/// The first bytes of a hello. The line break and the high bit show a connection that changes text on the way.
pub(super) const MAGIC: [u8; 8] = *b"comity\n\x80";

/// The first bytes of a [`farewell`].
pub(super) const AWAY: [u8; 8] = *b"comity\n\x81";

/// Bytes of a farewell after its first ones: the reason, the sender, and the number of parties.
pub(super) const REASON: usize = 1 + 2 + 2;

/// The most of a text that the peer is shown, in bytes of UTF-8.
const SHOWN: usize = 64;

/// A text on the wire: its beginning, padded with zeros, and the digest of all of it.
const TEXT: usize = SHOWN + 32;

/// The most bytes of all options as they are sent: `name=value`, with spaces between.
pub const OPTIONS: usize = 256;

/// The value of an option that is open.
const OPEN: &str = "?";

/// Magic and version: the part that every version begins with.
pub(super) const OPENING: usize = 12;

/// Bytes of a hello on the wire, in each direction.
pub const WIRE_BYTES: usize = OPENING + 32 + 5 * 4 + 32 + 4 * TEXT + OPTIONS + 3 * 33;

/// A hello as it arrived, its texts fit to be shown.
pub(super) struct Theirs {
    pub(super) nonce: [u8; 32],
    pub(super) me: PartyId,
    pub(super) peer: PartyId,
    pub(super) parties: u16,
    pub(super) kappa: u32,
    pub(super) rho: u32,
    pub(super) program_digest: [u8; 32],
    /// Protocol, program, owners, recipients.
    pub(super) texts: [(String, [u8; 32]); 4],
    pub(super) options: Vec<(String, Option<String>)>,
    pub(super) key: Option<[u8; 32]>,
    pub(super) peer_key: Option<[u8; 32]>,
    pub(super) group: Option<[u8; 32]>,
}

/// The hello to one peer.
pub(super) fn encode(hello: &Hello, peer: PartyId, nonce: &[u8; 32]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(WIRE_BYTES);
    bytes.extend(MAGIC);
    bytes.extend(WIRE_VERSION.to_le_bytes());
    bytes.extend(nonce);
    let [me, to, parties] = [hello.me.0, peer.0, hello.parties].map(u32::from);
    for number in [me, to, parties, hello.params.kappa, hello.params.rho] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(hello.program_digest);
    for text in [&hello.protocol, &hello.program, &hello.owners, &hello.recipients] {
        let shown = shown(text);
        bytes.extend(shown.as_bytes());
        bytes.resize(bytes.len() + SHOWN - shown.len(), 0);
        bytes.extend(text_digest(text));
    }
    let options = options(&hello.options);
    if options.len() > OPTIONS || options.contains(unfit) {
        return Err(Error::invalid_input(format!("the options of {} are too long for a hello", hello.protocol)));
    }
    bytes.extend(options.as_bytes());
    bytes.resize(bytes.len() + OPTIONS - options.len(), 0);
    for digest in [&hello.key, &hello.peer_keys[peer], &hello.group] {
        bytes.extend(optional(digest));
    }
    Ok(bytes)
}

/// The reason why a party that speaks comity is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No such party is expected here.
    NotExpected,
    /// The same party has connected again, and the later connection counts.
    CameAgain,
    /// All parties have met already.
    UnderWay,
}

/// What a listening party sends instead of its hello before it closes a connection that it does not take.
pub fn farewell(why: Refusal, me: PartyId, parties: u16) -> Vec<u8> {
    let mut bytes = AWAY.to_vec();
    bytes.push(match why {
        Refusal::NotExpected => 0,
        Refusal::CameAgain => 1,
        Refusal::UnderWay => 2,
    });
    bytes.extend(me.0.to_le_bytes());
    bytes.extend(parties.to_le_bytes());
    bytes
}

/// The error of a party that gets this farewell.
pub(super) fn turned_away(me: PartyId, reason: [u8; REASON]) -> Error {
    let [peer, parties] = [[reason[1], reason[2]], [reason[3], reason[4]]].map(u16::from_le_bytes);
    let why = match reason[0] {
        0 => "expects no such party",
        1 => "has been met by another one that says it is this party",
        2 => "has met all parties already",
        _ => return Error::malformed("the peer turned this party away with a reason that this version does not know"),
    };
    Error::mismatch("parties", format!("party {me}"), format!("party {peer} of {parties}, which {why}"))
}

/// A digest, if there is one.
pub(super) fn optional(digest: &Option<[u8; 32]>) -> [u8; 33] {
    let mut bytes = [0; 33];
    if let Some(digest) = digest {
        bytes[0] = 1;
        bytes[1..].copy_from_slice(digest);
    }
    bytes
}

/// Options as one text.
pub(super) fn options(options: &Agreed) -> String {
    let word = |(name, value): &(&str, Option<String>)| {
        // Spaces stand between words.
        format!("{name}={}", value.as_deref().unwrap_or(OPEN).replace(' ', "_"))
    };
    options.iter().map(word).collect::<Vec<_>>().join(" ")
}

impl Theirs {
    pub(super) fn decode(bytes: &[u8; WIRE_BYTES - OPENING]) -> Result<Theirs> {
        let mut fields = Fields(bytes);
        Ok(Theirs {
            nonce: fields.take(),
            me: PartyId(fields.small()?),
            peer: PartyId(fields.small()?),
            parties: fields.small()?,
            kappa: fields.number(),
            rho: fields.number(),
            program_digest: fields.take(),
            texts: [fields.text()?, fields.text()?, fields.text()?, fields.text()?],
            options: fields.options()?,
            key: fields.optional()?,
            peer_key: fields.optional()?,
            group: fields.optional()?,
        })
    }
}

/// The rest, still to be decoded, of a buffer whose size was fixed.
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

    fn small(&mut self) -> Result<u16> {
        self.number().try_into().map_err(|_| Error::malformed("a party's number in the peer's hello is too large"))
    }

    fn text(&mut self) -> Result<(String, [u8; 32])> {
        Ok((self.words::<SHOWN>()?, self.take()))
    }

    fn options(&mut self) -> Result<Vec<(String, Option<String>)>> {
        let text = self.words::<OPTIONS>()?;
        let option = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), (value != OPEN).then(|| value.replace('_', " "))))
        };
        let options: Option<Vec<_>> = text.split(' ').filter(|word| !word.is_empty()).map(option).collect();
        options.ok_or_else(|| Error::malformed("an option in the peer's hello is not NAME=VALUE"))
    }

    fn optional(&mut self) -> Result<Option<[u8; 32]>> {
        match (self.take(), self.take()) {
            ([0], digest) if digest == [0; 32] => Ok(None),
            ([1], digest) => Ok(Some(digest)),
            _ => Err(Error::malformed("the byte before a key in the peer's hello is neither 0 nor 1")),
        }
    }

    /// A text that fills up with zeros.
    fn words<const N: usize>(&mut self) -> Result<String> {
        let shown: [u8; N] = self.take();
        let end = shown.iter().position(|&byte| byte == 0).unwrap_or(N);
        if shown[end..].iter().any(|&byte| byte != 0) {
            return Err(Error::malformed("a text in the peer's hello has bytes after its end"));
        }
        let text =
            str::from_utf8(&shown[..end]).map_err(|_| Error::malformed("a text in the peer's hello is not UTF-8"))?;
        if text.contains(unfit) {
            return Err(Error::malformed("a text in the peer's hello has characters that cannot be shown"));
        }
        Ok(text.to_owned())
    }
}

/// Whether a terminal could act on a character, or show it as something else.
fn unfit(c: char) -> bool {
    !(c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ')
}

/// The beginning of a text, in at most [`SHOWN`] bytes and fit to be shown.
pub(super) fn shown(text: &str) -> String {
    const MORE: &str = "...";
    let mut shown = text.replace(unfit, "?");
    if shown.len() > SHOWN {
        shown.truncate(shown.floor_char_boundary(SHOWN - MORE.len()));
        shown += MORE;
    }
    shown
}

pub(super) fn text_digest(text: &str) -> [u8; 32] {
    SessionId::derive("text in a hello", &[text.as_bytes()]).to_bytes()
}

pub(super) fn named(name: &str, digest: &[u8; 32]) -> String {
    format!("{name} (digest {})", open(digest))
}

/// The beginning of a digest.
pub(super) fn open(digest: &[u8; 32]) -> String {
    format!("{}..", hex(&digest[..8]))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
