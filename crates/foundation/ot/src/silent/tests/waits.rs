//! What leaves only when something was heard: the receiver's challenge and choice bits, behind its nonce, and
//! the sender's nonce.

use comity_testing::assert_waits;

use super::*;
use crate::softspoken;
use crate::softspoken::tests::Ideal;

/// Trees that travel in three groups.
const GROUPS: Parameters = Parameters { trees: 130, depth: 4, dimension: 128 };
/// Bytes of an iteration's trees.
const TREES: usize = 16 * (1 + 130 * 3);

/// Else a sender would choose the trees that are left so that false ones pass at the point, wherever paths
/// end; and bits of false trees would not hide the choice bits.
#[test]
fn the_challenge_waits_for_all_trees_and_choice_bits_for_the_answer() {
    let n = GROUPS.outputs() - GROUPS.reserved() + 10;
    let answered = TREES + Answer::BYTES;
    assert_waits(
        |ch| {
            let mut receiver = receiver::<Malicious>(ch, GROUPS, Backend::detect(), 1);
            receiver.extend(ch, &bits(n, 2), &mut vec![Block::ZERO; n])
        },
        |ch| sender::<Malicious>(ch, GROUPS, Backend::detect(), 3).extend(ch, &mut vec![Block::ZERO; n]),
        &[
            ("the first challenge", TREES, Block::BYTES),
            ("the second challenge", answered + TREES, Block::BYTES + Challenge::BYTES),
            ("choice bits", 2 * answered, Block::BYTES + 2 * Challenge::BYTES),
        ],
    );
}

/// The keys of the trees follow from the nonce: a party that knows it before its correlations are fixed has a
/// say in what is hashed.
#[test]
fn the_nonce_waits_for_the_base() {
    const K: usize = 4;
    let shape = softspoken::Shape::new(K).unwrap();
    let corrections = 31 * 16 * (GROUPS.reserved().div_ceil(128) + 1);
    let base = softspoken::Trees::len::<Malicious>(shape) + corrections + softspoken::Answer::BYTES;
    let backend = Backend::detect();
    assert_waits(
        |ch| {
            let base = softspoken::Sender::<Malicious>::setup::<Ideal<Malicious>>(
                ch,
                &SESSION,
                backend,
                K,
                DELTA,
                &mut rng(1),
            )?;
            let mut sender = Sender::<Malicious>::with_parameters(GROUPS, ch, &SESSION, base, &mut rng(2))?;
            sender.extend_random(ch, &mut [Block::ZERO; 10])
        },
        |ch| {
            let base =
                softspoken::Receiver::<Malicious>::setup::<Ideal<Malicious>>(ch, &SESSION, backend, K, &mut rng(3))?;
            let mut receiver = Receiver::<Malicious>::with_parameters(GROUPS, ch, &SESSION, base, &mut rng(4))?;
            receiver.extend_random(ch, &mut [Block::ZERO; 10]).map(drop)
        },
        &[("the nonce", base + Block::BYTES, softspoken::Challenge::BYTES)],
    );
}
