//! Offline and online: filling a store with material, and finding there what a run uses up.
//!
//! **Lots.** What is made together is there whole or not at all: while it is made some check is always pending, and whatever
//! breaks off then costs everything under its keys. So a long preparation is several lots, and what breaks off costs the one
//! in the making. A run takes all its batches from one of them.
//!
//! **The same at all.** Before anything that depends on a secret leaves, the parties tell each other what they have and how
//! far it is used up; the order of party 0 decides, the largest mark wins, and all have it marked as used on their disks.
//!
//! **One side alone.** What one party has and the other has not (a crash between the two disks; a lot that was destroyed, used up
//! or damaged on one side) is of no use to anybody. It is discarded by the party that still has it as soon as both have told each
//! other what they have, if there is any lot that both have: else one of the stores may be the wrong one.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use comity_channel::{Channel, Mesh};
use comity_circuit::Program;
use comity_core::{Error, Result, SessionId};
use comity_net::SystemRng;
use comity_protocol::{
    Ahead, Card, Empty, Here, Lot, Material, Need, Options, Party, Protocol, Shelf, Supplies, WriteBatch,
};
use comity_store::{Deal, Meta, Reader, Store};
use zeroize::Zeroizing;

use crate::clock::Clock;
use crate::meet::Begun;
use crate::protocol::PROTOCOLS;
use crate::report::{Preparation, Report};
use crate::session::{Session, whose};
use crate::watch::Watch;

/// No party has more lots of one material with one peer.
const MOST: usize = 1 << 16;

impl Session<'_> {
    /// Makes material ahead for `count` runs of a program: all that can be done before the inputs are known. The peer does the
    /// same, and each party's part goes to its [store](Session::store), which then takes at most `limit` bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) before anything is sent if there is no store, it would get too large, or the protocol has
    /// no offline phase; otherwise as [`Session::run`]. What was finished before an error stays in the store; a party that
    /// lacks its part of it is found out before a run.
    pub fn prepare(self, program: &Program, count: u64, limit: u64, watch: &mut dyn Watch) -> Result<Preparation> {
        let protocol = self.chosen()?;
        let settled = self.check(protocol, program, &self.options(protocol.card())?)?;
        let each = protocol.needs(program, &settled, self.params)?;
        let times = |n: u64| n.saturating_mul(count);
        let need = Need {
            material: each.material,
            units: each.units.iter().copied().map(times).collect(),
            batches: times(each.batches),
            bytes: times(each.bytes),
        };
        self.make(protocol, Some((program, each.batches)), count, &need, limit, watch)
    }

    /// Makes material ahead for any programs: so much in the first unit of the material, rounded up to whole batches.
    /// Otherwise as [`Session::prepare`].
    ///
    /// One run uses one lot of it: for a program that needs more name it, with [`Session::prepare`].
    ///
    /// # Errors
    /// As [`Session::prepare`].
    pub fn deal(self, units: u64, limit: u64, watch: &mut dyn Watch) -> Result<Preparation> {
        let protocol = self.chosen()?;
        let options = self.options(protocol.card())?;
        protocol.card().has(self.me, self.parties())?;
        let need = protocol.amount(units, &options, self.params)?;
        self.make(protocol, None, need.units.first().copied().unwrap_or(0), &need, limit, watch)
    }

    /// Makes so much, for runs of a program that use up so many batches each, or for any.
    fn make(
        mut self,
        protocol: &dyn Protocol,
        program: Option<(&Program, u64)>,
        count: u64,
        need: &Need,
        limit: u64,
        watch: &mut dyn Watch,
    ) -> Result<Preparation> {
        let card = protocol.card();
        let material = material(card, need);
        let Some(store) = self.store.take() else {
            return Err(Error::invalid_input("where does the material go? The session needs a store"));
        };
        let there = store.bytes()?;
        if need.bytes.saturating_add(there) > limit || need.batches >= u64::from(u32::MAX) {
            return Err(Error::invalid_input(format!(
                "this may take {} bytes, the store holds {there} bytes already, and the limit is {limit} bytes: raise it \
                 (--store-limit), or run without a store, where all is made when it is needed",
                need.bytes
            )));
        }
        if material.program && count > MOST as u64 {
            return Err(Error::invalid_input(format!(
                "{count} runs are more than {MOST}, which is as many as a store has of one program and peer"
            )));
        }
        let options = self.options(card)?;
        let for_program = program.filter(|_| material.program).map(|(program, _)| program);
        let each = program.map_or(0, |(_, batches)| batches);
        let phase = match material.program {
            true => format!("prepare {count} runs"),
            false => format!("prepare {} {} by {each}", need.units[0], material.units[0]),
        };
        let greeting = self.greeting(card, for_program, &phase)?;
        if let Some((program, _)) = program {
            program.lowered();
        }
        let met = self.meet(card, watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let mut rng = SystemRng;
        let Begun { mut mesh, counters, here, mut options, key } = met.greet(&self, greeting, options, &mut rng)?;
        if let Some(program) = for_program {
            protocol.settle(&mut options, program);
        }
        let meta = Meta {
            id: here.session,
            protocol: format!("{} {}", need.material, options.canonical()),
            program: for_program.map_or([0; 32], Program::digest),
            name: for_program.map_or("any program", Program::name).to_owned(),
            party: here.me.0.into(),
            params: here.params,
            peer: key,
        };
        let mut filling = Filling { store: &store, meta, whole: material.program, stored_bytes: 0 };
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut clock };
        let ahead = Ahead { program: for_program, options: &options, make: need, together: each };
        protocol.prepare(&mut me, &ahead, &mut Empty, &mut filling).map_err(|error| whose(error, &mesh))?;
        let ands = match program {
            Some((program, _)) => program.and_gates().saturating_mul(count),
            None => count,
        };
        let stored_bytes = filling.stored_bytes;
        let report = Report::new(card, &options, here, ands, &counters, clock.stop());
        Ok(Preparation { count, unit: if material.program { "runs" } else { material.units[0] }, stored_bytes, report })
    }
}

/// The material of this need.
fn material(card: &'static Card, need: &Need) -> &'static Material {
    card.offline.iter().find(|material| material.name == need.material).expect("a material of the card")
}

/// A shelf that is being filled.
struct Filling<'s> {
    store: &'s Store,
    /// What is said of each lot, but for its id.
    meta: Meta,
    /// Whether a lot is used in one piece.
    whole: bool,
    stored_bytes: u64,
}

impl Shelf for Filling<'_> {
    fn put(&mut self, me: &mut Party<'_, '_>, lot: &Lot, write: &mut WriteBatch<'_>) -> Result<()> {
        let meta = Meta { id: me.here.session, ..self.meta.clone() };
        self.stored_bytes += if self.whole {
            let mut writer = self.store.create(&meta, &mut SystemRng)?;
            (0..lot.batches).try_for_each(|batch| write(me, batch, &mut writer))?;
            writer.finish()?
        } else {
            let mut writer = self.store.new_deal(&meta, &mut SystemRng)?;
            let mut bytes = Zeroizing::new(Vec::new());
            for batch in 0..lot.batches {
                write(me, batch, &mut *bytes)?;
                writer.block(&bytes)?;
                bytes.clear();
            }
            writer.finish()?
        };
        // The other parts are on their disks, too.
        same(me.net, &meta.id, "stored")
    }

    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        Ok(None)
    }

    fn check_begins(&mut self) -> Result<()> {
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a run looks for in a store.
pub(crate) struct Wanted<'w> {
    pub(crate) card: &'static Card,
    pub(crate) program: &'w Program,
    pub(crate) need: &'w Need,
    /// The peer's key, or nothing.
    pub(crate) key: &'w str,
}

/// A lot in the store.
struct Held {
    meta: Meta,
    next: u32,
    batches: u32,
}

/// The material of one run.
pub(crate) struct Supplied {
    material: &'static str,
    id: SessionId,
    name: String,
    /// Whether nothing of the lot is left after this run.
    last: bool,
    taken: Taken,
}

/// Where its batches come from.
enum Taken {
    Whole(Option<Box<Reader>>),
    Batches(Box<Deal>),
}

impl Supplied {
    /// Chooses, with the others, the oldest lot of which all have enough, takes over the options under which it was made, and
    /// goes on in a session of its own. All have it marked as used before this returns.
    pub(crate) fn choose(
        store: &Store,
        wanted: &Wanted<'_>,
        mesh: &mut Mesh<'_>,
        here: &mut Here,
        options: &mut Options,
        clock: &mut Clock<'_>,
    ) -> Result<Supplied> {
        store.destroyed().iter().for_each(|lost| clock.watch().destroyed(&lost.name));
        store.damaged()?.iter().for_each(|why| clock.watch().damaged(&why.to_string()));
        let material = material(wanted.card, wanted.need);
        let need = if material.program { 1 } else { u32::try_from(wanted.need.batches).unwrap_or(u32::MAX) };
        let ours = held(store, wanted, material, here, options)?;
        let (peer, ch) = mesh.pair()?;
        let theirs = exchange(ch, &ours)?;
        let first = here.me < peer;
        let (id, next) = choose(first, &ours, &theirs, need).map_err(|why| none_left(store, wanted, material, &why))?;
        let lost = lost(&ours, &theirs);
        let (whole, kept) = (material.program, lost.iter().filter(|lost| **lost != id));
        kept.clone().try_for_each(|lost| if whole { store.discard(lost) } else { store.discard_deal(lost) })?;
        let name = ours.iter().find(|held| held.meta.id == id).map_or(String::new(), |held| held.meta.name.clone());
        let chosen = ours.iter().find(|held| held.meta.id == id).expect("it was chosen among them");
        options.take_over(&chosen.meta.protocol)?;
        let (taken, last) = if whole {
            let reader = store.take(&id)?;
            clock.watch().taken(ours.len() - 1 - lost.len(), lost.len());
            (Taken::Whole(Some(Box::new(reader))), true)
        } else {
            let mut deal = store.open_deal(&id)?;
            let behind = deal.advance_to(next)?;
            if !lost.is_empty() {
                clock.watch().discarded(lost.len());
            }
            clock.watch().material(deal.info().blocks - next, need, behind);
            let last = deal.info().blocks == next + need;
            (Taken::Batches(Box::new(deal)), last)
        };
        let parts: [&[u8]; 3] = [&here.session.to_bytes(), &id.to_bytes(), &next.to_le_bytes()];
        here.session = SessionId::derive("run on material from a store", &parts);
        same(mesh, &here.session, "taken")?;
        Ok(Supplied { material: material.name, id, name, last, taken })
    }

    /// The run has ended. An error between a check's first message and its verdict costs the whole lot: whoever waits for the
    /// next run is told, unless nothing was left of it.
    pub(crate) fn ended(self, store: &Store, failed: bool, watch: &mut dyn Watch) {
        let Supplied { id, name, last, taken, .. } = self;
        let batches = matches!(taken, Taken::Batches(_));
        drop(taken);
        if failed && batches && !last && store.deals().is_ok_and(|deals| deals.iter().all(|info| info.meta.id != id)) {
            watch.destroyed(&name);
        }
    }
}

impl Supplies for Supplied {
    fn shelf(&mut self, material: &str) -> Option<&mut dyn Shelf> {
        if material == self.material { Some(&mut self.taken) } else { None }
    }
}

impl Shelf for Taken {
    fn put(&mut self, _: &mut Party<'_, '_>, _: &Lot, _: &mut WriteBatch<'_>) -> Result<()> {
        Err(Error::invalid_input("a run does not fill its store"))
    }

    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        Ok(match self {
            Taken::Whole(reader) => reader.take().map(|reader| reader as Box<dyn Read + Send>),
            Taken::Batches(deal) => deal.take()?.map(|reader| Box::new(reader) as Box<dyn Read + Send>),
        })
    }

    fn check_begins(&mut self) -> Result<()> {
        match self {
            Taken::Whole(_) => Ok(()),
            Taken::Batches(deal) => deal.check_begins(),
        }
    }

    fn check_passed(&mut self) -> Result<()> {
        match self {
            Taken::Whole(_) => Ok(()),
            Taken::Batches(deal) => deal.check_passed(),
        }
    }
}

/// The lots here that fit, oldest first.
fn held(store: &Store, wanted: &Wanted<'_>, material: &Material, here: &Here, options: &Options) -> Result<Vec<Held>> {
    let digest = if material.program { wanted.program.digest() } else { [0; 32] };
    let fits = |held: &Held| {
        let meta = &held.meta;
        let rest = meta.protocol.strip_prefix(material.name).and_then(|rest| rest.strip_prefix(' '));
        meta.program == digest
            && meta.party == u32::from(here.me.0)
            && meta.params == here.params
            && meta.peer == wanted.key
            && rest.is_some_and(|rest| options.made_under(rest))
    };
    let all: Vec<Held> = if material.program {
        store.list()?.into_iter().map(|meta| Held { meta, next: 0, batches: 1 }).collect()
    } else {
        let deals = store.deals()?.into_iter();
        deals.map(|info| Held { meta: info.meta, next: info.next, batches: info.blocks }).collect()
    };
    Ok(all.into_iter().filter(fits).take(MOST).collect())
}

/// Why no lot can be used.
enum Missing {
    Neither,
    Here,
    There,
    TooSmall { need: u32, most: u32 },
    Both,
}

/// The oldest lot, in the order of the party that is first, of which both have so many batches left; and at which both go on.
fn choose(
    first: bool,
    ours: &[Held],
    theirs: &[(SessionId, u32)],
    need: u32,
) -> std::result::Result<(SessionId, u32), Missing> {
    let here: HashMap<_, _> = ours.iter().map(|held| (held.meta.id, (held.next, held.batches))).collect();
    let there: HashMap<_, _> = theirs.iter().copied().collect();
    let order: Vec<SessionId> = match first {
        true => ours.iter().map(|held| held.meta.id).collect(),
        false => theirs.iter().map(|&(id, _)| id).collect(),
    };
    let mut most = 0;
    for id in order {
        let (Some(&(next, batches)), Some(&theirs)) = (here.get(&id), there.get(&id)) else { continue };
        let next = next.max(theirs);
        let left = batches.saturating_sub(next);
        if left >= need {
            return Ok((id, next));
        }
        most = most.max(left);
    }
    Err(match (ours.len(), theirs.len()) {
        (0, 0) => Missing::Neither,
        (0, _) => Missing::Here,
        (_, 0) => Missing::There,
        _ if most > 0 => Missing::TooSmall { need, most },
        _ => Missing::Both,
    })
}

/// Why there is nothing to run on, and what to do.
fn none_left(store: &Store, wanted: &Wanted<'_>, material: &Material, why: &Missing) -> Error {
    let name = wanted.card.name;
    let what = if material.program { "preparation".to_owned() } else { format!("material for {name}") };
    let a = if material.program { "a " } else { "" };
    let why = match why {
        Missing::Neither => format!("neither party has {a}{what}"),
        Missing::Here => format!("there is no {what} here (the peer has some)"),
        Missing::There => format!("the peer has no {what} (there is some here)"),
        Missing::TooSmall { need, most } => {
            format!("this program takes {need} batches, and of no preparation both parties have more than {most}")
        }
        Missing::Both => format!("there is no {what} that both parties have"),
    };
    let (of, how) = match material.program {
        true => (
            format!(" for `{}` with these owners, recipients, parameters, options and peer", wanted.program.name()),
            "`comity prepare`".to_owned(),
        ),
        false => (
            ", with these parameters, options and this peer".to_owned(),
            format!("`comity prepare --protocol {name} --count N`"),
        ),
    };
    let mut others: Vec<String> = store.list().unwrap_or_default().into_iter().map(|meta| meta.protocol).collect();
    others.extend(store.deals().unwrap_or_default().into_iter().map(|info| info.meta.protocol));
    let made = |text: &String| text.split(' ').next().unwrap_or_default().to_owned();
    let made: HashSet<String> = others.iter().map(made).filter(|made| made != material.name).collect();
    let cards = PROTOCOLS.iter().map(|protocol| protocol.card());
    let others: Vec<String> = cards
        .filter(|card| card.offline.iter().any(|material| made.contains(material.name)))
        .map(|card| format!("`--protocol {}`", card.name))
        .collect();
    let there = match others.is_empty() {
        true => String::new(),
        false => format!("; what the store has is for {}, to be named on both sides", others.join(" or ")),
    };
    Error::invalid_input(format!("{why}{of}: make some with {how}, on both sides{there}"))
}

/// The lots of which the peer does not have its part any more. None if the peer has nothing that is here, for then its store may be
/// another one, and none if it had no room to say all that it has.
fn lost(ours: &[Held], theirs: &[(SessionId, u32)]) -> Vec<SessionId> {
    let there: HashSet<_> = theirs.iter().map(|(id, _)| *id).collect();
    let (both, lost): (Vec<_>, Vec<_>) = ours.iter().map(|held| held.meta.id).partition(|id| there.contains(id));
    if both.is_empty() || theirs.len() >= MOST { Vec::new() } else { lost }
}

/// Tells the peer what is there, and hears what it has: ids, and next batches. Both are public.
fn exchange(ch: &mut dyn Channel, ours: &[Held]) -> Result<Vec<(SessionId, u32)>> {
    const BYTES: usize = SessionId::BYTES + 4;
    let mut count = [0; 4];
    ch.exchange(&(ours.len() as u32).to_le_bytes(), &mut count)?;
    let count = u32::from_le_bytes(count) as usize;
    if count > MOST {
        return Err(Error::malformed(format!("the peer says that it has {count} preparations")));
    }
    let mut bytes = Vec::with_capacity(ours.len() * BYTES);
    for held in ours {
        bytes.extend(held.meta.id.to_bytes());
        bytes.extend(held.next.to_le_bytes());
    }
    let mut theirs = vec![[0; BYTES]; count];
    ch.exchange(&bytes, theirs.as_flattened_mut())?;
    let entry = |bytes: [u8; BYTES]| {
        let (id, next) = bytes.split_at(SessionId::BYTES);
        let id = SessionId::new(id.try_into().expect("the length of an id"));
        (id, u32::from_le_bytes(next.try_into().expect("four bytes")))
    };
    Ok(theirs.into_iter().map(entry).collect())
}

/// Waits until the others are as far, with the same lot.
fn same(mesh: &mut Mesh<'_>, id: &SessionId, what: &str) -> Result<()> {
    let ours = id.child(what).to_bytes();
    for (peer, theirs) in mesh.tell(&ours)?.iter() {
        if theirs[..] != ours {
            let text = format!("the peer has {what} another preparation than this party");
            return Err(Error::malformed(text).by(peer));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
