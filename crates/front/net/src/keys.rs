//! A directory with a party's key and the fingerprints of the peers that it trusts.
//!
//! `identity.der` is the secret key (PKCS #8), readable by its owner only. `trusted` is a text file with one line,
//! `PARTY FINGERPRINT`, for each peer. A key is trusted by hand, once, and bound to a party's id; nothing here
//! trusts a key because it was seen before.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use comity_channel::PerPeer;
use comity_core::{Error, PartyId, Result};
use comity_files::{Access, OwnersAlone, others_may};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::identity::{Fingerprint, Identity};
use crate::settings::Security;

/// The most bytes of a file of keys or parties.
pub(crate) const MAX_FILE: u64 = 1 << 20;

/// A directory with a party's key and the fingerprints that it trusts.
#[derive(Clone, Debug)]
pub struct KeyDir {
    dir: PathBuf,
}

impl KeyDir {
    /// The directory at this path. Nothing is read or made yet.
    pub fn new(dir: impl Into<PathBuf>) -> KeyDir {
        KeyDir { dir: dir.into() }
    }

    /// Makes a key pair, and the directory if it does not exist. The file appears whole, with mode 0600, or
    /// not at all.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if there is a key already: it is never overwritten.
    /// [`Io`](comity_core::Kind).
    pub fn create(&self, rng: &mut dyn CryptoRng) -> Result<Identity> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.dir).map_err(|error| failed("cannot make the folder", &self.dir, error))?;
        let identity = Identity::generate(rng);
        let path = self.identity_path();
        match comity_files::create(&path, Access::Owner, identity.to_pkcs8()) {
            Ok(()) => Ok(identity),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Error::invalid_input(format!(
                "{} holds a key already, which comity does not overwrite: take another folder",
                path.display()
            ))),
            Err(error) => Err(failed("cannot write the key to", &path, error)),
        }
    }

    /// This party's key pair.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if there is no key, or other users may read it, or replace it;
    /// [`Io`](comity_core::Kind).
    pub fn identity(&self) -> Result<Identity> {
        owned(&self.dir)?;
        let path = self.identity_path();
        let Some(bytes) = read_own(&path, OwnersAlone::Use, MAX_FILE)? else {
            return Err(Error::invalid_input(format!(
                "there is no key at {}: make one with `comity key new {}`",
                path.display(),
                self.dir.display()
            )));
        };
        Identity::from_pkcs8(&bytes).map_err(|error| Error::invalid_input(format!("{}: {error}", path.display())))
    }

    /// Trusts the key with this fingerprint to be `party`'s from now on. Other processes that do so at the
    /// same time wait.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if it is the folder's own key, if another key is already trusted
    /// to be this party's, or if this key is trusted to be another party's: make such a change by hand, in
    /// the file. [`Io`](comity_core::Kind).
    pub fn trust(&self, party: u32, fingerprint: Fingerprint) -> Result<()> {
        if self.identity().is_ok_and(|own| own.fingerprint() == fingerprint) {
            return Err(Error::invalid_input(format!(
                "this is the fingerprint of this party's own key, in {}: give the other party's fingerprint, which \
                    `comity key show` prints there",
                self.dir.display()
            )));
        }
        let path = self.trusted_path();
        let _lock = lock_beside(&path)?;
        let mut trusted = self.trusted()?;
        for &(other, known) in &trusted {
            let clash = match (other == party, known == fingerprint) {
                (true, true) => return Ok(()),
                (true, false) => format!("the key {known} is trusted to be party {party}'s"),
                (false, true) => format!("this key is trusted to be party {other}'s"),
                (false, false) => continue,
            };
            return Err(Error::invalid_input(format!(
                "{clash} already: if the key has changed, remove its line from {} first",
                path.display()
            )));
        }
        trusted.push((party, fingerprint));
        trusted.sort_by_key(|&(party, _)| party);
        let text: String = trusted.iter().map(|(party, fingerprint)| format!("{party} {fingerprint}\n")).collect();
        replace(&path, Access::Owner, text.as_bytes())
    }

    /// The parties that are trusted, and their keys' fingerprints, by party.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) names the line that is wrong, or says that others may write the
    /// file; [`Io`](comity_core::Kind).
    pub fn trusted(&self) -> Result<Vec<(u32, Fingerprint)>> {
        let path = self.trusted_path();
        let bytes = read_own(&path, OwnersAlone::Write, MAX_FILE)?.unwrap_or_default();
        KeyDir::read_trusted(&path, &bytes)
    }

    /// The content of a file of trusted keys at this path. Not for users: fuzzing reads such files from
    /// memory.
    ///
    /// # Errors
    ///
    /// As [`KeyDir::trusted`].
    #[doc(hidden)]
    pub fn read_trusted(path: &Path, bytes: &[u8]) -> Result<Vec<(u32, Fingerprint)>> {
        let mut trusted: Vec<(u32, Fingerprint)> = Vec::new();
        for (number, line) in (1..).zip(String::from_utf8_lossy(bytes).lines()) {
            let wrong =
                |why: &dyn std::fmt::Display| Error::invalid_input(format!("{}, line {number}: {why}", path.display()));
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (party, fingerprint) = line.split_once(' ').ok_or_else(|| wrong(&"not PARTY FINGERPRINT"))?;
            let party = party.parse().map_err(|_| wrong(&format!("{party:?} is not a party's id")))?;
            let fingerprint = fingerprint.parse().map_err(|error| wrong(&error))?;
            if trusted.iter().any(|known| known.0 == party || known.1 == fingerprint) {
                return Err(wrong(&"an earlier line has the party or its key"));
            }
            trusted.push((party, fingerprint));
        }
        Ok(trusted)
    }

    /// The [`Security`] that party `me` of `parties` needs so that its connections to all others are protected by TLS.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if there is no key of this party's own, or no trusted key for one
    /// of the others.
    pub fn security(&self, me: PartyId, parties: u16) -> Result<Security> {
        let identity = self.identity()?;
        let trusted = self.trusted()?;
        let key = |party: PartyId| {
            let known = trusted.iter().find(|known| known.0 == u32::from(party.0));
            known.map(|known| known.1).ok_or_else(|| {
                Error::invalid_input(format!(
                    "no key is trusted to be party {party}'s: ask that party for what `comity key show` prints there, by a \
                     way that you trust, and run `comity key trust {} --party {party} FINGERPRINT`",
                    self.dir.display()
                ))
            })
        };
        let keys: Result<Vec<Fingerprint>> = (0..parties).map(PartyId).filter(|&party| party != me).map(key).collect();
        let peers = PerPeer::from_vec(me, keys?)
            .ok_or_else(|| Error::invalid_input(format!("party {me} does not exist among {parties} parties")))?;
        Ok(Security::Tls { identity, peers })
    }

    /// The [`Security`] of party `me` of two whose peer may be anybody with a trusted key: a service and its
    /// clients. The [connection](crate::Connection::key) says which of them came.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if there is no key of this party's own, or no trusted key.
    pub fn service(&self, me: PartyId) -> Result<Security> {
        let identity = self.identity()?;
        let keys: Vec<Fingerprint> = self.trusted()?.into_iter().map(|(_, key)| key).collect();
        match PerPeer::from_vec(me, keys) {
            Some(peers) if peers.parties() > 1 => Ok(Security::Tls { identity, peers }),
            _ => Err(Error::invalid_input(format!(
                "no client's key is trusted: ask each for what `comity key show` prints there, by a way that you trust, and run \
                 `comity key trust {} --party N FINGERPRINT`, with a number for each",
                self.dir.display()
            ))),
        }
    }

    fn identity_path(&self) -> PathBuf {
        self.dir.join("identity.der")
    }

    fn trusted_path(&self) -> PathBuf {
        self.dir.join("trusted")
    }
}

/// Writes a file whole or not at all, whatever stood there before.
pub(crate) fn replace(path: &Path, access: Access, bytes: &[u8]) -> Result<()> {
    comity_files::replace(path, access, bytes).map_err(|error| failed("cannot write", path, error))
}

/// Locks the folder of this file, and waits until no other process holds the lock, which lasts as long as the
/// returned file lives. The lock is on the folder since the file itself is replaced. `None` on systems that
/// cannot lock folders.
pub(crate) fn lock_beside(path: &Path) -> Result<Option<File>> {
    let folder = comity_files::folder_of(path);
    if !cfg!(unix) {
        return Ok(None);
    }
    let file = File::open(folder).map_err(|error| failed("cannot open the folder", folder, error))?;
    match file.lock() {
        Ok(()) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(failed("cannot lock the folder", folder, error)),
    }
}

/// The bytes of a short file of which something is its owner's alone; `None` if there is no such file. A pipe or a
/// device, which might never end, is refused, and so is a file that is longer than `longest`: a part of it could
/// say something else.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) says what is wrong with it; [`Io`](comity_core::Kind).
pub fn read_own(path: &Path, alone: OwnersAlone, longest: u64) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let cannot = |error| failed("cannot read", path, error);
    let refused = |why: &dyn std::fmt::Display| Error::invalid_input(format!("{}: {why}", path.display()));
    match fs::metadata(path) {
        Ok(data) if data.is_file() => {}
        Ok(data) if data.is_dir() => return Err(refused(&"it is a folder, not a file")),
        Ok(_) => return Err(refused(&"it is a pipe or a device: save its content to a file first")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(error)),
    }
    let file = File::open(path).map_err(cannot)?;
    check_mode(&file, path, alone)?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(longest + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > longest {
        return Err(refused(&format!("it has more than {longest} bytes, which is too long for such a file")));
    }
    Ok(Some(bytes))
}

/// Checks that nobody else can change this file, or put other files into this folder. A path that does not
/// exist passes.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) says how to mend it; [`Io`](comity_core::Kind).
pub fn owned(path: &Path) -> Result<()> {
    match File::open(path) {
        Ok(file) => check_mode(&file, path, OwnersAlone::Write),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // Elsewhere a folder is no file.
        Err(_) if !cfg!(unix) => Ok(()),
        Err(error) => Err(failed("cannot read", path, error)),
    }
}

fn check_mode(file: &File, path: &Path, alone: OwnersAlone) -> Result<()> {
    let found = others_may(file, path, alone).map_err(|error| failed("cannot read", path, error))?;
    found.map_or(Ok(()), |found| Err(Error::invalid_input(found.to_string())))
}

fn failed(what: &str, path: &Path, source: std::io::Error) -> Error {
    Error::system(format!("{what} {}", path.display()), source)
}
