//! Offline and online: filling a store with lots of material, and finding there what a run uses up.
//!
//! **Lots.** What is made together is there whole or not at all: while it is made some check is always
//! pending, and whatever breaks off then costs everything under its keys. So a long preparation is several
//! lots, and what breaks off costs the one in the making. A run takes all its batches from one of them.
//!
//! **The same at all.** A lot is for exactly the parties that made it, each with the key that it had. Before
//! anything that depends on a secret leaves, they tell each other what they have and how far it is used up,
//! and compare what they heard; the order of party 0 decides, the largest mark wins, and all have it marked
//! as used on their disks.
//!
//! **One of another.** Material of a program may be made of stored material that is for any: then each run's
//! is made of a lot of that which all parties have, chosen and marked as a run does it, and anew where there
//! is no such lot.
//!
//! **One side alone.** What one party has and another has not (a crash between the two disks; a lot that was
//! destroyed, used up or damaged on one side) is of no use to anybody. It is discarded by whoever still has
//! it as soon as both have told each other what they have, if there is any lot that both have: else one of
//! the stores may be the wrong one.

mod choose;
mod fill;
mod of_stored;
mod supply;

use std::fmt;

use comity_channel::{Mesh, PerPeer};
use comity_circuit::Program;
use comity_core::{Error, Params, PartyId, Result, SessionId};
use comity_net::SystemRng;
use comity_protocol::{Ahead, Card, Empty, Here, Material, Need, Options, Party, ProgramBound, Protocol};
use comity_store::{Meta, Store};

use crate::clock::Clock;
use crate::meet::Begun;
use crate::oprf::hex;
use crate::protocol::fits;
use crate::report::{Filled, Report};
use crate::session::{Part, Session, whose};
use crate::shares::Form;
use crate::watch::Watch;
use fill::Filling;
use of_stored::OfStored;

pub(crate) use choose::Wanted;
pub(crate) use supply::Supplied;

/// The most lots that a party has of one material with the same peers.
const MOST: usize = 1 << 16;

impl Session<'_> {
    /// Makes material ahead for `count` runs of a program: all that can be done before the inputs are known.
    /// The peers do the same, and each party's part goes to its [store](Session::store), which then takes at
    /// most `limit` bytes.
    ///
    /// If the protocol makes this material from material for any program, that is taken from the store as
    /// long as all parties have enough of one lot. For the remaining runs all is made anew;
    /// [`Watch::made_anew`] says why, if the store had some.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), before anything is sent, if there is no store, if it would get
    /// too large, or if the protocol has no offline phase; otherwise as [`Session::run`]. Lots that were
    /// finished before an error stay in the store; if a party lacks its part of one, this is noticed before a
    /// run.
    pub fn prepare(self, program: &Program, count: u64, limit: u64, watch: &mut dyn Watch) -> Result<Filled> {
        let protocol = self.chosen(Some(program))?;
        let settled = self.check(protocol, program, &self.options(protocol.card())?)?;
        let form = Form::of(program, protocol.card(), self.parties())?;
        let program = form.program();
        let each = protocol.needs(program, &settled, self.params)?;
        let times = |n: u64| n.saturating_mul(count);
        let need = |each: &Need| Need {
            material: each.material,
            units: each.units.iter().copied().map(times).collect(),
            batches: times(each.batches),
            bytes: times(each.bytes),
        };
        let needs: Vec<Need> = each.iter().map(need).collect();
        self.make(protocol, Some((program, &each)), count, &needs, limit, watch)
    }

    /// Makes material ahead for any program: `units` of the material's first unit, rounded up to whole
    /// batches. Otherwise as [`Session::prepare`].
    ///
    /// One run takes its material from one lot: if a program needs more, prepare for that program with
    /// [`Session::prepare`].
    ///
    /// # Errors
    /// As [`Session::prepare`].
    pub fn prepare_any(self, units: u64, limit: u64, watch: &mut dyn Watch) -> Result<Filled> {
        self.prepare_amount(limit, watch, |protocol, options, params, _| protocol.amount(units, options, params))
    }

    /// Makes material ahead for any program of at most `ands` AND gates and `wires` wires, of a protocol that
    /// counts both ([`ProgramBound`]). Otherwise as [`Session::prepare_any`].
    ///
    /// # Errors
    /// As [`Session::prepare`]; [`InvalidInput`](comity_core::Kind) if the protocol counts by one number, or no
    /// program is within the bound.
    pub fn prepare_within(self, ands: u64, wires: u64, limit: u64, watch: &mut dyn Watch) -> Result<Filled> {
        self.prepare_amount(limit, watch, |protocol, options, params, parties| {
            protocol.amount_within(&ProgramBound { parties, ands, wires }, options, params)
        })
    }

    fn prepare_amount(
        self,
        limit: u64,
        watch: &mut dyn Watch,
        amount: impl FnOnce(&dyn Protocol, &Options, Params, u16) -> Result<Need>,
    ) -> Result<Filled> {
        let protocol = self.chosen(None)?;
        let options = self.options(protocol.card())?;
        fits(self.protocols, protocol.card(), self.parties(), None)?;
        protocol.card().has(self.me, self.parties())?;
        protocol.fits_parties(self.parties(), &options)?;
        let need = amount(protocol, &options, self.params, self.parties())?;
        self.make(protocol, None, need.units.first().copied().unwrap_or(0), &[need], limit, watch)
    }

    /// Makes materials one after the other, for `count` runs of a program with these needs each, or for any
    /// program.
    fn make(
        mut self,
        protocol: &dyn Protocol,
        program: Option<(&Program, &[Need])>,
        count: u64,
        needs: &[Need],
        limit: u64,
        watch: &mut dyn Watch,
    ) -> Result<Filled> {
        self.has_no(&[Part::Shares], "the making of material")?;
        let card = protocol.card();
        let Some(store) = self.store.take() else {
            return Err(Error::invalid_input("where does the material go? The session needs a store"));
        };
        let there = store.bytes()?;
        let bytes = needs.iter().map(|need| protocol.stored_bytes(need, self.parties())).fold(0, u64::saturating_add);
        if bytes.saturating_add(there) > limit || needs.iter().any(|need| need.batches >= u64::from(u32::MAX)) {
            return Err(Error::invalid_input(format!(
                "the material may take {}, the store holds {} already, and the limit is {}: raise it (--store-limit), \
                    or run without a store, which makes the material during the run",
                Size(bytes),
                Size(there),
                Size(limit)
            )));
        }
        let of_program = needs.iter().any(|need| material(card, need).program);
        if of_program && count > MOST as u64 {
            return Err(Error::invalid_input(format!(
                "{count} runs are too many: a store holds material for at most {MOST} runs of one program with the \
                    same parties"
            )));
        }
        let options = self.options(card)?;
        let agreed = program.filter(|_| of_program).map(|(program, _)| program);
        let each = |of: usize| program.map(|(program, each)| (program, &each[of]));
        let phases = needs.iter().enumerate().map(|(of, need)| match material(card, need) {
            made if made.program => format!("prepare {count} runs"),
            made => format!(
                "prepare {} {} by {}",
                need.units[0],
                made.units[0],
                each(of).map_or(0, |(_, each)| each.batches)
            ),
        });
        let greeting = self.greeting(card, agreed, &phase(&phases.collect::<Vec<_>>()))?;
        if let Some((program, _)) = program {
            program.lowered();
        }
        let met = self.meet(card, watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let Begun { mut mesh, counters, here, mut options, keys, .. } =
            met.greet(&self, greeting, options, clock.watch())?;
        if let Some(program) = agreed {
            protocol.settle(&mut options, program);
        }
        let making =
            Making { protocol, protocols: self.protocols, store: &store, options: &options, peers: ids(&keys) };
        let made = needs.iter().enumerate().map(|(of, need)| {
            // The first material's session is the hello's own.
            let here = if of == 0 { here } else { here.child(need.material) };
            making.fill(need, each(of), &mut mesh, here, &mut clock)
        });
        let stored_bytes = made.sum::<Result<u64>>().map_err(|error| whose(error, &mesh))?;
        let ands = match program {
            Some((program, _)) => program.and_gates().saturating_mul(count),
            None => count,
        };
        let report = Report::new(card, &options, here, ands, &counters, clock.stop());
        let unit = if program.is_some() { "runs" } else { material(card, &needs[0]).units[0] };
        Ok(Filled { count, unit, stored_bytes, report })
    }
}

/// The part of making materials that is the same for all materials of a protocol.
struct Making<'m> {
    protocol: &'m dyn Protocol,
    protocols: &'static [&'static dyn Protocol],
    store: &'m Store,
    options: &'m Options,
    peers: Vec<(PartyId, Option<[u8; 32]>)>,
}

impl Making<'_> {
    /// Makes `need` of one material, from stored material or anew; one run of a program uses up `each` of it.
    /// Returns the bytes that it takes in the store.
    fn fill(
        &self,
        need: &Need,
        each: Option<(&Program, &Need)>,
        mesh: &mut Mesh<'_>,
        here: Here,
        clock: &mut Clock<'_>,
    ) -> Result<u64> {
        let &Making { protocol, store, options, .. } = self;
        let card = protocol.card();
        let material = material(card, need);
        let program = each.filter(|_| material.program);
        let meta = Meta {
            id: here.session,
            material: need.material.to_owned(),
            options: options.canonical(material.options),
            program: program.map(|(program, _)| program.digest()),
            name: program.map_or("any program", |(program, _)| program.name()).to_owned(),
            units: Vec::new(),
            party: here.me,
            peers: self.peers.clone(),
            params: here.params,
        };
        let mut filling = Filling::new(store, meta);
        let together = each.map_or(0, |(_, each)| each.batches);
        let ahead = Ahead { program: program.map(|(program, _)| program), options, make: need, together };
        let source = program.filter(|_| material.from.is_some());
        let source = source.and_then(|(program, each)| Some((program, each, protocol.source(program, options)?)));
        match &source {
            Some((program, each, source)) => {
                let source =
                    Wanted { protocols: self.protocols, card, program, need: source, peers: self.peers.clone() };
                OfStored { protocol, store, source, ahead, each }.make(mesh, here, clock, &mut filling)?;
            }
            None => {
                let mut me = Party { net: mesh, here, rng: &mut SystemRng, observer: clock };
                protocol.prepare(&mut me, &ahead, &mut Empty, &mut filling)?;
            }
        }
        Ok(filling.stored_bytes)
    }
}

/// What is made of each material, for the hello; of many materials a digest, since a hello has little room.
fn phase(each: &[String]) -> String {
    const LONGEST: usize = 64;
    let all = each.join(", ");
    if all.len() <= LONGEST {
        return all;
    }
    let digest = SessionId::derive("materials to prepare", &[all.as_bytes()]);
    format!("prepare {} materials, {}", each.len(), hex(&digest.to_bytes()[..8]))
}

/// A number of bytes, in the units in which a limit is said.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        let mut size = self.0 as f64 / 1024.0;
        let mut units = UNITS.iter();
        let mut unit = match size < 1.0 {
            true => return write!(f, "{} bytes", self.0),
            false => units.next().expect("there is a first unit"),
        };
        for next in units {
            if size < 1024.0 {
                break;
            }
            (size, unit) = (size / 1024.0, next);
        }
        let decimals = usize::from(size.fract() > 0.0 && size < 100.0);
        write!(f, "{size:.decimals$} {unit}")
    }
}

/// The material of the card that this need is for.
fn material(card: &'static Card, need: &Need) -> &'static Material {
    card.offline.iter().find(|material| material.name == need.material).expect("a material of the card")
}

/// All peers, each with the fingerprint of its key, where it was proved: as a lot's meta has them.
pub(crate) fn ids(keys: &PerPeer<Option<[u8; 32]>>) -> Vec<(PartyId, Option<[u8; 32]>)> {
    keys.iter().map(|(peer, key)| (peer, *key)).collect()
}

/// Waits until the other parties are as far, with the same lot. All parties have settled before which lot
/// comes, so that a party that names another one is a cheat itself.
fn settle(mesh: &mut Mesh<'_>, id: &SessionId, what: &str) -> Result<()> {
    let ours = id.child(what).to_bytes();
    for (peer, theirs) in mesh.tell(&ours)?.iter() {
        if theirs[..] != ours {
            return Err(Error::malformed(format!("the peer has {what} another lot than this party")).by(peer));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
