//! Calls side by side: of a circuit that is a chain, [`Tape::COPIES`] calls in one walk over its tape.
//!
//! The tables of the calls in a walk then follow each other gate by gate. Both sides decide by the circuit and the
//! number of calls, which both know.

use comity_circuit::Call;
use comity_core::{Block, Cursor, Result, Tape};

use super::{BUFFER_ANDS, EvaluatedStream, GarbledStream, grow};
use crate::half_gates::HalfGates;

/// The AND gates whose tables wait at most, of all copies: room for any segment behind a full buffer.
const ROOM: usize = BUFFER_ANDS + Tape::COPIES * Tape::MAX_ANDS;

/// The most slots of a circuit that is walked so: a MiB in all copies.
const MOST_SLOTS: usize = (1 << 16) / Tape::COPIES;

/// How many of the calls are side by side: those that fill walks, if the circuit's batches of ANDs are small.
fn side_by_side(call: &Call<'_>) -> u64 {
    let tape = call.circuit.tape();
    let batches = tape.segments().iter().filter(|segment| segment.ands > 0).count();
    let small = tape.ands().len() < Tape::COPIES * batches && tape.slots() <= MOST_SLOTS;
    if small { call.times - call.times % Tape::COPIES as u64 } else { 0 }
}

impl GarbledStream<HalfGates> {
    /// As [`GarbledStream::call`], for an evaluator that makes the same call side by side.
    ///
    /// # Errors
    /// Those of `send`.
    pub fn call_side_by_side(
        &mut self,
        call: &Call<'_>,
        memory: &mut [Block],
        mut send: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (tape, copies, all) = (call.circuit.tape(), Tape::COPIES, side_by_side(call));
        grow(&mut self.slots, copies * tape.slots().max(2));
        for first in (0..all).step_by(copies) {
            call.load_side_by_side(first, copies, memory, &mut self.slots);
            let mut cursor = Cursor::default();
            loop {
                if self.waiting > BUFFER_ANDS {
                    self.flush(&mut send)?;
                }
                let Some(part) = cursor.advance(tape, (ROOM - self.waiting) / copies) else { break };
                let (from, ands) = (2 * self.waiting, copies * part.ands());
                grow(&mut self.tables, from + 2 * ands);
                self.scheme.garble_side_by_side(&part, &mut self.slots, &mut self.tables[from..from + 2 * ands]);
                self.waiting += ands;
                self.filled += 2 * ands * Block::BYTES;
                self.and_gates += ands as u64;
            }
            call.store_side_by_side(first, copies, &self.slots, memory);
        }
        // The calls that follow know of the buffer only.
        if self.waiting > BUFFER_ANDS {
            self.flush(&mut send)?;
        }
        self.calls(call, all..call.times, memory, send)
    }
}

impl EvaluatedStream<HalfGates> {
    /// As [`EvaluatedStream::call`], for a garbler that makes the same call side by side.
    ///
    /// # Errors
    /// Those of `recv`.
    pub fn call_side_by_side(
        &mut self,
        call: &Call<'_>,
        memory: &mut [Block],
        mut recv: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let (tape, copies, all) = (call.circuit.tape(), Tape::COPIES, side_by_side(call));
        grow(&mut self.slots, copies * tape.slots().max(2));
        for first in (0..all).step_by(copies) {
            call.load_side_by_side(first, copies, memory, &mut self.slots);
            let mut cursor = Cursor::default();
            while let Some(part) = cursor.advance(tape, BUFFER_ANDS / copies) {
                let ands = copies * part.ands();
                grow(&mut self.tables, 2 * ands);
                let tables = &mut self.tables[..2 * ands];
                if !tables.is_empty() {
                    recv(Block::bytes_of_mut(tables))?;
                }
                self.scheme.evaluate_side_by_side(&part, &mut self.slots, tables);
                self.and_gates += ands as u64;
            }
            call.store_side_by_side(first, copies, &self.slots, memory);
        }
        self.calls(call, all..call.times, memory, recv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use comity_circuit::{Builder, Circuit, Lowered, Place, Wire, eval_circuit};
    use comity_core::{Backend, Bits, Delta, Prg};

    /// A chain of ANDs and XORs of `bits` bits and, beside it, `beside` ANDs that are not.
    fn chain(bits: usize, beside: usize) -> Circuit {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", bits), b.input("y", bits));
        let mut carry = Wire::ONE;
        let mut out = Vec::new();
        for (&x, &y) in x.iter().zip(&y) {
            let (p, q) = (b.xor(x, carry), b.xor(y, carry));
            let both = b.and(p, q);
            carry = b.xor(both, carry);
            out.push(carry);
        }
        out.extend((0..beside).map(|i| b.and(x[i % bits], y[i / bits])));
        let not = b.not(carry);
        b.output("out", &out);
        b.output("last", &[not, Wire::ONE, Wire::ZERO, x[0]]);
        b.finish()
    }

    fn circuits() -> [Circuit; 4] {
        // The third one has a batch that is cut, the last one is longer than the buffer.
        [chain(1, 0), chain(64, 0), chain(40, 300), chain(3000, 0)]
    }

    /// Tables and outputs of `times` calls by a garbler and an evaluator.
    fn run(circuit: &Circuit, times: usize, backends: [Backend; 2]) -> Vec<u8> {
        let lowered = Lowered::new(circuit);
        let delta = Delta::new(Block::from_u128(0x1234_5678 << 70 | 99)).block();
        let start = Block::from_u128(5);
        let mut draw = Prg::new(Backend::detect(), Block::from_u128(times as u128));
        let (ins, outs) = (lowered.inputs(), lowered.output_widths().iter().sum::<usize>());
        let each = ins + outs;
        let mut place = 0;
        let mut places = |widths: &[usize]| -> Vec<Place> {
            let next = |width: &usize| {
                place += width;
                Place { start: place - width, stride: each as isize }
            };
            widths.iter().map(next).collect()
        };
        let (args, out_places) = (places(lowered.input_widths()), places(lowered.output_widths()));
        let call = Call { index: 0, circuit: &lowered, times: times as u64, args: &args, outs: &out_places };
        let mut zeros = vec![Block::ZERO; each * times];
        draw.fill_blocks(&mut zeros);
        let bits: Vec<bool> = zeros.iter().map(|label| label.to_bytes()[5] & 1 == 1).collect();
        let mut active: Vec<Block> = zeros.iter().zip(&bits).map(|(label, bit)| *label ^ delta.masked(*bit)).collect();
        let mut garbler = GarbledStream::<HalfGates>::new(HalfGates::garbler(backends[0], Delta::new(delta), start));
        let mut tables = Vec::new();
        let mut send = |bytes: &[u8]| {
            tables.extend_from_slice(bytes);
            Ok(())
        };
        garbler.call_side_by_side(&call, &mut zeros, &mut send).unwrap();
        // One call more, as streams go on.
        let last = Call { times: 1, ..call };
        let mut again = zeros.clone();
        garbler.call(&last, &mut again, &mut send).unwrap();
        garbler.flush(&mut send).unwrap();
        assert_eq!(garbler.and_gates() as usize, (times + 1) * lowered.tape().ands().len());
        let mut evaluator = EvaluatedStream::<HalfGates>::new(HalfGates::evaluator(backends[1], start));
        let mut left = &tables[..];
        let mut recv = |bytes: &mut [u8]| {
            let (now, later) = left.split_at(bytes.len());
            bytes.copy_from_slice(now);
            left = later;
            Ok(())
        };
        evaluator.call_side_by_side(&call, &mut active, &mut recv).unwrap();
        let mut active_again = active.clone();
        evaluator.call(&last, &mut active_again, &mut recv).unwrap();
        assert!(left.is_empty());
        for (zeros, active) in [(&zeros, &active), (&again, &active_again)] {
            for t in 0..times {
                let slice = |from: usize, n: usize| -> Bits { bits[from..from + n].iter().copied().collect() };
                let inputs: Vec<Bits> =
                    args.iter().zip(lowered.input_widths()).map(|(arg, &n)| slice(arg.at(t as u64), n)).collect();
                let expected: Vec<bool> = eval_circuit(circuit, &inputs).iter().flat_map(Bits::iter).collect();
                for (i, bit) in expected.into_iter().enumerate() {
                    let at = t * each + ins + i;
                    assert_eq!(active[at], zeros[at] ^ delta.masked(bit), "bit {i} of call {t} of {times}");
                }
            }
        }
        tables
    }

    #[test]
    fn calls_side_by_side_compute_what_each_does() {
        for circuit in circuits() {
            for times in [1, 15, 16, 17, 50] {
                run(&circuit, times, [Backend::detect(); 2]);
            }
        }
    }

    #[test]
    fn tables_are_the_same_on_every_backend() {
        for circuit in &circuits()[..3] {
            let tables = run(circuit, 35, [Backend::detect(); 2]);
            for backend in Backend::available() {
                assert_eq!(run(circuit, 35, [backend, Backend::detect()]), tables);
                assert_eq!(run(circuit, 35, [Backend::detect(), backend]), tables);
            }
        }
    }

    /// In chains the tables of calls follow each other gate by gate; what has wide batches is called one by one.
    #[test]
    fn chains_only_are_walked_together() {
        let pays = |circuit: &Circuit, times: u64| {
            let circuit = Lowered::new(circuit);
            side_by_side(&Call { index: 0, circuit: &circuit, times, args: &[], outs: &[] })
        };
        assert_eq!([15, 16, 47].map(|times| pays(&chain(64, 0), times)), [0, 16, 32]);
        assert_eq!(pays(&chain(20, 400), 100), 0);
    }
}
