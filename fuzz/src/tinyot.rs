//! What tinyot reads: stored batches, and the statements of people.

use comity_core::PartyId;
use comity_language::statement::{Statement, parse};
use comity_triples::stored::{Amounts, StoredBatch};

/// The amount that a batch of the body holds.
const AMOUNTS: Amounts = Amounts { triples: 2, masks: [1, 2], shares: 1 };

/// A batch of stored shares, as it is behind the store's encryption: what is read is written as it was.
pub(crate) fn stored_shares(data: &[u8]) {
    for party in 0..2 {
        if let Ok(batch) = StoredBatch::read(&mut &*data, PartyId(party), &AMOUNTS) {
            let mut again = Vec::new();
            batch.write(&mut again).expect("writing to memory");
            assert!(again == data, "what was read is written otherwise");
        }
    }
}

/// A statement of `comity repl`: its normal form is its own, and has no input value in it.
pub(crate) fn statement(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Ok(Some(line)) = parse(text) else { return };
    let Ok(Some(again)) = parse(&line.text) else { panic!("the normal form is not a statement") };
    assert_eq!(again.text, line.text);
    match (line.statement, again.statement) {
        (Statement::Input { name, party, ty, .. }, Statement::Input { name: n, party: p, ty: t, value }) => {
            assert!((name, party, ty) == (n, p, t) && value.is_none());
        }
        (Statement::Input { .. }, _) | (_, Statement::Input { .. }) => panic!("the normal form is another statement"),
        _ => {}
    }
}

/// A whole batch of either party, and what is wrong with others.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let batch = |party: u8| {
        let mut bytes = b"comity tinyot 1\n".to_vec();
        bytes.push(party);
        // Bits 0 and 1 of a global key are fixed; bit 0 of a local key is zero.
        bytes.extend([1 | party << 1; 16]);
        let share = |i: usize| [[i as u8 | 1; 16], [i as u8 & !1; 16]].concat();
        bytes.extend((0..3 * AMOUNTS.triples).flat_map(share));
        bytes.extend([6; 16 * 3]);
        bytes.extend((0..AMOUNTS.shares).flat_map(share));
        bytes
    };
    let at = |position: usize, value: u8| {
        let mut bytes = batch(0);
        bytes[position] = value;
        bytes
    };
    vec![
        ("stored_shares", "party_0", batch(0)),
        ("stored_shares", "party_1", batch(1)),
        ("stored_shares", "another_version", at(14, b'2')),
        ("stored_shares", "key_of_the_other", at(17, 3)),
        ("stored_shares", "key_with_a_bit", at(17 + 16 + 16, 1)),
        ("stored_shares", "too_long", [batch(0), vec![0]].concat()),
        ("stored_shares", "cut", batch(1)[..100].to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_batches_are_read_and_others_are_not() {
        for (_, name, bytes) in seeds() {
            let read = [0, 1].map(|party| StoredBatch::read(&mut &bytes[..], PartyId(party), &AMOUNTS).is_ok());
            assert_eq!(read, [name == "party_0", name == "party_1"], "{name}");
        }
    }
}
