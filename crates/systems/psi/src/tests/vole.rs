//! VOLE-PSI: what is fixed when, and those who do not do as it says.

use comity_channel::{Change, Direction, Recorded, Tamper, Tampering};
use comity_okvs::{Okvs, Sparse};
use comity_ot::SemiHonest;
use comity_ot::base::Simplest;
use comity_testing::assert_waits;
use comity_vole::{Product, Received};
use zeroize::Zeroizing;

use crate::checks::MASK_OPENING;
use crate::digest::DigestKey;
use crate::sizes::Sizes;
use crate::vole::{Scaled, outputs, receive_over, scale, send_over, vector};

use super::*;

/// Bytes of a commitment, and of what is opened with it: a block and its salt.
const COMMITMENT: usize = 32;
const OPENED: usize = 16 + 32;

/// Bytes of the coin: the first one's commitment, the other one's seed, the opened one.
const COIN: [usize; 3] = [32, 32, 64];

fn terms() -> Terms {
    Terms::new(Method::Vole, Adversary::Malicious)
}

fn sizes(sender: usize, receiver: usize) -> Sizes {
    Sizes { sender, receiver, rho: 40 }
}

/// A vector of the receiver that is random, and a product with zero.
fn nothing(columns: usize) -> Received {
    let mut a = vec![Block::ZERO; columns];
    Prg::new(Backend::detect(), Block::from_u128(1)).fill_blocks(&mut a);
    Received { a: a.into(), c: Product::new(vec![Block::ZERO; columns].into()) }
}

/// The sender's side of that: nothing at all.
fn zero(columns: usize) -> Scaled {
    Scaled { delta: Zeroizing::new(Block::ZERO), b: vec![Block::ZERO; columns].into() }
}

/// A sender with a scalar of zero, and zero added, reads the same for all items. Its masks are still each for an item.
#[test]
fn a_sender_without_a_scalar_matches_its_own_items_alone() {
    let (sender, receiver) = (items(0..50), items(20..320));
    let (sent, got) = Pair::run(
        |ch| {
            let set = Set { items: &sender, ..Set::default() };
            party(0, 1, ch, |me| send_over(me, (&terms(), &set), sizes(50, 300), |_, n| Ok(zero(n))))
        },
        |ch| {
            let set = Set { items: &receiver, ..Set::default() };
            party(1, 1, ch, |me| receive_over(me, (&terms(), &set), sizes(50, 300), |_, n| Ok(nothing(n))))
        },
    );
    assert!(sent.is_ok());
    assert_eq!(got.unwrap().matched, (0..30).collect::<Vec<_>>());
}

/// The sender's side, and the receiver's, with a byte each way in the place of the VOLE.
fn sending(ch: &mut dyn Channel) -> Result<()> {
    let vole = |me: &mut Party<'_, '_>, n| {
        let ch = me.pair()?.0;
        ch.exchange(&[1], &mut [0])?;
        Ok(zero(n))
    };
    party(0, 1, ch, |me| send_over(me, (&terms(), &Set::default()), sizes(0, 0), vole)).map(drop)
}

fn receiving(ch: &mut dyn Channel) -> Result<()> {
    let vole = |me: &mut Party<'_, '_>, n| {
        let ch = me.pair()?.0;
        ch.exchange(&[1], &mut [0])?;
        Ok(nothing(n))
    };
    party(1, 1, ch, |me| receive_over(me, (&terms(), &Set::default()), sizes(0, 0), vole)).map(drop)
}

/// Keys are tossed when the VOLE is done; the sender opens its part when it has the vector and the other part.
#[test]
fn nothing_is_said_too_early() {
    let vector = 16 * Sparse::columns(0) + 16;
    assert_waits(
        sending,
        receiving,
        &[
            ("the coin's commitment", 1, COMMITMENT + 1),
            ("the coin's opening", 1 + COIN[1], COMMITMENT + 1 + COIN[0]),
            ("the part of the masks", 1 + COIN[1] + vector, COMMITMENT + 1 + COIN[0] + COIN[2]),
        ],
    );
    assert_waits(
        receiving,
        sending,
        &[
            ("the VOLE", COMMITMENT, 0),
            ("the coin's other seed", COMMITMENT + 1 + COIN[0], 1),
            ("the vector", COMMITMENT + 1 + COIN[0] + COIN[2], 1 + COIN[1]),
        ],
    );
}

/// Another part than was committed to, or another salt, is the sender's misdeed.
#[test]
fn another_part_of_the_masks_is_seen() {
    let opened = COMMITMENT + 1 + COIN[0] + COIN[2];
    for at in [0, COMMITMENT - 1, opened, opened + 15, opened + OPENED - 1] {
        let change = Tamper { direction: Direction::Outgoing, at, change: Change::Flip { bit: 5 } };
        let (_, got) = Pair::run(|ch| sending(&mut Tampering::new(ch, &change)), |ch| receiving(ch));
        let error = got.unwrap_err();
        assert_eq!(error.check(), Some(MASK_OPENING), "byte {at}");
        assert_eq!(error.party, Some(PartyId(0)));
    }
}

/// Masks are under the parts of both: a receiver whose part comes to the sender as another one finds nothing.
#[test]
fn masks_are_under_the_parts_of_both() {
    let (sender, receiver) = (items(0..50), items(0..300));
    let part = COIN[1] + 16 * Sparse::columns(300);
    let found = |at: usize| {
        let change = Tamper { direction: Direction::Outgoing, at, change: Change::Flip { bit: 0 } };
        let (_, got) = Pair::run(
            |ch| {
                let set = Set { items: &sender, ..Set::default() };
                party(0, 1, ch, |me| send_over(me, (&terms(), &set), sizes(50, 300), |_, n| Ok(zero(n))))
            },
            |ch| {
                let set = Set { items: &receiver, ..Set::default() };
                let mut ch = Tampering::new(ch, &change);
                party(1, 1, &mut ch, |me| receive_over(me, (&terms(), &set), sizes(50, 300), |_, n| Ok(nothing(n))))
            },
        );
        got.unwrap().matched.len()
    };
    // What the receiver sends before it is of no weight here, since the scalar is zero.
    assert_eq!([found(part - 1), found(part), found(part + 15)], [50, 0, 0]);
}

/// Everything that is to be unknown to the other side before is new in each run: delta, both parts of the
/// masks with the salt, and the columns that no key determines. (What hides them is the same here.)
#[test]
fn each_run_draws_its_own() {
    let run = |session| {
        let vole = |me: &mut Party<'_, '_>, n| {
            me.pair()?.0.exchange(&[1], &mut [0])?;
            Ok(n)
        };
        let sent = |recorded: Recorded<&mut comity_channel::MemoryChannel>| recorded.recorder().recording().sent;
        let (sender, receiver) = Pair::run(
            |ch| {
                let (mut ch, set) = (Recorded::new(ch, 1 << 20), Set::default());
                let side = |me: &mut Party<'_, '_>| {
                    send_over(me, (&terms(), &set), sizes(0, 0), |me, n| vole(me, n).map(zero))
                };
                party(0, session, &mut ch, side).unwrap();
                sent(ch)
            },
            |ch| {
                let (mut ch, set) = (Recorded::new(ch, 1 << 20), Set::default());
                let side = |me: &mut Party<'_, '_>| {
                    receive_over(me, (&terms(), &set), sizes(0, 0), |me, n| vole(me, n).map(nothing))
                };
                party(1, session, &mut ch, side).unwrap();
                sent(ch)
            },
        );
        let opened = COMMITMENT + 1 + COIN[0] + COIN[2];
        let (vector, part) = receiver[1 + COIN[1]..].split_at(16 * Sparse::columns(0));
        [&sender[..COMMITMENT], &sender[opened..][..16], &sender[opened + 16..][..32], vector, part].map(<[u8]>::to_vec)
    };
    for (one, other) in run(1).iter().zip(&run(2)) {
        assert!(one != other && one.iter().any(|&byte| byte != 0));
    }
    let delta = |session| {
        let (scaled, _) = Pair::run(
            |ch| party(0, session, ch, |me| scale::<SemiHonest, Simplest>(me, 1)).unwrap(),
            |ch| party(1, session, ch, |me| vector::<SemiHonest, Simplest>(me, 1)).unwrap(),
        );
        *scaled.delta
    };
    assert_ne!(delta(1), delta(2));
}

/// A mask is of the value, of `w`, and of the item.
#[test]
fn masks_depend_on_all_that_they_are_made_of() {
    let output = |w: u128, item: u128, value: u128| {
        let mut values = [Block::from_u128(value)];
        outputs(&DigestKey::of_base([1; 32]), Block::from_u128(w), &[Block::from_u128(item)], &mut values);
        values[0]
    };
    let all = [output(1, 2, 3), output(9, 2, 3), output(1, 9, 3), output(1, 2, 9)];
    assert!((1..4).all(|i| all[i] != all[0]));
}

/// Items that do not fit, since there are far more of them than was told, are told to their owner.
#[test]
fn who_does_not_fit_is_counted() {
    let receiver = items(0..3000);
    let (sent, got) = Pair::run(
        |ch| party(0, 1, ch, |me| send_over(me, (&terms(), &Set::default()), sizes(0, 300), |_, n| Ok(zero(n)))),
        |ch| {
            let set = Set { items: &receiver, ..Set::default() };
            party(1, 1, ch, |me| receive_over(me, (&terms(), &set), sizes(0, 300), |_, n| Ok(nothing(n))))
        },
    );
    sent.unwrap();
    assert!((3000 - Sparse::columns(300)..3000).contains(&got.unwrap().left_out));
}
