//! Runs that are listened to: what each party said to each other one, what it drew, and what it says that it holds.

use std::cell::RefCell;
use std::convert::Infallible;

use comity_channel::{Counted, Mesh, PerPeer, Recorded, Recorder, Recording, Traffic, memory_mesh};
use comity_circuit::Program;
use comity_core::{Bits, PartyId, Prg, SessionId};
use comity_protocol::Protocol;
use rand_core::{TryCryptoRng, TryRng};

use super::{Setting, rng, run, run_drawing};
use crate::PATIENCE;
use crate::parties::all_together;

/// The most bytes of a recording.
const LIMIT: usize = 64 << 20;

/// The number of bytes that are kept of a party's draws.
const DRAWN: usize = 256;

thread_local! {
    static HELD: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Adds bytes to the view of the party that runs on this thread, as if it had heard them: its shares, say, which it
/// computes from what it heard and drew, and which a listener by itself does not.
pub fn holds(bytes: Vec<u8>) {
    HELD.with_borrow_mut(|held| held.push(bytes));
}

/// What there was to hear in a run.
pub(super) struct Heard {
    /// The messages of each party to each other one.
    said: Vec<PerPeer<Vec<Vec<u8>>>>,
    /// The first bytes that each party drew.
    drawn: Vec<Vec<u8>>,
    /// What each party [holds].
    held: Vec<Vec<Vec<u8>>>,
}

impl Heard {
    /// Runs a protocol; the parties' randomness follows from `seed`, and nothing else does.
    ///
    /// # Panics
    /// If a party fails.
    pub(super) fn among(
        parties: u16,
        protocol: &dyn Protocol,
        program: &Program,
        inputs: &[Bits],
        setting: Setting,
        seed: u128,
    ) -> Heard {
        let all = all_together(memory_mesh(parties, Some(PATIENCE)), |links| {
            let me = links.me();
            let links = links.map(|_, link| Recorded::new(link, LIMIT));
            let recorders: PerPeer<Recorder> = PerPeer::new(me, parties, |to| links[to].recorder());
            let mut rng = Drawing { from: rng(seed << 16 | u128::from(me.0)), drawn: Vec::new() };
            run_drawing(protocol, &mut Mesh::new(links), program, inputs, setting, &mut rng)
                .unwrap_or_else(|error| panic!("{error}"));
            (recorders.map(|_, recorder| messages(&recorder.recording())), (rng.drawn, HELD.take()))
        });
        let (said, own): (_, Vec<_>) = all.into_iter().unzip();
        let (drawn, held) = own.into_iter().unzip();
        Heard { said, drawn, held }
    }

    /// All messages.
    pub(super) fn all(&self) -> impl Iterator<Item = &[u8]> {
        self.said.iter().flat_map(|own| own.iter().flat_map(|(_, said)| said)).map(Vec::as_slice)
    }

    /// A digest of all messages, with their lengths and in the order of sender and receiver.
    pub(super) fn digest(&self) -> String {
        let mut lengths = Vec::new();
        let mut all = Vec::new();
        for message in self.all() {
            lengths.push(message.len() as u64);
            all.extend_from_slice(message);
        }
        let numbers: Vec<u8> = lengths.iter().flat_map(|length| length.to_le_bytes()).collect();
        let digest = SessionId::derive("what was said", &[&numbers, &all]).to_bytes();
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What a coalition has: what its members hold, the messages that they heard, those that they said, and what they
    /// drew.
    pub(super) fn by(&self, coalition: &[PartyId]) -> Vec<&[u8]> {
        let member = |party: PartyId| coalition.contains(&party);
        let parties = || (0..).map(PartyId);
        let links =
            parties().zip(&self.said).flat_map(|(from, own)| own.iter().map(move |(to, said)| (from, to, said)));
        let said = links.filter(|(from, to, _)| member(*from) || member(*to)).flat_map(|(_, _, said)| said);
        let drawn = parties().zip(&self.drawn).filter(|(party, _)| member(*party)).map(|(_, drawn)| drawn);
        let held = parties().zip(&self.held).filter(|(party, _)| member(*party)).flat_map(|(_, held)| held);
        held.chain(said).chain(drawn).map(Vec::as_slice).collect()
    }
}

/// What each party of a run sends to each other one, in their order, and its rounds with it.
///
/// # Panics
/// If a party fails.
pub fn traffic(
    protocol: &dyn Protocol,
    parties: u16,
    program: &Program,
    inputs: &[Bits],
    setting: Setting,
) -> Vec<Vec<Traffic>> {
    all_together(memory_mesh(parties, Some(PATIENCE)), |links| {
        let mut counters = Vec::new();
        let counted = links.map(|_, link| {
            let link = Counted::new(link);
            counters.push(link.counter());
            link
        });
        run(protocol, &mut Mesh::new(counted), program, inputs, setting).unwrap_or_else(|error| panic!("{error}"));
        counters.iter().map(|counter| counter.counts()).collect()
    })
}

/// The messages that a party sent on a link and its forks.
pub(super) fn messages(recording: &Recording) -> Vec<Vec<u8>> {
    let own = recording.messages().map(|range| recording.sent[range].to_vec());
    own.chain(recording.forks.iter().flat_map(|(_, fork)| messages(fork))).collect()
}

/// A generator, and the bytes drawn from it.
struct Drawing {
    from: Prg,
    drawn: Vec<u8>,
}

impl TryRng for Drawing {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.from.try_fill_bytes(out)?;
        let room = (DRAWN - self.drawn.len()).min(out.len());
        self.drawn.extend_from_slice(&out[..room]);
        Ok(())
    }
}

impl TryCryptoRng for Drawing {}
