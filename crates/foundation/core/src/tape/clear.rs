//! Evaluating a tape in the clear, for one instance or for 512 at once: what protocols are held against.

use crate::arch::Backend;
use crate::arch::clear;
use crate::tape::Tape;
use crate::tape::lanes::Lanes;

impl Tape {
    /// Evaluates the tape in the clear. Slots 0 and 1 are overwritten with the constants.
    ///
    /// # Panics
    /// If there are fewer slots than the tape needs.
    pub fn evaluate(&self, slots: &mut [bool]) {
        assert!(slots.len() >= self.slots().max(2), "too few slots");
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (false, true);
        clear::bits(self, slots);
    }

    /// Evaluates the tape in the clear in 512 instances. Slots 0 and 1 are overwritten with the constants.
    ///
    /// # Panics
    /// If there are fewer slots than the tape needs.
    pub fn evaluate_lanes(&self, backend: Backend, slots: &mut [Lanes]) {
        assert!(slots.len() >= self.slots().max(2), "too few slots");
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (Lanes::all(false), Lanes::all(true));
        clear::lanes(backend, self, slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::bits::Bits;
    use crate::tape::{Segment, TapeGate};

    /// A generator for test inputs (SplitMix64).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        }

        fn below(&mut self, n: u32) -> u32 {
            (self.next() % u64::from(n)) as u32
        }

        fn bits(&mut self, len: usize) -> Bits {
            Bits::from_words((0..len.div_ceil(64)).map(|_| self.next()).collect(), len)
        }
    }

    /// A tape of segments of up to 20 XORs and up to 9 ANDs, the latter from the lower half of the slots to
    /// the upper one.
    fn tape(random: &mut Random, slots: u32, segments: usize) -> Tape {
        let (mut xors, mut ands, mut list) = (vec![], vec![], vec![]);
        for _ in 0..segments {
            let segment = Segment { xors: random.below(20), ands: random.below(10) };
            for _ in 0..segment.xors {
                let [a, b, out] = [0, 0, 2].map(|from| from + random.below(slots - from));
                xors.push(TapeGate::new(a, b, out));
            }
            for i in 0..segment.ands {
                let [a, b] = [(); 2].map(|()| random.below(slots / 2));
                ands.push(TapeGate::new(a, b, slots / 2 + i));
            }
            list.push(segment);
        }
        Tape::new(slots, xors, ands, list).expect("a valid tape")
    }

    #[test]
    fn every_backend_evaluates_as_the_definition_says() {
        let mut random = Random(1);
        let sizes = if cfg!(miri) { &[(20, 1)][..] } else { &[(20, 0), (20, 1), (24, 50), (300, 200)] };
        for &(slots, segments) in sizes {
            let tape = tape(&mut random, slots, segments);
            let count = if cfg!(miri) { 3 } else { Lanes::COUNT };
            let values: Vec<Bits> = (0..count).map(|_| random.bits(slots as usize)).collect();
            let want: Vec<Vec<bool>> = values
                .iter()
                .map(|value| {
                    let mut slots: Vec<bool> = value.iter().collect();
                    (slots[0], slots[1]) = (false, true);
                    let (mut xors, mut ands) = (tape.xors().iter(), tape.ands().iter());
                    for segment in tape.segments() {
                        for g in xors.by_ref().take(segment.xors as usize) {
                            slots[g.out()] = slots[g.a()] != slots[g.b()];
                        }
                        for g in ands.by_ref().take(segment.ands as usize) {
                            slots[g.out()] = slots[g.a()] && slots[g.b()];
                        }
                    }
                    slots
                })
                .collect();
            for (value, want) in values.iter().zip(&want) {
                let mut slots: Vec<bool> = value.iter().collect();
                tape.evaluate(&mut slots);
                assert_eq!(slots, *want);
            }
            for backend in Backend::available() {
                let mut lanes = Lanes::slice(&values, slots as usize);
                tape.evaluate_lanes(backend, &mut lanes);
                let got = Lanes::unslice(&lanes);
                assert!(got.iter().zip(&want).all(|(got, want)| got.iter().eq(want.iter().copied())), "{backend}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code")]
    fn slicing_puts_every_bit_in_its_place_and_unslicing_takes_it_back() {
        let mut random = Random(2);
        for bits in [0, 1, 7, 63, 64, 65, 200] {
            for count in [0, 1, 64, 511, 512] {
                let values: Vec<Bits> = (0..count).map(|_| random.bits(bits)).collect();
                let wires = Lanes::slice(&values, bits);
                assert_eq!(wires.len(), bits);
                for k in 0..Lanes::COUNT {
                    let bit = |wire: &Lanes| wire.0[k / 64] >> (k % 64) & 1 == 1;
                    let want: Vec<bool> = values.get(k).map_or(vec![false; bits], |value| value.iter().collect());
                    assert_eq!(wires.iter().map(bit).collect::<Vec<_>>(), want);
                }
                let back = Lanes::unslice(&wires);
                assert_eq!(back.len(), Lanes::COUNT);
                assert!(back[..count] == values && back[count..].iter().all(|value| *value == Bits::zeros(bits)));
            }
        }
    }

    #[test]
    #[should_panic(expected = "too few slots")]
    fn too_few_bits_are_refused() {
        tape(&mut Random(3), 30, 5).evaluate(&mut [false; 29]);
    }

    #[test]
    #[should_panic(expected = "too few slots")]
    fn too_few_lanes_are_refused() {
        tape(&mut Random(3), 30, 5).evaluate_lanes(Backend::detect(), &mut [Lanes::default(); 29]);
    }
}
