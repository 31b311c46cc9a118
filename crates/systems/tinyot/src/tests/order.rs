//! When an output leaves, and what is noted before: bytes that were sent when a check begins, and when it has passed.

use comity_channel::{Channel, Counted, Counter, MemoryChannel, Mesh};
use comity_circuit::Recipients;
use comity_core::{Bits, PartyId, Result, SessionId};
use comity_protocol::Dealer;
use comity_share::{AuthBits, GlobalKey, Share};
use comity_testing::Pair;

use super::dealer::Trusted;
use super::here;
use super::machine::put;
use crate::machine::Machine;
use comity_triples::{Checked, Triples};

/// A dealer that notes how much was sent when a check begins and when it has passed.
struct Noting {
    inner: Trusted,
    sent: Counter,
    notes: std::sync::Arc<std::sync::Mutex<Vec<u64>>>,
}

impl Noting {
    fn note(&self) {
        self.notes.lock().unwrap().push(self.sent.counts().sent);
    }
}

impl AuthBits for Noting {
    fn party(&self) -> PartyId {
        self.inner.party()
    }

    fn key(&self) -> &GlobalKey {
        self.inner.key()
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.inner.shares(ch, out)
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        self.inner.bits(ch, owner, out)
    }
}

impl Dealer for Noting {
    type Batch = Triples<Checked>;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<Triples<Checked>> {
        self.inner.deal(net, n)
    }

    fn check_begins(&mut self) -> Result<()> {
        self.note();
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        self.note();
        Ok(())
    }
}

/// Bytes of a settlement.
const SETTLEMENT: u64 = 32;

#[test]
fn what_was_opened_is_settled_in_a_check_before_an_output() {
    let party = |ch: &mut MemoryChannel, me: u16| {
        let mut ch = Counted::new(ch);
        let (sent, notes) = (ch.counter(), std::sync::Arc::default());
        let here = here(me, SessionId::derive("order", &[]));
        let inner = Trusted::new(here.me, 7, 100);
        let dealer = Noting { inner, sent, notes: std::sync::Arc::clone(&notes) };
        let mut machine = Machine::new(here, Box::new(dealer));
        let value: Bits = (0..8).map(|i| i % 3 == 0).collect();
        let (x, y) = (put(&mut machine, &mut ch, 0, &value).unwrap(), put(&mut machine, &mut ch, 1, &value).unwrap());
        let mut and = vec![Share::default(); 8];
        machine.and(&mut ch, &x, &y, &mut and).unwrap();
        machine.reveal(&mut ch, Recipients::All, &and).unwrap();
        machine.reveal(&mut ch, Recipients::All, &x).unwrap();
        drop(machine);
        notes.lock().unwrap().clone()
    };
    let (one, other) = Pair::run(|ch| party(ch, 0), |ch| party(ch, 1));
    assert_eq!(one, other);
    // An input of a byte, and d and e of the ANDs; then a settlement and an output's shares, with their
    // digest; then an output alone.
    let begun = 1 + 2;
    let output = 1 + 32;
    let settled = begun + SETTLEMENT + output;
    assert_eq!(one, [begun, settled, settled, settled + output]);
}
