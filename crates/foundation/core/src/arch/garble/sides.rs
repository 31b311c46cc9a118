//! What the garbler and the evaluator do with a batch of gates: the cryptography of half gates.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{ROUND_KEYS, Schedule};
use crate::memory::block::Block;

/// A side of gates with two rows, two half gates each: what is done with a batch of gathered inputs.
pub(in crate::arch) trait TwoRows: Copy {
    /// Whether tables are written (garbler) or read (evaluator).
    const WRITES: bool;
    /// Registers' gates that are hashed together: as many as make eight AES states.
    const WIDE: usize;

    /// Makes, from the inputs `a` and `b` of `N` registers' gates and their keys, both rows of the tables (which the
    /// evaluator gets), and the outputs. `gate` AND gates of the stretch come before these.
    ///
    /// # Safety
    /// As for [`Wires`]; the stretch has these gates.
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        gate: usize,
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

/// States of a garbler's batch before the last round: of the labels for zero, of those for one, and the last
/// round keys.
pub(super) type Garbled<V, const N: usize> = [[[V; 2]; N]; 3];

impl Garbling {
    /// All rounds but the last one.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn rounds<V: Wires, const N: usize>(
        self,
        inputs: [[V; 2]; N],
        mut keys: impl Schedule<V, N>,
    ) -> Garbled<V, N> {
        // SAFETY: the caller has the features of V.
        unsafe {
            let sigma_delta = V::broadcast(self.sigma_delta.to_bytes());
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
            [x, y, keys.round_key(ROUND_KEYS - 1)]
        }
    }

    /// The last round of the `i`-th registers: `H(A0), H(A1), H(B0), H(B1)`.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn hashes<V: Wires, const N: usize>(
        self,
        i: usize,
        [a, b]: [V; 2],
        [x, y, key]: &Garbled<V, N>,
    ) -> [V; 4] {
        // SAFETY: the caller has the features of V.
        unsafe {
            let sigma_delta = V::broadcast(self.sigma_delta.to_bytes());
            // The feed-forward s(x) rides on the last round key.
            let (key_a, key_b) = (key[i][0].xor(a.sigma()), key[i][1].xor(b.sigma()));
            let (a0, a1) = (x[i][0].aes_last(key_a), y[i][0].aes_last(key_a.xor(sigma_delta)));
            let (b0, b1) = (x[i][1].aes_last(key_b), y[i][1].aes_last(key_b.xor(sigma_delta)));
            [a0, a1, b0, b1]
        }
    }
}

impl TwoRows for Garbling {
    const WRITES: bool = true;
    const WIDE: usize = 2;

    #[inline(always)]
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        _: usize,
        inputs: [[V; 2]; N],
        keys: impl Schedule<V, N>,
        _: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]) {
        // SAFETY: the caller has the features of V.
        unsafe {
            let delta = V::broadcast(self.delta.to_bytes());
            let states = self.rounds(inputs, keys);
            let (mut rows, mut out) = (inputs, [delta; N]);
            for i in 0..N {
                let [a, b] = inputs[i];
                (rows[i], out[i]) = garbled(a, b, delta, self.hashes(i, inputs[i], &states));
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

impl Evaluating {
    /// All rounds but the last one: the states, and the last round keys.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn rounds<V: Wires, const N: usize>(
        inputs: [[V; 2]; N],
        mut keys: impl Schedule<V, N>,
    ) -> [[[V; 2]; N]; 2] {
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
            [x, keys.round_key(ROUND_KEYS - 1)]
        }
    }

    /// The last round of the `i`-th registers: the hashes of both labels.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn hashes<V: Wires, const N: usize>(
        i: usize,
        [a, b]: [V; 2],
        [x, key]: &[[[V; 2]; N]; 2],
    ) -> [V; 2] {
        // SAFETY: the caller has the features of V.
        unsafe { [x[i][0].aes_last(key[i][0].xor(a.sigma())), x[i][1].aes_last(key[i][1].xor(b.sigma()))] }
    }
}

impl TwoRows for Evaluating {
    const WRITES: bool = false;
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        _: usize,
        inputs: [[V; 2]; N],
        keys: impl Schedule<V, N>,
        rows: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]) {
        // SAFETY: the caller has the features of V.
        unsafe {
            let states = Evaluating::rounds(inputs, keys);
            let mut out = [states[0][0][0]; N];
            for i in 0..N {
                out[i] = evaluated(inputs[i], Evaluating::hashes(i, inputs[i], &states), rows[i]);
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

/// What authenticated garbling adds to the gates of a stretch, one array after another: two terms of the
/// rows, one of the output. The third becomes the output as it was computed.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Terms {
    blocks: *mut Block,
    gates: usize,
}

impl Terms {
    /// Three times as many blocks as the stretch has AND gates.
    pub(in crate::arch) fn new(blocks: &mut [Block]) -> Terms {
        Terms { blocks: blocks.as_mut_ptr(), gates: blocks.len() / 3 }
    }

    /// The place of term `term` of a gate.
    fn at(self, term: usize, gate: usize) -> *mut [u8; 16] {
        self.blocks.wrapping_add(term * self.gates + gate).cast()
    }
}

/// The garbler of authenticated garbling: the terms are its halves of `l_u R`, of `l_v R` and of the output's
/// mask times `R`.
#[derive(Clone, Copy)]
pub(in crate::arch) struct AuthGarbling {
    pub(in crate::arch) side: Garbling,
    pub(in crate::arch) terms: Terms,
}

impl TwoRows for AuthGarbling {
    const WRITES: bool = true;
    const WIDE: usize = 2;

    /// `G_0 = H(A0) + H(A1) + Z_v`, `G_1 = H(B0) + H(B1) + A0 + Z_u`, and `H(A0) + H(B0) + Z_w`, whose bit 0
    /// goes to the terms alone.
    #[inline(always)]
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        gate: usize,
        inputs: [[V; 2]; N],
        keys: impl Schedule<V, N>,
        _: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]) {
        // SAFETY: the caller has the features of V; the stretch has these gates, and its arrays of terms
        // their terms.
        unsafe {
            let clear = V::broadcast((!1u128).to_le_bytes());
            let states = self.side.rounds(inputs, keys);
            let (mut rows, mut out) = (inputs, [clear; N]);
            for i in 0..N {
                let [a0, a1, b0, b1] = self.side.hashes(i, inputs[i], &states);
                let at = gate + i * V::LANES;
                let [u, v, w] = [0, 1, 2].map(|term| self.terms.at(term, at));
                rows[i] = [a0.xor3(a1, V::load(v)), b0.xor3(b1, V::load(u).xor(inputs[i][0]))];
                let label = a0.xor3(b0, V::load(w));
                label.store(w);
                out[i] = label.and(clear);
            }
            (rows, out)
        }
    }
}

/// The evaluator of authenticated garbling: the terms are its MACs on the same.
#[derive(Clone, Copy)]
pub(in crate::arch) struct AuthEvaluating {
    pub(in crate::arch) terms: Terms,
}

impl TwoRows for AuthEvaluating {
    const WRITES: bool = false;
    const WIDE: usize = 4;

    /// `H(A) + H(B) + a (G_0 + M_v) + b (G_1 + M_u + A) + M_w`, where `a` and `b` are bit 0 of the labels.
    #[inline(always)]
    unsafe fn combine<V: Wires, const N: usize>(
        self,
        gate: usize,
        inputs: [[V; 2]; N],
        keys: impl Schedule<V, N>,
        rows: [[V; 2]; N],
    ) -> ([[V; 2]; N], [V; N]) {
        // SAFETY: the caller has the features of V; the stretch has these gates, and its arrays of terms
        // their terms.
        unsafe {
            let states = Evaluating::rounds(inputs, keys);
            let mut out = [states[0][0][0]; N];
            for i in 0..N {
                let at = gate + i * V::LANES;
                let [u, v, w] = [0, 1, 2].map(|term| self.terms.at(term, at));
                let rows = [rows[i][0].xor(V::load(v)), rows[i][1].xor(V::load(u))];
                out[i] = evaluated(inputs[i], Evaluating::hashes(i, inputs[i], &states), rows).xor(V::load(w));
                out[i].store(w);
            }
            (rows, out)
        }
    }
}
