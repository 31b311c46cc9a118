//! What leaves the sender only when it has heard something: challenges, and messages.

use comity_testing::assert_waits;

use super::*;

/// Bytes of the corrections of a chunk of `n` OTs.
fn corrections(n: usize) -> usize {
    16 * ROWS * (n.div_ceil(128) + 1)
}

/// Else a receiver would add errors whose hash is zero to the rows that are left: they pass whatever the
/// sender's secret is, and its blocks show that.
#[test]
fn a_challenge_waits_for_all_corrections_of_its_chunk() {
    const N: usize = Oos16::CHUNK + 5000;
    assert_waits(
        |ch| sender::<Oos16>(&SESSION, Backend::detect()).keys(ch, N).map(drop),
        |ch| {
            let mut out = vec![Block::ZERO; N];
            receiver::<Oos16>(&SESSION, Backend::detect()).receive(ch, &choices::<Oos16>(N, 1), &mut out)
        },
        &[
            ("the first challenge", corrections(Oos16::CHUNK), 0),
            ("the second challenge", corrections(Oos16::CHUNK) + Answer::BYTES + corrections(5000), Challenge::BYTES),
        ],
    );
}

#[test]
fn messages_wait_for_the_answer() {
    assert_waits(
        |ch| send(&mut sender::<Oos16>(&SESSION, Backend::detect()), ch, 4, 5, &[7; 4 * 5 * 200]),
        |ch| {
            let mut receiver = receiver::<Oos16>(&SESSION, Backend::detect());
            receive(&mut receiver, ch, 4, 5, &[3; 200], &mut [0; 5 * 200])
        },
        &[("messages", corrections(200) + Answer::BYTES, Challenge::BYTES)],
    );
}
