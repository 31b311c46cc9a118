//! Products in GF(2^128) by the machine's carry-less multiplication: four a pair, and for their sum one
//! reduction in all, for each product by itself two more carry-less ones.

use super::Lanes;
use crate::arch::portable::clmul::reduce;
use crate::memory::block::Block;

/// The sum of unreduced products: of the low halves, the crossed halves and the high halves.
#[derive(Clone, Copy, Default)]
struct Sum {
    low: u128,
    middle: u128,
    high: u128,
}

impl Sum {
    /// Adds the products of pairs of blocks, whole registers of them.
    ///
    /// # Safety
    /// As for [`Lanes`].
    #[inline(always)]
    unsafe fn add<V: Lanes>(&mut self, a: &[Block], b: &[Block]) {
        // SAFETY: the chunks hold `LANES` blocks, and the arrays below at least as many.
        unsafe {
            let zero = V::broadcast([0; 16]);
            let (mut low, mut middle, mut high) = (zero, zero, zero);
            for (a, b) in a.chunks_exact(V::LANES).zip(b.chunks_exact(V::LANES)) {
                let (a, b) = (V::load(a.as_ptr().cast()), V::load(b.as_ptr().cast()));
                low = low.xor(a.clmul::<0x00>(b));
                middle = middle.xor(a.clmul::<0x01>(b)).xor(a.clmul::<0x10>(b));
                high = high.xor(a.clmul::<0x11>(b));
            }
            for (sum, lanes) in [(&mut self.low, low), (&mut self.middle, middle), (&mut self.high, high)] {
                let mut blocks = [[0; 16]; 4];
                const { assert!(V::LANES <= 4) }
                lanes.store(blocks.as_mut_ptr());
                *sum ^= blocks.into_iter().fold(0, |sum, block| sum ^ u128::from_le_bytes(block));
            }
        }
    }

    fn reduced(self) -> Block {
        Block::from_u128(reduce(self.low ^ self.middle << 64, self.high ^ self.middle >> 64))
    }
}

/// The sum of the products of the pairs.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane.
#[inline(always)]
pub(in crate::arch) unsafe fn inner_product<V: Lanes, S: Lanes>(a: &[Block], b: &[Block]) -> Block {
    const { assert!(S::LANES == 1) }
    let mut sum = Sum::default();
    let whole = a.len() - a.len() % V::LANES;
    // SAFETY: the caller's promise.
    unsafe {
        if whole > 0 {
            sum.add::<V>(&a[..whole], &b[..whole]);
        }
        sum.add::<S>(&a[whole..], &b[whole..]);
    }
    sum.reduced()
}

/// The product of a register of elements and another one, reduced.
///
/// With `a b = low + middle x^64 + high x^128`, what is in the upper half of `high` counts
/// `x^192 = x^64 (x^7 + x^2 + x + 1)`: it joins the middle. The upper half of that and the lower one of
/// `high` count `x^128 = x^7 + x^2 + x + 1`.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn product<V: Lanes>(a: V, b: V) -> V {
    let (mut polynomial, mut lower) = ([0; 16], [0; 16]);
    polynomial[0] = 0x87;
    lower[..8].fill(0xff);
    // SAFETY: the caller's promise.
    unsafe {
        let (polynomial, lower) = (V::broadcast(polynomial), V::broadcast(lower));
        let (low, high) = (a.clmul::<0x00>(b), a.clmul::<0x11>(b));
        let middle = a.clmul::<0x01>(b).xor(a.clmul::<0x10>(b)).xor(high.clmul::<0x01>(polynomial));
        // The orthomorphism puts an upper half in the lower place, and a lower half above nothing in the upper one.
        let beyond = high.xor(middle.sigma()).clmul::<0x00>(polynomial);
        low.xor(middle.and(lower).sigma()).xor(beyond)
    }
}

/// Replaces each `a[i]` by `a[i] b[i]`.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane.
#[inline(always)]
pub(in crate::arch) unsafe fn products<V: Lanes, S: Lanes>(a: &mut [Block], b: &[Block]) {
    const { assert!(S::LANES == 1) }
    let whole = a.len() - a.len() % V::LANES;
    let (wide, single) = a.split_at_mut(whole);
    // SAFETY: the caller's promise; the chunks hold as many blocks as a register.
    unsafe {
        for (a, b) in wide.chunks_exact_mut(V::LANES).zip(b.chunks_exact(V::LANES)) {
            let (one, other) = (V::load(a.as_ptr().cast()), V::load(b.as_ptr().cast()));
            product(one, other).store(a.as_mut_ptr().cast());
        }
        for (a, b) in single.iter_mut().zip(&b[whole..]) {
            let (to, b) = (core::ptr::from_mut(a).cast(), core::ptr::from_ref(b).cast());
            product(S::load(to), S::load(b)).store(to);
        }
    }
}

/// Registers whose products are under way at once, so that the machine need not wait for each.
const AT_ONCE: usize = 4;

/// Adds polynomials' values as [`gf128::add_polynomial`](crate::gf128::add_polynomial).
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane, and there are as many points as outputs.
#[inline(always)]
pub(in crate::arch) unsafe fn add_polynomial<V: Lanes, S: Lanes>(
    coefficients: &[Block],
    points: &[Block],
    out: &mut [Block],
) {
    const { assert!(S::LANES == 1) }
    let n = out.len();
    let step = AT_ONCE * V::LANES;
    let whole = n - n % step;
    // SAFETY: the caller's promise; each call gets places inside both slices.
    unsafe {
        let mut at = 0;
        while at < whole {
            horner::<V, AT_ONCE>(coefficients, points.as_ptr().add(at), out.as_mut_ptr().add(at));
            at += step;
        }
        while at < n {
            horner::<S, 1>(coefficients, points.as_ptr().add(at), out.as_mut_ptr().add(at));
            at += 1;
        }
    }
}

/// Adds the values at the points of `N` registers.
///
/// # Safety
/// As for [`Lanes`]; both pointers are good for `N` registers.
#[inline(always)]
unsafe fn horner<V: Lanes, const N: usize>(coefficients: &[Block], points: *const Block, out: *mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut point = [V::broadcast([0; 16]); N];
        for (i, point) in point.iter_mut().enumerate() {
            *point = V::load(points.add(i * V::LANES).cast());
        }
        let mut sum = [V::broadcast([0; 16]); N];
        for (t, coefficient) in coefficients.iter().rev().enumerate() {
            let coefficient = V::broadcast(coefficient.to_bytes());
            for i in 0..N {
                sum[i] = if t == 0 { coefficient } else { sum[i].xor(coefficient) };
                sum[i] = product(sum[i], point[i]);
            }
        }
        for (i, sum) in sum.into_iter().enumerate() {
            let to = out.add(i * V::LANES);
            sum.xor(V::load(to.cast())).store(to.cast());
        }
    }
}
