//! One party of those who garble a program: figures 6 and 7, chunk after chunk.

use core::ops::Range;

use comity_channel::{Echo, Mesh, PerPeer};
use comity_circuit::{Memory, Program};
use comity_core::{Bits, Block, Part, PartyId, Result};
use comity_protocol::{Conduct, Here};
use comity_share::Beside;
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::act::GarblingAct;
use crate::chunk::{Calling, Chunk, Output};
use crate::garbling::{Garbling, Gates};
use crate::hash::add;
use crate::masks::{MaskOpening, Masks};
use crate::opening::{Opener, Opening, Zeros};

/// What garbling stands on.
pub struct Ground<'m> {
    /// Shared bits and their products.
    pub masks: &'m mut dyn Masks,
    /// Who opens the rows.
    pub opener: Opener,
}

impl Ground<'_> {
    /// The same, for a while.
    pub(crate) fn lend(&mut self) -> Ground<'_> {
        Ground { masks: &mut *self.masks, opener: self.opener }
    }
}

/// The garbling side of a party.
pub(crate) struct Garbler<'a> {
    masks: &'a mut dyn Masks,
    opener: Opener,
    garbling: Garbling,
    zeros: Zeros,
    /// The program's wires.
    memory: Memory<Block>,
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
    /// The gates of outputs.
    outputs: Gates,
    /// Rows of `lambda_u`, of `lambda_v` and of `lambda_u lambda_v + lambda_w` of all gates, and of
    /// `lambda_u + lambda_w` of those of outputs.
    bits: Zeroizing<Vec<Block>>,
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
    /// This party's keys of 0 behind the gates of outputs.
    pub(crate) output_keys: Zeroizing<Vec<Block>>,
}

impl<'a> Garbler<'a> {
    /// Step 1.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the program does not fit memory.
    pub(crate) fn setup(
        here: Here,
        Ground { masks, opener }: Ground<'a>,
        program: &Program,
        rng: &mut dyn CryptoRng,
    ) -> Result<Garbler<'a>> {
        let ids = [here.me.0, here.parties].map(usize::from);
        let memory = Memory::rows(program, masks.width() + 1)?;
        let seed = Block::random(rng);
        let zeros = Zeros::new(here, rng);
        let garbling = Garbling::new(here.backend, &here.session, ids, masks.offset(), masks.one(), seed);
        Ok(Garbler { masks, opener, garbling, zeros, memory, waiting: Wires::default(), rows: Vec::new() })
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

    /// An output value's wires, each of which passes a gate.
    pub(crate) fn reveal(
        &mut self,
        net: &mut Mesh<'_>,
        wires: Range<usize>,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<()> {
        self.fresh(net, wires.len())?;
        let stride = self.garbling.stride();
        let wires = &self.memory[wires.start * stride..wires.end * stride];
        self.garbling.output(&self.rows, wires, &mut self.waiting.outputs, conduct);
        Ok(())
    }

    /// What this party knows of a chunk's wires: all but the masks of outputs.
    pub(crate) fn known(&mut self) -> Masked {
        let (width, stride) = (self.garbling.width(), self.garbling.stride());
        let Wires { gates, outputs: of_outputs, input_keys, input_masks, .. } = &mut self.waiting;
        let keys = |gates: &Gates| Zeroizing::new(gates.w.chunks_exact(stride).map(|wire| wire[width]).collect());
        Masked {
            outputs: Vec::new(),
            inputs: core::mem::take(input_masks),
            input_keys: Zeroizing::new(core::mem::take(input_keys)),
            gate_keys: keys(gates),
            output_keys: keys(of_outputs),
        }
    }

    /// Figure 6, steps 3 and 5, and step 1 of figure 7: shares of products of masks, and masks of outputs, of
    /// which nothing is known to be right yet. Beside them another message goes to each peer, which does not
    /// depend on them, and one of such a length is heard. One round.
    ///
    /// # Errors
    /// Those of the masks.
    pub(crate) fn products(
        &mut self,
        net: &mut Mesh<'_>,
        chunk: &Chunk<'_>,
        mut beside: Beside,
    ) -> Result<PerPeer<Vec<u8>>> {
        let (width, stride) = (self.garbling.width(), self.garbling.stride());
        let Wires { gates, outputs, bits, .. } = &mut self.waiting;
        let each = gates.len() * width;
        *bits = Zeroizing::new(Vec::with_capacity(3 * each + outputs.len() * width));
        for wires in [&gates.u, &gates.v] {
            bits.extend(wires.chunks_exact(stride).flat_map(|wire| &wire[..width]));
        }
        bits.resize(3 * each, Block::ZERO);
        let (factors, products) = bits.split_at_mut(2 * each);
        let masks =
            Zeroizing::new(outputs.w.chunks_exact(stride).flat_map(|wire| &wire[..width]).copied().collect::<Vec<_>>());
        let mut left = &masks[..];
        let opened = |output: &Output| MaskOpening { rows: cut(&mut left, output.bits * width), to: output.to };
        let opened: Vec<_> = chunk.outputs.iter().map(opened).collect();
        let (u, v) = factors.split_at(each);
        self.zeros.say(&mut beside);
        let mut heard = self.masks.products(net, [u, v], products, &opened, &beside)?;
        self.zeros.hear(&mut heard);
        for (product, w) in products.chunks_exact_mut(width).zip(gates.w.chunks_exact(stride)) {
            add(product, &w[..width]);
        }
        let of_outputs = outputs.u.chunks_exact(stride).zip(outputs.w.chunks_exact(stride));
        bits.extend(of_outputs.flat_map(|(u, w)| u.iter().zip(w).take(width).map(|(&u, &w)| u ^ w)));
        Ok(heard)
    }

    /// The check of these products, and a digest of what all heard so far; step 3 of figure 7: shares of the
    /// chunk's rows. Returns the values of the masks of outputs. One round, or two for rows that somebody
    /// might already open, and those of products with offsets.
    ///
    /// If some product is not right, a row is off by a wrong bit times a mask: whoever opens it has computed
    /// something else than the program, on the inputs of all, and is caught too late. So a share leaves
    /// beside the check as long as nobody has a key of an honest party: keys of inputs, of which those of
    /// gates follow, leave when this has returned, at parties that heard the same, and until then whoever
    /// collects has only what `F` hides. But after a chunk that was evaluated all have keys of the wires that
    /// go on (`known`): shares then leave when the check has passed.
    ///
    /// # Errors
    /// Those of the masks; [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION).
    pub(crate) fn shares(
        &mut self,
        net: &mut Mesh<'_>,
        echo: &Echo,
        known: bool,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<(Opening, Vec<Option<Bits>>)> {
        let mut waiting = core::mem::take(&mut self.waiting);
        let strings = self.masks.times_offsets(net, core::mem::take(&mut waiting.bits))?;
        let mut shares = self.garbling.garble(&waiting.gates, &waiting.outputs, &strings);
        drop(waiting);
        conduct.before(GarblingAct::Garbled(&mut shares));
        let mut opening = Opening::new(self.opener, &mut self.zeros, shares);
        let digest = echo.digest();
        let (me, parties) = (net.me(), net.parties());
        let early = if known { PerPeer::new(me, parties, |_| Vec::new()) } else { opening.shares(conduct) };
        let bytes = if known { 0 } else { opening.bytes() };
        let out = early.map(|_, shares| [&digest[..], &shares].concat());
        let lengths = PerPeer::new(me, parties, |_| digest.len() + bytes);
        let (values, heard) = self.masks.settle(net, &Beside { out, lengths })?;
        echo.compare(heard.iter().map(|(_, heard)| &heard[..digest.len()]))?;
        let mut heard = heard.map(|_, mut heard| heard.split_off(digest.len()));
        if known {
            heard.iter_mut().for_each(|(_, heard)| heard.resize(opening.bytes(), 0));
            net.exchange(&opening.shares(conduct), &mut heard)?;
        }
        opening.collect(heard.iter().map(|(_, heard)| &heard[..]));
        Ok((opening, values))
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
    }
}

/// The first part of a list, which is cut off.
pub(crate) fn cut<'l, T>(list: &mut &'l [T], at: usize) -> &'l [T] {
    let now;
    (now, *list) = list.split_at(at);
    now
}
