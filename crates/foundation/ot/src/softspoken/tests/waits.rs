//! What leaves the sender only when it has heard something: challenges, and messages.

use comity_testing::assert_waits;

use super::*;
use crate::flavour;
use crate::hashed::{HashedReceiver, HashedSender};
use crate::softspoken::Shape;

/// Bytes of the corrections of a chunk of `n` OTs.
fn corrections(k: usize, n: usize, random: bool) -> usize {
    (128usize.div_ceil(k) - usize::from(random)) * 16 * (n.div_ceil(128) + 1)
}

fn trees(k: usize) -> usize {
    Trees::len::<Malicious>(Shape::new(k).unwrap())
}

/// Else a receiver would add errors whose hash is zero to the corrections that are left: they pass whatever
/// delta is, and what is made of the OTs shows delta bit by bit.
#[test]
fn a_challenge_waits_for_all_corrections_of_its_chunk() {
    const CHUNK: usize = <Malicious as Checking>::CHUNK;
    // Two chunks of four pieces each, and one of two.
    let sizes = [CHUNK, CHUNK, 20_000];
    let n = sizes.iter().sum();
    for (k, random) in [(1, true), (3, false), (8, true)] {
        let [first, second, third] = sizes.map(|n| corrections(k, n, random));
        let second = trees(k) + first + second;
        assert_waits(
            |ch| {
                let mut sender = sender::<Malicious>(ch, k, Backend::detect(), DELTA)?;
                let mut q = vec![Block::ZERO; n];
                if random { sender.extend_random(ch, &mut q) } else { sender.extend(ch, &mut q) }
            },
            |ch| {
                let mut receiver = receiver::<Malicious>(ch, k, Backend::detect());
                let mut t = vec![Block::ZERO; n];
                match random {
                    true => receiver.extend_random(ch, &mut t).map(drop),
                    false => receiver.extend(ch, &bits(n, 1), &mut t),
                }
            },
            &[
                ("the first challenge", trees(k) + first, 0),
                ("the second challenge", second, Challenge::BYTES),
                // The answer for the first chunk comes between.
                ("the third challenge", second + Answer::BYTES + third, 2 * Challenge::BYTES),
            ],
        );
    }
}

/// Messages under OTs that are not checked yet show delta to a receiver that lied in the corrections.
#[test]
fn messages_wait_for_the_answer() {
    const K: usize = 4;
    let messages = [vec![1; 300], vec![2; 300]];
    assert_waits(
        |ch| {
            let mut sender = HashedSender::new(sender::<Malicious>(ch, K, Backend::detect(), DELTA)?);
            flavour::send(&mut sender, ch, 8, messages.each_ref().map(Vec::as_slice))
        },
        |ch| {
            let mut receiver = HashedReceiver::new(receiver::<Malicious>(ch, K, Backend::detect()));
            flavour::receive(&mut receiver, ch, 8, &bits(300, 1), &mut [0; 300])
        },
        &[("messages", trees(K) + corrections(K, 300, false) + Answer::BYTES, Challenge::BYTES)],
    );
}
