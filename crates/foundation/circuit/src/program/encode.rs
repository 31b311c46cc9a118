//! The canonical encoding of a program, and its digest.
//!
//! Numbers are little endian and of fixed width, so that equal programs have equal bytes and different ones different
//! bytes:
//!
//! ```text
//! program  = "comity program" version:u32 name goal wires:u64 circuits steps
//! goal     = 0 | 1                                                                    size, depth
//! circuits = count:u32 circuit*
//! circuit  = meaning groups groups gates:u64 (op:u8 a:u32 b:u32)* wire:u32*            inputs, outputs; a wire per output bit
//! meaning  = 0 | 1 delta:u8 sigma:u32 byte*                                            none, or a table of 2^delta rows of sigma bits
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
//! Version 1 had one party or all for recipients, one party for an owner, and neither goals nor meanings.
//!
//! A decoder reads hostile bytes: it never allocates more than a small multiple of what it was given.

use std::io::{self, Write};

use comity_core::PartyId;

use super::{Program, ProgramError, Span, Step, check};
use crate::circuit::{Circuit, CircuitError, Gate, Group, Op};
use crate::goal::Goal;
use crate::lower;
use crate::meaning::{LookupTable, Meaning};
use crate::party::{Owner, PartySet, Recipients};

const MAGIC: &[u8] = b"comity program";
const VERSION: u32 = 2;

/// The reason why bytes are no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes do not begin as a program does.
    #[error("not an encoded program")]
    Magic,
    /// A version that this build does not know.
    #[error("a program in encoding version {0}; this build reads version {VERSION}: make it again from its source")]
    Version(u32),
    /// The bytes end too early for what they announce.
    #[error("the program is cut off at byte {0}")]
    Truncated(usize),
    /// Bytes follow after the program.
    #[error("{0} bytes follow after the program")]
    Trailing(usize),
    /// A tag that is none.
    #[error("an unknown tag at byte {0}")]
    Tag(usize),
    /// A circuit with a meaning that this build does not know.
    #[error("circuit {0} has meaning {1}, which this version does not know")]
    Meaning(usize, u8),
    /// A circuit with a table that is none.
    #[error("circuit {0} has a table of 2^{1} rows of {2} bits; indices have 1 to {max_delta} bits, rows 1 to {max_sigma} and no bits behind them", max_delta = LookupTable::MAX_DELTA, max_sigma = LookupTable::MAX_SIGMA)]
    Table(usize, u8, u32),
    /// A name that is not UTF-8.
    #[error("a name that is not UTF-8 at byte {0}")]
    Name(usize),
    /// Loops inside each other, more than [`Program::MAX_NESTING`].
    #[error("more than {max} loops inside each other at byte {0}", max = Program::MAX_NESTING)]
    TooDeep(usize),
    /// Strides that move nothing: another encoding of the same program.
    #[error("the program is not in canonical form")]
    NotCanonical,
    /// One of the circuits is none.
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

    /// Reads what [`Program::encode`] wrote, from bytes that may be hostile.
    ///
    /// # Errors
    /// [`DecodeError`] for everything else: decoding and encoding again gives the same bytes.
    pub fn decode(bytes: &[u8]) -> Result<Program, DecodeError> {
        let mut from = Decoder { bytes, at: 0 };
        let program = from.program()?;
        match bytes.len() - from.at {
            0 => Ok(program),
            rest => Err(DecodeError::Trailing(rest)),
        }
    }

    /// The digest that says what is computed: over the program without names, the circuits, owners, recipients and
    /// the version of the lowering. Parties compare it before they run.
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
        for (circuit, meaning) in program.circuits.iter().zip(&program.meanings) {
            self.meaning(meaning.as_ref())?;
            self.circuit(circuit)?;
        }
        self.steps(&program.steps)
    }

    fn meaning(&mut self, meaning: Option<&Meaning>) -> io::Result<()> {
        match meaning {
            None => self.u8(0),
            Some(Meaning::Table(table)) => {
                self.u8(1)?;
                self.u8(table.delta() as u8)?;
                self.count(table.sigma())?;
                self.to.write_all(table.bytes())
            }
        }
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
        circuit.output_wires().iter().try_for_each(|&wire| self.u32(wire))
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
        let mut meanings = Vec::new();
        let circuits = self.list(|from, i| {
            meanings.extend(from.meaning(i)?.map(|meaning| (i, meaning)));
            from.circuit(i)
        })?;
        let mut steps = self.steps(0)?;
        if check::normalize(&mut steps) {
            return Err(DecodeError::NotCanonical);
        }
        let program = Program::new(name, wires, circuits, steps)?.with_goal(goal);
        // A meaning is checked, never believed.
        Ok(meanings
            .into_iter()
            .try_fold(program, |program, (circuit, meaning)| program.with_meaning(circuit, meaning))?)
    }

    fn meaning(&mut self, index: usize) -> Decoded<Option<Meaning>> {
        match self.u8()? {
            0 => Ok(None),
            1 => {
                let (delta, sigma) = (self.u8()?, self.u32()?);
                let none = DecodeError::Table(index, delta, sigma);
                if usize::from(delta) > LookupTable::MAX_DELTA || sigma as usize > LookupTable::MAX_SIGMA {
                    return Err(none);
                }
                let bytes = self.take((sigma as usize).div_ceil(8) << delta)?.to_vec();
                LookupTable::new(delta.into(), sigma as usize, bytes)
                    .map(|table| Some(Meaning::Table(table)))
                    .ok_or(none)
            }
            meaning => Err(DecodeError::Meaning(index, meaning)),
        }
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
        Circuit::new(inputs, outputs, gates, wires).map_err(|why| DecodeError::Circuit(index, why))
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
