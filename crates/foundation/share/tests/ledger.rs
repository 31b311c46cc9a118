//! Ledgers of two: what one shows is what the other must see.

use comity_channel::Mesh;
use comity_core::{Block, PartyId, Result};
use comity_share::checks::WRONG_MAC;
use comity_share::{Ledger, MacTally};
use comity_testing::Net;

use crate::{SESSION, against, named};

/// The MACs on what a party shows.
fn macs(from: PartyId) -> Vec<Block> {
    (0..3).map(|i| Block::from_u128(u128::from(from.0) << 16 | i)).collect()
}

/// The ledger of party `me`, that shows these MACs.
fn ledger(me: PartyId, shown: &[Block]) -> Ledger {
    let mut ledger = Ledger::new(SESSION, me, me.other());
    ledger.show(shown);
    ledger.see(&macs(me.other()));
    ledger
}

/// Settles, and once more with nothing new.
fn honest(mesh: &mut Mesh<'_>) -> Result<()> {
    let me = mesh.me();
    let mut ledger = ledger(me, &macs(me));
    ledger.settle(mesh.pair()?.1)?;
    ledger.settle(mesh.pair()?.1)
}

/// What a cheat sends in place of its digest, once it has heard the peer's: in each round.
type Lie = Box<dyn Fn(usize, PartyId, [u8; 32]) -> [u8; 32] + Sync>;

fn lies() -> Vec<(&'static str, Lie)> {
    let lie = |change: fn(&mut Vec<Block>)| -> Lie {
        Box::new(move |_, me, _| {
            let mut macs = macs(me);
            change(&mut macs);
            ledger(me, &macs).digest()
        })
    };
    vec![
        ("a wrong bit", lie(|macs| macs[1] ^= Block::from_u128(1 << 90))),
        ("in another order", lie(|macs| macs.swap(0, 1))),
        ("one less", lie(|macs| macs.truncate(2))),
        // Both in a sum would cancel.
        ("two wrong bits", lie(|macs| macs[..2].iter_mut().for_each(|mac| *mac ^= Block::from_u128(8)))),
        ("the peer's digest", Box::new(|_, _, heard| heard)),
        ("later", Box::new(|round, me, _| ledger(me, &macs(me)).digest().map(|byte| byte ^ u8::from(round == 1)))),
    ]
}

#[test]
fn who_shows_a_wrong_bit_is_named() {
    assert!(Net::<2>::run(honest).iter().all(Result::is_ok));
    for cheat in [0, 1].map(PartyId) {
        for (what, lie) in lies() {
            let ends = against::<2, _>(
                cheat,
                |mesh| {
                    let (_, ch) = mesh.pair().unwrap();
                    for round in 0..2 {
                        let mut heard = [0; 32];
                        // The peer has ended if it saw the first one.
                        if ch.recv(&mut heard).is_err() {
                            return;
                        }
                        ch.send(&lie(round, cheat, heard)).and_then(|()| ch.flush()).unwrap();
                    }
                },
                honest,
            );
            assert_eq!(named(&ends[0].1), Some((WRONG_MAC, Some(cheat))), "{what}: cheat {cheat}");
        }
    }
}

#[test]
fn a_tally_tells_a_wrong_mac_from_the_first_to_the_last() {
    // Less than its buffer holds, and more.
    for len in [1, 5000] {
        let tally = |me: PartyId, wrong: Option<usize>| {
            let mut tally = MacTally::new(SESSION, me);
            for at in 0..len {
                let mac = |from: PartyId| Block::from_u128(u128::from(from.0) << 64 | at as u128);
                tally.show(mac(me) ^ Block::from_u128(u128::from(wrong == Some(at)) << 70));
                tally.see(mac(me.other()));
            }
            tally
        };
        let digest = |wrong| tally(PartyId(1), wrong).digest();
        let mut mine = tally(PartyId(0), None);
        mine.verify(&digest(None)).unwrap();
        for wrong in [0, len / 2, len - 1] {
            assert_eq!(
                named(&mine.verify(&digest(Some(wrong)))),
                Some((WRONG_MAC, Some(PartyId(1)))),
                "{wrong} of {len}"
            );
        }
    }
}
