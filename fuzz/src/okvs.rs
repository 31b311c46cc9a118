//! The key-value store: keys that repeat, and vectors that nobody encoded.

use std::collections::BTreeMap;

use comity_core::{Backend, Block, Prg};
use comity_okvs::{Okvs, Sparse};

/// Bytes of a key and its value.
const PAIR: usize = 17;

/// Pairs of a key and a byte. Every key reads its value, but for those that have several; and any bytes are a vector.
pub(crate) fn okvs_vector(data: &[u8]) {
    let (keys, values): (Vec<Block>, Vec<Block>) = data.as_chunks::<PAIR>().0.iter().map(pair).unzip();
    let backend = Backend::detect();
    let rows = Sparse::place(backend, Block::from_u128(1), keys.len(), &keys);
    let mut vector = vec![Block::ZERO; Sparse::columns(keys.len())];
    let left_out = rows.encode(&values, &mut Prg::new(backend, Block::from_u128(2)), &mut vector);
    let mut read = values.clone();
    rows.decode(&vector, &mut read);
    let mut several: BTreeMap<u128, Vec<Block>> = BTreeMap::new();
    keys.iter().zip(&values).for_each(|(key, &value)| several.entry(key.to_u128()).or_default().push(value));
    for (i, (key, value)) in (0..).zip(keys.iter().zip(&values)) {
        let all = &several[&key.to_u128()];
        assert_eq!(left_out.contains(&i), read[i as usize] != *value);
        assert!(all.iter().any(|other| other != value) || read[i as usize] == *value, "key {i} of {}", keys.len());
    }
    if let Some(first) = data.first() {
        vector.fill(Block::new([*first; 16]));
        Block::bytes_of_mut(&mut vector).iter_mut().zip(data).for_each(|(byte, &said)| *byte = said);
        rows.decode(&vector, &mut read);
    }
}

fn pair([key @ .., value]: &[u8; PAIR]) -> (Block, Block) {
    (Block::new(*key), Block::from_u128(u128::from(*value)))
}

pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let pairs = |keys: &[u8]| -> Vec<u8> {
        (0..).zip(keys).flat_map(|(value, &key)| [vec![key; 16], vec![value]].concat()).collect()
    };
    let distinct = pairs(&(0..20).collect::<Vec<_>>());
    let mut long = distinct.clone();
    long.extend([9; 30]);
    vec![
        ("okvs_vector", "distinct", distinct),
        ("okvs_vector", "repeated", pairs(&[1, 2, 3, 2, 1, 1])),
        ("okvs_vector", "cut", long),
    ]
}
