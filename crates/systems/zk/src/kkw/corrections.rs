//! The preprocessing of executions whose roots are known: which corrections the last party must have.
//!
//! Only sums over all parties matter: a row is an execution, and all of them go through the gates at once.

use comity_circuit::run;
use comity_core::{Backend, Block, Result};
use zeroize::Zeroizing;

use super::Shape;
use super::hashes::{Execution, Hashes};
use crate::gates::{Branches, Head};
use crate::sliced::{Rows, Shares, Word, all, and, padded, xor};
use crate::statement::Statement;

/// The corrections of executions whose seeds are all known, a row each.
pub(super) fn corrections<const W: usize>(
    backend: Backend,
    hashes: &Hashes,
    statement: &Statement,
    executions: &[Execution],
) -> Result<Rows> {
    let shape = Shape::new(statement);
    let mut sums = Rows::zeros(64 * W, shape.columns());
    let mut tape = Zeroizing::new(vec![Block::ZERO; sums.row_mut(0).len()]);
    for (row, execution) in executions.iter().enumerate() {
        for of_party in hashes.tape.tapes(backend, execution.seeds()) {
            of_party.fill(0, &mut tape);
            sums.row_mut(row).iter_mut().zip(&*tape).for_each(|(sum, block)| *sum ^= *block);
        }
    }
    let masks = Masks {
        sums: sums.to_words::<W>(backend),
        corrections: Zeroizing::new(vec![[0; W]; padded(shape.ands)]),
        shape,
        inputs: 0,
        ands: 0,
    };
    let mut engine = Head::new(backend, masks, statement.public());
    run(statement.program(), &mut engine, statement.public(), &mut crate::gates::Nobody)?;
    let (masks, _) = engine.finish();
    Ok(Rows::of_words(backend, &masks.corrections))
}

/// The masks of wires, which are sums of all parties' shares.
struct Masks<const W: usize> {
    sums: Zeroizing<Vec<Word<W>>>,
    corrections: Zeroizing<Vec<Word<W>>>,
    shape: Shape,
    inputs: usize,
    ands: usize,
}

impl<const W: usize> Branches<W, 1> for Masks<W> {
    fn secret(&mut self) -> Shares<W, 1> {
        self.inputs += 1;
        Shares([self.sums[self.inputs - 1]])
    }

    /// A public bit has no mask.
    #[inline(always)]
    fn public(&self, _: bool) -> Shares<W, 1> {
        Shares([all(false)])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<W, 1>, Shares([b]): Shares<W, 1>) -> Shares<W, 1> {
        let at = self.ands;
        self.ands += 1;
        let [mask, product] = Shape::of_gate(at).map(|column| self.sums[self.shape.gates() + column]);
        self.corrections[at] = xor(and(a, b), product);
        Shares([mask])
    }
}
