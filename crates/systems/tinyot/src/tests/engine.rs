//! Programs against the plain evaluator.

use comity_channel::{Channel, MemoryChannel, Mesh};
use comity_circuit::{Builder, Owner, Program, ProgramBuilder, Recipients, Wire};
use comity_core::{Backend, Bits, Error, Kind, Params, PartyId, SessionId};
use comity_protocol::{Job, Options, Protocol};
use comity_testing::laws::{self, Laws, Outputs, Setting, bits, chain_and_layer, equal_to_the_evaluator, rng};
use comity_testing::{Pair, peak_memory};

use super::dealer::{Online, Trusted};
use super::here;
use crate::protocol::TinyOt;
use crate::run::run_with;

fn setting() -> Setting {
    Setting { params: Params::default(), backend: Backend::detect(), options: &[], session: 5 }
}

/// On a dealer whose batches are so large.
fn check(program: &Program, inputs: &[Bits], batch: usize) {
    laws::check(&Online(batch), 2, program, inputs, setting());
}

#[test]
fn random_programs_compute_what_they_compute_in_the_clear() {
    for batch in [1, 2, 63, 64, 65, 300] {
        equal_to_the_evaluator(&Online(batch), &Laws { programs: 14, gates: 400, ..Laws::USUAL });
    }
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
    let program = comity_library::program("aes128").unwrap();
    assert_eq!(program.inputs().iter().map(|i| i.owner).collect::<Vec<_>>(), [0, 1].map(Owner::from));
    let inputs = ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"].map(hex);
    let party = |ch: &mut MemoryChannel, me| {
        laws::run(&Online(1000), &mut Mesh::of_two(PartyId(me), ch), &program, &inputs, setting()).unwrap()
    };
    let (a, b) = Pair::run(|ch| party(ch, 0), |ch| party(ch, 1));
    let wanted = [(0, hex("69c4e0d86a7b0430d8cdb78070b4c55a"))];
    assert!(a == wanted && b == wanted);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_sent() {
    let program = Program::from_circuit(chain_and_layer(8)).unwrap();
    let refused = |ended: comity_core::Result<()>, words: &[&str]| {
        let Err(Error { kind: Kind::InvalidInput(message), .. }) = ended else { panic!("{ended:?}") };
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
    };
    for (inputs, words) in [
        (vec![Some(Bits::zeros(9)), None], vec!["8", "9", "`x`"]),
        (vec![None, None], vec!["missing", "party 0"]),
        (vec![Some(Bits::zeros(8)), Some(Bits::zeros(8))], vec!["party 1"]),
    ] {
        let (mut ch, mut other) = comity_channel::memory::pair();
        let here = here(0, SessionId::derive("test of tinyot", &[]));
        let job = Job { program: &program, inputs: &inputs, options: &Options::new(TinyOt.card()) };
        let dealer = Box::new(Trusted::new(here.me, 1, 1));
        refused(run_with(&mut ch, here, dealer, &job, &mut Outputs::default()), &words);
        drop(ch);
        assert!(matches!(other.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    }
    for (program, words) in [
        (program.clone().with_owner(1, Owner::Shared).unwrap(), "input value 1 (`y`) comes in as shares"),
        (program.clone().with_recipients(0, Recipients::Shared).unwrap(), "output value 0 (`out`) goes out as shares"),
        (program.clone().with_owner(1, 2).unwrap(), "two parties"),
    ] {
        // Nobody is there: whatever is sent or awaited fails otherwise.
        let (ch, _) = comity_channel::memory::pair();
        let inputs = [0, 1].map(|_| Bits::zeros(8));
        refused(
            laws::run(&TinyOt, &mut Mesh::of_two(PartyId(0), ch), &program, &inputs, setting()).map(drop),
            &[words],
        );
    }
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
    if let Some(peak) = peak_memory() {
        assert!(peak < 200 << 10, "{peak} KiB for both parties");
    }
}
