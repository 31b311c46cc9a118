//! Which lot is chosen, what becomes of those that one side alone has, and what stays when filling breaks off.

use std::path::Path;

use comity_channel::{Channel, checks, memory_mesh};
use comity_circuit::Observer;
use comity_core::{Bits, Kind, Params};
use comity_protocol::{Here, Lot, Press};
use comity_store::{LotInfo, Store, StoreKey};

use super::choose::{Lack, Mark, Missing, choose, lost, tell};
use super::*;

fn held(n: u8, next: u32, batches: u32) -> LotInfo {
    let meta = Meta {
        id: id(n),
        material: "shares".into(),
        options: "dealer=fast".into(),
        program: None,
        name: "any program".into(),
        units: Vec::new(),
        party: PartyId(0),
        peers: vec![(PartyId(1), None)],
        params: Params::default(),
    };
    LotInfo { meta, next, batches }
}

fn id(n: u8) -> SessionId {
    SessionId::new([n; 32])
}

/// The offers of the others to party `me`.
fn others(me: u16, marks: &[&[Mark]]) -> PerPeer<Vec<Mark>> {
    PerPeer::from_vec(PartyId(me), marks.iter().map(|marks| marks.to_vec()).collect()).unwrap()
}

#[test]
fn all_go_on_at_the_largest_number_of_the_oldest_lot_that_has_enough() {
    let ours = [held(1, 0, 4), held(2, 3, 9), held(3, 0, 9)];
    let theirs: &[Mark] = &[(id(3), 0), (id(2), 5), (id(1), 2), (id(9), 0)];
    let chosen = |me, need| choose(&ours, &others(me, &[theirs]), need).ok();
    assert_eq!(chosen(0, 2), Some((id(1), 2)));
    assert_eq!(chosen(0, 3), Some((id(2), 5)));
    assert_eq!(chosen(1, 3), Some((id(3), 0)));
    let missing = |ours: &[LotInfo], marks: &[&[Mark]], need| choose(ours, &others(0, marks), need).err();
    assert!(matches!(missing(&ours, &[theirs], 10), Some(Missing::TooSmall { need: 10, most: 9 })));
    // A peer that lies about its number burns what it names, and no more.
    assert!(missing(&ours[..1], &[&[(id(1), u32::MAX)]], 1).is_some());
    assert!(matches!(missing(&[], &[theirs], 1), Some(Missing::Here)));
    assert!(matches!(missing(&ours, &[&[]], 1), Some(Missing::At(PartyId(1)))));
    assert!(matches!(missing(&[], &[&[]], 1), Some(Missing::Everywhere)));
    assert!(matches!(missing(&ours, &[&[(id(7), 0)]], 1), Some(Missing::Common)));
}

#[test]
fn of_three_all_have_it_and_party_0_has_the_order() {
    let ours = [held(1, 1, 9), held(2, 3, 9), held(3, 0, 9)];
    let (zero, other): (&[Mark], &[Mark]) = (&[(id(3), 2), (id(2), 4), (id(1), 0)], &[(id(1), 0), (id(2), 7)]);
    // Party 2 lacks lot 3, which party 0 names first.
    assert_eq!(choose(&ours, &others(1, &[zero, other]), 2).ok(), Some((id(2), 7)));
    assert_eq!(choose(&ours, &others(1, &[zero, other]), 3).ok(), Some((id(1), 1)));
    assert_eq!(choose(&ours, &others(0, &[other, zero]), 2).ok(), Some((id(1), 1)));
    assert!(matches!(choose(&ours, &others(1, &[zero, &[]]), 1).err(), Some(Missing::At(PartyId(2)))));
    assert!(matches!(choose(&[], &others(1, &[&[], other]), 1).err(), Some(Missing::Here)));
    // Nobody can use what party 2 alone lacks; but one that has nothing in common with us may have another store.
    assert_eq!(lost(&ours, &others(1, &[zero, other])), [id(3)]);
    assert!(lost(&ours, &others(1, &[zero, &[(id(9), 0)]])).is_empty());
    assert_eq!(lost(&ours, &others(1, &[&zero[..2], other])), [id(1), id(3)]);
}

/// Whose doing it is that there is no lot: a service ends for a lack of its own, and for no peer's.
#[test]
fn a_lack_is_the_partys_that_has_less_than_enough() {
    let whose = |ours: &[LotInfo], theirs: &[&[Mark]], need| {
        let theirs = others(0, theirs);
        let why = choose(ours, &theirs, need).unwrap_err();
        Lack::new(PartyId(0), why, ours, &theirs, need).whose.0
    };
    let ours = [held(1, 0, 4), held(2, 3, 9)];
    let all: &[Mark] = &[(id(1), 0), (id(2), 3)];
    assert_eq!(whose(&[], &[&[]], 1), 0);
    assert_eq!(whose(&[], &[all], 1), 0);
    assert_eq!(whose(&ours, &[&[]], 1), 1);
    assert_eq!(whose(&ours, &[all, &[]], 1), 2);
    assert_eq!(whose(&ours, &[&[(id(7), 0)]], 1), 1);
    // More than anybody has; and what is left here, while some of it was burned there.
    assert_eq!(whose(&ours, &[all], 7), 0);
    assert_eq!(whose(&ours, &[&[(id(2), 5)]], 6), 1);
    // Each has something, and not the same.
    assert_eq!(whose(&ours, &[&[(id(1), 0)], &[(id(2), 3)]], 2), 2);
}

#[test]
fn what_the_peer_lacks_is_lost_if_it_has_anything_of_it() {
    let ours = [held(1, 0, 4), held(2, 3, 9), held(3, 0, 9)];
    let lost = |theirs: &[Mark]| lost(&ours, &others(0, &[theirs]));
    assert_eq!(lost(&[(id(9), 0), (id(2), 9)]), [id(1), id(3)]);
    assert!(lost(&[(id(1), 0), (id(3), 0), (id(2), 0)]).is_empty());
    // Another store, or one that was made anew.
    assert!(lost(&[(id(9), 0)]).is_empty() && lost(&[]).is_empty());
    // A list that was cut.
    let cut: Vec<_> = (0..MOST as u32).map(|n| (SessionId::derive("other", &[&n.to_le_bytes()]), 0)).collect();
    assert!(lost(&[&cut[1..], &[(id(1), 0)]].concat()).is_empty());
}

/// The session of these tests at party `me` of `parties`.
fn here(me: PartyId, parties: u16) -> Here {
    let session = SessionId::derive("test of lots", &[]);
    Here::new(me, parties, session)
}

/// Party 2 of three says one thing of its lots to party 0 and another one to party 1, whose own lots are
/// alike: what the two then hold, and what party 2 heard.
fn told_differently(counts: [u32; 2], marks: [Vec<u8>; 2]) -> [Result<PerPeer<Vec<Mark>>>; 2] {
    let mut meshes: Vec<Mesh<'_>> = memory_mesh(3, None).into_iter().map(Mesh::new).collect();
    let mut liar = meshes.pop().unwrap();
    std::thread::scope(|scope| {
        let honest: Vec<_> = meshes
            .into_iter()
            .map(|mut mesh| {
                scope.spawn(move || {
                    let here = here(mesh.me(), 3);
                    tell(&mut mesh, &here, "shares", &[held(1, 0, 9)])
                })
            })
            .collect();
        let say = |two: [Vec<u8>; 2]| PerPeer::from_vec(PartyId(2), two.into()).unwrap();
        let hear = |bytes| say([vec![0; bytes], vec![0; bytes]]);
        let _ = liar.exchange(&say(counts.map(|count| count.to_le_bytes().to_vec())), &mut hear(4));
        let _ = liar.exchange(&say(marks), &mut hear(SessionId::BYTES + 4));
        // It tells each that it has heard what that one has.
        let mut digests = hear(32);
        let _ = [PartyId(0), PartyId(1)].map(|peer| liar.link(peer).recv(&mut digests[peer]));
        let _ = [PartyId(0), PartyId(1)].map(|peer| liar.link(peer).send(&digests[peer]));
        let _ = liar.flush();
        honest.into_iter().map(|party| party.join().unwrap()).collect::<Vec<_>>().try_into().unwrap()
    })
}

#[test]
fn whoever_tells_two_parties_different_lots_makes_neither_blame_the_other() {
    let mark = |next: u32| [&id(1).to_bytes()[..], &next.to_le_bytes()].concat();
    for told in told_differently([1, 1], [mark(3), mark(3)]) {
        assert_eq!(told.unwrap()[PartyId(2)], [(id(1), 3)], "alike is no cheat");
    }
    let cheats = [
        ([1, 1], [mark(0), mark(4)]),
        ([1, 1], [mark(0), [&id(2).to_bytes()[..], &[0; 4]].concat()]),
        ([0, 1], [Vec::new(), mark(0)]),
        ([2, 1], [[mark(0), mark(0)].concat(), mark(0)]),
    ];
    for (counts, marks) in cheats {
        for told in told_differently(counts, marks) {
            let error = told.map(drop).unwrap_err();
            let nobody =
                matches!(error.kind, Kind::Misbehaved(check) if check == checks::EQUIVOCATION) && error.party.is_none();
            assert!(nobody, "{error}");
        }
    }
}

struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// Fills two lots of two batches, of which party 1 breaks off in the second; returns what is left in its store.
fn fill(store: &Store, ch: impl Channel, me: u16) -> (Result<()>, Vec<(SessionId, u32, u32)>) {
    let meta = held(0, 0, 0).meta;
    let mut filling = Filling::new(store, meta);
    let here = here(PartyId(me), 2);
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
    let lots = store.lots().unwrap();
    (done, lots.iter().map(|info| (info.meta.id, info.next, info.batches)).collect())
}

#[test]
fn what_breaks_off_costs_the_lot_in_the_making() {
    let dir = std::env::temp_dir().join(format!("comity-lots-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let open = |party: u16| {
        let key = StoreKey::create(Path::new(&dir.join(format!("key{party}"))), &mut SystemRng).unwrap();
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

/// What the parties want to make is compared by the hello, which has little room.
#[test]
fn what_is_made_fits_a_hello() {
    let each = |amount: u64| -> Vec<String> {
        (0..7).map(|of| format!("prepare {} products of up to 64 bits by 1", amount + of)).collect()
    };
    assert_eq!(phase(&each(4096)[..1]), "prepare 4096 products of up to 64 bits by 1");
    let [one, other] = [4096, 4097].map(|amount| phase(&each(amount)));
    assert!(one.starts_with("prepare 7 materials, ") && one.len() <= 64 && one != other, "{one}, {other}");
}
