//! Arrays: secret indices and sums.

use super::{Number, Sign, Uint, Value};
use crate::library::arith;

/// The element with a secret index, found by looking at all of them; the last one if the index is beyond it. Less than
/// n ANDs for each bit of an element, and as many for the index.
///
/// ```
/// use comity_circuit::typed::{Array, Design, U, get};
///
/// let d = Design::new("look-up");
/// let (prices, item) = (d.input("prices", 0, Array(U(32), 100)), d.input("item", 1, U(7)));
/// let price = get(&prices, item);
/// assert_eq!(price.bits(), 32);
/// ```
///
/// # Panics
/// If the array is empty, or its elements differ in type.
#[track_caller]
pub fn get<'d, V: Value<'d> + Clone>(array: &[V], index: Uint<'d>) -> V {
    let mut level = array.to_vec();
    // Bit after bit of the index halves what is left; where a pair is not full, its first element is the last.
    for at in 0..index.bits() {
        let bit = index.bit(at);
        let pair = |pair: &[V]| match pair {
            [even, odd] => bit.select(odd.clone(), even.clone()),
            _ => pair[0].clone(),
        };
        level = level.chunks(2).map(pair).collect();
    }
    level.into_iter().next().expect("an array that is read has elements")
}

/// The sum of numbers of the same width n, modulo 2^n: fewer ANDs than their additions one after another.
///
/// # Panics
/// If there are none, or their widths differ.
#[track_caller]
pub fn sum<'d, S: Sign>(numbers: &[Number<'d, S>]) -> Number<'d, S> {
    let first = numbers.first().expect("a sum has terms");
    let words: Vec<_> = numbers.iter().map(|&number| first.partner(number).to_wires()).collect();
    let words: Vec<&[_]> = words.iter().map(Vec::as_slice).collect();
    first.unary(|b, _| arith::sum(b, &words))
}
