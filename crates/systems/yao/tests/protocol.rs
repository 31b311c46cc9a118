//! Yao's protocol: what every protocol must do, its bytes counted exactly, and what it sends.

use comity_channel::{Counted, MemoryChannel, Mesh, Recorded};
use comity_circuit::{Builder, Program, ProgramBuilder, Recipients, Wire};
use comity_core::{Backend, Bits, Params, PartyId, SessionId};
use comity_protocol::{Empty, Here, Job, Options, Party, Protocol};
use comity_testing::laws::{Laws, Outputs, RunBy, Setting, bits, chain_and_layer, check, rng, run};
use comity_testing::ot::DealtBaseOts;
use comity_testing::{Pair, laws};
use comity_yao::{Yao, garbler, run_over};

laws!(Yao, Laws { programs: 12, deviations: 60, ..Laws::USUAL });

/// The laws under standard assumptions: without free XOR, and with labels from random OTs.
mod standard {
    use super::*;

    const LAWS: Laws = Laws { options: &[("garbling", "standard")], ..Laws::USUAL };

    laws!(Yao, LAWS);

    #[test]
    fn deviations_over_dealt_base_ots() {
        let dealt = RunBy { protocol: Yao, run: run_over::<DealtBaseOts> };
        laws::deviations(&dealt, &Laws { deviations: 200, felt: 60, ..LAWS });
    }
}

/// The laws with three halves.
mod three_halves {
    use super::*;

    const LAWS: Laws = Laws { options: &[("garbling", "three-halves")], ..Laws::USUAL };

    laws!(Yao, LAWS);

    #[test]
    fn deviations_over_dealt_base_ots() {
        let dealt = RunBy { protocol: Yao, run: run_over::<DealtBaseOts> };
        laws::deviations(&dealt, &Laws { deviations: 200, felt: 60, ..LAWS });
    }
}

/// Law 3 over dealt base OTs: in all of the few ways there are then, of which many change what no output
/// depends on.
#[test]
fn deviations_over_dealt_base_ots() {
    let dealt = RunBy { protocol: Yao, run: run_over::<DealtBaseOts> };
    laws::deviations(&dealt, &Laws { deviations: 400, felt: 70, ..Laws::USUAL });
}

/// Every garbling.
const GARBLINGS: [&[(&str, &str)]; 3] = [&[], &[("garbling", "standard")], &[("garbling", "three-halves")]];

fn setting(backend: Backend, options: &'static [(&'static str, &'static str)]) -> Setting {
    Setting { params: Params::default(), backend, options, session: 1 }
}

fn agrees(program: &Program, inputs: &[Bits], backend: Backend) {
    GARBLINGS.iter().for_each(|options| check(&Yao, 2, program, inputs, setting(backend, options)));
}

#[test]
fn calls_repeated_and_side_by_side() {
    let mut rng = rng(3);
    let circuit = chain_and_layer(33);
    let side_by_side = Program::map(circuit.clone(), 50, &[0]).unwrap();
    let inputs: Vec<Bits> = side_by_side.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    agrees(&side_by_side, &inputs, Backend::detect());

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
    agrees(&repeated, &inputs, Backend::detect());
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
            agrees(&program, &inputs, backend);
        }
    }
    // Nothing but a constant.
    let mut p = ProgramBuilder::new("a constant");
    let five = p.constant(&Bits::from_bytes(&[5], 8));
    p.reveal("five", Recipients::All, five);
    agrees(&p.finish().unwrap(), &[], Backend::detect());
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
    let garblers = [(0, 1), (1, 0), (0, 0), (1, 1)].map(|(a, b)| garbler(&owned(a, b)));
    assert_eq!(garblers, [1, 0, 0, 1].map(PartyId));
}

#[test]
fn bytes_are_what_the_docs_say() {
    let program =
        Program::from_circuit(chain_and_layer(4000)).unwrap().with_recipients(0, Recipients::only(1)).unwrap();
    let mut rng = rng(4);
    let inputs = [bits(4000, &mut rng), bits(4000, &mut rng)];
    let ands = program.and_gates();
    let xors = program.lowered()[0].tape().xors().len() as u64;
    assert_eq!((ands, xors), (8000, 4000));
    // The bits of the AND gates' tables are whole bytes in each of the two parts that the tape is cut to.
    let tables = [32 * ands, 32 * ands + ands / 8 + 16 * xors, 24 * ands + 5 * ands / 8];
    for (options, tables) in GARBLINGS.into_iter().zip(tables) {
        let mut counts = [(0, 0); 2];
        let [first, second] = &mut counts;
        let count = |ch: &mut MemoryChannel, id, counts: &mut (u64, u64)| {
            let ch = Counted::new(ch);
            let counter = ch.counter();
            let mut net = Mesh::of_two(PartyId(id), ch);
            run(&Yao, &mut net, &program, &inputs, setting(Backend::detect(), options)).unwrap();
            *counts = (counter.counts().sent, counter.counts().received);
        };
        Pair::run(|ch| count(ch, 0, first), |ch| count(ch, 1, second));
        // Party 0 garbles: 128 base-OT points, the tables, the permute bits of the outputs.
        assert_eq!(counts[0].0, 128 * 32 + tables + 4001u64.div_ceil(8));
        // The evaluator sends the base OTs' first point and 16 bytes for each of its input bits.
        assert_eq!(counts[0].1, 32 + 16 * 4000);
        assert_eq!(counts[1], (counts[0].1, counts[0].0));
    }
}

#[test]
fn every_backend_sends_the_same_bytes() {
    let program = Program::from_circuit(chain_and_layer(300)).unwrap();
    let inputs = [bits(300, &mut rng(7)), bits(300, &mut rng(8))];
    let digests = [
        [
            "f8e14dedfef6f86ad903112146fa45188189078443b3527e53424e5f63f57514",
            "78c0b62b4833b2a2fb99bbcf0b16bbd0fd6e4423aa166f961575f3cb1aff69df",
        ],
        [
            "9dd681e3f31b78a0856ba74bf990602d7433ee03039f71ec410b8476515eb686",
            "445e4f403d9442713d3c854921964a04419a7d579ca4275fb3de53862801490d",
        ],
        [
            "e9406022cd759849197190786944537f5a43e9a4b6665f77644b23ae736e0447",
            "a6b5f36716aa0df51802b960d926e06fbc44033d2fa2c84c10943feafc75e3be",
        ],
    ];
    for (backend, (set, digests)) in Backend::available()
        .into_iter()
        .flat_map(|backend| GARBLINGS.into_iter().zip(digests).map(move |of| (backend, of)))
    {
        let sent = |ch: &mut MemoryChannel, id| {
            let ch = Recorded::new(ch, 1 << 20);
            let recorder = ch.recorder();
            let (me, session) = (PartyId(id), SessionId::derive("test of yao", &[]));
            let here = Here { backend, ..Here::new(me, 2, session) };
            let own = [0, 1].map(|i| (i == id).then(|| inputs[usize::from(i)].clone()));
            let mut options = Options::new(Yao.card());
            set.iter().for_each(|(name, value)| options.set(me, name, value).unwrap());
            let job = Job { program: &program, inputs: &own, options: &options };
            let (mut net, mut rng, mut outputs) = (Mesh::of_two(me, ch), rng(u128::from(id) + 1), Outputs::default());
            let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
            Yao.run(&mut party, &job, &mut Empty).unwrap();
            blake3::hash(&recorder.recording().sent).to_hex().to_string()
        };
        let (garbler, evaluator) = Pair::run(|ch| sent(ch, 0), |ch| sent(ch, 1));
        assert_eq!([garbler.as_str(), evaluator.as_str()], digests, "{backend}, {set:?}");
    }
}
