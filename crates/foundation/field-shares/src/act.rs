//! `FieldAct`: what a party is about to do with elements of the field. An honest party does it.

use comity_protocol::Conduct;
use comity_share::joint::JointAct;

/// An act: values that the next step goes on with.
pub enum FieldAct<'a, F> {
    /// Values of a step, before anything is made of them.
    Holds {
        /// What they are.
        what: &'static str,
        /// The values.
        values: &'a mut [F],
    },
}

/// How a party of these protocols behaves: with its bits and its messages, and with its values.
pub trait FieldConduct<F: 'static>: for<'a> Conduct<JointAct<'a>> + for<'a> Conduct<FieldAct<'a, F>> {}

impl<F: 'static, C: for<'a> Conduct<JointAct<'a>> + for<'a> Conduct<FieldAct<'a, F>>> FieldConduct<F> for C {}
