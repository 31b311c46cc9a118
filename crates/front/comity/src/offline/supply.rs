//! Supplying: a run takes its batches from the lot that all parties chose.

use std::collections::BTreeMap;
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

/// The materials of one run, each of a lot of its own.
pub(crate) struct Supplied(Vec<Taken>);

/// A lot that a run takes from.
struct Taken {
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

/// A lot that all parties chose. Nothing of it is marked as used yet.
struct Chosen {
    lot: OpenLot,
    id: SessionId,
    /// The batch at which all go on.
    next: u32,
    /// The amount that is left in the other lots that fit, in the first unit.
    others: u64,
}

impl Supplied {
    /// As [`Supplied::find`], for a run, which goes on with nothing else.
    pub(crate) fn choose(
        store: &Store,
        wanted: &[Wanted<'_>],
        mesh: &mut Mesh<'_>,
        here: &mut Here,
        options: &mut Options,
        clock: &mut Clock<'_>,
    ) -> Result<Supplied> {
        Supplied::passes_over(store, clock)?;
        Supplied::find(store, wanted, mesh, here, options, clock)?
            .map_err(|lack| none_left(store, &wanted[lack.of], options, &lack))
    }

    /// Says what of the store is gone or cannot be used.
    pub(super) fn passes_over(store: &Store, clock: &mut Clock<'_>) -> Result<()> {
        store.destroyed().iter().for_each(|meta| clock.watch().destroyed(&meta.name));
        store.damaged()?.iter().for_each(|lot| clock.watch().damaged(&lot.why.to_string()));
        Ok(())
    }

    /// Chooses, with the other parties and for each material, the oldest lot of which all have enough, takes
    /// over the options under which these were made, and goes on in a session of its own. Before this
    /// returns, all have marked them as used, and nobody has marked anything before all were chosen. If there
    /// is no such lot, all parties learn it.
    pub(super) fn find(
        store: &Store,
        wanted: &[Wanted<'_>],
        mesh: &mut Mesh<'_>,
        here: &mut Here,
        options: &mut Options,
        clock: &mut Clock<'_>,
    ) -> Result<std::result::Result<Supplied, Lack>> {
        let mut chosen = Vec::with_capacity(wanted.len());
        for (of, wanted) in wanted.iter().enumerate() {
            match Chosen::find(store, wanted, mesh, here, options, clock)? {
                Ok(lot) => chosen.push(lot),
                Err(lack) => return Ok(Err(Lack { of, ..lack })),
            }
        }
        let mut session = vec![here.session.to_bytes().to_vec()];
        session.extend(chosen.iter().map(|lot| [&lot.id.to_bytes()[..], &lot.next.to_le_bytes()].concat()));
        let session: Vec<&[u8]> = session.iter().map(Vec::as_slice).collect();
        here.session = SessionId::derive("run on material from a store", &session);
        let taken = chosen.into_iter().zip(wanted).map(|(lot, wanted)| lot.take(wanted, clock));
        let taken = taken.collect::<Result<_>>()?;
        settle(mesh, &here.session, "taken")?;
        Ok(Ok(Supplied(taken)))
    }

    /// Settles the lots when the run has ended. An error between a check's first message and its verdict
    /// costs the whole lot: the watch is told, unless nothing was left of it.
    pub(crate) fn ended(self, store: &Store, failed: bool, watch: &mut dyn Watch) {
        for Taken { id, name, last, using, .. } in self.0 {
            drop(using);
            if failed && !last && store.lots().is_ok_and(|lots| lots.iter().all(|lot| lot.meta.id != id)) {
                watch.destroyed(&name);
            }
        }
    }
}

impl Chosen {
    /// Chooses a lot of one material. The batches to be used up are read before anything is marked: if a
    /// party's part of a lot is damaged, all pass it over, and nothing of it is used up.
    fn find(
        store: &Store,
        wanted: &Wanted<'_>,
        mesh: &mut Mesh<'_>,
        here: &Here,
        options: &mut Options,
        clock: &mut Clock<'_>,
    ) -> Result<std::result::Result<Chosen, Lack>> {
        let need = wanted.batches();
        let mut ours = wanted.here(store, here, options)?;
        let mut theirs = tell(mesh, here, wanted.need.material, &ours)?;
        let lost = lost(&ours, &theirs);
        let (lot, id, next) = loop {
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
        let others = ours.iter().filter(|lot| lot.meta.id != id && !lost.contains(&lot.meta.id));
        let others = others.map(|lot| main(&lot.left())).fold(0, u64::saturating_add);
        Ok(Ok(Chosen { lot, id, next, others }))
    }

    /// Marks the first of the run's batches as used, and tells the watch.
    fn take(self, wanted: &Wanted<'_>, clock: &mut Clock<'_>) -> Result<Taken> {
        let Chosen { mut lot, id, next, others } = self;
        let behind = lot.advance_to(next)?;
        let first = lot.take()?;
        let after = LotInfo { next: next + wanted.batches(), ..lot.info().clone() };
        let left = others.saturating_add(main(&after.left()));
        let (material, need) = (material(wanted.card, wanted.need), main(&wanted.need.units));
        clock.watch().taken(&Supply { material: material.name, unit: material.units[0], need, left, behind });
        let (name, last) = (after.meta.name, after.next == after.batches);
        Ok(Taken { material: material.name, id, name, last, using: Using { lot, first } })
    }
}

/// The amount in the unit that a person says.
fn main(units: &[u64]) -> u64 {
    units.first().copied().unwrap_or_default()
}

/// The message that another party's part of a lot is damaged, which says what to do with this party's.
fn damaged_there(id: &SessionId, peer: PartyId) -> String {
    let id = hex(&id.to_bytes());
    format!(
        "party {peer}'s part of lot {id} is damaged, so this party's part is useless: delete it with `comity store \
            remove {id}`"
    )
}

impl Supplies for Supplied {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        self.0.iter_mut().map(|taken| (taken.material, &mut taken.using as &mut dyn Shelf)).collect()
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
