//! The extension over ideal base OTs: against a textbook that works bit by bit, and against receivers that cheat.

mod waits;

use std::sync::OnceLock;

use comity_channel::{Channel, Counted, Error, MemoryChannel};
use comity_core::{Backend, Bits, Block, Kind, Params, Prg, Result, SessionId, TccrHash};
use comity_testing::{Pair, deviate, never_wrong};
use rand_core::Rng;

use super::{Parameters, Receiver, Sender};
use crate::base::BaseOt;
use crate::checks;
use crate::model::Malicious;
use crate::random::{RandomReceiver, RandomSender};
use crate::seeds::SenderSeeds;
use crate::softspoken::tests::{Ideal, bits, rng};

const SESSION: SessionId = SessionId::new([7; 32]);

/// The shape for this rho, computed once.
fn parameters(rho: u32) -> Parameters {
    static SHAPES: [OnceLock<Parameters>; 2] = [const { OnceLock::new() }; 2];
    let new = || Parameters::new(Params::new(128, rho).unwrap()).unwrap();
    *SHAPES[usize::from(rho == 40)].get_or_init(new)
}

fn sender(ch: &mut dyn Channel, backend: Backend, rho: u32) -> Result<Sender> {
    Sender::setup::<Ideal<Malicious>>(ch, &SESSION, backend, parameters(rho), &mut rng(1))
}

fn receiver(ch: &mut dyn Channel, backend: Backend, rho: u32) -> Result<Receiver> {
    Receiver::setup::<Ideal<Malicious>>(ch, &SESSION, backend, parameters(rho), &mut rng(2))
}

const SIZES: [usize; 7] = [0, 1, 7, 8, 129, 1000, (1 << 17) + 3];

#[test]
fn the_receiver_gets_the_chosen_message_and_no_other() {
    let backends = Backend::available();
    let mut seen = Vec::new();
    for (&ours, &theirs) in backends.iter().zip(backends.iter().rev()) {
        let (pairs, got) = Pair::run(
            |ch| {
                let mut sender = sender(ch, ours, 40).unwrap();
                let mut all = Vec::new();
                for n in SIZES {
                    let mut pairs = vec![[Block::ZERO; 2]; 2 * n];
                    sender.sender_random(ch, &mut pairs[..n]).unwrap();
                    sender.random(ch, &mut pairs[n..]).unwrap();
                    all.extend(pairs);
                }
                all
            },
            |ch| {
                let mut receiver = receiver(ch, theirs, 40).unwrap();
                let mut all = Vec::new();
                for n in SIZES {
                    let mut out = vec![Block::ZERO; 2 * n];
                    let mut choices = bits(n, n as u128);
                    receiver.sender_random(ch, &choices, &mut out[..n]).unwrap();
                    choices.extend_from(&receiver.random(ch, &mut out[n..]).unwrap());
                    all.extend(choices.iter().zip(out).collect::<Vec<_>>());
                }
                all
            },
        );
        assert_eq!(pairs.len(), got.len());
        for (j, (pair, (bit, message))) in pairs.iter().zip(&got).enumerate() {
            assert!(pair[usize::from(*bit)] == *message && pair[usize::from(!bit)] != *message, "OT {j}");
        }
        seen.push(pairs);
    }
    assert!(seen.windows(2).all(|runs| runs[0] == runs[1]), "backends agree");
}

/// What a receiver that follows the paper literally, but for what it is told, sends and gets in one call.
struct Textbook {
    rows: Vec<[Prg; 2]>,
    parameters: Parameters,
    chunk: u64,
    next: u128,
}

/// How a cheating receiver differs from an honest one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cheat {
    None,
    /// Other choice bits in these rows, and hashes that are right if `s` is zero in the lower row of each pair.
    Rows(usize, usize),
    /// Rows 3 and 4 are the same.
    EqualRows,
    /// One of the hashes of pair 5 is wrong, which of the four.
    Hash(usize),
}

fn bit(bytes: &[u8], j: usize) -> bool {
    bytes[j / 8] >> (j % 8) & 1 == 1
}

fn add(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

impl Textbook {
    fn new(ch: &mut MemoryChannel, rho: u32) -> Textbook {
        let parameters = parameters(rho);
        let base = SESSION.child("base OT of ALSZ");
        let seeds: SenderSeeds<Malicious> = Ideal::<Malicious>::send(ch, &base, parameters.rows, &mut rng(0)).unwrap();
        let portable = Backend::named("portable").unwrap();
        let rows = seeds.pairs().iter().map(|pair| pair.map(|seed| Prg::new(portable, seed))).collect();
        Textbook { rows, parameters, chunk: 0, next: 0 }
    }

    fn extend(&mut self, ch: &mut MemoryChannel, choices: &Bits, cheat: Cheat) -> Result<Vec<Block>> {
        let n = choices.len();
        let stride = n.div_ceil(8) + 16;
        let g: Vec<[Vec<u8>; 2]> = (self.rows.iter_mut())
            .map(|prgs| {
                prgs.each_mut().map(|prg| {
                    let mut row = vec![0; stride.next_multiple_of(16)];
                    prg.fill(&mut row);
                    row.truncate(stride);
                    row
                })
            })
            .collect();
        let mut r = choices.to_bytes();
        r.extend([0x3c; 16]);
        let other: Vec<u8> = r.iter().map(|r| !r).collect();
        let cheats = |i| matches!(cheat, Cheat::Rows(from, to) if (from..to).contains(&i));
        let mut sent: Vec<Vec<u8>> = Vec::new();
        for (i, [zero, one]) in g.iter().enumerate() {
            let u = add(&add(zero, one), if cheats(i) { &other } else { &r });
            sent.push(if cheat == Cheat::EqualRows && i == 4 { sent[3].clone() } else { u });
            ch.send(sent.last().unwrap())?;
        }
        let mut seed = [0; 16];
        ch.recv(&mut seed)?;
        let mut prg = Prg::new(Backend::named("portable").unwrap(), Block::new(seed));
        let mut key = blake3::Hasher::new_derive_key("comity ALSZ: the hash of a sum of two rows");
        key.update(&SESSION.to_bytes()).update(&self.chunk.to_le_bytes());
        let key = *key.finalize().as_bytes();
        let mut pair = 0;
        let mut order: Vec<usize> = (0..g.len()).collect();
        for _ in 0..self.parameters.partners {
            for last in (1..g.len()).rev() {
                order.swap(last, (prg.next_u64() % (last as u64 + 1)) as usize);
            }
            for matched in order.chunks_exact(2) {
                let (alpha, beta) = (matched[0], matched[1]);
                let differ = cheats(alpha) != cheats(beta);
                let correction = if differ { add(&r, &other) } else { vec![0; stride] };
                for (index, (a, b)) in [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate() {
                    // The guess: s is zero in the cheating row, so what stands for one there is seen from the
                    // other side.
                    let guessed = if cheats(alpha) { a } else { b };
                    let mut data = add(&g[alpha][a], &g[beta][b]);
                    if differ && guessed == 1 {
                        data = add(&data, &correction);
                    }
                    let mut hash = *blake3::keyed_hash(&key, &data).as_bytes();
                    if cheat == Cheat::Hash(index) && pair == 5 {
                        hash[31] ^= 0x80;
                    }
                    ch.send(&hash)?;
                }
                pair += 1;
            }
        }
        ch.flush()?;
        self.chunk += 1;
        let portable = Backend::named("portable").unwrap();
        let encrypt = |key: Block, x: u128| {
            let mut block = [Block::from_u128(x)];
            comity_core::Aes128::new(portable, key).encrypt(&mut block);
            block[0].to_u128()
        };
        let outer = TccrHash::new(portable);
        let mut out = Vec::new();
        for j in 0..n {
            let mut column = [0u128; 2];
            for (i, [zero, _]) in g.iter().enumerate() {
                column[i / 128] |= u128::from(bit(zero, j)) << (i % 128);
            }
            let complement = Block::from_u128(!TccrHash::KEY.to_u128());
            let [a, b] = column;
            let mut block = [Block::from_u128(encrypt(TccrHash::KEY, a) ^ a ^ encrypt(complement, b) ^ b)];
            outer.hash(self.next, &mut block);
            self.next += 1;
            out.extend(block);
        }
        Ok(out)
    }
}

/// What the sender says of a receiver that cheats in its second call.
fn verdict(rho: u32, seed: u128, cheat: Cheat) -> Result<()> {
    let (result, _) = Pair::run(
        |ch| {
            let params = parameters(rho);
            let mut sender =
                Sender::setup::<Ideal<Malicious>>(ch, &SESSION, Backend::detect(), params, &mut rng(seed))?;
            sender.sender_random(ch, &mut [[Block::ZERO; 2]; 20])?;
            let mut pairs = [[Block::ZERO; 2]; 33];
            let result = sender.sender_random(ch, &mut pairs);
            // After a failed check there is nothing, and nothing more is to be had.
            if result.is_err() {
                assert!(pairs.as_flattened().iter().all(|&block| block == Block::ZERO));
                let after = sender.random(ch, &mut [[Block::ZERO; 2]; 1]);
                assert!(matches!(after, Err(Error { kind: Kind::InvalidInput(_), .. })));
            }
            result
        },
        |ch| {
            let mut textbook = Textbook::new(ch, rho);
            textbook.extend(ch, &bits(20, 1), Cheat::None)?;
            textbook.extend(ch, &bits(33, 2), cheat)
        },
    );
    result
}

#[test]
fn the_wire_is_that_of_the_paper() {
    for n in [1, 8, 100, 129] {
        let (pairs, got) = Pair::run(
            |ch| {
                let mut sender = sender(ch, Backend::detect(), 40).unwrap();
                let mut pairs = vec![[Block::ZERO; 2]; 2 * n];
                sender.sender_random(ch, &mut pairs[..n]).unwrap();
                sender.sender_random(ch, &mut pairs[n..]).unwrap();
                pairs
            },
            |ch| {
                let mut textbook = Textbook::new(ch, 40);
                let mut got = textbook.extend(ch, &bits(n, 3), Cheat::None).unwrap();
                got.extend(textbook.extend(ch, &bits(n, 4), Cheat::None).unwrap());
                got
            },
        );
        for (j, bit) in bits(n, 3).iter().chain(bits(n, 4).iter()).enumerate() {
            assert_eq!(got[j], pairs[j][usize::from(bit)], "OT {j}");
        }
    }
}

#[test]
fn inconsistent_rows_are_caught() {
    let rows = parameters(40).rows;
    // Several rows, half of them, and all but one.
    for (from, to) in [(5, 25), (0, rows / 2), (1, rows)] {
        let error = verdict(40, 3, Cheat::Rows(from, to)).unwrap_err();
        let right = matches!(error, Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. });
        // With all rows but one the guess is on the one row alone, and may be right.
        assert!(right, "rows {from} to {to}: {error}");
    }
}

#[test]
fn other_choice_bits_in_every_row_are_honest() {
    let rows = parameters(40).rows;
    verdict(40, 3, Cheat::Rows(0, rows)).unwrap();
}

#[test]
fn one_row_escapes_with_probability_one_half_and_two_with_a_quarter() {
    for (cheating, expected) in [(1usize, 0.5), (2, 0.25)] {
        let runs = 80;
        let escapes = (0..runs).filter(|&seed| verdict(1, 100 + seed, Cheat::Rows(7, 7 + cheating)).is_ok()).count();
        // Five standard deviations.
        let (mean, deviation) = (runs as f64 * expected, (runs as f64 * expected * (1.0 - expected)).sqrt());
        assert!((escapes as f64 - mean).abs() < 5.0 * deviation, "{cheating} rows: {escapes} of {runs}");
        assert!(escapes > 0 && escapes < runs as usize);
    }
}

#[test]
fn equal_rows_and_wrong_hashes_are_caught() {
    let error = verdict(40, 3, Cheat::EqualRows).unwrap_err();
    assert!(matches!(error, Error { kind: Kind::Misbehaved(checks::EQUAL_ROWS), .. }), "{error}");
    // Two of the four hashes of a pair are looked at, the two that belong together.
    let caught: Vec<bool> = (0..4).map(|index| verdict(40, 3, Cheat::Hash(index)).is_err()).collect();
    assert!(caught == [true, false, false, true] || caught == [false, true, true, false], "{caught:?}");
}

#[test]
fn bytes_are_as_stated() {
    for n in [1, 1000, 1 << 17, (1 << 17) + 9] {
        let (sent, back) = Pair::run(
            |ch| {
                let mut ch = Counted::new(ch);
                let mut sender = sender(&mut ch, Backend::detect(), 40).unwrap();
                sender.sender_random(&mut ch, &mut vec![[Block::ZERO; 2]; n]).unwrap();
                sender.random(&mut ch, &mut vec![[Block::ZERO; 2]; n]).unwrap();
                ch.counter().counts().sent as usize
            },
            |ch| {
                let mut ch = Counted::new(ch);
                let mut receiver = receiver(&mut ch, Backend::detect(), 40).unwrap();
                receiver.sender_random(&mut ch, &bits(n, 1), &mut vec![Block::ZERO; n]).unwrap();
                receiver.random(&mut ch, &mut vec![Block::ZERO; n]).unwrap();
                ch.counter().counts().sent as usize
            },
        );
        let (rows, pairs, chunk) = (parameters(40).rows(), parameters(40).pairs(), (1 << 17) - 128);
        let chunks = n.div_ceil(chunk);
        let row: usize = (0..chunks).map(|c| (n - c * chunk).min(chunk).div_ceil(8) + 16).sum();
        let checks = chunks * pairs * 128;
        assert_eq!(sent, 2 * chunks * 16);
        assert_eq!(back, rows * row + (rows - 1) * row + 2 * checks);
    }
}

#[test]
fn whatever_becomes_of_a_message_nobody_gets_a_wrong_one() {
    // A party can tell of its own messages only what it got: the sender's output is its own.
    let cases = deviate(
        120,
        |ch, session| {
            let params = parameters(1);
            let mut sender =
                Sender::setup::<Ideal<Malicious>>(ch, &SESSION, Backend::detect(), params, &mut rng(session.into()))?;
            let mut pairs = [[Block::ZERO; 2]; 9];
            sender.sender_random(ch, &mut pairs)?;
            // A receiver whose matrix was damaged would hold other messages than these.
            Ok(())
        },
        |ch, session| {
            let params = parameters(1);
            let mut receiver = Receiver::setup::<Ideal<Malicious>>(
                ch,
                &SESSION,
                Backend::detect(),
                params,
                &mut rng(u128::from(session) + 50),
            )?;
            let mut out = [Block::ZERO; 9];
            receiver.sender_random(ch, &bits(9, 4), &mut out)?;
            Ok(out.map(Block::to_u128))
        },
        never_wrong,
    );
    assert!(cases > 20, "{cases}");
}
