//! What a party keeps of a garbled program until it is run. Lengths follow from the program, and nothing else
//! is written. Where XOR gates have rows, what is kept of these is this party's share.

use std::io::{Read, Write};

use comity_circuit::Program;
use comity_core::{Bits, Block, Error, PartyId, Result, SessionId};
use comity_protocol::{BatchForm, Here};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::chunk::Chunk;
use crate::garbler::Masked;
use crate::hash::{OUTPUT_ROWS, ROWS};

/// The form of what is kept. Before it there was one without a name, of which masks of outputs were known too
/// early.
const FORM: BatchForm = BatchForm { magic: b"comity garbled 2", name: "what was garbled" };

/// The beginning where XOR gates have rows: shares, which the run opens.
const SHARES: &[u8; BatchForm::BEGINNING] = b"comity garbled s";

/// What opens it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Head {
    /// The session in which it was garbled.
    #[zeroize(skip)]
    pub(crate) session: SessionId,
    /// The program's digest.
    #[zeroize(skip)]
    program: [u8; 32],
    #[zeroize(skip)]
    me: PartyId,
    #[zeroize(skip)]
    parties: u16,
    /// This party's offset, if wires have it in common.
    pub(crate) offset: Option<Block>,
}

impl Head {
    pub(crate) fn new(here: Here, program: &Program, offset: Option<Block>) -> Head {
        Head { session: here.session, program: program.digest(), me: here.me, parties: here.parties, offset }
    }

    pub(crate) fn write(&self, to: &mut dyn Write) -> Result<()> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(Head::BYTES));
        bytes.extend(if self.offset.is_some() { FORM.magic } else { SHARES });
        bytes.extend(self.session.to_bytes());
        bytes.extend(self.program);
        bytes.extend(self.me.0.to_le_bytes());
        bytes.extend(self.parties.to_le_bytes());
        bytes.extend(self.offset.unwrap_or_default().to_bytes());
        FORM.put(to, &bytes)
    }

    const BYTES: usize = 16 + 32 + 32 + 2 + 2 + 16;

    /// Reads it.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if it is not for this program, this party and this number of parties.
    pub(crate) fn read(from: &mut dyn Read, here: Here, program: &Program) -> Result<Head> {
        let beginning = FORM.beginning(from)?;
        if ![FORM.magic, SHARES].contains(&&beginning) {
            return Err(Error::store(
                "what is stored was garbled by an earlier version, whose last party to speak could choose its input by those of others: remove its lot \
                 (`comity store remove`) and prepare the program anew",
            ));
        }
        let mut bytes = Zeroizing::new([0; Head::BYTES - BatchForm::BEGINNING]);
        FORM.take(from, &mut *bytes)?;
        let [session, digest] = [0, 32].map(|at| <[u8; 32]>::try_from(&bytes[at..at + 32]).expect("32 bytes"));
        let [me, parties] = [64, 66].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let offset = Block::new(bytes[68..].try_into().expect("16 bytes"));
        let offset = (beginning == *FORM.magic).then_some(offset);
        let head = Head { session: SessionId::new(session), program: digest, me: PartyId(me), parties, offset };
        if head.program != program.digest() {
            return Err(Error::store(
                "the stored tables are of another program: prepare this one (`comity prepare PROGRAM`)",
            ));
        }
        if (head.me, head.parties) != (here.me, here.parties) {
            return Err(Error::store(format!(
                "what is stored was garbled as party {me} of {parties}, and this is party {} of {}",
                here.me, here.parties
            )));
        }
        Ok(head)
    }
}

/// The most bytes that one of `parties` parties stores for a program; `xors` is the number of its XOR gates
/// that have rows, where such gates have rows.
pub(crate) fn stored_size(program: &Program, parties: u16, xors: Option<u64>) -> u64 {
    let keys = if xors.is_some() { 2 } else { 1 };
    let bits = |bits: u64| bits * keys * Block::BYTES as u64 + bits.div_ceil(8);
    let inputs: u64 = program.inputs().iter().map(|input| input.bits as u64).sum();
    let outputs: u64 = program.outputs().iter().map(|output| output.bits as u64).sum();
    let gate = |rows: usize| (rows as u64 * u64::from(parties) + keys) * Block::BYTES as u64;
    let values = (program.inputs().len() + program.outputs().len()) as u64;
    let gates = program
        .and_gates()
        .saturating_add(xors.unwrap_or(0))
        .saturating_mul(gate(ROWS))
        .saturating_add(outputs * gate(OUTPUT_ROWS));
    gates.saturating_add(Head::BYTES as u64 + bits(inputs) + outputs / 8 + values)
}

/// Writes a chunk.
///
/// # Errors
/// Those of writing.
pub(crate) fn write_chunk(to: &mut dyn Write, masked: &Masked, rows: &[Block]) -> Result<()> {
    for mask in masked.inputs.iter().chain(&masked.outputs).flatten() {
        FORM.put_bits(to, mask)?;
    }
    let Masked { input_keys, gate_keys, xor_keys, output_keys, .. } = masked;
    for blocks in [&input_keys[..], &gate_keys[..], &xor_keys[..], &output_keys[..], rows] {
        FORM.put_blocks(to, blocks)?;
    }
    Ok(())
}

/// Reads a chunk, and the rows of its gates, or this party's shares of them. Of a wire the party has `keys`
/// keys.
///
/// # Errors
/// Those of reading.
pub(crate) fn read_chunk(
    from: &mut dyn Read,
    chunk: &Chunk<'_>,
    here: Here,
    keys: usize,
) -> Result<(Masked, Vec<Block>)> {
    let mut mask =
        |own: bool, bits: usize| -> Result<Option<Bits>> { own.then(|| FORM.take_bits(from, bits)).transpose() };
    let inputs = chunk.inputs.iter().map(|input| mask(input.owner == here.me, input.bits)).collect::<Result<_>>()?;
    let outputs =
        chunk.outputs.iter().map(|output| mask(output.to.includes(here.me), output.bits)).collect::<Result<_>>()?;
    let mut blocks = |count: usize| -> Result<Vec<Block>> {
        let mut blocks = vec![Block::ZERO; count];
        FORM.take_blocks(from, &mut blocks)?;
        Ok(blocks)
    };
    let fill = &chunk.fill;
    let mut keys = |wires: usize| blocks(keys * wires).map(Zeroizing::new);
    let (input_keys, gate_keys) = (keys(fill.input_bits)?, keys(fill.ands)?);
    let (xor_keys, output_keys) = (keys(fill.xors)?, keys(fill.output_bits)?);
    let rows = blocks(chunk.rows(here.parties.into()))?;
    Ok((Masked { inputs, outputs, input_keys, gate_keys, xor_keys, output_keys }, rows))
}
