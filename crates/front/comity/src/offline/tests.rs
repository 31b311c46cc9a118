//! Which lot is chosen, and what becomes of those that one side alone has.

use std::path::Path;

use comity_circuit::Observer;
use comity_core::{Backend, Bits, Kind, Params, PartyId};
use comity_store::Key;

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

struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// Two lots of two batches, of which party 1 breaks off in the second; what is left in its store.
fn fill(store: &Store, ch: impl Channel, me: u16) -> (Result<()>, Vec<(SessionId, u32, u32)>) {
    let meta = held(0, 0, 0).meta;
    let mut filling = Filling { store, meta, whole: false, stored_bytes: 0 };
    let here = Here {
        me: PartyId(me),
        parties: 2,
        session: SessionId::derive("test of lots", &[]),
        params: Params::default(),
        backend: Backend::detect(),
    };
    let mut net = Mesh::of_two(here.me, ch);
    let mut party = Party { net: &mut net, here, rng: &mut SystemRng, observer: &mut Nobody };
    let mut put = |number: u64| {
        let mut me = party.sub(&format!("lot {number}"));
        filling.put(&mut me, &Lot { units: vec![2], batches: 2 }, &mut |me, batch, out| {
            if (me.me().0, number, batch) == (1, 1, 1) {
                return Err(Error::closed());
            }
            out.write_all(&[batch as u8; 7]).map_err(|e| Error::io("a test", e))
        })
    };
    let done = (0..2).try_for_each(&mut put);
    drop(net);
    let deals = store.deals().unwrap();
    (done, deals.iter().map(|info| (info.meta.id, info.next, info.blocks)).collect())
}

#[test]
fn what_breaks_off_costs_the_lot_in_the_making() {
    let dir = std::env::temp_dir().join(format!("comity-lots-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let open = |party: u16| {
        let key = Key::create(Path::new(&dir.join(format!("key{party}"))), &mut SystemRng).unwrap();
        Store::open_or_create(&dir.join(format!("store{party}")), &key, &mut SystemRng).unwrap()
    };
    let (a, b) = crate::memory::pair();
    let ((alive, left), (dead, other)) = std::thread::scope(|scope| {
        let dead = scope.spawn(|| fill(&open(1), b, 1));
        (fill(&open(0), a, 0), dead.join().unwrap())
    });
    assert!(dead.is_err() && matches!(alive, Err(Error { kind: Kind::Closed, .. })), "{alive:?}");
    // Party 0 has the second lot whole, which party 1 has not: it is found out before a run.
    assert!(other.len() == 1 && left[0] == other[0] && other[0].1 == 0 && other[0].2 == 2, "{left:?} {other:?}");
    std::fs::remove_dir_all(&dir).unwrap();
}
