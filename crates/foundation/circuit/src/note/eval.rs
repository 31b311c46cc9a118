//! What an operation on words is, without any gates: the plain arithmetic that notes are held against.

use comity_core::Bits;

use super::{ArgBit, Note, WordOp};
use crate::circuit::{Circuit, Op};
use crate::random::Rng;

/// A word, least significant bit first.
type Word = Vec<bool>;

impl WordOp {
    /// The results for arguments, by plain arithmetic on words of any width.
    ///
    /// # Panics
    /// If the operation does not [take](WordOp::results) words of these widths.
    pub fn eval(&self, args: &[Bits]) -> Vec<Bits> {
        let widths: Vec<usize> = args.iter().map(Bits::len).collect();
        assert!(self.results(&widths).is_some(), "{} of words of {widths:?} bits", self.name());
        let words: Vec<Word> = args.iter().map(|word| word.iter().collect()).collect();
        let word = |i: usize| &words[i][..];
        let zip = |f: fn(bool, bool) -> bool| word(0).iter().zip(word(1)).map(|(&x, &y)| f(x, y)).collect::<Word>();
        let results = match self {
            WordOp::Add => vec![add(word(0), word(1))],
            WordOp::Sub => vec![add(word(0), &negate(word(1)))],
            WordOp::Neg => vec![negate(word(0))],
            WordOp::Mul => vec![mul(word(0), word(1), widths[0])],
            WordOp::MulWide => vec![mul(word(0), word(1), 2 * widths[0])],
            WordOp::Square => vec![mul(word(0), word(0), widths[0])],
            WordOp::Div { signed } => vec![div_rem(word(0), word(1), *signed).0],
            WordOp::Rem { signed } => vec![div_rem(word(0), word(1), *signed).1],
            WordOp::DivRem { signed } => {
                let (quotient, remainder) = div_rem(word(0), word(1), *signed);
                vec![quotient, remainder]
            }
            WordOp::Less { signed, or_equal } => {
                let [x, y] = [0, 1].map(|i| if *signed { offset(word(i)) } else { words[i].clone() });
                vec![vec![less(&x, &y) || *or_equal && x == y]]
            }
            WordOp::Equal => vec![vec![word(0) == word(1)]],
            WordOp::Select => vec![words[if word(0)[0] { 1 } else { 2 }].clone()],
            WordOp::Shl => vec![shifted(word(0), amount(word(1), widths[0]), |i, by| i.checked_sub(by), false)],
            WordOp::Shr => vec![shifted(word(0), amount(word(1), widths[0]), |i, by| i.checked_add(by), false)],
            WordOp::ShrSigned => {
                let sign = word(0)[widths[0] - 1];
                vec![shifted(word(0), amount(word(1), widths[0]), |i, by| i.checked_add(by), sign)]
            }
            WordOp::Rotl => {
                // The amount counts modulo the width.
                let by = word(1).iter().rev().fold(0, |by, &bit| (2 * by + usize::from(bit)) % widths[0]);
                vec![(0..widths[0]).map(|i| word(0)[(i + widths[0] - by) % widths[0]]).collect()]
            }
            WordOp::And => vec![zip(|x, y| x && y)],
            WordOp::Or => vec![zip(|x, y| x || y)],
            WordOp::Xor => vec![zip(|x, y| x != y)],
            WordOp::Not => vec![word(0).iter().map(|bit| !bit).collect()],
            WordOp::Lookup(table) => vec![table.row(amount(word(0), 1 << table.delta())).iter().collect()],
            WordOp::Dot { n } => {
                let n = *n as usize;
                vec![dot((0..n).map(|i| (word(i), word(n + i))), widths[0])]
            }
            WordOp::MatMul { m, n, p } => {
                let [m, n, p] = [*m, *n, *p].map(|size| size as usize);
                let entry = |at: usize| {
                    let (row, column) = (at / p, at % p);
                    dot((0..n).map(|i| (word(row * n + i), word(m * n + i * p + column))), widths[0])
                };
                (0..m * p).map(entry).collect()
            }
            WordOp::MulShift { fraction } => {
                let fraction = *fraction as usize;
                let half: Word = (0..widths[0]).map(|bit| bit + 1 == fraction).collect();
                vec![add(&mul(word(0), word(1), widths[0]), &half)[fraction..].to_vec()]
            }
        };
        results.into_iter().map(|word| word.into_iter().collect()).collect()
    }
}

fn add(x: &[bool], y: &[bool]) -> Word {
    let mut carry = false;
    let bit = |(&x, &y): (&bool, &bool)| {
        let sum = x ^ y ^ carry;
        carry = x && y || carry && (x || y);
        sum
    };
    x.iter().zip(y).map(bit).collect()
}

fn negate(x: &[bool]) -> Word {
    // The bits above the lowest one are complemented.
    let lowest = x.iter().position(|&bit| bit).unwrap_or(x.len());
    x.iter().enumerate().map(|(i, &bit)| bit ^ (i > lowest)).collect()
}

fn mul(x: &[bool], y: &[bool], bits: usize) -> Word {
    let mut sum = vec![false; bits];
    for at in (0..y.len()).filter(|&at| y[at]) {
        let row: Word = (0..bits).map(|i| i.checked_sub(at).and_then(|i| x.get(i)).copied().unwrap_or(false)).collect();
        sum = add(&sum, &row);
    }
    sum
}

/// The sum of products of words of `bits` bits.
fn dot<'w>(pairs: impl Iterator<Item = (&'w [bool], &'w [bool])>, bits: usize) -> Word {
    pairs.fold(vec![false; bits], |sum, (x, y)| add(&sum, &mul(x, y, bits)))
}

fn less(x: &[bool], y: &[bool]) -> bool {
    x.iter().rev().lt(y.iter().rev())
}

/// A signed word plus 2^(n-1): its order is that of unsigned words.
fn offset(x: &[bool]) -> Word {
    x.iter().enumerate().map(|(i, &bit)| bit ^ (i + 1 == x.len())).collect()
}

/// By restoring; the quotient by zero has all bits one, and the remainder is `x`. Signed ones are rounded towards zero.
fn div_rem(x: &[bool], y: &[bool], signed: bool) -> (Word, Word) {
    let [x_less, y_less] = [x, y].map(|word| signed && word[word.len() - 1]);
    if signed {
        let abs = |word: &[bool], less: bool| if less { negate(word) } else { word.to_vec() };
        let (quotient, remainder) = div_rem(&abs(x, x_less), &abs(y, y_less), false);
        let by_zero = !y.contains(&true);
        return (abs(&quotient, x_less != y_less && !by_zero), abs(&remainder, x_less));
    }
    // One more bit, for what is doubled.
    let divisor = [y, &[false]].concat();
    let (mut quotient, mut rest) = (vec![false; x.len()], vec![false; y.len() + 1]);
    for i in (0..x.len()).rev() {
        rest.insert(0, x[i]);
        rest.pop();
        if !less(&rest, &divisor) {
            quotient[i] = true;
            rest = add(&rest, &negate(&divisor));
        }
    }
    rest.pop();
    (quotient, rest)
}

/// The number, or `most` if it is greater.
fn amount(x: &[bool], most: usize) -> usize {
    x.iter().rev().fold(0, |number, &bit| (2 * number + usize::from(bit)).min(most))
}

fn shifted(x: &[bool], by: usize, from: fn(usize, usize) -> Option<usize>, fill: bool) -> Word {
    (0..x.len()).map(|i| from(i, by).and_then(|i| x.get(i)).copied().unwrap_or(fill)).collect()
}

impl Circuit {
    /// The first note that gives another result than the gates on random inputs, for tests. There is no such
    /// note where [`Circuit::with_notes`] passed.
    pub fn false_note(&self, rng: &mut Rng) -> Option<usize> {
        let mut wires = vec![false, true];
        wires.extend((0..self.input_bits()).map(|_| rng.word() & 1 == 1));
        for gate in self.gates() {
            let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
            wires.push(if gate.op == Op::And { a && b } else { a ^ b });
        }
        let mut gone: Vec<bool> = Vec::new();
        let mut results: Vec<Word> = Vec::new();
        self.notes().iter().position(|note: &Note| {
            let mut bit = |bit: &ArgBit| match *bit {
                ArgBit::Wire(wire) => wires[wire as usize],
                ArgBit::Gone(bit) => {
                    gone.resize_with(gone.len().max(bit as usize + 1), || rng.word() & 1 == 1);
                    gone[bit as usize]
                }
                ArgBit::Result { note, bit } => results[note as usize][bit as usize],
            };
            let args: Vec<Bits> = note.args.iter().map(|word| word.iter().map(&mut bit).collect()).collect();
            let words: Word = note.op.eval(&args).iter().flat_map(|word| word.iter().collect::<Word>()).collect();
            let differs = |(out, &bit): (&Option<u32>, &bool)| out.is_some_and(|wire| wires[wire as usize] != bit);
            let lies = note.outs.iter().zip(&words).any(differs);
            results.push(words);
            lies
        })
    }
}
