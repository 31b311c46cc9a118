//! `Store`: what is there, what is made, and what is taken.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use comity_core::{Error, Result, SessionId};
use comity_files::Access;
use rand_core::CryptoRng;

use crate::folder::{self, Folder, failed};
use crate::key::StoreKey;
use crate::lot::{self, Busy, LotInfo, OpenLot, missing};
use crate::meta::Meta;
use crate::record::{self, Record, State};
use crate::writer::LotWriter;

/// The endings of the names of files that stores of version 1 had.
const OLDER: [&str; 2] = ["ready", "deal"];

/// A folder of lots, whose batches are used at most once each. Its lock keeps other processes out as long as
/// the store, or a lot, a reader or a writer of it, lives; on network file systems that depends on the
/// server.
pub struct Store {
    folder: Arc<Folder>,
    /// The lots that [`Store::destroyed`] tells.
    destroyed: Vec<Meta>,
}

/// A lot that cannot be used.
#[derive(Debug)]
pub struct Damaged {
    /// The lot's id.
    pub id: SessionId,
    /// The reason: which file is damaged or missing, and what to do.
    pub why: Error,
}

/// The room that a lot takes on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnDisk {
    /// The bytes of all its files.
    pub bytes: u64,
    /// The time when its last remaining batch was written, from the file system; `None` if no batch is left.
    pub made: Option<SystemTime>,
}

/// All lots of a store.
struct Survey {
    records: Vec<(Record, State)>,
    damaged: Vec<Damaged>,
}

impl Store {
    /// The store in this folder.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no store, if others may write into the folder, if
    /// another process uses it, if the key is not its key, or if an older version made it;
    /// [`Store`](comity_core::Kind) if it cannot be read.
    pub fn open(dir: &Path, key: &StoreKey) -> Result<Store> {
        let path = dir.join("store");
        if !path.exists() {
            return Err(Error::invalid_input(format!(
                "there is no store at {}: `comity prepare` makes one",
                dir.display()
            )));
        }
        folder::owned(dir)?;
        let lock = folder::lock(dir)?;
        let file = fs::read(&path).map_err(|error| failed("cannot read", &path, error))?;
        let root = key.unlock("store", &file, &path)?;
        Store::tidied(Folder::new(dir.to_owned(), root, lock))
    }

    /// The store in this folder, or a new one with this key.
    ///
    /// # Errors
    /// As [`Store::open`], except if there is no store.
    pub fn open_or_create(dir: &Path, key: &StoreKey, rng: &mut dyn CryptoRng) -> Result<Store> {
        let path = dir.join("store");
        if path.exists() {
            return Store::open(dir, key);
        }
        folder::make(dir)?;
        folder::owned(dir)?;
        let lock = folder::lock(dir)?;
        // Nobody made it while this process waited for the lock, since the lock does not wait.
        let (file, root) = key.protect(rng)?;
        comity_files::create(&path, Access::Owner, &file).map_err(|error| failed("cannot make", &path, error))?;
        Store::tidied(Folder::new(dir.to_owned(), root, lock))
    }

    /// Removes the remains of a crash: half a lot, and batches that were in use.
    fn tidied(folder: Folder) -> Result<Store> {
        let destroyed = lot::tidy(&folder)?;
        Ok(Store { folder: Arc::new(folder), destroyed })
    }

    /// All lots with unused batches, the oldest first. Damaged lots are left out, and do not make it fail:
    /// [`Store::damaged`] names them.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn lots(&self) -> Result<Vec<LotInfo>> {
        let mut records = self.survey()?.records;
        records.retain(|(_, state)| state.next < state.batches && !state.pending);
        records.sort_by_key(|(record, _)| record.number);
        Ok(records.into_iter().map(|(record, state)| LotInfo::new(&record, state)).collect())
    }

    /// The lots that cannot be used, since a file of theirs is damaged or missing.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn damaged(&self) -> Result<Vec<Damaged>> {
        Ok(self.survey()?.damaged)
    }

    /// The lots that were destroyed when the store was opened: a check had begun on them, and nobody knows
    /// how it ended.
    pub fn destroyed(&self) -> &[Meta] {
        &self.destroyed
    }

    /// The room that each lot takes on the disk.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn on_disk(&self) -> Result<HashMap<SessionId, OnDisk>> {
        let mut all: HashMap<SessionId, OnDisk> = HashMap::new();
        for (id, ending) in self.folder.files()? {
            let path = self.folder.named(&id, &ending);
            let file = fs::metadata(&path).map_err(|error| failed("cannot read", &path, error))?;
            let lot = all.entry(id).or_default();
            lot.bytes += file.len();
            if record::batch_number(&ending).is_some() {
                lot.made = lot.made.max(file.modified().ok());
            }
        }
        Ok(all)
    }

    /// The bytes of all files of the store.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn bytes(&self) -> Result<u64> {
        Ok(self.on_disk()?.values().map(|lot| lot.bytes).sum())
    }

    /// Begins a new lot, which exists once [`LotWriter::finish`] has returned.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the store has a lot of this id, or a text of the meta is too
    /// long; [`Store`](comity_core::Kind) if the disk refuses.
    pub fn new_lot(&self, meta: &Meta, rng: &mut dyn CryptoRng) -> Result<LotWriter> {
        if !meta.fits() {
            return Err(Error::invalid_input(
                "the name of a lot's material, and its options, have at most 255 bytes each",
            ));
        }
        if self.folder.files()?.iter().any(|(id, _)| *id == meta.id) {
            return Err(Error::invalid_input("the store has a lot of this session already"));
        }
        let busy = Busy::new(&self.folder, meta.id)?;
        let last = self.survey()?.records.iter().map(|(record, _)| record.number).max();
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        let record = Record::new(&self.folder, salt, last.map_or(0, |number| number.saturating_add(1)), meta);
        Ok(LotWriter::new(self.folder.clone(), record, busy))
    }

    /// Opens a lot for use. It can be open once at a time.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no such lot, or this process has it open already;
    /// [`Store`](comity_core::Kind) if its record is damaged, or a batch is missing.
    pub fn open_lot(&self, id: &SessionId) -> Result<OpenLot> {
        OpenLot::new(&self.folder, id)
    }

    /// Deletes a lot that nobody will use, for instance since a peer has lost its part; it may be damaged.
    /// When this returns, it is gone even after a crash.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if this process has it open; [`Store`](comity_core::Kind) if the
    /// disk refuses.
    pub fn remove(&self, id: &SessionId) -> Result<()> {
        let _busy = Busy::new(&self.folder, *id)?;
        lot::destroy(&self.folder, id)
    }

    /// Reads all records.
    fn survey(&self) -> Result<Survey> {
        let files = self.folder.files()?;
        let mut batches: HashMap<SessionId, BTreeSet<u32>> = HashMap::new();
        for (id, ending) in &files {
            batches.entry(*id).or_default().extend(record::batch_number(ending));
        }
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for (id, ending) in &files {
            if OLDER.contains(&ending.as_str()) {
                let (path, all) = (self.folder.named(id, ending), self.folder.named(id, "*"));
                let why = format!(
                    "{} belongs to a store of version 1, which cannot be used any more: delete {}",
                    path.display(),
                    all.display()
                );
                damaged.push(Damaged { id: *id, why: Error::store(why) });
            }
            if ending != record::ENDING {
                continue;
            }
            let whole = Record::load(&self.folder, id)?.and_then(|(record, state)| {
                missing(&self.folder, id, state, &batches[id]).map_or(Ok((record, state)), Err)
            });
            match whole {
                Ok(found) => records.push(found),
                Err(why) => damaged.push(Damaged { id: *id, why }),
            }
        }
        Ok(Survey { records, damaged })
    }
}
