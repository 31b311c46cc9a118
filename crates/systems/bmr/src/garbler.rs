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
use crate::chunk::{Calling, Chunk, Output, garbled_xors};
use crate::garbling::{Fresh, Garbling, Gates};
use crate::hash::add;
use crate::masks::{MaskOpening, Masks, Xor, said_beside};
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
    /// The program's wires.
    memory: Memory<Block>,
    waiting: Wires,
    /// The number of offsets that were made since the last products with them.
    offsets: usize,
}

/// Wires of a chunk.
#[derive(Default)]
struct Wires {
    gates: Gates,
    /// XOR gates that have rows.
    xors: Gates,
    /// This party's keys of the wires of inputs, as in [`Masked`]. Secret.
    input_keys: Vec<Block>,
    /// The mask of each input value, at its owner.
    input_masks: Vec<Option<Bits>>,
    /// The gates of outputs.
    outputs: Gates,
    /// Rows of `lambda_u`, of `lambda_v` and of `lambda_u lambda_v + lambda_w` of all gates, of
    /// `lambda_u + lambda_v + lambda_w` of XOR gates, and of `lambda_u + lambda_w` of those of outputs.
    bits: Zeroizing<Vec<Block>>,
}

/// What a party has of a chunk before inputs are fixed: all but the rows of gates. The next chunk has its
/// own.
#[derive(Default)]
pub(crate) struct Masked {
    /// The mask of each input value, at its owner.
    pub(crate) inputs: Vec<Option<Bits>>,
    /// The mask of each output value, at its recipients.
    pub(crate) outputs: Vec<Option<Bits>>,
    /// This party's keys of 0 of the wires of inputs, or both keys of each where wires have their own
    /// offsets; likewise the following.
    pub(crate) input_keys: Zeroizing<Vec<Block>>,
    /// Keys of the outputs of gates.
    pub(crate) gate_keys: Zeroizing<Vec<Block>>,
    /// Keys of the outputs of XOR gates that have rows.
    pub(crate) xor_keys: Zeroizing<Vec<Block>>,
    /// Keys behind the gates of outputs.
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
        let offset = (masks.xor() == Xor::Free).then(|| masks.offset());
        let garbling = Garbling::new(here.backend, &here.session, ids, offset, masks.one(), Block::random(rng));
        let memory = Memory::rows(program, garbling.stride())?;
        Ok(Garbler { masks, opener, garbling, memory, waiting: Wires::default(), offsets: 0 })
    }

    /// The masks, which have the offset: a key of none of a wire's two is an error under it.
    pub(crate) fn bits(&mut self) -> &mut dyn Masks {
        self.masks
    }

    /// This party's offset, if wires have it in common.
    pub(crate) fn offset(&self) -> Option<Block> {
        (self.masks.xor() == Xor::Free).then(|| self.masks.offset())
    }

    /// XOR gates of a part that have rows.
    pub(crate) fn garbled_xors(&self, part: &Part<'_>) -> usize {
        if self.masks.xor() == Xor::Garbled { garbled_xors(part) } else { 0 }
    }

    /// New masks that no party knows, `wires` of them, and offsets.
    fn fresh(&mut self, net: &mut Mesh<'_>, wires: usize) -> Result<Fresh> {
        let mut rows = Zeroizing::new(vec![Block::ZERO; wires * self.garbling.width()]);
        self.masks.random(net, &mut rows)?;
        let (offsets, first) = (self.masks.new_offsets(net, wires)?, self.offsets);
        self.offsets += offsets.len();
        Ok(Fresh { rows, offsets, first })
    }

    /// An input value's wires. Step 2, (a) and (b) of circuit-input wires.
    pub(crate) fn input(
        &mut self,
        net: &mut Mesh<'_>,
        owner: PartyId,
        wires: Range<usize>,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<()> {
        let mut fresh = Fresh::default();
        fresh.rows.resize(wires.len() * self.garbling.width(), Block::ZERO);
        self.waiting.input_masks.push(self.masks.random_of(net, owner, &mut fresh.rows)?);
        let (width, stride) = (self.garbling.width(), self.garbling.stride());
        let wires = &mut self.memory[wires.start * stride..wires.end * stride];
        self.garbling.input(fresh, wires, conduct);
        self.waiting.input_keys.extend(wires.chunks_exact(stride).flat_map(|wire| &wire[width..]));
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
        let fresh = self.fresh(net, part.ands() + self.garbled_xors(part))?;
        let Wires { gates, xors, .. } = &mut self.waiting;
        self.garbling.walk(part, &fresh, [gates, xors], conduct);
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
        let fresh = self.fresh(net, wires.len())?;
        let stride = self.garbling.stride();
        let wires = &self.memory[wires.start * stride..wires.end * stride];
        self.garbling.output(&fresh, wires, &mut self.waiting.outputs, conduct);
        Ok(())
    }

    /// What this party knows of a chunk's wires: all but the masks of outputs.
    pub(crate) fn known(&mut self) -> Masked {
        let (width, stride) = (self.garbling.width(), self.garbling.stride());
        let Wires { gates, xors, outputs: of_outputs, input_keys, input_masks, .. } = &mut self.waiting;
        let keys = |gates: &Gates| {
            Zeroizing::new(gates.w.chunks_exact(stride).flat_map(|wire| &wire[width..]).copied().collect())
        };
        Masked {
            outputs: Vec::new(),
            inputs: core::mem::take(input_masks),
            input_keys: Zeroizing::new(core::mem::take(input_keys)),
            gate_keys: keys(gates),
            xor_keys: keys(xors),
            output_keys: keys(of_outputs),
        }
    }

    /// Figure 6, steps 3 and 5: shares of products of masks, and masks of outputs, of
    /// which nothing is known to be right yet. Beside them another message goes to each peer, which does not
    /// depend on them, and one of such a length is heard. One round.
    ///
    /// # Errors
    /// Those of the masks.
    pub(crate) fn products(
        &mut self,
        net: &mut Mesh<'_>,
        chunk: &Chunk<'_>,
        beside: &Beside,
    ) -> Result<PerPeer<Vec<u8>>> {
        let (width, stride) = (self.garbling.width(), self.garbling.stride());
        let Wires { gates, xors, outputs, bits, .. } = &mut self.waiting;
        let each = gates.len() * width;
        *bits = Zeroizing::new(Vec::with_capacity(3 * each + (xors.len() + outputs.len()) * width));
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
        let heard = self.masks.products(net, [u, v], products, &opened, beside)?;
        for (product, w) in products.chunks_exact_mut(width).zip(gates.w.chunks_exact(stride)) {
            add(product, &w[..width]);
        }
        for ((u, v), w) in xors.u.chunks_exact(stride).zip(xors.v.chunks_exact(stride)).zip(xors.w.chunks_exact(stride))
        {
            bits.extend((0..width).map(|i| u[i] ^ v[i] ^ w[i]));
        }
        let of_outputs = outputs.u.chunks_exact(stride).zip(outputs.w.chunks_exact(stride));
        bits.extend(of_outputs.flat_map(|(u, w)| u.iter().zip(w).take(width).map(|(&u, &w)| u ^ w)));
        Ok(heard)
    }

    /// This party's shares of the chunk's rows: figure 6, step 4, with the products with offsets.
    ///
    /// # Errors
    /// Those of the masks.
    pub(crate) fn garbled(
        &mut self,
        net: &mut Mesh<'_>,
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<Vec<Block>> {
        let mut waiting = core::mem::take(&mut self.waiting);
        let Wires { gates, xors, outputs, .. } = &waiting;
        let wires: Vec<usize> =
            [gates, gates, gates, xors, outputs].iter().flat_map(|gates| &gates.wires).copied().collect();
        let bits = core::mem::take(&mut waiting.bits);
        let strings = self.masks.times_offsets(net, bits, &wires)?;
        self.offsets = 0;
        let mut shares = self.garbling.garble([&waiting.gates, &waiting.xors, &waiting.outputs], &strings);
        conduct.before(GarblingAct::Garbled(&mut shares));
        Ok(shares)
    }

    /// Makes sure that the products are right, where nothing is opened yet, and returns the values of the
    /// masks of outputs.
    ///
    /// # Errors
    /// Those of the masks.
    pub(crate) fn settle(&mut self, net: &mut Mesh<'_>) -> Result<Vec<Option<Bits>>> {
        let nothing = Beside::nothing(net);
        self.masks.settle(net, &nothing).map(|(values, _)| values)
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
        zeros: &mut Zeros,
        (echo, known): (&Echo, bool),
        conduct: &mut impl for<'c> Conduct<GarblingAct<'c>>,
    ) -> Result<(Opening, Vec<Option<Bits>>)> {
        let shares = self.garbled(net, conduct)?;
        let mut opening = Opening::new(self.opener, zeros, shares);
        if !known {
            let (values, heard) = self.masks.settle(net, &opening.with_digest(echo, conduct))?;
            opening.compared(echo, heard)?;
            return Ok((opening, values));
        }
        let digest = echo.digest();
        let out = PerPeer::new(net.me(), net.parties(), |_| digest.to_vec());
        let (values, heard) = self.masks.settle(net, &Beside::alike(out))?;
        echo.compare(heard.iter().map(|(_, heard)| &heard[..]))?;
        let lengths = PerPeer::new(net.me(), net.parties(), |_| opening.bytes());
        let heard = said_beside(net, &Beside { out: opening.shares(conduct), lengths })?;
        opening.collect(heard.iter().map(|(_, heard)| &heard[..]));
        Ok((opening, values))
    }
}

impl Drop for Garbler<'_> {
    fn drop(&mut self) {
        self.memory.zeroize();
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
