//! When a check is noted to begin: before anything of it leaves. A shelf that hears of it later keeps keys of
//! which somebody may know a guess.

use comity_channel::{Channel, MemoryChannel};
use comity_circuit::Program;
use comity_core::{Bits, PartyId};
use comity_protocol::Job;
use comity_testing::laws::{Outputs, bits, chain_and_layer, rng};
use comity_testing::{Kept, Pair};
use comity_triples::stored::FromShelf;

use super::dealer::{Masks, amounts, batches, here, options};
use crate::conduct::Act;
use crate::live::Live;
use crate::run::whole;

/// What a party does with its shelf and says, in order: `d` is the digest of the circuit check, `o` an output's shares.
fn log(me: u16, ch: &mut MemoryChannel) -> String {
    let program = Program::from_circuit(chain_and_layer(8)).unwrap();
    let [a, b] = batches(&program, 1, Masks::Random);
    let mut shelf = Kept::new("shares", [if me == 0 { a } else { b }]);
    let notes = shelf.notes.clone();
    let dealer = FromShelf::new(&mut shelf, PartyId(me), amounts(&program)).unwrap();
    let here = here(me, 1);
    let mut live = Live::new(Box::new(dealer), here.session.child("material"));
    let own = |input: &comity_circuit::Input| input.owner.includes(here.me).then(|| bits(input.bits, &mut rng(2)));
    let inputs: Vec<Option<Bits>> = program.inputs().iter().map(own).collect();
    let options = options(0);
    let job = Job { program: &program, inputs: &inputs, options: &options };
    let acts = move |act: Act<'_>| match act {
        Act::Digest(_) => notes.lock().unwrap().push('d'),
        Act::Output(_) => notes.lock().unwrap().push('o'),
        _ => {}
    };
    whole(ch as &mut dyn Channel, here, &mut rng(me.into()), &mut Outputs::default(), &mut live, &job, acts).unwrap();
    drop(live);
    shelf.notes()
}

#[test]
fn a_check_begins_before_anything_of_it_leaves() {
    let (one, other) = Pair::run(|ch| log(0, ch), |ch| log(1, ch));
    assert_eq!([one, other], ["(do)", "(do)"]);
}
