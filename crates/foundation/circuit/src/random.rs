//! Random circuits and inputs for tests, the same for the same seed on every machine.

use comity_core::Bits;

use crate::circuit::{Circuit, Gate, Group, Op};

/// The generator SplitMix64: good enough for tests, and stable.
pub struct Rng(
    /// The seed, which moves on with each word.
    pub u64,
);

impl Rng {
    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    /// A string of `len` bits.
    pub fn bits(&mut self, len: usize) -> Bits {
        (0..len).map(|_| self.word() & 1 == 1).collect()
    }

    /// A value for each of these widths.
    pub fn values(&mut self, widths: &[usize]) -> Vec<Bits> {
        widths.iter().map(|&bits| self.bits(bits)).collect()
    }

    /// A circuit over input values of these widths: gates read the last `reach` wires mostly, constants and far
    /// wires now and then; outputs are any wires, repetitions, inputs and constants included.
    pub fn circuit(&mut self, inputs: &[usize], gates: usize, reach: usize, outputs: &[usize]) -> Circuit {
        let first = 2 + inputs.iter().sum::<usize>();
        let mut list = Vec::with_capacity(gates);
        for wires in first..first + gates {
            let [a, b] = std::array::from_fn(|_| match self.below(16) {
                0 => self.below(wires) as u32,
                _ => (wires - 1 - self.below(reach.min(wires))) as u32,
            });
            list.push(match self.below(8) {
                0..3 => Gate { op: Op::And, a, b },
                3 => Gate { op: Op::Xor, a: Circuit::ONE, b },
                _ => Gate { op: Op::Xor, a, b },
            });
        }
        let count = outputs.iter().sum();
        let wires = (0..count).map(|_| self.below(first + gates) as u32).collect();
        Circuit::new(groups("in", inputs), groups("out", outputs), list, wires).expect("a valid circuit")
    }
}

fn groups(name: &str, widths: &[usize]) -> Vec<Group> {
    widths.iter().enumerate().map(|(i, &bits)| Group { name: format!("{name}{i}"), bits }).collect()
}
