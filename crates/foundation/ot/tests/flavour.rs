//! The flavours over the semi-honest extension: who gets what, for messages of any length, and exactly what it costs.

use comity_channel::{Counted, MemoryChannel, Traffic};
use comity_core::{Backend, Bits, Block, CrHash, Prg, SessionId};
use comity_ot::base::Simplest;
use comity_ot::{CotReceiver, CotSender, HashedReceiver, HashedSender, RandomReceiver, RandomSender, flavour, iknp};
use comity_testing::Pair;

const SESSION: SessionId = SessionId::new([6; 32]);
const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bytes(n: usize, seed: u128) -> Vec<u8> {
    let mut bytes = vec![0; n];
    rng(seed).fill(&mut bytes);
    bytes
}

fn bits(n: usize, seed: u128) -> Bits {
    Bits::from_bytes(&bytes(n.div_ceil(8), seed), n)
}

type Sender = HashedSender<iknp::Sender>;
type Receiver = HashedReceiver<iknp::Receiver>;
type Wire = Counted<MemoryChannel>;

/// Runs both sides after the set-up, and counts what each sends from then on.
fn run<A: Send, B: Send>(
    send: impl FnOnce(&mut Sender, &mut Wire) -> A + Send,
    receive: impl FnOnce(&mut Receiver, &mut Wire) -> B + Send,
) -> ((A, B), [u64; 2]) {
    let (a, b) = comity_channel::memory::pair();
    let (a, b) = (Counted::new(a), Counted::new(b));
    let sent = |counts: Traffic| counts.sent;
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let mut ch = a;
            let ot = iknp::Sender::setup::<Simplest>(&mut ch, &SESSION, Backend::detect(), DELTA, &mut rng(1));
            let mut ot = HashedSender::new(ot.unwrap());
            let before = sent(ch.counter().counts());
            let out = send(&mut ot, &mut ch);
            (out, sent(ch.counter().counts()) - before)
        });
        let mut ch = b;
        let ot = iknp::Receiver::setup::<Simplest>(&mut ch, &SESSION, Backend::detect(), &mut rng(2));
        let mut ot = HashedReceiver::new(ot.unwrap());
        let before = sent(ch.counter().counts());
        let out = receive(&mut ot, &mut ch);
        let sent_back = sent(ch.counter().counts()) - before;
        let (got, sent) = sender.join().expect("the sender");
        ((got, out), [sent, sent_back])
    })
}

/// Random messages of `len` bits, one after another, unused bits zero.
fn messages(count: usize, len: usize, seed: u128) -> Vec<u8> {
    let mut all = bytes(count * flavour::bytes(len), seed);
    if !len.is_multiple_of(8) {
        for message in all.chunks_exact_mut(flavour::bytes(len)) {
            *message.last_mut().unwrap() &= (1 << (len % 8)) - 1;
        }
    }
    all
}

/// Message `j` of messages of `len` bits.
fn message(all: &[u8], len: usize, j: usize) -> &[u8] {
    &all[j * flavour::bytes(len)..][..flavour::bytes(len)]
}

/// Bits on the wire, in whole bytes.
fn on_wire(bits: usize) -> u64 {
    bits.div_ceil(8) as u64
}

const LENGTHS: [usize; 8] = [1, 7, 8, 13, 128, 129, 160, 1000];
const COUNTS: [usize; 5] = [0, 1, 8, 129, 1000];

/// What IKNP sends for `m` OTs in blocks of 2^14: a row is whole bytes.
fn matrix(m: usize, rows: usize) -> u64 {
    (m / 16_384 * rows * 2_048 + rows * (m % 16_384).div_ceil(8)) as u64
}

#[test]
fn the_chosen_message_arrives_at_table_3_1s_price() {
    for len in LENGTHS {
        for m in COUNTS {
            let pair = [messages(m, len, 3), messages(m, len, 4)];
            let choices = bits(m, 5);
            let (((), got), sent) = run(
                |ot, ch| flavour::send(ot, ch, len, [&pair[0], &pair[1]]).unwrap(),
                |ot, ch| {
                    let mut got = vec![0; m * flavour::bytes(len)];
                    flavour::receive(ot, ch, len, &choices, &mut got).unwrap();
                    got
                },
            );
            for (j, bit) in choices.iter().enumerate() {
                assert_eq!(message(&got, len, j), message(&pair[usize::from(bit)], len, j), "{len} bits, OT {j}");
            }
            assert_eq!(sent, [on_wire(2 * m * len), matrix(m, 128)], "OT of {m} messages of {len} bits");
        }
    }
}

#[test]
fn a_receiver_that_does_not_choose_sends_a_bit_less() {
    for len in LENGTHS {
        for m in COUNTS {
            let pair = [messages(m, len, 3), messages(m, len, 4)];
            let (((), (choices, got)), sent) = run(
                |ot, ch| flavour::send_to_random(ot, ch, len, [&pair[0], &pair[1]]).unwrap(),
                |ot, ch| {
                    let mut got = vec![0; m * flavour::bytes(len)];
                    (flavour::receive_random(ot, ch, len, m, &mut got).unwrap(), got)
                },
            );
            assert_eq!(choices.len(), m);
            for (j, bit) in choices.iter().enumerate() {
                assert_eq!(message(&got, len, j), message(&pair[usize::from(bit)], len, j), "{len} bits, OT {j}");
            }
            assert_eq!(sent, [on_wire(2 * m * len), matrix(m, 127)], "RR-OT of {m} messages of {len} bits");
        }
    }
}

#[test]
fn the_sender_correlates_as_it_likes_for_one_message_an_ot() {
    for len in LENGTHS {
        for m in COUNTS {
            let (choices, deltas) = (bits(m, 5), messages(m, len, 6));
            // A correlation that depends on the index, and is no XOR: reversed bytes, plus a delta.
            let correlate = |j: usize, zero: &[u8], one: &mut [u8]| {
                let delta = message(&deltas, len, j).iter();
                for ((one, zero), delta) in one.iter_mut().zip(zero.iter().rev()).zip(delta) {
                    *one = zero.wrapping_add(*delta);
                }
                if !len.is_multiple_of(8) {
                    *one.last_mut().unwrap() &= (1 << (len % 8)) - 1;
                }
            };
            let ((zeros, got), sent) = run(
                |ot, ch| {
                    let mut zeros = vec![0; m * flavour::bytes(len)];
                    flavour::send_correlated(ot, ch, len, &mut zeros, correlate).unwrap();
                    zeros
                },
                |ot, ch| {
                    let mut got = vec![0; m * flavour::bytes(len)];
                    flavour::receive_correlated(ot, ch, len, &choices, &mut got).unwrap();
                    got
                },
            );
            for (j, bit) in choices.iter().enumerate() {
                let mut expected = message(&zeros, len, j).to_vec();
                if bit {
                    correlate(j, message(&zeros, len, j), &mut expected);
                }
                assert_eq!(message(&got, len, j), expected, "{len} bits, OT {j}");
            }
            assert_eq!(sent, [on_wire(m * len), matrix(m, 128)], "C-OT of {m} messages of {len} bits");
        }
    }
}

#[test]
fn random_messages_cost_nothing_but_the_matrix() {
    for m in [0, 1, 8, 1000, 16_384, 40_000] {
        let choices = bits(m, 5);
        let ((pairs, got), sent) = run(
            |ot, ch| {
                let mut pairs = vec![[Block::ZERO; 2]; m];
                ot.sender_random(ch, &mut pairs).unwrap();
                pairs
            },
            |ot, ch| {
                let mut got = vec![Block::ZERO; m];
                ot.sender_random(ch, &choices, &mut got).unwrap();
                got
            },
        );
        for (j, bit) in choices.iter().enumerate() {
            assert!(got[j] == pairs[j][usize::from(bit)] && got[j] != pairs[j][usize::from(!bit)], "SR-OT {j}");
        }
        assert_eq!(sent, [0, matrix(m, 128)], "SR-OT of {m}");
        let ((pairs, (choices, got)), sent) = run(
            |ot, ch| {
                let mut pairs = vec![[Block::ZERO; 2]; m];
                ot.random(ch, &mut pairs).unwrap();
                pairs
            },
            |ot, ch| {
                let mut got = vec![Block::ZERO; m];
                (ot.random(ch, &mut got).unwrap(), got)
            },
        );
        for (j, bit) in choices.iter().enumerate() {
            assert!(got[j] == pairs[j][usize::from(bit)] && got[j] != pairs[j][usize::from(!bit)], "R-OT {j}");
        }
        assert_eq!(sent, [0, matrix(m, 127)], "R-OT of {m}");
    }
}

#[test]
fn random_messages_are_fair() {
    const N: usize = 20_000;
    let ((pairs, ()), _) = run(
        |ot, ch| {
            let mut pairs = vec![[Block::ZERO; 2]; N];
            ot.random(ch, &mut pairs).unwrap();
            pairs
        },
        |ot, ch| drop(ot.random(ch, &mut vec![Block::ZERO; N]).unwrap()),
    );
    // Every one of the 128 bits is fair in either message and in their sum: 6 standard deviations of N coins.
    let tolerance = 3.0 * (N as f64).sqrt();
    for i in 0..128 {
        let ones = |f: fn(&[Block; 2]) -> Block| pairs.iter().filter(|pair| f(pair).to_u128() >> i & 1 == 1).count();
        for count in [ones(|p| p[0]), ones(|p| p[1]), ones(|p| p[0] ^ p[1])] {
            assert!((count as f64 - N as f64 / 2.0).abs() < tolerance, "bit {i}: {count} ones of {N}");
        }
    }
}

#[test]
fn rounds_follow_each_other() {
    // More than one round of 2^18, of single bits.
    const M: usize = (1 << 18) + 77;
    let pair = [messages(M, 1, 3), messages(M, 1, 4)];
    let choices = bits(M, 5);
    let (((), got), sent) = run(
        |ot, ch| flavour::send(ot, ch, 1, [&pair[0], &pair[1]]).unwrap(),
        |ot, ch| {
            let mut got = vec![0; M];
            flavour::receive(ot, ch, 1, &choices, &mut got).unwrap();
            got
        },
    );
    for (j, bit) in choices.iter().enumerate() {
        assert_eq!(got[j], pair[usize::from(bit)][j], "OT {j}");
    }
    assert_eq!(sent[0], on_wire(2 * (M - 77)) + on_wire(2 * 77));
}

#[test]
fn messages_hash_the_correlation() {
    // Two runs with equal randomness: one gives the correlation, the other the messages. 0 to 21099 in three calls.
    let sizes = [100, 20_000, 1000];
    let backend = Backend::detect();
    let sender =
        |ch: &mut MemoryChannel| iknp::Sender::setup::<Simplest>(ch, &SESSION, backend, DELTA, &mut rng(1)).unwrap();
    let receiver =
        |ch: &mut MemoryChannel| iknp::Receiver::setup::<Simplest>(ch, &SESSION, backend, &mut rng(2)).unwrap();
    let (q, ()) = Pair::run(
        |ch| {
            let mut sender = sender(ch);
            let extend = |&n: &usize| {
                let mut out = vec![Block::ZERO; n];
                sender.extend(ch, &mut out).unwrap();
                out
            };
            sizes.iter().flat_map(extend).collect::<Vec<_>>()
        },
        |ch| {
            let mut receiver = receiver(ch);
            for n in sizes {
                receiver.extend(ch, &bits(n, n as u128), &mut vec![Block::ZERO; n]).unwrap();
            }
        },
    );
    let (pairs, ()) = Pair::run(
        |ch| {
            let mut sender = HashedSender::new(sender(ch));
            let random = |&n: &usize| {
                let mut out = vec![[Block::ZERO; 2]; n];
                sender.sender_random(ch, &mut out).unwrap();
                out
            };
            sizes.iter().flat_map(random).collect::<Vec<_>>()
        },
        |ch| {
            let mut receiver = HashedReceiver::new(receiver(ch));
            for n in sizes {
                receiver.sender_random(ch, &bits(n, n as u128), &mut vec![Block::ZERO; n]).unwrap();
            }
        },
    );
    let hash = CrHash::new(backend);
    for (j, (pair, q)) in pairs.iter().zip(&q).enumerate() {
        let mut expected = [*q, *q ^ DELTA];
        hash.hash_blocks(&mut expected);
        assert_eq!(*pair, expected, "OT {j}");
    }
}
