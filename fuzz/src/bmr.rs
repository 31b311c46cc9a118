//! What a party of garbling by many reads: a garbled program of a store, with what peers say to a run on it,
//! and what they say to one that garbles and opens a program on shares that are there.

use std::thread;

use comity_bmr::{Bmr, Ground, Opener, Planned, TripleMasks, run_with};
use comity_channel::{Channel, Mesh, PerPeer, Recorded, Result, memory_mesh};
use comity_circuit::Observer;
use comity_core::{Backend, Bits, Params, PartyId, SessionId};
use comity_protocol::{Ahead, Empty, Here, Job, Options, Party, Protocol};
use comity_testing::{Kept, PATIENCE};
use comity_triples::many::stored::{RowAmounts, RowsFromShelf};

use crate::among::{PARTIES, batch, program};
use crate::mutate::rng;
use crate::peer::Script;

/// The material's name.
const MATERIAL: &str = "garbled";

/// The shares that the program takes: of gates, and of the bits of its output.
const SHARES: RowAmounts = RowAmounts { parties: PARTIES, triples: 8, masks: 8, shares: 16 };

#[derive(Default)]
struct Outputs(usize);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        assert_eq!(value.len(), 8);
        self.0 += 1;
    }
}

/// Does something as a party, and returns how many outputs it learned.
fn party<C: Channel>(links: PerPeer<C>, act: impl FnOnce(&mut Party<'_, '_>, &Job<'_>) -> Result<()>) -> Result<usize> {
    let (mut net, program, options) = (Mesh::new(links), program(), Options::new(Bmr.card()));
    let (me, params) = (net.me(), Params::new(128, 2).expect("rho is in range"));
    let here = Here { me, parties: PARTIES, session: SessionId::new([5; 32]), params, backend: Backend::detect() };
    let own = program.inputs().iter().map(|input| input.owner.includes(me).then(|| Bits::from_bytes(&[42], 8)));
    let (inputs, mut outputs): (Vec<_>, _) = (own.collect(), Outputs::default());
    let mut me = Party { net: &mut net, here, rng: &mut rng(), observer: &mut outputs };
    act(&mut me, &Job { program, inputs: &inputs, options: &options })?;
    Ok(outputs.0)
}

/// A run on a garbled program.
fn use_up<C: Channel>(links: PerPeer<C>, garbled: &[u8]) -> Result<usize> {
    party(links, |me, job| Bmr.run(me, job, &mut Kept::new(MATERIAL, [garbled.to_vec()])))
}

/// A run on shares: products, their check, the opening of rows, keys.
fn garble<C: Channel>(links: PerPeer<C>) -> Result<usize> {
    party(links, |me, job| {
        let here = me.here;
        let mut kept = Kept::new("shares", [batch(here.me.0 as u8, &SHARES)]);
        let dealer = Box::new(RowsFromShelf::new(&mut kept, here.me, SHARES)?);
        let mut masks = TripleMasks::new(here.child("masks"), dealer, Planned::of(job.program), me.rng);
        run_with(me, Ground { masks: &mut masks, opener: Opener::Balanced }, job)
    })
}

/// The first part of bytes that begin with its length in four bytes, and the second.
fn two(data: &[u8]) -> Option<[&[u8]; 2]> {
    let (length, rest) = data.split_first_chunk()?;
    let (one, two) = rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize));
    Some([one, two])
}

/// Party 0's links to two who say these.
fn to(said: [&[u8]; 2]) -> PerPeer<Script<'_>> {
    PerPeer::from_vec(PartyId(0), said.map(Script).into()).expect("two peers")
}

/// What party 0 has stored, behind its length, and then what the two others say, the first behind its length.
pub(crate) fn stored_garbled(data: &[u8]) {
    let Some([garbled, said]) = two(data) else { return };
    let Some(said) = two(said) else { return };
    if let Ok(outputs) = use_up(to(said), garbled) {
        assert_eq!(outputs, 1);
    }
}

/// What two others say to a party that garbles with them.
pub(crate) fn garbling_peers(data: &[u8]) {
    let Some(said) = two(data) else { return };
    if let Ok(outputs) = garble(to(said)) {
        assert_eq!(outputs, 1);
    }
}

/// What the parties come to, side by side.
fn all<T: Send>(act: impl Fn(PerPeer<comity_channel::MemoryChannel>) -> T + Sync) -> Vec<T> {
    let act = &act;
    thread::scope(|scope| {
        let links = memory_mesh(PARTIES, Some(PATIENCE)).into_iter();
        let threads: Vec<_> = links.map(|links| scope.spawn(move || act(links))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn prefixed(one: &[u8], two: &[u8]) -> Vec<u8> {
    [&(one.len() as u32).to_le_bytes()[..], one, two].concat()
}

/// What party 0 hears of honest peers.
fn heard(act: impl Fn(PerPeer<&mut dyn Channel>) -> Result<usize> + Sync) -> Vec<u8> {
    let mut said = all(|links| {
        let mut links = links.map(|_, link| Recorded::new(link, 1 << 20));
        let recorders: Vec<_> = links.iter().map(|(_, link)| link.recorder()).collect();
        let me = links.me();
        let channels = links.as_mut_slice().iter_mut().map(|link| link as &mut dyn Channel).collect();
        act(PerPeer::from_vec(me, channels).expect("the same peers")).expect("honest parties");
        recorders.iter().map(|recorder| recorder.recording().received).collect::<Vec<_>>()
    });
    let said = said.remove(0);
    prefixed(&said[0], &said[1])
}

/// Honest garblings and what peers say; cut, of another, and with a false bit in them.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let garbled = all(|links| {
        let mut kept = Kept::new(MATERIAL, []);
        let made = party(links, |me, job| {
            let make = Bmr.needs(job.program, job.options, me.here.params)?.remove(0);
            let ahead = Ahead { program: Some(job.program), options: job.options, make: &make, together: 1 };
            Bmr.prepare(me, &ahead, &mut Empty, &mut kept)
        });
        made.expect("honest parties");
        kept.batches.remove(0).expect("a batch")
    });
    let online = heard(|links| {
        let garbled = &garbled[usize::from(links.me().0)];
        use_up(links, garbled)
    });
    #[allow(clippy::redundant_closure, reason = "the function itself is for links of one lifetime")]
    let opening = heard(|links| garble(links));
    let with = |garbled: &[u8], said: &[u8]| prefixed(garbled, said);
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    // The offset stands at the end of the head, and bit 0 of it is one.
    let own = &garbled[0];
    vec![
        ("stored_garbled", "valid", with(own, &online)),
        ("stored_garbled", "of_another", with(&garbled[1], &online)),
        ("stored_garbled", "of_another_program", with(&flipped(own, 56), &online)),
        ("stored_garbled", "another_offset", with(&flipped(own, 86), &online)),
        ("stored_garbled", "cut", with(&half(own), &online)),
        ("stored_garbled", "peers_leave", with(own, &half(&online))),
        ("stored_garbled", "false_key", with(own, &flipped(&online, 4 + 10))),
        ("garbling_peers", "valid", opening.clone()),
        ("garbling_peers", "cut", half(&opening)),
        ("garbling_peers", "false_bit", flipped(&opening, 4)),
        ("garbling_peers", "other_rows", flipped(&opening, opening.len() - 200)),
        ("garbling_peers", "empty", vec![0; 4]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_seeds_end_well_and_others_do_not() {
        for (target, name, bytes) in seeds() {
            let [one, other] = two(&bytes).expect("a length");
            let ended = match target {
                "stored_garbled" => use_up(to(two(other).expect("a length")), one),
                _ => garble(to([one, other])),
            };
            assert_eq!(ended.is_ok(), name == "valid", "{target}, {name}: {ended:?}");
        }
    }
}
