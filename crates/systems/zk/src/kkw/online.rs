//! The prover's executions, eight at a time.

use comity_circuit::run;
use comity_core::{Backend, Bits, Result};
use comity_protocol::Conduct;
use zeroize::Zeroizing;

use super::columns::{Columns, column};
use super::strips::{Parties, Strip, Tapes};
use super::{GROUP, LAST, Shape};
use crate::gates::{Branches, Head, Nobody};
use crate::sliced::{Shares, all, and, xor};
use crate::statement::Statement;

/// The word in which, for each execution, all bits are the sum of its parties' bits.
#[inline(always)]
pub(super) fn sum(word: Parties) -> Parties {
    word.map(|bits| u64::from(bits.count_ones() & 1).wrapping_neg())
}

/// The place of the last party, which holds the corrections.
pub(super) const OF_LAST: Parties = [(1u64 << LAST).to_le(); GROUP];

/// An act: a strip of a group's gates was run, and is about to be committed to or shown. An honest prover
/// does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(super) struct Played<'a> {
    /// The executions, a lane each.
    pub(super) executions: &'a [usize],
    /// The corrections, a byte a gate and a bit an execution.
    pub(super) corrections: &'a mut [u8],
    /// The words that the parties say.
    pub(super) said: &'a mut [Parties],
}

/// The program that the prover runs in every execution.
pub(super) struct Play<'a> {
    backend: Backend,
    statement: &'a Statement,
    secret: Bits,
    clear: Clear,
}

impl<'a> Play<'a> {
    /// The statement's program on the secret values of a witness.
    pub(super) fn new(backend: Backend, statement: &'a Statement, secret: Bits) -> Result<Play<'a>> {
        let clear = Clear::new(backend, statement, &secret)?;
        Ok(Play { backend, statement, secret, clear })
    }

    /// The masked values of secret inputs, which are known before anything is run.
    pub(super) fn inputs(&self, tapes: &Tapes) -> Columns {
        let mut inputs = Columns::zeros(self.secret.len());
        let masked = |(bit, mask): (bool, &Parties)| column(xor(all(bit), sum(*mask)));
        let values = self.secret.iter().zip(&*tapes.inputs).map(masked);
        inputs.0.iter_mut().zip(values).for_each(|(input, value)| *input = value);
        inputs
    }

    /// Runs a group of executions with all parties: writes the corrections, gives out what is said at the
    /// gates strip after strip, and returns the parties' shares of the masks of the outputs.
    pub(super) fn group(
        &self,
        executions: &[usize],
        tapes: &Tapes,
        (strip, corrections): (&mut Strip, &mut Columns),
        tell: &mut dyn FnMut(&[Parties]),
        conduct: &mut dyn for<'b> Conduct<Played<'b>>,
    ) -> Result<Vec<Parties>> {
        strip.begin();
        let whole = Whole { executions, tapes, strip, corrections, clear: &self.clear, inputs: 0, tell, conduct };
        let mut engine = Head::new(self.backend, whole, self.statement.public());
        run(self.statement.program(), &mut engine, self.statement.public(), &mut Nobody)?;
        let (mut whole, outputs) = engine.finish();
        whole.end();
        Ok(outputs.iter().map(|Shares([masks])| *masks).collect())
    }
}

/// A wire holds the parties' shares of its mask. Its masked value is the same in all executions, and is
/// looked up.
struct Whole<'a> {
    executions: &'a [usize],
    tapes: &'a Tapes,
    strip: &'a mut Strip,
    corrections: &'a mut Columns,
    clear: &'a Clear,
    inputs: usize,
    tell: &'a mut dyn FnMut(&[Parties]),
    conduct: &'a mut dyn for<'b> Conduct<Played<'b>>,
}

impl Whole<'_> {
    /// Ends a strip.
    fn end(&mut self) {
        let (first, said) = self.strip.said();
        if !said.is_empty() {
            let corrections = &mut self.corrections.0[first..][..said.len()];
            self.conduct.before(Played { executions: self.executions, corrections, said });
            (self.tell)(said);
        }
    }
}

impl Branches<GROUP, 1> for Whole<'_> {
    fn room(&mut self, wanted: usize) -> Result<usize> {
        if self.strip.left() == 0 {
            self.end();
            self.strip.next(self.tapes);
        }
        Ok(self.strip.left().min(wanted))
    }

    fn secret(&mut self) -> Shares<GROUP, 1> {
        self.inputs += 1;
        Shares([self.tapes.inputs[self.inputs - 1]])
    }

    /// A public bit has no mask.
    #[inline(always)]
    fn public(&self, _: bool) -> Shares<GROUP, 1> {
        Shares([all(false)])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<GROUP, 1>, Shares([b]): Shares<GROUP, 1>) -> Shares<GROUP, 1> {
        let (at, mask, product, said) = self.strip.gate();
        let (mask_a, mask_b) = (sum(a), sum(b));
        let correction = xor(and(mask_a, mask_b), sum(product));
        self.corrections.0[at] = column(correction);
        let [clear_a, clear_b] = self.clear.ands[at].map(all);
        let cross = xor(and(xor(clear_a, mask_a), b), and(xor(clear_b, mask_b), a));
        *said = xor(cross, xor(xor(product, and(correction, OF_LAST)), mask));
        Shares([mask])
    }
}

/// The values of all AND gates' inputs, which are those of every execution.
struct Clear {
    ands: Zeroizing<Vec<[bool; 2]>>,
}

impl Clear {
    /// Runs the program on the values of the witness.
    fn new(backend: Backend, statement: &Statement, secret: &Bits) -> Result<Clear> {
        let room = Zeroizing::new(Vec::with_capacity(Shape::new(statement).ands));
        let mut engine = Head::new(backend, Values { secret, inputs: 0, ands: room }, statement.public());
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        Ok(Clear { ands: engine.finish().0.ands })
    }
}

/// A wire is its value.
struct Values<'a> {
    secret: &'a Bits,
    inputs: usize,
    ands: Zeroizing<Vec<[bool; 2]>>,
}

impl Branches<1, 1> for Values<'_> {
    fn secret(&mut self) -> Shares<1, 1> {
        self.inputs += 1;
        Shares([all(self.secret.get(self.inputs - 1))])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<1, 1> {
        Shares([all(bit)])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<1, 1>, Shares([b]): Shares<1, 1>) -> Shares<1, 1> {
        self.ands.push([a, b].map(|[value]| value & 1 == 1));
        Shares([and(a, b)])
    }
}
