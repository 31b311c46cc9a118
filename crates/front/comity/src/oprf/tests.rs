//! Conversations that break off or go wrong: they end, and what was granted stays written down.

use std::sync::atomic::{AtomicU64, Ordering};

use comity_core::{Backend, Prg};
use comity_psi::base::BaseTerms;
use comity_psi::{Item, Set};
use comity_testing::{Verdict as Ended, deviate};

use super::*;

/// A desk in memory, which keeps no queries ahead.
struct Memory<'a> {
    published: &'a Published,
    granted: &'a AtomicU64,
}

impl OprfDesk for Memory<'_> {
    fn published(&mut self) -> Result<&Published> {
        Ok(self.published)
    }

    fn grant(&mut self, _: Option<[u8; 32]>, queries: u64, _: bool) -> Result<(), OprfRefusal> {
        if queries > 3 {
            return Err(OprfRefusal::Left(3));
        }
        self.granted.fetch_add(queries, Ordering::SeqCst);
        Ok(())
    }

    fn store(&self) -> Option<&Store> {
        None
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
            let mut desk = Memory { published: &published, granted: &granted };
            Session::new(0).over(ch).serve_oprf(&mut desk, None, &mut ()).map(|done| done.outcome)
        },
        |ch, _| {
            let before = granted.load(Ordering::SeqCst);
            let ask = OprfAsk { base: &base, over: None, stale: false };
            let values = Session::new(1).over(ch).ask_oprf(ask, &inputs, &mut ())?.outcome;
            assert!(granted.load(Ordering::SeqCst) >= before + 3, "values come after they are written down");
            Ok(base.find(Backend::detect(), &values).matched)
        },
        |case, _, client| {
            // The service is trusted to garble the right function; what is changed on the way finds nothing that is not there.
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
            let mut desk = Memory { published: &published, granted: &granted };
            Session::new(0).over(one).serve_oprf(&mut desk, None, &mut ()).map(|done| done.outcome)
        });
        let ask = OprfAsk { base: &base, over: None, stale: false };
        let asked = Session::new(1).over(two).ask_oprf(ask, &inputs, &mut ()).map(|done| done.outcome.len());
        (served.join().unwrap(), asked)
    });
    assert!(served.unwrap_err().to_string().contains("wanted 4 queries, and 3 are left"));
    assert!(asked.unwrap_err().to_string().contains("grants this client 3 more"));
    assert_eq!(granted.load(Ordering::SeqCst), 0);
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
    assert!(matches!(Verdict::read(&Verdict::NoLot.to_bytes()), Ok(Verdict::NoLot)));
    assert!(Verdict::read(&[3; 9]).is_err() && Verdict::read(&[0, 0, 0, 0, 0, 1, 0, 0, 0]).is_err());
}
