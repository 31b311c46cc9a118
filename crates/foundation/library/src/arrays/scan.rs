//! Prefixes.

use comity_circuit::{Builder, Goal, Wire};

use super::width;

/// Row i of the result is rows 0 to i taken together: with [`arith::add`](crate::arith::add) the prefix sums
/// modulo 2^w, with [`max`](crate::arith::max), [`min`](crate::arith::min) or
/// [`or`](crate::arith::or) the greatest, smallest or union so far. n - 1 times what `together` costs, one
/// after another; for depth ⌈log2 n⌉ one after another, and n/2 log2 n in all.
pub fn prefix(
    b: &mut Builder,
    rows: &[Vec<Wire>],
    mut together: impl FnMut(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Vec<Vec<Wire>> {
    width(rows);
    if b.goal() == Goal::Depth {
        let mut rows = rows.to_vec();
        let mut half = 1;
        while half < rows.len() {
            // In each block of 2·half rows, the last row of the first half goes to all of the second half.
            for i in (0..rows.len()).filter(|i| i & half != 0) {
                rows[i] = together(b, &rows[i / half * half - 1], &rows[i]);
            }
            half *= 2;
        }
        return rows;
    }
    let mut so_far = rows[0].clone();
    let mut prefixes = vec![so_far.clone()];
    for row in &rows[1..] {
        so_far = together(b, &so_far, row);
        prefixes.push(so_far.clone());
    }
    prefixes
}
