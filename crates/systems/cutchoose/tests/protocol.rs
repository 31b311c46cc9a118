//! Honest runs against the plain evaluator: who garbles, who learns what, and how wide and small things may be.

use comity_channel::{Channel, memory};
use comity_circuit::{Builder, Circuit, Observer, Owner, Plain, Program, Recipients, Span, Step, Wire, library};
use comity_core::{Backend, Bits, Block, Error, Kind, Params, Prg, Result, SessionId};
use comity_cutchoose::{Config, Form};
use comity_testing::Pair;
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

/// How both parties run.
#[derive(Clone, Copy)]
struct Setting {
    garbler: u32,
    rho: u32,
    backend: Backend,
    form: Form,
    seed: u128,
}

fn party(
    ch: &mut dyn Channel,
    party: u32,
    program: &Program,
    inputs: &[Bits],
    setting: Setting,
) -> Result<Vec<(usize, Bits)>> {
    let Setting { garbler, rho, backend, form, seed } = setting;
    let session = SessionId::derive("test of cut-and-choose", &[&seed.to_le_bytes()]);
    let pairs = program.inputs().iter().zip(inputs);
    let own: Vec<Option<Bits>> =
        pairs.map(|(i, value)| (i.owner.includes(party as u16)).then(|| value.clone())).collect();
    let mut outputs = Outputs::default();
    let params = Params::new(128, rho)?;
    let config = Config { backend, party, garbler, params, form };
    let mut rng = rng(seed ^ (u128::from(party) + 1));
    comity_cutchoose::run(ch, &session, &config, program, &own, &mut rng, &mut outputs)?;
    Ok(outputs.0)
}

fn check(program: &Program, inputs: &[Bits], setting: Setting) {
    let mut expected = Outputs::default();
    let all: Vec<_> = inputs.iter().cloned().map(Some).collect();
    comity_circuit::run(program, &mut Plain::new(), &all, &mut expected).unwrap();
    let (a, b) = Pair::run(
        |ch| party(ch, 0, program, inputs, setting).unwrap(),
        |ch| party(ch, 1, program, inputs, setting).unwrap(),
    );
    for (id, outputs) in [(0, a), (1, b)] {
        let wanted: Vec<(usize, Bits)> = expected
            .0
            .iter()
            .zip(program.outputs())
            .filter(|(_, output)| output.to.includes(id))
            .map(|(value, _)| value.clone())
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
    let outputs: Vec<Wire> = (0..90).map(|_| pick(&wires)).collect();
    b.output("x", &outputs[..79]);
    b.output("y", &outputs[79..80]);
    b.output("z", &outputs[80..]);
    b.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_compute_what_they_compute_in_the_clear(
        seed: u128, a in 0usize..90, b in 0usize..90, gates in 1usize..400, owners in 0usize..4, to in 0usize..64,
        garbler in 0u32..2, rho in 1u32..9, coded: bool,
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
        let backend = backends[(seed % backends.len() as u128) as usize];
        let form = if coded { Form::Coded } else { Form::All };
        check(&program, &inputs, Setting { garbler, rho, backend, form, seed });
    }
}

#[test]
fn aes_with_forty_copies() {
    let program = library::program("aes128").unwrap();
    let mut rng = rng(9);
    let inputs = [bits(128, &mut rng), bits(128, &mut rng)];
    for form in [Form::All, Form::Coded] {
        check(&program, &inputs, Setting { garbler: 0, rho: 40, backend: Backend::detect(), form, seed: 9 });
    }
}

#[test]
fn values_in_shares_are_refused_before_anything_is_sent() {
    let program = library::program("add8").unwrap();
    let session = SessionId::derive("test of cut-and-choose", &[]);
    let params = Params::new(128, 3).unwrap();
    let config = Config { backend: Backend::detect(), party: 0, garbler: 0, params, form: Form::All };
    let own = [Some(Bits::zeros(8)), None];
    for (program, words) in [
        (program.clone().with_owner(1, Owner::Shared).unwrap(), "comes in as shares"),
        (program.with_recipients(0, Recipients::Shared).unwrap(), "goes out as shares"),
    ] {
        // Nobody is there: whatever is sent or awaited fails otherwise.
        let (mut ch, _) = memory::pair();
        let mut outputs = Outputs::default();
        let runs = [
            comity_cutchoose::run(&mut ch, &session, &config, &program, &own, &mut rng(1), &mut outputs),
            comity_cutchoose::prepare(&mut ch, &session, &config, &program, &mut rng(1), &mut Vec::new(), &mut outputs),
        ];
        for ended in runs {
            let Err(Error { kind: Kind::InvalidInput(message), .. }) = ended else { panic!("{ended:?}") };
            assert!(message.contains(words), "{message}");
        }
    }
}

#[test]
fn inputs_may_overwrite_each_other_and_come_late() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 4), b.input("y", 4));
    let both: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    let mixed: Vec<Wire> =
        both.iter().zip(x[1..].iter().chain(&y[..1])).map(|(&and, &other)| b.xor(and, other)).collect();
    b.output("z", &mixed);
    let span = |start: u64| Span { start, bits: 4, strides: Vec::new() };
    let input =
        |party: u16, start| Step::Input { name: format!("{party} at {start}"), owner: party.into(), to: span(start) };
    let call = Step::Call { circuit: 0, times: 1, args: vec![(span(0), 0), (span(4), 0)], outs: vec![(span(0), 0)] };
    let reveal = Step::Reveal { name: "z".into(), to: Recipients::All, from: span(0) };
    let steps = vec![input(0, 0), input(1, 4), input(1, 2), input(0, 7), call.clone(), input(0, 4), call, reveal];
    let program = Program::new("late", 11, vec![b.finish()], steps).unwrap();
    for seed in 0..8 {
        let mut rng = rng(seed);
        let inputs: Vec<Bits> = (0..5).map(|_| bits(4, &mut rng)).collect();
        let garbler = (seed % 2) as u32;
        check(&program, &inputs, Setting { garbler, rho: 3, backend: Backend::detect(), form: Form::All, seed });
    }
}
