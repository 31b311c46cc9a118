//! What a run costs: the dealer's messages and the openings, with lengths. An estimate: set-up, checks and chunks
//! are counted as they come to most.

use comity_circuit::Recipients;
use comity_protocol::{Costing, Talk, Walked};

use crate::material::FieldUses;

/// Bytes of a set-up to each peer.
const SETUP: u64 = 15_200;

/// Bytes of a triple to each peer: 512 OTs of 4 bytes, as many corrections, five inputs, and an element opened.
const TRIPLE: u64 = 512 * (4 + 16) + 5 * INPUT + 16;

/// Bytes of an input to each peer.
const INPUT: u64 = 32 * 16;

/// Inputs of each party beside what it puts in, where bits are made, and bits that are made at a time at most.
const COMBINATIONS: u64 = 129;
const BITS: u64 = 1 << 12;

/// Bits of each party that are made at least.
const MASKS: u64 = 1 << 7;

/// Triples of a chunk, and what is said beside it.
const CHUNK: u64 = 511;
const BESIDE: u64 = 4_096;

/// Seconds of work for a triple and an input with each peer, and for a set-up.
const WORK: [f64; 3] = [20e-6, 1e-6, 0.015];

/// Turns of a set-up, of bits, of a chunk of triples, and of a check: between two nobody compares what all heard.
fn turns(parties: u16) -> [u64; 4] {
    if parties == 2 { [8, 8, 14, 4] } else { [8, 14, 24, 7] }
}

/// The messages of a dealer that makes what `uses` counts.
pub fn deal(parties: u16, uses: &FieldUses, talk: &mut Talk) {
    let peers = f64::from(parties - 1);
    talk.about();
    talk.exchange(SETUP);
    let [setup, of_bits, of_chunk, _] = turns(parties);
    talk.turns(setup);
    talk.work(WORK[2] * peers);
    let masks = if uses.masks > 0 { uses.masks.max(MASKS) } else { 0 };
    for bits in [masks, uses.shares].into_iter().filter(|&bits| bits > 0) {
        let times = bits.div_ceil(BITS);
        talk.exchange((bits + times * COMBINATIONS) * INPUT + 16 * times * COMBINATIONS);
        talk.turns(times * of_bits);
        talk.work(WORK[1] * bits as f64 * peers);
    }
    let mut left = uses.products;
    talk.repeat(left / CHUNK, &mut |talk| chunk(CHUNK, of_chunk, peers, talk));
    left %= CHUNK;
    if left > 0 {
        chunk(left, of_chunk, peers, talk);
    }
}

fn chunk(triples: u64, turns: u64, peers: f64, talk: &mut Talk) {
    talk.exchange(triples * TRIPLE + BESIDE);
    talk.turns(turns);
    talk.work(WORK[0] * triples as f64 * peers);
}

/// The messages of a run that uses up what `uses` counts.
pub(crate) fn costs(of: &Costing<'_>, uses: &FieldUses, talk: &mut Talk) {
    deal(of.parties, uses, talk);
    of.walk(talk, &mut |talk, step| match step {
        Walked::Input(i) => {
            let input = &of.program.inputs()[i];
            talk.exchange_each(|from, _| if input.owner.includes(from) { (input.bits as u64).div_ceil(8) } else { 0 });
        }
        Walked::Call { circuit, ands, times } => {
            let layers = circuit.layered().layers().iter().filter(|layer| layer.ands > 0).count() as u64;
            talk.exchange(32 * ands * times);
            talk.turns(layers.saturating_sub(1));
        }
        Walked::Output(i) => {
            let output = &of.program.outputs()[i];
            let learn = if output.to == Recipients::All { 1 } else { output.to.named().len() as u64 };
            talk.exchange(16 * output.bits as u64 * learn + 500);
            talk.turns(2 * turns(of.parties)[3]);
        }
    });
}
