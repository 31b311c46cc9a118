//! What three parties on authenticated shares read: a stored batch of rows, and what two peers say to a run
//! from its set-up on, and to one on shares that are there.

use std::sync::OnceLock;
use std::thread;

use comity_channel::{Channel, Error, Mesh, PerPeer, Recorded, Result, memory_mesh};
use comity_circuit::{Observer, Program};
use comity_core::{Backend, Bits, Block, Params, PartyId, Prg, SessionId};
use comity_protocol::{Here, Party};
use comity_sharing::SharedEngine;
use comity_testing::{Kept, PATIENCE};
use comity_tinyot::many::{RowMachine, RowSharing};
use comity_triples::bucket::Budget;
use comity_triples::many::stored::{RowAmounts, RowBatch, RowsFromShelf};
use comity_triples::many::{Many, RowDealer, objects};

use crate::ideal::Ideal;
use crate::peer::Script;

pub(crate) const PARTIES: u16 = 3;

/// The amount that a stored batch of the body holds, and one for a run.
const STORED: RowAmounts = RowAmounts { parties: PARTIES, triples: 2, masks: 1, shares: 1 };
const FOR_A_RUN: RowAmounts = RowAmounts { parties: PARTIES, triples: 8, masks: 256, shares: 0 };

/// A batch of stored rows, as it is behind the store's encryption: what is read is written as it was.
pub(crate) fn stored_rows(data: &[u8]) {
    for me in (0..PARTIES).map(PartyId) {
        if let Ok(batch) = RowBatch::read(&mut &*data, me, &STORED) {
            let mut again = Vec::new();
            batch.write(&mut again).expect("writing to memory");
            assert!(again == data, "what was read is written otherwise");
        }
    }
}

/// A batch of shares of zero, whose MACs and keys are zero.
pub(crate) fn batch(me: u8, amounts: &RowAmounts) -> Vec<u8> {
    let mut bytes = b"comity shares 2\n".to_vec();
    bytes.extend([amounts.parties as u8, 0, me, 0]);
    // Bits 0 and 1 of a global key are fixed.
    bytes.extend([1 | u8::from(me == 1) << 1; 16]);
    bytes.resize(amounts.bytes() as usize, 0);
    bytes
}

#[derive(Default)]
struct Outputs(usize);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        assert_eq!(value.len(), 8);
        self.0 += 1;
    }
}

/// The bits that numbers of parties 0 and 2 have in common, for all.
pub(crate) fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| crate::peer::program().clone().with_owner(1, 2).expect("an owner"))
}

/// How a party runs.
pub(crate) type Run<'r> = &'r (dyn Fn(&mut Party<'_, '_>, &Program, &[Option<Bits>]) -> Result<()> + Sync);

fn whole(party: &mut Party<'_, '_>, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    let Party { net, here, rng, .. } = party;
    let budget = Budget::known(program.and_gates(), here.params.rho, 1, objects(PARTIES))?;
    let dealer = Many::over::<Ideal>(net, here.child("dealer"), budget, None, *rng)?;
    on(party, Box::new(dealer), program, inputs)
}

fn online(party: &mut Party<'_, '_>, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    let me = party.here.me;
    let mut kept = Kept::new("shares", [batch(me.0 as u8, &FOR_A_RUN)]);
    let dealer = RowsFromShelf::new(&mut kept, me, FOR_A_RUN)?;
    on(party, Box::new(dealer), program, inputs)
}

/// A run on what this dealer deals.
fn on(
    party: &mut Party<'_, '_>,
    dealer: Box<dyn RowDealer + '_>,
    program: &Program,
    inputs: &[Option<Bits>],
) -> Result<()> {
    let Party { net, here, rng, observer } = party;
    let mut machine = RowMachine::new(here.child("machine"), dealer, *rng);
    machine.plan(program.and_gates());
    machine.prepare(net, 8)?;
    let mut engine = SharedEngine::new(RowSharing::new(net, &mut machine));
    Ok(comity_circuit::run(program, &mut engine, inputs, *observer)?)
}

/// One party of a run. Returns how many outputs it learned.
fn run<C: Channel>(links: PerPeer<C>, run: Run<'_>) -> Result<usize> {
    let program = program();
    let mut net = Mesh::new(links);
    let (me, params) = (net.me(), Params::new(128, 2).expect("rho is in range"));
    let here = Here { me, parties: PARTIES, session: SessionId::new([4; 32]), params, backend: Backend::detect() };
    let own = |input: &comity_circuit::Input| input.owner.includes(me).then(|| Bits::from_bytes(&[42], 8));
    let inputs: Vec<Option<Bits>> = program.inputs().iter().map(own).collect();
    let mut outputs = Outputs::default();
    let mut rng = Prg::new(Backend::detect(), Block::from_u128(me.0.into()));
    run(&mut Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs }, program, &inputs)?;
    Ok(outputs.0)
}

/// Party 0 against two who say anything: the length of what the first one says in four bytes, that, and what
/// the other says.
pub(crate) fn against(data: &[u8], with: Run<'_>) -> Result<()> {
    let Some((length, rest)) = data.split_first_chunk() else { return Err(Error::closed()) };
    let (one, two) = rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize));
    let links = PerPeer::from_vec(PartyId(0), vec![Script(one), Script(two)]).expect("two peers");
    assert_eq!(run(links, with)?, 1);
    Ok(())
}

/// A whole run: set-up but for the base OTs, and triples too.
pub(crate) fn shares_peers(data: &[u8]) {
    let _ = against(data, &whole);
}

/// A run on shares that are there.
pub(crate) fn shares_peers_online(data: &[u8]) {
    let _ = against(data, &online);
}

/// What party 0 hears of honest peers.
pub(crate) fn heard(with: Run<'_>) -> Vec<u8> {
    let mut all = memory_mesh(PARTIES, Some(PATIENCE)).into_iter();
    let links = all.next().expect("party 0").map(|_, link| Recorded::new(link, 1 << 24));
    let recorders: Vec<_> = links.iter().map(|(_, link)| link.recorder()).collect();
    thread::scope(|scope| {
        for links in all {
            scope.spawn(move || run(links, with).expect("honest parties"));
        }
        run(links, with).expect("honest parties");
    });
    let said: Vec<Vec<u8>> = recorders.iter().map(|recorder| recorder.recording().received).collect();
    [&(said[0].len() as u32).to_le_bytes()[..], &said.concat()].concat()
}

/// Whole batches, what is wrong with others, and what honest peers say.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let at = |position: usize, value: u8| {
        let mut bytes = batch(0, &STORED);
        bytes[position] = value;
        bytes
    };
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let (to_all, to_online) = (heard(&whole), heard(&online));
    let mut false_bit = to_online.clone();
    *false_bit.last_mut().expect("a byte") ^= 1;
    vec![
        ("stored_rows", "party_0", batch(0, &STORED)),
        ("stored_rows", "party_1", batch(1, &STORED)),
        ("stored_rows", "party_2", batch(2, &STORED)),
        ("stored_rows", "another_version", at(14, b'1')),
        ("stored_rows", "of_four", at(16, 4)),
        ("stored_rows", "key_of_another", at(20, 3)),
        ("stored_rows", "not_alike", at(68, 1)),
        ("stored_rows", "too_long", [batch(0, &STORED), vec![0]].concat()),
        ("stored_rows", "cut", half(&batch(1, &STORED))),
        ("shares_peers", "cut", half(&to_all)),
        ("shares_peers", "valid", to_all),
        ("shares_peers", "empty", vec![0; 4]),
        ("shares_peers_online", "cut", half(&to_online)),
        ("shares_peers_online", "valid", to_online),
        ("shares_peers_online", "false_bit", false_bit),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_seeds_end_well_and_others_do_not() {
        for (target, name, bytes) in seeds() {
            if target == "stored_rows" {
                let read = [0, 1, 2].map(|me| RowBatch::read(&mut &bytes[..], PartyId(me), &STORED).is_ok());
                assert_eq!(read, ["party_0", "party_1", "party_2"].map(|whole| name == whole), "{name}");
                continue;
            }
            let with: Run<'_> = if target == "shares_peers" { &whole } else { &online };
            assert_eq!(against(&bytes, with).is_ok(), name == "valid", "{target}, {name}");
        }
    }
}
