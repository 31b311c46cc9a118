//! Arithmetic on words so wide that one circuit of it would take long to build: programs of repeated small calls.
//!
//! The same cuts as in [`mul_full`](super::mul_full), but as steps of a program: each level of the recursion is one
//! call of a splitting circuit on all words of that level side by side, then the products of the narrow words are one
//! call of many copies, then each level is put together again. So a product of 1,024 bits is ten calls of circuits
//! that are built in milliseconds, and as deep as its levels.

mod cyclic;
mod modexp;
mod product;

pub(crate) use modexp::modexp;
pub(crate) use product::product;

use std::collections::HashMap;

use comity_circuit::{Builder, CircuitId, ProgramBuilder, Register, Wire};

/// Words of the same width at the same distance from each other in the memory.
#[derive(Clone, Copy)]
struct Words {
    /// The first word.
    first: Register,
    /// The distance from a word to the next.
    stride: u64,
}

impl Words {
    /// Words side by side.
    fn packed(all: Register, bits: u64) -> Words {
        Words { first: all.slice(0, bits), stride: bits }
    }

    /// The words made of the same bits of each word.
    fn slice(self, from: usize, bits: usize) -> Words {
        Words { first: self.first.slice(from as u64, bits as u64), ..self }
    }

    fn bits(self) -> usize {
        self.first.bits() as usize
    }
}

impl From<Register> for Words {
    fn from(word: Register) -> Words {
        Words::packed(word, word.bits())
    }
}

/// A circuit from words to words, and how its words are built.
type Build = fn(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>;

/// The state that the steps of wide arithmetic share: circuits, and registers for intermediate values.
#[derive(Default)]
struct Wide {
    circuits: HashMap<(&'static str, Vec<usize>), CircuitId>,
    free: HashMap<u64, Vec<Register>>,
}

impl Wide {
    /// Calls a circuit `times` times. It is built once for each name and widths of its arguments.
    fn map(
        &mut self,
        p: &mut ProgramBuilder,
        times: u64,
        (name, build): (&'static str, Build),
        args: &[Words],
        outs: &[Words],
    ) {
        let widths: Vec<usize> = args.iter().map(|words| words.bits()).collect();
        let circuit = *self.circuits.entry((name, widths)).or_insert_with_key(|(_, widths)| {
            let mut b = p.builder();
            let args: Vec<Vec<Wire>> = widths.iter().map(|&bits| b.input("", bits)).collect();
            for word in build(&mut b, &args) {
                b.output("", &word);
            }
            p.circuit(b.finish())
        });
        let spans = |words: &[Words]| words.iter().map(|w| (w.first.span(), w.stride as i64)).collect::<Vec<_>>();
        p.map(circuit, times, &spans(args), &spans(outs));
    }

    /// Calls a circuit once.
    fn call(&mut self, p: &mut ProgramBuilder, circuit: (&'static str, Build), args: &[Register], outs: &[Register]) {
        let words = |words: &[Register]| words.iter().map(|&word| word.into()).collect::<Vec<Words>>();
        self.map(p, 1, circuit, &words(args), &words(outs));
    }

    /// A register for a while. Its content is undefined.
    fn take(&mut self, p: &mut ProgramBuilder, bits: usize) -> Register {
        let bits = bits as u64;
        self.free.get_mut(&bits).and_then(Vec::pop).unwrap_or_else(|| p.register(bits))
    }

    /// Gives back registers that were taken.
    fn give(&mut self, registers: impl IntoIterator<Item = Register>) {
        for register in registers {
            self.free.entry(register.bits()).or_default().push(register);
        }
    }
}

#[cfg(test)]
mod tests;
