//! Bytes, counted exactly on material of the store.

use comity_channel::{Counted, MemoryChannel, Mesh};
use comity_circuit::{Program, Recipients};
use comity_core::{Bits, PartyId};
use comity_protocol::{Job, Party, Protocol};
use comity_testing::laws::{Outputs, bits, chain_and_layer, rng};
use comity_testing::{Kept, Pair};

use super::dealer::{here, options};
use super::prepared::prepare;
use crate::protocol::Ag;

/// Bytes that the garbler and the evaluator send in a run on this material.
fn sent(program: &Program, inputs: &[Bits], [a, b]: [&mut Kept; 2]) -> [u64; 2] {
    let party = |ch: &mut MemoryChannel, me: u16, kept: &mut Kept| {
        let (options, here, ch) = (options(0), here(me, 1000), Counted::new(ch));
        let own = program.inputs().iter().zip(inputs);
        let own: Vec<_> = own.map(|(i, value)| i.owner.includes(me).then(|| value.clone())).collect();
        let counter = ch.counter();
        let (mut net, mut rng, mut outputs) = (Mesh::of_two(PartyId(me), ch), rng(me.into()), Outputs::default());
        let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
        Ag.run(&mut me, &Job { program, inputs: &own, options: &options }, kept).unwrap();
        counter.counts().sent
    };
    let (a, b) = Pair::run(|ch| party(ch, 0, a), |ch| party(ch, 1, b));
    [a, b]
}

#[test]
fn bytes_are_what_the_docs_say() {
    let program = Program::from_circuit(chain_and_layer(4000)).unwrap();
    let program = program.with_recipients(0, Recipients::only(1)).unwrap();
    let inputs = [bits(4000, &mut rng(1)), bits(4000, &mut rng(2))];
    let (ands, outputs) = (program.and_gates(), 4001u64);
    assert_eq!(ands, 8000);
    // Commitment, and opening with its salt; the other one's digest.
    let compared = [32 + 64, 32];
    // Masked bits; a label for each input bit.
    let inputs_sent = [500 + 16 * 8000, 500];
    let [mut a, mut b] = prepare(&program, 0, 1, "garbling");
    let garbled = sent(&program, &inputs, [&mut a, &mut b]);
    // The evaluator tells a bit a gate; the garbler opens the outputs.
    let opened = outputs.div_ceil(8) + 32;
    assert_eq!(garbled, [inputs_sent[0] + compared[0] + opened, inputs_sent[1] + ands / 8 + compared[1]]);
    let [mut a, mut b] = prepare(&program, 0, 1, "shares");
    let live = sent(&program, &inputs, [&mut a, &mut b]);
    // On shares also d, e and a digest each way, and two blocks and a bit for each gate.
    assert_eq!(live[1], garbled[1] + ands / 4 + 32);
    assert_eq!(live[0] - garbled[0] - ands / 4 - 32, 32 * ands + ands / 8);
    assert!(a.batches.is_empty() && b.batches.is_empty());
}
