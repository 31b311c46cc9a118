//! What `spdz` and `spdz-bmr` read: a stored batch of field material, what two peers say to a run on one, and to
//! one that garbles on one, and shares of a garbled program, with what peers say to a run that opens them.

use std::sync::Mutex;

use comity_bmr::{FieldMasks, Ground, Opener, SpdzBmr, prepare_with, run_with, use_up};
use comity_channel::Result;
use comity_circuit::Program;
use comity_core::{Bits, PartyId};
use comity_protocol::{Honest, Job, Options, Party, Protocol};
use comity_sharing::SharedEngine;
use comity_spdz::stored::{FieldAmounts, FieldBatch, FieldsFromShelf};
use comity_spdz::{FieldMachine, FieldSharing};
use comity_testing::Kept;

use crate::among::{PARTIES, against, heard};

/// The amount that a stored batch of the body holds.
const STORED: FieldAmounts = FieldAmounts { parties: PARTIES, triples: 1, shares: 2, masks: 8, elements: 1 };

/// The amount that a run uses up, and one that garbles.
const FOR_A_RUN: FieldAmounts = FieldAmounts { parties: PARTIES, triples: 104, shares: 16, masks: 128, elements: 16 };

/// A batch, as it is behind the store's encryption: what is read is written as it was.
pub(crate) fn stored_field(data: &[u8]) {
    for me in (0..PARTIES).map(PartyId) {
        if let Ok(batch) = FieldBatch::read(&mut &*data, me, &STORED) {
            let mut again = Vec::new();
            batch.write(&mut again).expect("writing to memory");
            assert!(again == data, "what was read is written otherwise");
        }
    }
}

/// The beginning of a batch, behind which is what the bytes are filled with.
fn begun(me: u8) -> Vec<u8> {
    [&b"comity field 2\n\0"[..], &[PARTIES as u8, 0, me, 0]].concat()
}

/// A batch whose elements are all one number.
fn batch(me: u8) -> Vec<u8> {
    let mut bytes = begun(me);
    bytes.resize(STORED.bytes() as usize - 1, 0x5a);
    bytes.push(0b101);
    bytes
}

/// Shares of zero, whose MACs are zero: of triples, bits and elements.
fn zeros(me: PartyId) -> Kept {
    let mut bytes = begun(me.0 as u8);
    // The share of the key.
    bytes.extend([7; 16]);
    bytes.resize(FOR_A_RUN.bytes() as usize, 0);
    Kept::new("field", [bytes])
}

fn online(party: &mut Party<'_, '_>, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    let Party { net, here, rng, observer } = party;
    let mut kept = zeros(here.me);
    let source = Box::new(FieldsFromShelf::new(&mut kept, here.me, FOR_A_RUN)?);
    let mut machine = FieldMachine::new(here.child("machine"), source, *rng);
    machine.plan(program.and_gates());
    let mut engine = SharedEngine::new(FieldSharing::new(net, &mut machine));
    Ok(comity_circuit::run(program, &mut engine, inputs, *observer)?)
}

/// Something on masks that are shares of zero, of one offset for all wires or of one each.
fn masked<T>(
    party: &mut Party<'_, '_>,
    each: bool,
    act: impl FnOnce(&mut Party<'_, '_>, Ground<'_>) -> Result<T>,
) -> Result<T> {
    let mut kept = zeros(party.here.me);
    let source = Box::new(FieldsFromShelf::new(&mut kept, party.here.me, FOR_A_RUN)?);
    let machine = Box::new(FieldMachine::new(party.here.child("machine"), source, party.rng));
    let bits = FOR_A_RUN.shares as u64;
    let mut masks = match each {
        true => FieldMasks::of_wires(party.net, machine, bits),
        false => FieldMasks::setup(party.net, machine, bits)?,
    };
    act(party, Ground { masks: &mut masks, opener: Opener::Balanced })
}

fn garbled(party: &mut Party<'_, '_>, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    let options = Options::new(SpdzBmr.card());
    masked(party, false, |party, ground| run_with(party, ground, &Job { program, inputs, options: &options }))
}

/// Shares of rows are there, and the run opens them.
fn opened(garbled: &[u8], party: &mut Party<'_, '_>, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    let options = Options::new(SpdzBmr.card());
    use_up(party, &mut { garbled }, &Job { program, inputs, options: &options }, &mut Honest)
}

/// Two steps of honest parties.
fn in_two_steps(party: &mut Party<'_, '_>, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    let mut kept = Vec::new();
    masked(party, true, |party, ground| prepare_with(party, ground, program, &mut kept, &mut Honest))?;
    opened(&kept, party, program, inputs)
}

/// What two others say to a run of `spdz` on shares that are there.
pub(crate) fn field_peers(data: &[u8]) {
    let _ = against(data, &online);
}

/// The same to a run of `spdz-bmr`.
pub(crate) fn field_garbling_peers(data: &[u8]) {
    let _ = against(data, &garbled);
}

/// The same where XOR gates have rows, and rows are opened in a run of their own.
pub(crate) fn field_opening_peers(data: &[u8]) {
    let _ = against(data, &in_two_steps);
}

/// What party 0 has stored of such rows, behind its length, and then what the two others say in the run.
pub(crate) fn stored_field_garbled(data: &[u8]) {
    let Some((stored, said)) = two(data) else { return };
    let _ = against(said, &|party, program, inputs| opened(stored, party, program, inputs));
}

/// The first part of bytes that begin with its length in four bytes, and the second.
fn two(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    Some(rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize)))
}

/// What honest parties store of rows, by party, and what party 0 hears in the run.
fn stored() -> (Vec<u8>, Vec<u8>) {
    let kept = [(); PARTIES as usize].map(|()| Mutex::new(Vec::new()));
    let of = |party: &Party<'_, '_>| kept[usize::from(party.here.me.0)].lock().expect("no panic");
    heard(&|party, program, _| {
        let mut kept = Vec::new();
        masked(party, true, |party, ground| prepare_with(party, ground, program, &mut kept, &mut Honest))?;
        *of(party) = kept;
        Ok(())
    });
    let said = heard(&|party, program, inputs| {
        let kept = of(party).clone();
        opened(&kept, party, program, inputs)
    });
    let [own, ..] = kept;
    (own.into_inner().expect("no panic"), said)
}

/// Whole batches, and what is wrong with others.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let at = |position: usize, value: u8| {
        let mut bytes = batch(0);
        bytes[position] = value;
        bytes
    };
    let last = batch(0).len() - 1;
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let [to_run, to_garbling, to_opening] = [heard(&online), heard(&garbled), heard(&in_two_steps)];
    let (own, said) = stored();
    let with = |own: &[u8], said: &[u8]| [&(own.len() as u32).to_le_bytes()[..], own, said].concat();
    vec![
        ("field_peers", "valid", to_run.clone()),
        ("field_peers", "cut", half(&to_run)),
        ("field_peers", "false_value", flipped(&to_run, to_run.len() - 1)),
        ("field_peers", "empty", vec![0; 4]),
        ("field_garbling_peers", "valid", to_garbling.clone()),
        ("field_garbling_peers", "cut", half(&to_garbling)),
        ("field_garbling_peers", "false_bit", flipped(&to_garbling, 4)),
        ("field_opening_peers", "valid", to_opening.clone()),
        ("field_opening_peers", "cut", half(&to_opening)),
        ("field_opening_peers", "other_rows", flipped(&to_opening, to_opening.len() - 200)),
        ("stored_field_garbled", "valid", with(&own, &said)),
        ("stored_field_garbled", "cut", with(&half(&own), &said)),
        ("stored_field_garbled", "of_another_program", with(&flipped(&own, 56), &said)),
        ("stored_field_garbled", "other_keys", with(&flipped(&own, own.len() / 2), &said)),
        ("stored_field_garbled", "peers_leave", with(&own, &half(&said))),
        ("stored_field", "party_0", batch(0)),
        ("stored_field", "party_2", batch(2)),
        ("stored_field", "another_version", at(13, b'1')),
        ("stored_field", "of_four", at(16, 4)),
        ("stored_field", "too_long", [batch(0), vec![0]].concat()),
        ("stored_field", "cut", batch(1)[..last / 2].to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::among::Run;

    #[test]
    fn whole_seeds_are_read_and_no_other() {
        for (target, name, bytes) in seeds() {
            let run: Option<Run<'_>> = match target {
                "field_peers" => Some(&online),
                "field_garbling_peers" => Some(&garbled),
                "field_opening_peers" => Some(&in_two_steps),
                _ => None,
            };
            if let Some(run) = run {
                assert_eq!(against(&bytes, run).is_ok(), name == "valid", "{target}, {name}");
                continue;
            }
            if target == "stored_field_garbled" {
                let (own, said) = two(&bytes).expect("a length");
                let ended = against(said, &|party, program, inputs| opened(own, party, program, inputs));
                assert!(ended.is_ok() == (name == "valid") || name == "other_keys", "{name}: {ended:?}");
                continue;
            }
            let read = [0, 1, 2].map(|me| FieldBatch::read(&mut &bytes[..], PartyId(me), &STORED).is_ok());
            assert_eq!(read, ["party_0", "party_1", "party_2"].map(|whole| name == whole), "{name}");
        }
    }
}
