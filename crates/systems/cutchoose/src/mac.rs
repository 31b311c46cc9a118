//! The one-time MAC under which the garbler's outputs travel (Lindell, Pinkas, Eurocrypt 2007).
//!
//! The evaluator forwards c = z xor p to the garbler, with a tag that the circuit computes from the key and the pad
//! among the garbler's inputs. The tag is a polynomial in the key over GF(2^k), plus the pad: from 0, acc becomes
//! (acc + block) · key for each block of c in order, the last one filled up with zeros, and the tag is acc + pad. The
//! length of c is known to both sides. A party that has seen one c and its tag, and neither key nor pad,
//! finds another c and its tag with probability at most blocks / 2^k: the key would be a root of a polynomial
//! of degree at most `blocks`.
//!
//! *Cost.* A block is one multiplication: Karatsuba's method (Karatsuba, Ofman 1962) down to single bits
//! takes 3^6 = 729 ANDs for k = 64 and 3^7 = 2187 for k = 128, one AND deep. The reduction is free.

use comity_circuit::{Builder, Circuit, Wire};
use comity_core::{Backend, Block, gf128};

/// The MAC for outputs of one length.
pub(crate) struct Mac {
    backend: Backend,
    width: usize,
    circuit: Circuit,
}

impl Mac {
    /// The MAC for `bits` bits: over GF(2^64) where a forgery succeeds with at most 2^-rho there, otherwise over
    /// GF(2^128), where it does with at most `bits` / 128 · 2^-128, rounded up.
    pub(crate) fn new(rho: u32, bits: u64) -> Mac {
        let width = match 64u32.checked_sub(rho) {
            Some(spare) if u128::from(bits.div_ceil(64)) <= 1 << spare => 64,
            _ => 128,
        };
        Mac { backend: Backend::detect(), width, circuit: circuit(width) }
    }

    /// Bits of a block, of the key, of the pad and of the tag: 64 or 128.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The circuit of a step. Inputs: `acc`, `block` and `key`; output: the next `acc`; each of [`Mac::width`] bits.
    pub(crate) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// A step in the clear and in constant time: (acc + block) · key. Bits past the width are not looked at.
    pub(crate) fn step(&self, acc: u128, block: u128, key: u128) -> u128 {
        let cut = |value: u128| Block::from_u128(if self.width == 64 { u128::from(value as u64) } else { value });
        // What has degree 126 is no different modulo a polynomial of degree 128.
        let product = gf128::mul(self.backend, cut(acc ^ block), cut(key)).to_u128();
        if self.width == 64 { reduce_64(reduce_64(product)) } else { product }
    }
}

/// Replaces x^64 by x^4 + x^3 + x + 1 once: twice is enough for a product.
fn reduce_64(value: u128) -> u128 {
    let high = value >> 64;
    u128::from(value as u64) ^ high ^ high << 1 ^ high << 3 ^ high << 4
}

/// The exponents of what x^k is modulo the polynomial of GF(2^k).
fn taps(k: usize) -> [usize; 4] {
    if k == 64 { [0, 1, 3, 4] } else { [0, 1, 2, 7] }
}

fn circuit(k: usize) -> Circuit {
    let mut b = Builder::new();
    let [acc, block, key] = ["acc", "block", "key"].map(|name| b.input(name, k));
    let sum = add(&mut b, &acc, &block);
    let mut product = product(&mut b, &sum, &key);
    while product.len() > k {
        let top = product.pop().expect("more wires than k");
        for tap in taps(k) {
            let at = product.len() - k + tap;
            product[at] = b.xor(product[at], top);
        }
    }
    b.output("acc", &product);
    b.finish()
}

fn add(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    x.iter().zip(y).map(|(&x, &y)| b.xor(x, y)).collect()
}

/// The product of two binary polynomials of as many coefficients, a power of two.
fn product(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let half = x.len() / 2;
    if half == 0 {
        return vec![b.and(x[0], y[0])];
    }
    let ((x0, x1), (y0, y1)) = (x.split_at(half), y.split_at(half));
    let (low, high) = (product(b, x0, y0), product(b, x1, y1));
    let (x, y) = (add(b, x0, x1), add(b, y0, y1));
    let all = product(b, &x, &y);
    let cross = add(b, &all, &low);
    let cross = add(b, &cross, &high);
    let mut sum = low;
    sum.push(Wire::ZERO);
    sum.extend(high);
    for (i, cross) in cross.into_iter().enumerate() {
        sum[half + i] = b.xor(sum[half + i], cross);
    }
    sum
}

#[cfg(test)]
mod tests {
    use comity_circuit::eval_circuit;
    use comity_core::{Bits, Prg};

    use super::*;

    /// A random element of the field, and sometimes 0, 1 or all ones.
    fn element(mac: &Mac, prg: &mut Prg) -> u128 {
        let value = prg.block().to_u128();
        let value = match value % 16 {
            0 => 0,
            1 => 1,
            2 => u128::MAX,
            _ => value,
        };
        value & u128::MAX >> (128 - mac.width())
    }

    /// The product by shift and add: one bit of `b` after the other, `a` reduced at every shift.
    fn textbook(width: usize, mut a: u128, b: u128) -> u128 {
        let (top, polynomial) = if width == 64 { (1 << 63, 0x1b) } else { (1 << 127, 0x87) };
        let mut product = 0;
        for i in 0..width {
            if b >> i & 1 == 1 {
                product ^= a;
            }
            let carry = a & top != 0;
            a = (a & (top - 1)) << 1 ^ if carry { polynomial } else { 0 };
        }
        product
    }

    fn both() -> [Mac; 2] {
        let macs = [Mac::new(40, 1000), Mac::new(80, 1000)];
        assert_eq!(macs.each_ref().map(Mac::width), [64, 128]);
        macs
    }

    #[test]
    fn the_field_is_as_large_as_rho_and_the_length_want() {
        let width = |rho, bits| Mac::new(rho, bits).width();
        assert_eq!(
            [0, 1, 64, 1 << 30, (1 << 30) + 1, u64::MAX].map(|bits| width(40, bits)),
            [64, 64, 64, 64, 128, 128]
        );
        assert_eq!([1, 64, 65].map(|bits| width(64, bits)), [64, 64, 128]);
        assert_eq!([65, 80, 128].map(|rho| width(rho, 1)), [128; 3]);
        assert_eq!(width(1, u64::MAX), 64);
    }

    #[test]
    fn the_circuit_is_the_step_and_the_step_is_the_textbooks() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(1));
        for mac in both() {
            let bits = |value: u128| Bits::from_bytes(&value.to_le_bytes(), mac.width());
            for _ in 0..200 {
                let [acc, block, key] = [(); 3].map(|()| element(&mac, &mut prg));
                let next = mac.step(acc, block, key);
                assert_eq!(next, textbook(mac.width(), acc ^ block, key));
                assert!(eval_circuit(mac.circuit(), &[acc, block, key].map(bits)) == [bits(next)]);
            }
        }
    }

    #[test]
    fn bits_past_the_width_are_not_looked_at() {
        let mac = Mac::new(40, 64);
        let high = 0x1234_5678_u128 << 64;
        assert_eq!(mac.step(3 | high, 5, 7 | high), mac.step(3, 5, 7));
    }

    #[test]
    fn every_backend_steps_alike() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(2));
        for mac in both() {
            for backend in Backend::available() {
                let other = Mac { backend, ..Mac::new(if mac.width() == 64 { 40 } else { 80 }, 1) };
                let [acc, block, key] = [(); 3].map(|()| element(&mac, &mut prg));
                assert_eq!(mac.step(acc, block, key), other.step(acc, block, key), "{backend}");
            }
        }
    }

    #[test]
    fn the_laws_of_a_field_hold() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(3));
        for mac in both() {
            let mul = |a, b| mac.step(a, 0, b);
            for _ in 0..100 {
                let [a, b, c] = [(); 3].map(|()| element(&mac, &mut prg));
                assert_eq!(mul(a, b), mul(b, a));
                assert_eq!(mul(mul(a, b), c), mul(a, mul(b, c)));
                assert_eq!(mac.step(a, b, c), mul(a, c) ^ mul(b, c));
                assert_eq!((mul(a, 1), mul(a, 0)), (a, 0));
            }
            // The inverse is the power of 2^k - 2: the product of all squares of squares but the first.
            let a = element(&mac, &mut prg) | 2;
            let (_, inverse) = (1..mac.width()).fold((a, 1), |(power, product), _| {
                let square = mul(power, power);
                (square, mul(product, square))
            });
            assert_eq!(mul(a, inverse), 1);
        }
    }

    #[test]
    fn a_step_costs_what_karatsuba_says() {
        let counts = both().map(|mac| mac.circuit().counts());
        assert_eq!(counts.map(|counts| (counts.and, counts.and_depth)), [(729, 1), (2187, 1)]);
    }
}
