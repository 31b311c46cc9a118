//! What the garbler and the evaluator do with a batch of gates: the cryptography of half gates.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Quad;
use super::keys::{ROUND_KEYS, Schedule};
use crate::Block;

/// The garbler's or the evaluator's part of the kernel: what is done with a batch of gathered inputs.
pub(in crate::arch) trait Side<L: Quad>: Copy {
    /// Whether tables are written (garbler) or read (evaluator).
    const WRITES: bool;
    /// Groups of eight gates that are worth hashing together.
    const GROUPS: usize;

    /// From the inputs of `N` pairs of gates and their keys: the tables, and the outputs in lanes 0 and 2.
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        keys: impl Schedule<L, N>,
        tables: [L; N],
    ) -> ([L; N], [L; N]);
}

/// The garbler: holds delta in all lanes, and its image under sigma.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Garbling<L> {
    delta: L,
    sigma_delta: L,
}

/// The evaluator.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Evaluating;

impl<L: Quad> Side<L> for Garbling<L> {
    const WRITES: bool = true;
    const GROUPS: usize = 1;

    #[inline(always)]
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        mut keys: impl Schedule<L, N>,
        _: [L; N],
    ) -> ([L; N], [L; N]) {
        // SAFETY: the caller has the features of L.
        unsafe {
            let (mut x, mut y, mut tables, mut out) = (input, input, input, input);
            let key = keys.round_key(0);
            for i in 0..N {
                x[i] = input[i].sigma().xor(key[i]);
                y[i] = x[i].xor(self.sigma_delta);
            }
            for round in 1..ROUND_KEYS - 1 {
                let key = keys.round_key(round);
                for i in 0..N {
                    x[i] = x[i].aes_round(key[i]);
                    y[i] = y[i].aes_round(key[i]);
                }
            }
            let key = keys.round_key(ROUND_KEYS - 1);
            for i in 0..N {
                // The feed-forward s(x) rides on the last round key.
                let key = key[i].xor(input[i].sigma());
                let x = x[i].aes_last(key);
                let y = y[i].aes_last(key.xor(self.sigma_delta));
                // Even lanes garble the generator's half gate, odd lanes the evaluator's (ZRE15, Figure 2):
                //   T_G = H(A0) ^ H(A1) ^ p_b * delta        W_G = H(A0) ^ p_a * T_G
                //   T_E = H(B0) ^ H(B1) ^ A0                 W_E = H(B0) ^ p_b * (T_E ^ A0)
                let both = x.xor(y);
                let permute = input[i].lsb_mask();
                let other = input[i].swap_neighbours();
                let table = both.xor(permute.swap_neighbours().and(self.delta).select_odd(other));
                let half = x.xor(permute.and(table.select_odd(both)));
                tables[i] = table;
                out[i] = half.xor(half.swap_neighbours());
            }
            (tables, out)
        }
    }
}

impl<L: Quad> Side<L> for Evaluating {
    const WRITES: bool = false;
    const GROUPS: usize = 2;

    #[inline(always)]
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        mut keys: impl Schedule<L, N>,
        tables: [L; N],
    ) -> ([L; N], [L; N]) {
        // SAFETY: the caller has the features of L.
        unsafe {
            let (mut x, mut out) = (input, input);
            let key = keys.round_key(0);
            for i in 0..N {
                x[i] = input[i].sigma().xor(key[i]);
            }
            for round in 1..ROUND_KEYS - 1 {
                let key = keys.round_key(round);
                for i in 0..N {
                    x[i] = x[i].aes_round(key[i]);
                }
            }
            let key = keys.round_key(ROUND_KEYS - 1);
            for i in 0..N {
                let x = x[i].aes_last(key[i].xor(input[i].sigma()));
                // W = H(A) ^ s_a * T_G ^ H(B) ^ s_b * (T_E ^ A)
                let with_a = tables[i].select_odd(tables[i].xor(input[i].swap_neighbours()));
                let half = x.xor(input[i].lsb_mask().and(with_a));
                out[i] = half.xor(half.swap_neighbours());
            }
            (tables, out)
        }
    }
}

impl<L: Quad> Garbling<L> {
    /// # Safety
    /// The features of `L` are present.
    #[inline(always)]
    pub(in crate::arch) unsafe fn new(delta: Block) -> Garbling<L> {
        // SAFETY: promised by the caller.
        unsafe {
            let delta = L::splat(delta);
            Garbling { delta, sigma_delta: delta.sigma() }
        }
    }
}
