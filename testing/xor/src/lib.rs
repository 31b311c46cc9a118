//! XOR shares, and triples of a trusted dealer: the smallest sharing there is, as an example of one.
//!
//! **Functionality**: secure evaluation of a program among any number of parties; each output goes to its recipients.
//!
//! **Adversary**: *none*. The dealer is a stand-in: each party draws from the session what it would deal to
//! all, and keeps its part.
//!
//! **Protocol** (Beaver, Crypto 1991). A bit is the sum (XOR) of one share for each party.
//! 1. *Input*: the owner draws a share for each other party, sends it, and keeps the sum of these and the bit.
//! 2. *AND*: of a triple `c = a b` of the dealer's, all open `d = x + a` and `e = y + b`, and
//!    `xy = c + d b + e a + d e`, the last term at party 0.
//! 3. *Output*: each party sends the recipients its share, plus one of zero of the dealer's: of inputs alone,
//!    a share is what its owner sent, and would tell more than the sum.
//!
//! **Cost**: a byte for each bit that is sent; a round for each layer of AND gates.

use std::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_circuit::{Goal, Put, Recipients, Shown};
use comity_core::{Bits, Error, PartyId, Prg, Result, TapeGate};
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Here, Job, Party, Protocol, Supplies, Takes};
use comity_sharing::{ShareRows, SharedEngine, Sharing, evenly};
use rand_core::CryptoRng;

/// The protocol.
pub struct Xor;

static CARD: Card = Card {
    name: "xor",
    kind: CardKind::Protocol,
    paper: "Beaver: Efficient Multiparty Protocols Using Circuit Randomization (Crypto 1991)",
    parties: 2..=64,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Shares,
    reactive: false,
    goal: Goal::Depth,
    offline: &[],
    options: &[],
    phases: &["inputs", "gates", "outputs"],
    summary: "XOR shares, as an example",
    protects: "nobody: every party could know what the dealer deals to the others",
    risk: "any party could learn all inputs",
    about: "How a sharing is written.",
};

impl Protocol for Xor {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let Party { net, here, rng, observer } = me;
        let dealer = Prg::new(here.backend, here.session.block("what the dealer deals"));
        let sharing = XorSharing { here: *here, net, rng: *rng, dealer };
        comity_circuit::run(job.program, &mut SharedEngine::new(sharing), job.inputs, *observer)?;
        net.flush()
    }
}

/// A share is a byte, zero or one.
struct XorSharing<'a, 'n> {
    here: Here,
    net: &'a mut Mesh<'n>,
    rng: &'a mut dyn CryptoRng,
    dealer: Prg,
}

impl XorSharing<'_, '_> {
    /// Shares of random bits: this party's, and the sum of all, which a real dealer tells nobody.
    fn deal(&mut self, n: usize) -> [Vec<u8>; 2] {
        let [mut own, mut sum] = [vec![0; n], vec![0; n]];
        for party in (0..self.here.parties).map(PartyId) {
            let share = random(&mut self.dealer, n);
            add(&mut sum, &share);
            if party == self.here.me {
                own = share;
            }
        }
        [own, sum]
    }

    /// Shares of bits that the dealer chooses: party 0's make up for what the others have.
    fn deal_of(&mut self, bits: &[u8]) -> Vec<u8> {
        let [mut own, sum] = self.deal(bits.len());
        if self.here.me == PartyId(0) {
            add(&mut own, &sum);
            add(&mut own, bits);
        }
        own
    }

    /// The sum of the parties' shares, at those who learn it.
    fn open(&mut self, to: Recipients, own: &[u8]) -> Result<Option<Vec<u8>>> {
        let Here { me, parties, .. } = self.here;
        let (mine, mut sum) = (to.includes(me), own.to_vec());
        let out = PerPeer::new(me, parties, |peer| if to.includes(peer) { own.to_vec() } else { Vec::new() });
        let mut into = PerPeer::new(me, parties, |_| vec![0; if mine { own.len() } else { 0 }]);
        self.net.exchange(&out, &mut into)?;
        into.iter().for_each(|(_, theirs)| add(&mut sum, theirs));
        Ok(mine.then_some(sum))
    }
}

impl Sharing for XorSharing<'_, '_> {
    type Rows = ShareRows<u8>;
    const SHARES: bool = true;

    fn rows(&self) -> ShareRows<u8> {
        ShareRows::new(1)
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        evenly(times, ((1 << 20) / slots as u64).max(1))
    }

    fn constants(&self, rows: &mut ShareRows<u8>) {
        rows.fill(0, &[0]);
        rows.fill(1, &[u8::from(self.here.me == PartyId(0))]);
    }

    fn xors(&self, rows: &mut ShareRows<u8>, gates: &[TapeGate]) {
        rows.add(gates);
    }

    // Step 2.
    fn ands(&mut self, rows: &mut ShareRows<u8>, gates: &[TapeGate]) -> Result<()> {
        let copies = rows.copies();
        let read = |slot: fn(&TapeGate) -> usize| -> Vec<u8> {
            gates.iter().flat_map(|gate| rows.slots(slot(gate)..slot(gate) + 1)).copied().collect()
        };
        let (mut x, mut y) = (read(TapeGate::a), read(TapeGate::b));
        if x.is_empty() {
            return Ok(());
        }
        let ([a, all_a], [b, all_b]) = (self.deal(x.len()), self.deal(x.len()));
        let products: Vec<u8> = all_a.iter().zip(&all_b).map(|(a, b)| a & b).collect();
        let mut z = self.deal_of(&products);
        add(&mut x, &a);
        add(&mut y, &b);
        let d = self.open(Recipients::All, &x)?.expect("all learn it");
        let e = self.open(Recipients::All, &y)?.expect("all learn it");
        let first = u8::from(self.here.me == PartyId(0));
        z.iter_mut().enumerate().for_each(|(i, z)| *z ^= d[i] & b[i] ^ e[i] & a[i] ^ d[i] & e[i] & first);
        for (gate, z) in gates.iter().zip(z.chunks(copies)) {
            rows.slots_mut(gate.out()..gate.out() + 1).copy_from_slice(z);
        }
        Ok(())
    }

    // Step 1.
    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut ShareRows<u8>) -> Result<()> {
        let wires = to.slots_mut(put.wires());
        if let Some(value) = value {
            wires.iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = bit.into());
        }
        match (put.owner.party(), value) {
            (None, Some(_)) => Ok(()),
            (Some(owner), Some(_)) if owner == self.here.me => self.net.peers().try_for_each(|peer| {
                let share = random(&mut *self.rng, put.bits);
                add(wires, &share);
                let link = self.net.link(peer);
                link.send(&share).and_then(|()| link.flush())
            }),
            (Some(owner), None) if owner != self.here.me && owner.0 < self.here.parties => {
                self.net.link(owner).recv(wires)?;
                wires.iter_mut().for_each(|share| *share &= 1);
                Ok(())
            }
            _ => {
                Err(Error::invalid_input(format!("input value {} is missing, or is given by {}", put.index, put.owner)))
            }
        }
    }

    fn random(&mut self, to: &mut ShareRows<u8>, wires: Range<usize>) -> Result<()> {
        to.slots_mut(wires.clone()).copy_from_slice(&random(&mut *self.rng, wires.len()));
        Ok(())
    }

    // Step 3.
    fn reveal(&mut self, shown: Shown, from: &ShareRows<u8>) -> Result<Option<Bits>> {
        let mut own = self.deal_of(&vec![0; shown.bits]);
        add(&mut own, from.slots(shown.wires()));
        let value = if shown.to == Recipients::Shared { Some(own) } else { self.open(shown.to, &own)? };
        Ok(value.map(|value| value.iter().map(|bit| bit & 1 == 1).collect()))
    }
}

fn random(rng: &mut dyn CryptoRng, n: usize) -> Vec<u8> {
    let mut bits = vec![0; n];
    rng.fill_bytes(&mut bits);
    bits.iter_mut().for_each(|bit| *bit &= 1);
    bits
}

fn add(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from);
}
