//! The steps of operations, each as soon as what it reads is there: [`Planner`].

use std::collections::{BTreeSet, HashMap};

use comity_circuit::{Lowered, Note, WordOp};
use comity_share::ring::{MatrixProduct, WIDEST_WORD, WordProduct};

use super::{Choice, Factors, Garble, Gates, Layer, Lift, Local, Matrix, Term, WordPlan, divisor, is_gates, is_low};
use crate::circuits::{Bit, Small};
use crate::words::{Of, Pattern, Piece, Port, Words};

/// A word that is there, and after which layer.
type At = (usize, usize);

/// A plan that is being made.
pub(super) struct Planner {
    pub(super) plan: WordPlan,
    /// Of each word the bits that are needed, and where carries are.
    pub(super) needed: Vec<u32>,
    carries: Vec<BTreeSet<u32>>,
    known: Vec<At>,
    /// The carries into bits of words, the words that bits became, and pieces; for all who want the same.
    carried: HashMap<(usize, u32), At>,
    lifted: HashMap<(usize, u32, u32), At>,
    pieces: HashMap<(usize, u32, u32, u32), At>,
    circuits: HashMap<Small, usize>,
}

impl Planner {
    pub(super) fn new(words: &Words<'_>, ins: Vec<Port>) -> Planner {
        let (all, inputs) = (words.bits.len(), ins.len());
        let (outs, needs, circuits) = Default::default();
        let plan = WordPlan { ins, outs, needs, slots: inputs, layers: vec![Layer::default()], circuits };
        let known = (0..all).map(|word| if word < inputs { (word, 0) } else { (usize::MAX, 0) }).collect();
        let (carried, lifted, pieces, circuits) = Default::default();
        let (needed, carries) = (vec![0; all], vec![BTreeSet::new(); all]);
        Planner { plan, needed, carries, known, carried, lifted, pieces, circuits }
    }

    /// Says that these bits are needed: as a word, or one by one.
    pub(super) fn demand(&mut self, pattern: &Pattern, linear: bool) {
        for piece in &pattern.pieces {
            let word = word_of(piece);
            let end = piece.from + piece.bits;
            self.needed[word] = self.needed[word].max(end);
            let is_bit = piece.from == 0 && piece.bits == 1;
            if !linear || is_low(piece, pattern.bits) || is_bit {
                continue;
            }
            if piece.from > 0 {
                self.carries[word].insert(piece.from);
            }
            if piece.bits < pattern.bits - piece.at {
                self.carries[word].insert(end);
            }
        }
    }

    fn layer(&mut self, layer: usize) -> &mut Layer {
        while self.plan.layers.len() <= layer {
            self.plan.layers.push(Layer::default());
        }
        &mut self.plan.layers[layer]
    }

    fn new_slot(&mut self) -> usize {
        self.plan.slots += 1;
        self.plan.slots - 1
    }

    fn local(&mut self, layer: usize, local: Local) -> usize {
        let out = self.new_slot();
        self.layer(layer).locals.push((local, out));
        out
    }

    fn lift(&mut self, (of, layer): At, bits: u32, to: u32) -> At {
        if to == 1 {
            return (of, layer);
        }
        if let Some(at) = self.lifted.get(&(of, bits, to)) {
            return *at;
        }
        let out = self.new_slot();
        self.layer(layer + 1).lifts.push(Lift { of, bits, to, out });
        self.lifted.insert((of, bits, to), (out, layer + 1));
        (out, layer + 1)
    }

    fn garble(&mut self, layer: usize, small: Small, ins: Vec<Term>) -> Vec<At> {
        let outs: Vec<usize> = small.outs().iter().map(|_| self.new_slot()).collect();
        let circuits = &mut self.plan.circuits;
        let circuit = *self.circuits.entry(small).or_insert_with_key(|small| {
            let circuit = small.circuit();
            circuits.push(Gates {
                ins: small.ins(),
                outs: small.outs(),
                lowered: Lowered::new(&circuit),
                #[cfg(test)]
                circuit,
            });
            circuits.len() - 1
        });
        let all = outs.iter().map(|slot| (*slot, layer + 1)).collect();
        self.layer(layer + 1).garbles.push(Garble { circuit, ins, outs });
        all
    }

    /// The carry into a bit of a word; all that anybody wants of the word come at once.
    fn carry(&mut self, word: usize, bit: u32) -> At {
        if !self.carried.contains_key(&(word, bit)) {
            let at: Vec<u32> = self.carries[word].iter().copied().collect();
            let (slot, layer) = self.known[word];
            let last = *at.last().expect("it was said that a carry is needed");
            let carries = self.garble(layer, Small::Carries(at.clone()), vec![Term::slot(slot, last)]);
            self.carried.extend(at.into_iter().map(|bit| (word, bit)).zip(carries));
        }
        self.carried[&(word, bit)]
    }

    /// A piece as a word modulo 2^room.
    fn piece(&mut self, piece: &Piece, room: u32) -> At {
        let (word, from, bits) = (word_of(piece), piece.from, piece.bits);
        let (slot, layer) = self.known[word];
        if from == 0 && bits >= room {
            return (slot, layer);
        }
        if from == 0 && bits == 1 {
            // The lowest bit is shared by XOR, as it stands.
            return self.lift((slot, layer), 1, room);
        }
        let key = (word, from, bits, room);
        if let Some(at) = self.pieces.get(&key) {
            return *at;
        }
        let high = self.local(layer, Local::High(Term::slot(slot, from + bits), from, bits));
        let (mut terms, mut last) = (vec![Term::slot(high, room)], layer);
        if from > 0 {
            let carry = self.carry(word, from);
            let (carry, layer) = self.lift(carry, 1, room);
            terms.push(Term::slot(carry, room));
            last = last.max(layer);
        }
        if bits < room {
            let wrap = self.carry(word, from + bits);
            let (wrap, layer) = self.lift(wrap, 1, room - bits);
            terms.push(Term { bits: room, ..Term::slot(wrap, room) }.times((1u128 << bits).wrapping_neg()));
            last = last.max(layer);
        }
        let out = self.local(last, Local::Sum(terms));
        self.pieces.insert(key, (out, last));
        (out, last)
    }

    /// Bits as a word, and after which layer it is there.
    pub(super) fn term(&mut self, pattern: &Pattern) -> (Term, usize) {
        let (mut term, mut more) = (Term::constant(pattern.bits, pattern.constant), Vec::new());
        let mut last = 0;
        for piece in &pattern.pieces {
            let (slot, layer) = self.piece(piece, pattern.bits - piece.at);
            last = last.max(layer);
            let factor = (0..piece.times).fold(0u128, |sum, i| sum.wrapping_add(1 << (piece.at + i)));
            if piece.negated {
                term.constant = term.constant.wrapping_add(factor);
            }
            let factor = if piece.negated { factor.wrapping_neg() } else { factor };
            match term.of {
                None => term.of = Some((slot, factor)),
                Some(_) => more.push(Term::slot(slot, pattern.bits).times(factor)),
            }
        }
        if !more.is_empty() {
            more.push(term);
            term = Term::slot(self.local(last, Local::Sum(more)), pattern.bits);
        }
        (term, last)
    }

    /// A product modulo 2^bits.
    fn product(&mut self, layer: usize, bits: u32, x: Term, y: Term) -> At {
        if x.of.is_none() || y.of.is_none() {
            let (word, by) = if x.of.is_none() { (y, x.constant) } else { (x, y.constant) };
            return (self.local(layer, Local::Sum(vec![word.times(by)])), layer);
        }
        if x == y && bits == 1 {
            // A bit is its own square.
            return (self.local(layer, Local::Sum(vec![x])), layer);
        }
        let what = WordProduct { bits, square: x == y };
        let out = self.new_slot();
        self.layer(layer + 1).products.push(Factors { what, x, y, out });
        (out, layer + 1)
    }

    /// The steps of an operation, whose first needed word is this one of its words.
    pub(super) fn step(&mut self, note: &Note, results: usize, first: usize, args: &[Pattern]) {
        if is_gates(note, args) {
            return self.gates(note, results, first, args);
        }
        let (terms, layers): (Vec<Term>, Vec<usize>) = args.iter().map(|arg| self.term(arg)).unzip();
        let layer = layers.into_iter().max().unwrap_or(0);
        let x = terms[0];
        let y = terms.get(1).copied().unwrap_or(x);
        let sum = |planner: &mut Planner, terms: Vec<Term>| (planner.local(layer, Local::Sum(terms)), layer);
        let word = match note.op {
            WordOp::Add | WordOp::Xor => sum(self, vec![x, y]),
            WordOp::Sub => sum(self, vec![x, y.minus()]),
            WordOp::Neg => sum(self, vec![x.minus()]),
            WordOp::Not => sum(self, vec![x.minus(), Term::constant(x.bits, u128::MAX)]),
            // Of a square the top bit is no bit of the argument.
            WordOp::Square => self.product(layer, self.needed[first], x, x),
            WordOp::Mul | WordOp::MulWide | WordOp::And => self.product(layer, x.bits, x, y),
            WordOp::Or => {
                let (both, after) = self.product(layer, 1, x, y);
                (self.local(after, Local::Sum(vec![x, y, Term::slot(both, 1)])), after)
            }
            WordOp::Dot { n } => self.dot(layer, (0..n as usize).map(|i| (terms[i], terms[n as usize + i]))),
            WordOp::MatMul { m, n, p } => return self.matrices(layer, [m, n, p], terms, first),
            WordOp::MulShift { fraction } => self.rounded(layer, x, y, fraction),
            WordOp::Select => self.choice(layer, x, y, terms[2]),
            WordOp::Equal => {
                let difference = self.local(layer, Local::Sum(vec![x, y.minus()]));
                let opposed = self.local(layer, Local::Opposed(Term::slot(difference, x.bits)));
                self.garble(layer, Small::Equal(x.bits), vec![Term::slot(opposed, x.bits)])[0]
            }
            _ => return self.divide(note, first, (x, layer), divisor(note, args).expect("a public divisor")),
        };
        self.known[first] = word;
    }

    /// The sum of products of words that are there after this layer.
    fn dot(&mut self, layer: usize, pairs: impl Iterator<Item = (Term, Term)>) -> At {
        let mut terms = Vec::new();
        let mut last = layer;
        for (x, y) in pairs {
            let (product, after) = self.product(layer, x.bits, x, y);
            terms.push(Term::slot(product, x.bits));
            last = last.max(after);
        }
        (self.local(last, Local::Sum(terms)), last)
    }

    /// The product of two matrices, whose words are known from the first one on.
    fn matrices(&mut self, layer: usize, [m, n, p]: [u32; 3], mut x: Vec<Term>, first: usize) {
        let what = MatrixProduct { bits: x[0].bits, m, n, p };
        let [in_x, _, product] = what.words();
        let y = x.split_off(in_x);
        let is_shared = |matrix: &[Term]| matrix.iter().any(|term| term.of.is_some());
        if is_shared(&x) && is_shared(&y) {
            let outs: Vec<usize> = (0..product).map(|_| self.new_slot()).collect();
            self.known[first..][..product]
                .copy_from_slice(&outs.iter().map(|out| (*out, layer + 1)).collect::<Vec<At>>());
            return self.layer(layer + 1).matrices.push(Matrix { what, x, y, outs });
        }
        let (n, p) = (n as usize, p as usize);
        for at in 0..product {
            let pairs = (0..n).map(|i| (x[at / p * n + i], y[i * p + at % p]));
            self.known[first + at] = self.dot(layer, pairs);
        }
    }

    /// A product modulo 2^n without its lowest bits, rounded: the shares' upper bits, and what half of one and the
    /// lower bits carry into them. Modulo what is left of 2^n the shares' own carry is nothing.
    fn rounded(&mut self, layer: usize, x: Term, y: Term, fraction: u32) -> At {
        let (product, after) = self.product(layer, x.bits, x, y);
        let half = Term { constant: 1 << (fraction - 1), ..Term::slot(product, x.bits) };
        let (sum, bits) = (self.local(after, Local::Sum(vec![half])), x.bits - fraction);
        let high = self.local(after, Local::High(Term::slot(sum, x.bits), fraction, bits));
        let carry = self.garble(after, Small::Carries(vec![fraction]), vec![Term::slot(sum, fraction)])[0];
        let (carry, last) = self.lift(carry, 1, bits);
        (self.local(last, Local::Sum(vec![Term::slot(high, bits), Term::slot(carry, bits)])), last)
    }

    fn choice(&mut self, layer: usize, by: Term, x: Term, y: Term) -> At {
        if by.of.is_none() {
            let chosen = if by.constant & 1 == 1 { x } else { y };
            return (self.local(layer, Local::Sum(vec![chosen])), layer);
        }
        let difference = self.local(layer, Local::Sum(vec![x, y.minus()]));
        let out = self.new_slot();
        let word = Term::slot(difference, x.bits);
        self.layer(layer + 1).choices.push(Choice { by, word, out });
        (self.local(layer + 1, Local::Sum(vec![y, Term::slot(out, x.bits)])), layer + 1)
    }

    /// The quotient by a public number, and the remainder.
    fn divide(&mut self, note: &Note, first: usize, (x, layer): (Term, usize), by: u128) {
        let bits = x.bits;
        let whole = self.local(layer, Local::Quotient(x, by));
        let rest = self.local(layer, Local::Remainder(x, by));
        let size = 128 - by.leading_zeros();
        let parts = self.garble(layer, Small::Quotient { bits, by }, vec![x, Term::slot(rest, size)]);
        let parts: Vec<At> = parts.into_iter().map(|part| self.lift(part, 1, bits)).collect();
        let [wrap, more, less] = [0, 1, 2].map(|i| Term::slot(parts[i].0, bits));
        let after = parts.iter().map(|(_, layer)| *layer).max().expect("three");
        // 2^bits over the divisor, rounded down.
        let all = if bits == WIDEST_WORD {
            (u128::MAX / by).wrapping_add(u128::from(u128::MAX % by == by - 1))
        } else {
            (1 << bits) / by
        };
        let terms = vec![Term::slot(whole, bits), wrap.times(all).minus(), more, less.minus()];
        let quotient = self.local(after, Local::Sum(terms));
        let remainder = Local::Sum(vec![x, Term::slot(quotient, bits).times(by).minus()]);
        match note.op {
            WordOp::Div { .. } => self.known[first] = (quotient, after),
            WordOp::Rem { .. } => self.known[first] = (self.local(after, remainder), after),
            _ => {
                self.known[first] = (quotient, after);
                self.known[first + 1] = (self.local(after, remainder), after);
            }
        }
    }

    /// An operation by its gates, on the sums of the shares.
    fn gates(&mut self, note: &Note, results: usize, first: usize, args: &[Pattern]) {
        let mut read: Vec<(usize, u32)> = Vec::new();
        let mut layer = 0;
        let mut bits_of = |pattern: &Pattern| {
            let mut bits: Vec<Bit> =
                (0..pattern.bits).map(|bit| Bit::Constant(pattern.constant >> bit & 1 == 1)).collect();
            for piece in &pattern.pieces {
                let (slot, after) = self.known[word_of(piece)];
                layer = layer.max(after);
                let found = read.iter().position(|(other, _)| *other == slot);
                let word = found.unwrap_or_else(|| {
                    read.push((slot, 0));
                    read.len() - 1
                });
                read[word].1 = read[word].1.max(piece.from + piece.bits);
                for i in 0..piece.bits * piece.times {
                    let bit = piece.from + if piece.times > 1 { 0 } else { i };
                    bits[(piece.at + i) as usize] = Bit::Of { word, bit, negated: piece.negated };
                }
            }
            bits
        };
        let args: Vec<Vec<Bit>> = args.iter().map(&mut bits_of).collect();
        let widths = read.iter().map(|(_, bits)| *bits).collect();
        let ins = read.iter().map(|(slot, bits)| Term::slot(*slot, *bits)).collect();
        let outs: Vec<u32> = self.needed[first..first + results].to_vec();
        let small = Small::Gates { op: note.op.clone(), widths, args, outs: outs.clone() };
        let words = self.garble(layer, small, ins);
        for ((result, word), bits) in (first..).zip(words).zip(outs) {
            if bits > 0 {
                self.known[result] = self.lift(word, bits, bits);
            }
        }
    }
}

/// The word that a piece is of: where words are known of, all are.
fn word_of(piece: &Piece) -> usize {
    match piece.of {
        Of::Word(word) => word,
        Of::Input(_) => unreachable!("all input bits are words"),
    }
}
