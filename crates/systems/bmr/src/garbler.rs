//! One party of those who garble a program: figures 6 and 7, chunk after chunk.

use core::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_circuit::Program;
use comity_core::{Bits, Block, Part, PartyId, Result};
use comity_protocol::{Conduct, Here};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::act::GarblingAct;
use crate::chunk::{Calling, Chunk, Output, memory};
use crate::garbling::{Garbling, Gates};
use crate::hash::add;
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
    /// This party's keys of 0 of the wires of inputs. Secret.
    input_keys: Vec<Block>,
    /// The mask of each input value, at its owner.
    input_masks: Vec<Option<Bits>>,
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
    /// Step 1.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the program does not fit memory.
    pub(crate) fn setup(
        here: Here,
        masks: &'a mut dyn Masks,
        program: &Program,
        rng: &mut dyn CryptoRng,
    ) -> Result<Garbler<'a>> {
        let ids = [here.me.0, here.parties].map(usize::from);
        let memory = memory(program, masks.width() + 1)?;
        let seed = Block::random(rng);
        let zeros = Zeros::new(here, rng);
        let garbling = Garbling::new(here.backend, &here.session, ids, masks.offset(), masks.one(), seed);
        Ok(Garbler { masks, garbling, zeros, memory, waiting: Wires::default(), rows: Vec::new() })
    }

    /// The seeds of figure 7, which go beside another message.
    pub(crate) fn zeros(&mut self) -> &mut Zeros {
        &mut self.zeros
    }

    /// The masks, which have the offset: a key of none of a wire's two is an error under it.
    pub(crate) fn bits(&mut self) -> &mut dyn Masks {
        self.masks
    }

    /// This party's offset.
    pub(crate) fn offset(&self) -> Block {
        self.masks.offset()
    }

    /// Rows of so many new masks.
    fn fresh(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<()> {
        self.rows.resize(bits * self.garbling.width(), Block::ZERO);
        self.masks.random(net, &mut self.rows)
    }

    /// An input value's wires. Step 2, (a) and (b) of circuit-input wires.
    pub(crate) fn input(
        &mut self,
        net: &mut Mesh<'_>,
        owner: PartyId,
        wires: Range<usize>,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<()> {
        self.rows.resize(wires.len() * self.garbling.width(), Block::ZERO);
        self.waiting.input_masks.push(self.masks.random_of(net, owner, &mut self.rows)?);
        let stride = self.garbling.stride();
        let wires = &mut self.memory[wires.start * stride..wires.end * stride];
        self.garbling.fresh(&self.rows, wires, conduct);
        self.waiting.input_keys.extend(wires.chunks_exact(stride).map(|wire| wire[stride - 1]));
        Ok(())
    }

    /// Before a call.
    pub(crate) fn load(&mut self, calling: &Calling<'_>, t: u64) {
        self.garbling.grow(calling.slots());
        calling.load(t, self.garbling.stride(), &self.memory, &mut self.garbling.slots);
    }

    /// Gates of a call.
    pub(crate) fn walk(
        &mut self,
        net: &mut Mesh<'_>,
        part: &Part<'_>,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<()> {
        self.fresh(net, part.ands())?;
        self.garbling.walk(part, &self.rows, &mut self.waiting.gates, conduct);
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

    /// Figure 6, steps 3 and 5: masks of outputs, opened to whom they are for. Returns the products of masks with all offsets, too.
    ///
    /// # Errors
    /// Those of the masks.
    pub(crate) fn masks(&mut self, net: &mut Mesh<'_>, chunk: &Chunk<'_>) -> Result<(Masked, Zeroizing<Vec<Block>>)> {
        let (width, stride) = (self.garbling.width(), self.garbling.stride());
        let Wires { gates, input_keys, input_masks, outputs } = &mut self.waiting;
        let each = gates.len() * width;
        let mut bits = Zeroizing::new(Vec::with_capacity(3 * each));
        for wires in [&gates.u, &gates.v] {
            bits.extend(wires.chunks_exact(stride).flat_map(|wire| &wire[..width]));
        }
        bits.resize(3 * each, Block::ZERO);
        let (factors, products) = bits.split_at_mut(2 * each);
        let mut outputs = &outputs[..];
        let opened = |output: &Output| MaskOpening { rows: cut(&mut outputs, output.bits * width), to: output.to };
        let opened: Vec<_> = chunk.outputs.iter().map(opened).collect();
        let (u, v) = factors.split_at(each);
        let values = self.masks.products(net, [u, v], products, &opened)?;
        for (product, w) in products.chunks_exact_mut(width).zip(gates.w.chunks_exact(stride)) {
            add(product, &w[..width]);
        }
        let masked = Masked {
            outputs: values,
            inputs: core::mem::take(input_masks),
            input_keys: Zeroizing::new(core::mem::take(input_keys)),
            gate_keys: Zeroizing::new(gates.w.chunks_exact(stride).map(|wire| wire[width]).collect()),
        };
        Ok((masked, self.masks.times_offsets(net, bits)?))
    }

    /// Figure 6, steps 3d and 4, and figure 7: the rows of the chunk's gates, which are then done with. What all heard is noted. Beside the
    /// shares another message goes to each peer, and one as long is heard.
    ///
    /// # Errors
    /// Those of the channels.
    pub(crate) fn rows(
        &mut self,
        net: &mut Mesh<'_>,
        strings: &[Block],
        beside: PerPeer<Vec<u8>>,
        heard: &mut Heard,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<(Vec<Block>, PerPeer<Vec<u8>>)> {
        let waiting = core::mem::take(&mut self.waiting);
        let mut shares = self.garbling.garble(&waiting.gates, strings);
        conduct.before(GarblingAct::Garbled(&mut shares));
        let (rows, beside) = open(net, &mut self.zeros, shares, beside, conduct)?;
        conduct.before(GarblingAct::Opened(&rows));
        heard.hear(Block::bytes_of(&rows));
        Ok((rows, beside))
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
        self.input_keys.zeroize();
        self.outputs.zeroize();
    }
}

/// The first part of a list, which is cut off.
pub(crate) fn cut<'l, T>(list: &mut &'l [T], at: usize) -> &'l [T] {
    let now;
    (now, *list) = list.split_at(at);
    now
}
