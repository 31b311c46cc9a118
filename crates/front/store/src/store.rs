//! `Store`: what is there, what is made, and what is taken.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use comity_core::{Error, Result, SessionId};
use rand_core::CryptoRng;

use crate::deal;
use crate::folder::{self, Folder, Stage, failed};
use crate::seal::{Content, HEAD, Seal, damaged};
use crate::{Key, Meta, Reader, Writer};

/// A folder of preparations, each used at most once. Its lock keeps other processes out as long as this, or a reader or
/// writer of it, lives; on network file systems that depends on the server.
pub struct Store {
    pub(crate) folder: Arc<Folder>,
    /// What [`Store::destroyed`] tells.
    pub(crate) destroyed: Vec<Meta>,
}

impl Store {
    /// The store in this folder.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is none, another process uses it, the key is not its key, or it cannot be read.
    pub fn open(dir: &Path, key: &Key) -> Result<Store> {
        let path = dir.join("store");
        if !path.exists() {
            return Err(Error::invalid_input(format!(
                "there is no store at {}: `comity prepare` makes one",
                dir.display()
            )));
        }
        let lock = folder::lock(dir)?;
        let file = fs::read(&path).map_err(|error| failed("cannot read", &path, error))?;
        let root = key.unlock(&file, &path)?;
        Store::tidied(Folder::new(dir.to_owned(), root, lock))
    }

    /// The store in this folder; a new one with this key if there is none.
    ///
    /// # Errors
    /// As [`Store::open`], but for a store that is not there.
    pub fn open_or_create(dir: &Path, key: &Key, rng: &mut dyn CryptoRng) -> Result<Store> {
        let path = dir.join("store");
        if path.exists() {
            return Store::open(dir, key);
        }
        folder::make(dir)?;
        let lock = folder::lock(dir)?;
        // Nobody made it while this process waited for the lock, since the lock does not wait.
        let (file, root) = key.protect(rng)?;
        let draft = dir.join("store.partial");
        folder::remove(&draft)?;
        folder::new_file(&draft, &file)?;
        fs::rename(&draft, &path).map_err(|error| failed("cannot make", &path, error))?;
        folder::sync(dir)?;
        Store::tidied(Folder::new(dir.to_owned(), root, lock))
    }

    /// Removes what a crash left: half of an entry or a deal, and what was being used.
    fn tidied(folder: Folder) -> Result<Store> {
        for (id, stage) in folder.entries()? {
            if stage != Stage::Ready {
                folder::remove(&folder.path(&id, stage))?;
            }
        }
        let destroyed = deal::tidy(&folder)?;
        Ok(Store { folder: Arc::new(folder), destroyed })
    }

    /// What is ready, the oldest first. Entries that are damaged are left out, and no reason to do without the others:
    /// [`Store::damaged`] names them.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn list(&self) -> Result<Vec<Meta>> {
        Ok(self.ready()?.entries.into_iter().map(|(_, meta)| meta).collect())
    }

    /// The entries and deals that cannot be used, since their heads or records are damaged: each says which file it is,
    /// and what to do.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn damaged(&self) -> Result<Vec<Error>> {
        let mut damaged = self.ready()?.damaged;
        damaged.extend(self.damaged_deals()?);
        Ok(damaged)
    }

    /// All entries that are ready.
    fn ready(&self) -> Result<Ready> {
        let (mut entries, mut damaged) = (Vec::new(), Vec::new());
        for (id, stage) in self.folder.entries()? {
            if stage == Stage::Ready {
                match self.open_entry(&id, &self.folder.path(&id, stage))? {
                    Ok(entry) => entries.push((entry.number, entry.meta)),
                    Err(why) => damaged.push(why),
                }
            }
        }
        entries.sort_by_key(|(number, _)| *number);
        Ok(Ready { entries, damaged })
    }

    /// The bytes of all that is there.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn bytes(&self) -> Result<u64> {
        let mut sum = 0;
        for (id, ending) in self.folder.files()? {
            let path = self.folder.named(&id, &ending);
            sum += fs::metadata(&path).map_err(|error| failed("cannot read", &path, error))?.len();
        }
        Ok(sum)
    }

    /// Begins a new entry. It is not there before [`Writer::finish`].
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is something of this id, a name is too long, or the disk refuses.
    pub fn create(&self, meta: &Meta, rng: &mut dyn CryptoRng) -> Result<Writer> {
        self.check_new(meta)?;
        let number = self.ready()?.entries.last().map_or(0, |(number, _)| number.saturating_add(1));
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        let (head, seal) = Seal::new(&self.folder, Content::Entry, salt, number, meta);
        Writer::new(self.folder.clone(), meta.id, &head, seal)
    }

    /// Whether something new may have this meta.
    pub(crate) fn check_new(&self, meta: &Meta) -> Result<()> {
        if meta.protocol.len().max(meta.peer.len()) > 127 {
            return Err(Error::invalid_input("an entry's protocol and peer have at most 127 bytes each"));
        }
        if self.folder.files()?.iter().any(|(id, _)| *id == meta.id) {
            return Err(Error::invalid_input("the store has an entry of this session already"));
        }
        Ok(())
    }

    /// Takes an entry out of the store, for good: it is marked as used, on the disk, before this returns, and deleted when the
    /// reader is dropped.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if no entry of this id is ready, it is damaged, or the disk refuses.
    pub fn take(&self, id: &SessionId) -> Result<Reader> {
        if !self.folder.path(id, Stage::Ready).exists() {
            return Err(Error::invalid_input("the store has no such entry, or it has been used"));
        }
        self.folder.promote(id, Stage::Ready, Stage::Used)?;
        let path = self.folder.path(id, Stage::Used);
        let opened = self.open_entry(id, &path).flatten();
        if opened.is_err() {
            folder::remove(&path)?;
        }
        let Entry { seal, file, .. } = opened?;
        Reader::new(self.folder.clone(), path, file, HEAD, seal)
    }

    /// Deletes an entry that nobody will use, for instance since the peer has lost its part.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn discard(&self, id: &SessionId) -> Result<()> {
        folder::remove(&self.folder.path(id, Stage::Ready))
    }

    /// Opens an entry. Damage is told apart from a disk that refuses.
    fn open_entry(&self, id: &SessionId, path: &Path) -> Result<Result<Entry>> {
        let mut file = File::open(path).map_err(|error| failed("cannot read", path, error))?;
        let mut head = [0; HEAD];
        match file.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Err(damaged(path))),
            read => read.map_err(|error| failed("cannot read", path, error))?,
        }
        let opened = Seal::open_head(&self.folder, Content::Entry, id, &head);
        let opened = opened.map(|(number, meta, seal)| Entry { number, meta, seal, file });
        Ok(opened.ok_or_else(|| damaged(path)))
    }
}

/// The entries that are ready.
struct Ready {
    /// With their numbers, the oldest first.
    entries: Vec<(u64, Meta)>,
    /// Why others cannot be used.
    damaged: Vec<Error>,
}

/// An entry whose head was read.
struct Entry {
    number: u64,
    meta: Meta,
    seal: Seal,
    /// Where its chunks begin.
    file: File,
}
