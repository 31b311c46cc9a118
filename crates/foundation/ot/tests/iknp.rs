//! The semi-honest extension: against a textbook sender that works bit by bit, and hostile peers.

use comity_channel::{Channel, MemoryChannel, Result};
use comity_core::{Backend, Bits, Block, Error, Kind, Prg, SessionId};
use comity_ot::base::{Simplest, simplest};
use comity_ot::iknp::{Receiver, Sender};
use comity_ot::{CotReceiver, CotSender};
use comity_testing::Pair;

const SESSION: SessionId = SessionId::new([5; 32]);
const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);
const SIZES: [usize; 9] = [0, 1, 7, 8, 127, 128, 129, 1000, (1 << 17) + 3];

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bits(n: usize, seed: u128) -> Bits {
    let mut bytes = vec![0; n.div_ceil(8)];
    rng(seed).fill(&mut bytes);
    Bits::from_bytes(&bytes, n)
}

fn sender(ch: &mut MemoryChannel, backend: Backend, delta: Block) -> Sender {
    Sender::setup::<Simplest>(ch, &SESSION, backend, delta, &mut rng(1)).unwrap()
}

fn receiver(ch: &mut MemoryChannel, backend: Backend) -> Receiver {
    Receiver::setup::<Simplest>(ch, &SESSION, backend, &mut rng(2)).unwrap()
}

/// One call of each size, on one extension.
fn correlated(sizes: &[usize], delta: Block, backends: [Backend; 2]) -> (Vec<Vec<Block>>, Vec<Vec<Block>>) {
    Pair::run(
        |ch| {
            let mut sender = sender(ch, backends[0], delta);
            let extend = |&n| {
                let mut out = vec![Block::ZERO; n];
                sender.extend(ch, &mut out).unwrap();
                out
            };
            sizes.iter().map(extend).collect()
        },
        |ch| {
            let mut receiver = receiver(ch, backends[1]);
            let extend = |&n| {
                let mut out = vec![Block::ZERO; n];
                receiver.extend(ch, &bits(n, n as u128), &mut out).unwrap();
                out
            };
            sizes.iter().map(extend).collect()
        },
    )
}

#[test]
fn the_correlation_holds_call_after_call() {
    let backend = Backend::detect();
    let (q, t) = correlated(&[&SIZES[..], &SIZES[..]].concat(), DELTA, [backend; 2]);
    for (call, (q, t)) in q.iter().zip(&t).enumerate() {
        assert_eq!(q.len(), SIZES[call % SIZES.len()]);
        let choices = bits(q.len(), q.len() as u128);
        for (j, (q, t)) in q.iter().zip(t).enumerate() {
            assert_eq!(*q, *t ^ DELTA.masked(choices.get(j)), "call {call}, OT {j}");
        }
    }
    // Nothing repeats, within a call or between calls.
    let mut all: Vec<u128> = q.iter().flatten().map(|q| q.to_u128()).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn every_bit_of_delta_counts() {
    let backend = Backend::detect();
    let mut deltas = vec![Block::ZERO, Block::from_u128(u128::MAX), Block::from_u128(1), Block::from_u128(1 << 127)];
    deltas.push(DELTA.with_lsb(false));
    for delta in deltas {
        let (q, t) = correlated(&[200], delta, [backend; 2]);
        let choices = bits(200, 200);
        for j in 0..200 {
            assert_eq!(q[0][j] ^ t[0][j], delta.masked(choices.get(j)), "OT {j}");
        }
    }
}

#[test]
fn backends_meet_and_agree() {
    let all = Backend::available();
    let expected = correlated(&[130, 20_000], DELTA, [all[0]; 2]);
    for &ours in &all {
        for &theirs in &all {
            let got = correlated(&[130, 20_000], DELTA, [ours, theirs]);
            assert!(got == expected, "sender on {}, receiver on {}", ours.name(), theirs.name());
        }
    }
}

/// What a sender that follows the paper literally reads and computes in one call of `n` OTs.
struct Textbook {
    rows: Vec<Prg>,
    delta: Block,
    wire: blake3::Hasher,
}

impl Textbook {
    fn setup(ch: &mut MemoryChannel, delta: Block) -> Result<Textbook> {
        let mut wire = blake3::Hasher::new();
        let mut setup = [0; 32];
        ch.recv(&mut setup)?;
        wire.update(&setup);
        let choices: Bits = (0..128).map(|i| delta.to_u128() >> i & 1 == 1).collect();
        let (base, points) = simplest::Receiver::new(
            &SESSION.child("base OT of IKNP"),
            &choices,
            &simplest::Setup::from_bytes(setup),
            &mut rng(1),
        )?;
        ch.send(points.as_bytes())?;
        let rows = base.finish().into_iter().map(|seed| Prg::new(Backend::named("portable").unwrap(), seed)).collect();
        Ok(Textbook { rows, delta, wire })
    }

    fn extend(&mut self, ch: &mut MemoryChannel, n: usize) -> Result<Vec<Block>> {
        let mut q = vec![0u128; n];
        // 2^14 OTs to a block of the stream.
        for block in q.chunks_mut(1 << 14) {
            let bytes = block.len().div_ceil(8);
            for (i, prg) in self.rows.iter_mut().enumerate() {
                let mut u = vec![0; bytes];
                ch.recv(&mut u)?;
                self.wire.update(&u);
                let mut row = vec![Block::ZERO; block.len().div_ceil(128)];
                prg.fill_blocks(&mut row);
                let row = Block::bytes_of(&row);
                let chosen = self.delta.to_u128() >> i & 1;
                for (j, q) in block.iter_mut().enumerate() {
                    let bit = |bytes: &[u8]| u128::from(bytes[j / 8] >> (j % 8) & 1);
                    *q |= (bit(row) ^ (chosen & bit(&u))) << i;
                }
            }
        }
        Ok(q.into_iter().map(Block::from_u128).collect())
    }
}

#[test]
fn the_wire_is_that_of_the_paper_and_pinned() {
    let sizes = [1, 8, 129, 0, 1000, 1 << 14, (1 << 15) + 1];
    for backend in Backend::available() {
        let ((), digest) = Pair::run(
            |ch| {
                let mut receiver = receiver(ch, backend);
                for n in sizes {
                    let mut t = vec![Block::ZERO; n];
                    receiver.extend(ch, &bits(n, 3), &mut t).unwrap();
                    let mut expected = vec![Block::ZERO; n];
                    ch.recv(Block::bytes_of_mut(&mut expected)).unwrap();
                    assert!(t == expected, "{n} OTs");
                }
            },
            |ch| {
                let mut textbook = Textbook::setup(ch, DELTA).unwrap();
                for n in sizes {
                    let mut q = textbook.extend(ch, n).unwrap();
                    for (q, x) in q.iter_mut().zip(bits(n, 3).iter()) {
                        *q ^= DELTA.masked(x);
                    }
                    ch.send(Block::bytes_of(&q)).unwrap();
                }
                ch.flush().unwrap();
                assert!(matches!(ch.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })), "nothing else is sent");
                textbook.wire.finalize().to_hex()
            },
        );
        assert_eq!(
            digest.as_str(),
            "0152b2744ca01782127417605abefed962bf85a50ab81c714af714145dc71777",
            "{}",
            backend.name()
        );
    }
}

#[test]
fn both_parties_can_send_over_one_channel() {
    let run = |ch: &mut MemoryChannel, first: bool| {
        let mut q = vec![Block::ZERO; 300];
        let mut t = vec![Block::ZERO; 300];
        for turn in [true, false] {
            let session = SESSION.child(if turn { "one way" } else { "the other way" });
            let mut rng = rng(u128::from(first) + 20);
            if turn == first {
                let mut sender = Sender::setup::<Simplest>(ch, &session, Backend::detect(), DELTA, &mut rng).unwrap();
                sender.extend(ch, &mut q).unwrap();
            } else {
                let mut receiver = Receiver::setup::<Simplest>(ch, &session, Backend::detect(), &mut rng).unwrap();
                receiver.extend(ch, &bits(300, 1), &mut t).unwrap();
            }
        }
        (q, t)
    };
    let ((q0, t0), (q1, t1)) = Pair::run(|ch| run(ch, true), |ch| run(ch, false));
    let choices = bits(300, 1);
    for j in 0..300 {
        assert_eq!(q0[j] ^ t1[j], DELTA.masked(choices.get(j)));
        assert_eq!(q1[j] ^ t0[j], DELTA.masked(choices.get(j)));
        assert_ne!(q0[j], q1[j]);
    }
}

#[test]
fn sessions_have_nothing_in_common() {
    let q = |session: SessionId| {
        let (q, ()) = Pair::run(
            |ch| {
                let mut sender =
                    Sender::setup::<Simplest>(ch, &session, Backend::detect(), DELTA, &mut rng(1)).unwrap();
                let mut q = vec![Block::ZERO; 100];
                sender.extend(ch, &mut q).unwrap();
                q
            },
            |ch| {
                let mut receiver = Receiver::setup::<Simplest>(ch, &session, Backend::detect(), &mut rng(2)).unwrap();
                receiver.extend(ch, &bits(100, 3), &mut [Block::ZERO; 100]).unwrap();
            },
        );
        q
    };
    let (one, other) = (q(SESSION), q(SESSION.child("other")));
    let differing: u32 = one.iter().zip(&other).map(|(a, b)| (a.to_u128() ^ b.to_u128()).count_ones()).sum();
    assert!((6400i64 - i64::from(differing)).abs() < 6 * 57, "{differing} of 12800 bits differ");
}

#[test]
fn lengths_must_agree() {
    let ((), error) = Pair::run(
        |ch| sender(ch, Backend::detect(), DELTA).extend(ch, &mut [Block::ZERO; 4]).unwrap(),
        |ch| {
            let mut receiver = receiver(ch, Backend::detect());
            let error = receiver.extend(ch, &bits(3, 1), &mut [Block::ZERO; 4]).unwrap_err();
            // A mistake of the caller that nothing was sent for: the extension goes on.
            receiver.extend(ch, &bits(4, 1), &mut [Block::ZERO; 4]).unwrap();
            error
        },
    );
    assert!(
        matches!(&error, Error { kind: Kind::InvalidInput(text), .. } if text.contains('3') && text.contains('4')),
        "{error}"
    );
}

#[test]
fn a_peer_that_leaves_is_noticed_and_ends_the_extension() {
    const N: usize = 17_000;
    for sent in [0, 1, (1 << 18) - 1, 1 << 18, 16 * N - 1] {
        let (errors, ()) = Pair::run(
            |ch| {
                let mut sender = sender(ch, Backend::detect(), DELTA);
                let mut out = vec![Block::ZERO; N];
                let first = sender.extend(ch, &mut out).unwrap_err();
                let then = [sender.extend(ch, &mut []).unwrap_err(), sender.extend_random(ch, &mut []).unwrap_err()];
                (first, then)
            },
            |ch| {
                receiver(ch, Backend::detect());
                ch.send(&vec![0x5a; sent]).unwrap();
                ch.flush().unwrap();
            },
        );
        assert!(matches!(errors.0, Error { kind: Kind::Closed, .. }), "after {sent} bytes: {}", errors.0);
        assert!(errors.1.iter().all(|error| matches!(error, Error { kind: Kind::InvalidInput(_), .. })));
    }
    // The receiver never reads: it notices when it finds the channel closed.
    let ((), errors) = Pair::run(
        |ch| drop(sender(ch, Backend::detect(), DELTA)),
        |ch| {
            let mut receiver = receiver(ch, Backend::detect());
            let mut out = vec![Block::ZERO; N];
            let first = (0..100).find_map(|_| receiver.extend(ch, &bits(N, 1), &mut out).err());
            let then = [
                receiver.extend(ch, &Bits::default(), &mut []).unwrap_err(),
                receiver.extend_random(ch, &mut []).unwrap_err(),
            ];
            (first, then)
        },
    );
    assert!(matches!(errors.0, Some(Error { kind: Kind::Closed, .. })));
    assert!(errors.1.iter().all(|error| matches!(error, Error { kind: Kind::InvalidInput(_), .. })));
}

#[test]
fn random_choice_bits_are_random_and_correlated() {
    let sizes = [0, 1, 7, 8, 129, 1000, (1 << 14) + 3];
    for &backend in &Backend::available() {
        let (q, (t, x)) = Pair::run(
            |ch| {
                let mut sender = sender(ch, backend, DELTA);
                let extend = |&n: &usize| {
                    let mut out = vec![Block::ZERO; n];
                    sender.extend_random(ch, &mut out).unwrap();
                    out
                };
                sizes.iter().flat_map(extend).collect::<Vec<_>>()
            },
            |ch| {
                let mut receiver = receiver(ch, Backend::detect());
                let (mut t, mut x) = (Vec::new(), Bits::default());
                for n in sizes {
                    let mut out = vec![Block::ZERO; n];
                    x.extend_from(&receiver.extend_random(ch, &mut out).unwrap());
                    t.extend(out);
                }
                (t, x)
            },
        );
        assert_eq!(x.len(), q.len());
        for (j, (q, t)) in q.iter().zip(&t).enumerate() {
            assert_eq!(*q, *t ^ DELTA.masked(x.get(j)), "OT {j}");
        }
        let ones = x.iter().filter(|&bit| bit).count() as f64;
        assert!((ones - x.len() as f64 / 2.0).abs() < 3.0 * (x.len() as f64).sqrt(), "{ones} ones");
    }
}

#[test]
fn hostile_base_ots_end_the_setup() {
    let (result, ()) = Pair::run(
        |ch| Sender::setup::<Simplest>(ch, &SESSION, Backend::detect(), DELTA, &mut rng(1)).map(drop),
        |ch| ch.send(&[0xff; 32]).and_then(|()| ch.flush()).unwrap(),
    );
    assert!(matches!(result, Err(Error { kind: Kind::Misbehaved(comity_ot::checks::INVALID_POINT), .. })));
    let (result, ()) = Pair::run(
        |ch| Receiver::setup::<Simplest>(ch, &SESSION, Backend::detect(), &mut rng(2)).map(drop),
        |ch| {
            ch.recv(&mut [0; 32]).unwrap();
            ch.send(&[0; 32 * 128]).and_then(|()| ch.flush()).unwrap();
        },
    );
    assert!(matches!(result, Err(Error { kind: Kind::Misbehaved(comity_ot::checks::IDENTITY_POINT), .. })));
}

#[test]
fn any_matrix_is_taken_without_a_panic() {
    // No check exists here: a lying receiver gets what the module's documentation says, and the sender gets blocks.
    for n in [1, 127, 129, (1 << 14) + 1] {
        let (q, ()) = Pair::run(
            |ch| {
                let mut sender = sender(ch, Backend::detect(), DELTA);
                let mut q = vec![Block::ZERO; n];
                sender.extend(ch, &mut q).unwrap();
                q
            },
            |ch| {
                receiver(ch, Backend::detect());
                for block in [n.min(1 << 14), n.saturating_sub(1 << 14)] {
                    let mut noise = vec![0; 128 * block.div_ceil(8)];
                    rng(9).fill(&mut noise);
                    ch.send(&noise).unwrap();
                }
                ch.flush().unwrap();
            },
        );
        assert_eq!(q.len(), n);
    }
}
