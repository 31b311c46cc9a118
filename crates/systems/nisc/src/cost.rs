//! `Cost`: what a query and its answers take, counted exactly.

use comity_circuit::Program;
use comity_core::Result;

use crate::files::{CHECKSUM, Header};
use crate::inputs;
use crate::outputs::decoding_rows;
use crate::plan::{Form, Plan};
use crate::query::{QUERY_BYTES, Query};
use crate::{Copies, respond};

/// Bytes and group multiplications, for `t` copies of which `e` are evaluated, `n1` and `n2` input bits and `m` output bits.
///
/// A product counts once, whatever the base; one that is only needed once, and does not grow with `t`, the bits or their
/// product, does not count (tables of multiples, for instance, take as long as three or six each).
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
}

impl Cost {
    /// The cost of a program.
    ///
    /// # Errors
    /// As [`publish`](crate::publish).
    pub fn new(program: &Program, copies: Copies) -> Result<Cost> {
        let plan = Plan::new(program, copies)?;
        let [n1, n2] = plan.inputs.map(|bits| bits as u64);
        let (t, m) = (plan.t() as u64, plan.outputs as u64);
        Ok(Cost {
            query_bytes: Query::FIXED as u64 + QUERY_BYTES as u64 * (n1 + t),
            answer_bytes: plan.answer_bytes(),
            copy_bytes: if copies.is_stored() { plan.copy_bytes() } else { 0 },
            publish: 4 * (n1 + t),
            respond: t * (4 * n1 + 4 * n2 + 2 * m) + 12 * t + 2 * n2 + 2 * m,
        })
    }

    /// Products in [`open`](crate::open()) with `e` copies evaluated, `c = t - e` checked: `4 c n1 + e n1` for the receiver's input,
    /// `4 c n2 + 2 e n2` for the sender's, `2 t m` for the outputs; and less, `4 (n1 + t)` for the query, `13 t`, and `2 n2 + 3 m`.
    ///
    /// # Errors
    /// As [`publish`](crate::publish).
    pub fn open(program: &Program, copies: Copies, evaluated: usize) -> Result<u64> {
        let plan = Plan::new(program, copies)?;
        let [n1, n2] = plan.inputs.map(|bits| bits as u64);
        let (t, m, e) = (plan.t() as u64, plan.outputs as u64, evaluated as u64);
        let c = t - e;
        Ok(4 * c * (n1 + n2) + e * (n1 + 2 * n2) + 2 * t * m + 4 * (n1 + t) + 4 * c + t + 2 * n2 + 3 * m)
    }
}

impl Plan {
    /// Bytes of an answer.
    pub(crate) fn answer_bytes(&self) -> u64 {
        let (t, n2, m) = (self.t() as u64, self.inputs[1] as u64, self.outputs as u64);
        let fixed = (Header::BYTES + respond::BINDING + CHECKSUM) as u64;
        let fresh = 32 + 64 * n2 + 64 * m + 96 * t + t * (32 * n2 + 64 * m);
        let digests = if self.copies.form() == Form::All { 0 } else { 32 * t };
        let travelling = self.copies.travelling() as u64;
        self.copy_bytes().saturating_mul(travelling).saturating_add(fixed + fresh + digests)
    }

    /// Bytes of a copy: what is from its seed.
    pub(crate) fn copy_bytes(&self) -> u64 {
        let [n1, n2] = self.inputs.map(|bits| bits as u64);
        let rows = 4 + 2 * n1 + inputs::ROWS as u64 * n2 + decoding_rows(self.outputs) as u64 + 2;
        self.ands.saturating_mul(2).saturating_add(rows).saturating_mul(16)
    }
}
