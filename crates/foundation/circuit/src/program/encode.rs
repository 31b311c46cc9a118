//! The canonical encoding of a program, and its digest.
//!
//! Numbers are little endian and of fixed width, so that equal programs have equal bytes and different ones different
//! bytes:
//!
//! ```text
//! program  = "comity program" version:u32 name goal wires:u64 circuits steps
//! goal     = 0 | 1                                                                    size, depth
//! circuits = count:u32 circuit*
//! circuit  = groups groups gates:u64 (op:u8 a:u32 b:u32)* wire:u32* notes    inputs, outputs; a wire per output bit
//! groups   = count:u32 (name bits:u64)*
//! steps    = count:u32 (1 name owner span
//!                     | 2 circuit:u32 times:u64 moves moves                          arguments, results
//!                     | 3 times:u64 steps
//!                     | 4 name recipients span)*
//! owner    = 0 party:u16 | 1                                                           one party, or each a share
//! recipients = 0 | 1 mask:u64 | 2                                                      all, some, or each a share
//! moves    = count:u32 (span stride:i64)*
//! span     = start:u64 bits:u64 count:u8 stride:i64*
//! name     = length:u32 utf8
//! ```
//!
//! [Notes](notes) are what is known of a circuit beside its gates. Version 1 had one party or all for
//! recipients, one party for an owner, and no goals; version 2 had a table for a circuit that is one, and no
//! notes.
//!
//! A decoder reads hostile bytes: it never allocates more than a small multiple of what it was given.

mod notes;

use std::io::{self, Write};

use comity_core::PartyId;

use super::{Program, ProgramError, Span, Step, check};
use crate::circuit::{Circuit, CircuitError, Gate, Group, Op};
use crate::goal::Goal;
use crate::lower;
use crate::note::{Gadgets, NoteError};
use crate::party::{Owner, PartySet, Recipients};
use crate::table::LookupTable;

const MAGIC: &[u8] = b"comity program";
const VERSION: u32 = 3;

/// The reason why bytes do not decode to a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes do not begin as a program does.
    #[error("not an encoded program")]
    Magic,
    /// A version that this build does not know.
    #[error("a program in encoding version {0}; this build reads version {VERSION}: make it again from its source")]
    Version(u32),
    /// The bytes end before everything that they announce.
    #[error("the program is cut off at byte {0}")]
    Truncated(usize),
    /// Bytes follow after the program.
    #[error("{0} bytes follow after the program")]
    Trailing(usize),
    /// A tag that this build does not know.
    #[error("an unknown tag at byte {0}")]
    Tag(usize),
    /// A note of an operation that this build does not know.
    #[error("circuit {0}, note {1} is of operation {2}, which this version does not know")]
    Operation(usize, usize, u8),
    /// A note whose table is not valid.
    #[error("circuit {circuit}, note {note} has a table of 2^{delta} rows of {sigma} bits; indices have 1 to {max_delta} bits, rows 1 to {max_sigma} and no bits behind them", max_delta = LookupTable::MAX_DELTA, max_sigma = LookupTable::MAX_SIGMA)]
    Table {
        /// The circuit's index.
        circuit: usize,
        /// The note's index.
        note: usize,
        /// The bits of an index.
        delta: u8,
        /// The bits of a row.
        sigma: u32,
    },
    /// A note that is not true, or not in the form in which it is written.
    #[error("circuit {0}: {1}")]
    Note(usize, NoteError),
    /// A name that is not UTF-8.
    #[error("a name that is not UTF-8 at byte {0}")]
    Name(usize),
    /// Loops inside each other, more than [`Program::MAX_NESTING`].
    #[error("more than {max} loops inside each other at byte {0}", max = Program::MAX_NESTING)]
    TooDeep(usize),
    /// Strides that move nothing: another encoding of the same program.
    #[error("the program is not in canonical form")]
    NotCanonical,
    /// A circuit, by its index, that is not valid.
    #[error("circuit {0}: {1}")]
    Circuit(usize, CircuitError),
    /// The parts do not make a program.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl Program {
    /// The program's canonical encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        Encoder { to: &mut bytes, names: true }.program(self).expect("writing to memory succeeds");
        bytes
    }

    /// Reads what [`Program::encode`] wrote, from bytes that may be hostile. The notes are checked against
    /// the gates that `gadgets` builds.
    ///
    /// # Errors
    /// [`DecodeError`] for everything else: decoding and encoding again gives the same bytes.
    pub fn decode(bytes: &[u8], gadgets: Gadgets) -> Result<Program, DecodeError> {
        let mut from = Decoder { bytes, at: 0, gadgets };
        let program = from.program()?;
        match bytes.len() - from.at {
            0 => Ok(program),
            rest => Err(DecodeError::Trailing(rest)),
        }
    }

    /// The digest of the computation: over the program without names and lines, the circuits and their notes,
    /// owners, recipients and the version of the lowering. Parties compare it before they run.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("comity 2026 program digest");
        hasher.update(&lower::VERSION.to_le_bytes());
        let mut buffered = io::BufWriter::with_capacity(1 << 16, &mut hasher);
        let encoded = Encoder { to: &mut buffered, names: false }.program(self);
        encoded.and_then(|()| buffered.flush()).expect("a hash takes all bytes");
        drop(buffered);
        hasher.finalize().into()
    }
}

struct Encoder<W> {
    to: W,
    names: bool,
}

impl<W: Write> Encoder<W> {
    fn program(&mut self, program: &Program) -> io::Result<()> {
        self.to.write_all(MAGIC)?;
        self.u32(VERSION)?;
        self.name(&program.name)?;
        self.u8(match program.goal {
            Goal::Size => 0,
            Goal::Depth => 1,
        })?;
        self.u64(program.wires)?;
        self.count(program.circuits.len())?;
        program.circuits.iter().try_for_each(|circuit| self.circuit(circuit))?;
        self.steps(&program.steps)
    }

    fn circuit(&mut self, circuit: &Circuit) -> io::Result<()> {
        for groups in [circuit.inputs(), circuit.outputs()] {
            self.count(groups.len())?;
            for group in groups {
                self.name(&group.name)?;
                self.u64(group.bits as u64)?;
            }
        }
        self.u64(circuit.gates().len() as u64)?;
        for gate in circuit.gates() {
            let mut bytes = [0; 9];
            bytes[0] = matches!(gate.op, Op::And).into();
            bytes[1..5].copy_from_slice(&gate.a.to_le_bytes());
            bytes[5..9].copy_from_slice(&gate.b.to_le_bytes());
            self.to.write_all(&bytes)?;
        }
        circuit.output_wires().iter().try_for_each(|&wire| self.u32(wire))?;
        self.notes(circuit.notes())
    }

    fn steps(&mut self, steps: &[Step]) -> io::Result<()> {
        self.count(steps.len())?;
        steps.iter().try_for_each(|step| match step {
            Step::Input { name, owner, to } => {
                self.u8(1)?;
                self.name(name)?;
                match owner {
                    Owner::Party(party) => {
                        self.u8(0)?;
                        self.to.write_all(&party.0.to_le_bytes())?;
                    }
                    Owner::Shared => self.u8(1)?,
                }
                self.span(to)
            }
            Step::Call { circuit, times, args, outs } => {
                self.u8(2)?;
                self.count(*circuit)?;
                self.u64(*times)?;
                for moves in [args, outs] {
                    self.count(moves.len())?;
                    for (span, stride) in moves {
                        self.span(span)?;
                        self.to.write_all(&stride.to_le_bytes())?;
                    }
                }
                Ok(())
            }
            Step::Repeat { times, body } => {
                self.u8(3)?;
                self.u64(*times)?;
                self.steps(body)
            }
            Step::Reveal { name, to, from } => {
                self.u8(4)?;
                self.name(name)?;
                match to {
                    Recipients::All => self.u8(0)?,
                    Recipients::Parties(parties) => {
                        self.u8(1)?;
                        self.u64(parties.mask())?;
                    }
                    Recipients::Shared => self.u8(2)?,
                }
                self.span(from)
            }
        })
    }

    fn span(&mut self, span: &Span) -> io::Result<()> {
        self.u64(span.start)?;
        self.u64(span.bits)?;
        self.u8(span.strides.len() as u8)?;
        span.strides.iter().try_for_each(|stride| self.to.write_all(&stride.to_le_bytes()))
    }

    fn name(&mut self, name: &str) -> io::Result<()> {
        let name = if self.names { name } else { "" };
        self.count(name.len())?;
        self.to.write_all(name.as_bytes())
    }

    fn count(&mut self, count: usize) -> io::Result<()> {
        self.u32(u32::try_from(count).expect("fewer than 2^32 of anything"))
    }

    fn u8(&mut self, number: u8) -> io::Result<()> {
        self.to.write_all(&[number])
    }

    fn u32(&mut self, number: u32) -> io::Result<()> {
        self.to.write_all(&number.to_le_bytes())
    }

    fn u64(&mut self, number: u64) -> io::Result<()> {
        self.to.write_all(&number.to_le_bytes())
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    gadgets: Gadgets,
}

type Decoded<T> = Result<T, DecodeError>;

impl<'a> Decoder<'a> {
    fn program(&mut self) -> Decoded<Program> {
        if self.take(MAGIC.len()) != Ok(MAGIC) {
            return Err(DecodeError::Magic);
        }
        match self.u32()? {
            VERSION => {}
            other => return Err(DecodeError::Version(other)),
        }
        let name = self.name()?;
        let goal = match self.u8()? {
            0 => Goal::Size,
            1 => Goal::Depth,
            _ => return Err(DecodeError::Tag(self.at - 1)),
        };
        let wires = self.u64()?;
        let circuits = self.list(Decoder::circuit)?;
        let mut steps = self.steps(0)?;
        if check::normalize(&mut steps) {
            return Err(DecodeError::NotCanonical);
        }
        Ok(Program::new(name, wires, circuits, steps)?.with_goal(goal))
    }

    fn circuit(&mut self, index: usize) -> Decoded<Circuit> {
        let inputs = self.groups()?;
        let outputs = self.groups()?;
        let count = self.u64()?;
        let gates = self.items(count, |from, _| {
            let op = match from.u8()? {
                0 => Op::Xor,
                1 => Op::And,
                _ => return Err(DecodeError::Tag(from.at - 1)),
            };
            Ok(Gate { op, a: from.u32()?, b: from.u32()? })
        })?;
        let bits = outputs.iter().fold(0u64, |sum, group: &Group| sum.saturating_add(group.bits as u64));
        let wires = self.items(bits, |from, _| from.u32())?;
        let notes = self.list(|from, note| from.note(index, note))?;
        let circuit = Circuit::new(inputs, outputs, gates, wires).map_err(|why| DecodeError::Circuit(index, why))?;
        // A note is checked, never believed.
        circuit.with_notes(notes, self.gadgets).map_err(|why| DecodeError::Note(index, why))
    }

    fn groups(&mut self) -> Decoded<Vec<Group>> {
        self.list(|from, _| {
            let name = from.name()?;
            // What does not fit is too large for a circuit, which says so.
            let bits = usize::try_from(from.u64()?).unwrap_or(usize::MAX);
            Ok(Group { name, bits })
        })
    }

    fn steps(&mut self, depth: usize) -> Decoded<Vec<Step>> {
        if depth > Program::MAX_NESTING {
            return Err(DecodeError::TooDeep(self.at));
        }
        self.list(|from, _| match from.u8()? {
            1 => Ok(Step::Input { name: from.name()?, owner: from.owner()?, to: from.span()? }),
            2 => {
                let (circuit, times) = (from.u32()? as usize, from.u64()?);
                Ok(Step::Call { circuit, times, args: from.moves()?, outs: from.moves()? })
            }
            3 => Ok(Step::Repeat { times: from.u64()?, body: from.steps(depth + 1)? }),
            4 => {
                let name = from.name()?;
                let to = match from.u8()? {
                    0 => Recipients::All,
                    1 => Recipients::Parties(PartySet::from_mask(from.u64()?)),
                    2 => Recipients::Shared,
                    _ => return Err(DecodeError::Tag(from.at - 1)),
                };
                Ok(Step::Reveal { name, to, from: from.span()? })
            }
            _ => Err(DecodeError::Tag(from.at - 1)),
        })
    }

    fn owner(&mut self) -> Decoded<Owner> {
        match self.u8()? {
            0 => Ok(Owner::Party(PartyId(u16::from_le_bytes(self.array()?)))),
            1 => Ok(Owner::Shared),
            _ => Err(DecodeError::Tag(self.at - 1)),
        }
    }

    fn moves(&mut self) -> Decoded<Vec<(Span, i64)>> {
        self.list(|from, _| Ok((from.span()?, from.i64()?)))
    }

    fn span(&mut self) -> Decoded<Span> {
        let (start, bits, count) = (self.u64()?, self.u64()?, self.u8()?);
        Ok(Span { start, bits, strides: self.items(count.into(), |from, _| from.i64())? })
    }

    fn name(&mut self) -> Decoded<String> {
        let count = self.u32()? as usize;
        let start = self.at;
        let text = std::str::from_utf8(self.take(count)?).map_err(|_| DecodeError::Name(start))?;
        Ok(text.to_owned())
    }

    /// A list after its count.
    fn list<T>(&mut self, item: impl FnMut(&mut Self, usize) -> Decoded<T>) -> Decoded<Vec<T>> {
        let count = self.u32()?;
        self.items(count.into(), item)
    }

    /// A list of `count` items. Room is made as they are read, and each takes a byte at least.
    fn items<T>(&mut self, count: u64, mut item: impl FnMut(&mut Self, usize) -> Decoded<T>) -> Decoded<Vec<T>> {
        let mut items = Vec::new();
        for i in 0..count {
            items.push(item(self, i as usize)?);
        }
        Ok(items)
    }

    fn take(&mut self, count: usize) -> Decoded<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..count).ok_or(DecodeError::Truncated(self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Decoded<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Decoded<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Decoded<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Decoded<i64> {
        self.array().map(i64::from_le_bytes)
    }
}
