//! Deals: one session's correlations under one global key, cut into numbered blocks that are used up in order.
//!
//! A deal is made by both parties together, and each has its part of it: block `n` of one fits block `n` of the other, and
//! nothing else. [`Store::new_deal`] makes one, [`Store::deals`] lists them, [`Store::open_deal`] works on one.
//!
//! | file | holds |
//! | --- | --- |
//! | `ID.deal` | the record: the [`Meta`], encrypted; the next block, how many there are, whether a check is pending; a MAC on all |
//! | `ID.block-NNNNNNNN` | block N (in hex), encrypted in chunks as an entry is, under the deal's key and its number |
//!
//! **Used once, in order.** [`Deal::take`] first has a record on the disk that counts the block as used, then gives out its
//! first byte, and removes its file in the end. So after a crash at any instant no block is given out a second time, and what
//! is lost is the block in flight. A deal is there when it is whole: a crash while it is made leaves nothing of it, so a long
//! preparation is better cut into several deals.
//!
//! **Both sides alike.** After a crash one side may count more blocks as used than the other. Both go on at the larger number
//! ([`Deal::advance_to`], which never goes back): a peer that lies about its number can only burn material.
//!
//! **Checks.** A MAC check that the peer can break off after it has learned the outcome lets it guess at the global key,
//! again and again. [`Deal::check_begins`] marks the deal on the disk before the first message of a check, and
//! [`Deal::check_passed`] takes the mark away. A deal that is dropped with the mark, or found with it when the store is opened,
//! is destroyed: with it go the key and everything under it.
//!
//! **Damage.** A file that was cut, changed, put in another's place or taken from another deal or store is an error with its
//! name ([`Store::damaged`]), and other deals are as good as ever. Blocks that were put back after they were used are removed:
//! the record says that they are used. An older record that was put back is an error: it counts blocks as unused whose files
//! are gone. What cannot be told on this side alone is that record and blocks were put back together. The peer's number
//! tells it: it is larger, by more than the blocks that can be in flight, and nothing is used twice as long as the peer is honest
//! and its own store is not old as well.
//!
//! **Why no database.** An embedded store of general use was tried for the records: redb 4.5, which is well kept and under our
//! licences. A record is one value of 600 bytes, so that nothing of a database is needed but the replacing, and a new file that
//! is synced and renamed over the old one does that, as for this store's entries. Of 6,604 copies of a database of five
//! records with one bit flipped each, 114 made it panic; a record here is read whole, under a MAC, and every flip is an error
//! with the file's name. And those are 42,000 lines that would have to be right.
//!
//! **Cost.** Three waits for the disk a block written and taken, two for the beginning and the end of a check (some
//! milliseconds together); 16 bytes for 64 KiB.

mod record;
mod writer;

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use comity_core::{Error, Result, SessionId};
use rand_core::CryptoRng;

use crate::folder::{self, Folder, failed};
use crate::{Meta, Reader, Store};
use record::{Record, State};

pub use writer::DealWriter;

/// A deal, and how much of it is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DealInfo {
    /// What it is for. Its id is the deal's.
    pub meta: Meta,
    /// The next block; all before it are used up.
    pub next: u32,
    /// How many blocks were dealt.
    pub blocks: u32,
}

/// All deals of a store.
struct Survey {
    records: Vec<(Record, State)>,
    /// Why others cannot be used: they are damaged, or a block is missing.
    damaged: Vec<Error>,
}

/// A deal that is being used. Dropped while a check is pending it is destroyed, and when it is used up it is removed.
///
/// After an error of the disk nothing more is given out: open the store again.
pub struct Deal {
    folder: Arc<Folder>,
    record: Record,
    info: DealInfo,
    pending: bool,
    /// Whether the record's file may be another than it should be.
    broken: bool,
    busy: Busy,
}

impl Store {
    /// Begins a new deal.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is something of this id, a name is too long, or the disk refuses.
    pub fn new_deal(&self, meta: &Meta, rng: &mut dyn CryptoRng) -> Result<DealWriter> {
        self.check_new(meta)?;
        let busy = Busy::new(&self.folder, meta.id)?;
        let number = self.survey()?.records.iter().map(|(record, _)| record.number).max();
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        let record = Record::new(&self.folder, salt, number.map_or(0, |number| number.saturating_add(1)), meta);
        Ok(DealWriter::new(self.folder.clone(), record, busy))
    }

    /// All deals with unused blocks, the oldest first. Those that are damaged are left out, and no reason to do without the
    /// others: [`Store::damaged`] names them.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn deals(&self) -> Result<Vec<DealInfo>> {
        let mut records = self.survey()?.records;
        records.retain(|(_, state)| state.next < state.blocks && !state.pending);
        records.sort_by_key(|(record, _)| record.number);
        Ok(records.into_iter().map(|(record, state)| info(&record, state)).collect())
    }

    /// Works on a deal. One at a time does.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no such deal, this process works on it already, its record is damaged, or a block
    /// is missing.
    pub fn open_deal(&self, id: &SessionId) -> Result<Deal> {
        let busy = Busy::new(&self.folder, *id)?;
        let (record, state) = Record::read(&self.folder, id)?;
        if let Some(why) = missing(&self.folder, id, state, &blocks(&self.folder, id)?) {
            return Err(why);
        }
        let folder = self.folder.clone();
        let mut deal = Deal { info: info(&record, state), folder, record, pending: state.pending, broken: false, busy };
        if deal.pending {
            deal.broken = true;
            return Err(Error::invalid_input("a check of this deal has begun and not ended: it is destroyed"));
        }
        Ok(deal)
    }

    /// The deals that were destroyed when the store was opened, since a check of theirs had begun and nobody knows how it ended.
    pub fn destroyed(&self) -> &[Meta] {
        &self.destroyed
    }

    /// Deletes a deal of which nobody will use anything, for instance since the peer has lost its part. When this returns it
    /// is gone after a crash too.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if this process works on it, or the disk refuses.
    pub fn discard_deal(&self, id: &SessionId) -> Result<()> {
        let _busy = Busy::new(&self.folder, *id)?;
        destroy(&self.folder, id)
    }

    /// Why deals cannot be used.
    pub(crate) fn damaged_deals(&self) -> Result<Vec<Error>> {
        Ok(self.survey()?.damaged)
    }

    /// All deals.
    fn survey(&self) -> Result<Survey> {
        let files = self.folder.files()?;
        let mut blocks: HashMap<SessionId, BTreeSet<u32>> = HashMap::new();
        for (id, ending) in &files {
            blocks.entry(*id).or_default().extend(record::block_number(ending));
        }
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for (id, _) in files.iter().filter(|(_, ending)| ending == record::ENDING) {
            let whole = Record::load(&self.folder, id)?.and_then(|(record, state)| {
                missing(&self.folder, id, state, &blocks[id]).map_or(Ok((record, state)), Err)
            });
            match whole {
                Ok(found) => records.push(found),
                Err(why) => damaged.push(why),
            }
        }
        Ok(Survey { records, damaged })
    }
}

impl Deal {
    /// What it is for, and how much of it is used up.
    pub fn info(&self) -> &DealInfo {
        &self.info
    }

    /// Goes on at block `next`, if that is later, as the peer's number may be; blocks before it are burned. Returns how many.
    ///
    /// One side may honestly be ahead by the blocks that a session takes between two messages. If this side is behind by more,
    /// an older copy of this store was put back (or the peer lies, to burn material): say so to the user.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn advance_to(&mut self, next: u32) -> Result<u32> {
        let (old, next) = (self.info.next, next.min(self.info.blocks));
        if next <= old {
            return Ok(0);
        }
        self.put(next, self.pending)?;
        for number in old..next {
            folder::remove(&record::block_path(&self.folder, &self.busy.id, number))?;
        }
        Ok(next - old)
    }

    /// Uses up the next block, and reads it; `None` if all are used up. That it is used is on the disk before this returns.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses. The reader says if the block is damaged.
    pub fn take(&mut self) -> Result<Option<Reader>> {
        let number = self.info.next;
        if number == self.info.blocks {
            return Ok(None);
        }
        self.put(number + 1, self.pending)?;
        let path = record::block_path(&self.folder, &self.busy.id, number);
        let file = File::open(&path).map_err(|error| failed("cannot read", &path, error))?;
        Reader::new(self.folder.clone(), path, file, 0, self.record.seal.part(number)).map(Some)
    }

    /// A check of MACs begins: call this before its first message is sent. Until [`Deal::check_passed`] the deal is lost
    /// if the process dies or the deal is dropped.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses: then the check must not begin.
    pub fn check_begins(&mut self) -> Result<()> {
        self.put(self.info.next, true)
    }

    /// The check has passed, and this party's last message of it was sent.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn check_passed(&mut self) -> Result<()> {
        self.put(self.info.next, false)
    }

    /// Destroys the deal, as after a check that failed. When this returns it is gone after a crash too.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn destroy(mut self) -> Result<()> {
        // Not again when it is dropped.
        (self.pending, self.broken) = (false, true);
        destroy(&self.folder, &self.busy.id)
    }

    /// Has this state on the disk.
    fn put(&mut self, next: u32, pending: bool) -> Result<()> {
        if self.broken {
            return Err(Error::store("the deal's record could not be written: open the store again"));
        }
        self.broken = true;
        self.record.write(&self.folder, State { next, blocks: self.info.blocks, pending })?;
        (self.info.next, self.pending, self.broken) = (next, pending, false);
        Ok(())
    }
}

impl Drop for Deal {
    fn drop(&mut self) {
        let used_up = !self.broken && self.info.next == self.info.blocks;
        if self.pending || used_up {
            // If this fails, opening the store does it.
            let _ = destroy(&self.folder, &self.busy.id);
        }
    }
}

/// A deal that this process works on. Nobody else gets it as long as this lives.
struct Busy {
    folder: Arc<Folder>,
    id: SessionId,
}

impl Busy {
    fn new(folder: &Arc<Folder>, id: SessionId) -> Result<Busy> {
        if folder.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            return Ok(Busy { folder: folder.clone(), id });
        }
        Err(Error::invalid_input("another part of this process works on this deal"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.folder.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Removes what a crash left, deals whose check is pending, and those that are used up. Returns those that were pending.
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
            Ok((_, state)) if state.next == state.blocks => remove_record(folder, id)?,
            Ok((_, state)) => drop(kept.insert(*id, state.next..state.blocks)),
            // Whoever asks for the deal is told, and nobody knows which of its blocks may go.
            Err(_) => drop(kept.insert(*id, 0..u32::MAX)),
        }
    }
    for (id, ending) in &files {
        let unused = |number: u32| kept.get(id).is_some_and(|range| range.contains(&number));
        if ending == record::DRAFT || record::block_number(ending).is_some_and(|number| !unused(number)) {
            folder::remove(&folder.named(id, ending))?;
        }
    }
    Ok(destroyed)
}

/// Removes a deal: its record first, for good, and then its blocks.
fn destroy(folder: &Folder, id: &SessionId) -> Result<()> {
    remove_record(folder, id)?;
    for number in blocks(folder, id)? {
        folder::remove(&record::block_path(folder, id, number))?;
    }
    Ok(())
}

/// After this a deal is gone, and after a crash too.
fn remove_record(folder: &Folder, id: &SessionId) -> Result<()> {
    folder::remove(&record::path(folder, id))?;
    folder.sync()
}

/// The numbers of a deal's blocks that are there.
fn blocks(folder: &Folder, id: &SessionId) -> Result<BTreeSet<u32>> {
    let files = folder.files()?;
    Ok(files.iter().filter(|(of, _)| of == id).filter_map(|(_, ending)| record::block_number(ending)).collect())
}

/// Why a deal cannot be used of which only these blocks are there, if it cannot.
fn missing(folder: &Folder, id: &SessionId, state: State, there: &BTreeSet<u32>) -> Option<Error> {
    let block = (state.next..state.blocks).find(|number| !there.contains(number))?;
    Some(Error::store(format!(
        "{}: block {block} is missing, which is not used up as the record has it: it was deleted, or an older copy of the record \
         was put back. Nothing of this deal may be used: delete {}",
        record::path(folder, id).display(),
        folder.named(id, "*").display()
    )))
}

fn info(record: &Record, state: State) -> DealInfo {
    DealInfo { meta: record.meta.clone(), next: state.next, blocks: state.blocks }
}
