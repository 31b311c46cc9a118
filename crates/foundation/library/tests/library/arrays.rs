//! Arrays: gadgets and programs against the machine's own sorting, searching and sets.

mod gadgets;
mod programs;

use crate::Random;

/// A list of numbers of `bits` bits, every other time so few different ones that many are equal.
fn numbers(random: &mut Random, len: usize, bits: usize) -> Vec<u128> {
    let mask = u128::MAX >> (128 - bits);
    let few = random.next() & 1 == 0;
    (0..len).map(|_| if few { (random.next() as u128 % 4 * 37) & mask } else { random.words(bits)[0] & mask }).collect()
}

/// The number in two's complement.
fn signed(x: u128, bits: usize) -> i128 {
    (x << (128 - bits)) as i128 >> (128 - bits)
}
