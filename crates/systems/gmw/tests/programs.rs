//! Programs of every shape compute what the evaluator does, among any number of parties.

use comity_circuit::{Builder, Program, ProgramBuilder, Recipients, Wire};
use comity_core::{Backend, Bits};
use comity_gmw::Gmw;
use comity_testing::laws::{bits, chain_and_layer, check, rng};

use super::setting;

fn agrees(parties: u16, program: &Program, backend: Backend) {
    let mut rng = rng(3);
    let inputs: Vec<Bits> = program.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check(&Gmw, parties, program, &inputs, setting(backend));
}

/// The values of party 1 on are dealt to all parties.
fn among(parties: u16, mut program: Program) -> Program {
    for i in 0..program.inputs().len() {
        program = program.with_owner(i, i as u16 % parties).unwrap();
    }
    program
}

#[test]
fn any_number_of_calls_side_by_side() {
    for calls in [1, 2, 63, 64, 65, 200, 1000] {
        let program = Program::map(chain_and_layer(5), calls, &[0]).unwrap();
        agrees(2, &program, Backend::detect());
    }
    let program = Program::map(chain_and_layer(9), 130, &[]).unwrap();
    for backend in Backend::available() {
        agrees(2, &program, backend);
        agrees(3, &among(3, program.clone()), backend);
    }
}

#[test]
fn layers_of_more_than_a_message() {
    // A layer of 2^18 ANDs and some, of a single call and of many.
    agrees(2, &Program::from_circuit(chain_and_layer(3)).unwrap(), Backend::detect());
    let mut wide = Builder::new();
    let (x, y) = (wide.input("x", 600), wide.input("y", 600));
    let out: Vec<Wire> =
        (0..450).flat_map(|i| (0..600).map(move |j| (i, j))).map(|(i, j)| wide.and(x[j], y[(i + j) % 600])).collect();
    let sums: Vec<Wire> =
        (0..600).map(|j| out.chunks(600).fold(Wire::ZERO, |sum, row| wide.xor(sum, row[j]))).collect();
    wide.output("sums", &sums);
    let wide = wide.finish();
    assert!(wide.counts().and > 1 << 18);
    agrees(2, &Program::from_circuit(wide).unwrap(), Backend::detect());
    agrees(2, &Program::map(chain_and_layer(40), 7001, &[1]).unwrap(), Backend::detect());
}

#[test]
fn turns_one_after_another() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 40), b.input("y", 40));
    let next: Vec<Wire> = (0..40)
        .map(|i| {
            let and = b.and(x[i], y[(i + 1) % 40]);
            b.xor(and, y[(i + 3) % 40])
        })
        .collect();
    b.output("next", &next);
    let repeated = Program::iterate(b.finish(), 70, &[(0, 1)]).unwrap();
    for parties in 2..=5 {
        agrees(parties, &among(parties, repeated.clone()), Backend::detect());
    }
}

#[test]
fn constants_and_programs_without_ands() {
    let mut p = ProgramBuilder::new("constants");
    let constant = p.constant(&bits(70, &mut rng(31)));
    let (x, y) = (p.input("x", 0, 70), p.input("y", 1, 70));
    let mut b = Builder::new();
    let (u, v) = (b.input("u", 70), b.input("v", 70));
    let mut equal = |u, v| {
        let sum = b.xor(u, v);
        b.not(sum)
    };
    let sum: Vec<Wire> = u.iter().zip(&v).map(|(&u, &v)| equal(u, v)).collect();
    b.output("sum", &sum);
    let sum = p.circuit(b.finish());
    let (first, second) = (p.register(70), p.register(70));
    p.call(sum, &[constant.span(), x.span()], &[first.span()]);
    p.call(sum, &[first.span(), y.span()], &[second.span()]);
    for (register, to) in [(constant, Recipients::All), (first, Recipients::only(1)), (second, Recipients::All)] {
        p.reveal("out", to, register);
    }
    let program = p.finish().unwrap();
    for parties in [2, 3, 4] {
        agrees(parties, &program, Backend::detect());
    }
}

#[test]
fn sixteen_parties() {
    agrees(16, &among(16, Program::from_circuit(chain_and_layer(10)).unwrap()), Backend::detect());
}

#[test]
fn aes_is_what_the_standard_says() {
    let program = Program::from_circuit(comity_library::find("aes128").unwrap()).unwrap();
    agrees(3, &program, Backend::detect());
}
