//! What is on the wire: always the same bytes for the same randomness, no pad twice, and no sign of a recovery.

use std::collections::{HashMap, HashSet};

use comity_channel::{Recorded, Recording, Replay};
use comity_circuit::Recipients;
use comity_core::{Backend, Bits, Block, Prg};
use comity_testing::Pair;

use super::garblers::Garbler;
use super::{BITS, Setting, Verdict, honest, program};
use crate::checks;
use crate::conduct::Act;
use crate::copies::{CopySecret, KeyStreams, Replica};
use crate::probe::Probe;

const LIMIT: usize = 64 << 20;

/// The bytes that both parties send.
fn recorded(setting: &Setting<'_>, mut garbler: impl FnMut(Act<'_>) + Send) -> [Recording; 2] {
    let (a, b) = Pair::run(
        |ch| {
            let mut ch = Recorded::new(ch, LIMIT);
            setting.party(&mut ch, 0, &mut garbler).expect("a run without abort");
            ch.recorder().recording()
        },
        |ch| {
            let mut ch = Recorded::new(ch, LIMIT);
            let mut forced = |mut act: Act<'_>| {
                if let (Act::Choice(choice), Some(evaluated)) = (&mut act, &setting.evaluated) {
                    **choice = super::chosen(setting.rho, evaluated);
                }
            };
            setting.party(&mut ch, 1, &mut forced).expect("a run without abort");
            ch.recorder().recording()
        },
    );
    [a, b]
}

/// Whoever changes the bytes on purpose, here or in comity-ot, changes this digest, and the wire version.
const GOLDEN: &str = "5838ab7753c6cb95beceda42757696e7479ac7ed23a251f05438bd69c11dfea4";
/// The digest for two phases. Whoever changes what is stored changes the version of batches too; the digest
/// of the program, which follows from its encoding, is part of it.
const GOLDEN_PREPARED: &str = "7908e01da8b461803ff7eafb90c73d61e538f698ae76d0c167a8913230ae9d04";

/// Pins what both parties send in a run over the full stack, and what they store.
fn pinned(prepared: bool, golden: &str) {
    let program = program(Recipients::All);
    let digest = |backend| {
        let setting = Setting { backend, prepared, dealt: false, ..Setting::new(&program, 5, 300) };
        let mut hasher = blake3::Hasher::new();
        let mut update = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        recorded(&setting, honest).iter().for_each(|recording| update(&recording.sent));
        if prepared {
            let offline = |ch: &mut comity_channel::MemoryChannel, party| {
                setting.offline(ch, party, &mut honest).expect("a batch")
            };
            let (a, b) = Pair::run(|ch| offline(ch, 0), |ch| offline(ch, 1));
            [a, b].iter().for_each(|stored| update(stored));
        }
        hasher.finalize().to_hex()
    };
    let digests: Vec<_> = Backend::available().into_iter().map(|backend| (backend, digest(backend))).collect();
    for (backend, digest) in &digests {
        assert_eq!(*digest, digests[0].1, "{backend}");
    }
    assert_eq!(digests[0].1.as_str(), golden);
}

#[test]
fn the_wire_is_pinned_on_every_backend() {
    pinned(false, GOLDEN);
}

#[test]
fn the_wire_and_what_is_stored_are_pinned_on_every_backend() {
    pinned(true, GOLDEN_PREPARED);
}

#[test]
fn a_recovery_is_not_to_be_seen() {
    let program = program(Recipients::All);
    for setting in (Setting { evaluated: Some(vec![0, 2, 3]), ..Setting::new(&program, 6, 310) }).both() {
        let [_, honest] = recorded(&setting, honest);
        let mut garbler = Garbler::swapping_output(&[3], &setting);
        let [_, recovered] = recorded(&setting, |act| garbler.act(act));
        assert_eq!(honest.sent.len(), recovered.sent.len());
        assert_eq!(honest.borders, recovered.borders);
        // `h1` differs, before the 9 bytes of the garbler's output and its tag, and nothing else does.
        let h1 = honest.sent.len() - 9 - 32..honest.sent.len() - 9;
        let differ: Vec<usize> = (0..honest.sent.len()).filter(|&i| honest.sent[i] != recovered.sent[i]).collect();
        assert!(!differ.is_empty() && differ.iter().all(|at| h1.contains(at)), "{differ:?}");
    }
}

/// The pads: what a garbler sends if all that it encrypts is zero.
fn pads(setting: &Setting<'_>) -> Vec<u8> {
    let [_, evaluator] = recorded(setting, honest);
    // Shown in clear, and the same for the same randomness: replaced by what is not.
    let mut shown = Prg::new(setting.backend, setting.session().block("shown"));
    let mut bare = move |act: Act<'_>| match act {
        Act::Labels { messages, .. } => messages.fill(Block::ZERO),
        Act::R { column, .. } => column.fill(Block::ZERO),
        Act::Opened { labels, .. } => labels.fill(Block::ZERO),
        Act::Masking { label, .. } => *label = Block::ZERO,
        Act::Rows { table, .. } => table.fill(Block::ZERO),
        Act::OutputCommitment { salt, .. } => salt.fill(0),
        Act::TableKey { key, .. } => key.fill(0),
        Act::Difference(bits) => shown.fill(bits),
        Act::Delta(delta) => shown.fill_blocks(delta),
        Act::Answer { seed, .. } => *seed = Block::ZERO,
        _ => {}
    };
    // The evaluator would not put up with it; its bytes do.
    let mut ch = Recorded::new(Replay::of_peer(evaluator.sent), LIMIT);
    setting.party(&mut ch, 0, &mut bare).expect("a run without abort");
    ch.recorder().recording().sent
}

/// The pieces of 16 bytes that occur twice.
fn repeated(bytes: &[u8]) -> HashSet<&[u8]> {
    let mut seen = HashSet::new();
    bytes.windows(16).filter(|window| !seen.insert(*window)).collect()
}

/// No two places of all that the garbler sends are equal over 16 bytes, in one run or in two that differ in
/// their session alone, or in their phases.
#[test]
fn no_pad_is_used_twice() {
    let program = program(Recipients::All);
    let mut seen = HashMap::new();
    for setting in
        [320, 321].into_iter().flat_map(|session| Setting { session, ..Setting::new(&program, 10, 320) }.both())
    {
        let session = (setting.session, setting.prepared);
        let [honest, _] = recorded(&setting, honest);
        let known = repeated(&honest.sent);
        let sent = pads(&setting);
        // The committing OT's first tree is corrected where there are choices, of which the last four are
        // alone in their byte.
        let pad = |bytes: &[u8]| !known.contains(bytes) && bytes[1..] != [0; 15];
        for (at, bytes) in sent.windows(16).enumerate().filter(|(_, bytes)| pad(bytes)) {
            let before = seen.insert(<[u8; 16]>::try_from(bytes).unwrap(), (session, at));
            assert!(before.is_none(), "{before:?} comes again at {:?} of {}: {bytes:?}", (session, at), sent.len());
        }
    }
    assert!(seen.len() > 1_000_000);
}

/// Streams and values of copies: none is another's, in whatever copy, of whatever secret and session.
#[test]
fn nothing_of_a_copy_is_anything_else() {
    let program = program(Recipients::All);
    let backend = Backend::detect();
    let mut seen = HashSet::new();
    for session in [1, 2].map(|seed| Setting::new(&program, 4, seed).session()) {
        for secret in [1, 2].map(|value| CopySecret(Block::from_u128(value))) {
            for j in 0..3 {
                let Replica { delta, mut a, mut b, mut r, salt, .. } =
                    Replica::new(backend, &session, j, secret.clone());
                let KeyStreams { r: mut key_r, a: mut key_a, t: mut key_t } =
                    KeyStreams::new(backend, &session, j, &secret);
                let (low, high) = salt.split_at(16);
                seen.extend(
                    [&mut a, &mut b, &mut r, &mut key_r, &mut key_a, &mut key_t].map(|prg| prg.block().to_bytes()),
                );
                seen.insert(delta.block().to_bytes());
                seen.extend([low, high].map(|half| <[u8; 16]>::try_from(half).unwrap()));
            }
        }
    }
    assert_eq!(seen.len(), 2 * 2 * 3 * 9);
}

/// `delta_j`, `Delta` and the delta of the committing OT: the first follow from seeds and session, the second from
/// neither, the third is the evaluator's.
#[test]
fn the_three_deltas_have_nothing_in_common() {
    let program = program(Recipients::All);
    let deltas = |session: u128| {
        let (mut copies, mut delta, mut committing) = (Vec::new(), Block::ZERO, Block::ZERO);
        let setting = Setting { session, ..Setting::new(&program, 8, 330) };
        let ends = setting.run(
            |act| match act {
                Act::Copies(all) => copies = all.iter().map(|copy| copy.delta.block()).collect(),
                Act::Delta(shown) => delta = shown[0],
                _ => {}
            },
            |act| {
                if let Act::Opening(opening) = act {
                    committing = Block::new(std::array::from_fn(|i| opening[i]));
                }
            },
        );
        assert!(ends.evaluator.is_ok());
        (copies, delta, committing)
    };
    let (first, second) = (deltas(330), deltas(331));
    let all: Vec<Block> = [&first, &second].iter().flat_map(|(copies, ..)| copies).copied().collect();
    assert!(first.1 == second.1 && first.2 == second.2, "the same randomness");
    let all = [&all[..], &[first.1, first.2]].concat();
    // None is another one, nor the sum of two.
    let mut sums: HashSet<[u8; 16]> = all.iter().map(|delta| delta.to_bytes()).collect();
    for (i, a) in all.iter().enumerate() {
        sums.extend(all[..i].iter().map(|b| (*a ^ *b).to_bytes()));
    }
    assert_eq!(sums.len(), 18 + 18 * 17 / 2);
}

/// An evaluator that has the seeds of checked copies takes their permute bits out of the answers of step 4:
/// what is left would be the sum of the weights where `x` is one, but for `mu_j`, which it does not have.
#[test]
fn answers_for_checked_copies_do_not_tell_the_input() {
    let program = program(Recipients::only(1));
    for setting in (Setting { evaluated: Some(vec![0]), ..Setting::new(&program, 8, 340) }).both() {
        let (mut labels, mut answers) = (vec![Vec::new(); 8], Vec::new());
        let mut challenge = Block::ZERO;
        let ends = setting.run(
            |act| match act {
                Act::Committed { j, zeros, .. } => labels[j] = zeros.to_vec(),
                Act::InputAnswer { answer, .. } => answers.push(answer.bits),
                _ => {}
            },
            |act| {
                if let Act::Challenge(told) = act {
                    challenge = *told;
                }
            },
        );
        assert!(ends.evaluator.is_ok());
        let mut weights = vec![Block::ZERO; setting.x.len()];
        Prg::new(setting.backend, challenge).fill_blocks(&mut weights);
        let sum = |bits: &mut dyn Iterator<Item = bool>| {
            weights.iter().zip(bits).fold(Block::ZERO, |sum, (weight, bit)| sum ^ weight.masked(bit))
        };
        let told = sum(&mut setting.x.iter());
        let mut left: HashSet<[u8; 16]> = answers
            .iter()
            .zip(&labels)
            .map(|(bits, labels)| (*bits ^ sum(&mut labels.iter().map(|label| label.lsb()))).to_bytes())
            .collect();
        left.insert(told.to_bytes());
        assert_eq!(left.len(), 9);
    }
}

/// With other weights than those it told, an evaluator refuses honest answers, whichever copies it evaluates.
#[test]
fn answers_are_to_the_challenge() {
    let program = program(Recipients::only(1));
    for (evaluated, misbehaviour) in [(vec![0, 1, 2, 3], checks::INPUT_OPENING), (vec![0, 1], checks::INPUT_COMMITMENT)]
    {
        for setting in (Setting { evaluated: Some(evaluated), ..Setting::new(&program, 4, 350) }).both() {
            let other = |act: Act<'_>| {
                if let Act::Challenge(told) = act {
                    *told ^= Block::from_u128(1);
                }
            };
            assert_eq!(setting.run(honest, other).verdict(&setting), Verdict::Abort(misbehaviour));
        }
    }
}

/// Under one session: the challenge follows from nothing that the garbler knows.
#[test]
fn every_run_has_a_challenge_of_its_own() {
    let program = program(Recipients::only(1));
    let mut seen = HashSet::new();
    for seed in 0..4 {
        for setting in (Setting { session: 360, ..Setting::new(&program, 3, 360 + seed) }).both() {
            let mut challenge = Block::ZERO;
            let ends = setting.run(honest, |act| {
                if let Act::Challenge(told) = act {
                    challenge = *told;
                }
            });
            assert!(ends.evaluator.is_ok());
            seen.insert(challenge.to_bytes());
        }
    }
    assert_eq!(seen.len(), 8);
}

/// Online, the evaluator tells its challenge when all that it checks has come: the labels, and the keys of
/// the output tables.
#[test]
fn a_prepared_challenge_leaves_after_what_it_checks() {
    let program = program(Recipients::All);
    let setting = Setting { prepared: true, ..Setting::new(&program, 4, 370) };
    let offline =
        |ch: &mut comity_channel::MemoryChannel, party| setting.offline(ch, party, &mut honest).expect("a batch");
    let (a, b) = Pair::run(|ch| offline(ch, 0), |ch| offline(ch, 1));
    // What the garbler has sent when it answers; what the evaluator has, and has sent, when it is about to tell.
    let (checked, told) = Pair::run(
        |ch| {
            let mut ch = Recorded::new(ch, LIMIT);
            let (recorder, mut checked) = (ch.recorder(), None);
            let mut act = |act: Act<'_>| {
                if let Act::InputAnswer { j: 0, .. } = act {
                    checked = Some(recorder.recording().sent.len());
                }
            };
            setting.online(&mut ch, 0, &a, &mut act).expect("an output");
            checked.expect("an answer")
        },
        |ch| {
            let mut ch = Recorded::new(ch, LIMIT);
            let (recorder, mut told) = (ch.recorder(), None);
            let mut act = |act: Act<'_>| {
                if let Act::Challenge(_) = act {
                    told = Some((recorder.recording().received.len(), recorder.recording().sent.len()));
                }
            };
            setting.online(&mut ch, 1, &b, &mut act).expect("an output");
            told.expect("a challenge")
        },
    );
    // Only the difference of its input has left the evaluator.
    assert_eq!(told, (checked, Probe::new(setting.rho, BITS).encoded().div_ceil(8)));
}

/// Online, both parties say how their inputs differ from random bits. In many batches for one input, each bit
/// of the input that would follow if the random bits were zero takes both values, and no bit always goes with
/// another.
#[test]
fn what_is_told_of_an_input_says_nothing() {
    const RUNS: u128 = 40;
    let program = program(Recipients::only(1));
    let probe = Probe::new(3, BITS);
    let mut seen = [vec![0_u64; BITS], vec![0; BITS]];
    for run in 0..RUNS {
        let setting = Setting { prepared: true, ..Setting::new(&program, 3, 380 + run) };
        let told = |len: usize, into: &mut Bits, act: Act<'_>| {
            if let Act::Difference(bytes) = act {
                *into = Bits::from_bytes(bytes, len);
            }
        };
        let (mut x, mut encoded) = (Bits::default(), Bits::default());
        let ends = setting.run(|act| told(BITS, &mut x, act), |act| told(probe.encoded(), &mut encoded, act));
        assert!(ends.evaluator.is_ok());
        for (seen, value) in seen.iter_mut().zip([x, probe.decode(&encoded)]) {
            seen.iter_mut().zip(value.iter()).for_each(|(seen, bit)| *seen = *seen << 1 | u64::from(bit));
        }
    }
    let all = (1 << RUNS) - 1;
    for seen in &seen {
        let distinct: HashSet<u64> = seen.iter().flat_map(|&values| [values, values ^ all]).chain([0, all]).collect();
        assert_eq!(distinct.len(), 2 * BITS + 2);
    }
}
