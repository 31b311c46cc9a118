//! The first message of a session: who are you, and do we want the same thing?
//!
//! Each party sends every other one a hello of [`WIRE_BYTES`] bytes and then reads theirs; nobody waits for
//! another, so it costs one flight. Everything that must agree is in it, and each difference is a
//! [`Mismatch`](comity_core::Kind) with both values, on both sides. Three parties and more then tell each
//! other the session's id, so that all have met the same parties who want the same: one flight more.
//!
//! **The session's id** is a hash of all that they agree on, of every party's nonce, and of the keys by which
//! they know each other. It is new if one party is honest; a party that hears the others' nonces first can
//! choose among ids, so that nothing that has to be random may follow from it alone. With keys in it nobody
//! whom two parties both trust can pass the messages of one session on as those of another.
//!
//! **An option that follows from the program** is open at a party that does not say it, and then what the
//! others say holds.
//!
//! The hello itself is not authenticated; that is TLS's part.

mod wire;

use comity_core::{Error, Kind, Params, PartyId, Result, SessionId, listed};
use rand_core::CryptoRng;

use crate::channel::Channel;
use crate::echo::Echo;
use crate::foreign::no_comity;
use crate::mesh::Mesh;
use crate::per_peer::PerPeer;
use wire::{AWAY, MAGIC, OPENING, REASON, Theirs, encode, hex, named, open, shown, text_digest, turned_away};
pub use wire::{OPTIONS, Refusal, WIRE_BYTES, WIRE_VERSION, farewell};

/// A hello: the session that a party wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The task, the protocol's name first.
    pub protocol: String,
    /// The options that must be the same at all, by name; at most [`OPTIONS`] bytes in all. `None` leaves the
    /// value to the others.
    pub options: Agreed,
    /// The security parameters.
    pub params: Params,
    /// The id of this party.
    pub me: PartyId,
    /// The number of parties.
    pub parties: u16,
    /// The name that people call the program by. Not compared: a file and a built-in may be the same program.
    pub program: String,
    /// The program's digest.
    pub program_digest: [u8; 32],
    /// The owner of each input value.
    pub owners: String,
    /// The recipients of each output.
    pub recipients: String,
    /// The fingerprint of the key that this party proved to have, if it proved one.
    pub key: Option<[u8; 32]>,
    /// The fingerprints of the others' keys, if they proved any.
    pub peer_keys: PerPeer<Option<[u8; 32]>>,
    /// The digest of the list of parties that all hold, if there is one.
    pub group: Option<[u8; 32]>,
}

/// The field of a mismatch between the digests of lists, which it shows whole, in hex.
pub const GROUP: &str = "group of parties";

/// Options by name.
pub type Agreed = Vec<(&'static str, Option<String>)>;

/// The result of a greeting: what the parties have agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeted {
    /// The session's id, the same at all.
    pub session: SessionId,
    /// The options. Those that were open here have the other parties' values.
    pub options: Agreed,
}

/// Says hello to all peers, and returns the session's id once all want the same.
///
/// Compared in this order: wire version, number of parties, party ids, protocol, kappa, rho, program, owners,
/// recipients, options, keys, group.
///
/// # Errors
///
/// [`Mismatch`](comity_core::Kind) names the first difference, with both values and, among three parties and
/// more, the parties that want each; the peer meets the same error if it is honest.
/// [`Stranger`](comity_core::Kind) if a peer does not speak comity, with a guess at what it speaks. Errors of
/// the channels. Each names its party, where one alone differs.
/// [`EQUIVOCATION`](crate::checks::EQUIVOCATION), which names none, if somebody said different things to
/// different parties.
pub fn hello(mesh: &mut Mesh<'_>, ours: &Hello, rng: &mut dyn CryptoRng) -> Result<Greeted> {
    let mut nonce = [0; 32];
    rng.fill_bytes(&mut nonce);
    let peers: Vec<PartyId> = mesh.peers().collect();
    let mut sent = Vec::with_capacity(peers.len());
    for &peer in &peers {
        let bytes = encode(ours, peer, &nonce)?;
        let link = mesh.link(peer);
        sent.push(link.send(&bytes).and_then(|()| link.flush()));
    }
    let mut nonces = vec![nonce; peers.len() + 1];
    let mut options = ours.options.clone();
    let (mut gone, mut others) = (Ok(()), Vec::new());
    for (&peer, sent) in peers.iter().zip(sent) {
        match hear(ours.me, mesh.link(peer), sent.is_ok()) {
            Ok(theirs) => {
                if let Err(difference) = ours.compare(peer, &theirs, &mut options) {
                    others.push((peer, difference));
                }
                nonces[usize::from(peer.0)] = theirs.nonce;
                gone = gone.and(sent.map_err(|e| e.by(peer)));
            }
            // A party that has seen a difference is gone, perhaps before this party has: another's hello
            // tells why.
            Err(error) if matches!(error.kind, Kind::Closed) => gone = gone.and(Err(error.by(peer))),
            Err(error) => return Err(error.by(peer)),
        }
    }
    if !others.is_empty() {
        return Err(parted(ours.me, mesh.parties(), others));
    }
    gone?;
    let session = ours.session(&nonces, &options);
    if ours.parties > 2 {
        mesh.settle(Echo::new(session))?;
    }
    Ok(Greeted { session, options })
}

/// The first difference, with the parties on each side if there are more than two. It names a party if all
/// others agree.
fn parted(me: PartyId, parties: u16, mut others: Vec<(PartyId, Error)>) -> Error {
    let differ: Vec<PartyId> = others.iter().map(|(peer, _)| *peer).collect();
    let (first, error) = others.remove(0);
    let Kind::Mismatch { field, ours, theirs } = error.kind else { return error.by(first) };
    if parties == 2 {
        return Error::mismatch(field, ours, theirs).by(first);
    }
    let mut sides = vec![(theirs, vec![first])];
    for (peer, error) in others {
        let Kind::Mismatch { field: other, theirs, .. } = error.kind else { continue };
        match sides.iter_mut().find(|(wanted, _)| *wanted == theirs) {
            _ if other != field => {}
            Some((_, parties)) => parties.push(peer),
            None => sides.push((theirs, vec![peer])),
        }
    }
    let alike = (0..parties).map(PartyId).filter(|party| *party == me || !differ.contains(party));
    let sides: Vec<String> =
        sides.into_iter().map(|(wanted, parties)| format!("{wanted} ({})", listed(parties))).collect();
    let error = Error::mismatch(field, format!("{ours} ({})", listed(alike)), sides.join(", "));
    if let [only] = differ[..] { error.by(only) } else { error }
}

/// A peer's hello, as far as it can be read; from one that is gone and has taken nothing what it left.
fn hear(me: PartyId, ch: &mut dyn Channel, there: bool) -> Result<Theirs> {
    if there {
        return read(me, &mut |bytes| ch.recv(bytes));
    }
    let (_, mut from) = ch.split();
    read(me, &mut |bytes| from.recv(bytes))
}

fn read(me: PartyId, recv: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Theirs> {
    let mut opening = [0; OPENING];
    recv(&mut opening[..MAGIC.len()])?;
    if opening[..AWAY.len()] == AWAY {
        let mut reason = [0; REASON];
        recv(&mut reason)?;
        return Err(turned_away(me, reason));
    }
    if opening[..MAGIC.len()] != MAGIC {
        return Err(Error::stranger(no_comity(&opening)));
    }
    recv(&mut opening[MAGIC.len()..])?;
    let version = u32::from_le_bytes([opening[8], opening[9], opening[10], opening[11]]);
    compare("version of the wire format", WIRE_VERSION, version)?;
    let mut rest = [0; WIRE_BYTES - OPENING];
    recv(&mut rest)?;
    Theirs::decode(&rest)
}

impl Hello {
    fn compare(&self, peer: PartyId, theirs: &Theirs, options: &mut Agreed) -> Result<()> {
        compare("number of parties", self.parties, theirs.parties)?;
        if self.me == theirs.me {
            let ours = self.me.to_string();
            return Err(Error::mismatch("party ids", ours, format!("{} as well; each side needs its own", theirs.me)));
        }
        compare("id of the party at the peer", peer, theirs.me)?;
        compare("id of the party here", self.me, theirs.peer)?;
        let [protocol, program, owners, recipients] = &theirs.texts;
        compare_text("protocol", &self.protocol, protocol)?;
        compare("computational security kappa", self.params.kappa, theirs.kappa)?;
        compare("statistical security rho", self.params.rho, theirs.rho)?;
        if self.program_digest != theirs.program_digest {
            let ours = named(&shown(&self.program), &self.program_digest);
            return Err(Error::mismatch("program", ours, named(&program.0, &theirs.program_digest)));
        }
        compare_text("owners of the inputs", &self.owners, owners)?;
        compare_text("recipients of the outputs", &self.recipients, recipients)?;
        agree(options, &theirs.options)?;
        compare_key("key of the party here", &self.key, &theirs.peer_key)?;
        compare_key("key of the party at the peer", &self.peer_keys[peer], &theirs.key)?;
        let whole = |group: &Option<[u8; 32]>| group.map_or("none".to_owned(), |digest| hex(&digest));
        compare(GROUP, whole(&self.group), whole(&theirs.group))
    }

    /// The hash of all that the parties agree on, and everybody's nonce and key.
    fn session(&self, nonces: &[[u8; 32]], options: &Agreed) -> SessionId {
        let numbers = [WIRE_VERSION, u32::from(self.parties), self.params.kappa, self.params.rho];
        let mut keys = vec![self.key; nonces.len()];
        self.peer_keys.iter().for_each(|(peer, key)| keys[usize::from(peer.0)] = *key);
        let keys: Vec<u8> = keys.iter().chain([&self.group]).flat_map(wire::optional).collect();
        SessionId::derive(
            "hello",
            &[
                nonces.as_flattened(),
                &numbers.map(u32::to_le_bytes).concat(),
                self.protocol.as_bytes(),
                wire::options(options).as_bytes(),
                &self.program_digest,
                self.owners.as_bytes(),
                self.recipients.as_bytes(),
                &keys,
            ],
        )
    }
}

/// Takes over the options that are open here, and refuses those that differ.
fn agree(ours: &mut Agreed, theirs: &[(String, Option<String>)]) -> Result<()> {
    let names = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(" ");
    let (here, there) = (names(&mut ours.iter().map(|o| o.0)), names(&mut theirs.iter().map(|o| o.0.as_str())));
    if here != there {
        return Err(Error::mismatch("options of the protocol", here, there));
    }
    for ((name, ours), (_, theirs)) in ours.iter_mut().zip(theirs) {
        match (&ours, theirs) {
            (None, _) => ours.clone_from(theirs),
            (Some(here), Some(there)) if here != there => return Err(Error::mismatch(name, here, there)),
            _ => {}
        }
    }
    Ok(())
}

fn compare<T: PartialEq + ToString>(field: &'static str, ours: T, theirs: T) -> Result<()> {
    if ours == theirs { Ok(()) } else { Err(Error::mismatch(field, ours.to_string(), theirs.to_string())) }
}

fn compare_key(field: &'static str, ours: &Option<[u8; 32]>, theirs: &Option<[u8; 32]>) -> Result<()> {
    let text = |key: &Option<[u8; 32]>| key.map_or("none".to_owned(), |key| open(&key));
    if ours == theirs { Ok(()) } else { Err(Error::mismatch(field, text(ours), text(theirs))) }
}

fn compare_text(field: &'static str, ours: &str, theirs: &(String, [u8; 32])) -> Result<()> {
    let (text, theirs) = theirs;
    let digest = text_digest(ours);
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
