//! `Cost`: what a query and its answers take, counted exactly.

use comity_circuit::Program;
use comity_core::Result;

use crate::files::{CHECKSUM, Header};
use crate::inputs;
use crate::outputs::decoding_rows;
use crate::plan::{AnswerPlan, Copies, Travel};
use crate::query::{QUERY_BYTES, Query};
use crate::respond;

/// Bytes and group multiplications, for `t` copies of which `e` are evaluated, `n1` and `n2` input bits and
/// `m` output bits.
///
/// Each product counts as one, whatever the base; the two or three that a step makes once, and tables of
/// multiples (of the CRS and of `h`, each of which costs some seventy products), do not count. Products are
/// of two kinds: of points that have tables, and of points of the query or of an answer, which take about
/// twice as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of the query.
    pub query_bytes: u64,
    /// Bytes of an answer.
    pub answer_bytes: u64,
    /// Bytes of each stored copy beside it; zero if the copies are not stored.
    pub copy_bytes: u64,
    /// Products in [`publish`](crate::publish): `4 (n1 + t)`.
    pub publish: u64,
    /// Products in [`respond`](crate::respond()): `4 t n1 + 4 t n2 + 2 t m` and, less, `12 t + 2 n2 + 2 m`.
    pub respond: u64,
    /// Products in `respond` that are of the query's points: `4 t n1 + 4 t`.
    pub respond_variable: u64,
}

impl Cost {
    /// The cost of a program.
    ///
    /// # Errors
    /// As [`publish`](crate::publish).
    pub fn new(program: &Program, copies: Copies) -> Result<Cost> {
        let plan = AnswerPlan::new(program, copies)?;
        let [n1, n2] = plan.inputs.map(|bits| bits as u64);
        let (t, m) = (plan.t() as u64, plan.outputs as u64);
        Ok(Cost {
            query_bytes: Query::FIXED as u64 + QUERY_BYTES as u64 * (n1 + t),
            answer_bytes: plan.answer_bytes(),
            copy_bytes: if copies.is_stored() { plan.copy_bytes() } else { 0 },
            publish: 4 * (n1 + t),
            respond: t * (4 * n1 + 4 * n2 + 2 * m) + 12 * t + 2 * n2 + 2 * m,
            respond_variable: 4 * t * n1 + 4 * t,
        })
    }

    /// Products in [`open`](crate::open()) with `e` copies evaluated, `c = t - e` checked: `4 c n1 + e n1`
    /// for the receiver's input, `4 c n2 + 2 e n2` for the sender's, `2 t m` for the outputs, and smaller
    /// ones: `13 t`, and `2 n2 + 3 m`. A secret that was read from bytes makes the query again when it first
    /// opens something: `4 (n1 + t)` more.
    ///
    /// # Errors
    /// As [`publish`](crate::publish).
    pub fn open(program: &Program, copies: Copies, evaluated: usize) -> Result<u64> {
        let plan = AnswerPlan::new(program, copies)?;
        let [n1, n2] = plan.inputs.map(|bits| bits as u64);
        let (t, m, e) = (plan.t() as u64, plan.outputs as u64, evaluated as u64);
        let c = t - e;
        Ok(4 * c * (n1 + n2) + e * (n1 + 2 * n2) + 2 * t * m + 4 * (n1 + t) + 4 * c + t + 2 * n2 + 3 * m)
    }

    /// Products in [`Cost::open`] that are of points of the query or of the answer: `4 c n1 + e n1 + t + 2 n2 + 2 m`.
    ///
    /// # Errors
    /// As [`publish`](crate::publish).
    pub fn open_variable(program: &Program, copies: Copies, evaluated: usize) -> Result<u64> {
        let plan = AnswerPlan::new(program, copies)?;
        let [n1, n2] = plan.inputs.map(|bits| bits as u64);
        let (t, m, e) = (plan.t() as u64, plan.outputs as u64, evaluated as u64);
        Ok((4 * (t - e) + e) * n1 + t + 2 * n2 + 2 * m)
    }
}

impl AnswerPlan {
    /// Bytes of an answer.
    pub(crate) fn answer_bytes(&self) -> u64 {
        let (t, n2, m) = (self.t() as u64, self.inputs[1] as u64, self.outputs as u64);
        let fixed = (Header::BYTES + respond::BINDING + CHECKSUM) as u64;
        let fresh = 32 + 64 * n2 + 64 * m + 96 * t + t * (32 * n2 + 64 * m);
        let digests = if self.copies.travel() == Travel::All { 0 } else { 32 * t };
        let travelling = self.copies.travelling() as u64;
        self.copy_bytes().saturating_mul(travelling).saturating_add(fixed + fresh + digests)
    }

    /// Bytes of a copy: of everything that is made from its seed.
    pub(crate) fn copy_bytes(&self) -> u64 {
        let [n1, n2] = self.inputs.map(|bits| bits as u64);
        let rows = 4 + 2 * n1 + inputs::ROWS as u64 * n2 + decoding_rows(self.outputs) as u64 + 2;
        self.ands.saturating_mul(2).saturating_add(rows).saturating_mul(16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::noted;
    use crate::open::open;
    use crate::query::{Secret, publish};
    use crate::tests::{CONTEXT, Case, bits, random_program, rng};
    use comity_core::Backend;

    /// Products of some work, of both kinds.
    fn made<T>(work: impl FnOnce() -> T) -> (T, [u64; 2]) {
        let before = noted();
        let result = work();
        let after = noted();
        (result, [0, 1].map(|kind| (after[kind] - before[kind]) as u64))
    }

    #[test]
    fn products_are_as_many_as_are_made() {
        let copies = [Copies::all(1), Copies::all(7), Copies::coded(7, 3), Copies::coded(12, 4)];
        for (seed, ([n1, n2], m)) in (0..).zip([([3, 2], 5), ([9, 1], 2), ([1, 70], 3), ([0, 4], 1), ([70, 0], 66)]) {
            for copies in copies.iter().map(|copies| *copies.as_ref().unwrap()) {
                let program = random_program([n1, n2], 20, [m, 0], &mut rng(seed));
                let inputs = vec![bits(n1, &mut rng(1)), bits(n2, &mut rng(2))];
                let own = vec![Some(inputs[0].clone()), None];
                let (_, publishing) = made(|| publish(Backend::detect(), &program, &own, copies, &mut rng(3)).unwrap());
                let case = Case::new(Backend::detect(), program, inputs, copies, seed);
                let (answer, responding) = made(|| case.answer(seed));
                let secret = Secret::from_bytes(&case.secret.to_bytes()).unwrap();
                let [(opened, opening), (_, opening_again)] = [(); 2].map(|()| {
                    made(|| open(Backend::detect(), &secret, &CONTEXT, &case.program, &mut &answer[..]).unwrap())
                });
                assert!(opened.outputs == case.plain());
                let (cost, e) = (Cost::new(&case.program, copies).unwrap(), { case.secret.evaluated().len() });
                let what = format!("{copies:?}, {n1}, {n2}, {m}");
                assert_eq!(publishing, [cost.publish, 0], "{what}");
                assert_eq!(responding, [cost.respond - cost.respond_variable, cost.respond_variable], "{what}");
                let all = Cost::open(&case.program, copies, e).unwrap();
                let variable = Cost::open_variable(&case.program, copies, e).unwrap();
                assert_eq!(opening, [all - variable, variable], "{what}");
                assert_eq!(opening_again, [all - variable - cost.publish, variable], "{what}");
                // O(t (n1 + n2 + m)), with the paper's constant or less.
                let paper = (copies.total() * (8 * n1 + 4 * n2 + 2 * m + 12) + 2 * n2 + 2 * m) as u64;
                assert!(cost.respond <= paper && all <= paper + 4 * (n1 + copies.total()) as u64, "{what}");
            }
        }
    }
}
