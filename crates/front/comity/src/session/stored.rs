//! Offline and online: filling a store with preparations, and running on one of them.

use std::collections::HashSet;

use comity_channel::{Channel, Counted, hello};
use comity_circuit::{Observer, Program};
use comity_core::{Bits, Error, Result, SessionId};
use comity_cutchoose::Prepared;
use comity_net::SystemRng;
use comity_store::{Meta, Store};

use super::{GARBLER, Met, Session, dealt, roles_apart, wish};
use crate::clock::Clock;
use crate::protocol::{Protocol, System};
use crate::{Preparation, Watch};

/// What stands in a hello behind the protocol's name.
pub(super) const FROM_A_STORE: &str = ", from a store";

/// No party has more preparations for one program and peer than this.
const MOST: usize = 1 << 16;

impl Session<'_> {
    /// The offline phase of `count` runs of a program: all that can be done before the inputs are known. The peer does the
    /// same, and each party's part goes to its [store](Session::store), of which all entries together take at most `limit`
    /// bytes. For tinyot, whose material is for any program, this is [`Session::deal`] with as much as `count` runs use up, in
    /// parts of whole runs.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] before anything is sent if there is no store, it would get too large, or the protocol has no
    /// offline phase; otherwise as [`Session::run`]. What was finished before an error stays in the store; a party that
    /// lacks its part of a preparation is found out before a run.
    pub fn prepare(mut self, program: &Program, count: u64, limit: u64, watch: &mut dyn Watch) -> Result<Preparation> {
        let refuse = |why: String| Err(Error::InvalidInput(why));
        let protocol = self.protocol.as_deref().map_or(Ok(Protocol::preferred()), Protocol::named)?;
        if let System::Yao = protocol.system {
            return refuse(format!("{} has nothing that could be prepared: take cutchoose or tinyot", protocol.name));
        }
        if let System::TinyOt = protocol.system {
            self.check_parties(protocol, program)?;
            return self.deal_parts(dealt::in_blocks(count, program), dealt::part(program), limit, watch);
        }
        self.check_parties(protocol, program)?;
        let Some(store) = self.store.take() else {
            return refuse("where do the preparations go? The session needs a store".into());
        };
        if count > MOST as u64 {
            return refuse(format!(
                "{count} runs are more than {MOST}, which is as many as a store has of one program and peer"
            ));
        }
        let garbler = self.garbler(program);
        let each = comity_cutchoose::prepared_size(program, garbler, self.params);
        let (need, there) = (each.saturating_mul(count), store.bytes()?);
        if need.saturating_add(there) > limit {
            return refuse(format!(
                "{count} of these preparations may take {need} bytes, the store holds {there} bytes already, and the limit \
                 is {limit} bytes: raise it (--store-limit), or run without a preparation, which stores nothing"
            ));
        }
        let what = format!("{}, preparing {count} runs", protocol.name);
        let greeting = self.greeting(protocol, program, wish(&what, program, garbler))?;
        program.lowered();
        let Met { channel, address, key } = self.meet(protocol, watch)?;
        watch.connected(&address);
        let mut clock = Clock::start(watch);
        clock.phase("hello");
        let mut channel = Counted::new(channel);
        let mut rng = SystemRng;
        let session = hello(&mut channel, &greeting, &mut rng).map_err(|e| roles_apart(e, &what, program))?;
        let config = self.cutchoose(garbler);
        let mut stored_bytes = 0;
        for number in 0..count {
            let meta = Meta {
                id: session.child(&format!("preparation {number}")),
                protocol: format!("{}{GARBLER}{garbler}", protocol.name),
                program: program.digest(),
                name: program.name().to_owned(),
                party: self.party,
                params: self.params,
                peer: key.clone(),
            };
            let mut writer = store.create(&meta, &mut rng)?;
            comity_cutchoose::prepare(&mut channel, &meta.id, &config, program, &mut rng, &mut writer, &mut clock)?;
            stored_bytes += writer.finish()?;
            // The other part is on its disk, too.
            same(&mut channel, &meta.id, "stored")?;
        }
        let ands = program.and_gates().saturating_mul(count);
        let report = self.report_of(protocol, ands, &channel.counts(), clock.stop());
        Ok(Preparation { count, stored_bytes, report })
    }

    /// Runs on the oldest preparation for this program and peer of which both have their part. Both mark it as used
    /// before either sends anything that depends on a secret.
    #[allow(clippy::too_many_arguments, reason = "what a session has when the parties have met")]
    pub(super) fn run_stored(
        &self,
        store: &Store,
        channel: &mut impl Channel,
        session: &SessionId,
        key: &str,
        protocol: &Protocol,
        program: &Program,
        inputs: &[Option<Bits>],
        rng: &mut SystemRng,
        clock: &mut Clock<'_>,
    ) -> Result<()> {
        let refuse = |why: String| Err(Error::InvalidInput(why));
        tell_damage(store, clock)?;
        let ours = self.fitting(store, key, protocol, program)?;
        let theirs = exchange(channel, &ours)?;
        // The order of party 0 decides.
        let (first, second) = if self.party == 0 { (&ours, &theirs) } else { (&theirs, &ours) };
        let known: HashSet<&SessionId> = second.iter().collect();
        let Some(&id) = first.iter().find(|id| known.contains(id)) else {
            let error = none_left(program, &ours, &theirs);
            if store.deals()?.is_empty() {
                return Err(error);
            }
            return refuse(format!(
                "{error}; what the store has is for `--protocol tinyot`, to be named on both sides"
            ));
        };
        let reader = store.take(&id)?;
        // The peer's store is the right one, since it has this; so what it lacks is lost, a crash of the peer's most likely.
        let known: HashSet<&SessionId> = theirs.iter().collect();
        let lost: Vec<&SessionId> = ours.iter().filter(|id| !known.contains(id)).collect();
        lost.iter().try_for_each(|id| store.discard(id))?;
        clock.watch().taken(ours.len() - 1 - lost.len(), lost.len());
        let both = SessionId::derive("run on a preparation", &[&session.to_bytes(), &id.to_bytes()]);
        same(channel, &both, "taken")?;
        let prepared = Prepared::open(reader, self.backend, self.party, program)?;
        prepared.load(program, inputs)?.run(channel, rng, clock)
    }

    /// The preparations for this program and peer, oldest first.
    fn fitting(&self, store: &Store, key: &str, protocol: &Protocol, program: &Program) -> Result<Vec<SessionId>> {
        let digest = program.digest();
        let garblers = if self.role.is_some() { vec![self.garbler(program)] } else { vec![0, 1] };
        let protocols: Vec<String> = garblers.iter().map(|g| format!("{}{GARBLER}{g}", protocol.name)).collect();
        let fits = |meta: &Meta| {
            meta.program == digest
                && meta.party == self.party
                && meta.params == self.params
                && meta.peer == key
                && protocols.contains(&meta.protocol)
        };
        Ok(store.list()?.into_iter().filter(fits).map(|meta| meta.id).take(MOST).collect())
    }
}

/// Says what of the store is passed over.
pub(super) fn tell_damage(store: &Store, clock: &mut Clock<'_>) -> Result<()> {
    store.damaged()?.iter().for_each(|why| clock.watch().damaged(&why.to_string()));
    Ok(())
}

/// Tells the peer what is there, and hears what it has. The ids are public.
fn exchange(channel: &mut impl Channel, ours: &[SessionId]) -> Result<Vec<SessionId>> {
    let mut count = [0; 4];
    channel.exchange(&(ours.len() as u32).to_le_bytes(), &mut count)?;
    let count = u32::from_le_bytes(count) as usize;
    if count > MOST {
        return Err(Error::Malformed(format!("the peer says that it has {count} preparations")));
    }
    let ours: Vec<u8> = ours.iter().flat_map(|id| id.to_bytes()).collect();
    let mut theirs = vec![[0; SessionId::BYTES]; count];
    channel.exchange(&ours, theirs.as_flattened_mut())?;
    Ok(theirs.into_iter().map(SessionId::new).collect())
}

/// Waits until the peer is as far, with the same preparation.
pub(super) fn same(channel: &mut impl Channel, id: &SessionId, what: &str) -> Result<()> {
    let ours = id.child(what).to_bytes();
    let mut theirs = [0; SessionId::BYTES];
    channel.exchange(&ours, &mut theirs)?;
    if ours != theirs {
        return Err(Error::Malformed(format!("the peer has {what} another preparation than this party")));
    }
    Ok(())
}

/// Why there is nothing to run on, and what to do.
fn none_left(program: &Program, ours: &[SessionId], theirs: &[SessionId]) -> Error {
    let why = match (ours.len(), theirs.len()) {
        (0, 0) => "neither party has a preparation".to_owned(),
        (0, theirs) => format!("there is no preparation here (the peer has {theirs})"),
        (ours, 0) => format!("the peer has no preparation (there are {ours} here)"),
        _ => "there is no preparation that both parties have".to_owned(),
    };
    Error::InvalidInput(format!(
        "{why} for `{}` with these owners, recipients, parameters and peer: make some with `comity prepare`, on both sides",
        program.name()
    ))
}
