//! Lies, and what an honest party lets out before and after it sees one.

use comity_channel::{Channel, MemoryChannel};
use comity_circuit::Recipients;
use comity_core::{Bits, Error, Kind, PartyId, Result};
use comity_share::Share;
use comity_testing::Pair;

use super::machine::{machine, put};
use crate::machine::Machine;

/// How an honest party 0 ended, and all that it sent after party 1 had done what it does.
fn against(
    honest: impl FnOnce(&mut Machine, &mut MemoryChannel) -> Result<Option<Bits>> + Send,
    liar: impl FnOnce(&mut Machine, &mut MemoryChannel) + Send,
) -> (Result<Option<Bits>>, Vec<u8>) {
    Pair::run(
        |ch| {
            let mut machine = machine(0, "test");
            let ended = honest(&mut machine, ch);
            if ended.is_err() {
                // Nothing leaves any more, whatever is asked for.
                let mut out = [Share::default()];
                let one = Bits::from_bytes(&[1], 1);
                let refused = [
                    machine.random(ch, &mut out),
                    machine.input(ch, PartyId(0), Some(&one), &mut out),
                    machine.input(ch, PartyId(1), None, &mut out),
                    machine.and(ch, &[Share::default()], &[Share::default()], &mut out),
                    machine.reveal(ch, Recipients::only(1), &out).map(|_| ()),
                    machine.check(ch),
                    machine.prepare(ch, [1, 1]),
                ];
                for ended in refused {
                    assert!(
                        matches!(ended, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("new session"))
                    );
                }
            }
            ended
        },
        |ch| {
            liar(&mut machine(1, "test"), ch);
            let mut rest = Vec::new();
            let mut byte = [0];
            while ch.recv(&mut byte).is_ok() {
                rest.push(byte[0]);
            }
            rest
        },
    )
}

fn named(ended: &Result<Option<Bits>>) -> bool {
    matches!(ended, Err(Error { kind: Kind::Misbehaved(comity_share::checks::WRONG_MAC), .. }))
}

/// Shares of `n` bits of each party.
fn operands(m: &mut Machine, ch: &mut dyn Channel, n: usize) -> Result<[Vec<Share>; 2]> {
    let ones: Bits = (0..n).map(|i| i % 3 > 0).collect();
    Ok([put(m, ch, 0, &ones)?, put(m, ch, 1, &ones)?])
}

/// The AND of both parties' bits, revealed.
fn and(m: &mut Machine, ch: &mut dyn Channel, n: usize, to: Recipients) -> Result<Option<Bits>> {
    let [x, y] = operands(m, ch, n)?;
    let mut out = vec![Share::default(); n];
    m.and(ch, &x, &y, &mut out)?;
    m.reveal(ch, to, &out)
}

const DIGEST: usize = 32;

#[test]
fn a_false_bit_in_an_and_is_caught_before_an_output_leaves() {
    // In one bit of d or e, anywhere in a word; in both of an AND; in two of a word, whose parity is right.
    let lies: [&[(usize, usize)]; 7] =
        [&[(0, 0)], &[(1, 0)], &[(0, 63)], &[(1, 64)], &[(0, 5), (1, 5)], &[(0, 1), (0, 2)], &[(1, 64), (1, 69)]];
    for lie in lies {
        for to in [Recipients::All, Recipients::only(0), Recipients::only(1)] {
            let (ended, sent) = against(
                |m, ch| and(m, ch, 70, to),
                |m, ch| {
                    let [x, y] = operands(m, ch, 70).unwrap();
                    let mut shares = [x, y];
                    for &(operand, i) in lie {
                        shares[operand][i] = shares[operand][i].add_to_own(true);
                    }
                    m.and(ch, &shares[0], &shares[1], &mut [Share::default(); 70]).unwrap();
                    // The digest that the liar's machine would send, without waiting for the verdict.
                    let _ = m.check(ch);
                },
            );
            assert!(named(&ended), "{lie:?}: {ended:?}");
            assert_eq!(sent, [0u8; 0], "{lie:?}: after its digest nothing leaves");
        }
    }
}

#[test]
fn a_false_output_share_is_caught() {
    for lie in [&[0][..], &[69], &[3, 4]] {
        for to in [Recipients::All, Recipients::only(0)] {
            let (ended, _) = against(
                |m, ch| {
                    let [x, _] = operands(m, ch, 70)?;
                    m.reveal(ch, to, &x)
                },
                |m, ch| {
                    let [mut x, _] = operands(m, ch, 70).unwrap();
                    lie.iter().for_each(|&i| x[i] = x[i].add_to_own(true));
                    let _ = m.reveal(ch, to, &x);
                },
            );
            assert!(named(&ended), "{lie:?}: {ended:?}");
        }
    }
}

#[test]
fn an_output_share_without_its_mac_is_caught() {
    // The bits are right; the digest is that of the settlement before.
    let (ended, _) = against(
        |m, ch| {
            let [x, _] = operands(m, ch, 70)?;
            m.reveal(ch, Recipients::only(0), &x)
        },
        |m, ch| {
            let [x, _] = operands(m, ch, 70).unwrap();
            let bits: Bits = x.iter().map(|share| share.bit()).collect();
            ch.send(&[bits.to_bytes(), vec![0; DIGEST]].concat()).and_then(|()| ch.flush()).unwrap();
        },
    );
    assert!(named(&ended), "{ended:?}");
}

#[test]
fn who_skips_the_check_gets_no_output() {
    // The liar asks for its output at once: it sends shares and a digest where a settlement is due.
    let (ended, sent) = against(
        |m, ch| and(m, ch, 70, Recipients::All),
        |m, ch| {
            let [mut x, y] = operands(m, ch, 70).unwrap();
            x[7] = x[7].add_to_own(true);
            m.and(ch, &x, &y, &mut [Share::default(); 70]).unwrap();
            ch.send(&[0; 9 + DIGEST]).and_then(|()| ch.flush()).unwrap();
        },
    );
    assert!(named(&ended), "{ended:?}");
    assert_eq!(sent.len(), DIGEST, "the digest of the settlement, and no share");
    // It waits for the output without a word: nothing comes before its digest.
    let (ended, sent) = against(
        |m, ch| and(m, ch, 70, Recipients::only(1)),
        |m, ch| {
            let [x, y] = operands(m, ch, 70).unwrap();
            m.and(ch, &x, &y, &mut [Share::default(); 70]).unwrap();
            let mut digest = [0; DIGEST];
            ch.recv(&mut digest).unwrap();
            // Its own sent back: directions are apart.
            ch.send(&digest).and_then(|()| ch.flush()).unwrap();
        },
    );
    assert!(named(&ended), "{ended:?}");
    assert_eq!(sent, [0u8; 0]);
}

#[test]
fn what_was_shown_in_another_session_proves_nothing_here() {
    // The same material and inputs, so the same bits and MACs; only the session differs.
    let run = |session: &'static str| {
        move |party: u16, ch: &mut MemoryChannel| and(&mut machine(party, session), ch, 70, Recipients::All)
    };
    let (a, b) = Pair::run(|ch| run("one")(0, ch), |ch| run("one")(1, ch));
    assert_eq!(a.unwrap(), b.unwrap());
    let (a, b) = Pair::run(|ch| run("one")(0, ch), |ch| run("another")(1, ch));
    assert!(named(&a) && named(&b));
}

#[test]
fn a_callers_slip_is_an_error_and_not_the_end() {
    let (a, b) = Pair::run(
        |ch| {
            let mut m = machine(0, "test");
            let one = Bits::from_bytes(&[1], 1);
            let mut out = [Share::default()];
            for (owner, value, words) in [
                (0, None, "no value"),
                (0, Some(Bits::zeros(2)), "2 bits"),
                (1, Some(one.clone()), "party 1"),
                (2, None, "party 2"),
            ] {
                let ended = m.input(ch, PartyId(owner), value.as_ref(), &mut out);
                assert!(
                    matches!(&ended, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains(words)),
                    "{ended:?}"
                );
            }
            assert!(matches!(m.reveal(ch, Recipients::only(2), &out), Err(Error { kind: Kind::InvalidInput(_), .. })));
            assert!(matches!(m.reveal(ch, Recipients::Shared, &out), Err(Error { kind: Kind::InvalidInput(_), .. })));
            let x = put(&mut m, ch, 0, &one)?;
            m.reveal(ch, Recipients::All, &x)
        },
        |ch| {
            let mut m = machine(1, "test");
            let x = put(&mut m, ch, 0, &Bits::zeros(1))?;
            m.reveal(ch, Recipients::All, &x)
        },
    );
    assert_eq!(a.unwrap(), b.unwrap());
}
