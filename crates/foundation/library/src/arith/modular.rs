//! Arithmetic modulo a secret number.
//!
//! One product costs a division ([`mul_mod`]); a chain of products modulo the same odd number costs less in
//! Montgomery's form, as `modexpN` does.

use comity_circuit::{Builder, Goal, Wire};

use super::divide::long_division;
use super::{Columns, add, add_carry, mul_full, mux, not, sub_borrow, width};

/// `x + y` modulo `m`, for x, y < m. 3n ANDs.
pub fn add_mod(b: &mut Builder, x: &[Wire], y: &[Wire], m: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        width(x, m);
        let (sum, carry) = add_carry(b, x, y, Wire::ZERO);
        if b.goal() == Goal::Depth {
            // The sum less m at the same time; it is between -m and m - 1, and negative where the sum is less than m.
            let mut less = combination(b, &[(x, false), (y, false), (m, true)]);
            let small = less.pop().expect("a sign");
            return mux(b, small, &sum, &less);
        }
        let (less, borrow) = sub_borrow(b, &sum, m, Wire::ZERO);
        // The sum is less than m if it has no carry, but the difference a borrow: never a carry and no
        // borrow, since x + y is less than 2m and the difference less than 2^n.
        let small = b.xor(borrow, carry);
        mux(b, small, &sum, &less)
    })
}

/// `x - y` modulo `m`, for x, y < m. 3n - 1 ANDs.
pub fn sub_mod(b: &mut Builder, x: &[Wire], y: &[Wire], m: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        width(x, m);
        let (difference, negative) = sub_borrow(b, x, y, Wire::ZERO);
        if b.goal() == Goal::Depth {
            let mut more = combination(b, &[(x, false), (y, true), (m, false)]);
            more.pop();
            return mux(b, negative, &more, &difference);
        }
        let back: Vec<Wire> = m.iter().map(|&bit| b.and(bit, negative)).collect();
        add(b, &difference, &back)
    })
}

/// `x · y` modulo `m`, for x, y < m: a full product and n steps of long division, about 2n² ANDs for small n and n²
/// for large ones.
pub fn mul_mod(b: &mut Builder, x: &[Wire], y: &[Wire], m: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        let n = width(x, m);
        let product = mul_full(b, x, y);
        // The upper half of the product is less than m, so the quotient has n bits.
        long_division(b, &product, m, n + 1).1
    })
}

/// The sum of words of n bits, less those that are marked, in n + 1 bits.
fn combination(b: &mut Builder, terms: &[(&[Wire], bool)]) -> Vec<Wire> {
    let n = terms[0].0.len();
    let mut columns = Columns::new(n + 1);
    for &(word, less) in terms {
        if less {
            // The complement of a word and one, less 2^n.
            columns.word(0, &not(b, word));
            columns.bit(0, Wire::ONE);
            columns.bit(n, Wire::ONE);
        } else {
            columns.word(0, word);
        }
    }
    columns.sum(b)
}
