//! One party of those who evaluate a program: figure 9, chunk after chunk.

use comity_channel::{Echo, PerPeer};
use comity_circuit::{Memory, Program};
use comity_core::{Bits, Block, Error, PartyId, Result};
use comity_protocol::{Conduct, Here};

use crate::act::GarblingAct;
use crate::chunk::{Chunk, Step};
use crate::evaluating::{Evaluating, Table};
use crate::garbler::{Masked, cut};
use crate::hash::ROWS;

/// The evaluating side of a party.
pub(crate) struct Evaluator {
    me: PartyId,
    parties: u16,
    evaluating: Evaluating,
    /// The program's wires.
    memory: Memory<Block>,
}

/// Active wires of the inputs of a chunk.
pub(crate) struct ActiveKeys(Vec<Block>);

impl Evaluator {
    /// A party that evaluates what was garbled in a session, with this offset if wires have it in common.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the program does not fit memory.
    pub(crate) fn new(garbled: Here, offset: Option<Block>, program: &Program) -> Result<Evaluator> {
        let Here { me, parties, session, backend, .. } = garbled;
        let evaluating = Evaluating::new(backend, &session, [me.0, parties].map(usize::from), offset);
        let memory = Memory::rows(program, evaluating.stride())?;
        Ok(Evaluator { me, parties, evaluating, memory })
    }

    /// This party's keys of a wire that it has to have.
    pub(crate) fn keys_of_wire(&self) -> usize {
        self.evaluating.keys_of_wire()
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
        let keys = masked.input_keys.chunks_exact(self.evaluating.keys_of_wire());
        let active = |(keys, bit): (&[Block], bool)| self.evaluating.own_key(keys, bit);
        let own: Vec<Block> = keys.zip(public.iter()).map(active).collect();
        let out = PerPeer::new(self.me, self.parties, |peer| {
            let mut said = Block::bytes_of(&own).to_vec();
            conduct.before(GarblingAct::Keys(peer, &mut said));
            said
        });
        (own, out)
    }

    /// The active wires of these public values, of which these are the own keys and those that were heard.
    pub(crate) fn active(&self, public: &Bits, own: Vec<Block>, heard: &PerPeer<Vec<u8>>) -> ActiveKeys {
        let (n, stride) = (usize::from(self.parties), self.evaluating.stride());
        let mut keys = vec![Block::ZERO; own.len() * stride];
        if stride > n {
            keys.chunks_exact_mut(stride)
                .zip(public.iter())
                .for_each(|(wire, bit)| wire[n] = Block::from_u128(bit.into()));
        }
        let mut put = |party: PartyId, from: &[Block]| {
            for (wire, key) in keys.chunks_exact_mut(stride).zip(from) {
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
            let missing = || {
                Error::invalid_input(
                    "an input value of this party is missing, or has another length than the program says",
                )
            };
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
        let (n, stride) = (usize::from(self.parties), self.evaluating.stride());
        let mut keys = &keys[..];
        let (of_gates, rows) = rows.split_at(chunk.fill.ands * n * ROWS);
        let (of_xors, of_outputs) = rows.split_at(chunk.fill.xors * n * ROWS);
        let mut gates = Table { rows: of_gates, own: &masked.gate_keys };
        let mut xors = Table { rows: of_xors, own: &masked.xor_keys };
        let mut revealed = Table { rows: of_outputs, own: &masked.output_keys };
        let (mut inputs, mut outputs) = (chunk.inputs.iter(), chunk.outputs.iter().zip(&masked.outputs));
        let mut learned = Vec::new();
        for step in &chunk.steps {
            match step {
                Step::Input { start } => {
                    let bits = inputs.next().expect("an input a step").bits;
                    self.memory[start * stride..][..bits * stride].copy_from_slice(cut(&mut keys, bits * stride));
                }
                Step::Load(calling, t) => {
                    self.evaluating.grow(calling.slots());
                    calling.load(*t, stride, &self.memory, &mut self.evaluating.slots);
                }
                Step::Walk(part) => self.evaluating.walk(part, [&mut gates, &mut xors])?,
                Step::Store(calling, t) => calling.store(*t, stride, &self.evaluating.slots, &mut self.memory),
                Step::Reveal { start } => {
                    let (output, mask) = outputs.next().expect("an output a step");
                    let wires = &self.memory[start * stride..][..output.bits * stride];
                    let mut value = self.evaluating.reveal(wires, &mut revealed)?;
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
