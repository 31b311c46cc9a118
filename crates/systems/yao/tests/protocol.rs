//! Yao's protocol against the plain evaluator, its bytes counted exactly, and what it does when the peer fails.

use comity_channel::{Channel, Counted, MemoryChannel, Recorded, memory};
use comity_circuit::{Builder, Circuit, Observer, Owner, Plain, Program, ProgramBuilder, Recipients, Wire, run};
use comity_core::{Backend, Bits, Block, Error, Kind, Prg, Result, SessionId};
use comity_testing::{Pair, Verdict, deviate};
use comity_yao::{Config, garbler};
use proptest::prelude::*;

/// Collects outputs.
#[derive(Default)]
struct Outputs(Vec<(usize, Bits)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bits(len: usize, rng: &mut Prg) -> Bits {
    (0..len).map(|_| rng.block().lsb()).collect()
}

/// What one party does in every test.
fn party(
    ch: &mut dyn Channel,
    party: u32,
    program: &Program,
    inputs: &[Bits],
    backend: Backend,
) -> Result<Vec<(usize, Bits)>> {
    let session = SessionId::derive("test of yao", &[]);
    let own: Vec<Option<Bits>> = program
        .inputs()
        .iter()
        .zip(inputs)
        .map(|(input, value)| (input.owner.includes(party as u16)).then(|| value.clone()))
        .collect();
    let mut outputs = Outputs::default();
    let config = Config { backend, party };
    comity_yao::run(ch, &session, &config, program, &own, &mut rng(u128::from(party) + 1), &mut outputs)?;
    Ok(outputs.0)
}

/// The outputs of a program in the clear.
fn clear(program: &Program, inputs: &[Bits]) -> Vec<Bits> {
    let mut outputs = Outputs::default();
    let inputs: Vec<_> = inputs.iter().cloned().map(Some).collect();
    run(program, &mut Plain::new(), &inputs, &mut outputs).unwrap();
    outputs.0.into_iter().map(|(_, value)| value).collect()
}

fn check(program: &Program, inputs: &[Bits], backend: Backend) {
    let expected = clear(program, inputs);
    let (a, b) = Pair::run(
        |ch| party(ch, 0, program, inputs, backend).unwrap(),
        |ch| party(ch, 1, program, inputs, backend).unwrap(),
    );
    for (id, outputs) in [(0, a), (1, b)] {
        let wanted: Vec<(usize, Bits)> = program
            .outputs()
            .iter()
            .zip(&expected)
            .enumerate()
            .filter(|(_, (output, _))| output.to.includes(id))
            .map(|(i, (_, value))| (i, value.clone()))
            .collect();
        assert!(outputs == wanted, "party {id}");
    }
}

/// A circuit of random gates over two inputs, with three outputs.
fn random_circuit(widths: [usize; 2], gates: usize, rng: &mut Prg) -> Circuit {
    let mut b = Builder::new();
    let mut wires: Vec<Wire> = vec![Wire::ZERO, Wire::ONE];
    wires.extend(b.input("a", widths[0]));
    wires.extend(b.input("b", widths[1]));
    let mut pick = |wires: &[Wire]| wires[(rng.block().to_u128() % wires.len() as u128) as usize];
    for i in 0..gates {
        let (x, y) = (pick(&wires), pick(&wires));
        wires.push(if i % 3 == 0 { b.xor(x, y) } else { b.and(x, y) });
    }
    let outputs: Vec<Wire> = (0..20).map(|_| pick(&wires)).collect();
    b.output("x", &outputs[..9]);
    b.output("y", &outputs[9..10]);
    b.output("z", &outputs[10..]);
    b.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_compute_what_they_compute_in_the_clear(
        seed: u128, a in 0usize..70, b in 0usize..70, gates in 1usize..400, owners in 0usize..4, to in 0usize..64,
    ) {
        let mut rng = rng(seed);
        let circuit = random_circuit([a, b], gates, &mut rng);
        let both = Recipients::Parties([0, 1].into_iter().collect());
        let recipients = [Recipients::All, Recipients::only(0), Recipients::only(1), both];
        let mut program = Program::from_circuit(circuit).unwrap();
        for i in 0..2 {
            program = program.with_owner(i, (owners >> i & 1) as u16).unwrap();
        }
        for i in 0..3 {
            program = program.with_recipients(i, recipients[to / 4usize.pow(i as u32) % 4]).unwrap();
        }
        let inputs = [bits(a, &mut rng), bits(b, &mut rng)];
        let backends = Backend::available();
        check(&program, &inputs, backends[(seed % backends.len() as u128) as usize]);
    }
}

/// A chain of dependent ANDs and a wide layer of independent ones.
fn chain_and_layer(width: usize) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let mut chain = x[0];
    let mut layer = vec![];
    for i in 0..width {
        let and = b.and(chain, y[i]);
        chain = b.xor(and, x[i]);
        layer.push(b.and(x[i], y[(i + 7) % width]));
    }
    layer.push(chain);
    b.output("out", &layer);
    b.finish()
}

#[test]
fn calls_repeated_and_side_by_side() {
    let mut rng = rng(3);
    let circuit = chain_and_layer(33);
    let side_by_side = Program::map(circuit.clone(), 50, &[0]).unwrap();
    let inputs: Vec<Bits> = side_by_side.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check(&side_by_side, &inputs, Backend::detect());

    let mut b = Builder::new();
    let (x, y) = (b.input("x", 40), b.input("y", 40));
    let next: Vec<Wire> = (0..40)
        .map(|i| {
            let and = b.and(x[i], y[(i + 1) % 40]);
            b.xor(and, y[(i + 3) % 40])
        })
        .collect();
    b.output("next", &next);
    let repeated = Program::iterate(b.finish(), 700, &[(0, 1)]).unwrap();
    let inputs: Vec<Bits> = repeated.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check(&repeated, &inputs, Backend::detect());
}

#[test]
fn constants_are_written_before_the_first_gate() {
    let mut rng = rng(31);
    for (a, b) in [(0, 1), (4, 1), (1, 9)] {
        let mut p = ProgramBuilder::new("constants");
        let constant = p.constant(&bits(70, &mut rng));
        let x = p.input("x", a, 70);
        let y = p.input("y", b % 2, 3);
        let copied = p.register(70);
        p.copy(&constant.span(), &copied.span());
        let mut and = Builder::new();
        let (u, v) = (and.input("u", 70), and.input("v", 70));
        let both: Vec<Wire> = u.iter().zip(&v).map(|(&u, &v)| and.and(u, v)).collect();
        let sum: Vec<Wire> = u.iter().zip(&v).map(|(&u, &v)| and.xor(u, v)).collect();
        and.output("and", &both);
        and.output("xor", &sum);
        let and = p.circuit(and.finish());
        let (product, sum) = (p.register(70), p.register(70));
        p.call(and, &[copied.span(), x.span()], &[product.span(), sum.span()]);
        for register in [constant, copied, product, sum, y] {
            p.reveal("out", Recipients::All, register);
        }
        let program = p.finish().unwrap().with_owner(0, a % 2).unwrap();
        let inputs = [bits(70, &mut rng), bits(3, &mut rng)];
        for backend in Backend::available() {
            check(&program, &inputs, backend);
        }
    }
    // Nothing but a constant.
    let mut p = ProgramBuilder::new("a constant");
    let five = p.constant(&Bits::from_bytes(&[5], 8));
    p.reveal("five", Recipients::All, five);
    check(&p.finish().unwrap(), &[], Backend::detect());
}

#[test]
fn the_party_with_more_input_garbles() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 3), b.input("y", 4));
    let out = b.and(x[0], y[0]);
    b.output("out", &[out]);
    let circuit = b.finish();
    let owned =
        |a, b| Program::from_circuit(circuit.clone()).unwrap().with_owner(0, a).unwrap().with_owner(1, b).unwrap();
    assert_eq!(garbler(&owned(0, 1)), 1);
    assert_eq!(garbler(&owned(1, 0)), 0);
    assert_eq!(garbler(&owned(0, 0)), 0);
    assert_eq!(garbler(&owned(1, 1)), 1);
}

#[test]
fn bytes_are_what_the_docs_say() {
    let program =
        Program::from_circuit(chain_and_layer(4000)).unwrap().with_recipients(0, Recipients::only(1)).unwrap();
    let mut rng = rng(4);
    let inputs = [bits(4000, &mut rng), bits(4000, &mut rng)];
    let mut counts = [(0, 0); 2];
    let [first, second] = &mut counts;
    let count = |ch: &mut MemoryChannel, id, counts: &mut (u64, u64)| {
        let mut ch = Counted::new(ch);
        party(&mut ch, id, &program, &inputs, Backend::detect()).unwrap();
        *counts = (ch.counts().sent, ch.counts().received);
    };
    Pair::run(|ch| count(ch, 0, first), |ch| count(ch, 1, second));
    // Party 0 garbles: 128 base-OT points, the tables, the permute bits of the outputs.
    let ands = program.and_gates();
    assert_eq!(ands, 8000);
    assert_eq!(counts[0].0, 128 * 32 + 32 * ands + 4001u64.div_ceil(8));
    // The evaluator sends the base OTs' first point and 16 bytes for each of its input bits.
    assert_eq!(counts[0].1, 32 + 16 * 4000);
    assert_eq!(counts[1], (counts[0].1, counts[0].0));
}

#[test]
fn inputs_that_do_not_fit_are_refused_before_anything_is_sent() {
    let program = Program::from_circuit(chain_and_layer(8)).unwrap();
    let config = Config { backend: Backend::detect(), party: 0 };
    let session = SessionId::derive("test of yao", &[]);
    for (inputs, words) in [
        (vec![Some(Bits::zeros(9)), None], vec!["8", "9", "`x`"]),
        (vec![None, None], vec!["missing", "party 0"]),
        (vec![Some(Bits::zeros(8)), Some(Bits::zeros(8))], vec!["party 1"]),
        (vec![Some(Bits::zeros(8))], vec!["1", "2"]),
    ] {
        let (mut ch, mut other) = memory::pair();
        let ended =
            comity_yao::run(&mut ch, &session, &config, &program, &inputs, &mut rng(1), &mut Outputs::default());
        drop(ch);
        let Err(Error { kind: Kind::InvalidInput(message), .. }) = ended else { panic!("{ended:?}") };
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
        assert!(matches!(other.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    }
}

#[test]
fn values_in_shares_are_refused_before_anything_is_sent() {
    let program = Program::from_circuit(chain_and_layer(8)).unwrap();
    let config = Config { backend: Backend::detect(), party: 0 };
    let session = SessionId::derive("test of yao", &[]);
    let inputs = [Some(Bits::zeros(8)), None];
    for (program, words) in [
        (program.clone().with_owner(1, Owner::Shared).unwrap(), "input value 1 (`y`) comes in as shares"),
        (program.with_recipients(0, Recipients::Shared).unwrap(), "output value 0 (`out`) goes out as shares"),
    ] {
        let (mut ch, mut other) = memory::pair();
        let ended =
            comity_yao::run(&mut ch, &session, &config, &program, &inputs, &mut rng(1), &mut Outputs::default());
        drop(ch);
        let Err(Error { kind: Kind::InvalidInput(message), .. }) = ended else { panic!("{ended:?}") };
        assert!(message.contains(words), "{message}");
        assert!(matches!(other.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    }
}

#[test]
fn every_backend_sends_the_same_bytes() {
    let program = Program::from_circuit(chain_and_layer(300)).unwrap();
    let inputs = [bits(300, &mut rng(7)), bits(300, &mut rng(8))];
    for backend in Backend::available() {
        let run = |ch: &mut MemoryChannel, id| {
            let ch = Recorded::new(ch, 1 << 20);
            let recorder = ch.recorder();
            party(&mut { ch }, id, &program, &inputs, backend).unwrap();
            blake3::hash(&recorder.recording().sent).to_hex().to_string()
        };
        let (garbler, evaluator) = Pair::run(|ch| run(ch, 0), |ch| run(ch, 1));
        assert_eq!(garbler, "f8e14dedfef6f86ad903112146fa45188189078443b3527e53424e5f63f57514", "{backend}");
        assert_eq!(evaluator, "78c0b62b4833b2a2fb99bbcf0b16bbd0fd6e4423aa166f961575f3cb1aff69df", "{backend}");
    }
}

/// Semi-honest: a peer that lies may make the output wrong, but there is no panic, no hang, and a peer that is lost
/// before the end is an error.
#[test]
fn whatever_the_peer_sends_the_run_ends() {
    let program = Program::from_circuit(chain_and_layer(100)).unwrap();
    let inputs = [bits(100, &mut rng(5)), bits(100, &mut rng(6))];
    let honest = |ch: &mut Box<dyn Channel>, id: u32, session: u64| {
        let own: Vec<_> = (0..2).map(|i| (i == id).then(|| inputs[i as usize].clone())).collect();
        let mut outputs = Outputs::default();
        let config = Config { backend: Backend::detect(), party: id };
        let name = SessionId::derive("test of yao", &[&session.to_le_bytes()]);
        let mut rng = rng(u128::from(session) << 64 | u128::from(id));
        comity_yao::run(ch.as_mut(), &name, &config, &program, &own, &mut rng, &mut outputs)?;
        Ok(outputs.0)
    };
    let (mut wrong, mut aborted) = (0, 0);
    let runs = deviate(
        400,
        |ch, session| honest(ch, 0, session),
        |ch, session| honest(ch, 1, session),
        |case, verdict0, verdict1| {
            let own = if case.party == 0 { verdict1.error() } else { verdict0.error() };
            aborted += usize::from(own.is_some());
            wrong += usize::from(matches!(
                (case.party, verdict0, verdict1),
                (1, Verdict::Wrong(_), _) | (0, _, Verdict::Wrong(_))
            ));
            if let Some(error) = own {
                let known = matches!(
                    error,
                    Error { kind: Kind::Closed, .. }
                        | Error { kind: Kind::TimedOut(_), .. }
                        | Error { kind: Kind::Misbehaved(_), .. }
                );
                assert!(known, "{case:?}: {error}");
            }
        },
    );
    // The test would prove nothing if no deviation did anything.
    assert!(runs > 100 && aborted > 10 && wrong > 10, "{runs} runs, {aborted} aborted, {wrong} wrong");
}
