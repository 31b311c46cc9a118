//! One party of those who garble a program: figures 6 and 7, chunk after chunk.

use comity_channel::Mesh;
use comity_circuit::{Program, Recipients};
use comity_core::{Bits, Block, Part, Result};
use comity_protocol::{Conduct, Here};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::act::GarblingAct;
use crate::chunk::{Calling, Chunk, memory};
use crate::garbling::{Garbling, Gates};
use crate::heard::Heard;
use crate::masks::{MaskOpening, Masks};
use crate::opening::{Zeros, open};

/// The garbling side of a party.
pub(crate) struct Garbler<'a> {
    masks: &'a mut dyn Masks,
    garbling: Garbling,
    zeros: Zeros,
    /// The program's wires.
    memory: Vec<Block>,
    waiting: Wires,
    rows: Vec<Block>,
}

/// Wires of a chunk.
#[derive(Default)]
struct Wires {
    gates: Gates,
    inputs: Vec<Block>,
    /// Rows of the masks of outputs.
    outputs: Vec<Block>,
}

/// What a party has of a chunk before inputs are fixed: all but the rows of gates. The next chunk has its own.
#[derive(Default)]
pub(crate) struct Masked {
    /// The mask of each input value, at its owner.
    pub(crate) inputs: Vec<Option<Bits>>,
    /// The mask of each output value, at its recipients.
    pub(crate) outputs: Vec<Option<Bits>>,
    /// This party's keys of 0 of the wires of inputs.
    pub(crate) input_keys: Zeroizing<Vec<Block>>,
    /// This party's keys of 0 of the outputs of gates.
    pub(crate) gate_keys: Zeroizing<Vec<Block>>,
}

impl<'a> Garbler<'a> {
    /// Step 1, and the seeds of figure 7.
    ///
    /// # Errors
    /// Those of the channels; [`InvalidInput`](comity_core::Kind) if the program does not fit memory.
    pub(crate) fn setup(
        net: &mut Mesh<'_>,
        here: Here,
        masks: &'a mut dyn Masks,
        program: &Program,
        rng: &mut dyn CryptoRng,
    ) -> Result<Garbler<'a>> {
        let (me, n) = (usize::from(here.me.0), usize::from(here.parties));
        let memory = memory(program, n + 1)?;
        let seed = Block::random(rng);
        let zeros = Zeros::setup(net, here.backend, &here.session, rng)?;
        let garbling = Garbling::new(here.backend, &here.session, me, n, masks.offset(), seed);
        Ok(Garbler { masks, garbling, zeros, memory, waiting: Wires::default(), rows: Vec::new() })
    }

    /// This party's offset.
    pub(crate) fn offset(&self) -> Block {
        self.masks.offset()
    }

    fn parties(&self) -> usize {
        self.garbling.stride() - 1
    }

    /// Rows of so many new masks.
    fn fresh(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<()> {
        self.rows.resize(bits * self.parties(), Block::ZERO);
        self.masks.random(net, &mut self.rows)
    }

    /// An input value's wires.
    pub(crate) fn input(&mut self, net: &mut Mesh<'_>, start: usize, bits: usize) -> Result<()> {
        self.fresh(net, bits)?;
        let stride = self.garbling.stride();
        let wires = &mut self.memory[start * stride..][..bits * stride];
        self.garbling.fresh(&self.rows, wires);
        self.waiting.inputs.extend_from_slice(wires);
        Ok(())
    }

    /// Before a call.
    pub(crate) fn load(&mut self, calling: &Calling<'_>, t: u64) {
        self.garbling.grow(calling.slots());
        calling.load(t, self.garbling.stride(), &self.memory, &mut self.garbling.slots);
    }

    /// Gates of a call.
    pub(crate) fn walk(&mut self, net: &mut Mesh<'_>, part: &Part<'_>) -> Result<()> {
        self.fresh(net, part.ands())?;
        self.garbling.walk(part, &self.rows, &mut self.waiting.gates);
        Ok(())
    }

    /// After a call.
    pub(crate) fn store(&mut self, calling: &Calling<'_>, t: u64) {
        calling.store(t, self.garbling.stride(), &self.garbling.slots, &mut self.memory);
    }

    /// An output value's wires.
    pub(crate) fn reveal(&mut self, start: usize, bits: usize) {
        let stride = self.garbling.stride();
        let wires = self.memory[start * stride..][..bits * stride].chunks_exact(stride);
        self.waiting.outputs.extend(wires.flat_map(|wire| &wire[..stride - 1]));
    }

    /// Figure 6, steps 3 and 5, or section 4.3, steps 5, 7 and 8: products of masks, and masks opened to whom they are for. Returns
    /// the products, too.
    ///
    /// # Errors
    /// Those of the masks.
    pub(crate) fn masks(&mut self, net: &mut Mesh<'_>, chunk: &Chunk<'_>) -> Result<(Masked, Zeroizing<Vec<Block>>)> {
        let (n, stride) = (self.parties(), self.garbling.stride());
        let rows = |wires: &[Block]| -> Zeroizing<Vec<Block>> {
            Zeroizing::new(wires.chunks_exact(stride).flat_map(|wire| &wire[..n]).copied().collect())
        };
        let keys = |wires: &[Block]| -> Zeroizing<Vec<Block>> {
            Zeroizing::new(wires.chunks_exact(stride).map(|wire| wire[n]).collect())
        };
        let Wires { gates, inputs, outputs } = &self.waiting;
        let [u, v, input_rows] = [&gates.u, &gates.v, inputs].map(|wires| rows(wires));
        let mut products = Zeroizing::new(vec![Block::ZERO; u.len()]);
        let (mut of_inputs, mut of_outputs) = (&input_rows[..], &outputs[..]);
        let mut opened = Vec::with_capacity(chunk.inputs.len() + chunk.outputs.len());
        for input in &chunk.inputs {
            let rows = cut(&mut of_inputs, input.bits * n);
            opened.push(MaskOpening { rows, to: Recipients::only(input.owner) });
        }
        for output in &chunk.outputs {
            opened.push(MaskOpening { rows: cut(&mut of_outputs, output.bits * n), to: output.to });
        }
        let mut values = self.masks.products(net, [&u, &v], &mut products, &opened)?;
        let masked = Masked {
            outputs: values.split_off(chunk.inputs.len()),
            inputs: values,
            input_keys: keys(inputs),
            gate_keys: keys(&gates.w),
        };
        Ok((masked, products))
    }

    /// Figure 6, steps 3d and 4, and figure 7: the rows of the chunk's gates, which are then done with. What all heard is noted.
    ///
    /// # Errors
    /// Those of the channels.
    pub(crate) fn rows(
        &mut self,
        net: &mut Mesh<'_>,
        products: &[Block],
        heard: &mut Heard,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<Vec<Block>> {
        let waiting = core::mem::take(&mut self.waiting);
        let mut shares = self.garbling.garble(&waiting.gates, products);
        conduct.before(GarblingAct::Garbled(&mut shares));
        let rows = open(net, &mut self.zeros, shares, conduct)?;
        conduct.before(GarblingAct::Opened(&rows));
        heard.hear(Block::bytes_of(&rows));
        Ok(rows)
    }
}

impl Drop for Garbler<'_> {
    fn drop(&mut self) {
        self.memory.zeroize();
        self.rows.zeroize();
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        self.inputs.zeroize();
        self.outputs.zeroize();
    }
}

/// The first part of a list, which is cut off.
pub(crate) fn cut<'l, T>(list: &mut &'l [T], at: usize) -> &'l [T] {
    let now;
    (now, *list) = list.split_at(at);
    now
}
