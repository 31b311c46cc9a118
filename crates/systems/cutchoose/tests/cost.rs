//! Bytes and rounds of honest runs, counted and held against the formulas that follow from the protocol.
//!
//! For copies `t` (rho of them, if all travel), the garbler's `n1` and the evaluator's `n2` input bits, of
//! which the latter are `m` encoded, `n3` output bits and `g` AND gates in a copy, each with what pads and
//! the tag add:
//!
//! - garbler to evaluator: `32 t (1 + m + g + n1) + (64 + 32 t) n3 + 16 n3`, and what does not grow;
//! - evaluator to garbler: 4 bytes for each of `t + m + 128` OTs;
//! - and from the garbler 4 bytes for each of `n1` committing OTs.

use comity_channel::{Channel, Counted, Mesh, Traffic};
use comity_circuit::{Builder, Program, Recipients, Wire};
use comity_core::{Backend, Bits, Params, PartyId};
use comity_cutchoose::{CutChoose, Probe};
use comity_testing::{Pair, laws};

/// The setting of a run.
#[derive(Clone, Copy)]
struct Setting {
    rho: u32,
    coded: bool,
    /// The number of copies, and of the tables of an AND gate that travel.
    copies: [u64; 2],
}

const ALL: Setting = Setting { rho: 40, coded: false, copies: [40, 40] };

/// The setting where all copies travel.
fn all(rho: u32) -> Setting {
    Setting { rho, coded: false, copies: [rho.into(); 2] }
}

/// The traffic that the garbler, party 0, counts, and that of the evaluator.
fn count(program: &Program, setting: Setting) -> [Traffic; 2] {
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| Bits::zeros(input.bits)).collect();
    let laws = laws::Setting {
        params: Params::new(128, setting.rho).unwrap(),
        backend: Backend::detect(),
        options: &[[("role", "garbler"), ("coded", "no")], [("role", "garbler"), ("coded", "yes")]]
            [usize::from(setting.coded)],
        session: 3,
    };
    let party = |ch: &mut dyn Channel, party| {
        let ch = Counted::new(ch);
        let counter = ch.counter();
        laws::run(&CutChoose, &mut Mesh::of_two(PartyId(party), ch), program, &inputs, laws).unwrap();
        counter.counts()
    };
    let (garbler, evaluator) = Pair::run(|ch| party(ch, 0), |ch| party(ch, 1));
    [garbler, evaluator]
}

/// Bytes of the corrections and checks of malicious SoftSpoken OT extension with 32 trees for `n` OTs: receiver to
/// sender, and back.
fn extension(n: u64) -> [u64; 2] {
    const CHUNK: u64 = (1 << 16) - 128;
    let chunks = n.div_ceil(CHUNK);
    // 4 bytes an OT in whole blocks of 128, and one block more for each chunk, which masks the check.
    let blocks = n / CHUNK * (CHUNK / 128) + (n % CHUNK).div_ceil(128) + chunks;
    [32 * 16 * blocks + 48 * chunks, 16 * chunks]
}

/// The trees of an extension: 32 of 16 leaves, whose checks are 64 bytes.
const TREES: u64 = 32 * (3 * 32 + 64);

/// The bytes that garbler and evaluator send for a program whose outputs go to the evaluator, or to the garbler with
/// its tag.
fn formula(program: &Program, setting: Setting) -> [u64; 2] {
    let Setting { rho, copies: [t, tables], coded } = setting;
    let bits = |party: u16| {
        program.inputs().iter().filter(move |i| i.owner.includes(party)).map(|i| i.bits as u64).sum::<u64>()
    };
    let outputs = |pick: &dyn Fn(Recipients) -> bool| -> Vec<u64> {
        program.outputs().iter().filter(|o| pick(o.to)).map(|o| o.bits as u64).collect()
    };
    // The garbler's outputs: a tag of 64 bits if rho allows, of 3^6 ANDs a block; and pads for what only it learns.
    let garblers = outputs(&|to| to.includes(0));
    let (tag, step) = if rho <= 48 { (64, 729) } else { (128, 2187) };
    let tag = if garblers.is_empty() { 0 } else { tag };
    let tag_gates: u64 = garblers.iter().map(|bits| bits.div_ceil(tag) * step).sum();
    let pads: u64 = outputs(&|to| !to.includes(1)).iter().sum();
    let passed: u64 = if tag == 0 { 0 } else { (garblers.iter().sum::<u64>() + tag).div_ceil(8) };

    let n1 = match bits(0) + pads + 2 * tag {
        1 => 2,
        n1 => n1,
    };
    let n3 = outputs(&|_| true).iter().sum::<u64>() + tag;
    let m = Probe::new(rho, bits(1) as usize).encoded() as u64;
    let ands = program.and_gates() + tag_gates;

    // Base OTs for the extension whose receiver is the evaluator; its further OTs are base OTs the other way.
    let base = [32 + 128 * 32 + 32, 32 + 128 * 16 + 32];
    let [ours, theirs] = [extension(n1), extension(t + m + 128)];
    let hashes = if coded { 32 * t } else { 0 };
    let garbler = base[0] + theirs[1] + ours[0] + TREES
        + 32 * t // step 1
        + 32 * t * m // step 2
        + 16 * t * n1 // step 3
        + 16 * t * (n1 + 1) + 48 * t // step 4
        + 32 * tables * ands + hashes // step 5, the circuits
        + (64 + 32 * t) * n3 + 64 * t // step 5, the outputs
        + 16 * (1 + n3) + 32 * t + 16 * t; // step 7
    let evaluator = base[1] + TREES + theirs[0] + ours[1] + 64 + 48 + 16 + 32 + passed;
    [garbler, evaluator]
}

/// A program with these sizes, and `ands` ANDs but for those that turn out constant.
fn sized([n1, n2, n3]: [usize; 3], ands: usize) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", n1), b.input("y", n2));
    let all: Vec<Wire> = x.into_iter().chain(y).collect();
    let mut links: Vec<Wire> = Vec::new();
    for i in 0..ands {
        let last = links.last().copied().unwrap_or(Wire::ONE);
        let turned = b.xor(last, all[i % all.len()]);
        links.push(b.and(turned, all[(i + 1 + i / all.len()) % all.len()]));
    }
    let out: Vec<Wire> = links.iter().chain(&all).copied().cycle().take(n3).collect();
    b.output("z", &out);
    Program::from_circuit(b.finish()).unwrap()
}

fn check(program: &Program, setting: Setting) -> [Traffic; 2] {
    let counts = count(program, setting);
    assert_eq!(counts.map(|counts| counts.sent), formula(program, setting));
    assert_eq!(counts.map(|counts| counts.received), [counts[1].sent, counts[0].sent]);
    counts
}

fn to(program: &Program, to: Recipients) -> Program {
    program.clone().with_recipients(0, to).unwrap()
}

#[test]
fn bytes_are_what_the_formula_says() {
    let sizes: [([usize; 3], usize); 7] = [
        ([1, 2, 1], 5),
        ([3, 1, 700], 0),
        ([128, 128, 128], 2_000),
        ([129, 0, 3], 40),
        ([0, 300, 3], 40),
        ([70, 2_049, 64], 20),
        ([1_000, 5_000, 513], 10),
    ];
    for (sizes, ands) in sizes {
        let program = sized(sizes, ands);
        for recipients in [Recipients::only(1), Recipients::only(0), Recipients::All] {
            for rho in [3, 9] {
                check(&to(&program, recipients), all(rho));
            }
        }
    }
}

#[test]
fn bytes_at_the_usual_and_at_a_high_rho() {
    let aes = comity_library::program("aes128").unwrap();
    for recipients in [Recipients::only(1), Recipients::All] {
        check(&to(&aes, recipients), ALL);
    }
    check(&to(&sized([128; 3], 100), Recipients::All), all(80));
    // An AND gate costs 1,280 bytes, or 608 coded.
    let coded = Setting { coded: true, copies: [44, 19], ..ALL };
    check(&to(&aes, Recipients::only(1)), coded);
    check(&to(&aes, Recipients::All), coded);
}

#[test]
fn bytes_of_more_ots_than_a_chunk_has() {
    let program = to(&sized([66_000, 140_000, 1], 3), Recipients::only(1));
    check(&program, all(2));
}

/// A party's rounds, in which it has sent something and then waits, are as many whatever the sizes (short of inputs of
/// more OTs than a chunk has). The evaluator: after the base OTs' offer and challenge, the OTs of steps 1 and 2, what
/// answers their check, the check of the committing OTs, their opening, and `h1` of step 7. The garbler: after the base
/// OTs' points and response, its check of the OTs, the committing OTs, what answers their check with `R`, all of steps
/// 4 to 6; and step 7, if it learns outputs.
#[test]
fn rounds_do_not_grow_with_the_program() {
    for (recipients, rounds) in [(Recipients::only(1), [6, 7]), (Recipients::only(0), [7, 7])] {
        for (sizes, ands) in [([128; 3], 100), ([128; 3], 20_000), ([5_000, 9_000, 4_000], 2)] {
            let counts = check(&to(&sized(sizes, ands), recipients), all(4));
            assert_eq!(counts.map(|counts| counts.rounds), rounds, "{sizes:?}, {ands}");
        }
    }
}
