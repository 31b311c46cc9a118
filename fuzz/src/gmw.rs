//! What gmw reads: stored batches of triples.

use comity_core::PartyId;
use comity_gmw::dealers::{read_batch, write_batch};

/// Triples of a batch of the body.
const TRIPLES: usize = 24;

/// A batch of stored triples, as it is behind the store's encryption: what is read is written as it was.
pub(crate) fn stored_triples(data: &[u8]) {
    for (me, parties) in [(0, 2), (1, 2), (2, 3)] {
        if let Ok(triples) = read_batch(&mut &*data, PartyId(me), parties, TRIPLES) {
            assert_eq!(triples.len(), TRIPLES);
            let mut again = Vec::new();
            write_batch(triples, PartyId(me), parties, &mut again).expect("writing to memory");
            assert!(again == data, "what was read is written otherwise");
        }
    }
}

/// A whole batch of a party of two and of one of three, and what is wrong with others.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let batch = |me: u8, parties: u8| {
        let shares = (0..3 * TRIPLES / 8).map(|i| (i * 37) as u8);
        b"comity triples 1".iter().copied().chain([me, 0, parties, 0]).chain(shares).collect::<Vec<u8>>()
    };
    let mut version = batch(0, 2);
    version[15] = b'2';
    vec![
        ("stored_triples", "of_two", batch(0, 2)),
        ("stored_triples", "of_three", batch(2, 3)),
        ("stored_triples", "another_version", version),
        ("stored_triples", "of_nobody", batch(7, 2)),
        ("stored_triples", "too_long", [batch(0, 2), vec![0]].concat()),
        ("stored_triples", "cut", batch(1, 2)[..25].to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_batches_are_read_and_others_are_not() {
        for (_, name, bytes) in seeds() {
            let read = [(0, 2), (2, 3)]
                .map(|(me, parties)| read_batch(&mut &bytes[..], PartyId(me), parties, TRIPLES).is_ok());
            assert_eq!(read, [name == "of_two", name == "of_three"], "{name}");
        }
    }
}
