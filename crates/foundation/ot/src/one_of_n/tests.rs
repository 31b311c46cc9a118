//! The extension over dealt seeds, against a textbook, and against receivers that cheat.

mod waits;

use comity_channel::{Channel, MemoryChannel};
use comity_core::{Aes128, Backend, Bits, Block, Error, Kind, Prg, Result, SessionId, TccrHash};
use comity_testing::{Pair, deviate, never_wrong};

use super::bch::MESSAGE;
use super::{
    Answer, Challenge, Corrections, Keys, Kk13, Kkrt16, OneOfN, Oos16, ROWS, Receiver, Sender, pseudo_random_width,
    receive, send,
};
use crate::base::{Csw, Simplest};
use crate::checks;
use crate::seeds::{ReceiverSeeds, SenderSeeds};
use crate::softspoken::tests::{bits, rng};

const SESSION: SessionId = SessionId::new([6; 32]);

fn session(number: u64) -> SessionId {
    SessionId::derive("1-out-of-N test", &[&number.to_le_bytes()])
}

fn dealt(session: &SessionId) -> Vec<[Block; 2]> {
    let mut pairs = vec![[Block::ZERO; 2]; ROWS];
    Prg::new(Backend::detect(), session.block("dealt")).fill_blocks(pairs.as_flattened_mut());
    pairs
}

fn s(session: &SessionId) -> Bits {
    bits(ROWS, session.block("s").to_u128())
}

fn sender<S: OneOfN>(session: &SessionId, backend: Backend) -> Sender<S> {
    let choices = s(session);
    let chosen = dealt(session).iter().zip(choices.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
    Sender::new(session, backend, ReceiverSeeds::new(choices, chosen), &mut rng(1)).unwrap()
}

fn receiver<S: OneOfN>(session: &SessionId, backend: Backend) -> Receiver<S> {
    Receiver::new(session, backend, SenderSeeds::new(dealt(session)), &mut rng(2)).unwrap()
}

fn choices<S: OneOfN>(n: usize, seed: u128) -> Vec<u128> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.block().to_u128() >> (128 - S::CHOICE_BITS)).collect()
}

/// Calls of these sizes: the sender's keys, and the receiver's choices and blocks.
#[allow(clippy::type_complexity, reason = "two lists of calls")]
fn calls<S: OneOfN>(backends: [Backend; 2], sizes: &[usize]) -> (Vec<Keys<S>>, Vec<(Vec<u128>, Vec<Block>)>) {
    Pair::run(
        |ch| {
            let mut sender = sender::<S>(&SESSION, backends[0]);
            sizes.iter().map(|&n| sender.keys(ch, n).unwrap()).collect()
        },
        |ch| {
            let mut receiver = receiver::<S>(&SESSION, backends[1]);
            let call = |(i, &n): (usize, &usize)| {
                let (choices, mut out) = (choices::<S>(n, i as u128), vec![Block::ZERO; n]);
                receiver.receive(ch, &choices, &mut out).unwrap();
                (choices, out)
            };
            sizes.iter().enumerate().map(call).collect()
        },
    )
}

fn every_size<S: OneOfN>(sizes: &[usize]) {
    let (keys, received) = calls::<S>([Backend::detect(); 2], sizes);
    let mut all = Vec::new();
    for ((keys, (choices, blocks)), &n) in keys.iter().zip(&received).zip(sizes) {
        assert_eq!((keys.len(), keys.is_empty()), (n, n == 0));
        let mut own = vec![Block::ZERO; n];
        keys.evaluate_each(choices, &mut own).unwrap();
        assert!(own == *blocks, "{n} OTs");
        // Another entry is another block.
        let others: Vec<u128> = choices.iter().map(|choice| choice ^ 1).collect();
        keys.evaluate_each(&others, &mut own).unwrap();
        all.extend(own.iter().chain(blocks).map(|block| block.to_u128()));
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "no block comes twice");
}

#[test]
fn both_sides_agree_on_every_size() {
    let sizes = [0, 1, 2, 127, 128, 129, 1000, 4095, 4096, 4097, 0, 9000];
    every_size::<Kk13>(&sizes);
    every_size::<Kkrt16>(&sizes);
    every_size::<Oos16>(&sizes);
    every_size::<Oos16>(&[Oos16::CHUNK + 1, 3]);
}

#[test]
fn all_backends_agree() {
    fn agree<S: OneOfN>() {
        let sizes = [5, 700, 4200];
        let evaluated = |backend| {
            let (keys, received) = calls::<S>([backend, Backend::detect()], &sizes);
            for (keys, (choices, blocks)) in keys.iter().zip(&received) {
                let mut own = vec![Block::ZERO; choices.len()];
                keys.evaluate_each(choices, &mut own).unwrap();
                assert!(own == *blocks, "{backend}");
            }
            received
        };
        let first = evaluated(Backend::detect());
        for backend in Backend::available() {
            assert!(evaluated(backend) == first);
            assert!(calls::<S>([Backend::detect(), backend], &sizes).1 == first, "{backend}");
        }
    }
    agree::<Kk13>();
    agree::<Kkrt16>();
    agree::<Oos16>();
}

/// The hash of a column, a block at a time.
fn textbook_hash(index: u128, column: [u128; 4]) -> Block {
    let pi = |key: u128, x: u128| {
        let mut block = [Block::from_u128(x)];
        Aes128::new(Backend::named("portable").unwrap(), Block::from_u128(key)).encrypt(&mut block);
        block[0].to_u128()
    };
    let key = TccrHash::KEY.to_u128();
    let y = (1..).zip(column).fold(0, |sum, (a, x)| sum ^ x ^ pi(key ^ a, x));
    Block::from_u128(pi(key, pi(key, y) ^ index) ^ pi(key, y))
}

/// Bit matrices, bit by bit: the receiver's columns `t_j`, and those of the words that its corrections have in them.
#[allow(clippy::type_complexity, reason = "two lists of columns")]
fn textbook(corrections: &Corrections, n: usize) -> (Vec<[u128; 4]>, Vec<[u128; 4]>) {
    let stride = corrections.as_bytes().len() / ROWS;
    let (mut t, mut words) = (vec![[0; 4]; n], vec![[0; 4]; n]);
    for (i, (pair, u)) in dealt(&SESSION).into_iter().zip(corrections.as_bytes().chunks(stride)).enumerate() {
        let [zero, one] = pair.map(|seed| {
            let mut row = vec![0; stride];
            Prg::new(Backend::detect(), seed).fill(&mut row);
            row
        });
        for j in 0..n {
            let bit = |row: &[u8]| u128::from(row[j / 8] >> (j % 8) & 1);
            t[j][i / 128] |= bit(&zero) << (i % 128);
            words[j][i / 128] |= (bit(&zero) ^ bit(&one) ^ bit(u)) << (i % 128);
        }
    }
    (t, words)
}

fn as_bits(word: [u128; 4]) -> Vec<bool> {
    (0..ROWS).map(|i| word[i / 128] >> (i % 128) & 1 == 1).collect()
}

/// Whether a word of 512 bits is that of the extended BCH code whose message is `choice`: it starts with
/// `choice`, all syndromes are zero, and the weight is even. There is only one such word.
fn is_bch_word(word: [u128; 4], choice: u128) -> bool {
    let word = as_bits(word);
    let message = (0..MESSAGE).all(|i| word[i] == (choice >> i & 1 == 1));
    let polynomial: Vec<bool> = word[MESSAGE..511].iter().chain(&word[..MESSAGE]).copied().collect();
    let double = |x: u32| if x & 256 == 0 { x << 1 } else { x << 1 ^ 0b10_0001_0001 };
    let mut alpha = 1;
    let syndromes = (1..=170).all(|_| {
        alpha = double(alpha);
        let times = |mut a: u32, b: u32| {
            let mut product = 0;
            for i in 0..9 {
                product ^= if b >> i & 1 == 1 { a } else { 0 };
                a = double(a);
            }
            product
        };
        // Horner's rule.
        polynomial.iter().rev().fold(0, |sum, &bit| times(sum, alpha) ^ u32::from(bit)) == 0
    });
    message && syndromes && word.iter().filter(|&&bit| bit).count() % 2 == 0
}

fn kkrt_word(choice: u128) -> [u128; 4] {
    let key = SESSION.block("pseudo-random code of KKRT").to_u128();
    [0, 1, 2, 3].map(|a| {
        let mut block = [Block::from_u128(choice)];
        Aes128::new(Backend::named("portable").unwrap(), Block::from_u128(key ^ a)).encrypt(&mut block);
        block[0].to_u128()
    })
}

#[test]
fn the_linear_code_is_as_in_the_textbook() {
    let n = 150;
    let mut choices = choices::<Kk13>(n, 3);
    (choices[0], choices[1], choices[2]) = (0, 1, (1 << 76) - 1);
    let (offered, corrections) = receiver::<Kk13>(&SESSION, Backend::detect()).offer(&choices).unwrap();
    let (t, words) = textbook(&corrections, n);
    assert!(words.iter().zip(&choices).all(|(&word, &choice)| is_bch_word(word, choice)));
    let (_, blocks) = offered.finish();
    assert!(blocks.iter().zip(&t).zip(0..).all(|((block, &t), j)| *block == textbook_hash(j, t)));
    // Every entry at the sender: t_j, and the difference of two words where s is set.
    let (_, keys) = sender::<Kk13>(&SESSION, Backend::detect()).take(n, &corrections).unwrap().finish();
    let s: Vec<u128> = s(&SESSION).to_bytes().chunks(16).map(|s| u128::from_le_bytes(s.try_into().unwrap())).collect();
    let mut out = vec![Block::ZERO; n];
    let queries: Vec<(usize, u128)> = (0..n).map(|j| (j / 2, choices[j])).collect();
    keys.evaluate(&queries, &mut out).unwrap();
    for (i, (&(j, _), block)) in queries.iter().zip(&out).enumerate() {
        let column = std::array::from_fn(|a| t[j][a] ^ (words[j][a] ^ words[i][a]) & s[a]);
        assert!(*block == textbook_hash(j as u128, column), "query {i}");
    }
}

#[test]
fn the_pseudo_random_code_is_as_in_the_textbook() {
    let n = 150;
    let choices = choices::<Kkrt16>(n, 3);
    let (offered, corrections) = receiver::<Kkrt16>(&SESSION, Backend::detect()).offer(&choices).unwrap();
    let (t, words) = textbook(&corrections, n);
    assert!(words.iter().zip(&choices).all(|(&word, &choice)| word == kkrt_word(choice)));
    let (_, blocks) = offered.finish();
    assert!(blocks.iter().zip(&t).zip(0..).all(|((block, &t), j)| *block == textbook_hash(j, t)));
    let (_, keys) = sender::<Kkrt16>(&SESSION, Backend::detect()).take(n, &corrections).unwrap().finish();
    let s: Vec<u128> = s(&SESSION).to_bytes().chunks(16).map(|s| u128::from_le_bytes(s.try_into().unwrap())).collect();
    let mut out = [Block::ZERO];
    for (j, entry) in [(0, 7), (149, u128::MAX), (77, choices[77])] {
        keys.evaluate(&[(j, entry)], &mut out).unwrap();
        let word = kkrt_word(entry);
        let column = std::array::from_fn(|a| t[j][a] ^ (words[j][a] ^ word[a]) & s[a]);
        assert!(out[0] == textbook_hash(j as u128, column), "OT {j}");
    }
}

#[test]
fn tables_are_all_entries() {
    fn equal<S: OneOfN>(n: usize, entries: usize) {
        let (keys, _) = calls::<S>([Backend::detect(); 2], &[3, n]);
        let (mut table, mut out) = (vec![Block::ZERO; n * entries], vec![Block::ZERO; n * entries]);
        keys[1].tables(entries, &mut table).unwrap();
        let queries: Vec<(usize, u128)> = (0..n * entries).map(|i| (i / entries, (i % entries) as u128)).collect();
        keys[1].evaluate(&queries, &mut out).unwrap();
        assert!(table == out, "{n} OTs of {entries}");
    }
    equal::<Kk13>(40, 64);
    equal::<Oos16>(5, 1);
    equal::<Kkrt16>(3, 1500);
    equal::<Kk13>(0, 10);
    equal::<Kk13>(10, 0);
}

fn chosen<S: OneOfN>(entries: usize, len: usize, n: usize) {
    let mut messages = vec![0; n * entries * len];
    rng(9).fill(&mut messages);
    let choices: Vec<u128> = (0..n).map(|j| (7 * j * j + 3) as u128 % entries as u128).collect();
    let expected: Vec<u8> = choices
        .iter()
        .enumerate()
        .flat_map(|(j, &choice)| messages[(j * entries + choice as usize) * len..][..len].to_vec())
        .collect();
    let ((), out) = Pair::run(
        |ch| send(&mut sender::<S>(&SESSION, Backend::detect()), ch, entries, len, &messages).unwrap(),
        |ch| {
            let mut out = vec![0; n * len];
            receive(&mut receiver::<S>(&SESSION, Backend::detect()), ch, entries, len, &choices, &mut out).unwrap();
            out
        },
    );
    assert_eq!(out, expected, "{n} OTs of {entries} messages of {len} bytes");
}

#[test]
fn the_chosen_message_arrives() {
    chosen::<Kk13>(16, 16, 300);
    chosen::<Kk13>(1, 1, 1);
    chosen::<Kkrt16>(3, 40, 20);
    chosen::<Oos16>(256, 5, 300);
    chosen::<Oos16>(2, 1, 0);
}

#[test]
fn wrong_arguments_are_refused() {
    let invalid = |error: Error| assert!(matches!(error, Error { kind: Kind::InvalidInput(_), .. }), "{error}");
    let ((), ()) = Pair::run(
        |ch| {
            let mut sender = sender::<Kk13>(&SESSION, Backend::detect());
            let keys = sender.keys(ch, 2).unwrap();
            let mut out = [Block::ZERO; 2];
            invalid(keys.evaluate(&[(2, 0)], &mut out[..1]).unwrap_err());
            invalid(keys.evaluate(&[(0, 1 << 76)], &mut out[..1]).unwrap_err());
            invalid(keys.evaluate(&[(0, 0)], &mut out).unwrap_err());
            invalid(keys.evaluate_each(&[0], &mut out).unwrap_err());
            invalid(keys.tables(2, &mut out).unwrap_err());
            invalid(keys.tables(usize::MAX, &mut out).unwrap_err());
            for (entries, len, bytes) in [(0, 1, 1), (2, 0, 2), (2, 3, 7), (usize::MAX, 2, 2)] {
                invalid(send(&mut sender, ch, entries, len, &vec![0; bytes]).unwrap_err());
            }
            // Nothing was sent or lost by that.
            assert_eq!(sender.keys(ch, 1).unwrap().len(), 1);
            invalid(sender.take(Kk13::CHUNK + 1, &Corrections(vec![])).map(drop).unwrap_err());
        },
        |ch| {
            let mut receiver = receiver::<Kk13>(&SESSION, Backend::detect());
            let mut out = [Block::ZERO; 2];
            invalid(receiver.receive(ch, &[0], &mut out).unwrap_err());
            invalid(receiver.receive(ch, &[0, 1 << 76], &mut out).unwrap_err());
            receiver.receive(ch, &[0, 1], &mut out).unwrap();
            for (entries, len, choice) in [(2, 1, 2), (0, 1, 0), (2, 2, 0)] {
                invalid(receive(&mut receiver, ch, entries, len, &[choice], &mut [0]).unwrap_err());
            }
            receiver.receive(ch, &[0], &mut out[..1]).unwrap();
            invalid(receiver.offer(&vec![0; Kk13::CHUNK + 1]).map(drop).unwrap_err());
        },
    );
    let seeds = |n| SenderSeeds::new(dealt(&SESSION)[..n].to_vec());
    invalid(Receiver::<Kk13>::new(&SESSION, Backend::detect(), seeds(511), &mut rng(1)).map(drop).unwrap_err());
    let seeds = ReceiverSeeds::new(Bits::zeros(3), vec![Block::ZERO; 3]);
    invalid(Sender::<Oos16>::new(&SESSION, Backend::detect(), seeds, &mut rng(1)).map(drop).unwrap_err());
}

#[test]
fn messages_of_wrong_lengths_do_not_decode() {
    let malformed = |error: Error| assert!(matches!(error, Error { kind: Kind::Malformed(_), .. }), "{error}");
    for len in [0, 8191, 8193] {
        malformed(Corrections::from_bytes::<Kk13>(&vec![0; len], 128).unwrap_err());
    }
    Corrections::from_bytes::<Kk13>(&[0; 8192], 128).unwrap();
    Corrections::from_bytes::<Oos16>(&[0; 2 * 8192], 128).unwrap();
    malformed(Corrections::from_bytes::<Oos16>(&[0; 8192], 128).unwrap_err());
    malformed(Corrections::from_bytes::<Kk13>(&[], usize::MAX).unwrap_err());
    for len in [0, 31, Answer::BYTES - 1, Answer::BYTES + 1] {
        malformed(Answer::from_bytes(&vec![0; len]).unwrap_err());
    }
    let mut bytes = vec![0; Answer::BYTES];
    rng(4).fill(&mut bytes);
    assert_eq!(Answer::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    let other = Corrections(vec![0; 8192]);
    malformed(sender::<Kk13>(&SESSION, Backend::detect()).take(129, &other).map(drop).unwrap_err());
}

/// One chunk of `n` OTs by messages, with what the receiver sends changed by `corrupt` and `lie`.
fn checked(
    session: &SessionId,
    n: usize,
    corrupt: impl FnOnce(&mut [u8]),
    lie: impl FnOnce(&mut [u8]),
) -> Result<(Vec<Block>, Keys<Oos16>)> {
    let (offered, corrections) = receiver::<Oos16>(session, Backend::detect()).offer(&vec![5; n])?;
    let mut bytes = corrections.as_bytes().to_vec();
    corrupt(&mut bytes);
    let taken = sender::<Oos16>(session, Backend::detect()).take(n, &Corrections::from_bytes::<Oos16>(&bytes, n)?)?;
    let (_, blocks, answer) = offered.answer(&Challenge::from_bytes(taken.challenge().to_bytes()));
    let mut bytes = answer.to_bytes();
    lie(&mut bytes);
    let (_, keys) = taken.check(&Answer::from_bytes(&bytes)?)?;
    Ok((blocks, keys))
}

fn caught<T>(result: Result<T>) -> bool {
    match result {
        Ok(_) => false,
        Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn an_honest_chunk_passes() {
    let (blocks, keys) = checked(&SESSION, 200, |_| (), |_| ()).unwrap();
    let mut own = vec![Block::ZERO; 200];
    keys.evaluate_each(&[5; 200], &mut own).unwrap();
    assert!(own == blocks);
}

#[test]
fn wrong_rows_escape_as_often_as_their_bits_are_guessed() {
    // Rows with one bit wrong: what the sender has is right where s is zero.
    let runs = 400u64;
    for rows in [1, 2, 3] {
        let wrong = |bytes: &mut [u8]| {
            let stride = bytes.len() / ROWS;
            (0..rows).for_each(|row| bytes[(170 * row + 3) * stride] ^= 1);
        };
        let mut escaped = 0;
        for run in 0..runs {
            let session = session(1000 * rows as u64 + run);
            let guessed = (0..rows).all(|row| !s(&session).get(170 * row + 3));
            let caught = caught(checked(&session, 1, wrong, |_| ()));
            assert_eq!(caught, !guessed);
            escaped += u64::from(!caught);
        }
        // Five standard deviations.
        let p = 0.5f64.powi(rows as i32);
        let (mean, deviation) = (runs as f64 * p, (runs as f64 * p * (1.0 - p)).sqrt());
        assert!((escaped as f64 - mean).abs() < 5.0 * deviation, "{rows} rows: {escaped} of {runs}");
    }
}

#[test]
fn other_cheats_are_caught() {
    // A column that is no word of the code, as in all rows at random: half of s would have to be guessed.
    let random_column = |bytes: &mut [u8]| {
        let stride = bytes.len() / ROWS;
        let noise = bits(ROWS, 77);
        (0..ROWS).filter(|&row| noise.get(row)).for_each(|row| bytes[row * stride] ^= 1);
    };
    assert!(caught(checked(&SESSION, 100, random_column, |_| ())));
    // All bits of the matrix; a column of ones.
    assert!(caught(checked(&SESSION, 100, |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 0xff), |_| ())));
    // The columns of one choice in some rows and of another in the rest.
    let (_, mut other) = receiver::<Oos16>(&SESSION, Backend::detect()).offer(&[6; 100]).unwrap();
    let half = |bytes: &mut [u8]| {
        let len = bytes.len();
        bytes[len / 2..].copy_from_slice(&other.0.split_off(len / 2));
    };
    assert!(caught(checked(&SESSION, 100, half, |_| ())));
    // Any part of the answer, and an answer to another session.
    for at in [0, 16 * 40 + 3, 16 * MESSAGE - 1, 16 * MESSAGE, Answer::BYTES - 1] {
        assert!(caught(checked(&SESSION, 3, |_| (), |bytes| bytes[at] ^= 0x10)), "byte {at}");
    }
    let mut foreign = vec![];
    checked(&session(1), 3, |_| (), |bytes| foreign = bytes.to_vec()).unwrap();
    assert!(caught(checked(&SESSION, 3, |_| (), |bytes| bytes.copy_from_slice(&foreign))));
    // A word of the code in place of another is just another choice.
    let (_, other) = receiver::<Oos16>(&SESSION, Backend::detect()).offer(&[6; 3]).unwrap();
    let whole = |bytes: &mut [u8]| bytes.copy_from_slice(other.as_bytes());
    assert!(caught(checked(&SESSION, 3, whole, |_| ())), "but the answer must be that of what was sent");
}

fn two_calls<S: OneOfN>(ch: &mut dyn Channel, number: u64, receives: bool) -> Result<Vec<Block>> {
    let sizes = [150, 3];
    let mut all = Vec::new();
    if receives {
        let mut receiver = receiver::<S>(&session(number), Backend::detect());
        for n in sizes {
            let mut out = vec![Block::ZERO; n];
            receiver.receive(ch, &choices::<S>(n, n as u128), &mut out)?;
            all.extend(out);
        }
    } else {
        let mut sender = sender::<S>(&session(number), Backend::detect());
        for n in sizes {
            let mut out = vec![Block::ZERO; n];
            sender.keys(ch, n)?.evaluate_each(&choices::<S>(n, n as u128), &mut out)?;
            all.extend(out);
        }
    }
    Ok(all)
}

/// What an honest run of a session gives: both sides the same.
fn honest<S: OneOfN>(number: u64) -> Vec<Block> {
    let (sent, received) =
        Pair::run(|ch| two_calls::<S>(ch, number, false).unwrap(), |ch| two_calls::<S>(ch, number, true).unwrap());
    assert!(sent == received);
    sent
}

#[test]
fn no_deviation_makes_a_malicious_run_wrong() {
    let honest = [honest::<Oos16>(0), honest::<Oos16>(1)];
    let mut found = 0;
    let runs = deviate(
        150,
        |ch, number| two_calls::<Oos16>(ch, number, false).map(|blocks| blocks == honest[number as usize]),
        |ch, number| two_calls::<Oos16>(ch, number, true).map(|blocks| blocks == honest[number as usize]),
        |case, sender, receiver| {
            never_wrong(case, sender, receiver);
            found += usize::from(matches!(sender.error(), Some(Error { kind: Kind::Misbehaved(_), .. })));
        },
    );
    assert!(runs > 40 && found >= 5, "{runs} runs, {found} caught by the check");
}

#[test]
fn no_deviation_makes_a_semi_honest_run_hang_or_panic() {
    let runs = deviate(
        60,
        |ch, number| two_calls::<Kk13>(ch, number, false).map(|_| ()),
        |ch, number| two_calls::<Kk13>(ch, number, true).map(|_| ()),
        |_, _, _| (),
    );
    assert!(runs > 10);
}

#[test]
fn a_failed_extension_refuses_to_go_on() {
    let (errors, ()) = Pair::run(
        |ch: &mut MemoryChannel| {
            let mut sender = sender::<Oos16>(&SESSION, Backend::detect());
            [sender.keys(ch, 1).map(drop).unwrap_err(), sender.keys(ch, 0).map(drop).unwrap_err()]
        },
        |ch| ch.send(&[0; 100]).and_then(|()| ch.flush()).unwrap(),
    );
    assert!(matches!(errors, [Error { kind: Kind::Closed, .. }, Error { kind: Kind::InvalidInput(_), .. }]));
    let (errors, ()) = Pair::run(
        |ch: &mut MemoryChannel| {
            let mut receiver = receiver::<Oos16>(&SESSION, Backend::detect());
            let mut out = [Block::ZERO];
            let first = receiver.receive(ch, &[3], &mut out).unwrap_err();
            assert!(out == [Block::ZERO]);
            [first, receiver.offer(&[]).map(drop).unwrap_err()]
        },
        |ch| ch.send(&[0; 15]).and_then(|()| ch.flush()).unwrap(),
    );
    assert!(matches!(errors, [Error { kind: Kind::Closed, .. }, Error { kind: Kind::InvalidInput(_), .. }]));
}

#[test]
fn seeds_come_from_real_base_ots() {
    fn agrees<S: OneOfN, B: crate::base::BaseOt<Model: crate::model::AtLeast<S::Model>>>() {
        let (keys, blocks) = Pair::run(
            |ch| {
                let backend = Backend::detect();
                Sender::<S>::setup::<B>(ch, &SESSION, backend, &mut rng(3)).unwrap().keys(ch, 2).unwrap()
            },
            |ch| {
                let mut receiver = Receiver::<S>::setup::<B>(ch, &SESSION, Backend::detect(), &mut rng(4)).unwrap();
                let mut out = [Block::ZERO; 2];
                receiver.receive(ch, &[1 << 70, 12], &mut out).unwrap();
                out
            },
        );
        let mut own = [Block::ZERO; 2];
        keys.evaluate_each(&[1 << 70, 12], &mut own).unwrap();
        assert!(own == blocks);
    }
    agrees::<Kkrt16, Simplest>();
    agrees::<Oos16, Csw>();
}

#[test]
fn half_a_thousand_bits_are_enough_for_a_pseudo_random_code() {
    // Exact sums of binomials, by hand elsewhere.
    let widths = [8, 12, 16, 20, 24, 40].map(|log_pairs| pseudo_random_width(log_pairs, 40));
    assert_eq!(widths, [411, 420, 428, 436, 444, 474]);
    assert_eq!(pseudo_random_width(62, 40), ROWS);
    assert!(pseudo_random_width(63, 40) > ROWS);
    assert_eq!(Oos16::RHO, 44);
}
