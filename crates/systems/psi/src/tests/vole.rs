//! VOLE-PSI: what is fixed when, and those who do not do as it says.

use comity_channel::{Change, Direction, Tamper, Tampering};
use comity_okvs::{Okvs, Sparse};
use comity_testing::assert_waits;
use comity_vole::{Product, Received};
use zeroize::Zeroizing;

use crate::checks::MASK_OPENING;
use crate::sizes::Sizes;
use crate::vole::{Scaled, receive_over, send_over};

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
