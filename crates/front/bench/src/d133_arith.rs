//! Unsigned arithmetic on shares (D13.3, section 3.5): how many of each operation two parties do in a second.
//!
//! Parties are threads of this process over TCP on this machine, one thread a party.

use std::time::Instant;

use comity_arith::{Party as Hand, Word};
use comity_channel::Result;
use comity_core::PartyId;
use comity_net::SystemRng;
use comity_protocol::Party;
use comity_share::triples::OtKind;
use comity_terminal::failure::Outcome;
use rand_core::Rng;

use crate::gmw::{Cost, Nobody, here, together};
use crate::suite::{Bench, Suite};
use crate::two::{repeat, session};

/// Each operation on vectors of shared words.
pub(super) const D133_ARITH: Bench = Bench {
    name: "d133.arith",
    about: "arithmetic on shared words, D13.3's section 3.5: each operation on vectors, OTs and triples included",
    ceiling: None,
    run,
};

/// An operation of two vectors.
type Operation = fn(&mut Hand<'_, '_>, &Word, &Word) -> Result<Word>;

/// The operations, each with its name, the bits of its words, and how many words a vector has.
const OPERATIONS: &[(&str, u32, usize, Operation)] = &[
    ("mul", 64, 1 << 16, |hand, x, y| hand.mul(x, y)),
    ("square", 64, 1 << 16, |hand, x, _| hand.square(x)),
    ("msb", 64, 1 << 14, |hand, x, _| hand.msb(x)),
    ("equal", 64, 1 << 14, |hand, x, y| hand.eq(x, y)),
    ("less", 64, 1 << 14, |hand, x, y| hand.lt(x, y)),
    ("overflow", 64, 1 << 14, |hand, x, y| hand.overflow(x, y)),
    ("shift_public", 64, 1 << 14, |hand, x, _| hand.shr(x, 8)),
    ("shift_private", 64, 1 << 12, |hand, x, y| hand.shl_by(x, y)),
    ("rotate_private", 64, 1 << 12, |hand, x, y| hand.rotl_by(x, y)),
    ("divide_public", 64, 1 << 14, |hand, x, _| hand.div_public(x, 1000)),
    ("divide", 64, 1 << 11, |hand, x, y| hand.div(x, y)),
    ("divide", 32, 1 << 12, |hand, x, y| hand.div(x, y)),
    ("power", 64, 1 << 9, |hand, x, y| hand.pow(x, y)),
    ("prefix_or", 64, 1 << 12, |hand, x, _| hand.prefix_or(x)),
];

fn run(suite: &mut Suite) -> Outcome {
    for &(name, bits, words, operation) in OPERATIONS {
        let row = format!("d133.arith.{name}.k{bits}");
        if !suite.wants(&row) {
            continue;
        }
        let rates = repeat(|| {
            let cost = timed(bits, words, operation)?;
            Ok(words as f64 / cost.ends.into_iter().fold(0.0, f64::max))
        })?;
        suite.record(&row, "ops/s", None, rates);
    }
    Ok(())
}

/// The seconds that each party takes for an operation of two vectors of `words` words, one of each party. What is
/// drawn and planned once is there already.
fn timed(bits: u32, words: usize, operation: Operation) -> Outcome<Cost<f64>> {
    let session = session();
    together(2, None, |net, me| {
        let mut observer = Nobody;
        let mut party = Party { net, here: here(me, 2, session), rng: &mut SystemRng, observer: &mut observer };
        let mut hand = Hand::setup(&mut party, OtKind::SoftSpoken)?;
        let own: Vec<u128> = (0..words).map(|_| u128::from(SystemRng.next_u64()) >> (64 - bits)).collect();
        let mut put = |owner: u16| hand.input(PartyId(owner), bits, words, (owner == me).then_some(&own));
        let (x, y) = (put(0)?, put(1)?);
        operation(&mut hand, &x, &y)?;
        let start = Instant::now();
        operation(&mut hand, &x, &y)?;
        Ok(start.elapsed().as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_measured() {
        let cost = timed(16, 10, |hand, x, y| hand.lt(x, y)).unwrap();
        assert!(cost.ends.iter().all(|seconds| *seconds > 0.0));
        // Two comparisons of ten words, beyond the set-up.
        assert!(cost.bytes > 20 * 46 * 32, "{}", cost.bytes);
    }
}
