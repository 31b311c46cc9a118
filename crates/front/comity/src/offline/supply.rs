//! Supplying: a run takes its batches from the lot that all parties chose.

use std::io::Read;

use comity_channel::Mesh;
use comity_core::{PartyId, Result, SessionId};
use comity_protocol::{Here, Options, Shelf, Supplies};
use comity_store::{BatchReader, LotInfo, OpenLot, Store};

use super::choose::{Lack, Wanted, choose, damaged_at, lost, none_left, tell};
use super::{material, settle};
use crate::clock::Clock;
use crate::oprf::hex;
use crate::watch::{Supply, Watch};

/// The material of one run.
pub(crate) struct Supplied {
    material: &'static str,
    id: SessionId,
    /// The program that the material is for.
    name: String,
    /// Whether nothing of the lot is left after this run.
    last: bool,
    using: Using,
}

/// The lot that is used up.
struct Using {
    lot: OpenLot,
    /// The lot's first batch, which was marked as used before the others were told so.
    first: Option<BatchReader>,
}

impl Supplied {
    /// As [`Supplied::find`], for a run, which goes on with nothing else.
    pub(crate) fn choose(
        store: &Store,
        wanted: &Wanted<'_>,
        mesh: &mut Mesh<'_>,
        here: &mut Here,
        options: &mut Options,
        clock: &mut Clock<'_>,
    ) -> Result<Supplied> {
        Supplied::passes_over(store, clock)?;
        Supplied::find(store, wanted, mesh, here, options, clock)?.map_err(|why| none_left(store, wanted, &why))
    }

    /// Says what of the store is gone or cannot be used.
    pub(super) fn passes_over(store: &Store, clock: &mut Clock<'_>) -> Result<()> {
        store.destroyed().iter().for_each(|meta| clock.watch().destroyed(&meta.name));
        store.damaged()?.iter().for_each(|lot| clock.watch().damaged(&lot.why.to_string()));
        Ok(())
    }

    /// Chooses, with the other parties, the oldest lot of which all have enough, takes over the options under
    /// which it was made, and goes on in a session of its own. All have it marked as used before this
    /// returns. Where there is no such lot, all parties are told so. What would be used up is read before
    /// anything is marked: a lot of which somebody's part is damaged is passed over by all, and nothing of it
    /// is used up.
    pub(super) fn find(
        store: &Store,
        wanted: &Wanted<'_>,
        mesh: &mut Mesh<'_>,
        here: &mut Here,
        options: &mut Options,
        clock: &mut Clock<'_>,
    ) -> Result<std::result::Result<Supplied, Lack>> {
        let need = u32::try_from(wanted.need.batches).unwrap_or(u32::MAX);
        let mut ours = wanted.here(store, here, options)?;
        let mut theirs = tell(mesh, here, &ours)?;
        let lost = lost(&ours, &theirs);
        let (mut lot, id, next) = loop {
            let (id, next) = match choose(&ours, &theirs, need) {
                Ok(mark) => mark,
                Err(missing) => return Ok(Err(Lack::new(here.me, missing, &ours, &theirs, need))),
            };
            let part = store.open_lot(&id).and_then(|lot| lot.check(next..next.saturating_add(need)).map(|()| lot));
            let others = damaged_at(mesh, here, &id, part.is_ok())?;
            for &peer in &others {
                theirs[peer].retain(|(lot, _)| *lot != id);
                clock.watch().damaged(&damaged_there(&id, peer));
            }
            match part {
                Ok(lot) if others.is_empty() => break (lot, id, next),
                Ok(_) => {}
                Err(why) => {
                    ours.retain(|lot| lot.meta.id != id);
                    clock.watch().damaged(&why.to_string());
                }
            }
        };
        lost.iter().try_for_each(|lost| store.remove(lost))?;
        if !lost.is_empty() {
            clock.watch().discarded(lost.len());
        }
        options.take_over(&lot.info().meta.options)?;
        let behind = lot.advance_to(next)?;
        let first = lot.take()?;
        let after = LotInfo { next: next + need, ..lot.info().clone() };
        let others = ours.iter().filter(|lot| lot.meta.id != id && !lost.contains(&lot.meta.id));
        let main = |units: &[u64]| units.first().copied().unwrap_or_default();
        let left = others.chain([&after]).map(|lot| main(&lot.left())).fold(0, u64::saturating_add);
        let (material, need) = (material(wanted.card, wanted.need), main(&wanted.need.units));
        let taken = Supply { material: material.name, unit: material.units[0], need, left, behind };
        clock.watch().taken(&taken);
        let parts: [&[u8]; 3] = [&here.session.to_bytes(), &id.to_bytes(), &next.to_le_bytes()];
        here.session = SessionId::derive("run on material from a store", &parts);
        settle(mesh, &here.session, "taken")?;
        let (name, last) = (after.meta.name, after.next == after.batches);
        Ok(Ok(Supplied { material: material.name, id, name, last, using: Using { lot, first } }))
    }

    /// Settles the lot when the run has ended. An error between a check's first message and its verdict costs
    /// the whole lot: whoever waits for the next run is told, unless nothing was left of it.
    pub(crate) fn ended(self, store: &Store, failed: bool, watch: &mut dyn Watch) {
        let Supplied { id, name, last, using, .. } = self;
        drop(using);
        if failed && !last && store.lots().is_ok_and(|lots| lots.iter().all(|lot| lot.meta.id != id)) {
            watch.destroyed(&name);
        }
    }
}

/// That another party's part of a lot is damaged, and what to do with this party's.
fn damaged_there(id: &SessionId, peer: PartyId) -> String {
    let id = hex(&id.to_bytes());
    format!(
        "party {peer}'s part of lot {id} is damaged, so that this party's is of no use: `comity store remove {id}` deletes it"
    )
}

impl Supplies for Supplied {
    fn shelf(&mut self, material: &str) -> Option<&mut dyn Shelf> {
        if material == self.material { Some(&mut self.using) } else { None }
    }
}

impl Shelf for Using {
    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        let batch = match self.first.take() {
            None => self.lot.take()?,
            first => first,
        };
        Ok(batch.map(|batch| Box::new(batch) as Box<dyn Read + Send>))
    }

    fn check_begins(&mut self) -> Result<()> {
        self.lot.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.lot.check_passed()
    }
}
