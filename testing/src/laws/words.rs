//! Programs of words, for protocols that hold words and for all that run their gates.

use comity_circuit::{Builder, Circuit, Program, Wire};
use comity_core::Prg;
use comity_library::arith;
use comity_protocol::{Card, Takes};

use super::programs::{assigned, below};

/// The gates that a protocol's programs are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gates {
    /// All gates.
    All,
    /// No ANDs.
    Xors,
    /// All, each noted as a sum or a product of words of one bit.
    Words,
}

impl Gates {
    /// The gates that the protocol of this card takes.
    pub(super) fn of(card: &Card) -> Gates {
        match card.takes {
            Takes::NoAnds => Gates::Xors,
            Takes::Words => Gates::Words,
            Takes::Any | Takes::Shares | Takes::Statement => Gates::All,
        }
    }

    /// The XOR.
    pub(super) fn xor(self, b: &mut Builder, x: Wire, y: Wire) -> Wire {
        if self == Gates::Words { arith::add(b, &[x], &[y])[0] } else { b.xor(x, y) }
    }

    /// The AND; in a circuit without ANDs, the XOR.
    pub(super) fn and(self, b: &mut Builder, x: Wire, y: Wire) -> Wire {
        match self {
            Gates::All => b.and(x, y),
            Gates::Xors => b.xor(x, y),
            Gates::Words => arith::mul(b, &[x], &[y])[0],
        }
    }
}

/// A chain of dependent products of words of `bits` bits, a layer of independent ones, and a square.
pub(super) fn chain(bits: usize, words: usize) -> Circuit {
    let mut b = Builder::new();
    let inputs = [b.input("x", words * bits), b.input("y", words * bits)];
    let [x, y]: [Vec<Vec<Wire>>; 2] = inputs.map(|value| value.chunks(bits).map(<[Wire]>::to_vec).collect());
    let (mut chain, mut layer) = (arith::square(&mut b, &x[0]), Vec::new());
    for i in 0..words {
        let product = arith::mul(&mut b, &chain, &y[i]);
        chain = arith::add(&mut b, &product, &x[i]);
        layer.extend(arith::mul(&mut b, &x[i], &y[(i + 1) % words]));
    }
    b.output("layer", &layer);
    b.output("chain", &chain);
    b.finish()
}

/// A random program of sums, products, choices by comparisons, divisions and shifts of words of at most
/// `widest` bits, called once, side by side or in turns.
pub fn random_words(parties: u16, widest: usize, rng: &mut Prg) -> Program {
    let (bits, words) = (1 + below(widest, rng), 1 + below(3, rng));
    // Modulo four a square is the lowest bit, and no gate says so.
    let bits = if bits == 2 { 3 } else { bits };
    let mut b = Builder::new();
    let mut all: Vec<Vec<Wire>> = Vec::new();
    for name in ["x", "y"] {
        all.extend(b.input(name, words * bits).chunks(bits).map(<[Wire]>::to_vec));
    }
    all.push(arith::constant(rng.block().to_u128(), 128)[..bits].to_vec());
    for _ in 0..3 + below(6, rng) {
        let mut pick = || all[below(all.len(), rng)].clone();
        let (x, y) = (pick(), pick());
        let next = match below(12, rng) {
            7 => arith::min_signed(&mut b, &x, &y),
            8 => {
                let equal = arith::eq(&mut b, &x, &y);
                arith::mux(&mut b, equal, &arith::constant(3, bits), &x)
            }
            9 => arith::div_rem_by(&mut b, &x, 1 + below(9, rng) as u128).0,
            10 => arith::shr(&x, below(bits, rng)),
            11 => arith::shl_by(&mut b, &x, &y),
            0 => arith::add(&mut b, &x, &y),
            1 => arith::sub(&mut b, &x, &y),
            2 => arith::negate(&mut b, &x),
            3 => arith::square(&mut b, &x),
            4 => arith::shl(&x, below(bits, rng)),
            _ => arith::mul(&mut b, &x, &y),
        };
        all.push(next);
    }
    // As many words as an input has, so that a turn can follow on a turn; and the lower bits of one.
    let next: Vec<Wire> = all[all.len() - words..].concat();
    let cut = all[below(all.len(), rng)][..1 + below(bits, rng)].to_vec();
    let shape = below(4, rng);
    b.output("next", &next);
    if shape != 0 {
        b.output("cut", &cut);
    }
    let program = match shape {
        0 => Program::iterate(b.finish(), 3, &[(0, 0)]),
        1 => Program::map(b.finish(), 4, &[]),
        _ => Program::from_circuit(b.finish()),
    };
    assigned(program.expect("a program"), parties, rng)
}
