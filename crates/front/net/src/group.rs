//! A group: the parties of many runs, in one file that all of them hold.
//!
//! ```toml
//! [[party]]
//! id = 0
//! name = "alice"
//! address = "alice.example:7000"
//! key = "comity:…"
//! ```
//!
//! Whoever has the same file knows everybody's key: to compare its one [`Digest`] by a way that is trusted
//! takes the place of comparing a fingerprint for each pair. The digest is in the hello, too, so that files
//! that differ are found there.
//!
//! An address of `-` is that of a party that nobody can call, such as one behind a router: it calls all
//! others. Two of them meet at a [`Relay`](crate::Relay), if the file says where one is, before the parties:
//! `relay = "relay.example:7431"`.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use comity_channel::PerPeer;
use comity_core::{Error, PartyId, Result};
use comity_files::{Access, OwnersAlone};
use serde::{Deserialize, Serialize};

use crate::address::is_address;
use crate::identity::{Fingerprint, Identity, base32};
use crate::keys::{MAX_FILE, lock_beside, read_own, replace};
use crate::settings::Security;

/// The most parties of a group, as of a program.
pub const MOST: usize = 64;

/// The longest name, in bytes.
const LONGEST: usize = 32;

/// The address of a party that nobody can call.
const NOWHERE: &str = "-";

/// The parties of a group, in the order of their ids, which are 0, 1 and so on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Line>")]
pub struct PartyGroup {
    members: Vec<Member>,
    /// The address of the relay, where two parties meet if neither can be called.
    relay: Option<String>,
}

/// One party of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The party's number.
    pub id: PartyId,
    /// The party's name: letters, digits, `-` and `_`, a letter first.
    pub name: String,
    /// The address where the party listens, `HOST:PORT` (`[…]:PORT` for IPv6); `None` if nobody can call it.
    pub address: Option<String>,
    /// The fingerprint of the party's key; `None` in a group that speaks plain text on one machine.
    pub key: Option<Fingerprint>,
}

/// The parties that a party calls, and where.
pub type Calls = Vec<(PartyId, String)>;

/// The ways by which a party reaches all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways<'a> {
    /// The address where the party has to listen, if anyone calls it.
    pub listens: Option<&'a str>,
    /// The parties that it calls.
    pub calls: Calls,
    /// The parties that can neither be called by it nor call it.
    pub apart: Vec<PartyId>,
}

/// The digest that identifies a group: 256 bits of BLAKE3 over the whole content of its file.
///
/// As text it is `group:` and 10 groups of 4 letters and digits, 200 bits: enough that no member can make two
/// files with the same text, and short enough to be read out on the telephone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

/// The group's file, as it is written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(skip_serializing_if = "Option::is_none")]
    relay: Option<String>,
    #[serde(default)]
    party: Vec<Line>,
}

/// A party, as it is written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: u16,
    name: String,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl TryFrom<Vec<Line>> for PartyGroup {
    type Error = Error;

    fn try_from(lines: Vec<Line>) -> Result<PartyGroup> {
        let member = |line: Line| {
            let Line { id, name, address, key } = line;
            let key = key.map(|key| key.parse()).transpose()?;
            Ok(Member { id: PartyId(id), name, address: Some(address).filter(|a| a != NOWHERE), key })
        };
        PartyGroup::new(lines.into_iter().map(member).collect::<Result<Vec<_>>>()?)
    }
}

impl PartyGroup {
    /// The group in this file; `None` if there is no such file.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says what is wrong, and in which line, or that others may write
    /// the file; [`Io`](comity_core::Kind).
    pub fn read(path: &Path) -> Result<Option<PartyGroup>> {
        let Some(bytes) = read_own(path, OwnersAlone::Write, MAX_FILE)? else { return Ok(None) };
        let text = str::from_utf8(&bytes).map_err(|_| {
            Error::invalid_input(format!("{} is not UTF-8 text: a list of parties is a TOML file", path.display()))
        })?;
        let group =
            PartyGroup::parse(text).map_err(|why| Error::invalid_input(format!("{}: {why}", path.display())))?;
        Ok(Some(group))
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// [`Io`](comity_core::Kind).
    pub fn write(&self, path: &Path) -> Result<()> {
        replace(path, Access::Published, self.to_text().as_bytes())
    }

    /// Changes the group in this file, if there is one, and writes it back. Other processes that do so at the
    /// same time wait, so that no change is lost.
    ///
    /// # Errors
    /// Those of [`PartyGroup::read`] and of `make`, and [`Io`](comity_core::Kind).
    pub fn change(path: &Path, make: impl FnOnce(Option<PartyGroup>) -> Result<PartyGroup>) -> Result<PartyGroup> {
        let _lock = lock_beside(path)?;
        let group = make(PartyGroup::read(path)?)?;
        group.write(path)?;
        Ok(group)
    }

    /// The group that this text lists.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says what is wrong.
    pub fn parse(text: &str) -> Result<PartyGroup> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            Error::invalid_input(format!("line {line}: {}", error.message()))
        })?;
        let group = PartyGroup::try_from(file.party)?;
        match file.relay {
            Some(relay) => group.at_relay(&relay),
            None => Ok(group),
        }
    }

    /// The group of these parties.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if their ids are not 0, 1 and so on, there are no parties or more
    /// than [`MOST`], a name, an address or a key is refused or listed twice, or only some have a key.
    pub fn new(mut members: Vec<Member>) -> Result<PartyGroup> {
        let wrong = |why: String| Err(Error::invalid_input(why));
        members.sort_by_key(|member| member.id);
        if members.is_empty() || members.len() > MOST {
            return wrong(format!("{} parties are listed, and a group has 1 to {MOST}", members.len()));
        }
        let (mut names, mut addresses, mut keys) = (HashSet::new(), HashSet::new(), HashSet::new());
        for (expected, member) in (0..).zip(&members) {
            let Member { id, name, address, key } = member;
            if id.0 != expected {
                return wrong(format!("party {expected} is missing, or listed twice: ids are 0, 1 and so on"));
            }
            check_name(name)?;
            if !names.insert(name.to_lowercase()) {
                return wrong(format!("two parties are called {name}"));
            }
            if let Some(address) = address
                && !is_address(address)
            {
                return wrong(format!(
                    "party {id} ({name}): {address:?} is not an address: give HOST:PORT, [IPV6]:PORT, or - if nobody \
                        can call it"
                ));
            }
            if address.as_ref().is_some_and(|address| !addresses.insert(address)) {
                return wrong(format!("party {id} ({name}) has the address of another party"));
            }
            if key.as_ref().is_some_and(|key| !keys.insert(*key)) {
                return wrong(format!("party {id} ({name}) has the key of another party"));
            }
            if key.is_some() != members[0].key.is_some() {
                return wrong(format!("party {id} ({name}): in one file either all parties have a key, or none has"));
            }
        }
        Ok(PartyGroup { members, relay: None })
    }

    /// A group of one party, to which others are added.
    ///
    /// # Errors
    /// As [`PartyGroup::new`].
    pub fn begin(name: &str, address: Option<&str>, key: Option<Fingerprint>) -> Result<PartyGroup> {
        PartyGroup { members: Vec::new(), relay: None }.and(name, address, key)
    }

    /// This group with one more party, whose number is the next one.
    ///
    /// # Errors
    /// As [`PartyGroup::new`].
    pub fn and(&self, name: &str, address: Option<&str>, key: Option<Fingerprint>) -> Result<PartyGroup> {
        let mut members = self.members.clone();
        let id = PartyId(members.len().min(MOST) as u16);
        members.push(Member { id, name: name.to_owned(), address: address.map(str::to_owned), key });
        Ok(PartyGroup { relay: self.relay.clone(), ..PartyGroup::new(members)? })
    }

    /// This group with a relay, where two parties meet if neither can be called.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it is not an address, or the parties have no keys.
    pub fn at_relay(self, relay: &str) -> Result<PartyGroup> {
        if !is_address(relay) {
            return Err(Error::invalid_input(format!(
                "relay {relay:?} is not an address: give HOST:PORT or [IPV6]:PORT"
            )));
        }
        if self.members.iter().any(|member| member.key.is_none()) {
            return Err(Error::invalid_input(
                "a relay is not trusted and carries TLS only: list a key for each party (`comity key show` prints it)",
            ));
        }
        Ok(PartyGroup { relay: Some(relay.to_owned()), ..self })
    }

    /// The address of the relay, where two parties meet if neither can be called.
    pub fn relay(&self) -> Option<&str> {
        self.relay.as_deref()
    }

    /// All parties, in order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.members.len() as u16
    }

    /// The party with this name or number.
    pub fn find(&self, text: &str) -> Option<PartyId> {
        let same = |member: &&Member| member.name.eq_ignore_ascii_case(text) || member.id.to_string() == text;
        self.members.iter().find(same).map(|member| member.id)
    }

    /// The party that has this key.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if no party has it.
    pub fn whose(&self, key: &Fingerprint) -> Result<PartyId> {
        let member = self.members.iter().find(|member| member.key.as_ref() == Some(key));
        member.map(|member| member.id).ok_or_else(|| {
            Error::invalid_input(format!(
                "none of the group's {} parties has the key {key}: the group lacks this party, or --tls names another \
                    folder's keys",
                self.members.len()
            ))
        })
    }

    /// The [`Security`] that `me` needs so that its connections to all others are protected by TLS.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the group has no keys, or has another key for `me` than this.
    pub fn security(&self, me: PartyId, identity: Identity) -> Result<Security> {
        if self.whose(&identity.fingerprint())? != me {
            return Err(Error::invalid_input(format!("the key in the folder is not party {me}'s in the group")));
        }
        let key = |party: PartyId| self.members[usize::from(party.0)].key.expect("all have a key if one has");
        Ok(Security::Tls { identity, peers: PerPeer::new(me, self.parties(), key) })
    }

    /// The ways from `me` to all others. The lower id of each pair is called, unless nobody can call it;
    /// where neither can be called, both call `relay`, or else the relay that the group has.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are two parties neither of which can be called, and no
    /// relay.
    pub fn ways(&self, me: PartyId, relay: Option<&str>) -> Result<Ways<'_>> {
        let at: Vec<_> = self.members.iter().map(|member| (member.id, member.address.as_deref())).collect();
        let mut ways = ways(me, &at);
        match (relay.or(self.relay()), ways.apart.first()) {
            (Some(relay), _) => ways.calls.extend(ways.apart.iter().map(|party| (*party, relay.to_owned()))),
            (None, None) => {}
            (None, Some(other)) => {
                let [one, other] =
                    [me.min(*other), me.max(*other)].map(|party| &self.members[usize::from(party.0)].name);
                return Err(Error::invalid_input(format!(
                    "{one} and {other} have no addresses, so neither can call the other: give one of them an address, \
                        or let both meet at a relay (--relay HOST:PORT, see `comity relay --help`)"
                )));
            }
        }
        Ok(ways)
    }

    /// The digest that identifies the group.
    pub fn digest(&self) -> Digest {
        let mut hash = blake3::Hasher::new_derive_key("comity group v1");
        hash.update(&self.parties().to_le_bytes());
        for Member { id, name, address, key } in &self.members {
            hash.update(&id.0.to_le_bytes());
            for text in [name.as_str(), address.as_deref().unwrap_or(NOWHERE)] {
                hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
            hash.update(&[u8::from(key.is_some())]).update(&key.map_or([0; 32], Fingerprint::to_bytes));
        }
        // The parties' number has said where they end.
        if let Some(relay) = &self.relay {
            hash.update(relay.as_bytes());
        }
        Digest(*hash.finalize().as_bytes())
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let line = |member: &Member| Line {
            id: member.id.0,
            name: member.name.clone(),
            address: member.address.clone().unwrap_or_else(|| NOWHERE.to_owned()),
            key: member.key.map(|key| key.to_string()),
        };
        let file = File { relay: self.relay.clone(), party: self.members.iter().map(line).collect() };
        toml::to_string(&file).expect("a table of texts and numbers")
    }
}

/// The ways by which `me` reaches all others, of parties at these addresses. The lower id of each pair is
/// called, unless nobody can call it; a party is apart if neither of the two can be called.
pub fn ways<'a>(me: PartyId, at: &[(PartyId, Option<&'a str>)]) -> Ways<'a> {
    let own = at.iter().find(|(id, _)| *id == me).and_then(|(_, address)| *address);
    let mut ways = Ways::default();
    for &(other, theirs) in at.iter().filter(|(id, _)| *id != me) {
        match (own, theirs) {
            (None, None) => ways.apart.push(other),
            (Some(_), None) => ways.listens = own,
            (Some(_), Some(_)) if me < other => ways.listens = own,
            (_, Some(address)) => ways.calls.push((other, address.to_owned())),
        }
    }
    ways
}

/// Whether a name is fit: names are words that no shell, terminal or grammar of a flag takes for something else.
fn check_name(name: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= LONGEST
        && name.chars().all(fits)
        && !name.eq_ignore_ascii_case("all")
    {
        return Ok(());
    }
    Err(Error::invalid_input(format!(
        "the name {name:?} of a party is refused: take up to {LONGEST} letters, digits, - and _, a letter first, and \
            not \"all\""
    )))
}

impl Digest {
    /// The digest as text, with the word `of` in front.
    pub fn text(&self, of: &str) -> String {
        format!("{of}:{}", base32(&self.0, 40))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("group"))
    }
}
