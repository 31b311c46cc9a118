//! When an output leaves, and what is noted before: bytes that were sent when a check begins, and when it has passed.

use std::sync::{Arc, Mutex};

use comity_channel::{Counted, Counter, PerPeer, memory_mesh};
use comity_circuit::Recipients;

use super::ideal::Trusted;
use super::*;

/// A dealer that notes how much was sent to all when a check begins and when it has passed.
struct Noting {
    inner: Trusted,
    sent: Vec<Counter>,
    notes: Arc<Mutex<Vec<u64>>>,
}

impl Noting {
    fn note(&self) {
        self.notes.lock().unwrap().push(self.sent.iter().map(|sent| sent.counts().sent).sum());
    }
}

impl RowDealer for Noting {
    fn me(&self) -> PartyId {
        self.inner.me()
    }

    fn parties(&self) -> u16 {
        self.inner.parties()
    }

    fn key(&self) -> &GlobalKey {
        self.inner.key()
    }

    fn seeds(&self) -> &PairSeeds {
        self.inner.seeds()
    }

    fn shares(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        self.inner.shares(net, bits)
    }

    fn masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>> {
        self.inner.masks(net, bits)
    }
}

impl Dealer for Noting {
    type Batch = RowTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<RowTriples> {
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

/// Bytes of a settlement to each of two others.
const SETTLEMENT: u64 = 2 * 48;

/// What each of three says before and in checks: after inputs only, or after an AND of them.
fn noted(and: bool) -> Vec<Vec<u64>> {
    std::thread::scope(|scope| {
        let party = |links: PerPeer<comity_channel::MemoryChannel>| {
            let links = links.map(|_, link| Counted::new(link));
            let sent = links.iter().map(|(_, link)| link.counter()).collect();
            let (mut net, notes) = (Mesh::new(links), Arc::new(Mutex::new(Vec::new())));
            let here = here(net.me(), 3, SESSION.child("order"));
            let inner = Trusted::new(here.me, 3, 7, 100);
            let mut rng = rng(1, here.me);
            let dealer = Noting { inner, sent, notes: notes.clone() };
            let mut machine = RowMachine::new(here, Box::new(dealer), &mut rng);
            let value: Bits = (0..8).map(|i| i % 3 == 0).collect();
            let inputs: Vec<RowShares> = (0..3)
                .map(|owner| {
                    let own = (here.me.0 == owner).then_some(&value);
                    machine.input(&mut net, PartyId(owner), own, 8).unwrap()
                })
                .collect();
            if and {
                machine.reveal(&mut net, Recipients::All, &inputs[0]).unwrap();
                // Wires of three blocks: the first bits of two inputs, and where their product goes.
                let row = |rows: &RowShares| rows.columns().map(|column| column[0]).collect::<Vec<_>>();
                let mut wires = [row(&inputs[0]), row(&inputs[1]), vec![Block::ZERO; 3]].concat();
                let gate = comity_core::TapeGate::new(0, 1, 2);
                machine.ands(&mut net, &mut wires, &[gate], 1).unwrap();
            }
            machine.reveal(&mut net, Recipients::All, &inputs[2]).unwrap();
            machine.reveal(&mut net, Recipients::All, &inputs[1]).unwrap();
            drop(machine);
            notes.lock().unwrap().clone()
        };
        let links = memory_mesh(3, Some(comity_testing::PATIENCE));
        let threads: Vec<_> = links.into_iter().map(|links| scope.spawn(move || party(links))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn what_was_said_is_settled_in_a_check_before_an_output() {
    // An input of a byte to two; then a settlement, an output's shares and theirs; then an output and its
    // settlement alone.
    let output = 2 + SETTLEMENT;
    let settled = 2 + SETTLEMENT + output;
    for notes in noted(false) {
        assert_eq!(notes, [2, settled, settled, settled + output]);
    }
    // The same output first; then `d` and `e` of an AND, which are settled before the next one.
    for notes in noted(true) {
        let opened = notes[2];
        assert!(opened > settled, "an AND opens something");
        assert_eq!(notes[..2], [2, settled]);
        assert_eq!(notes[3], opened + SETTLEMENT + output);
        assert_eq!(notes[4..], [notes[3], notes[3] + output]);
    }
}
