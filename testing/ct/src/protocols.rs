//! Every protocol of the list, with each value of each option that parties agree on, from its set-up to the outputs;
//! what can be prepared is prepared, too, and used up.

use std::thread;

use comity::PROTOCOLS;
use comity_channel::{Mesh, memory_mesh};
use comity_circuit::{Builder, Observer, Program};
use comity_core::{Bits, Params, SessionId};
use comity_library::arith;
use comity_protocol::{Card, Here, Job, Options, Party, Protocol, Takes, Values};
use comity_testing::{PATIENCE, Stock};

use crate::Case;
use crate::secret::{SecretRng, Wire, backend, bits};

/// An observer that forgets what it hears: what it does with an output is no protocol's business.
pub(crate) struct Deaf;

impl Observer for Deaf {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// The value of an option.
type Set = (&'static str, &'static str);

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &protocol in PROTOCOLS {
        let card = protocol.card();
        let name = format!("protocol {}", card.name);
        cases.push(Case::new(name.clone(), move || run(protocol, &[], false)));
        for option in card.options {
            let values: &[&str] = match option.values {
                Values::OneOf(values) => values,
                Values::Switch => &["yes", "no"],
                Values::Part(_) | Values::Number(_) | Values::Place(_) | Values::Key(_) => &[],
                Values::Text { .. } | Values::File(_) => &[],
            };
            for &value in values {
                let name = format!("{name}, {} {value}", option.name);
                cases.push(Case::new(name, move || run(protocol, &[(option.name, value)], false)));
            }
        }
        if !card.offline.is_empty() {
            cases.push(Case::new(format!("{name}, on a store"), move || run(protocol, &[], true)));
        }
    }
    cases.extend([
        Case::new("all forms of mixed", || all_forms(&[], false)),
        Case::new("all forms of mixed, on a store", || all_forms(&[], true)),
        Case::new("all forms of mixed, on a store, tables prepared", || all_forms(&[("tables", "prepared")], true)),
    ]);
    cases
}

/// A sum and a comparison of values of the first two parties.
pub(crate) fn program() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 6), b.input("y", 6));
    let mut carry = b.and(x[0], y[0]);
    for (&x, &y) in x.iter().zip(&y) {
        let (sum, both) = (b.xor(x, carry), b.and(x, y));
        carry = b.and(sum, both);
        carry = b.xor(carry, y);
    }
    b.output("carry", &[carry, x[0]]);
    Program::from_circuit(b.finish()).expect("a circuit is a program")
}

/// The [`program`] for a protocol; if it takes operations on words alone, one of each kind that runs in a way
/// of its own.
fn program_for(card: &Card) -> Program {
    if card.takes != Takes::Words {
        return program();
    }
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 6), b.input("y", 6));
    let (product, square) = (arith::mul(&mut b, &x, &y), arith::square(&mut b, &x));
    let (least, equal) = (arith::min(&mut b, &x, &y), arith::eq(&mut b, &x, &y));
    let (tenth, _) = arith::div_rem_by(&mut b, &product, 10);
    let chosen = arith::mux(&mut b, equal, &arith::shr(&square, 2), &tenth);
    let sum = arith::add(&mut b, &chosen, &least);
    b.output("sum", &sum);
    Program::from_circuit(b.finish()).expect("a circuit is a program")
}

fn run(protocol: &dyn Protocol, set: &[Set], stored: bool) {
    let program = program_for(protocol.card());
    compute(protocol, &program, &secret_values(&program), set, stored);
}

pub(crate) fn secret_values(program: &Program) -> Vec<Bits> {
    program.inputs().iter().map(|input| bits(input.bits)).collect()
}

/// Words and bits that go into each form, and out of it.
fn all_forms(set: &[Set], stored: bool) {
    let text = "fn main(x: u6 from 0, y: u6 from 1) -> u6 {
        let product = arithmetic { x * y };
        let both = boolean { product & x };
        let less = yao { both < y };
        arithmetic { if less { product } else { both } }
    }";
    let program = comity::compile("forms.cty", text).expect("a program");
    let mixed = comity::named("mixed").expect("it is on the list");
    compute(mixed, &program, &secret_values(&program), set, stored);
}

/// A run of a program of secret values, on what the parties prepared before if it is `stored`.
pub(crate) fn compute(protocol: &dyn Protocol, program: &Program, values: &[Bits], set: &[Set], stored: bool) {
    let card = protocol.card();
    let parties = *card.parties.start();
    // A small rho makes less of everything, and no other branch.
    let params = Params::new(128, 5).expect("parameters in range");
    let mut options = Options::new(card);
    for (name, value) in card.trial().chain(set.iter().copied()) {
        options.set(comity_core::PartyId(0), name, value).expect("one of the card's values");
    }
    protocol.settle(&mut options, program);
    protocol.fits(program, &options, params).expect("a small program");
    thread::scope(|scope| {
        for links in memory_mesh(parties, Some(PATIENCE)) {
            let options = &options;
            scope.spawn(move || {
                let mut net = Mesh::new(links.map(|_, link| Wire(link)));
                let me = net.me();
                let own = program.inputs().iter().zip(values);
                let own: Vec<Option<Bits>> =
                    own.map(|(input, value)| (input.owner.party() == Some(me)).then(|| value.clone())).collect();
                let here = Here { me, parties, session: SessionId::new([5; 32]), params, backend: backend() };
                let mut rng = SecretRng::new(u128::from(me.0) + 1);
                let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut Deaf };
                let stock = stored.then(|| Stock::of(protocol, &mut party.sub("material"), program, options));
                let mut stock = stock.map_or_else(Stock::default, |stock| stock.expect("honest parties"));
                let job = Job { program, inputs: &own, options };
                protocol.run(&mut party, &job, &mut stock).expect("honest parties");
            });
        }
    });
}
