//! The masks that a program takes, counted before any is made: a dealer is asked for these, and a lot must hold them.

use comity_circuit::{Call, Engine, NoMemory, Observer, Program, Put, Shown};
use comity_core::{Bits, Cursor, PartyId, Tape};

use crate::bit_string::MASKING;
use crate::chunk::{Fill, room};

/// What is expected to be asked for, the same at all parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Bits that nobody knows.
    pub shares: u64,
    /// Bits of the party that has most of its own.
    pub own: u64,
    /// Products.
    pub ands: u64,
}

impl Planned {
    /// What a program takes of [`TripleMasks`](crate::TripleMasks): a mask of each AND gate's output and one
    /// behind each bit of an output, one of its owner for each bit of an input, and a product for each AND
    /// gate.
    pub fn of(program: &Program) -> Planned {
        let bits = program.outputs().iter().map(|output| output.bits as u64).sum();
        let ands = program.and_gates();
        let own = |party: u16| {
            let of = program.inputs().iter().filter(move |input| input.owner.includes(PartyId(party)));
            of.map(|input| input.bits as u64).sum()
        };
        let own = (0..program.parties()).map(own).max().unwrap_or(0);
        Planned { shares: ands.saturating_add(bits), own, ands }
    }

    /// The material that a program takes among `parties` parties below [`StringMasks`](crate::StringMasks),
    /// including masking bits for each chunk.
    pub fn below_strings(program: &Program, parties: u16) -> Planned {
        Planned::of_chunks(program, room(program, parties.into()))
    }

    /// The same, of chunks of this room.
    pub(crate) fn of_chunks(program: &Program, room: usize) -> Planned {
        let Planned { shares, own, ands } = Planned::of(program);
        let masking = chunks(program, room).saturating_mul(MASKING as u64);
        Planned { shares: shares.saturating_add(masking), own, ands }
    }
}

/// The number of chunks of this room in which something is garbled.
fn chunks(program: &Program, room: usize) -> u64 {
    let mut cuts = cuts(program, room);
    cuts.cut();
    cuts.chunks
}

/// XOR gates of a program that have rows where such gates do.
pub(crate) fn garbled_xors(program: &Program) -> u64 {
    cuts(program, usize::MAX).xors
}

fn cuts(program: &Program, room: usize) -> Cuts {
    let mut cuts = Cuts { room, fill: Fill::default(), chunks: 0, xors: 0 };
    let none = vec![None; program.inputs().len()];
    comity_circuit::run(program, &mut cuts, &none, &mut Nobody).expect("what holds no wire takes any program");
    cuts
}

/// Cuts a program as the walk does that garbles it.
struct Cuts {
    room: usize,
    fill: Fill,
    chunks: u64,
    /// XOR gates, but for those with a constant.
    xors: u64,
}

impl Cuts {
    fn cut(&mut self) {
        let Fill { ands, output_bits, .. } = core::mem::take(&mut self.fill);
        self.chunks += u64::from(ands + output_bits > 0);
    }

    fn cut_if_full(&mut self) {
        if self.fill.full(self.room) {
            self.cut();
        }
    }
}

impl Engine for Cuts {
    type Error = NoMemory;
    const SHARES: bool = true;

    /// There is nothing for a wire.
    fn begin(&mut self, _: &Program) -> Result<(), NoMemory> {
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<(), NoMemory> {
        self.fill.steps += 1;
        self.fill.input_bits += put.bits;
        self.cut_if_full();
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<(), NoMemory> {
        let (tape, mut cursor) = (call.circuit.tape(), Cursor::default());
        let mut xors = 0;
        let parts = core::iter::from_fn(|| cursor.advance(tape, Tape::MAX_ANDS)).map(|part| {
            xors += crate::chunk::garbled_xors(&part) as u64;
            part.ands()
        });
        let parts: Vec<usize> = parts.collect();
        self.xors = self.xors.saturating_add(xors.saturating_mul(call.times));
        for _ in 0..call.times {
            self.fill.steps += 1;
            for ands in &parts {
                self.fill.steps += 1;
                self.fill.ands += ands;
                self.cut_if_full();
            }
            self.fill.steps += 1;
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>, NoMemory> {
        self.fill.steps += 1;
        self.fill.output_bits += shown.bits;
        self.cut_if_full();
        Ok(None)
    }
}

/// Hears nothing.
struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}
