//! Unsigned arithmetic on shares (D13.3, section 3.5): how many of each operation two parties do in a second.
//!
//! Parties are threads of this process over TCP on this machine, one thread a party.

use std::hint::black_box;
use std::time::Instant;

use comity_arith::{Conversions, Lifted, Party as Hand, Word, permute_bits};
use comity_channel::{Channel, Result};
use comity_circuit::{Builder, Call, Lowered, Place};
use comity_core::{Bits, Block, PartyId};
use comity_library::arith;
use comity_net::SystemRng;
use comity_protocol::Party;
use comity_share::ring::WordProduct;
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
    ("mul", 32, 1 << 16, |hand, x, y| hand.mul(x, y)),
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

/// A conversion of words, again and again.
type Conversion = Box<dyn FnMut(&mut Conversions, &mut dyn Channel) -> Result<()>>;

/// What makes a conversion of this many words.
type Make = fn(usize) -> Conversion;

/// The conversions, of words of 32 bits.
const CONVERSIONS: &[(&str, Make)] = &[("a2y", a2y), ("b2a", b2a), ("b2y", b2y), ("y2b", y2b)];

/// The words that are converted at once, and how often.
const CONVERTED: usize = 1 << 12;
const TIMES: usize = 16;

/// The products that are made ahead where the online part is timed.
const AHEAD: usize = 1 << 17;

fn run(suite: &mut Suite) -> Outcome {
    for &(name, bits, words, operation) in OPERATIONS {
        row(suite, &format!("{name}.k{bits}"), words, || timed(OtKind::SoftSpoken, (bits, words), operation))?;
    }
    row(suite, "mul_silent.k64", 1 << 17, || timed(OtKind::Silent, (64, 1 << 17), |hand, x, y| hand.mul(x, y)))?;
    row(suite, "mul_online.k64", AHEAD, || online(AHEAD))?;
    for &(name, conversion) in CONVERSIONS {
        row(suite, &format!("{name}.k32"), TIMES * CONVERTED, || converted(CONVERTED, conversion))?;
    }
    Ok(())
}

/// A row of the operations a second, from what `words` of them take.
fn row(suite: &mut Suite, name: &str, words: usize, timed: impl Fn() -> Outcome<Cost<f64>>) -> Outcome {
    let row = format!("d133.arith.{name}");
    if suite.wants(&row) {
        let rates = repeat(|| Ok(words as f64 / timed()?.ends.into_iter().fold(0.0, f64::max)))?;
        suite.record(&row, "ops/s", None, rates);
    }
    Ok(())
}

/// A party of two by hand.
fn by_hand(kind: OtKind, work: impl Fn(&mut Hand<'_, '_>, u16) -> Result<f64> + Sync) -> Outcome<Cost<f64>> {
    as_party(|party, me| work(&mut Hand::setup(party, kind)?, me))
}

/// A party of two in a session of its own.
fn as_party(work: impl Fn(&mut Party<'_, '_>, u16) -> Result<f64> + Sync) -> Outcome<Cost<f64>> {
    let session = session();
    together(2, None, |net, me| {
        let mut observer = Nobody;
        work(&mut Party { net, here: here(me, 2, session), rng: &mut SystemRng, observer: &mut observer }, me)
    })
}

/// Two vectors of `words` words, one of each party.
fn vectors(hand: &mut Hand<'_, '_>, me: u16, bits: u32, words: usize) -> Result<[Word; 2]> {
    let own: Vec<u128> = (0..words).map(|_| u128::from(SystemRng.next_u64()) >> (64 - bits)).collect();
    let mut put = |owner: u16| hand.input(PartyId(owner), bits, words, (owner == me).then_some(&own));
    Ok([put(0)?, put(1)?])
}

/// The seconds that each party takes for an operation of two vectors of `words` words, one of each party. What is
/// drawn and planned once is there already.
fn timed(kind: OtKind, (bits, words): (u32, usize), operation: Operation) -> Outcome<Cost<f64>> {
    by_hand(kind, |hand, me| {
        let [x, y] = vectors(hand, me, bits, words)?;
        operation(hand, &x, &y)?;
        let start = Instant::now();
        operation(hand, &x, &y)?;
        Ok(start.elapsed().as_secs_f64())
    })
}

/// The seconds that each party takes for products whose triples are there.
fn online(words: usize) -> Outcome<Cost<f64>> {
    by_hand(OtKind::SoftSpoken, |hand, me| {
        let [x, y] = vectors(hand, me, 64, words)?;
        hand.mul(&x, &y)?;
        hand.prepare(WordProduct { bits: 64, square: false }, words as u64)?;
        let start = Instant::now();
        hand.mul(&x, &y)?;
        Ok(start.elapsed().as_secs_f64())
    })
}

/// The seconds that each party takes for [`TIMES`] conversions of `words` words.
fn converted(words: usize, conversion: Make) -> Outcome<Cost<f64>> {
    as_party(|party, _| {
        let mut conversions = Conversions::setup(&mut party.sub("conversions"), OtKind::SoftSpoken, false)?;
        let (_, ch) = party.net.pair()?;
        let mut conversion = conversion(words);
        conversion(&mut conversions, ch)?;
        let start = Instant::now();
        for _ in 0..TIMES {
            conversion(&mut conversions, ch)?;
        }
        Ok(start.elapsed().as_secs_f64())
    })
}

/// Words become labels of their bits: an adder of both shares for each.
fn a2y(words: usize) -> Conversion {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 32), b.input("y", 32));
    let sum = b.quiet(|b| arith::add(b, &x, &y));
    b.output("sum", &sum);
    let adder = Lowered::new(&b.finish());
    let (bits, own) = (32 * words, own_bits(words));
    let mut memory = vec![Block::ZERO; 3 * bits];
    Box::new(move |conversions, ch| {
        let (first, second) = memory[..2 * bits].split_at_mut(bits);
        conversions.labels_to(ch, &own, [first, second])?;
        let places = [0, 1, 2].map(|value| Place { start: value * bits, stride: 32 });
        let (args, outs) = places.split_at(2);
        conversions.garble(ch, &Call { index: 0, circuit: &adder, times: words as u64, args, outs }, &mut memory)?;
        conversions.end_gates(ch)?;
        ch.flush()
    })
}

/// Shared bits become words.
fn b2a(words: usize) -> Conversion {
    let shares: Vec<u128> = (0..words).map(|_| SystemRng.next_u32().into()).collect();
    let shared = [Lifted { bits: 32, to: 32, shares: shares.into() }];
    Box::new(move |conversions, ch| {
        conversions.words(ch, &shared)?;
        ch.flush()
    })
}

/// Random bits of words.
fn own_bits(words: usize) -> Bits {
    Bits::from_words((0..words.div_ceil(2)).map(|_| SystemRng.next_u64()).collect(), 32 * words)
}

/// Shared bits become labels: the sum of those of both parties' bits.
fn b2y(words: usize) -> Conversion {
    let own = own_bits(words);
    let mut memory = vec![Block::ZERO; 2 * own.len()];
    Box::new(move |conversions, ch| {
        let (first, second) = memory.split_at_mut(own.len());
        conversions.labels_to(ch, &own, [&mut *first, &mut *second])?;
        first.iter_mut().zip(second).for_each(|(x, y)| *x ^= *y);
        ch.flush()
    })
}

/// Labels become shares of bits.
fn y2b(words: usize) -> Conversion {
    let labels: Vec<Block> = (0..32 * words).map(|_| Block::random(&mut SystemRng)).collect();
    Box::new(move |_, _| {
        black_box(permute_bits(black_box(&labels)));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_measured() {
        let cost = timed(OtKind::SoftSpoken, (16, 10), |hand, x, y| hand.lt(x, y)).unwrap();
        assert!(cost.ends.iter().all(|seconds| *seconds > 0.0));
        // Two comparisons of ten words, beyond the set-up.
        assert!(cost.bytes > 20 * 46 * 32, "{}", cost.bytes);
        for cost in [online(10), converted(40, a2y), converted(10, b2a), converted(10, b2y), converted(10, y2b)] {
            assert!(cost.unwrap().ends.iter().all(|seconds| *seconds > 0.0));
        }
    }
}
