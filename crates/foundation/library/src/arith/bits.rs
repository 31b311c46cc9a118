//! Counting and finding ones.

use comity_circuit::{Builder, Goal, Wire};

use super::{Columns, width, xor};

/// The width of a number from 0 to n.
fn bits_of(n: usize) -> usize {
    (usize::BITS - n.leading_zeros()) as usize
}

/// The number of ones in `x`, in ⌊log2 n⌋ + 1 bits. n - w ANDs, where w is the number of ones in the binary n: the
/// fewest possible (Boyar, Peralta: "Tight bounds for the multiplicative complexity of symmetric functions", 2008).
pub fn popcount(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let mut columns = Columns::new(bits_of(width(x, x)));
    for &bit in x {
        columns.bit(0, bit);
    }
    columns.sum(b)
}

/// The Hamming distance of `x` and `y`: the number of bits in which they differ. As [`popcount`].
pub fn hamming(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        let differences = xor(b, x, y);
        popcount(b, &differences)
    })
}

/// Whether the number of ones is odd. No ANDs.
pub fn parity(b: &mut Builder, x: &[Wire]) -> Wire {
    width(x, x);
    x.iter().fold(Wire::ZERO, |sum, &bit| b.xor(sum, bit))
}

/// The number of zeros above the highest one, in ⌊log2 n⌋ + 1 bits; n if there is no one. n - 1 ANDs, the fewest
/// possible: whether `x` is zero has degree n.
pub fn leading_zeros(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    zeros_before(b, x.iter().rev().copied())
}

/// The number of zeros below the lowest one, in ⌊log2 n⌋ + 1 bits; n if there is no one. n - 1 ANDs, as
/// [`leading_zeros`].
pub fn trailing_zeros(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    zeros_before(b, x.iter().copied())
}

fn zeros_before(b: &mut Builder, bits: impl ExactSizeIterator<Item = Wire>) -> Vec<Wire> {
    assert!(bits.len() > 0, "a word has at least one bit");
    if b.goal() == Goal::Depth {
        return zeros_in_halves(b, bits.collect());
    }
    let mut count = vec![Wire::ZERO; bits_of(bits.len())];
    let mut found = Wire::ZERO;
    for (i, bit) in bits.enumerate() {
        found = if i == 0 { bit } else { b.or(found, bit) };
        // As long as nothing is found the count is i + 1: it changes in the bits in which i and i + 1 differ.
        let none = b.not(found);
        for (j, digit) in count.iter_mut().enumerate() {
            if (i ^ (i + 1)) >> j & 1 == 1 {
                *digit = b.xor(*digit, none);
            }
        }
    }
    count
}

/// The number of zeros before the first one: whether there are only zeros, and how many, of halves, quarters and so on.
fn zeros_in_halves(b: &mut Builder, mut bits: Vec<Wire>) -> Vec<Wire> {
    // Ones behind the end: the first of them is where the count is n.
    let digits = bits_of(bits.len());
    bits.resize(bits.len().next_power_of_two(), Wire::ONE);
    let mut parts: Vec<(Wire, Vec<Wire>)> = bits.into_iter().map(|bit| (b.not(bit), Vec::new())).collect();
    while parts.len() > 1 {
        let joined = |pair: &[(Wire, Vec<Wire>)]| {
            let [(first, count), (second, other)] = pair else { unreachable!("a power of two") };
            let both = b.and(*first, *second);
            let mut count: Vec<Wire> =
                count.iter().zip(other).map(|(&digit, &other)| b.mux(*first, other, digit)).collect();
            count.push(*first);
            (both, count)
        };
        parts = parts.chunks(2).map(joined).collect();
    }
    // Without any one, all digits are ones so far.
    let (none, count) = parts.swap_remove(0);
    let mut count: Vec<Wire> = count.into_iter().map(|digit| b.xor(digit, none)).collect();
    count.push(none);
    count.truncate(digits);
    count
}
