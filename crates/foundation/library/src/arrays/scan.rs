//! Prefixes.

use comity_circuit::{Builder, Wire};

use super::width;

/// Row i of the result is rows 0 to i taken together: with [`arith::add`](crate::arith::add) the prefix sums
/// modulo 2^w, with [`max`](crate::arith::max), [`min`](crate::arith::min) or
/// [`or`](crate::arith::or) the greatest, smallest or union so far. n - 1 times what `together` costs, one
/// after another.
pub fn prefix(
    b: &mut Builder,
    rows: &[Vec<Wire>],
    mut together: impl FnMut(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Vec<Vec<Wire>> {
    width(rows);
    let mut so_far = rows[0].clone();
    let mut prefixes = vec![so_far.clone()];
    for row in &rows[1..] {
        so_far = together(b, &so_far, row);
        prefixes.push(so_far.clone());
    }
    prefixes
}
