//! `OpenLot`: a lot that is being used; and how a lot ends.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use comity_core::{Error, Result, SessionId};

use crate::folder::{self, Folder, failed};
use crate::meta::Meta;
use crate::reader::{self, BatchReader};
use crate::record::{self, Record, State};

/// A lot, and how much of it is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LotInfo {
    /// The lot's meta: what it was made for.
    pub meta: Meta,
    /// The next batch; all before it are used up.
    pub next: u32,
    /// The number of batches that were made.
    pub batches: u32,
}

impl LotInfo {
    pub(crate) fn new(record: &Record, state: State) -> LotInfo {
        LotInfo { meta: record.meta.clone(), next: state.next, batches: state.batches }
    }

    /// The amount of material that is left, in each of its units. All batches have the same amount.
    pub fn left(&self) -> Vec<u64> {
        let (left, all) = (u128::from(self.batches - self.next.min(self.batches)), u128::from(self.batches.max(1)));
        self.meta.units.iter().map(|&units| (u128::from(units) * left / all) as u64).collect()
    }
}

/// A lot that is in use. Dropped during a check, it is destroyed; used up, it is removed.
///
/// After an error of the disk it gives out nothing more: open the store again.
pub struct OpenLot {
    folder: Arc<Folder>,
    record: Record,
    info: LotInfo,
    pending: bool,
    /// Whether the record's file may be another than it should be.
    broken: bool,
    busy: Busy,
}

impl OpenLot {
    /// Opens the lot of this id, which has these batches.
    pub(crate) fn new(folder: &Arc<Folder>, id: &SessionId) -> Result<OpenLot> {
        let busy = Busy::new(folder, *id)?;
        let (record, state) = Record::read(folder, id)?;
        if let Some(why) = missing(folder, id, state, &batches(folder, id)?) {
            return Err(why);
        }
        let (info, pending) = (LotInfo::new(&record, state), state.pending);
        let mut lot = OpenLot { folder: folder.clone(), record, info, pending, broken: false, busy };
        if pending {
            lot.broken = true;
            return Err(Error::invalid_input("a check of this lot began and did not end: the lot is destroyed"));
        }
        Ok(lot)
    }

    /// The lot's meta, and how much of it is used up.
    pub fn info(&self) -> &LotInfo {
        &self.info
    }

    /// Goes on at batch `next`, if that is later (a peer's number may be later); batches before it are
    /// burned. Returns how many were burned.
    ///
    /// An honest party can be ahead by the batches that a session takes between two messages. If this party
    /// is behind by more, an older copy of this store was restored, or a peer lies to burn material: tell the
    /// user.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn advance_to(&mut self, next: u32) -> Result<u32> {
        let (old, next) = (self.info.next, next.min(self.info.batches));
        if next <= old {
            return Ok(0);
        }
        self.put(next, self.pending)?;
        for number in old..next {
            folder::remove(&record::batch_path(&self.folder, &self.busy.id, number))?;
        }
        Ok(next - old)
    }

    /// Reads those of these batches that are not used up, without using them up or giving out anything.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if one of them is damaged: the error says that nothing of this lot should
    /// be used then.
    pub fn check(&self, numbers: Range<u32>) -> Result<()> {
        for number in numbers.start.max(self.info.next)..numbers.end.min(self.info.batches) {
            let path = record::batch_path(&self.folder, &self.busy.id, number);
            reader::check(path, self.record.seal.batch(number)).map_err(|error| {
                let all = self.folder.named(&self.busy.id, "*");
                Error::store(format!("{error}: its lot cannot be used, delete {}", all.display()))
            })?;
        }
        Ok(())
    }

    /// Uses up the next batch, and reads it; `None` if all are used up. When this returns, the disk has
    /// recorded that the batch is used.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses. If the batch is damaged, the reader fails.
    pub fn take(&mut self) -> Result<Option<BatchReader>> {
        let number = self.info.next;
        if number == self.info.batches {
            return Ok(None);
        }
        self.put(number + 1, self.pending)?;
        let path = record::batch_path(&self.folder, &self.busy.id, number);
        let file = File::open(&path).map_err(|error| failed("cannot read", &path, error))?;
        BatchReader::new(self.folder.clone(), path, file, self.record.seal.batch(number)).map(Some)
    }

    /// Notes that a check of MACs begins: call this before its first message is sent. Until
    /// [`OpenLot::check_passed`] the lot is lost if the process dies or this is dropped.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses: then the check must not begin.
    pub fn check_begins(&mut self) -> Result<()> {
        self.put(self.info.next, true)
    }

    /// Notes that the check has passed, and that this party has sent its last message of it.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn check_passed(&mut self) -> Result<()> {
        self.put(self.info.next, false)
    }

    /// Destroys the lot, for instance after a failed check. When this returns, it is gone even after a crash.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn destroy(mut self) -> Result<()> {
        // Not again when it is dropped.
        (self.pending, self.broken) = (false, true);
        destroy(&self.folder, &self.busy.id)
    }

    /// Writes this state to the disk.
    fn put(&mut self, next: u32, pending: bool) -> Result<()> {
        if self.broken {
            return Err(Error::store("the lot's record could not be written: open the store again"));
        }
        self.broken = true;
        self.record.write(&self.folder, State { next, batches: self.info.batches, pending })?;
        (self.info.next, self.pending, self.broken) = (next, pending, false);
        Ok(())
    }
}

impl Drop for OpenLot {
    fn drop(&mut self) {
        let used_up = !self.broken && self.info.next == self.info.batches;
        if self.pending || used_up {
            // If this fails, opening the store does it.
            let _ = destroy(&self.folder, &self.busy.id);
        }
    }
}

/// A lot that this process works on. Nobody else gets it as long as this lives.
pub(crate) struct Busy {
    folder: Arc<Folder>,
    id: SessionId,
}

impl Busy {
    pub(crate) fn new(folder: &Arc<Folder>, id: SessionId) -> Result<Busy> {
        if folder.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            return Ok(Busy { folder: folder.clone(), id });
        }
        Err(Error::invalid_input("another part of this process is using this lot"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.folder.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Removes the remains of a crash, lots whose check is pending, and those that are used up. Returns those
/// that were pending.
pub(crate) fn tidy(folder: &Folder) -> Result<Vec<Meta>> {
    let files = folder.files()?;
    let mut destroyed = Vec::new();
    let mut kept: HashMap<SessionId, Range<u32>> = HashMap::new();
    for (id, _) in files.iter().filter(|(_, ending)| ending == record::ENDING) {
        match Record::read(folder, id) {
            Ok((record, State { pending: true, .. })) => {
                remove_record(folder, id)?;
                destroyed.push(record.meta);
            }
            Ok((_, state)) if state.next == state.batches => remove_record(folder, id)?,
            Ok((_, state)) => drop(kept.insert(*id, state.next..state.batches)),
            // Whoever asks for the lot is told, and nobody knows which of its batches may go.
            Err(_) => drop(kept.insert(*id, 0..u32::MAX)),
        }
    }
    for (id, ending) in &files {
        let unused = |number: u32| kept.get(id).is_some_and(|range| range.contains(&number));
        if ending == record::DRAFT || record::batch_number(ending).is_some_and(|number| !unused(number)) {
            folder::remove(&folder.named(id, ending))?;
        }
    }
    Ok(destroyed)
}

/// Removes a lot: its record first, for good, and then all else.
pub(crate) fn destroy(folder: &Folder, id: &SessionId) -> Result<()> {
    remove_record(folder, id)?;
    let files = folder.files()?;
    files.iter().filter(|(of, _)| of == id).try_for_each(|(_, ending)| folder::remove(&folder.named(id, ending)))
}

/// Removes a lot's record: after this it is gone, and after a crash too.
fn remove_record(folder: &Folder, id: &SessionId) -> Result<()> {
    folder::remove(&record::path(folder, id))?;
    folder.sync()
}

/// The numbers of a lot's batches that are there.
fn batches(folder: &Folder, id: &SessionId) -> Result<BTreeSet<u32>> {
    let files = folder.files()?;
    Ok(files.iter().filter(|(of, _)| of == id).filter_map(|(_, ending)| record::batch_number(ending)).collect())
}

/// The reason why a lot that has only these batches cannot be used, if there is a reason.
pub(crate) fn missing(folder: &Folder, id: &SessionId, state: State, there: &BTreeSet<u32>) -> Option<Error> {
    let batch = (state.next..state.batches).find(|number| !there.contains(number))?;
    Some(Error::store(format!(
        "{}: batch {batch} is missing, though the record says that it is unused: it was deleted, or an older copy of \
            the record was put back. Nothing of this lot may be used: delete {}",
        record::path(folder, id).display(),
        folder.named(id, "*").display()
    )))
}
