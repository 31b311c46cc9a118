//! The inputs of both parties as one string of bits each, in which their labels are counted.

use comity_circuit::{Input, Owner, Program};
use comity_core::{Bits, PartyId, Result};

/// The role of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarblingParty {
    /// The party that garbles.
    Garbler,
    /// The party that evaluates.
    Evaluator,
}

impl GarblingParty {
    /// The party that an input value is of.
    pub fn of(owner: Owner, garbler: PartyId) -> GarblingParty {
        if owner.includes(garbler) { GarblingParty::Garbler } else { GarblingParty::Evaluator }
    }
}

/// The bits of one party's inputs, one value after another.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if these are not exactly the values that the party gives.
pub fn joined(program: &Program, party: PartyId, inputs: &[Option<Bits>]) -> Result<Bits> {
    program.check_inputs(Some(party), inputs)?;
    let mut all = Bits::zeros(0);
    inputs.iter().flatten().for_each(|value| all.extend_from(value));
    Ok(all)
}

/// The input values of both parties from their bits: `x` is the garbler's, `y` the evaluator's.
pub fn separated(program: &Program, garbler: PartyId, x: &Bits, y: &Bits) -> Vec<Option<Bits>> {
    let mut next = [0; 2];
    let take = |input: &Input| {
        let party = GarblingParty::of(input.owner, garbler);
        let at = &mut next[party as usize];
        let value = [x, y][party as usize].slice(*at, input.bits);
        *at += input.bits;
        Some(value)
    };
    program.inputs().iter().map(take).collect()
}
