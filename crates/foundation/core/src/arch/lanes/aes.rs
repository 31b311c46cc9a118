//! AES-128 under one key: eight registers in flight, which hides the latency of a round.
//!
//! *Cost.* Ten rounds a register: 2.5 cycles a block where the machine starts a round of four blocks each cycle (VAES
//! on 512-bit registers), 5 where it starts two rounds of one (AES-NI). What does not fill eight wide registers runs
//! eight blocks at a time; the last such step costs the same if it is not full.

use super::Lanes;
use crate::arch::RoundKeys;

/// A step: what is done to eight registers full of blocks, and then to the next eight.
///
/// # Safety
/// As for [`Lanes`].
trait Step<V> {
    unsafe fn run(&mut self, state: &mut [V; 8]);
}

/// The step that encrypts.
struct Encrypt<V>([V; 11]);

/// The step that encrypts a counter; what was in the registers is ignored.
struct Counter<V> {
    encrypt: Encrypt<V>,
    next: V,
}

/// The step from x to pi(x) ^ x.
struct Cr<V>(Encrypt<V>);

/// The step from x to pi(pi(x) ^ tweak) ^ pi(x), the tweak counting.
struct Tccr<V> {
    encrypt: Encrypt<V>,
    tweak: V,
}

/// The step of [`Tccr`] where the tweaks of the last four registers are those of the first four.
struct Pairs<V> {
    encrypt: Encrypt<V>,
    tweak: V,
}

/// Encrypts every block.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(in crate::arch) unsafe fn encrypt<V: Lanes, S: Lanes>(keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
    let (wide, rest) = split::<V>(blocks);
    // SAFETY: the caller's promise.
    unsafe {
        whole_steps::<V>(wide, Encrypt::new(keys));
        all_steps::<S>(rest, Encrypt::new(keys));
    }
}

/// Writes the encryptions of `first`, `first + 1`, ..., whose low 64 bits must not wrap.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(in crate::arch) unsafe fn counter<V: Lanes, S: Lanes>(keys: &RoundKeys, first: u128, out: &mut [[u8; 16]]) {
    let (wide, rest) = split::<V>(out);
    let next = first.wrapping_add(wide.len() as u128);
    // SAFETY: the caller's promise.
    unsafe {
        whole_steps::<V>(wide, Counter::new(keys, first));
        all_steps::<S>(rest, Counter::new(keys, next));
    }
}

/// Hashes block `j` under the tweak `first + j`, whose low 64 bits must not wrap.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(in crate::arch) unsafe fn tccr<V: Lanes, S: Lanes>(keys: &RoundKeys, first: u128, blocks: &mut [[u8; 16]]) {
    let (wide, rest) = split::<V>(blocks);
    let next = first.wrapping_add(wide.len() as u128);
    // SAFETY: the caller's promise.
    unsafe {
        whole_steps::<V>(wide, Tccr::new(keys, first));
        all_steps::<S>(rest, Tccr::new(keys, next));
    }
}

/// Hashes every block to pi(x) ^ x.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(in crate::arch) unsafe fn cr<V: Lanes, S: Lanes>(keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
    let (wide, rest) = split::<V>(blocks);
    // SAFETY: the caller's promise.
    unsafe {
        whole_steps::<V>(wide, Cr(Encrypt::new(keys)));
        all_steps::<S>(rest, Cr(Encrypt::new(keys)));
    }
}

/// Hashes block `j` and its sum with `delta` under the tweak `first + j`, whose low 64 bits must not wrap.
///
/// # Safety
/// As for [`Lanes`]; there are as many pairs as blocks.
#[inline(always)]
pub(in crate::arch) unsafe fn tccr_pairs<V: Lanes, S: Lanes>(
    keys: &RoundKeys,
    first: u128,
    delta: [u8; 16],
    blocks: &[[u8; 16]],
    pairs: &mut [[[u8; 16]; 2]],
) {
    let next = first.wrapping_add((blocks.len() - blocks.len() % (4 * V::LANES)) as u128);
    // SAFETY: the caller's promise.
    unsafe { both::<V, S>(delta, blocks, pairs, Pairs::<V>::new(keys, first), Pairs::<S>::new(keys, next)) }
}

/// Hashes every block and its sum with `delta` to pi(x) ^ x.
///
/// # Safety
/// As for [`Lanes`]; there are as many pairs as blocks.
#[inline(always)]
pub(in crate::arch) unsafe fn cr_pairs<V: Lanes, S: Lanes>(
    keys: &RoundKeys,
    delta: [u8; 16],
    blocks: &[[u8; 16]],
    pairs: &mut [[[u8; 16]; 2]],
) {
    // SAFETY: the caller's promise.
    unsafe { both::<V, S>(delta, blocks, pairs, Cr(Encrypt::<V>::new(keys)), Cr(Encrypt::<S>::new(keys))) }
}

/// Runs the steps over registers of which the first four hold blocks, and the others the same blocks with `delta`
/// added: `wide` over blocks that fill four registers of `V`, `narrow` over the rest.
///
/// # Safety
/// As for [`Lanes`]; there are as many pairs as blocks, and `S` has one lane.
#[inline(always)]
unsafe fn both<V: Lanes, S: Lanes>(
    delta: [u8; 16],
    blocks: &[[u8; 16]],
    pairs: &mut [[[u8; 16]; 2]],
    mut wide_step: impl Step<V>,
    mut narrow_step: impl Step<S>,
) {
    let whole = blocks.len() - blocks.len() % (4 * V::LANES);
    let (wide, rest) = blocks.split_at(whole);
    let (wide_pairs, rest_pairs) = pairs.split_at_mut(whole);
    // SAFETY: the caller's promise.
    unsafe {
        let delta_lanes = V::broadcast(delta);
        for (blocks, pairs) in wide.chunks_exact(4 * V::LANES).zip(wide_pairs.chunks_exact_mut(4 * V::LANES)) {
            let (from, to) = (blocks.as_ptr(), pairs.as_flattened_mut().as_mut_ptr());
            let mut state = [V::broadcast([0; 16]); 8];
            for i in 0..4 {
                state[i] = V::load(from.add(i * V::LANES));
                state[4 + i] = state[i].xor(delta_lanes);
            }
            wide_step.run(&mut state);
            for i in 0..4 {
                let [low, high] = state[i].zip_lanes(state[4 + i]);
                low.store(to.add(2 * i * V::LANES));
                high.store(to.add((2 * i + 1) * V::LANES));
            }
        }
        let delta_lanes = S::broadcast(delta);
        for (blocks, pairs) in rest.chunks(4).zip(rest_pairs.chunks_mut(4)) {
            let mut state = [S::broadcast([0; 16]); 8];
            for (i, block) in blocks.iter().enumerate() {
                state[i] = S::load(block);
                state[4 + i] = state[i].xor(delta_lanes);
            }
            narrow_step.run(&mut state);
            for (i, [zero, one]) in pairs.iter_mut().enumerate() {
                state[i].store(zero);
                state[4 + i].store(one);
            }
        }
    }
}

/// The blocks that fill steps of `V`, and the rest.
#[inline(always)]
fn split<V: Lanes>(blocks: &mut [[u8; 16]]) -> (&mut [[u8; 16]], &mut [[u8; 16]]) {
    blocks.split_at_mut(blocks.len() - blocks.len() % (8 * V::LANES))
}

/// Runs the step over blocks that fill it a whole number of times.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn whole_steps<V: Lanes>(blocks: &mut [[u8; 16]], mut step: impl Step<V>) {
    for chunk in blocks.chunks_exact_mut(8 * V::LANES) {
        let at = chunk.as_mut_ptr();
        // SAFETY: the caller's promise; the chunk holds eight times `LANES` blocks.
        unsafe {
            let mut state = [V::broadcast([0; 16]); 8];
            for (i, x) in state.iter_mut().enumerate() {
                *x = V::load(at.add(i * V::LANES));
            }
            step.run(&mut state);
            for (i, x) in state.into_iter().enumerate() {
                x.store(at.add(i * V::LANES));
            }
        }
    }
}

/// Runs the step over all blocks, the last time on zeros besides.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane.
#[inline(always)]
unsafe fn all_steps<S: Lanes>(blocks: &mut [[u8; 16]], mut step: impl Step<S>) {
    const { assert!(S::LANES == 1) }
    let (whole, rest) = split::<S>(blocks);
    // SAFETY: the caller's promise.
    unsafe {
        whole_steps(whole, &mut step);
        if !rest.is_empty() {
            let mut state = [S::broadcast([0; 16]); 8];
            for (x, block) in state.iter_mut().zip(&*rest) {
                *x = S::load(block);
            }
            step.run(&mut state);
            for (x, block) in state.into_iter().zip(rest) {
                x.store(block);
            }
        }
    }
}

impl<V, S: Step<V>> Step<V> for &mut S {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: the caller's promise.
        unsafe { (**self).run(state) }
    }
}

impl<V: Lanes> Encrypt<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let mut lanes = [V::broadcast([0; 16]); 11];
            for (lanes, key) in lanes.iter_mut().zip(keys) {
                *lanes = V::broadcast(key.to_bytes());
            }
            Encrypt(lanes)
        }
    }
}

impl<V: Lanes> Step<V> for Encrypt<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        let [first, middle @ .., last] = &self.0;
        // SAFETY: the caller's promise.
        unsafe {
            for x in state.iter_mut() {
                *x = x.xor(*first);
            }
            for key in middle {
                for x in state.iter_mut() {
                    *x = x.aes_round(*key).in_order();
                }
            }
            for x in state.iter_mut() {
                *x = x.aes_last(*last);
            }
        }
    }
}

impl<V: Lanes> Counter<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys, first: u128) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Counter { encrypt: Encrypt::new(keys), next: V::count_from(first) } }
    }
}

impl<V: Lanes> Step<V> for Counter<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: the caller's promise.
        unsafe {
            for x in state.iter_mut() {
                *x = self.next;
                self.next = self.next.add_low(V::LANES as u64);
            }
            self.encrypt.run(state);
        }
    }
}

impl<V: Lanes> Step<V> for Cr<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: the caller's promise.
        unsafe {
            let plain = *state;
            self.0.run(state);
            for (x, plain) in state.iter_mut().zip(plain) {
                *x = x.xor(plain);
            }
        }
    }
}

impl<V: Lanes> Tccr<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys, first: u128) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Tccr { encrypt: Encrypt::new(keys), tweak: V::count_from(first) } }
    }
}

impl<V: Lanes> Step<V> for Tccr<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: the caller's promise.
        unsafe {
            self.encrypt.run(state);
            let inner = *state;
            for x in state.iter_mut() {
                *x = x.xor(self.tweak);
                self.tweak = self.tweak.add_low(V::LANES as u64);
            }
            self.encrypt.run(state);
            for (x, inner) in state.iter_mut().zip(inner) {
                *x = x.xor(inner);
            }
        }
    }
}

impl<V: Lanes> Pairs<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys, first: u128) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Pairs { encrypt: Encrypt::new(keys), tweak: V::count_from(first) } }
    }
}

impl<V: Lanes> Step<V> for Pairs<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: the caller's promise.
        unsafe {
            self.encrypt.run(state);
            let inner = *state;
            for i in 0..4 {
                state[i] = state[i].xor(self.tweak);
                state[4 + i] = state[4 + i].xor(self.tweak);
                self.tweak = self.tweak.add_low(V::LANES as u64);
            }
            self.encrypt.run(state);
            for (x, inner) in state.iter_mut().zip(inner) {
                *x = x.xor(inner);
            }
        }
    }
}
