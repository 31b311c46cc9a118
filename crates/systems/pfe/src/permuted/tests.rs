use comity_channel::{Counted, MemoryChannel, Mesh, Recorded};
use comity_circuit::{Goal, Program, Recipients, eval_many};
use comity_core::{Backend, Bits, Kind, Params, PartyId, Prg, SessionId};
use comity_library::universal::direct::{Direct, DirectGate, DirectRead, program, program_bits};
use comity_library::universal::{Shape, universal};
use comity_ot::base::Simplest;
use comity_ot::{CotSender, iknp};
use comity_protocol::{Costing, Here, Options, Protocol, Talk};
use comity_testing::Pair;
use comity_testing::laws::{Laws, Setting, bits, check, deviations_in, rng, run};

use super::bringing::Ends;
use super::{PFE_LINEAR, PFE_OT, PfePermuted, network, switching};

static BOTH: [&PfePermuted; 2] = [&PFE_OT, &PFE_LINEAR];

fn setting(session: u64) -> Setting {
    Setting { params: Params::default(), backend: Backend::detect(), options: &[], session }
}

pub(super) fn shape(inputs: usize, outputs: usize, gates: usize) -> Shape {
    Shape { inputs, outputs, gates }
}

pub(super) fn below(n: usize, rng: &mut Prg) -> usize {
    (rng.block().to_u128() % n as u128) as usize
}

/// A random circuit.
fn circuit(shape: Shape, rng: &mut Prg) -> Direct {
    let mut read = |there: usize| DirectRead { wire: below(there, rng) as u32, negated: rng.block().lsb() };
    let gates = (shape.inputs..).take(shape.gates);
    let gates = gates.map(|there| DirectGate { reads: [read(there), read(there)], xor: read(2).negated }).collect();
    let outputs = (0..shape.outputs).map(|_| read(shape.inputs + shape.gates)).collect();
    Direct { gates, outputs }
}

fn random(shape: Shape, seed: u128) -> (Program, [Bits; 2]) {
    let mut rng = rng(seed);
    let function = circuit(shape, &mut rng).bits(shape);
    (program(Goal::Size, shape), [function, bits(shape.inputs, &mut rng)])
}

#[test]
fn every_function_is_computed_as_its_direct_program_says() {
    let shapes = [(1, 1, 1), (2, 3, 5), (5, 1, 10), (1, 7, 9), (60, 2, 6), (30, 3, 31), (16, 8, 100), (20, 40, 200)];
    for (seed, (inputs, outputs, gates)) in (0..).zip(shapes) {
        for to in [Recipients::All, Recipients::only(0), Recipients::only(1)] {
            let (program, inputs) = random(shape(inputs, outputs, gates), seed);
            let program = program.with_recipients(0, to).unwrap();
            BOTH.iter().for_each(|protocol| check(*protocol, 2, &program, &inputs, setting(1)));
        }
    }
}

#[test]
fn bits_are_read_as_they_are_written_and_no_gate_reads_ahead() {
    let shape = shape(5, 3, 12);
    let written = circuit(shape, &mut rng(1));
    let bits = written.bits(shape);
    assert!(bits.len() == program_bits(shape) && Direct::of(&bits, shape) == Some(written.clone()));
    assert!(Direct::of(&bits.slice(0, bits.len() - 1), shape).is_none());
    for ahead in [5, 6, 16] {
        let mut wrong = written.clone();
        wrong.gates[0].reads[1].wire = ahead;
        assert!(Direct::of(&wrong.bits(shape), shape).is_none(), "{ahead}");
    }
    // The owner is told before anything is sent.
    let mut wrong = written;
    wrong.gates[11].reads[0].wire = 16;
    let program = program(Goal::Size, shape);
    let (owner, _) = Pair::run(
        |ch| {
            let mut net = Mesh::of_two(PartyId(0), ch);
            run(&PFE_OT, &mut net, &program, &[wrong.bits(shape), Bits::zeros(5)], setting(1)).unwrap_err()
        },
        |_| (),
    );
    assert!(
        matches!(owner.kind, Kind::InvalidInput(_)) && owner.to_string().contains("nothing before it drives"),
        "{owner}"
    );
}

#[test]
fn shapes_are_found_by_their_programs() {
    for (inputs, outputs, gates) in [(1, 1, 1), (7, 3, 20), (96, 1, 640)] {
        let shape = shape(inputs, outputs, gates);
        assert_eq!(Shape::of_direct(&program(Goal::Size, shape)), Some(shape));
        assert_eq!(Shape::of(&program(Goal::Size, shape)), None);
        assert_eq!(Shape::of_direct(&universal(Goal::Size, shape)), None);
    }
}

fn sent(protocol: &PfePermuted, program: &Program, inputs: &[Bits], setting: Setting) -> [Vec<u8>; 2] {
    let side = |ch: &mut MemoryChannel, id| {
        let ch = Recorded::new(ch, 64 << 20);
        let recorder = ch.recorder();
        run(protocol, &mut Mesh::of_two(PartyId(id), ch), program, inputs, setting).unwrap();
        recorder.recording().sent
    };
    let (owner, other) = Pair::run(|ch| side(ch, 0), |ch| side(ch, 1));
    [owner, other]
}

/// What each party sends, and how often it waits.
fn counted(protocol: &PfePermuted, program: &Program, inputs: &[Bits]) -> [(u64, u64); 2] {
    let count = |ch: &mut MemoryChannel, id| {
        let ch = Counted::new(ch);
        let counter = ch.counter();
        run(protocol, &mut Mesh::of_two(PartyId(id), ch), program, inputs, setting(1)).unwrap();
        (counter.counts().sent, counter.counts().rounds)
    };
    let (owner, other) = Pair::run(|ch| count(ch, 0), |ch| count(ch, 1));
    [owner, other]
}

#[test]
fn bytes_are_what_the_docs_and_the_plan_say() {
    let shape = shape(30, 9, 77);
    let (program, inputs) = random(shape, 4);
    let ends = Ends::new(shape);
    let places = 2 * 77 + 9u64;
    // Base OTs, negations, rows and outputs.
    let [owner, other] = [2 * 32 + 128 * places.div_ceil(8) + 2, 2 * 128 * 32 + 48 * 77 + 2];
    let switches = (network::count(ends) + 77) as u64;
    let sent = [
        [owner + 128 * switches.div_ceil(8), other + 16 * switches + 16 * (30 + 77) + 16 * 30],
        [
            owner + 32 + 32 * places + 128 * 77u64.div_ceil(8),
            other + 32 + 32 * (30 + 77) + 16 * 77 + 33 * places + 32 * 30 + 64 * 77,
        ],
    ];
    for (protocol, sent) in BOTH.into_iter().zip(sent) {
        let counts = counted(protocol, &program, &inputs);
        assert_eq!(counts.map(|count| count.0), sent, "{}", protocol.card().name);
        let (mut talk, options) = (Talk::new(2), Options::new(protocol.card()));
        let of = Costing { program: &program, options: &options, params: Params::default(), parties: 2 };
        protocol.costs(&of, &mut talk).unwrap();
        let planned = [0, 1].map(|party| (talk.sent(PartyId(party)), talk.rounds(PartyId(party))));
        assert_eq!(planned, counts, "{}", protocol.card().name);
    }
}

/// A second run of a function sends points no more, and the same results come.
#[test]
fn a_function_runs_again_by_the_points_of_the_first_run() {
    let shape = shape(6, 3, 20);
    let (program, [function, _]) = random(shape, 3);
    let (_, [other, _]) = random(shape, 4);
    let [owner, garbler] = [PfePermuted::linear_again(), PfePermuted::linear_again()];
    let mut session = 10;
    let mut run_again = |function: &Bits, x: &Bits| {
        session += 1;
        let inputs = [function.clone(), x.clone()];
        let side = |ch: &mut MemoryChannel, id: u16| {
            let ch = Counted::new(ch);
            let counter = ch.counter();
            let protocol = if id == 0 { &owner } else { &garbler };
            let y = run(protocol, &mut Mesh::of_two(PartyId(id), ch), &program, &inputs, setting(session)).unwrap();
            let expected = eval_many(&program, &[inputs.to_vec()]).unwrap().remove(0);
            assert_eq!(
                y,
                expected
                    .into_iter()
                    .enumerate()
                    .filter(|(output, _)| program.outputs()[*output].to.includes(PartyId(id)))
                    .collect::<Vec<_>>()
            );
            counter.counts().sent
        };
        let (owner, other) = Pair::run(|ch| side(ch, 0), |ch| side(ch, 1));
        [owner, other]
    };
    let x = |seed| bits(6, &mut rng(seed));
    let first = run_again(&function, &x(1));
    for seed in 2..5 {
        let again = run_again(&function, &x(seed));
        assert_eq!([first[0] - again[0], first[1] - again[1]], [32 * (2 * 20 + 3), 32 * (6 + 20)]);
    }
    // No points of another function are held.
    assert_eq!(run_again(&other, &x(5)), first);
}

#[test]
fn two_functions_of_a_shape_send_as_much_and_what_is_sent_is_drawn() {
    let shape = shape(20, 4, 50);
    let (program, [one, x]) = random(shape, 1);
    let (_, [other, _]) = random(shape, 2);
    for protocol in BOTH {
        let sent =
            |function: &Bits, session| sent(protocol, &program, &[function.clone(), x.clone()], setting(session));
        let [first, second] = [&one, &other].map(|function| sent(function, 1));
        assert!([0, 1].iter().all(|&party| first[party].len() == second[party].len()));
        // Nothing that is longer than a block is as it was under other coins.
        let again = sent(&one, 2);
        for party in [0, 1] {
            let blocks = |sent: &[Vec<u8>; 2]| -> Vec<[u8; 16]> { sent[party].as_chunks().0.to_vec() };
            let (first, again) = (blocks(&first), blocks(&again));
            assert!(first.iter().zip(&again).all(|(one, other)| one != other));
            assert!(first.iter().all(|block| *block != [0; 16]));
            let mut distinct = first.clone();
            distinct.sort_unstable();
            assert!(distinct.windows(2).all(|two| two[0] != two[1]), "{}: no block comes twice", protocol.card().name);
        }
    }
}

/// Whoever knows the offset of the switches' extension reads what each switch may add, whichever way it goes.
#[test]
fn the_offset_of_switches_is_drawn() {
    let here = |party| Here::new(PartyId(party), 2, SessionId::new([3; 32]));
    let offset = |seed| {
        let receive = |ch: &mut MemoryChannel| {
            let (session, backend) = (here(0).session.child("switches"), Backend::detect());
            iknp::Receiver::setup::<Simplest>(ch, &session, backend, &mut rng(9)).map(drop).unwrap();
        };
        let (offset, ()) = Pair::run(|ch| switching(ch, &here(1), &mut rng(seed)).unwrap().delta(), receive);
        offset
    };
    let [first, second] = [1, 2].map(offset);
    // Each half by itself.
    let halves = (first ^ second).to_u128();
    assert!(halves as u64 != 0 && halves >> 64 != 0);
}

#[test]
fn every_backend_sends_the_same_bytes() {
    let (program, inputs) = random(shape(9, 5, 30), 7);
    for protocol in BOTH {
        let mut all = Backend::available().into_iter();
        let of = |backend| sent(protocol, &program, &inputs, Setting { backend, ..setting(1) });
        let first = of(all.next().unwrap());
        for backend in all {
            assert!(of(backend) == first, "{backend}");
        }
    }
}

#[test]
fn what_a_peer_breaks_ends_in_an_error_that_a_peer_can_cause() {
    let (program, inputs) = random(shape(6, 3, 12), 5);
    for protocol in BOTH {
        deviations_in(protocol, &Laws { deviations: 200, ..Laws::USUAL }, &program, &inputs);
    }
}
