//! The garbler, offline and online.

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_circuit::Observer;
use comity_core::{Bits, Block, Result};
use comity_ot::committing;
use comity_protocol::{Conduct, Here};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::format::{put_secrets, take_secrets};
use super::{FORM, Offline, Online, make_inputs, receive_bits, swap, tell};
use crate::conduct::Act;
use crate::consistency::{self, Weights};
use crate::copies::{CopySecret, KeyStreams, Replica};
use crate::garbler::{Circuits, GarblerEnd};
use crate::intake::Outlet;
use crate::outputs::Tables;
use crate::plan::Plan;
use crate::random::random_bits;
use crate::recovery::{Commitments, First};
use crate::rows::Layout;
use crate::transfer::{receive_block, send_labels};

/// The garbler's offline phase.
pub(super) fn offline(
    ch: &mut dyn Channel,
    offline: &Offline<'_>,
    rng: &mut dyn CryptoRng,
    to: &mut dyn Write,
    observer: &mut dyn Observer,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let &Offline { here, program, ref plan, ots } = offline;
    let Here { backend, session, .. } = here;
    let ots = ots.send(ch, here, plan.copies, plan.probe.encoded(), rng)?;
    let mut first = [0; First::BYTES];
    ch.recv(&mut first)?;
    // Looked at now, so that bad points do not wait in the store.
    First::from_bytes(&first).points()?;
    let (seeds, keys) = ots.step1(ch, rng)?;
    let mut copies = Replica::all(here, &seeds);
    conduct.before(Act::Copies(&mut copies));
    let mut streams = KeyStreams::all(here, &keys);

    // Step 3, for a random input.
    observer.phase("inputs");
    let mut committing = committing::Receiver::setup_from(ch, &session.child("committing OT"), backend, ots.seeds)?;
    let random = random_bits(plan.garblers(), rng);
    let chosen = Zeroizing::new(committing.random(ch, &random)?);
    consistency::send_r(ch, &mut copies, &mut streams, &chosen, conduct)?;
    let opened = Zeroizing::new(committing.open_random(ch)?);

    // Step 5, with keys of its own for the output tables.
    let table_keys: Vec<CopySecret> = (0..plan.copies).map(|_| CopySecret(Block::random(rng))).collect();
    for (j, (stream, key)) in streams.iter_mut().zip(&table_keys).enumerate() {
        stream.t = KeyStreams::new(backend, &session, j, key).t;
    }
    let layout = Layout::new(plan, program);
    let mut memory = layout.memory(plan.copies)?;
    make_inputs(plan, &mut copies, &layout, &mut memory)?;
    let circuits = Circuits { plan, layout: &layout, copies: &copies, keys: &mut streams, memory, outlet: Outlet::All };
    let outputs = circuits.garble(ch, here, program, rng, observer, conduct)?;
    ch.flush()?;

    FORM.put(to, &first)?;
    [&seeds, &keys, &table_keys].into_iter().try_for_each(|secrets| put_secrets(to, secrets))?;
    FORM.put_blocks(to, ots.inputs.as_flattened())?;
    FORM.put_bits(to, &random)?;
    FORM.put_blocks(to, opened.as_flattened())?;
    outputs.save(to)
}

/// The garbler's batch.
pub(super) struct Kept {
    copies: Vec<Replica>,
    keys: Vec<CopySecret>,
    table_keys: Vec<CopySecret>,
    ots: Zeroizing<Vec<[Block; 2]>>,
    /// The choices of the committing OT.
    random: Bits,
    opened: Zeroizing<Vec<[Block; 2]>>,
    outputs: Tables,
    commitments: Box<Commitments>,
}

impl Kept {
    pub(super) fn load(
        here: Here,
        plan: &Plan,
        from: &mut dyn Read,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<Kept> {
        let Here { backend, session, .. } = here;
        let mut first = [0; First::BYTES];
        FORM.take(from, &mut first)?;
        let seeds = take_secrets(from, plan.copies)?;
        let keys = take_secrets(from, plan.copies)?;
        let table_keys = take_secrets(from, plan.copies)?;
        let mut ots = Zeroizing::new(vec![[Block::ZERO; 2]; plan.probe.encoded()]);
        FORM.take_blocks(from, ots.as_flattened_mut())?;
        let random = FORM.take_bits(from, plan.garblers())?;
        let mut opened = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
        FORM.take_blocks(from, opened.as_flattened_mut())?;
        let outputs = Tables::load(backend, &session, plan, from)?;
        let mut copies = Replica::all(here, &seeds);
        conduct.before(Act::Copies(&mut copies));
        let scalars = copies.iter().map(|copy| &copy.scalars);
        let commitments = Box::new(Commitments::new(&session, &First::from_bytes(&first), scalars)?);
        Ok(Kept { copies, keys, table_keys, ots, random, opened, outputs, commitments })
    }

    /// The garbler's online phase.
    pub(super) fn run(
        self,
        ch: &mut dyn Channel,
        online: &Online<'_>,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let Kept { mut copies, keys, table_keys, mut ots, random, mut opened, outputs, commitments } = self;
        let Online { here, plan, own, .. } = online;
        let backend = here.backend;
        let x = plan.garblers_input(own, rng);
        let mut keys = KeyStreams::all(*here, &keys);
        // How x differs from the random input, and y' from the random choices.
        let mut ours = x.clone();
        ours.xor_assign(&random);
        tell(ch, &ours, conduct)?;
        let theirs = receive_bits(ch, plan.probe.encoded())?;
        swap(&mut ots, &theirs);
        swap(&mut opened, &ours);
        // Steps 2 and 4.
        send_labels(ch, backend, &plan.probe, &mut copies, &ots, None, conduct)?;
        let mus = consistency::send_a(ch, backend, &mut copies, &mut keys, &x, None, conduct)?;
        for (j, (key, table_key)) in keys.iter_mut().zip(&table_keys).enumerate() {
            let mut encrypted = table_key.0.to_bytes();
            conduct.before(Act::TableKey { j, key: &mut encrypted });
            key.t.mask(&mut encrypted);
            ch.send(&encrypted)?;
        }
        observer.phase("checks");
        let weights = Weights::new(backend, receive_block(ch)?);
        consistency::send_answers(ch, &copies, &x, &opened, &mus, weights, conduct)?;
        ch.flush()?;
        let known = GarblerEnd { plan, x: &x, copies: &copies, outputs: &outputs };
        known.settle(ch, *commitments, observer, conduct)
    }
}
