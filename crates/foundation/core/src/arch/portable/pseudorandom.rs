//! Garbling with AES as a pseudorandom function on any machine, in constant time: eight keys at a time, bitsliced.

#[cfg(test)]
mod tests;

use super::aes::{encrypt8, expand8};
use crate::memory::block::Block;
use crate::tape::TapeGate;
use crate::tape::labels::Labels;
use crate::tape::part::Part;
use crate::tape::pseudorandom::Numbers;

/// Encrypts groups of sixteen blocks, a key for each of the sixteen.
pub(in crate::arch) fn encrypt_each(keys: &[[Block; 16]], blocks: &mut [[Block; 16]]) {
    let each = (blocks.len() / keys.len().max(1)).max(1);
    for (keys, blocks) in keys.iter().zip(blocks.chunks_exact_mut(each)) {
        for (half, keys) in keys.as_chunks::<8>().0.iter().enumerate() {
            let schedule = expand8(keys);
            blocks.iter_mut().for_each(|blocks| encrypt8(&schedule, &mut blocks.as_chunks_mut::<8>().0[half]));
        }
    }
}

/// The point of a gate's side, first or second, and row.
fn point(number: u64, second: bool, row: u8) -> Block {
    Block::from_u128(u128::from(number) << 3 | u128::from(second) << 2 | u128::from(row))
}

/// A garbled AND gate.
struct Garbled {
    rows: [Block; 2],
    /// The bit that counts in row 3.
    last: bool,
    /// The labels for zero and for one.
    labels: [Block; 2],
}

impl Garbled {
    /// The gate from the `K_r` of its rows and the permute bits of the inputs' labels for zero.
    fn of([k0, k1, k2, k3]: [Block; 4], [p, q]: [bool; 2]) -> Garbled {
        let all = k0 ^ k1 ^ k2 ^ k3;
        let offset = all.with_lsb(true);
        let zero = k0 ^ offset.masked(p & q);
        Garbled {
            rows: [k0 ^ k1 ^ offset.masked(p), k0 ^ k2 ^ offset.masked(q)],
            last: !all.lsb(),
            labels: [zero, zero ^ offset],
        }
    }
}

/// The sums of row `2 i + j` to what was hashed: `T1` in rows 1 and 3, `T2` in rows 2 and 3, and bit 0 of `last` in
/// row 3.
fn opened(hashed: Block, [i, j]: [bool; 2], [first, second]: [Block; 2], last: bool) -> Block {
    hashed ^ first.masked(j) ^ second.masked(i) ^ Block::ZERO.with_lsb(i & j & last)
}

/// Does the free gates of each run, and gives its other gates, `N` at most at a time, with the number of the first,
/// and whether they are AND gates.
fn walk<W: Copy, const N: usize>(
    numbers: &mut Numbers,
    part: &Part<'_>,
    slots: &mut [W],
    not: impl Fn(W) -> W,
    mut batch: impl FnMut(bool, u64, &[TapeGate], &mut [W]),
) {
    for run in part.runs() {
        for gate in run.free {
            let (from, inverted) = gate.unary().expect("a constant");
            slots[gate.out()] = if inverted { not(slots[from]) } else { slots[from] };
        }
        for (and, gates) in [(false, run.sums), (true, run.ands)] {
            let first = numbers.take(gates.len());
            for (gates, number) in gates.chunks(N).zip((first..).step_by(N)) {
                batch(and, number, gates, slots);
            }
        }
    }
}

pub(in crate::arch) fn garble(
    numbers: &mut Numbers,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Labels],
    (mut rows, mut bits): (&mut [Block], &mut [u8]),
) {
    let not = |wire: Labels| wire.inverted(delta);
    walk::<_, 2>(numbers, part, slots, not, |and, number, gates, slots| {
        let mut keys = [Block::ZERO; 8];
        for (keys, gate) in keys.as_chunks_mut::<4>().0.iter_mut().zip(gates) {
            for (keys, slot) in keys.as_chunks_mut().0.iter_mut().zip([gate.a(), gate.b()]) {
                let [zero, one] = [false, true].map(|bit| slots[slot].label(delta, bit));
                let first = zero ^ (zero ^ one).masked(zero.lsb());
                *keys = [first, first ^ zero ^ one];
            }
        }
        let keys = expand8(&keys);
        let encrypted = |rows: [u8; 4]| {
            let at = |i: usize| point(number + (i / 4) as u64, i % 4 >= 2, rows[i % 4]);
            let mut blocks = core::array::from_fn(at);
            encrypt8(&keys, &mut blocks);
            *blocks.as_chunks::<4>().0.first_chunk::<2>().expect("two gates")
        };
        if and {
            let (firsts, others) = (encrypted([0, 2, 0, 1]), encrypted([1, 3, 2, 3]));
            for (gate, ([a00, a12, b00, b11], [a01, a13, b02, b13])) in gates.iter().zip(firsts.into_iter().zip(others))
            {
                let permute = [gate.a(), gate.b()].map(|slot| slots[slot].label(delta, false).lsb());
                let garbled = Garbled::of([a00 ^ b00, a01 ^ b11, a12 ^ b02, a13 ^ b13], permute);
                rows.split_off_mut(..2).expect("two rows for each AND gate").copy_from_slice(&garbled.rows);
                *bits.split_off_first_mut().expect("a byte for each AND gate") = u8::from(garbled.last);
                slots[gate.out()] = Labels::new(garbled.labels, delta);
            }
        } else {
            for (gate, [a0, a1, b0, b1]) in gates.iter().zip(encrypted([0, 1, 0, 1])) {
                let [p, q] = [gate.a(), gate.b()].map(|slot| slots[slot].label(delta, false).lsb());
                let offset = (a0 ^ a1).with_lsb(true);
                *rows.split_off_first_mut().expect("a row for each XOR gate") = (b0 ^ b1 ^ offset).with_lsb(false);
                let zero = (a0 ^ b0).with_lsb(false) ^ offset.masked(p ^ q);
                slots[gate.out()] = Labels::new([zero, zero ^ offset], delta);
            }
        }
    });
}

pub(in crate::arch) fn evaluate(
    numbers: &mut Numbers,
    part: &Part<'_>,
    slots: &mut [Block],
    (mut rows, mut bits): (&[Block], &[u8]),
) {
    let not = |label| label;
    walk::<_, 4>(numbers, part, slots, not, |and, number, gates, slots| {
        let (mut labels, mut blocks) = ([[Block::ZERO; 2]; 4], [[Block::ZERO; 2]; 4]);
        for (i, (gate, number)) in gates.iter().zip(number..).enumerate() {
            labels[i] = [gate.a(), gate.b()].map(|slot| slots[slot]);
            let [a, b] = labels[i].map(|label| u8::from(label.lsb()));
            let rows = if and { [2 * a + b; 2] } else { [a, b] };
            blocks[i] = [point(number, false, rows[0]), point(number, true, rows[1])];
        }
        let keys = expand8(labels.as_flattened().first_chunk().expect("eight labels"));
        encrypt8(&keys, blocks.as_flattened_mut().first_chunk_mut().expect("eight blocks"));
        for (gate, ([a, b], labels)) in gates.iter().zip(blocks.into_iter().zip(labels)) {
            let [i, j] = labels.map(|label| label.lsb());
            slots[gate.out()] = if and {
                let tables = *rows.split_off(..2).and_then(|rows| rows.first_chunk()).expect("two rows");
                opened(a ^ b, [i, j], tables, bits.split_off_first().expect("a byte") & 1 == 1)
            } else {
                (a ^ b ^ rows.split_off_first().expect("a row").masked(j)).with_lsb(i ^ j)
            };
        }
    });
}
