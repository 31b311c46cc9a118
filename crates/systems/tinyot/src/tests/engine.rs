//! Programs against the plain evaluator.

use comity_channel::Channel;
use comity_circuit::library;
use comity_circuit::{Builder, Circuit, Observer, Owner, Plain, Program, ProgramBuilder, Recipients, Wire, run};
use comity_core::{Backend, Bits, Block, Error, Kind, Params, Prg, Result, SessionId};
use comity_testing::Pair;
use proptest::prelude::*;

use super::dealer::Trusted;
use crate::{Config, DealerKind, run_with};

/// Collects outputs.
#[derive(Default)]
pub(crate) struct Outputs(pub(crate) Vec<(usize, Bits)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

pub(crate) fn bits(len: usize, rng: &mut Prg) -> Bits {
    (0..len).map(|_| rng.block().lsb()).collect()
}

/// What one party does in every test.
pub(crate) fn party(
    ch: &mut dyn Channel,
    party: u32,
    program: &Program,
    inputs: &[Bits],
    batch: usize,
) -> Result<Vec<(usize, Bits)>> {
    let own: Vec<Option<Bits>> = program
        .inputs()
        .iter()
        .zip(inputs)
        .map(|(input, value)| (input.owner.includes(party as u16)).then(|| value.clone()))
        .collect();
    let mut outputs = Outputs::default();
    let session = SessionId::derive("test of tinyot", &[]);
    run_with(ch, &session, Box::new(Trusted::new(party, 5, batch)), program, &own, &mut outputs)?;
    Ok(outputs.0)
}

/// The outputs of a program in the clear.
fn clear(program: &Program, inputs: &[Bits]) -> Vec<Bits> {
    let mut outputs = Outputs::default();
    let inputs: Vec<_> = inputs.iter().cloned().map(Some).collect();
    run(program, &mut Plain::new(), &inputs, &mut outputs).unwrap();
    outputs.0.into_iter().map(|(_, value)| value).collect()
}

fn check(program: &Program, inputs: &[Bits], batch: usize) {
    let expected = clear(program, inputs);
    let (a, b) = Pair::run(
        |ch| party(ch, 0, program, inputs, batch).unwrap(),
        |ch| party(ch, 1, program, inputs, batch).unwrap(),
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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn random_programs_compute_what_they_compute_in_the_clear(
        seed: u128, a in 0usize..70, b in 0usize..70, gates in 1usize..400, owners in 0usize..4, to in 0usize..64,
        batch in 1usize..300,
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
        check(&program, &[bits(a, &mut rng), bits(b, &mut rng)], batch);
    }

    #[test]
    fn random_circuits_side_by_side(seed: u128, a in 0usize..9, b in 0usize..9, gates in 1usize..100, times in 1u64..40) {
        let mut rng = rng(seed);
        let program = Program::map(random_circuit([a, b], gates, &mut rng), times, &[0]).unwrap();
        let inputs: Vec<Bits> = program.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
        check(&program, &inputs, 64);
    }
}

/// A chain of dependent ANDs and a wide layer of independent ones.
pub(crate) fn chain_and_layer(width: usize) -> Circuit {
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
fn calls_repeated_and_in_several_turns() {
    let mut rng = rng(3);
    // 700 copies of more than 3,000 slots are more than fit at once.
    let circuit = chain_and_layer(1500);
    let program = Program::map(circuit, 700, &[0]).unwrap();
    let inputs: Vec<Bits> = program.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check(&program, &inputs, 1 << 16);

    let repeated = Program::iterate(chain_and_layer(40), 1, &[]).unwrap();
    let inputs: Vec<Bits> = repeated.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check(&repeated, &inputs, 16);
}

#[test]
fn constants_are_shared_by_both() {
    let mut rng = rng(31);
    let mut p = ProgramBuilder::new("constants");
    let constant = p.constant(&bits(70, &mut rng));
    let x = p.input("x", 1, 70);
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
    for register in [constant, copied, product, sum] {
        p.reveal("out", Recipients::All, register);
    }
    check(&p.finish().unwrap(), &[bits(70, &mut rng)], 10);
}

/// A value as FIPS 197 prints it: the last byte holds bits 0 to 7.
fn hex(text: &str) -> Bits {
    let bytes: Vec<u8> =
        (0..text.len()).step_by(2).rev().map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect();
    Bits::from_bytes(&bytes, 4 * text.len())
}

#[test]
fn aes_of_fips_197() {
    let program = library::program("aes128").unwrap();
    assert_eq!(program.inputs().iter().map(|i| i.owner).collect::<Vec<_>>(), [0, 1].map(Owner::from));
    let inputs = ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"].map(hex);
    let (a, b) = Pair::run(
        |ch| party(ch, 0, &program, &inputs, 1000).unwrap(),
        |ch| party(ch, 1, &program, &inputs, 1000).unwrap(),
    );
    let wanted = [(0, hex("69c4e0d86a7b0430d8cdb78070b4c55a"))];
    assert!(a == wanted && b == wanted);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_sent() {
    let program = Program::from_circuit(chain_and_layer(8)).unwrap();
    for (inputs, words) in [
        (vec![Some(Bits::zeros(9)), None], vec!["8", "9", "`x`"]),
        (vec![None, None], vec!["missing", "party 0"]),
        (vec![Some(Bits::zeros(8)), Some(Bits::zeros(8))], vec!["party 1"]),
    ] {
        let (mut ch, mut other) = comity_channel::memory::pair();
        let session = SessionId::derive("test of tinyot", &[]);
        let dealer = Box::new(Trusted::new(0, 1, 1));
        let ended = run_with(&mut ch, &session, dealer, &program, &inputs, &mut Outputs::default());
        drop(ch);
        let Err(Error { kind: Kind::InvalidInput(message), .. }) = ended else { panic!("{ended:?}") };
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
        assert!(matches!(other.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    }
    for (program, words) in [
        (program.clone().with_owner(1, Owner::Shared).unwrap(), "input value 1 (`y`) comes in as shares"),
        (program.clone().with_recipients(0, Recipients::Shared).unwrap(), "output value 0 (`out`) goes out as shares"),
    ] {
        // Nobody is there: whatever is sent or awaited fails otherwise.
        let (mut ch, _) = comity_channel::memory::pair();
        let session = SessionId::derive("test of tinyot", &[]);
        let params = Params::new(128, 40).unwrap();
        let config = Config { backend: Backend::detect(), party: 0, params, dealer: DealerKind::Fast };
        let inputs = [Some(Bits::zeros(8)), None];
        let mut outputs = Outputs::default();
        let ended = crate::run(&mut ch, &session, &config, &program, &inputs, &mut rng(1), &mut outputs);
        let Err(Error { kind: Kind::InvalidInput(message), .. }) = ended else { panic!("{ended:?}") };
        assert!(message.contains(words), "{message}");
    }
    let three = program.with_owner(1, 2).unwrap();
    let (mut ch, _other) = comity_channel::memory::pair();
    let session = SessionId::derive("test of tinyot", &[]);
    let dealer = Box::new(Trusted::new(0, 1, 1));
    let inputs = [Some(Bits::zeros(8)), None];
    let ended = run_with(&mut ch, &session, dealer, &three, &inputs, &mut Outputs::default());
    assert!(matches!(ended, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("two parties")));
}

/// 3 * 10^8 ANDs: their wires would be 10 GB, their triples 29 GB.
#[test]
#[ignore = "minutes; part of make test-long"]
fn a_program_far_larger_than_memory_runs_in_little() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1000), b.input("y", 1000));
    let next: Vec<Wire> = (0..1000)
        .map(|i| {
            let and = b.and(x[i], y[(i + 1) % 1000]);
            b.xor(and, y[(i + 3) % 1000])
        })
        .collect();
    b.output("next", &next);
    let program = Program::iterate(b.finish(), 300_000, &[(0, 1)]).unwrap();
    assert_eq!(program.and_gates(), 300_000_000);
    let mut rng = rng(9);
    let inputs: Vec<Bits> = program.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check(&program, &inputs, 1 << 16);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    if let Some(peak) = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()) {
        assert!(peak < 200 << 10, "{peak} KiB for both parties");
    }
}
