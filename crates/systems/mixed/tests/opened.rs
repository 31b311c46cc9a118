//! What is opened looks random; and a peer that follows another plan than it says.

use comity_channel::{Channel, Mesh, Recorded, memory_mesh};
use comity_circuit::{Builder, Program};
use comity_core::{Backend, Bits, Kind};
use comity_library::arith;
use comity_mixed::{Assignment, CircuitForms, Form, regions};
use comity_testing::PATIENCE;
use comity_testing::laws::{clear, rng, run};

use super::programs::random_mix;
use super::{Assigned, random_assignment, random_inputs, setting};

/// Runs both parties, each under an assignment of its own, over links of this kind; and what each gets.
fn both<C: Channel, T: Send>(
    assignments: [&Assignment; 2],
    program: &Program,
    inputs: &[Bits],
    link: impl Fn(comity_channel::MemoryChannel) -> C + Sync,
    end: impl Fn(comity_core::Result<Vec<(usize, Bits)>>, &C) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let (link, end) = (&link, &end);
        let parties = memory_mesh(2, Some(PATIENCE)).into_iter().zip(assignments);
        let threads: Vec<_> = parties
            .map(|(links, assignment)| {
                scope.spawn(move || {
                    let mut links = links.map(|_, memory| link(memory));
                    let mine = comity_channel::PerPeer::from_vec(links.me(), links.as_mut_slice().iter_mut().collect());
                    let protocol = Assigned(assignment.clone());
                    let ended =
                        run(&protocol, &mut Mesh::new(mine.unwrap()), program, inputs, setting(Backend::detect()));
                    end(ended, &links.as_mut_slice()[0])
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a party does not panic")).collect()
    })
}

/// Of many calls on zeros each bit of a message is one half of the time: openings of products and of ANDs, what is told
/// of bits that become words, tables, and shares of outputs. Words become bits by garbled adders, and by adders on
/// shares of bits, where each party's share goes in as it stands.
#[test]
fn what_is_opened_looks_random() {
    let [garbled, shared] = [Form::Yao, Form::Boolean].map(opened_of_zeros);
    // Outputs; products and ANDs, both words of each; words of bits.
    for period in [BITS, 2 * BITS, BITS * (BITS + 1) / 2 - 1] {
        for periods in [&garbled, &shared] {
            assert!(periods.contains(&period), "{period} bits a call: {periods:?}");
        }
    }
    // What both parties open in each layer of an adder.
    let layers = BITS.next_power_of_two().ilog2() as usize;
    assert!(shared.len() >= garbled.len() + 2 * layers, "{shared:?} and {garbled:?}");
}

const TIMES: usize = 4000;
const BITS: usize = 14;

/// How many bits a call the messages have that have some for each call. All are one half of the time.
fn opened_of_zeros(adders: Form) -> Vec<usize> {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", BITS).to_vec(), b.input("y", BITS).to_vec());
    let product = arith::mul(&mut b, &x, &y);
    let both_bits = arith::and(&mut b, &x, &y);
    let sum = arith::add(&mut b, &both_bits, &product);
    let mixed = arith::or(&mut b, &sum, &y);
    b.output("product", &product);
    b.output("mixed", &mixed);
    let program = Program::map(b.finish(), TIMES as u64, &[]).unwrap().with_owner(1, 1).unwrap();
    let notes = vec![Form::Arithmetic, Form::Boolean, Form::Arithmetic, Form::Yao];
    assert_eq!(program.circuits()[0].notes().len(), notes.len());
    let circuits = vec![CircuitForms { notes, gates: Form::Yao, adders }];
    let assignment = Assignment { circuits, regions: regions(&program).iter().map(|_| Form::Arithmetic).collect() };
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| Bits::zeros(input.bits)).collect();
    let said = both(
        [&assignment; 2],
        &program,
        &inputs,
        |memory| Recorded::new(memory, 64 << 20),
        |ended, link| {
            ended.unwrap();
            let recording = link.recorder().recording();
            recording.messages().map(|range| recording.sent[range].to_vec()).collect::<Vec<Vec<u8>>>()
        },
    );
    let mut periods = Vec::new();
    for message in said.concat().iter().filter(|message| message.len() > TIMES / 8) {
        let bits = 8 * message.len();
        let bit = |at: usize| usize::from(message[at / 8] >> (at % 8) & 1);
        let ones: usize = (0..bits).map(bit).sum();
        // Six standard deviations.
        assert!((ones.abs_diff(bits / 2) as f64) < 3.0 * (bits as f64).sqrt(), "{ones} of {bits} bits are one");
        let period = bits / TIMES;
        if period * TIMES != bits {
            continue;
        }
        for column in 0..period {
            let ones: usize = (0..TIMES).map(|call| bit(call * period + column)).sum();
            assert!(ones.abs_diff(TIMES / 2) < 190, "bit {column} of {period} is one in {ones} of {TIMES}");
        }
        periods.push(period);
    }
    periods.sort_unstable();
    periods
}

/// A peer that says the right digest and goes another way: the other party gets an error, or computes something. It
/// waits for nothing that does not come.
#[test]
fn a_peer_that_follows_another_plan_is_no_hang() {
    let (mut failed, mut wrong) = (0, 0);
    for seed in 0..40 {
        let mut rng = rng(5000 + seed);
        let program = random_mix(&mut rng);
        let inputs = random_inputs(&program, &mut rng);
        let assignments = [(); 2].map(|()| random_assignment(&program, &mut rng));
        let [first, second] = [&assignments[0], &assignments[1]];
        let ends = both([first, second], &program, &inputs, |memory| memory, |ended, _| ended);
        let expected: Vec<(usize, Bits)> = clear(&program, &inputs).into_iter().enumerate().collect();
        for ended in ends {
            match ended {
                Ok(learned) => wrong += usize::from(learned != expected),
                Err(error) => {
                    let known = matches!(error.kind, Kind::Closed | Kind::TimedOut(_) | Kind::Malformed(_));
                    assert!(known, "program {seed}: {error}");
                    failed += 1;
                }
            }
        }
    }
    assert!(failed >= 40, "{failed} of 80 parties ended with an error, {wrong} with something else");
}
