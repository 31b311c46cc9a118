//! The encoding of the notes of a circuit.
//!
//! ```text
//! notes = count:u32 note*
//! note  = op goal:u8 pin:u8 line:u32 at:u32 word* out:u32*      the operation's words; line is 0 in a digest
//! op    = code:u8, and behind it for some:
//!         lookup delta:u8 sigma:u32 byte*                     2^delta rows of sigma bits
//!         dot n:u32 | mat_mul m:u32 n:u32 p:u32 | mul_shift fraction:u32
//! word  = bits:u32 bit*
//! bit   = wire:u32 | 2^31 + gone:u32 | 2^30 + note:u32 bit:u32  a wire, a bit gone, an earlier note's result
//! out   = wire:u32 | 2^32 - 1                                 a wire, or none
//! ```

use std::io::{self, Write};

use super::{DecodeError, Decoded, Decoder, Encoder};
use crate::circuit::Circuit;
use crate::goal::Goal;
use crate::note::{ArgBit, Form, Note, NoteError, NoteFlaw, WordOp};
use crate::table::LookupTable;

/// The mark of a bit that is gone.
const GONE: u32 = 1 << 31;
/// The mark of a bit that is a result of an earlier note.
const RESULT: u32 = 1 << 30;
/// The result bit that no longer is there.
const NONE: u32 = u32::MAX;
const _: () = assert!(Circuit::MAX_WIRES <= RESULT as usize);

/// The operations without numbers of their own, by their codes.
const PLAIN: &[WordOp] = &[
    WordOp::Add,
    WordOp::Sub,
    WordOp::Neg,
    WordOp::Mul,
    WordOp::MulWide,
    WordOp::Square,
    WordOp::Div { signed: false },
    WordOp::Div { signed: true },
    WordOp::Rem { signed: false },
    WordOp::Rem { signed: true },
    WordOp::DivRem { signed: false },
    WordOp::DivRem { signed: true },
    WordOp::Less { signed: false, or_equal: false },
    WordOp::Less { signed: false, or_equal: true },
    WordOp::Less { signed: true, or_equal: false },
    WordOp::Less { signed: true, or_equal: true },
    WordOp::Equal,
    WordOp::Select,
    WordOp::Shl,
    WordOp::Shr,
    WordOp::ShrSigned,
    WordOp::Rotl,
    WordOp::And,
    WordOp::Or,
    WordOp::Xor,
    WordOp::Not,
];
const LOOKUP: u8 = 64;
const DOT: u8 = 65;
const MAT_MUL: u8 = 66;
const MUL_SHIFT: u8 = 67;

const PINS: [Option<Form>; 4] = [None, Some(Form::Arithmetic), Some(Form::Boolean), Some(Form::Yao)];

impl<W: Write> Encoder<W> {
    pub(super) fn notes(&mut self, notes: &[Note]) -> io::Result<()> {
        self.count(notes.len())?;
        notes.iter().try_for_each(|note| self.note(note))
    }

    fn note(&mut self, note: &Note) -> io::Result<()> {
        match &note.op {
            WordOp::Lookup(table) => {
                self.u8(LOOKUP)?;
                self.u8(table.delta() as u8)?;
                self.count(table.sigma())?;
                self.to.write_all(table.bytes())?;
            }
            WordOp::Dot { n } => {
                self.u8(DOT)?;
                self.u32(*n)?;
            }
            WordOp::MatMul { m, n, p } => {
                self.u8(MAT_MUL)?;
                [m, n, p].into_iter().try_for_each(|number| self.u32(*number))?;
            }
            WordOp::MulShift { fraction } => {
                self.u8(MUL_SHIFT)?;
                self.u32(*fraction)?;
            }
            op => self.u8(PLAIN.iter().position(|plain| plain == op).expect("every operation has a code") as u8)?,
        }
        self.u8(u8::from(note.goal == Goal::Depth))?;
        self.u8(PINS.iter().position(|pin| *pin == note.pin).expect("every pin has a code") as u8)?;
        self.u32(if self.names { note.line } else { 0 })?;
        self.u32(note.at)?;
        let mut bytes = Vec::with_capacity(note.bytes());
        for word in &note.args {
            bytes.extend((word.len() as u32).to_le_bytes());
            for bit in word {
                match *bit {
                    ArgBit::Wire(wire) => bytes.extend(wire.to_le_bytes()),
                    ArgBit::Gone(bit) => bytes.extend((GONE + bit).to_le_bytes()),
                    ArgBit::Result { note, bit } => {
                        bytes.extend((RESULT + note).to_le_bytes());
                        bytes.extend(bit.to_le_bytes());
                    }
                }
            }
        }
        note.outs.iter().for_each(|out| bytes.extend(out.unwrap_or(NONE).to_le_bytes()));
        self.to.write_all(&bytes)
    }
}

impl Decoder<'_> {
    pub(super) fn note(&mut self, circuit: usize, index: usize) -> Decoded<Note> {
        let op = self.operation(circuit, index)?;
        let goal = match self.u8()? {
            0 => Goal::Size,
            1 => Goal::Depth,
            _ => return Err(DecodeError::Tag(self.at - 1)),
        };
        let pin = *PINS.get(usize::from(self.u8()?)).ok_or(DecodeError::Tag(self.at - 1))?;
        let (line, at) = (self.u32()?, self.u32()?);
        let args = self.items(op.arity() as u64, |from, _| {
            let bits = from.u32()?;
            from.items(bits.into(), |from, _| from.arg_bit())
        })?;
        let widths: Vec<usize> = args.iter().map(Vec::len).collect();
        let shape = NoteError { note: index, op: op.name(), flaw: NoteFlaw::Shape };
        let results = op.results(&widths).ok_or(DecodeError::Note(circuit, shape))?;
        let outs = self.items(results.iter().sum::<usize>() as u64, |from, _| {
            Ok(match from.u32()? {
                NONE => None,
                wire => Some(wire),
            })
        })?;
        Ok(Note { op, goal, pin, line, at, args, outs })
    }

    fn arg_bit(&mut self) -> Decoded<ArgBit> {
        Ok(match self.u32()? {
            bit if bit >= GONE => ArgBit::Gone(bit - GONE),
            note if note >= RESULT => ArgBit::Result { note: note - RESULT, bit: self.u32()? },
            wire => ArgBit::Wire(wire),
        })
    }

    fn operation(&mut self, circuit: usize, note: usize) -> Decoded<WordOp> {
        Ok(match self.u8()? {
            LOOKUP => {
                let (delta, sigma) = (self.u8()?, self.u32()?);
                let none = DecodeError::Table { circuit, note, delta, sigma };
                if usize::from(delta) > LookupTable::MAX_DELTA || sigma as usize > LookupTable::MAX_SIGMA {
                    return Err(none);
                }
                let bytes = self.take((sigma as usize).div_ceil(8) << delta)?.to_vec();
                WordOp::Lookup(LookupTable::new(delta.into(), sigma as usize, bytes).ok_or(none)?)
            }
            DOT => WordOp::Dot { n: self.u32()? },
            MAT_MUL => WordOp::MatMul { m: self.u32()?, n: self.u32()?, p: self.u32()? },
            MUL_SHIFT => WordOp::MulShift { fraction: self.u32()? },
            code => PLAIN.get(usize::from(code)).cloned().ok_or(DecodeError::Operation(circuit, note, code))?,
        })
    }
}
