//! What arith reads: stored batches of triples of words.

use comity_arith::dealers::WordMaterial;
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

/// A whole batch of each party, of either width, and what is wrong with others.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let batch = |magic: &[u8; 16], me: u8, width: usize| {
        let shares = (0..3 * TRIPLES * width).map(|i| (i * 37) as u8);
        magic.iter().copied().chain([me]).chain(shares).collect::<Vec<u8>>()
    };
    let (narrow, wide) = (batch(b"comity ring 64 1", 0, 8), batch(b"comity ring128 1", 1, 16));
    let mut version = narrow.clone();
    version[15] = b'2';
    vec![
        ("stored_words", "narrow", narrow.clone()),
        ("stored_words", "wide", wide.clone()),
        ("stored_words", "another_version", version),
        ("stored_words", "of_nobody", batch(b"comity ring 64 1", 2, 8)),
        ("stored_words", "too_long", [narrow, vec![0]].concat()),
        ("stored_words", "cut", wide[..wide.len() - 9].to_vec()),
    ]
}
