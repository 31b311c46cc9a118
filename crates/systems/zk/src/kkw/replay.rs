//! The verifier's executions, eight at a time.

use comity_circuit::run;
use comity_core::{Backend, Result};

use super::GROUP;
use super::columns::{Columns, spread};
use super::heard::Heard;
use super::online::{OF_LAST, sum};
use super::strips::{Parties, Strip, Tapes};
use crate::gates::{Branches, Head, Nobody};
use crate::sliced::{Shares, all, and, xor};
use crate::statement::Statement;

/// The verifier's values for a group.
pub(super) struct Given {
    /// The tapes of all parties but one of each execution.
    pub(super) tapes: Tapes,
    /// The corrections, where the last party is opened.
    pub(super) corrections: Columns,
    /// The words of the hidden parties.
    pub(super) hidden: Columns,
    /// The masked values of secret inputs.
    pub(super) inputs: Columns,
    /// The place of the hidden party of each execution.
    pub(super) places: Parties,
}

/// The verifier's executions: gives out what all parties said. The hidden party's share of an output is
/// computed, such that the shares add up to the expected one.
pub(super) fn replay(
    backend: Backend,
    statement: &Statement,
    given: &Given,
    strip: &mut Strip,
    heard: &mut Heard,
) -> Result<()> {
    strip.begin();
    let watched = Watched { given, strip, heard, inputs: 0 };
    let mut engine = Head::new(backend, watched, statement.public());
    run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
    let (mut watched, outputs) = engine.finish();
    watched.end();
    let missing = |(Shares([masks, masked]), expected): (&Shares<GROUP, 2>, bool)| {
        let hidden = xor(xor(all(expected), *masked), sum(*masks));
        xor(*masks, and(hidden, given.places))
    };
    let outputs: Vec<_> = outputs.iter().zip(statement.outputs().iter()).map(missing).collect();
    watched.heard.hear(&outputs);
    Ok(())
}

/// A wire is the shares of its mask, the hidden party's being zero, and the masked value in all bits of a lane.
struct Watched<'a> {
    given: &'a Given,
    strip: &'a mut Strip,
    heard: &'a mut Heard,
    inputs: usize,
}

impl Watched<'_> {
    /// Ends a strip.
    fn end(&mut self) {
        self.heard.hear(self.strip.said().1);
    }
}

impl Branches<GROUP, 2> for Watched<'_> {
    fn room(&mut self, wanted: usize) -> Result<usize> {
        if self.strip.left() == 0 {
            self.end();
            self.strip.next(&self.given.tapes);
        }
        Ok(self.strip.left().min(wanted))
    }

    fn secret(&mut self) -> Shares<GROUP, 2> {
        let at = self.inputs;
        self.inputs += 1;
        Shares([self.given.tapes.inputs[at], spread(self.given.inputs.0[at])])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<GROUP, 2> {
        Shares([all(false), all(bit)])
    }

    #[inline(always)]
    fn and(&mut self, Shares(a): Shares<GROUP, 2>, Shares(b): Shares<GROUP, 2>) -> Shares<GROUP, 2> {
        let given = self.given;
        let (at, mask, product, said) = self.strip.gate();
        let correction = and(spread(given.corrections.0[at]), OF_LAST);
        let hidden = and(spread(given.hidden.0[at]), given.places);
        let cross = xor(and(a[1], b[0]), and(b[1], a[0]));
        *said = xor(xor(cross, xor(xor(product, correction), mask)), hidden);
        Shares([mask, xor(sum(*said), and(a[1], b[1]))])
    }
}
