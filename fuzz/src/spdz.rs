//! What `spdz` reads: a stored batch of field material.

use comity_core::PartyId;
use comity_spdz::stored::{FieldAmounts, FieldBatch};

const PARTIES: u16 = 3;

/// The amount that a stored batch of the body holds.
const STORED: FieldAmounts = FieldAmounts { parties: PARTIES, triples: 1, shares: 2, masks: 8, elements: 1 };

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

/// A batch whose elements are all one number.
fn batch(me: u8) -> Vec<u8> {
    let mut bytes = b"comity field 2\n\0".to_vec();
    bytes.extend([PARTIES as u8, 0, me, 0]);
    bytes.resize(STORED.bytes() as usize - 1, 0x5a);
    bytes.push(0b101);
    bytes
}

/// Whole batches, and what is wrong with others.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let at = |position: usize, value: u8| {
        let mut bytes = batch(0);
        bytes[position] = value;
        bytes
    };
    let last = batch(0).len() - 1;
    vec![
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

    #[test]
    fn whole_seeds_are_read_and_no_other() {
        for (_, name, bytes) in seeds() {
            let read = [0, 1, 2].map(|me| FieldBatch::read(&mut &bytes[..], PartyId(me), &STORED).is_ok());
            assert_eq!(read, ["party_0", "party_1", "party_2"].map(|whole| name == whole), "{name}");
        }
    }
}
