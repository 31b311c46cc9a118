//! What every channel must do, whatever is behind it.

use std::thread;

use comity_channel::{AHEAD, Channel, Error, Result};
use comity_core::Kind;

/// Checks that two connected channels keep the promises of [`Channel`]: one ordered stream each way however it
/// is cut into calls, receiving flushes, both halves work side by side, an exchange of `large` bytes each way
/// cannot deadlock even if both sides post first, nor can pieces that are posted ahead, forks are streams of
/// their own, and a closed end is reported.
///
/// # Panics
///
/// If a promise is broken.
pub fn check_channels(a: &mut dyn Channel, b: Box<dyn Channel>, large: usize) {
    thread::scope(|scope| {
        let other = scope.spawn(move || other_side(b, large));
        one_side(a, large).expect("the first channel failed");
        other.join().expect("the second side panicked").expect("the second channel failed");
    });
    assert!(
        matches!(a.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })),
        "the peer has closed, and recv must say so"
    );
}

/// Bytes that show where in which stream they belong.
fn pattern(stream: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ stream) as u8).collect()
}

/// Cuts from empty to larger than any buffer.
const CUTS: [usize; 12] = [1, 0, 7, 16, 4096, 1, 70_000, 16_384, 300_000, 3, 131_072, 65_535];

fn send_cut(ch: &mut dyn Channel, stream: u64, cuts: impl Iterator<Item = usize>) -> Result<()> {
    let all = pattern(stream, CUTS.iter().sum());
    let mut rest = &all[..];
    for cut in cuts {
        let (now, later) = rest.split_at(cut);
        ch.send(now)?;
        rest = later;
    }
    assert!(rest.is_empty());
    ch.flush()
}

fn recv_cut(ch: &mut dyn Channel, stream: u64, cuts: impl Iterator<Item = usize>) -> Result<()> {
    let all = pattern(stream, CUTS.iter().sum());
    let mut got = vec![0; all.len()];
    let mut rest = &mut got[..];
    for cut in cuts {
        let (now, later) = rest.split_at_mut(cut);
        ch.recv(now)?;
        rest = later;
    }
    assert!(got == all, "the bytes of stream {stream} arrived changed");
    Ok(())
}

fn one_side(ch: &mut dyn Channel, large: usize) -> Result<()> {
    send_cut(ch, 1, CUTS.into_iter())?;
    recv_cut(ch, 2, CUTS.into_iter())?;
    for i in 0..100 {
        ch.send(&[i])?;
        let mut answer = [0];
        ch.recv(&mut answer)?;
        assert_eq!(answer, [i + 1], "turn {i}");
    }
    both_ways(ch, 3, 4, large)?;
    exchange(ch, 5, 6, large)?;
    exchange(ch, 7, 8, 10)?;
    posts(ch, 11, 12, large)?;
    pieces(ch, 13, 14)?;
    let mut forks = [ch.fork("first")?, ch.fork("second")?, ch.fork("first")?];
    let mut nested = forks[0].fork("first")?;
    for (i, fork) in forks.iter_mut().enumerate() {
        fork.send(&pattern(20 + i as u64, 1000))?;
        fork.flush()?;
    }
    nested.exchange(&pattern(30, 1000), &mut [0; 1000])?;
    for (i, fork) in forks.iter_mut().enumerate() {
        let mut answer = [0; 1];
        fork.recv(&mut answer)?;
        assert_eq!(answer, [i as u8]);
    }
    exchange(ch, 9, 10, 10)
}

fn other_side(mut ch: Box<dyn Channel>, large: usize) -> Result<()> {
    // The same bytes in other pieces.
    recv_cut(&mut ch, 1, CUTS.into_iter().rev())?;
    send_cut(&mut ch, 2, CUTS.into_iter().rev())?;
    for _ in 0..100 {
        let mut byte = [0];
        ch.recv(&mut byte)?;
        ch.send(&[byte[0] + 1])?;
    }
    both_ways(&mut ch, 4, 3, large)?;
    exchange(&mut ch, 6, 5, large)?;
    exchange(&mut ch, 8, 7, 10)?;
    posts(&mut ch, 12, 11, large)?;
    pieces(&mut ch, 14, 13)?;
    let mut forks = [ch.fork("first")?, ch.fork("second")?, ch.fork("first")?];
    let mut nested = forks[0].fork("first")?;
    let mut bytes = [0; 1000];
    nested.exchange(&[0; 1000], &mut bytes)?;
    assert!(bytes[..] == pattern(30, 1000), "a fork of a fork is a stream of its own");
    for (i, fork) in forks.iter_mut().enumerate().rev() {
        fork.recv(&mut bytes)?;
        assert!(bytes[..] == pattern(20 + i as u64, 1000), "fork {i} is a stream of its own");
        fork.send(&[i as u8])?;
        fork.flush()?;
    }
    exchange(&mut ch, 10, 9, 10)
}

fn both_ways(ch: &mut dyn Channel, ours: u64, theirs: u64, large: usize) -> Result<()> {
    let (mut sending, mut receiving) = ch.split();
    thread::scope(|scope| {
        let sender = scope.spawn(move || -> Result<()> {
            for piece in pattern(ours, large).chunks(50_000) {
                sending.send(piece)?;
            }
            sending.flush()
        });
        let mut got = vec![0; large];
        for piece in got.chunks_mut(70_000) {
            receiving.recv(piece)?;
        }
        assert!(got == pattern(theirs, large), "bytes changed while both halves were at work");
        sender.join().expect("the sender panicked")
    })
}

fn posts(ch: &mut dyn Channel, ours: u64, theirs: u64, large: usize) -> Result<()> {
    // Something is buffered before it, and something is sent while it may be under way.
    let (ours, theirs) = (pattern(ours, large + 8), pattern(theirs, large + 8));
    let mut got = vec![0; theirs.len()];
    ch.send(&ours[..3])?;
    ch.post(&ours[3..large])?;
    ch.recv(&mut got[..large])?;
    ch.send(&ours[large..large + 2])?;
    ch.post(&ours[large + 2..large + 4])?;
    ch.recv(&mut got[large..large + 4])?;
    ch.flush()?;
    ch.exchange(&ours[large + 4..], &mut got[large + 4..])?;
    assert!(got == theirs, "bytes changed that were posted");
    Ok(())
}

/// Messages in pieces, short and long ones, of which each side says as many ahead of what it hears as fit.
fn pieces(ch: &mut dyn Channel, ours: u64, theirs: u64) -> Result<()> {
    for len in [1_000, 131_072] {
        let (pieces, ahead) = ((3 << 20) / len, AHEAD / 2 / len);
        let (ours, theirs) = (pattern(ours, pieces * len), pattern(theirs, pieces * len));
        let mut got = vec![0; theirs.len()];
        for step in 0..pieces + ahead {
            if let Some(piece) = ours.chunks(len).nth(step) {
                if step == 0 { ch.post(piece)? } else { ch.post_more(piece)? }
            }
            if let Some(piece) = step.checked_sub(ahead) {
                ch.recv(&mut got[piece * len..][..len])?;
            }
        }
        ch.flush()?;
        assert!(got == theirs, "pieces of {len} bytes changed");
    }
    Ok(())
}

fn exchange(ch: &mut dyn Channel, ours: u64, theirs: u64, large: usize) -> Result<()> {
    let mut got = vec![0; large];
    ch.exchange(&pattern(ours, large), &mut got)?;
    assert!(got == pattern(theirs, large), "bytes changed in an exchange");
    Ok(())
}
