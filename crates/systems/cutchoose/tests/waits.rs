//! What the evaluator keeps to itself until it has heard something: what binds the garbler would else come after what
//! it is held against.

use comity_channel::{Channel, Mesh, Recorded, Result};
use comity_circuit::{Builder, Program, Recipients};
use comity_core::{Backend, Bits, ErasureCode, Params, PartyId};
use comity_cutchoose::{CutChoose, Probe};
use comity_testing::laws::{Setting, run};
use comity_testing::{Pair, assert_waits, told};

/// The input bits of the garbler, of three groups, and of the evaluator.
const INPUTS: [usize; 2] = [600, 40];

const RHO: u32 = 4;

type Set = &'static [(&'static str, &'static str)];

const ALL: Set = &[("role", "garbler")];
const CODED: Set = &[("role", "garbler"), ("coded", "yes")];

/// A program of one AND for each of the evaluator's bits, and one output bit.
fn program(to: Recipients) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", INPUTS[0]), b.input("y", INPUTS[1]));
    let mut last = x[INPUTS[0] - 1];
    for (x, y) in x.into_iter().zip(y) {
        let and = b.and(x, y);
        last = b.xor(last, and);
    }
    b.output("z", &[last]);
    Program::from_circuit(b.finish()).unwrap().with_recipients(0, to).unwrap()
}

/// Runs a party; party 0 garbles.
fn party(ch: &mut dyn Channel, program: &Program, options: Set, party: u16) -> Result<()> {
    let params = Params::new(128, RHO).unwrap();
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| Bits::zeros(input.bits)).collect();
    let setting = Setting { params, backend: Backend::detect(), options, session: 3 };
    run(&CutChoose, &mut Mesh::of_two(PartyId(party), ch), program, &inputs, setting).map(drop)
}

/// Bytes of the base OTs' points, of their challenge, and of the trees of an extension.
const POINTS: usize = 32 + 32 * 128;
const CHALLENGE: usize = 16 * 128 + 32;
const TREES: usize = 32 * (3 * 32 + 64);
/// Bytes of an extension's challenge and answer.
const CHECK: [usize; 2] = [16, 48];

/// Bytes of the corrections of an extension for `n` OTs, which are one chunk.
fn corrections(n: usize) -> usize {
    32 * 16 * (n.div_ceil(128) + 1)
}

/// The garbler could else choose its labels so that the sums come out right, or, once all messages of the
/// committing OT are open, a label that fits neither of its inputs.
#[test]
fn the_challenge_and_the_opening_wait_for_all_labels() {
    let program = program(Recipients::only(1));
    for (options, copies) in [(ALL, 4), (CODED, ErasureCode::pairs(RHO)[0].0)] {
        let [bits, encoded] = [INPUTS[0], Probe::new(RHO, INPUTS[1]).encoded()];
        // The garbler's points, response and check of the OTs; secrets of copies and labels of the evaluator's input.
        let ots = POINTS + 32 + CHECK[0] + 32 * copies + 32 * copies * encoded;
        // Its trees, corrections and answer of the committing OT.
        let committed = TREES + corrections(bits) + CHECK[1];
        let all = ots + committed + 16 * copies * bits + 16 * copies * (bits + 1);
        // The evaluator's offer and challenge of the base OTs, trees, corrections and answer; its key of step
        // 7, and its check of the committing OT.
        let said = 32 + CHALLENGE + TREES + corrections(copies + encoded + 128) + CHECK[1] + 64 + CHECK[0];
        assert_waits(
            |ch| party(ch, &program, options, 1),
            |ch| party(ch, &program, options, 0),
            &[("the base OTs' challenge", POINTS, 32), ("the opening and the challenge", all, said)],
        );
    }
}

/// The garbler would else have its output from an evaluator that finds fault with it.
#[test]
fn outputs_of_the_garbler_wait_for_all_checks() {
    let program = program(Recipients::only(0));
    let evaluator = |ch: &mut dyn Channel| party(ch, &program, ALL, 1);
    let (honest, ()) = Pair::run(
        |ch| {
            let mut ch = Recorded::new(ch, 1 << 24);
            evaluator(&mut ch).unwrap();
            ch.recorder().recording()
        },
        |ch| party(ch, &program, ALL, 0).unwrap(),
    );
    // The output bit and its tag of 64 bits.
    let before = honest.sent.len() - 9;
    let heard = &honest.received;
    assert_eq!(told(&heard[..heard.len() - 1], evaluator).0.len(), before);
    // The last message has the seeds of all copies, encrypted; those of checked ones must be right.
    let mut refused = 0;
    for copy in 1..=RHO as usize {
        let mut changed = heard.clone();
        changed[heard.len() - 16 * copy] ^= 1;
        let (sent, ended) = told(&changed, evaluator);
        assert_eq!(sent.len(), if ended.is_ok() { honest.sent.len() } else { before }, "copy {copy} from the last");
        refused += usize::from(ended.is_err());
    }
    assert!(refused > 0);
}
