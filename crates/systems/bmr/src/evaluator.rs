//! One party of those who evaluate a program: figure 9, chunk after chunk.

use comity_channel::{Echo, PerPeer};
use comity_circuit::{Memory, Program};
use comity_core::{Bits, Block, Error, PartyId, Result};
use comity_protocol::{Conduct, Here};

use crate::act::GarblingAct;
use crate::chunk::{Chunk, Step};
use crate::evaluating::Evaluating;
use crate::garbler::{Masked, cut};
use crate::hash::ROWS;

/// The evaluating side of a party.
pub(crate) struct Evaluator {
    me: PartyId,
    parties: u16,
    offset: Block,
    evaluating: Evaluating,
    /// The program's wires.
    memory: Memory<Block>,
}

/// Active keys of the inputs of a chunk, a key a party for each wire.
pub(crate) struct ActiveKeys(Vec<Block>);

impl Evaluator {
    /// A party that evaluates what was garbled in a session.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the program does not fit memory.
    pub(crate) fn new(garbled: Here, offset: Block, program: &Program) -> Result<Evaluator> {
        let Here { me, parties, session, backend, .. } = garbled;
        let n = usize::from(parties);
        let evaluating = Evaluating::new(backend, &session, me.0.into(), n, offset);
        Ok(Evaluator { me, parties, offset, evaluating, memory: Memory::rows(program, n)? })
    }

    /// The second item of figure 9: this party's keys of the public values, to each peer.
    ///
    /// An honest party whose peers told it other public values than they told others says one key of each
    /// wire none the less, never both: so that these may be compared when keys have left, as long as nothing
    /// is evaluated before.
    pub(crate) fn keys(
        &self,
        masked: &Masked,
        public: &Bits,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> (Vec<Block>, PerPeer<Vec<u8>>) {
        let active = |(zero, bit): (&Block, bool)| *zero ^ self.offset.masked(bit);
        let own: Vec<Block> = masked.input_keys.iter().zip(public.iter()).map(active).collect();
        let out = PerPeer::new(self.me, self.parties, |peer| {
            let mut said = Block::bytes_of(&own).to_vec();
            conduct.before(GarblingAct::Keys(peer, &mut said));
            said
        });
        (own, out)
    }

    /// The active keys of all, of which these are the own ones and those that were heard.
    pub(crate) fn active(&self, own: Vec<Block>, heard: &PerPeer<Vec<u8>>) -> ActiveKeys {
        let n = usize::from(self.parties);
        let mut keys = vec![Block::ZERO; own.len() * n];
        let mut put = |party: PartyId, from: &[Block]| {
            for (wire, key) in keys.chunks_exact_mut(n).zip(from) {
                wire[usize::from(party.0)] = *key;
            }
        };
        put(self.me, &own);
        let mut theirs = own;
        for (peer, bytes) in heard.iter() {
            Block::bytes_of_mut(&mut theirs).copy_from_slice(bytes);
            put(peer, &theirs);
        }
        ActiveKeys(keys)
    }

    /// The first item of figure 9: the public values of this party's inputs, bit after bit, and what it says
    /// of them to each peer.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if an own value is missing.
    pub(crate) fn own_inputs(
        &self,
        chunk: &Chunk<'_>,
        masked: &Masked,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<(Bits, PerPeer<Vec<u8>>)> {
        let mut own = Bits::default();
        for (input, mask) in chunk.inputs.iter().zip(&masked.inputs).filter(|(input, _)| input.owner == self.me) {
            let both = mask.clone().zip(input.value.as_ref()).filter(|(mask, value)| mask.len() == value.len());
            let missing = || Error::invalid_input("an input value is missing or has another length");
            let (mut public, value) = both.ok_or_else(missing)?;
            public.xor_assign(value);
            own.extend_from(&public);
        }
        let said = PerPeer::new(self.me, self.parties, |peer| {
            let mut said = own.to_bytes();
            conduct.before(GarblingAct::Public(peer, &mut said));
            said
        });
        Ok((own, said))
    }

    /// The public values of all inputs in the order of the chunk, from the own ones and what the others said.
    /// What all heard is noted.
    pub(crate) fn public_values(
        &self,
        chunk: &Chunk<'_>,
        own: &Bits,
        said: &PerPeer<Vec<u8>>,
        echo: &mut Echo,
    ) -> Bits {
        echo.hear("public values", &own.to_bytes(), said);
        let of = |party: PartyId| match party == self.me {
            true => own.clone(),
            false => Bits::from_bytes(&said[party], chunk.bits_of(party)),
        };
        let mut all: Vec<(Bits, usize)> = (0..self.parties).map(|party| (of(PartyId(party)), 0)).collect();
        let mut public = Bits::default();
        for input in &chunk.inputs {
            let (bits, used) = &mut all[usize::from(input.owner.0)];
            public.extend_from(&bits.slice(*used, input.bits));
            *used += input.bits;
        }
        public
    }

    /// The rest of figure 9: evaluates the chunk, and returns the outputs that this party learns.
    ///
    /// # Errors
    /// [`GARBLED_ROW`](crate::checks::GARBLED_ROW).
    pub(crate) fn evaluate(
        &mut self,
        chunk: &Chunk<'_>,
        ActiveKeys(keys): ActiveKeys,
        rows: &[Block],
        masked: &Masked,
    ) -> Result<Vec<(usize, Bits)>> {
        let n = usize::from(self.parties);
        let (mut keys, mut gate_keys, mut output_keys) = (&keys[..], &masked.gate_keys[..], &masked.output_keys[..]);
        let (mut rows, mut output_rows) = rows.split_at(chunk.fill.ands * n * ROWS);
        let (mut inputs, mut outputs) = (chunk.inputs.iter(), chunk.outputs.iter().zip(&masked.outputs));
        let mut learned = Vec::new();
        for step in &chunk.steps {
            match step {
                Step::Input { start } => {
                    let bits = inputs.next().expect("an input a step").bits;
                    self.memory[start * n..][..bits * n].copy_from_slice(cut(&mut keys, bits * n));
                }
                Step::Load(calling, t) => {
                    self.evaluating.grow(calling.slots());
                    calling.load(*t, n, &self.memory, &mut self.evaluating.slots);
                }
                Step::Walk(part) => self.evaluating.walk(part, &mut rows, &mut gate_keys)?,
                Step::Store(calling, t) => calling.store(*t, n, &self.evaluating.slots, &mut self.memory),
                Step::Reveal { start } => {
                    let (output, mask) = outputs.next().expect("an output a step");
                    let wires = &self.memory[start * n..][..output.bits * n];
                    let mut value = self.evaluating.reveal(wires, &mut output_rows, &mut output_keys)?;
                    if let Some(mask) = mask {
                        value.xor_assign(mask);
                        learned.push((output.index, value));
                    }
                }
            }
        }
        Ok(learned)
    }
}
