//! Conversations that break off or go wrong: they end, and what was granted stays written down.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use comity_channel::{Channel, RecvHalf, SendHalf};
use comity_core::{Backend, Params, PartyId, Prg, SessionId};
use comity_psi::base::BaseTerms;
use comity_psi::{Item, Set};
use comity_testing::{Verdict as Ended, deviate};

use super::*;

/// A desk in memory, for one client, with as many queries as it may have left.
struct Memory<'a> {
    published: &'a Published,
    granted: &'a AtomicU64,
    barred: bool,
    store: Option<Arc<Store>>,
}

impl<'a> Memory<'a> {
    /// One that keeps no queries ahead.
    fn new(published: &'a Published, granted: &'a AtomicU64) -> Memory<'a> {
        Memory { published, granted, barred: false, store: None }
    }
}

impl OprfDesk for Memory<'_> {
    fn published(&mut self) -> Result<&Published> {
        Ok(self.published)
    }

    fn grant(&mut self, _: Option<[u8; 32]>, queries: u64, ahead: bool) -> Result<(), OprfRefusal> {
        match queries > 3 {
            _ if self.barred => return Err(OprfRefusal::Barred),
            true => return Err(OprfRefusal::Left(3)),
            false if ahead => {}
            false => _ = self.granted.fetch_add(queries, Ordering::SeqCst),
        }
        Ok(())
    }

    fn misbehaved(&mut self, _: Option<[u8; 32]>) -> Result<()> {
        self.barred = true;
        Ok(())
    }

    fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }
}

fn items(numbers: std::ops::Range<u8>) -> Vec<Item> {
    numbers.map(|n| Item([n; 32])).collect()
}

/// A base of items 0 to 9.
fn published() -> (Published, BaseFile) {
    let (header, encoding) = (Vec::new(), String::new());
    let terms = BaseTerms { id: [0; 32], most: 20, queries: 20, rho: 40, payload: 0, header, encoding };
    let (mut file, mut rng) = (Vec::new(), Prg::new(Backend::detect(), Block::from_u128(4)));
    let mut out = |bytes: &[u8]| {
        file.extend_from_slice(bytes);
        Ok(())
    };
    let set = Set { items: &items(0..10), ..Set::default() };
    let kept = Published::new(terms, &set, (Backend::detect(), &mut rng), &mut out).unwrap();
    (kept, BaseFile::read(file).unwrap())
}

#[test]
fn conversations_end_however_they_are_broken() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let inputs = base.terms.inputs(&mut SystemRng, &items(8..11));
    let runs = deviate(
        40,
        |ch, _| {
            let mut desk = Memory::new(&published, &granted);
            Session::new(0).over(ch).serve_oprf(&mut desk, OprfServe::default(), &mut ()).map(|done| done.outcome)
        },
        |ch, _| {
            let before = granted.load(Ordering::SeqCst);
            let ask = OprfAsk { base: &base, over: None, stale: false };
            let values = Session::new(1).over(ch).ask_oprf(ask, &inputs, &mut ())?.outcome;
            assert!(granted.load(Ordering::SeqCst) >= before + 3, "values come after they are written down");
            Ok(base.find(Backend::detect(), &values).matched)
        },
        |case, _, client| {
            // The service is trusted to garble the right function; what is changed on the way finds nothing
            // that is not there.
            if let Ended::Wrong(matched) = client {
                assert!(matched.iter().all(|item| *item < 2), "{case:?}: {matched:?}");
            }
        },
    );
    assert!(runs >= 30, "{runs}");
}

#[test]
fn a_request_beyond_what_is_left_is_told_to_both() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let inputs = base.terms.inputs(&mut SystemRng, &items(0..4));
    let (one, two) = comity_channel::memory::pair();
    let (served, asked) = std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            let mut desk = Memory::new(&published, &granted);
            Session::new(0).over(one).serve_oprf(&mut desk, OprfServe::default(), &mut ()).map(|done| done.outcome)
        });
        let ask = OprfAsk { base: &base, over: None, stale: false };
        let asked = Session::new(1).over(two).ask_oprf(ask, &inputs, &mut ()).map(|done| done.outcome.len());
        (served.join().unwrap(), asked)
    });
    assert!(served.unwrap_err().to_string().contains("asked for 4 queries, and has 3 left"));
    assert!(asked.unwrap_err().to_string().contains("allows this client 3 more"));
    assert_eq!(granted.load(Ordering::SeqCst), 0);
}

/// A client that asks for more than a session can have hears, too, how many there would be.
#[test]
fn a_request_beyond_every_session_is_told_what_is_left() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let mut desk = Memory::new(&published, &granted);
    let (served, asked) = against(&mut desk, OprfServe::default(), &base, |me| granted_answer(me, MOST + 1).map(drop));
    assert!(served.unwrap_err().to_string().contains("has 3 left"));
    assert!(asked.unwrap_err().to_string().contains("allows this client 3 more"));
    assert_eq!(granted.load(Ordering::SeqCst), 0);
}

/// What a server says to a request of `queries` queries.
fn granted_answer(me: &mut Party<'_, '_>, queries: u64) -> Result<super::request::Answer> {
    super::request::granted(me, &Request { queries, ahead: false, lot: None })
}

/// A session of this desk with a client that says what it likes once they have agreed.
fn against<T>(
    desk: &mut (impl OprfDesk + Send),
    how: OprfServe,
    base: &BaseFile,
    client: impl FnOnce(&mut Party<'_, '_>) -> Result<T>,
) -> (Result<(u64, bool)>, Result<T>) {
    let (one, two) = comity_channel::memory::pair();
    std::thread::scope(|scope| {
        let served = scope.spawn(|| Session::new(0).over(one).serve_oprf(desk, how, &mut ()).map(|done| done.outcome));
        let ask = OprfAsk { base, over: how.over, stale: false };
        let asked = Session::new(1).over(two).client(ask, "queries", &mut (), |me, _, _| client(me));
        (served.join().unwrap(), asked.map(|done| done.outcome))
    })
}

/// Under a general protocol nothing is prepared: a client that says so asks for values that nobody counts.
#[test]
fn under_a_protocol_nobody_prepares_and_all_is_counted() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let dir = std::env::temp_dir().join(format!("comity-oprf-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let key = comity_store::StoreKey::create(&dir.join("key"), &mut SystemRng).unwrap();
    let store = Store::open_or_create(&dir.join("store"), &key, &mut SystemRng).unwrap();
    let mut desk = Memory { store: Some(Arc::new(store)), ..Memory::new(&published, &granted) };
    // A lot that is there.
    let count = OPRF_TOGETHER as u64;
    let own = OprfServe::default();
    let id = std::cell::Cell::new(None);
    let prepared = against(&mut Unbounded(&mut desk), own, &base, |me| {
        id.set(Some(me.here.session));
        granted_ahead(me, count)
    });
    assert!(prepared.0.is_ok() && prepared.1.is_ok(), "{:?}", prepared.0);
    let inputs = base.terms.inputs(&mut SystemRng, &items(8..10));
    let how = OprfServe { over: Some(crate::protocol::named("ag").unwrap()), trust_clients: false };
    for (ahead, lot) in [(true, None), (false, id.get().map(|id| (id, 0)))] {
        desk.barred = false;
        let (served, asked) = against(&mut desk, how, &base, |me| {
            super::granted(me, &Request { queries: 2, ahead, lot })?;
            evaluate_over(me, how.over.unwrap(), OprfInput::Client(&inputs))
        });
        let served = served.unwrap_err();
        assert!(
            matches!(&served.kind, Kind::Malformed(why) if why.contains("prepared queries of ag, for which none are prepared")),
            "{served}"
        );
        assert!(
            asked.is_err() && desk.barred && granted.load(Ordering::SeqCst) == 0,
            "it has no value that was not counted"
        );
    }
    let lots = desk.store().unwrap().lots().unwrap();
    assert!(lots.iter().all(|lot| lot.next == 0), "and burns nothing");
    // One that asks as it should is counted.
    desk.barred = false;
    let (served, asked) = against(&mut desk, how, &base, |me| {
        super::granted(me, &Request { queries: 2, ahead: false, lot: None })?;
        evaluate_over(me, how.over.unwrap(), OprfInput::Client(&inputs))
    });
    assert_eq!(served.unwrap(), (2, false));
    let found = base.find(Backend::detect(), &asked.unwrap());
    assert_eq!((found.matched.len(), granted.load(Ordering::SeqCst)), (2, 2));
    std::fs::remove_dir_all(dir).unwrap();
}

/// A service that was killed has used up more than its client heard of, or all. What has no other half any
/// more is dropped and told, and the session goes on with another lot, or without.
#[test]
fn a_half_without_its_other_half_is_dropped_and_told() {
    struct Told(usize);
    impl Watch for Told {
        fn discarded(&mut self, lots: usize) {
            self.0 += lots;
        }
    }
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let dir = Folder::new("halves");
    let open = |name: &str| dir.store(name);
    let mut memory = Memory { store: Some(Arc::new(open("server"))), ..Memory::new(&published, &granted) };
    let mut desk = Unbounded(&mut memory);
    let ask = OprfAsk { base: &base, over: None, stale: false };
    let together = |desk: &mut Unbounded<'_, '_>, client: &mut dyn FnMut(Session<'static>)| {
        let (one, two) = comity_channel::memory::pair();
        std::thread::scope(|scope| {
            let served = scope.spawn(|| Session::new(0).over(one).serve_oprf(desk, OprfServe::default(), &mut ()));
            client(Session::new(1).over(two).store(open("client")));
            served.join().unwrap().map(|done| done.outcome).unwrap()
        })
    };
    for _ in 0..2 {
        together(&mut desk, &mut |session| _ = session.prepare_oprf(ask, 128, &mut ()).unwrap());
    }
    let inputs = base.terms.inputs(&mut SystemRng, &items(8..11));
    let mut told = Told(0);
    let mut query = |desk: &mut Unbounded<'_, '_>| {
        let mut bytes = 0;
        together(desk, &mut |session| {
            let done = session.ask_oprf(ask, &inputs, &mut told).unwrap();
            assert_eq!(base.find(Backend::detect(), &done.outcome).matched, [0, 1]);
            bytes = done.traffic.received;
        });
        (std::mem::take(&mut told.0), bytes < 1 << 14)
    };
    let ids: Vec<SessionId> = open("client").lots().unwrap().iter().map(|lot| lot.meta.id).collect();
    // A batch of the first lot was used of which the client did not hear: it goes on behind that.
    let server = desk.0.store.as_ref().unwrap();
    server.open_lot(&ids[0]).unwrap().advance_to(1).unwrap();
    assert_eq!(query(&mut desk), (0, true));
    // One half of the second lot is gone, and the first lot is used up.
    desk.0.store.as_ref().unwrap().remove(&ids[1]).unwrap();
    assert_eq!(query(&mut desk), (1, false));
    assert!(open("client").lots().unwrap().is_empty());
    assert_eq!(query(&mut desk), (0, false));
}

/// A folder of stores, which goes with the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("comity-oprf-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    /// The store of this name.
    fn store(&self, name: &str) -> Store {
        let path = self.0.join(format!("{name}.key"));
        let key = match path.exists() {
            true => comity_store::StoreKey::read(&path),
            false => comity_store::StoreKey::create(&path, &mut SystemRng),
        };
        Store::open_or_create(&self.0.join(name), &key.unwrap(), &mut SystemRng).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A channel, and what is done before anything is sent on it.
struct Watched<C, F>(C, F);

impl<C: Channel, F: FnMut(&[u8]) + Send> Channel for Watched<C, F> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        (self.1)(bytes);
        self.0.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        (self.1)(bytes);
        self.0.post(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        self.0.split()
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        (self.1)(out);
        self.0.exchange(out, into)
    }
}

/// A client uses up its half when it hears that it may. The server's is marked as used on its disk by then,
/// or one that was killed would use it again, for other inputs.
#[test]
fn the_first_batch_is_used_up_before_the_client_hears_of_it() {
    let (published, base) = published();
    let (granted, dir) = (AtomicU64::new(0), Folder::new("first"));
    let (server, client) = (Arc::new(dir.store("server")), dir.store("client"));
    let mut memory = Memory { store: Some(server.clone()), ..Memory::new(&published, &granted) };
    let mut desk = Unbounded(&mut memory);
    let ask = OprfAsk { base: &base, over: None, stale: false };
    let seen = Mutex::new(Vec::new());
    let mut session = |talk: &mut dyn FnMut(Session<'static>)| {
        let (one, two) = comity_channel::memory::pair();
        let one = Watched(one, |bytes: &[u8]| {
            if bytes == Verdict::Granted(0).to_bytes() {
                seen.lock().unwrap().push(server.lots().unwrap().iter().map(|lot| lot.next).collect::<Vec<_>>());
            }
        });
        std::thread::scope(|scope| {
            let served = scope.spawn(|| Session::new(0).over(one).serve_oprf(&mut desk, OprfServe::default(), &mut ()));
            talk(Session::new(1).over(two));
            served.join().unwrap().map(|done| done.outcome).unwrap();
        });
    };
    let mut client = Some(client);
    session(&mut |session| _ = session.store(client.take().unwrap()).prepare_oprf(ask, 128, &mut ()).unwrap());
    let inputs = base.terms.inputs(&mut SystemRng, &items(8..11));
    session(&mut |session| _ = session.store(dir.store("client")).ask_oprf(ask, &inputs, &mut ()).unwrap());
    // The first time there was no lot yet.
    assert_eq!(*seen.lock().unwrap(), [vec![], vec![1]]);
}

/// A desk that grants whatever is to be kept ahead.
struct Unbounded<'d, 'a>(&'d mut Memory<'a>);

impl OprfDesk for Unbounded<'_, '_> {
    fn published(&mut self) -> Result<&Published> {
        self.0.published()
    }

    fn grant(&mut self, _: Option<[u8; 32]>, _: u64, _: bool) -> Result<(), OprfRefusal> {
        Ok(())
    }

    fn misbehaved(&mut self, client: Option<[u8; 32]>) -> Result<()> {
        self.0.misbehaved(client)
    }

    fn store(&self) -> Option<&Store> {
        self.0.store()
    }
}

/// Prepares `queries` queries, of which this side keeps nothing.
fn granted_ahead(me: &mut Party<'_, '_>, queries: u64) -> Result<()> {
    granted(me, &Request { queries, ahead: true, lot: None })?;
    OprfQuestions::prepare(me, queries as usize, |_| Ok(()))?;
    let (_, ch) = me.net.pair()?;
    ch.send(&[1])?;
    ch.recv(&mut [0])
}

#[test]
fn a_semi_honest_protocol_is_for_clients_that_are_trusted() {
    let (published, _) = published();
    let granted = AtomicU64::new(0);
    let mut desk = Memory::new(&published, &granted);
    let (one, _) = comity_channel::memory::pair();
    let how = OprfServe { over: Some(crate::protocol::named("gmw").unwrap()), trust_clients: false };
    let refused = Session::new(0).over(one).serve_oprf(&mut desk, how, &mut ()).map(|done| done.outcome);
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("gmw is semi-honest") && why.contains("--trust-clients"), "{why}");
}

/// A client whose message does not decode, or that fails a check, is not served again; one that asks for too
/// much, or goes away, is.
#[test]
fn a_client_that_misbehaved_is_not_served_again() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let mut desk = Memory::new(&published, &granted);
    let own = OprfServe::default();
    let ask = |me: &mut Party<'_, '_>| super::granted(me, &Request { queries: 0, ahead: false, lot: None }).map(drop);
    let (greedy, _) =
        against(&mut desk, own, &base, |me| super::granted(me, &Request { queries: 4, ahead: false, lot: None }));
    let (gone, _) = against(&mut desk, own, &base, |_| Ok(()));
    assert!(greedy.is_err() && gone.is_err() && !desk.barred);
    assert!(against(&mut desk, own, &base, ask).1.is_ok());
    let (garbled, _) = against(&mut desk, own, &base, |me| {
        let (_, ch) = me.net.pair()?;
        ch.send(&[7; Request::BYTES])?;
        ch.flush()
    });
    assert!(matches!(garbled.unwrap_err().kind, Kind::Malformed(_)) && desk.barred);
    let (served, asked) = against(&mut desk, own, &base, ask);
    assert!(served.unwrap_err().to_string().contains("not served again"));
    assert!(asked.unwrap_err().to_string().contains("does not serve this client any more"));
}

/// A client that names lots without end does not keep the service from others.
#[test]
fn a_client_names_only_so_many_lots_that_are_not_there() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let mut desk = Memory::new(&published, &granted);
    let (served, asked) = against(&mut desk, OprfServe::default(), &base, |me| {
        let more = 2 * u64::from(NAMED);
        for number in 0..more {
            let id = SessionId::derive("a lot that is not there", &[&number.to_le_bytes()]);
            match super::granted(me, &Request { queries: 1, ahead: false, lot: Some((id, 0)) }) {
                Ok(Answer::Behind(u32::MAX)) => {}
                Ok(_) => unreachable!("there is no such lot"),
                Err(_) => return Ok(number),
            }
        }
        Ok(more)
    });
    assert!(matches!(served.unwrap_err().kind, Kind::Malformed(_)) && desk.barred);
    assert_eq!(asked.unwrap(), u64::from(NAMED));
}

/// A consistency check of the OTs that fails costs the key as well.
#[test]
fn a_client_that_fails_a_check_is_not_served_again() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let inputs = base.terms.inputs(&mut SystemRng, &items(8..10));
    let checks = AtomicU64::new(0);
    deviate(
        40,
        |ch, _| {
            let mut desk = Memory::new(&published, &granted);
            let done = Session::new(0).over(ch).serve_oprf(&mut desk, OprfServe::default(), &mut ());
            let failed = matches!(&done, Err(Error { kind: Kind::Misbehaved(_), .. }));
            assert!(desk.barred || !failed);
            checks.fetch_add(u64::from(failed), Ordering::SeqCst);
            done.map(|done| done.outcome)
        },
        |ch, _| {
            let ask = OprfAsk { base: &base, over: None, stale: false };
            Session::new(1).over(ch).ask_oprf(ask, &inputs, &mut ()).map(|_| ())
        },
        |_, _, _| {},
    );
    assert!(checks.load(Ordering::SeqCst) > 0, "some of what was changed failed a check");
}

/// All bytes of a base's id and of its state are compared: ids that only begin alike are different.
#[test]
fn bases_that_begin_alike_are_told_apart() {
    let (published, base) = published();
    let granted = AtomicU64::new(0);
    let mut desk = Memory::new(&published, &granted);
    let mut other = base;
    for at in [31, 8] {
        other.terms.id[at] ^= 1;
        let (served, asked) = against(&mut desk, OprfServe::default(), &other, |_| Ok(()));
        for error in [served.map(drop).unwrap_err(), asked.unwrap_err()] {
            assert!(matches!(error.kind, Kind::Mismatch { field: "base", .. }), "{error}");
        }
    }
}

#[test]
fn requests_and_verdicts_are_read_as_they_are_written() {
    let id = SessionId::derive("a test", &[]);
    for (ahead, lot) in [(false, None), (true, None), (false, Some((id, 7)))] {
        let bytes = Request { queries: 5, ahead, lot }.to_bytes();
        let read = Request::read(bytes.first_chunk().unwrap()).unwrap();
        assert_eq!((read.queries, read.ahead, read.lot), (5, ahead, lot));
    }
    let mut bytes = Request { queries: 5, ahead: true, lot: Some((id, 7)) }.to_bytes();
    assert!(Request::read(bytes.first_chunk().unwrap()).is_err(), "ahead, and from a lot");
    bytes[8] = 2;
    assert!(Request::read(bytes.first_chunk().unwrap()).is_err());
    assert!(matches!(Verdict::read(&Verdict::Granted(9).to_bytes()), Ok(Verdict::Granted(9))));
    assert!(matches!(Verdict::read(&Verdict::Limited(u64::MAX).to_bytes()), Ok(Verdict::Limited(u64::MAX))));
    assert!(matches!(Verdict::read(&Verdict::Behind(7).to_bytes()), Ok(Verdict::Behind(7))));
    assert!(matches!(Verdict::read(&Verdict::NoneAhead.to_bytes()), Ok(Verdict::NoneAhead)));
    assert!(matches!(Verdict::read(&Verdict::Barred.to_bytes()), Ok(Verdict::Barred)));
    assert!(Verdict::read(&[5; 9]).is_err() && Verdict::read(&[0, 0, 0, 0, 0, 1, 0, 0, 0]).is_err());
}

#[test]
fn prepared_queries_are_for_one_client_and_one_base() {
    let made = Meta {
        id: SessionId::new([1; 32]),
        material: MATERIAL.into(),
        options: of_base(&[2; 32]),
        program: None,
        name: String::new(),
        units: vec![1],
        party: PartyId(0),
        peers: vec![(PartyId(1), Some([7; 32]))],
        params: Params::default(),
    };
    assert!(is_for(&made, &[2; 32], Some([7; 32])));
    assert!(!is_for(&made, &[2; 32], Some([8; 32])) && !is_for(&made, &[2; 32], None));
    assert!(!is_for(&made, &[3; 32], Some([7; 32])));
    assert!(!is_for(&Meta { material: "shares".into(), ..made }, &[2; 32], Some([7; 32])));
}
