//! Arrays: secret indices, sums, sorting.

use comity_circuit::Wire;

use super::{Number, Sign, Uint, Value};
use crate::{arith, arrays};

/// The element with a secret index, found by looking at all of them; all zeros if the index is beyond the end. About
/// one AND for each bit of the array.
///
/// ```
/// use comity_library::typed::{Array, Design, U, get, set};
///
/// let d = Design::new("look-up");
/// let (mut stock, item) = (d.input("stock", 0, Array(U(32), 100)), d.input("item", 1, U(7)));
/// let left = get(&stock, item) - 1;
/// set(&mut stock, item, left);
/// ```
///
/// # Panics
/// If the array is empty, or its elements differ in type.
#[track_caller]
pub fn get<'d, V: Value<'d>>(array: &[V], index: Uint<'d>) -> V {
    let rows = rows(array, index);
    let index = index.to_wires();
    let element = design(array).build(|b| arrays::read(b, &rows, &index));
    array[0].over(&mut element.into_iter())
}

/// Writes the element with a secret index; an index beyond the end changes nothing. About one AND for each
/// bit of the array.
///
/// # Panics
/// If the array is empty, or its elements or the value differ in type.
#[track_caller]
pub fn set<'d, V: Value<'d>>(array: &mut [V], index: Uint<'d>, value: V) {
    let rows = rows(array, index);
    assert!(value.ty() == array[0].ty(), "{} is no element of an array of {}", value.ty(), array[0].ty());
    let (index, word) = (index.to_wires(), design(array).wires_of(&value));
    let written = design(array).build(|b| arrays::write(b, &rows, &index, &word));
    for (element, wires) in array.iter_mut().zip(written) {
        *element = element.over(&mut wires.into_iter());
    }
}

/// The sum of numbers of the same width n, modulo 2^n: fewer ANDs than their additions one after another.
///
/// # Panics
/// If there are no numbers, or their widths differ.
#[track_caller]
pub fn sum<'d, S: Sign>(numbers: &[Number<'d, S>]) -> Number<'d, S> {
    let first = numbers.first().expect("a sum has terms");
    let words = words(first, numbers);
    let words: Vec<&[Wire]> = words.iter().map(Vec::as_slice).collect();
    first.unary(|b, _| arith::sum(b, &words))
}

/// The sum of the products of two rows of numbers of the same width n, modulo 2^n: a product for each pair, and fewer
/// ANDs than their additions one after another.
///
/// ```
/// use comity_circuit::Recipients;
/// use comity_library::typed::{Array, Design, U, dot};
///
/// let d = Design::new("order");
/// let (prices, counts) = (d.input("prices", 0, Array(U(32), 5)), d.input("counts", 1, Array(U(32), 5)));
/// d.output("total", Recipients::All, dot(&prices, &counts));
/// assert_eq!(d.finish()?.noted().into_iter().collect::<Vec<_>>(), [("dot", 1)]);
/// # Ok::<(), comity_circuit::ProgramError>(())
/// ```
///
/// # Panics
/// If there are no numbers, not as many in `y` as in `x`, or their widths differ.
#[track_caller]
pub fn dot<'d, S: Sign>(x: &[Number<'d, S>], y: &[Number<'d, S>]) -> Number<'d, S> {
    assert!(x.len() == y.len(), "{} numbers on the left, {} on the right", x.len(), y.len());
    let first = x.first().expect("a sum has terms");
    let [x, y] = [x, y].map(|row| words(first, row));
    first.unary(|b, _| arith::dot(b, &x, &y))
}

/// The product of two matrices of numbers of the same width n, given by their rows, modulo 2^n: each of its numbers is
/// a [`dot`] of a row of `x` and a column of `y`.
///
/// # Panics
/// If a matrix has no numbers, a row of `x` not as many as there are rows of `y`, rows of one matrix are not equally
/// long, or widths differ.
#[track_caller]
pub fn mat_mul<'d, S: Sign>(x: &[Vec<Number<'d, S>>], y: &[Vec<Number<'d, S>>]) -> Vec<Vec<Number<'d, S>>> {
    let (n, p) = (y.len(), y.first().map_or(0, Vec::len));
    let fits = x.iter().all(|row| row.len() == n) && y.iter().all(|row| row.len() == p);
    assert!(fits, "rows of as many numbers as the right matrix has rows, {n}, and rows of {p} numbers");
    let first = x.first().and_then(|row| row.first()).expect("a matrix has numbers");
    let (left, right) = (words(first, &x.concat()), words(first, &y.concat()));
    let product = first.design().expect("a number has a design");
    let words = product.build(|b| arith::mat_mul(b, [x.len(), n, p], &left, &right));
    words.chunks(p).map(|row| row.iter().map(|word| product.number(word)).collect()).collect()
}

/// The wires of numbers, which are like the first one.
#[track_caller]
fn words<'d, S: Sign>(first: &Number<'d, S>, numbers: &[Number<'d, S>]) -> Vec<Vec<Wire>> {
    numbers.iter().map(|&number| first.partner(number).to_wires()).collect()
}

/// Sorts an array by the number that `key` finds in each element, the smallest first; elements with equal keys in any
/// order. About (n/4)·(log2 n)² times as many ANDs as a key and an element have bits.
///
/// ```
/// use comity_library::typed::{Array, Design, U, sort_by_key};
///
/// let d = Design::new("ranking");
/// let mut offers = d.input("offers", 0, Array((U(32), U(8)), 100));
/// sort_by_key(&mut offers, |&(price, _)| price);
/// let (best, who) = offers[0];
/// ```
///
/// # Panics
/// If the elements or the keys differ in type.
#[track_caller]
pub fn sort_by_key<'d, V: Value<'d>, S: Sign>(array: &mut [V], key: impl Fn(&V) -> Number<'d, S>) {
    let Some(first) = array.first().map(&key) else { return };
    same_type(array);
    // A row is the key and then the element. What both hold is exchanged once: equal gates are shared.
    let rows: Vec<Vec<Wire>> =
        array.iter().map(|value| [first.partner(key(value)).to_wires(), value.to_wires()].concat()).collect();
    let order = arrays::Order::ascending(first.bits());
    let order = if S::SIGNED { order.signed() } else { order };
    let sorted = design(array).build(|b| arrays::sort(b, &rows, order));
    for (element, row) in array.iter_mut().zip(sorted) {
        *element = element.over(&mut row.into_iter().skip(first.bits()));
    }
}

/// The wires of each element of an array that is accessed at a secret index.
#[track_caller]
fn rows<'d, V: Value<'d>>(array: &[V], index: Uint<'d>) -> Vec<Vec<Wire>> {
    assert!(!array.is_empty(), "an array without elements has none at a secret index");
    same_type(array);
    let design = index.design().expect("a number has a design");
    array.iter().map(|value| design.wires_of(value)).collect()
}

#[track_caller]
fn same_type<'d, V: Value<'d>>(array: &[V]) {
    let ty = array[0].ty();
    let odd = array.iter().map(V::ty).find(|other| *other != ty);
    assert!(odd.is_none(), "an array of {ty} has an element of another type");
}

fn design<'d, V: Value<'d>>(array: &[V]) -> &'d super::Design {
    array[0].design().expect("an element has bits")
}
