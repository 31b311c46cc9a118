//! Whose key hashes what.

use std::collections::HashSet;

use super::cheats::report;
use super::*;
use crate::hashes::tests::{key, naive};

#[test]
fn no_table_serves_two_ands() {
    let mut keys = HashSet::new();
    for (session, n) in [(40, 300), (41, 20)] {
        let (told, seen) = report::<Vec<Block>>();
        let spy = lie(move |act| {
            if let Act::AndU { u, .. } = act {
                told.lock().unwrap().extend_from_slice(u);
            }
        });
        let [ends, _] = run(session, [spy, honest()], |context, bits, ch| {
            let [_, theirs] = laand(context, bits, ch, n)?;
            Ok((theirs, context.key.block(), context.session.child("hashes")))
        });
        let ((theirs, delta, hashes), u) = (ends.unwrap(), seen.lock().unwrap());
        assert_eq!(u.len(), n);
        for (j, (&[x, y, z], u)) in theirs.iter().zip(&*u).enumerate() {
            let keys_now = [0, 1, 2].map(|i| key(&hashes, PartyId(0), i * n.next_multiple_of(16) + j));
            let [h1, h2, h3] = keys_now;
            assert!(naive(h1, x) ^ naive(h1, x ^ delta) ^ naive(h2, z) ^ naive(h3, y ^ z) == *u, "AND {j}");
            assert!(keys_now.iter().all(|key| keys.insert(key.to_bytes())), "a key serves two ANDs");
        }
    }
}
