//! The engine of all that is shared bit by bit: layer after layer.

use core::ops::Range;

use comity_circuit::{Call, Engine, Program, Put, Shown};
use comity_core::{Bits, Error, Result, TapeGate};

use crate::rows::WireRows;

/// A way to share bits, and to compute on shared bits. It borrows its links and whatever outlives a program,
/// and each program gets a new one.
pub trait Sharing {
    /// A party's shares of some wires.
    type Rows: WireRows;
    /// Whether values may come in as shares and go out as shares ([`Engine::SHARES`]).
    const SHARES: bool;

    /// Rows without room.
    fn rows(&self) -> Self::Rows;

    /// The number of calls that run side by side, of `times` calls of a circuit of `slots` slots: as many as
    /// fit this sharing's memory. It is the same at all parties.
    fn together(&self, slots: usize, times: u64) -> u64;

    /// Writes the constants zero and one into slots 0 and 1.
    fn constants(&self, rows: &mut Self::Rows);

    /// Does the XOR gates of a layer, in their order.
    fn xors(&self, rows: &mut Self::Rows, gates: &[TapeGate]);

    /// Does the AND gates of a layer, which do not depend on each other.
    ///
    /// # Errors
    /// Those of the protocol.
    fn ands(&mut self, rows: &mut Self::Rows, gates: &[TapeGate]) -> Result<()>;

    /// Puts in a value. It is there at its owner alone.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a value is missing, has another length, or is another party's;
    /// those of the protocol.
    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut Self::Rows) -> Result<()>;

    /// Puts in random bits that nobody knows.
    ///
    /// # Errors
    /// Those of the protocol.
    fn random(&mut self, to: &mut Self::Rows, wires: Range<usize>) -> Result<()>;

    /// Reveals a value, after whatever checks the protocol has.
    ///
    /// # Errors
    /// Those of the protocol.
    fn reveal(&mut self, shown: Shown, from: &Self::Rows) -> Result<Option<Bits>>;

    /// Does a call in a cheaper way than by its gates, if there is one, and returns whether it did.
    ///
    /// # Errors
    /// Those of the protocol.
    fn look_up(&mut self, call: &Call<'_>, memory: &mut Self::Rows) -> Result<bool> {
        let _ = (call, memory);
        Ok(false)
    }
}

/// The calls of a turn, if `times` calls are split into the fewest equal turns of at most `most` calls.
pub fn evenly(times: u64, most: u64) -> u64 {
    times.div_ceil(times.div_ceil(most).max(1))
}

/// Runs programs on a sharing.
pub struct SharedEngine<S: Sharing> {
    sharing: S,
    /// The wires of the program.
    memory: S::Rows,
    /// The slots of the calls under way.
    slots: S::Rows,
}

impl<S: Sharing> SharedEngine<S> {
    /// An engine over this sharing.
    pub fn new(sharing: S) -> SharedEngine<S> {
        let (memory, slots) = (sharing.rows(), sharing.rows());
        SharedEngine { sharing, memory, slots }
    }

    /// The sharing, and the wires of the program that runs on it.
    pub fn parts(&mut self) -> (&mut S, &mut S::Rows) {
        (&mut self.sharing, &mut self.memory)
    }

    /// The sharing, at the end of a program.
    pub fn into_sharing(self) -> S {
        self.sharing
    }
}

/// Does calls over a memory, in the layered lowering; `slots` are for their wires. As many run side by side as
/// the sharing says.
///
/// # Errors
/// Those of the sharing, and [`NoMemory`](comity_circuit::NoMemory).
pub fn run_calls<S: Sharing>(
    sharing: &mut S,
    call: &Call<'_>,
    memory: &mut S::Rows,
    slots: &mut S::Rows,
) -> Result<()> {
    let together = sharing.together(call.circuit.layered().slots(), call.times);
    let mut done = 0;
    while done < call.times {
        let copies = together.min(call.times - done);
        side_by_side(sharing, call, (done, copies as usize), memory, slots)?;
        done += copies;
    }
    Ok(())
}

/// The calls from `first` on, `copies` of them, side by side.
fn side_by_side<S: Sharing>(
    sharing: &mut S,
    call: &Call<'_>,
    (first, copies): (u64, usize),
    memory: &mut S::Rows,
    slots: &mut S::Rows,
) -> Result<()> {
    let layered = call.circuit.layered();
    slots.shape(layered.slots(), copies)?;
    sharing.constants(slots);
    let mut slot = 2;
    for (&width, &from) in call.circuit.input_widths().iter().zip(call.args) {
        slots.load_value(slot..slot + width, memory, from, first);
        slot += width;
    }
    let mut rest = layered.gates();
    for layer in layered.layers() {
        let (ands, xors);
        (ands, rest) = rest.split_at(layer.ands);
        (xors, rest) = rest.split_at(layer.xors);
        sharing.ands(slots, ands)?;
        sharing.xors(slots, xors);
    }
    let mut outputs = layered.outputs();
    for (&width, &to) in call.circuit.output_widths().iter().zip(call.outs) {
        let value;
        (value, outputs) = outputs.split_at(width);
        slots.store_value(value, memory, to, first);
    }
    Ok(())
}

impl<S: Sharing> Engine for SharedEngine<S> {
    type Error = Error;
    const SHARES: bool = S::SHARES;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = self.sharing.rows();
        Ok(self.memory.shape(usize::try_from(program.wires()).unwrap_or(usize::MAX), 1)?)
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        self.sharing.input(put, value, &mut self.memory)
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        if self.sharing.look_up(call, &mut self.memory)? {
            return Ok(());
        }
        run_calls(&mut self.sharing, call, &mut self.memory, &mut self.slots)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.sharing.reveal(shown, &self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn turns_are_as_few_and_as_even_as_can_be() {
        assert_eq!([evenly(1, 5), evenly(5, 5), evenly(6, 5), evenly(700, 256)], [1, 5, 3, 234]);
        assert_eq!([evenly(7, 1), evenly(0, 3)], [1, 0]);
    }
}
