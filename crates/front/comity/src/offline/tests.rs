//! Which lot is chosen, and what becomes of those that one side alone has.

use comity_core::Params;

use super::*;

fn held(n: u8, next: u32, batches: u32) -> Held {
    let meta = Meta {
        id: SessionId::new([n; 32]),
        protocol: "shares dealer=fast".into(),
        program: [0; 32],
        name: String::new(),
        party: 0,
        params: Params::default(),
        peer: String::new(),
    };
    Held { meta, next, batches }
}

fn id(n: u8) -> SessionId {
    SessionId::new([n; 32])
}

#[test]
fn both_go_on_at_the_larger_number_of_the_oldest_lot_that_has_enough() {
    let ours = [held(1, 0, 4), held(2, 3, 9), held(3, 0, 9)];
    let theirs = [(id(3), 0), (id(2), 5), (id(1), 2), (id(9), 0)];
    let chosen = |first, need| choose(first, &ours, &theirs, need).ok();
    assert_eq!(chosen(true, 2), Some((id(1), 2)));
    assert_eq!(chosen(true, 3), Some((id(2), 5)));
    assert_eq!(chosen(false, 3), Some((id(3), 0)));
    assert!(matches!(choose(true, &ours, &theirs, 10), Err(Missing::TooSmall { need: 10, most: 9 })));
    // A peer that lies about its number burns what it names, and no more.
    assert!(choose(true, &ours[..1], &[(id(1), u32::MAX)], 1).is_err());
    assert!(matches!(choose(true, &[], &theirs, 1), Err(Missing::Here)));
    assert!(matches!(choose(true, &ours, &[], 1), Err(Missing::There)));
    assert!(matches!(choose(true, &ours, &[(id(7), 0)], 1), Err(Missing::Both)));
}

#[test]
fn what_the_peer_lacks_is_lost_if_it_has_anything_of_it() {
    let ours = [held(1, 0, 4), held(2, 3, 9), held(3, 0, 9)];
    assert_eq!(lost(&ours, &[(id(9), 0), (id(2), 9)]), [id(1), id(3)]);
    assert!(lost(&ours, &[(id(1), 0), (id(3), 0), (id(2), 0)]).is_empty());
    // Another store, or one that was made anew.
    assert!(lost(&ours, &[(id(9), 0)]).is_empty() && lost(&ours, &[]).is_empty());
    // A list that was cut.
    let cut: Vec<_> = (0..MOST as u32).map(|n| (SessionId::derive("other", &[&n.to_le_bytes()]), 0)).collect();
    assert!(lost(&ours, &[&cut[1..], &[(id(1), 0)]].concat()).is_empty());
}
