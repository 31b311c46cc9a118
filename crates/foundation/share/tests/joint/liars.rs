//! Lies about keys, shares and coins: by one party, and by all but one.

use std::sync::Arc;

use comity_core::{Block, PartyId};
use comity_ot::checks::INCONSISTENT_CHOICES;
use comity_share::checks;

use super::*;

/// What a liar changes: bits that are neither bit 0 nor bit 1.
const CHANGE: Block = Block::from_u128(0x5a17 << 100 | 0x60);

/// What a liar does, made anew for each run.
type Lies = fn() -> Lie;

fn says(message: &'static str, towards: fn(PartyId) -> bool, change: fn(&mut [u8])) -> Lie {
    lie(move |act| {
        if let JointAct::Says { what, peer, bytes } = act
            && what == message
            && towards(peer)
        {
            change(bytes);
        }
    })
}

/// Lies of one party that are always seen where there are two honest ones, and the check that sees them.
fn lies() -> Vec<(&'static str, &'static Check, Lies)> {
    vec![
        ("another key towards one", checks::DELTAS, || {
            lie(|act| {
                if let JointAct::Key { peer: PartyId(0), delta } = act {
                    *delta ^= CHANGE;
                }
            })
        }),
        ("other shares towards one, and its hash of either to each", checks::EQUIVOCATION, || {
            lie(|act| {
                if let JointAct::Choices { peer: PartyId(0), choices } = act {
                    choices.set(5, !choices.get(5));
                }
            })
        }),
        ("other masks towards one", checks::EQUIVOCATION, || {
            lie(|act| {
                if let JointAct::Choices { peer: PartyId(0), choices } = act {
                    let last = choices.len() - 1;
                    choices.set(last, !choices.get(last));
                }
            })
        }),
        ("another hash of its shares to all", INCONSISTENT_CHOICES, || says("answer", |_| true, |bytes| bytes[3] ^= 1)),
        ("another hash of its shares to one", INCONSISTENT_CHOICES, || {
            says("answer", |peer| peer.0 == 0, |bytes| bytes[3] ^= 1)
        }),
        ("another digest of its rows", INCONSISTENT_CHOICES, || {
            says("answer", |peer| peer.0 == 0, |bytes| bytes[20] ^= 1)
        }),
        ("a correction", INCONSISTENT_CHOICES, || says("corrections", |peer| peer.0 == 0, |bytes| bytes[33] ^= 8)),
        ("other commitments of coins to one", checks::EQUIVOCATION, || {
            says("coin commitments", |peer| peer.0 == 0, |bytes| bytes[7] ^= 1)
        }),
        ("another seed than it committed to", checks::COIN_OPENING, || says("coin", |_| true, |bytes| bytes[0] ^= 1)),
        ("another seed to one", checks::COIN_OPENING, || says("coin", |peer| peer.0 == 0, |bytes| bytes[0] ^= 1)),
        ("masked shares, to all", checks::DELTAS, || {
            lie(|act| {
                if let JointAct::Masked(said) = act {
                    *said ^= CHANGE;
                }
            })
        }),
        ("masked shares, to one", checks::EQUIVOCATION, || {
            says("masked shares", |peer| peer.0 == 0, |bytes| bytes[9] ^= 1)
        }),
        ("other commitments of rows to one", checks::EQUIVOCATION, || {
            says("commitment to rows", |peer| peer.0 == 0, |bytes| bytes[9] ^= 1)
        }),
        ("other rows than it committed to", checks::ROW_OPENING, || {
            says("rows", |peer| peer.0 == 0, |bytes| bytes[17] ^= 1)
        }),
        ("false rows that are committed to", checks::DELTAS, || {
            lie(|act| {
                if let JointAct::Combined(rows) = act {
                    rows[0] ^= CHANGE;
                }
            })
        }),
        ("an echo of something else", checks::EQUIVOCATION, || says("echo", |peer| peer.0 == 0, |bytes| bytes[0] ^= 1)),
    ]
}

fn alone<const N: usize>(cheat: u16) {
    for (what, check, make) in lies() {
        // Whoever hears a false opening ends, and the others do with the next message that they wait for.
        let ends = run::<N, ()>(|me| (me.0 == cheat).then(make), |joint, mesh| joint.plan(mesh, 1));
        assert_eq!(ends.len(), N - 1);
        assert!(ends.iter().all(|(_, ended)| ended.is_err()), "{what}, by party {cheat} of {N}: a party went on");
        ended_by(&ends, check);
    }
}

#[test]
fn one_lie_is_named_and_nobody_goes_on() {
    alone::<3>(1);
    alone::<3>(2);
    alone::<5>(3);
}

/// Where only one is honest it cannot be told anything different from others: what is left are false openings and rows.
#[test]
fn between_two_what_one_can_see_is_named() {
    for (what, check, make) in lies() {
        let ends = run::<2, ()>(|me| (me.0 == 1).then(make), |_, _| Ok(()));
        let harmless = [
            "another key towards one",
            "other shares towards one, and its hash of either to each",
            "other masks towards one",
        ];
        if harmless.contains(&what) {
            // One peer has one of each: it is as if the liar had drawn them.
            continue;
        }
        let seen = ends[0].1.as_ref().err().and_then(|error| error.check());
        assert_eq!(seen, Some(check), "{what}");
    }
}

/// A coalition of all but two, which lie together: each uses another key towards party 0.
#[test]
fn two_keys_of_a_coalition_do_not_cancel() {
    let conduct = |me: PartyId| (me.0 >= 2).then(|| lies()[0].2());
    ended_by(&run::<5, ()>(conduct, |_, _| Ok(())), checks::DELTAS);
}

/// Two keys of one party, whose rows it mends by what it takes for the other's shares: what that party has
/// said. Were this not masked by a share of zero, or said after the commitments, the sums would be zero.
#[test]
fn masked_shares_do_not_help_to_mend_rows() {
    let conduct = |me: PartyId| {
        let mut said = Block::ZERO;
        (me.0 == 2).then(|| {
            lie(move |act| match act {
                JointAct::Key { peer: PartyId(0), delta } => *delta ^= CHANGE,
                JointAct::Hears { what: "masked shares", peer: PartyId(0), bytes } => {
                    Block::bytes_of_mut(std::slice::from_mut(&mut said)).copy_from_slice(bytes);
                }
                JointAct::Combined(rows) => rows[2] ^= comity_core::gf128::mul(Backend::detect(), said, CHANGE),
                _ => {}
            })
        })
    };
    ended_by(&run::<3, ()>(conduct, |_, _| Ok(())), checks::DELTAS);
}

/// The same where the liar knows the shares, as after a guess of 128 bits: it then passes. So the check asks
/// for that guess and no less.
#[test]
fn whoever_knows_the_mask_passes_with_two_keys() {
    let known = Arc::new(Mutex::new(Block::ZERO));
    let conduct = |me: PartyId| {
        let known = known.clone();
        match me.0 {
            0 => {
                let mut first = true;
                Some(lie(move |act| {
                    if let JointAct::Choices { choices, .. } = act
                        && std::mem::take(&mut first)
                    {
                        let bytes = choices.slice(0, 128).to_bytes();
                        Block::bytes_of_mut(std::slice::from_mut(&mut *known.lock().unwrap())).copy_from_slice(&bytes);
                    }
                }))
            }
            2 => Some(lie(move |act| match act {
                JointAct::Key { peer: PartyId(0), delta } => *delta ^= CHANGE,
                JointAct::Combined(rows) => {
                    rows[2] ^= comity_core::gf128::mul(Backend::detect(), *known.lock().unwrap(), CHANGE);
                }
                _ => {}
            })),
            _ => None,
        }
    };
    assert!(run::<3, ()>(conduct, |_, _| Ok(())).iter().all(|(_, ended)| ended.is_ok()));
}

/// Coins steered: a liar commits to what another has committed to, before or at the same time, and opens it
/// as that one does, so that the sum is what is left of the others' seeds. A commitment is its party's and
/// its coin's.
fn coins_are_nobodys_to_steer<const N: usize>(cheats: u16) {
    let conduct = |me: PartyId| {
        let (mut commitments, mut opened) = (Vec::new(), Vec::new());
        (me.0 > 0 && me.0 <= cheats).then(|| {
            lie(move |act| match act {
                JointAct::Hears { what: "coin commitments", peer: PartyId(0), bytes } => commitments = bytes.to_vec(),
                JointAct::Hears { what: "coin", peer: PartyId(0), bytes } => opened = bytes.to_vec(),
                // In the second plan, what party 0 said in the first.
                JointAct::Tells { what: "coin commitments", bytes } if !commitments.is_empty() => {
                    bytes.clone_from(&commitments);
                }
                JointAct::Says { what: "coin", bytes, .. } if !opened.is_empty() => bytes.clone_from(&opened),
                _ => {}
            })
        })
    };
    let ends = run::<N, _>(conduct, |joint, mesh| {
        joint.plan(mesh, 1)?;
        joint.coin(mesh)
    });
    ended_by(&ends, checks::COIN_OPENING);
}

#[test]
fn no_coin_is_steered_by_anothers_seed() {
    coins_are_nobodys_to_steer::<2>(1);
    coins_are_nobodys_to_steer::<3>(1);
    coins_are_nobodys_to_steer::<3>(2);
    coins_are_nobodys_to_steer::<5>(4);
}

/// After an error a party's keys are at their end: nothing more is made under them.
#[test]
fn keys_end_with_a_check_that_does_not_pass() {
    let ends = run::<3, _>(
        |me| {
            (me.0 == 1).then(|| {
                let mut chunks = 0;
                lie(move |act| {
                    if let JointAct::Says { what: "answer", bytes, .. } = act {
                        chunks += 1;
                        // The two of the second chunk.
                        bytes[3] ^= u8::from(chunks > 2);
                    }
                })
            })
        },
        |joint, mesh| {
            let first = joint.bits(mesh, 10);
            assert!(first.is_err() && joint.bits(mesh, 10).is_err() && joint.plan(mesh, 1).is_err());
            assert!(joint.tell(mesh, "anything", &[1]).is_err() && joint.settle(mesh).is_err());
            first.map(drop)
        },
    );
    ended_by(&ends, INCONSISTENT_CHOICES);
}
