//! Queries to a published base: a session between the server, party 0, and one of its clients, party 1.
//!
//! The hello says which base, after how many updates, and the general protocol, if the function runs under
//! one. Then the client says how many queries it wants ([`Request`]), and the server whether it gets them
//! ([`Verdict`]): what it grants it has written down before it says so. Under a general protocol nothing is
//! prepared: there all queries are asked at once, and counted. After a session that ended in misbehaviour a
//! client is granted nothing any more. Queries are asked at once, or prepared and kept by both, a
//! [lot](Store) each, of which a batch has [`OPRF_TOGETHER`] circuits. That a batch of a lot is used up is on
//! the disk, on each side, before anything is sent that depends on it and an input.

mod request;

use comity_channel::Traffic;
use comity_core::{Block, Error, Kind, Result};
use comity_net::SystemRng;
use comity_protocol::{Adversary, Card, Party, Protocol};
use comity_psi::CARD;
use comity_psi::base::{BaseFile, Published};
use comity_psi::oprf::{self, OPRF_TOGETHER, OprfAnswers, OprfInput, OprfQuestions, answer, evaluate_over, query};
use comity_store::{BatchReader, LotInfo, Meta, OpenLot, Store};
use zeroize::Zeroizing;

use crate::clock::Clock;
use crate::meet::Begun;
use crate::offline::ids;
use crate::report::{peak_rss, sum};
use crate::session::{Part, Session, whose};
use crate::watch::Watch;
use request::{Answer, Request, Verdict, granted};

/// The most queries of a session: 10 GiB of tables.
const MOST: u64 = 1 << 16;

/// The most lots that a client may name in one session, one after another, of which the service does not have
/// its half.
const NAMED: u32 = 1 << 10;

/// The name of the material in a store.
const MATERIAL: &str = "oprf-aes";

/// The reason why a server grants no queries.
pub enum OprfRefusal {
    /// The client has only this number of queries left, for the whole life of the base.
    Left(u64),
    /// A session with this client ended in misbehaviour.
    Barred,
    /// This side failed: it could not write down what it granted.
    Cannot(Error),
}

/// The part of a server that outlives its sessions: the base, and the count of each client's queries.
pub trait OprfDesk {
    /// The base as it is now. Asked for when a client has connected.
    ///
    /// # Errors
    /// An error that keeps this side from serving.
    fn published(&mut self) -> Result<&Published>;

    /// Grants queries to the client with this key (`None` in plain text), after it has been written down that
    /// they are granted. If the queries are only to be prepared (`ahead`), it says whether they would be
    /// granted.
    ///
    /// # Errors
    /// The reason for the refusal.
    fn grant(&mut self, client: Option<[u8; 32]>, queries: u64, ahead: bool) -> Result<(), OprfRefusal>;

    /// Writes down that a session with this client ended in misbehaviour: from now on the client is granted
    /// nothing. A protocol bounds a cheat's chance for one session only; with unlimited tries it would
    /// succeed.
    ///
    /// # Errors
    /// An error that keeps this side from writing it down.
    fn misbehaved(&mut self, client: Option<[u8; 32]>) -> Result<()>;

    /// The store of prepared queries, if this side has one.
    fn store(&self) -> Option<&Store>;
}

/// A client's request to a server.
#[derive(Clone, Copy)]
pub struct OprfAsk<'a> {
    /// The base.
    pub base: &'a BaseFile,
    /// The general protocol under which the function runs; `None` for the function's own protocol.
    pub over: Option<&'static dyn Protocol>,
    /// Whether the base may be behind the server's updates.
    pub stale: bool,
}

/// The way in which a server answers.
#[derive(Clone, Copy, Default)]
pub struct OprfServe {
    /// The general protocol under which the function runs; `None` for the function's own protocol.
    pub over: Option<&'static dyn Protocol>,
    /// Whether that protocol may be semi-honest: then a client that breaks its rules can learn the base's
    /// key, and with it the whole base.
    pub trust_clients: bool,
}

/// The outcome of a session.
pub struct OprfDone<T> {
    /// The values at the client's inputs; at the server, or when queries were prepared, their number.
    pub outcome: T,
    /// Time since the peer was there, in seconds.
    pub seconds: f64,
    /// The time of each phase, in seconds, in the order in which they began.
    pub phases: Vec<(&'static str, f64)>,
    /// Bytes and rounds; what TCP and TLS add is not counted.
    pub traffic: Traffic,
    /// The most memory that this process ever held, in bytes; `None` if the system does not tell (Linux
    /// does).
    pub peak_rss: Option<u64>,
}

impl Session<'_> {
    /// Asks a server for the values of the base's function at these inputs; this is party 1. If the store has
    /// enough queries that were prepared with this server, it uses these up, batch by batch; otherwise it
    /// prepares queries as it asks them, [some at a time](comity_psi::oprf::OPRF_ROUND).
    ///
    /// # Errors
    /// [`Mismatch`](comity_core::Kind), on both sides, if the server has another base, or another state of it;
    /// [`InvalidInput`](comity_core::Kind) if it grants fewer queries; otherwise those of the network and of [`query`].
    pub fn ask_oprf(
        mut self,
        ask: OprfAsk<'_>,
        inputs: &[u128],
        watch: &mut dyn Watch,
    ) -> Result<OprfDone<Zeroizing<Vec<Block>>>> {
        if ask.over.is_some() {
            self.has_no(&[Part::Store], "a query under a protocol")?;
        }
        let store = self.store.take();
        let mut dropped = 0;
        let done = self.client(ask, "queries", watch, |me, id, key| {
            let batches = inputs.len().div_ceil(OPRF_TOGETHER) as u32;
            let (from, mut lot) = loop {
                let mut lot = match (&store, ask.over) {
                    (Some(store), None) if batches > 0 => newest(store, id, key, batches)?,
                    _ => None,
                };
                let request = Request {
                    queries: inputs.len() as u64,
                    ahead: false,
                    lot: lot.as_ref().map(|lot| (lot.info().meta.id, lot.info().next)),
                };
                match (granted(me, &request)?, &mut lot) {
                    (Answer::From(from), _) => break (from, lot),
                    // The other halves of these batches are gone: those here are of no use any more.
                    (Answer::Behind(next), lot) => {
                        let gone = lot.as_mut().map_or(Ok(0), |lot| lot.advance_to(next))?;
                        if gone == 0 {
                            return Err(Error::malformed(
                                "the server says that it lacks prepared queries that the client did not name",
                            ));
                        }
                        dropped += 1;
                    }
                }
            };
            if let Some(over) = ask.over {
                return evaluate_over(me, over, OprfInput::Client(inputs));
            }
            let Some(lot) = &mut lot else { return oprf::ask(me, inputs) };
            let halves = taken(lot, from, OprfQuestions::read)?;
            let (ch, here, _, observer) = me.pair()?;
            observer.phase("queries");
            query(ch, here.backend, halves, inputs)
        });
        if dropped > 0 {
            watch.discarded(dropped);
        }
        done
    }

    /// Prepares at least `count` queries with a server, and keeps this side's half in its
    /// [store](Session::store); this is party 1. The outcome is the number of prepared queries, in whole
    /// batches.
    ///
    /// # Errors
    /// As [`Session::ask_oprf`]; those of the store.
    pub fn prepare_oprf(mut self, ask: OprfAsk<'_>, count: u64, watch: &mut dyn Watch) -> Result<OprfDone<u64>> {
        let none = || Error::invalid_input("prepared queries are kept in a store: give the session one");
        let store = self.store.take().ok_or_else(none)?;
        let count = count.max(1).next_multiple_of(OPRF_TOGETHER as u64);
        self.client(ask, "preparation", watch, |me, id, key| {
            let Answer::From(_) = granted(me, &Request { queries: count, ahead: true, lot: None })? else {
                return Err(Error::malformed("the server names a lot that the client did not ask for"));
            };
            let mut writer = store.new_lot(&meta(me, id, key, count), &mut SystemRng)?;
            OprfQuestions::prepare(me, count as usize, |half| {
                writer.batch(|out| half.write(out).map_err(|error| Error::disk("keeping prepared queries", error)))
            })?;
            // The server's half is there before this one: one that is there alone is the server's, and does no harm.
            let (_, ch) = me.net.pair()?;
            ch.send(&[1])?;
            ch.recv(&mut [0])?;
            writer.finish()?;
            Ok(count)
        })
    }

    /// Serves the next client; this is party 0. The outcome is the number of queries that the client was
    /// granted, and whether they were only prepared.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), before a client comes, if the protocol does not withstand a
    /// cheating client and clients are not trusted; [`Mismatch`](comity_core::Kind), on both sides, if the
    /// client has another base, or another state of it; those of the desk, the network and [`answer`].
    pub fn serve_oprf(
        mut self,
        desk: &mut dyn OprfDesk,
        OprfServe { over, trust_clients }: OprfServe,
        watch: &mut dyn Watch,
    ) -> Result<OprfDone<(u64, bool)>> {
        if let Some(over) = over.filter(|over| over.card().adversary == Adversary::SemiHonest && !trust_clients) {
            return Err(Error::invalid_input(format!(
                "{} is semi-honest: a client that breaks its rules can learn the key of the base, and with it the \
                    whole base. Take a malicious protocol, or name none, or trust the clients' software \
                    (--trust-clients)",
                over.card().name
            )));
        }
        let card = card(over);
        CARD.has(self.me, self.parties())?;
        self.has_no(&[Part::Protocol, Part::Shares, Part::Store], "a service of queries, whose desk has its store,")?;
        let options = self.options(&CARD)?;
        let met = self.meet(&card, watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let mut greeting = self.greeting(&CARD, None, "queries to a base")?;
        let published = desk.published()?;
        let base = published.terms.id;
        greeting.more = fields(&base, Some((published.update(), published.head())), over);
        let mut rng = SystemRng;
        let Begun { mut mesh, counters, here, keys, .. } = met.greet(&self, greeting, options, clock.watch())?;
        let key = keys.iter().next().and_then(|(_, key)| *key);
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut clock };
        let done = serve(&mut me, desk, key, over);
        if matches!(&done, Err(Error { kind: Kind::Malformed(_) | Kind::Misbehaved(_), .. })) {
            desk.misbehaved(key)?;
        }
        let outcome = done.map_err(|error| whose(error, &mesh))?;
        let times = clock.stop();
        let (seconds, phases) = (times.seconds, times.phases);
        Ok(OprfDone { outcome, seconds, phases, traffic: sum(&counters), peak_rss: peak_rss() })
    }

    /// The client's side of a session.
    fn client<T>(
        mut self,
        ask: OprfAsk<'_>,
        phase: &'static str,
        watch: &mut dyn Watch,
        talk: impl FnOnce(&mut Party<'_, '_>, &[u8; 32], Option<[u8; 32]>) -> Result<T>,
    ) -> Result<OprfDone<T>> {
        CARD.has(self.me, self.parties())?;
        self.has_no(&[Part::Protocol, Part::Shares], "a query to a base, which says what it runs over,")?;
        let options = self.options(&CARD)?;
        let mut greeting = self.greeting(&CARD, None, "queries to a base")?;
        let base = ask.base.terms.id;
        let state = (!ask.stale).then(|| (ask.base.update(), ask.base.head()));
        greeting.more = fields(&base, state, ask.over);
        let met = self.meet(&card(ask.over), watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let mut rng = SystemRng;
        let Begun { mut mesh, counters, here, keys, .. } = met.greet(&self, greeting, options, clock.watch())?;
        for (_, counter) in counters.iter() {
            clock.watch().traffic(counter);
        }
        let key = keys.iter().next().and_then(|(_, key)| *key);
        clock.phase_begins(phase);
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut clock };
        let done = talk(&mut me, &base, key);
        let outcome = done.map_err(|error| whose(error, &mesh))?;
        let times = clock.stop();
        let (seconds, phases) = (times.seconds, times.phases);
        Ok(OprfDone { outcome, seconds, phases, traffic: sum(&counters), peak_rss: peak_rss() })
    }
}

/// The server's side, once client and base are known.
fn serve(
    me: &mut Party<'_, '_>,
    desk: &mut dyn OprfDesk,
    key: Option<[u8; 32]>,
    over: Option<&'static dyn Protocol>,
) -> Result<(u64, bool)> {
    let say = |me: &mut Party<'_, '_>, verdict: Verdict| {
        let (_, ch) = me.net.pair()?;
        ch.send(&verdict.to_bytes())?;
        ch.flush()
    };
    let refused = |what: &str| Err(Error::invalid_input(what.to_owned()));
    let base = desk.published()?.terms.id;
    // What may not be is refused before anything is written down or burned.
    let mut named = 0;
    let (request, lot) = loop {
        let mut bytes = [0; Request::BYTES];
        me.net.pair()?.1.recv(&mut bytes)?;
        let request = Request::read(&bytes)?;
        if let Some(over) = over.filter(|_| request.ahead || request.lot.is_some()) {
            // It would have values, and nobody would have counted them.
            say(me, Verdict::NoneAhead)?;
            let name = over.card().name;
            return Err(Error::malformed(format!(
                "the client wants to use prepared queries of {name}, for which none are prepared"
            )));
        }
        let Some((id, next)) = request.lot else { break (request, None) };
        let found = match desk.store() {
            Some(store) => lots(store, &base, key)?.into_iter().find(|info| info.meta.id == id),
            None => None,
        };
        let from = found.as_ref().map_or(u32::MAX, |info| info.next.max(next));
        let batches = request.queries.div_ceil(OPRF_TOGETHER as u64);
        if found.is_some_and(|info| u64::from(from).saturating_add(batches) <= u64::from(info.batches)) {
            break (request, Some((id, from)));
        }
        // A client that goes on for ever would keep all others waiting.
        named += 1;
        if named > NAMED {
            return Err(Error::malformed(format!("the client names more than {NAMED} lots that are not here")));
        }
        // A service that was killed has used up more than its client heard of. The client has other lots, perhaps.
        say(me, Verdict::Behind(from))?;
    };
    if request.ahead && desk.store().is_none() {
        say(me, Verdict::NoneAhead)?;
        return refused("the client wants to prepare queries, and this service keeps none");
    }
    // What is prepared already and not asked yet is as good as asked.
    let waiting = match (request.ahead, desk.store()) {
        (true, Some(store)) => lots(store, &base, key)?.iter().flat_map(LotInfo::left).sum(),
        _ => 0,
    };
    // More at once than there can be is not granted, and the client hears of what would be.
    let too_many = request.queries > MOST;
    match desk.grant(key, request.queries.saturating_add(waiting), request.ahead || too_many) {
        Ok(()) if too_many => {
            say(me, Verdict::Limited(MOST))?;
            return refused("the client asked for more queries at once than the protocol can count");
        }
        Ok(()) => {}
        Err(OprfRefusal::Left(left)) => {
            let left = left.saturating_sub(waiting).min(MOST);
            say(me, Verdict::Limited(left))?;
            let wanted = request.queries;
            return refused(&format!("the client asked for {wanted} queries, and has {left} left"));
        }
        Err(OprfRefusal::Barred) => {
            say(me, Verdict::Barred)?;
            return refused("a session with this client ended in misbehaviour, and it is not served again");
        }
        Err(OprfRefusal::Cannot(error)) => return Err(error),
    }
    let count = request.queries as usize;
    let mut opened = match (lot, desk.store()) {
        (Some((id, from)), Some(store)) => Some((from, store.open_lot(&id)?)),
        _ => None,
    };
    let from = opened.as_ref().map_or(0, |(from, _)| *from);
    let halves = opened.as_mut().map(|(from, lot)| taken(lot, *from, |mut batch| OprfAnswers::read(&mut batch)));
    let mut halves = halves.transpose()?.map(Iterator::peekable);
    if let Some(halves) = halves.as_mut().filter(|_| count > 0) {
        // The client uses up its half when it hears that it may: then this one is used up, too, whatever comes between.
        halves.peek();
    }
    say(me, Verdict::Granted(from))?;
    if let Some(over) = over {
        evaluate_over(me, over, OprfInput::Server(&desk.published()?.oprf, count))?;
        return Ok((request.queries, false));
    }
    if request.ahead {
        let meta = meta(me, &base, key, request.queries);
        let mut writer = match desk.store() {
            Some(store) => store.new_lot(&meta, &mut SystemRng)?,
            None => return refused("this service keeps no prepared queries"),
        };
        desk.published()?.oprf.prepare(me, count, |half| {
            writer.batch(|out| half.write(out).map_err(|error| Error::disk("keeping prepared queries", error)))
        })?;
        let (_, ch) = me.net.pair()?;
        ch.recv(&mut [0])?;
        writer.finish()?;
        ch.send(&[1])?;
        ch.flush()?;
        return Ok((request.queries, true));
    }
    let Some(halves) = halves else {
        desk.published()?.oprf.serve(me, count)?;
        return Ok((request.queries, false));
    };
    let (ch, _, _, observer) = me.pair()?;
    observer.phase("queries");
    answer(ch, halves, count)?;
    Ok((request.queries, false))
}

/// Takes batches out of a lot, from this one on. Each is burned, on the disk, before it is there to be used.
fn taken<H>(
    lot: &mut OpenLot,
    from: u32,
    read: impl Fn(BatchReader) -> Result<H>,
) -> Result<impl Iterator<Item = Result<H>>> {
    lot.advance_to(from)?;
    Ok(std::iter::from_fn(move || lot.take().transpose().map(|batch| batch.and_then(&read))))
}

/// The client's lot with enough batches, the fewest of those.
fn newest(store: &Store, base: &[u8; 32], key: Option<[u8; 32]>, batches: u32) -> Result<Option<OpenLot>> {
    let fits = |info: &LotInfo| info.batches - info.next >= batches;
    let lot = lots(store, base, key)?.into_iter().filter(fits).min_by_key(|info| info.batches - info.next);
    lot.map(|info| store.open_lot(&info.meta.id)).transpose()
}

/// The lots for this base and this peer.
fn lots(store: &Store, base: &[u8; 32], key: Option<[u8; 32]>) -> Result<Vec<LotInfo>> {
    let mut lots = store.lots()?;
    lots.retain(|info| is_for(&info.meta, base, key));
    Ok(lots)
}

/// Whether a lot of this meta is of queries to this base, with this peer.
fn is_for(meta: &Meta, base: &[u8; 32], key: Option<[u8; 32]>) -> bool {
    let Meta { material, options, peers, .. } = meta;
    material == MATERIAL && *options == of_base(base) && peers.iter().all(|(_, peer)| *peer == key)
}

/// The meta of a lot.
fn meta(me: &Party<'_, '_>, base: &[u8; 32], key: Option<[u8; 32]>, count: u64) -> Meta {
    let mut keys = comity_channel::PerPeer::new(me.me(), 2, |_| None);
    keys[me.me().other()] = key;
    Meta {
        id: me.here.session,
        material: MATERIAL.into(),
        options: of_base(base),
        program: None,
        name: "queries to a base".into(),
        units: vec![count],
        party: me.me(),
        peers: ids(&keys),
        params: me.here.params,
    }
}

/// The options of a lot: for which base.
fn of_base(base: &[u8; 32]) -> String {
    format!("base={}", hex(base))
}

/// The fields of the hello.
fn fields(
    base: &[u8; 32],
    state: Option<(u64, &[u8; 32])>,
    over: Option<&'static dyn Protocol>,
) -> Vec<(&'static str, Option<String>)> {
    vec![
        ("base", Some(hex(base))),
        ("update", state.map(|(number, head)| format!("{number}:{}", hex(head)))),
        ("protocol", Some(over.map_or("none", |over| over.card().name).to_owned())),
    ]
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The card of what runs: a server that cheats is withstood by no part of it, unless the protocol below does.
fn card(over: Option<&'static dyn Protocol>) -> Card {
    let adversary = over.map_or(Adversary::SemiHonest, |over| over.card().adversary);
    Card { parties: 2..=2, adversary, ..CARD }
}

#[cfg(test)]
mod tests;
