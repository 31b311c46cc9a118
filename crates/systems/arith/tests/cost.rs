//! Bytes and rounds, exactly as the docs say; lengths that say nothing; memory.

use comity_arith::Arith;
use comity_channel::{Mesh, Recorded, Traffic, memory_mesh};
use comity_circuit::{Builder, Program, Wire};
use comity_core::{Backend, Bits};
use comity_library::arith;
use comity_testing::laws::{self, bits, rng, run};
use comity_testing::{PATIENCE, peak_memory};

use super::{DEALT, setting};

/// `times` products of words of `width` bits side by side, and as many squares.
fn program(width: usize, times: u64) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let product = arith::mul(&mut b, &x, &y);
    let square = arith::square(&mut b, &x);
    b.output("product", &product);
    b.output("square", &square);
    Program::map(b.finish(), times, &[]).unwrap().with_owner(1, 1).unwrap()
}

fn inputs(program: &Program, seed: u128) -> Vec<Bits> {
    program.inputs().iter().map(|input| bits(input.bits, &mut rng(seed))).collect()
}

/// What both parties send, and their rounds.
pub(super) fn traffic(program: &Program, inputs: &[Bits]) -> Vec<Traffic> {
    laws::traffic(&Arith, 2, program, inputs, setting(Backend::detect())).concat()
}

/// Bytes of the base OTs of both ways, from each party: points, a first point, trees.
const SETUP: u64 = 128 * 32 + 32 + 32 * 3 * 32;

#[test]
fn bytes_and_rounds_are_what_the_docs_say() {
    for (width, times) in [(64, 3000), (128, 900), (9, 5000)] {
        let program = program(width, times);
        let width = width as u64;
        let rows = |ots: u64| 31 * 16 * ots.div_ceil(128);
        let chunk = |ots: u64| (1 << 17) / ots / 128 * 128;
        // The OTs of products in chunks, and of the half of the squares that a party sends.
        let mut offline = 0;
        let mut rounds = 0;
        for (count, ots) in [(times, width), (times.div_ceil(2), width - 1)] {
            let mut left = count;
            while left > 0 {
                let now = left.min(chunk(ots));
                offline += rows(now * ots) + (now * ots * (ots + 1) / 2).div_ceil(8);
                left -= now;
                rounds += 2;
            }
        }
        let online = (times * 3 * width).div_ceil(8);
        let outputs = 2 * (times * width).div_ceil(8);
        for (party, traffic) in (0..).zip(traffic(&program, &inputs(&program, 1))) {
            assert_eq!(traffic.sent, SETUP + 16 + offline + online + outputs, "{width} bits");
            // Base OTs, one more at party 1; the seeds; the products; the outputs.
            assert_eq!(traffic.rounds - rounds, 2 + party + 1 + 1 + 2, "{width} bits, party {party}");
        }
    }
}

/// `times` products of matrices side by side, whole or as a sum of products for each word of them.
fn of_matrices([m, n, p]: [usize; 3], width: usize, times: u64, whole: bool) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", m * n * width), b.input("y", n * p * width));
    let [x, y] = [x, y].map(|words| words.chunks(width).map(<[_]>::to_vec).collect::<Vec<_>>());
    let product = if whole {
        arith::mat_mul(&mut b, [m, n, p], &x, &y).concat()
    } else {
        let column = |at: usize| y[at..].iter().step_by(p).cloned().collect::<Vec<_>>();
        (0..m * p).flat_map(|at| arith::dot(&mut b, &x[at / p * n..][..n], &column(at % p))).collect()
    };
    b.output("product", &product);
    Program::map(b.finish(), times, &[]).unwrap().with_owner(1, 1).unwrap()
}

/// `2 m n k` OTs for a product of m rows by at least as many columns, where products one by one take p times as
/// many; each word of the factors is opened once.
#[test]
fn matrices_take_an_ot_for_a_row_and_sums_of_products_one_opening() {
    for ([m, n, p], width) in [([2, 3, 4], 64), ([4, 3, 2], 64), ([5, 1, 5], 9), ([1, 2, 1], 128)] {
        const TIMES: u64 = 20;
        let rows = |ots: u64| 31 * 16 * ots.div_ceil(128);
        let ([m64, n64, p64], k) = ([m, n, p].map(|size| size as u64), width as u64);
        let told = (TIMES * m64 * n64 * p64 * k * (k + 1) / 2).div_ceil(8);
        let outputs = (TIMES * m64 * p64 * k).div_ceil(8);
        let whole = TIMES * n64 * m64.min(p64) * k;
        let apart = TIMES * n64 * m64 * p64 * k;
        for (is_whole, ots, opened) in [(true, whole, n64 * (m64 + p64)), (false, apart, 2 * n64 * m64 * p64)] {
            let program = of_matrices([m, n, p], width, TIMES, is_whole);
            let online = (TIMES * opened * k).div_ceil(8);
            for (party, traffic) in (0..).zip(traffic(&program, &inputs(&program, 2))) {
                let sent = SETUP + 16 + rows(ots) + told + online + outputs;
                assert_eq!(traffic.sent, sent, "{m} {n} {p} of {width} bits, {is_whole}");
                // Base OTs, one more at party 1; the seeds; OTs and what is told; the products; the outputs.
                assert_eq!(traffic.rounds, 2 + party + 1 + 2 + 1 + 1, "{m} {n} {p}, party {party}, {is_whole}");
            }
        }
    }
}

#[test]
fn lengths_are_the_same_for_all_inputs() {
    let program = program(32, 40);
    let zeros: Vec<Bits> = program.inputs().iter().map(|input| Bits::zeros(input.bits)).collect();
    let sent = |inputs: &[Bits]| traffic(&program, inputs).iter().map(|traffic| traffic.sent).collect::<Vec<_>>();
    assert_eq!(sent(&zeros), sent(&inputs(&program, 5)));
}

/// What is opened is masked by triples: over many products of one pair of words, each bit of a message is one
/// half of the time.
#[test]
fn what_is_opened_looks_random() {
    looks_random(2, arith::mul);
}

/// As are products, the words of matrices.
#[test]
fn what_is_opened_of_matrices_looks_random() {
    looks_random(3, |b, x, y| {
        let [x, y] = [x, y].map(<[Wire]>::to_vec);
        arith::mat_mul(b, [2, 1, 1], &[x.clone(), y.clone()], &[x]).concat()
    });
}

/// Runs many calls of which each opens so many words of 16 bits.
fn looks_random(words: usize, build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>) {
    const TIMES: u64 = 4000;
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 16), b.input("y", 16));
    let product = build(&mut b, &x, &y);
    b.output("product", &product);
    let program = Program::map(b.finish(), TIMES, &[0, 1]).unwrap().with_owner(1, 1).unwrap();
    let inputs = [Bits::zeros(16), Bits::zeros(16)];
    let said = std::thread::scope(|scope| {
        let threads = memory_mesh(2, Some(PATIENCE)).into_iter().map(|links| {
            let (program, inputs) = (&program, &inputs);
            scope.spawn(move || {
                let mut recorders = Vec::new();
                let links = links.map(|_, link| {
                    let link = Recorded::new(link, 64 << 20);
                    recorders.push(link.recorder());
                    link
                });
                run(&DEALT, &mut Mesh::new(links), program, inputs, setting(Backend::detect())).unwrap();
                let recording = recorders[0].recording();
                let messages: Vec<Vec<u8>> = recording.messages().map(|range| recording.sent[range].to_vec()).collect();
                messages
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let opened = |party: usize| {
        said[party].iter().find(|message| message.len() == 2 * words * TIMES as usize).expect("one message")
    };
    let (ours, theirs) = (opened(0), opened(1));
    for bit in 0..16 {
        // A bit of d = x - a, shared and opened, of all products.
        let shared = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]);
        let (mut share, mut open) = (0u64, 0u64);
        for at in 0..words * TIMES as usize {
            share += u64::from(shared(ours, at) >> bit & 1);
            open += u64::from(shared(ours, at).wrapping_add(shared(theirs, at)) >> bit & 1);
        }
        for ones in [share, open] {
            // Six standard deviations.
            let all = words as u64 * TIMES;
            assert!((ones.abs_diff(all / 2) as f64) < 3.0 * (all as f64).sqrt(), "bit {bit} is one in {ones} of {all}");
        }
    }
}

/// 10^8 products of words, of which those of a turn wait for those of the turn before: their triples would be 4.8 GB at
/// each party.
#[test]
#[ignore = "ten minutes; part of make test-long"]
fn a_hundred_million_products_run_in_little_memory() {
    let [before, peak] = products_in_turns(400_000);
    assert!(peak - before < 96 << 10, "{} KiB for both parties", peak - before);
}

#[test]
fn products_of_many_turns() {
    products_in_turns(1_000);
}

/// Runs 250 products in each of these turns, so that of some turns the triples come from two batches: the most memory
/// before that and after it, as far as it is known.
fn products_in_turns(turns: u64) -> [u64; 2] {
    const EACH: usize = 250;
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 32 * EACH), b.input("y", 32 * EACH));
    let next: Vec<_> = x.chunks(32).zip(y.chunks(32)).flat_map(|(x, y)| arith::mul(&mut b, x, y)).collect();
    b.output("next", &next);
    let program = Program::iterate(b.finish(), turns, &[(0, 0)]).unwrap().with_owner(1, 1).unwrap();
    let inputs = inputs(&program, 9);
    let words = |bits: &Bits| -> Vec<u32> {
        let bytes = bits.to_bytes();
        bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    };
    // The gates would take hours. What the words are is known otherwise.
    let power = |y: u32| {
        let (mut power, mut square) = (1u32, y);
        for bit in 0..u64::BITS {
            if turns >> bit & 1 == 1 {
                power = power.wrapping_mul(square);
            }
            square = square.wrapping_mul(square);
        }
        power
    };
    let expected: Vec<u32> =
        words(&inputs[0]).iter().zip(words(&inputs[1])).map(|(x, y)| x.wrapping_mul(power(y))).collect();
    let before = peak_memory().unwrap_or(0);
    let learned = std::thread::scope(|scope| {
        let threads = memory_mesh(2, Some(PATIENCE)).into_iter().map(|links| {
            let (program, inputs) = (&program, &inputs);
            scope
                .spawn(move || run(&DEALT, &mut Mesh::new(links), program, inputs, setting(Backend::detect())).unwrap())
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for outputs in learned {
        assert!(outputs.len() == 1 && words(&outputs[0].1) == expected);
    }
    [before, peak_memory().unwrap_or(before)]
}

/// 10^7 products of eight bits, whose gates the evaluator runs, too: their triples would be 480 MB.
#[test]
#[ignore = "minutes; part of make test-long"]
fn a_program_far_larger_than_memory_runs_in_little() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 8_000), b.input("y", 8_000));
    let mut next = Vec::new();
    for (x, y) in x.chunks(8).zip(y.chunks(8)) {
        next.extend(arith::mul(&mut b, x, y));
    }
    b.output("next", &next);
    let program = Program::iterate(b.finish(), 10_000, &[(0, 0)]).unwrap().with_owner(1, 1).unwrap();
    comity_testing::laws::check(&DEALT, 2, &program, &inputs(&program, 9), setting(Backend::detect()));
    if let Some(peak) = peak_memory() {
        assert!(peak < 256 << 10, "{peak} KiB for both parties");
    }
}
