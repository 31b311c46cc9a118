//! What arith reads: stored batches of triples of words, and of what conversions use up.

use comity_arith::dealers::{AdderTables, OtMaterial, WordMaterial};
use comity_core::PartyId;

/// Triples of a batch of the body.
const TRIPLES: usize = 5;

/// A batch of stored triples, as it is behind the store's encryption: what is read is written as it was.
pub(crate) fn stored_words(data: &[u8]) {
    for material in WordMaterial::ALL {
        for me in [0, 1].map(PartyId) {
            if let Ok(triples) = material.read(&mut &*data, me, TRIPLES, material.product().bits) {
                assert_eq!(triples.len(), TRIPLES);
                let mut again = Vec::new();
                material.write(&triples, me, &mut again).expect("writing to memory");
                assert!(again == data, "what was read is written otherwise");
            }
        }
    }
}

/// OTs of a batch of the body: as many as there are choice bits in its bytes.
const OTS: usize = 24;

/// A batch of stored OTs, of either way.
pub(crate) fn stored_ots(data: &[u8]) {
    for material in OtMaterial::ALL {
        for me in [0, 1].map(PartyId) {
            if let Ok(ots) = material.read(&mut &*data, me, OTS) {
                let mut again = Vec::new();
                ots.write(&mut again).expect("writing to memory");
                assert!(again == data, "what was read is written otherwise");
            }
        }
    }
}

/// A batch of stored adders, of one chain.
pub(crate) fn stored_adders(data: &[u8]) {
    for me in [0, 1].map(PartyId) {
        if let Ok(adders) = AdderTables::read(&mut &*data, me, 1) {
            let mut again = Vec::new();
            adders.write(&mut again).expect("writing to memory");
            assert!(again == data, "what was read is written otherwise");
        }
    }
}

/// Bytes of a form and, behind the numbers at their beginning, others up to a length.
fn filled(magic: &[u8; 16], numbers: &[u8], length: usize) -> Vec<u8> {
    let start = magic.iter().chain(numbers).copied();
    start.chain((0..).map(|i: usize| (i * 37 + 1) as u8)).take(length).collect()
}

/// Whole batches of conversions, and what is wrong with others.
fn of_conversions() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    const LOT: usize = 32;
    let (ots, adders) = (b"comity word OT 1", b"comity adders 1\n");
    // Delta, or a bit each; and a block for each.
    let [sender, receiver] = [16, OTS / 8].map(|own| 16 + 2 + LOT + own + 16 * OTS);
    let sent = filled(ots, &[0, 0], sender);
    // A number, delta and a seed, and two blocks a cell; or a bit and a block a cell, and the tables.
    let [garbler, evaluator] = [16 * (2 + 2 * 128), 128 / 8 + 16 * (128 + 265)].map(|own| 16 + 1 + LOT + 8 + own);
    let garbled = filled(adders, &[0], garbler);
    let mut even = garbled.clone();
    even[16 + 1 + LOT + 8] &= 0xfe;
    let mut version = sent.clone();
    version[15] = b'2';
    vec![
        ("stored_ots", "sender", sent.clone()),
        ("stored_ots", "receiver", filled(ots, &[1, 0], receiver)),
        ("stored_ots", "other_way", filled(ots, &[0, 1], receiver)),
        ("stored_ots", "another_version", version),
        ("stored_ots", "of_nobody", filled(ots, &[2, 0], sender)),
        ("stored_ots", "too_long", [&sent[..], &[0]].concat()),
        ("stored_adders", "garbler", garbled.clone()),
        ("stored_adders", "evaluator", filled(adders, &[1], evaluator)),
        ("stored_adders", "even_delta", even),
        ("stored_adders", "cut", garbled[..garbled.len() - 9].to_vec()),
    ]
}

/// A whole batch of each party, of either width, and what is wrong with others.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let batch = |magic: &[u8; 16], me: u8, width: usize| {
        let shares = (0..3 * TRIPLES * width).map(|i| (i * 37) as u8);
        magic.iter().copied().chain([me]).chain(shares).collect::<Vec<u8>>()
    };
    let (narrow, wide) = (batch(b"comity ring 64 1", 0, 8), batch(b"comity ring128 1", 1, 16));
    let mut version = narrow.clone();
    version[15] = b'2';
    let words = [
        ("stored_words", "narrow", narrow.clone()),
        ("stored_words", "wide", wide.clone()),
        ("stored_words", "another_version", version),
        ("stored_words", "of_nobody", batch(b"comity ring 64 1", 2, 8)),
        ("stored_words", "too_long", [narrow, vec![0]].concat()),
        ("stored_words", "cut", wide[..wide.len() - 9].to_vec()),
    ];
    words.into_iter().chain(of_conversions()).collect()
}
