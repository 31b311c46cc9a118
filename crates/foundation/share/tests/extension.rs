//! Authenticated bits between any two of several parties, under one global key each.

use comity_channel::Mesh;
use comity_core::{Backend, PartyId};
use comity_share::{AuthBits, Extension, GlobalKey, Share};
use comity_testing::Net;

use crate::{SESSION, rng};

/// Parties 1 and 2 of three: their ids are not what says whose bits are whose.
#[test]
fn shares_and_bits_carry_macs_under_both_keys() {
    let ends = Net::<3>::run(|mesh: &mut Mesh<'_>| {
        let me = mesh.me();
        if me.0 == 0 {
            return None;
        }
        let peer = PartyId(3 - me.0);
        let (mut rng, ch) = (rng(me.0), mesh.link(peer));
        let key = GlobalKey::random(&mut rng);
        let mut source = Extension::setup(ch, &SESSION, Backend::detect(), [me, peer], key, &mut rng).unwrap();
        let mut out = vec![Share::default(); 3 * 300];
        source.shares(ch, &mut out[..300]).unwrap();
        source.bits(ch, PartyId(1), &mut out[300..600]).unwrap();
        source.bits(ch, PartyId(2), &mut out[600..]).unwrap();
        Some((source.key().clone(), out))
    });
    let [None, Some(a), Some(b)] = ends else { panic!("two of three") };
    let mut ones = [0; 2];
    for (j, (x, y)) in a.1.iter().zip(&b.1).enumerate() {
        assert!(x.mac() == y.expected(x.bit(), &b.0) && y.mac() == x.expected(y.bit(), &a.0));
        assert!(!(x.bit() && j >= 600 || y.bit() && (300..600).contains(&j)));
        ones[0] += u32::from(x.bit());
        ones[1] += u32::from(y.bit());
    }
    assert!(ones.iter().all(|&n| (200..400).contains(&n)), "{ones:?}");
}
