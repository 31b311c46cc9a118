//! Adders from a shelf: the sums that they give, what is told of them, what is drawn for them, and bytes that are no
//! batch.

use std::collections::HashSet;

use comity_channel::{Mesh, Recorded, memory_mesh};
use comity_core::Kind;
use comity_protocol::Here;
use comity_share::ring::word_mask;
use comity_testing::laws::{bits, rng};
use comity_testing::ot::DealtBaseOts;
use comity_testing::{Kept, Net, PATIENCE};

use super::*;

const WIDTHS: [u32; 13] = [1, 2, 7, 8, 31, 32, 33, 40, 63, 64, 65, 96, 128];

fn here(net: &Mesh<'_>, session: &str) -> Here {
    Here::new(net.me(), 2, SessionId::derive(session, &[]))
}

/// Batches of a lot that is made in this session, with generators from a seed, of both parties.
fn made(session: &str, seed: u128, batches: usize) -> [Vec<Vec<u8>>; 2] {
    Net::<2>::run(|net| {
        let here = here(net, session);
        let mut draw = rng(seed << 1 | u128::from(here.me.0));
        let mut me = Party { net, here, rng: &mut draw, observer: &mut () };
        let mut maker = TableMaker::setup::<DealtBaseOts>(&mut me, OtKind::SoftSpoken).unwrap();
        let batch = |_| {
            let mut bytes = Vec::new();
            maker.write(&mut me, &mut bytes).unwrap();
            assert!(bytes.len() as u64 <= BATCH_BYTES);
            bytes
        };
        (0..batches).map(batch).collect()
    })
}

/// A step of a run: words of these widths are opened, so many of each, or labels of bits are wanted.
#[derive(Clone, Copy)]
enum Step<'a> {
    Open(&'a [(u32, usize)]),
    Labels(usize),
}

/// The shares of a party: extremes, and what is drawn.
fn shares(step: usize, group: usize, (width, count): (u32, usize), me: usize) -> Vec<u128> {
    let mut draw = rng((step as u128) << 32 | (group as u128) << 8 | me as u128);
    let extremes = [0, u128::MAX, 1 << (width - 1), 1];
    let mut share = |i: usize| match i {
        0..16 => extremes[if me == 0 { i % 4 } else { i / 4 }],
        _ => draw.block().to_u128(),
    };
    (0..count).map(|i| share(i) & word_mask(width)).collect()
}

/// What each party has in the end: the labels of each step; and what it sent.
struct End {
    labels: Vec<Vec<Block>>,
    sent: Vec<u8>,
    delta: Option<Block>,
    left: usize,
}

/// The shares of a party, of so many words of a width, in a group of a step.
type Shares = fn(usize, usize, (u32, usize), usize) -> Vec<u128>;

fn run(made: &[Vec<Vec<u8>>; 2], steps: &[Step<'_>], shares: Shares) -> Vec<End> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = memory_mesh(2, Some(PATIENCE))
            .into_iter()
            .map(|links| {
                scope.spawn(move || {
                    let mut recorders = Vec::new();
                    let mut net = Mesh::new(links.map(|_, link| {
                        let link = Recorded::new(link, 64 << 20);
                        recorders.push(link.recorder());
                        link
                    }));
                    let (me, here) = (usize::from(net.me().0), here(&net, "run"));
                    let mut shelf = Kept::new(ADDERS, made[me].clone());
                    let mut adders = Adders::open(&mut shelf, &here).unwrap();
                    let ch = net.pair().unwrap().1;
                    let mut all = Vec::new();
                    for (number, step) in steps.iter().enumerate() {
                        let mut labels = vec![Block::ZERO; width(step)];
                        match step {
                            Step::Open(groups) => {
                                let words = |(group, of): (usize, &(u32, usize))| OpenedWords {
                                    bits: of.0,
                                    shares: Zeroizing::new(shares(number, group, *of, me)),
                                };
                                let words: Vec<OpenedWords> = groups.iter().enumerate().map(words).collect();
                                adders.sums(ch, &words, &mut labels).unwrap();
                            }
                            Step::Labels(count) => {
                                let value = bits(*count, &mut rng(number as u128));
                                adders.labels(ch, (me == 1).then_some(&value), &mut labels).unwrap();
                            }
                        }
                        all.push(labels);
                    }
                    let delta = adders.delta();
                    let recording = recorders[0].recording();
                    End { labels: all, sent: recording.sent.to_vec(), delta, left: shelf.batches.len() }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn width(step: &Step<'_>) -> usize {
    match step {
        Step::Open(groups) => groups.iter().map(|(width, count)| *width as usize * count).sum(),
        Step::Labels(count) => *count,
    }
}

/// The bits of which a step gives labels.
fn expected(number: usize, step: &Step<'_>) -> Vec<bool> {
    match step {
        Step::Labels(count) => bits(*count, &mut rng(number as u128)).iter().collect(),
        Step::Open(groups) => {
            let sums = groups.iter().enumerate().flat_map(|(group, of)| {
                let [one, other] = [0, 1].map(|me| shares(number, group, *of, me));
                let sum = move |(x, y): (u128, u128)| (x.wrapping_add(y), of.0);
                one.into_iter().zip(other).map(sum).collect::<Vec<_>>()
            });
            sums.flat_map(|(sum, width)| (0..width).map(move |bit| sum >> bit & 1 == 1)).collect()
        }
    }
}

/// Runs steps, and holds each label to its bit.
fn holds(made: &[Vec<Vec<u8>>; 2], steps: &[Step<'_>]) -> Vec<End> {
    let ends = run(made, steps, shares);
    let delta = ends[0].delta.unwrap();
    assert!(delta.lsb() && ends[1].delta.is_none());
    let mut seen = HashSet::new();
    for (number, step) in steps.iter().enumerate() {
        let [zeros, active] = [0, 1].map(|me| &ends[me].labels[number]);
        for (i, bit) in expected(number, step).into_iter().enumerate() {
            assert_eq!(active[i], zeros[i] ^ delta.masked(bit), "bit {i} of step {number}");
            assert!(seen.insert(zeros[i].to_u128()), "a label is one bit's alone");
        }
    }
    ends
}

#[test]
fn words_of_every_width_become_labels_of_their_bits() {
    let made = made("lot", 1, 2);
    for width in WIDTHS {
        // Less than a sheet, and on where the one before ended.
        let ends = holds(&made, &[Step::Open(&[(width, 21)]), Step::Open(&[(width, 3)])]);
        let told = |words: usize| (words * width as usize).div_ceil(8);
        let labels = 16 * 24 * width as usize;
        assert_eq!(ends[0].sent.len(), told(21) + told(3) + labels, "{width} bits");
        assert_eq!(ends[1].sent.len(), told(21) + told(3), "{width} bits");
    }
}

#[test]
fn adders_of_all_widths_and_labels_come_from_one_lot() {
    let made = made("lot", 2, 3);
    let all: Vec<(u32, usize)> = WIDTHS.iter().map(|width| (*width, 17)).collect();
    let many = [(32, 70), (5, 1), (32, 3), (128, 20), (64, 40), (33, 2)];
    let steps = [Step::Labels(100), Step::Open(&all), Step::Labels(2100), Step::Open(&many), Step::Open(&[(1, 1)])];
    let ends = holds(&made, &steps);
    // Of one, two and four segments, and OTs.
    let adders: [u64; 3] = [6 * 17 + 74 + 1, 4 * 17 + 42, 3 * 17 + 20];
    let sheets = [adders[0].div_ceil(64), adders[1].div_ceil(32), adders[2].div_ceil(16), 2200u64.div_ceil(2048)];
    assert_eq!(sheets, [3, 4, 5, 2]);
    assert_eq!(batches(adders, 2200), 2);
    let full = [64 * SHEETS as u64, 32 * SHEETS as u64, 16 * SHEETS as u64];
    for (class, full) in full.into_iter().enumerate() {
        let of = |more: u64| [0, 1, 2].map(|other| if other == class { full + more } else { 0 });
        assert_eq!([batches(of(0), 0), batches(of(1), 0), batches(of(0), 1)], [1, 2, 2]);
    }
    assert_eq!([0, 1, CELLS as u64, CELLS as u64 + 1].map(|ots| batches([0; 3], ots)), [0, 1, 1, 2]);
    assert!(ends.iter().all(|end| end.left == 1), "a run takes what it counts");
}

/// What both tell of zeros is as likely zero as one at each bit of a word; and no label that is told is told again.
#[test]
fn what_is_told_looks_random() {
    const WORDS: usize = 500;
    let made = made("lot", 3, 4);
    for width in [7, 33] {
        let told = (WORDS * width).div_ceil(8);
        let zeros = run(&made, &[Step::Open(&[(width as u32, WORDS)])], |_, _, (_, count), _| vec![0; count]);
        let told = |sent: &[u8]| Bits::from_bytes(&sent[..told], WORDS * width);
        let [one, other] = [0, 1].map(|me| told(&zeros[me].sent));
        // Nor does the one say anything of the other.
        let mut both = one.clone();
        both.xor_assign(&other);
        for told in [one, other, both] {
            for bit in 0..width {
                let ones = (0..WORDS).filter(|word| told.get(word * width + bit)).count();
                // Six standard deviations.
                assert!(ones.abs_diff(WORDS / 2) < 68, "bit {bit} of {width} is one in {ones} of {WORDS}");
            }
        }
        let labels = &zeros[0].sent[(WORDS * width).div_ceil(8)..];
        let labels: HashSet<&[u8]> = labels.chunks(16).collect();
        assert_eq!(labels.len(), WORDS * width);
    }
}

/// The parts of the batches of a lot.
fn parts(made: &[Vec<Vec<u8>>; 2], batch: usize) -> [AdderTables; 2] {
    [0, 1].map(|me| AdderTables::read(&mut &made[usize::from(me)][batch][..], PartyId(me), CHAINS).unwrap())
}

/// A lot has one delta; all else is drawn for each batch, and other lots have other deltas.
#[test]
fn what_is_drawn_is_drawn() {
    let lots = [4, 5].map(|seed| made("lot", seed, 2));
    let [[first, theirs], [second, their_second], [other, _]] =
        [parts(&lots[0], 0), parts(&lots[0], 1), parts(&lots[1], 0)];
    let garblers = |batch: &AdderTables| match &batch.part {
        Part::Garbler { delta, seed, .. } => (**delta, **seed),
        Part::Evaluator { .. } => panic!("it is the garbler's"),
    };
    let [first, second, other] = [first, second, other].map(|batch| garblers(&batch));
    assert!(first.0 == second.0 && first.0 != other.0);
    assert!(first.1 != second.1 && first.1 != other.1);
    let choices = |batch: AdderTables| match batch.part {
        Part::Evaluator { choices, .. } => choices,
        Part::Garbler { .. } => panic!("it is the evaluator's"),
    };
    let [one, mut two] = [theirs, their_second].map(choices);
    two.xor_assign(&one);
    let drawn = |seed: Block| {
        let mut from = Prg::new(Backend::detect(), seed);
        (0..SHEETS)
            .flat_map(|_| Drawn::next(&mut from).numbers.to_vec())
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let lot = SessionId::derive("lot", &[]);
    let public: HashSet<u128> =
        (0..3).map(|number| public_labels(Backend::detect(), &lot, number).block().to_u128()).collect();
    assert_eq!(public.len(), 3, "the public labels of each batch are its own");
    let numbers = Bits::from_bytes(&drawn(first.1), CELLS);
    for drawn in [one, two, numbers] {
        let ones = drawn.iter().filter(|bit| *bit).count();
        assert!(ones.abs_diff(CELLS / 2) < 384, "{ones} ones of {CELLS}");
    }
}

/// No two gates of a lot have a key in common.
#[test]
fn keys_of_gates_are_apart() {
    let lot = SessionId::derive("lot", &[]);
    let all = chains::starts(&lot, (0..64).chain([MOST_SHEETS - 1]));
    let keys: HashSet<u128> = all.iter().map(|start| start.to_u128() >> chains::GATES).collect();
    assert_eq!(keys.len(), all.len());
}

#[test]
fn what_is_no_batch_is_refused() {
    let [ours, theirs] = made("lot", 6, 2);
    let [other_lot, _] = made("another lot", 6, 1);
    let opened = |batches: &[&[u8]], me: u16| -> Result<()> {
        let mut shelf = Kept::new("", batches.iter().map(|batch| batch.to_vec()));
        let here = Here { me: PartyId(me), ..Net::<2>::run(|net| here(net, "run"))[0] };
        let mut adders = Adders::open(&mut shelf, &here)?;
        (0..batches.len() * SHEETS).try_for_each(|_| adders.sheet().map(drop))
    };
    let refused = |batches: &[&[u8]], me: u16, words: &str| {
        let why = opened(batches, me).unwrap_err();
        assert!(matches!(&why.kind, Kind::Store(why) if why.contains(words)), "{words}: {why}");
    };
    opened(&[&ours[0], &ours[1]], 0).unwrap();
    opened(&[&theirs[0], &theirs[1]], 1).unwrap();
    refused(&[&ours[0], &other_lot[0]], 0, "of another lot");
    for (batch, me) in [(&ours[0], 0), (&theirs[0], 1)] {
        refused(&[batch], 1 - me, "of another party");
        refused(&[&[&batch[..], &[0]].concat()], me, "more bytes");
        let mut version = batch.clone();
        version[14] ^= 1;
        refused(&[&version], me, "as one of this version");
        for len in [0, 15, 16, 17, 49, 57, 73, 1000, batch.len() - 1] {
            refused(&[&batch[..len]], me, "cannot be read");
        }
        let read = AdderTables::read(&mut &batch[..], PartyId(me), CHAINS).unwrap();
        let mut again = Vec::new();
        read.write(&mut again).unwrap();
        assert!(again == *batch);
    }
    let mut even = ours[0].clone();
    even[16 + 1 + 32 + 8] &= 0xfe;
    refused(&[&even], 0, "its delta");
    let none = opened(&[], 0).unwrap_err();
    assert!(matches!(&none.kind, Kind::InvalidInput(why) if why.contains("no batch of adder tables is left")));
}
