//! `Act`: what a party is about to do with what it made. An honest party does it; the tests have parties that
//! are honest but for one lie, and a lie is another [`Conduct`](comity_protocol::Conduct).

use comity_core::Block;

/// An act: something that is about to be used or sent. An honest party does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum Act<'a> {
    /// The bits of all `d` of a chunk, then those of all `e`, as they are shown.
    Opened(&'a mut [u8]),
    /// The masked bits of an input of this party.
    MaskedInput(&'a mut [u8]),
    /// The garbler: active labels of an input.
    Labels(&'a mut [Block]),
    /// The garbler: rows of some AND gates, and bit 0 of their outputs' labels.
    Tables { rows: &'a mut [Block], flips: &'a mut [u8] },
    /// The evaluator: the masked values of a chunk's AND gates, which it sends and goes on with.
    Masked(&'a mut [u8]),
    /// The garbler: the masked values of a chunk's AND gates, as it received them.
    Told(&'a mut [u8]),
    /// For each checked share the garbler's MAC and the evaluator's.
    Checked(&'a mut [[Block; 2]]),
    /// The digest that is compared in the circuit check.
    Digest(&'a mut [u8; 32]),
    /// The shares of an output's masks, as they are shown.
    Output(&'a mut [u8]),
}
