//! Shifts by secret amounts: alignment and normalization.

use comity_circuit::{Builder, Goal, Wire};

use super::{any, arith, resized};

/// The number of bits of a shift by up to `most`.
pub(super) fn bits_for(most: usize) -> usize {
    (usize::BITS - most.leading_zeros()) as usize
}

/// `bits >> amount`, and whether a one was shifted out. A number of n ANDs for each bit of the amount, and about n
/// more for what is shifted out.
pub(super) fn right(b: &mut Builder, bits: &[Wire], amount: &[Wire]) -> (Vec<Wire>, Wire) {
    let (mut bits, mut lost) = (bits.to_vec(), Wire::ZERO);
    // For depth the longest shift is the first: what it shifts out is known before it is.
    let stages = 0..amount.len();
    let stages: Vec<usize> = if b.goal() == Goal::Depth { stages.rev().collect() } else { stages.collect() };
    for k in stages {
        let shift = amount[k];
        let by = (1 << k).min(bits.len());
        let out = any(b, &bits[..by]);
        let out = b.and(shift, out);
        lost = b.or(lost, out);
        bits = arith::mux(b, shift, &arith::shr(&bits, by), &bits);
    }
    (bits, lost)
}

/// An amount for [`right`]: `amount`, or, if `all` is one or `amount` is at least `bits`, one that shifts out
/// everything of `bits` bits.
pub(super) fn clamp(b: &mut Builder, amount: &[Wire], all: Wire, bits: usize) -> Vec<Wire> {
    let width = bits_for(bits);
    let (low, high) = amount.split_at(width.min(amount.len()));
    let much = any(b, high);
    let all = b.or(all, much);
    low.iter().map(|&bit| b.or(bit, all)).collect()
}

/// Shifts left until the uppermost bit is one, or by `limit`. Returns the bits and by how much they were shifted, in
/// as many bits as `bits.len() - 1` has; without a limit, zero is shifted by any amount and nothing else ends without
/// its uppermost bit.
pub(super) fn normalize(b: &mut Builder, bits: &[Wire], limit: Option<&[Wire]>) -> (Vec<Wire>, Vec<Wire>) {
    let n = bits.len();
    let stages = bits_for(n - 1);
    if b.goal() == Goal::Depth {
        let mut count = arith::leading_zeros(b, bits);
        count.truncate(stages);
        if let Some(limit) = limit {
            let width = stages.max(limit.len());
            let (limit, wanted) = (resized(limit, width), resized(&count, width));
            let less = arith::lt(b, &limit, &wanted);
            count = arith::mux(b, less, &limit[..stages], &count);
        }
        return (arith::up(b, bits, &count, n), count);
    }
    let mut bits = bits.to_vec();
    let mut count = vec![Wire::ZERO; stages];
    // Whether the rest of the limit is as much as any rest of the shift.
    let mut free = limit.map_or(Wire::ONE, |limit| any(b, &limit[stages.min(limit.len())..]));
    for k in (0..stages).rev() {
        let by = 1 << k;
        let zero = arith::is_zero(b, &bits[n - by..]);
        let bound = limit.and_then(|limit| limit.get(k)).copied().unwrap_or(Wire::ZERO);
        // Once the limit has a zero where the shift wants a one, the rest of the shift is the rest of the limit: the
        // upper bits stay zero, and this goes on by itself. Once it has a one where the shift needs none, it is free.
        let within = b.or(free, bound);
        let shift = b.and(zero, within);
        free = b.mux(zero, free, within);
        let bit = |b: &mut Builder, i: usize| {
            let from = if i >= by { bits[i - by] } else { Wire::ZERO };
            // The uppermost bits are zero if something else is shifted there.
            let moved = if i < n - by { b.xor(from, bits[i]) } else { from };
            let moved = b.and(shift, moved);
            b.xor(bits[i], moved)
        };
        bits = (0..n).map(|i| bit(b, i)).collect();
        count[k] = shift;
    }
    (bits, count)
}
