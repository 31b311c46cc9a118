//! Ledgers of every pair: what one shows is what the other must see.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Block, PartyId, Result};
use comity_share::Ledger;
use comity_share::checks::WRONG_MAC;
use comity_testing::Net;

use crate::{SESSION, against, named, some_of};

/// The MACs on what a party shows to a peer.
fn macs(from: PartyId, to: PartyId) -> Vec<Block> {
    (0..3).map(|i| Block::from_u128(u128::from(from.0) << 16 | u128::from(to.0) << 8 | i)).collect()
}

/// A ledger for each peer, in two parts, of which the second has been settled already.
fn ledgers(mesh: &Mesh<'_>) -> PerPeer<Ledger> {
    let me = mesh.me();
    PerPeer::new(me, mesh.parties(), |peer| {
        let mut ledger = Ledger::new(SESSION, me, peer);
        ledger.show(&macs(me, peer));
        ledger.see(&macs(peer, me));
        ledger
    })
}

/// Settles, and once more with nothing new.
fn honest(mesh: &mut Mesh<'_>) -> Result<()> {
    let ledgers = ledgers(mesh);
    Ledger::settle_all(mesh, &ledgers)?;
    Ledger::settle_all(mesh, &ledgers)
}

/// What a cheat sends in place of its digest, once it has heard the peer's: in each round, to each peer.
type Lie = Box<dyn Fn(usize, PartyId, &PerPeer<[u8; 32]>, &PerPeer<Ledger>) -> [u8; 32] + Sync>;

fn lies(victim: PartyId) -> Vec<(&'static str, usize, Lie)> {
    let shown = |change: fn(&mut Vec<Block>)| {
        move |me: PartyId, to: PartyId| {
            let mut ledger = Ledger::new(SESSION, me, to);
            let mut macs = macs(me, to);
            change(&mut macs);
            ledger.show(&macs);
            ledger.digest()
        }
    };
    let lie = move |change: fn(&mut Vec<Block>)| -> Lie {
        Box::new(
            move |_, peer, heard, own| {
                if peer == victim { shown(change)(heard.me(), peer) } else { own[peer].digest() }
            },
        )
    };
    vec![
        ("a wrong bit", 0, lie(|macs| macs[1] ^= Block::from_u128(1 << 90))),
        ("in another order", 0, lie(|macs| macs.swap(0, 1))),
        ("one less", 0, lie(|macs| macs.truncate(2))),
        // Both in a sum would cancel.
        ("two wrong bits", 0, lie(|macs| macs[..2].iter_mut().for_each(|mac| *mac ^= Block::from_u128(8)))),
        (
            "the peer's digest",
            0,
            Box::new(move |_, peer, heard, own| if peer == victim { heard[peer] } else { own[peer].digest() }),
        ),
        (
            "later",
            1,
            Box::new(move |round, peer, _, own| {
                own[peer].digest().map(|byte| byte ^ u8::from(round == 1 && peer == victim))
            }),
        ),
    ]
}

fn settles<const N: usize>() {
    assert!(Net::<N>::run(honest).iter().all(Result::is_ok));
    for cheat in some_of(N) {
        let victim = PartyId(u16::from(cheat.0 == 0));
        let mut all = lies(victim);
        // The digest meant for another peer: of bits with MACs under that one's key.
        if let Some(other) = (0..N as u16).map(PartyId).find(|&party| party != cheat && party != victim) {
            all.push((
                "another's digest",
                0,
                Box::new(move |_, peer, _, own| own[if peer == victim { other } else { peer }].digest()),
            ));
        }
        for (what, round, lie) in &all {
            let ends = against::<N, _>(
                cheat,
                |mesh| {
                    let own = ledgers(mesh);
                    for now in 0..=*round {
                        let heard = PerPeer::new(cheat, N as u16, |peer| {
                            let mut digest = [0; 32];
                            mesh.link(peer).recv(&mut digest).unwrap();
                            digest
                        });
                        for peer in mesh.peers() {
                            let ch = mesh.link(peer);
                            ch.send(&lie(now, peer, &heard, &own)).and_then(|()| ch.flush()).unwrap();
                        }
                    }
                },
                |mesh| if *round == 0 { Ledger::settle_all(mesh, &ledgers(mesh)) } else { honest(mesh) },
            );
            for (party, ended) in &ends {
                let expected = (*party == victim).then_some((WRONG_MAC, Some(cheat)));
                assert_eq!(named(ended), expected, "{what}: cheat {cheat} of {N}, at party {party}");
                assert_eq!(ended.is_ok(), *party != victim, "{what}: cheat {cheat} of {N}, at party {party}");
            }
        }
    }
}

#[test]
fn who_shows_a_wrong_bit_is_named_by_whom_it_lied_to() {
    settles::<2>();
    settles::<3>();
    settles::<5>();
}

#[test]
fn two_settle_over_their_link_alone() {
    let right = Net::<2>::run(|mesh| {
        let ledgers = ledgers(mesh);
        let (peer, ch) = mesh.pair().unwrap();
        let mut ledger = Ledger::new(SESSION, ledgers.me(), peer);
        ledger.show(&macs(ledgers.me(), peer));
        ledger.see(&macs(if ledgers.me().0 == 0 { peer } else { PartyId(7) }, ledgers.me()));
        ledger.settle(ch)
    });
    assert!(right[0].is_ok());
    assert_eq!(named(&right[1]), Some((WRONG_MAC, Some(PartyId(0)))));
}
