//! What authenticated garbling reads: a garbled program of a store, and what a peer says to a run on it.

use comity_ag::Ag;
use comity_channel::{Channel, MemoryChannel, Mesh, Recorded, Result};
use comity_circuit::Observer;
use comity_core::{Backend, Bits, Params, PartyId, SessionId};
use comity_protocol::{Ahead, Empty, Here, Job, Options, Party, Protocol};
use comity_testing::{Kept, Pair};

use crate::mutate::rng;
use crate::peer::{Script, program};

/// The material's name.
const MATERIAL: &str = "authenticated garbling";

/// An observer that counts outputs.
#[derive(Default)]
struct Outputs(usize);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        assert_eq!(value.len(), 8);
        self.0 += 1;
    }
}

/// Does something as a party, of which number 0 garbles.
fn party<T>(me: u16, ch: &mut dyn Channel, act: impl FnOnce(&mut Party<'_, '_>, &Options) -> Result<T>) -> Result<T> {
    let (session, params) = (SessionId::new([3; 32]), Params::new(128, 4).expect("rho is in range"));
    let here = Here { me: PartyId(me), parties: 2, session, params, backend: Backend::detect() };
    let mut options = Options::new(Ag.card());
    options.set(PartyId(0), "role", "garbler").expect("an option of the card");
    let (mut net, mut outputs) = (Mesh::of_two(here.me, ch), Outputs::default());
    let done = act(&mut Party { net: &mut net, here, rng: &mut rng(), observer: &mut outputs }, &options)?;
    Ok(done)
}

/// A party's run on a batch.
fn run(me: u16, batch: &[u8], ch: &mut dyn Channel) -> Result<()> {
    let mut inputs = [None, None];
    inputs[usize::from(me)] = Some(Bits::from_bytes(&[42], 8));
    party(me, ch, |party, options| {
        let mut kept = Kept::new(MATERIAL, [batch.to_vec()]);
        Ag.run(party, &Job { program: program(), inputs: &inputs, options }, &mut kept)
    })
}

/// A party, the length of its batch in two bytes, the batch, and what the peer says.
pub(crate) fn stored_garbling(data: &[u8]) {
    let Some((&[me, low, high], rest)) = data.split_first_chunk() else { return };
    let (batch, said) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes([low, high]))));
    let _ = run(u16::from(me & 1), batch, &mut Script(said));
}

/// Honest batches and what the peer says; another party's, and less of it.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let prepared = |ch: &mut MemoryChannel, me| {
        let made = party(me, ch, |party, options| {
            let mut kept = Kept::new(MATERIAL, []);
            let make = Ag.needs(program(), options, party.here.params)?.remove(0);
            let ahead = Ahead { program: Some(program()), options, make: &make, together: 1 };
            Ag.prepare(party, &ahead, &mut Empty, &mut kept)?;
            Ok(kept.batches.remove(0).expect("a batch"))
        });
        made.expect("an honest peer")
    };
    let (zero, one) = Pair::run(|ch| prepared(ch, 0), |ch| prepared(ch, 1));
    let heard = |ch: &mut MemoryChannel, me: u16, batch: &[u8]| {
        let mut ch = Recorded::new(ch, 1 << 20);
        let recorder = ch.recorder();
        run(me, batch, &mut ch).expect("an honest peer");
        recorder.recording().received
    };
    let (to_zero, to_one) = Pair::run(|ch| heard(ch, 0, &zero), |ch| heard(ch, 1, &one));
    let seed =
        |me: u8, batch: &[u8], said: &[u8]| [&[me][..], &(batch.len() as u16).to_le_bytes(), batch, said].concat();
    vec![
        ("stored_garbling", "garbler", seed(0, &zero, &to_zero)),
        ("stored_garbling", "evaluator", seed(1, &one, &to_one)),
        ("stored_garbling", "of_the_other", seed(1, &zero, &to_one)),
        ("stored_garbling", "cut", seed(1, &one[..one.len() / 2], &to_one)),
        ("stored_garbling", "peer_leaves", seed(0, &zero, &to_zero[..1])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_seeds_end_well_and_others_do_not() {
        for (_, name, bytes) in seeds() {
            let (me, rest) = (u16::from(bytes[0]), &bytes[3..]);
            let (batch, said) = rest.split_at(u16::from_le_bytes([bytes[1], bytes[2]]).into());
            let ended = run(me, batch, &mut Script(said));
            assert_eq!(ended.is_ok(), ["garbler", "evaluator"].contains(&name), "{name}: {ended:?}");
        }
    }
}
