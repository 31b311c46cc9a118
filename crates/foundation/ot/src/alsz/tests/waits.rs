//! What leaves the sender only when it has heard something: which pairs are compared, and messages.

use comity_testing::assert_waits;

use super::*;
use crate::alsz::{CHUNK, SPARE};
use crate::flavour;

/// Bytes of a row of a chunk of `n` OTs.
fn row(n: usize) -> usize {
    (n + SPARE).div_ceil(8)
}

/// Bytes of the seed that names the pairs.
const SEED: usize = 16;

/// Bytes of the hashes that answer it.
fn hashes() -> usize {
    4 * 32 * parameters(40).pairs()
}

/// Else a receiver would choose the rows in which it lies to suit the pairs: a few guesses would then do for many.
#[test]
fn the_pairs_wait_for_all_rows_of_their_chunk() {
    const N: usize = CHUNK + 9000;
    let rows = parameters(40).rows();
    for random in [false, true] {
        let sent = rows - usize::from(random);
        assert_waits(
            |ch| {
                let mut out = vec![[Block::ZERO; 2]; N];
                let mut sender = sender(ch, Backend::detect(), 40)?;
                if random { sender.random(ch, &mut out) } else { sender.sender_random(ch, &mut out) }
            },
            |ch| {
                let mut out = vec![Block::ZERO; N];
                let mut receiver = receiver(ch, Backend::detect(), 40)?;
                match random {
                    true => receiver.random(ch, &mut out).map(drop),
                    false => receiver.sender_random(ch, &bits(N, 1), &mut out),
                }
            },
            &[
                ("the first seed", sent * row(CHUNK), 0),
                ("the second seed", sent * (row(CHUNK) + row(9000)) + hashes(), SEED),
            ],
        );
    }
}

#[test]
fn messages_wait_for_the_hashes() {
    let messages = [vec![1; 300], vec![2; 300]];
    assert_waits(
        |ch| flavour::send(&mut sender(ch, Backend::detect(), 40)?, ch, 8, messages.each_ref().map(Vec::as_slice)),
        |ch| flavour::receive(&mut receiver(ch, Backend::detect(), 40)?, ch, 8, &bits(300, 1), &mut [0; 300]),
        &[("messages", parameters(40).rows() * row(300) + hashes(), SEED)],
    );
}
