//! What the garbler and the evaluator do with a batch of gates: the cryptography of half gates.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{ROUND_KEYS, Schedule};
use crate::memory::block::Block;

/// The garbler's or the evaluator's part of the kernel: what is done with a batch of gathered inputs.
pub(in crate::arch) trait Side: Copy {
    /// Whether tables are written (garbler) or read (evaluator).
    const WRITES: bool;
    /// Registers' gates that are hashed together: as many as make eight AES states.
    const WIDE: usize;

    /// Makes, from the inputs `a` and `b` of `N` registers' gates and their keys, both rows of the tables (which the
    /// evaluator gets), and the outputs.
    ///
    /// # Safety
    /// As for [`Wires`].
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        inputs: [[V; 2]; N],
        keys: impl Schedule<V, N>,
        rows: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]);
}

/// The garbler: holds delta, and its image under sigma.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Garbling {
    delta: Block,
    sigma_delta: Block,
}

impl Garbling {
    pub(in crate::arch) fn new(delta: Block) -> Garbling {
        let (lo, hi) = (delta.to_u128() as u64, (delta.to_u128() >> 64) as u64);
        Garbling { delta, sigma_delta: Block::from_u128(u128::from(lo ^ hi) << 64 | u128::from(hi)) }
    }
}

/// The evaluator.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Evaluating;

impl Side for Garbling {
    const WRITES: bool = true;
    const WIDE: usize = 2;

    #[inline(always)]
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        inputs: [[V; 2]; N],
        mut keys: impl Schedule<V, N>,
        _: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]) {
        // SAFETY: the caller has the features of V.
        unsafe {
            let (delta, sigma_delta) = (V::broadcast(self.delta.to_bytes()), V::broadcast(self.sigma_delta.to_bytes()));
            // x: the labels for zero under hashing; y: those for one.
            let (mut x, mut y) = (inputs, inputs);
            let key = keys.round_key(0);
            for i in 0..N {
                for h in 0..2 {
                    x[i][h] = inputs[i][h].sigma().xor(key[i][h]);
                    y[i][h] = x[i][h].xor(sigma_delta);
                }
            }
            for round in 1..ROUND_KEYS - 1 {
                let key = keys.round_key(round);
                for i in 0..N {
                    for h in 0..2 {
                        x[i][h] = x[i][h].aes_round(key[i][h]);
                        y[i][h] = y[i][h].aes_round(key[i][h]);
                    }
                }
            }
            let key = keys.round_key(ROUND_KEYS - 1);
            let (mut rows, mut out) = (inputs, [delta; N]);
            for i in 0..N {
                let [a, b] = inputs[i];
                // The feed-forward s(x) rides on the last round key.
                let (key_a, key_b) = (key[i][0].xor(a.sigma()), key[i][1].xor(b.sigma()));
                let (a0, a1) = (x[i][0].aes_last(key_a), y[i][0].aes_last(key_a.xor(sigma_delta)));
                let (b0, b1) = (x[i][1].aes_last(key_b), y[i][1].aes_last(key_b.xor(sigma_delta)));
                (rows[i], out[i]) = garbled(a, b, delta, [a0, a1, b0, b1]);
            }
            (rows, out)
        }
    }
}

/// Garbled gates (ZRE15, Figure 2), from the labels for zero, delta, and `H(A0), H(A1), H(B0), H(B1)`: both rows and
/// the output's label:
///
/// ```text
/// T_G = H(A0) ^ H(A1) ^ p_b * delta        W = H(A0) ^ p_a * T_G
/// T_E = H(B0) ^ H(B1) ^ A0                   ^ H(B0) ^ p_b * (T_E ^ A0)
/// ```
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
pub(super) unsafe fn garbled<V: Wires>(a: V, b: V, delta: V, [a0, a1, b0, b1]: [V; 4]) -> ([V; 2], V) {
    // SAFETY: the caller's promise.
    unsafe {
        let permute_b = b.lsb_mask();
        let generator = a0.xor3(a1, permute_b.and(delta));
        let both_b = b0.xor(b1);
        let label = a0.xor(a.lsb_mask().and(generator)).xor3(b0, permute_b.and(both_b));
        ([generator, both_b.xor(a)], label)
    }
}

impl Side for Evaluating {
    const WRITES: bool = false;
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        inputs: [[V; 2]; N],
        mut keys: impl Schedule<V, N>,
        rows: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]) {
        // SAFETY: the caller has the features of V.
        unsafe {
            let mut x = inputs;
            let key = keys.round_key(0);
            for i in 0..N {
                for h in 0..2 {
                    x[i][h] = inputs[i][h].sigma().xor(key[i][h]);
                }
            }
            for round in 1..ROUND_KEYS - 1 {
                let key = keys.round_key(round);
                for i in 0..N {
                    for h in 0..2 {
                        x[i][h] = x[i][h].aes_round(key[i][h]);
                    }
                }
            }
            let key = keys.round_key(ROUND_KEYS - 1);
            let mut out = [x[0][0]; N];
            for i in 0..N {
                let [a, b] = inputs[i];
                let hash_a = x[i][0].aes_last(key[i][0].xor(a.sigma()));
                let hash_b = x[i][1].aes_last(key[i][1].xor(b.sigma()));
                out[i] = evaluated([a, b], [hash_a, hash_b], rows[i]);
            }
            (rows, out)
        }
    }
}

/// Evaluated gates (ZRE15, Figure 2), from the active labels, their hashes and both rows: the output's active label
/// `H(A) ^ s_a * T_G ^ H(B) ^ s_b * (T_E ^ A)`.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
pub(super) unsafe fn evaluated<V: Wires>([a, b]: [V; 2], hashes: [V; 2], [generator, evaluator]: [V; 2]) -> V {
    // SAFETY: the caller's promise.
    unsafe {
        let with_a = hashes[0].xor(a.lsb_mask().and(generator));
        with_a.xor3(hashes[1], b.lsb_mask().and(evaluator.xor(a)))
    }
}
