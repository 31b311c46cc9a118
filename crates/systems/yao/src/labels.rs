//! Where labels come from: what garblings with free XOR and without do differently in steps 1 to 3.
//!
//! With free XOR the correlation of the OT extension is the garbling's offset, so that the two blocks of an
//! OT are a wire's labels. Without, the correlation is drawn for the OTs alone, and the wire's labels are the
//! two pads that the extension's hash makes of each.

use comity_channel::Channel;
use comity_core::{Bits, Block, Delta, Result, SessionId};
use comity_garble::{FreeXor, Garble, HalfGates, Labels, Private, Scheme, Standard, ThreeHalves};
use comity_ot::{CotReceiver, CotSender, HashedReceiver, HashedSender, RandomReceiver, RandomSender, iknp};
use comity_protocol::Here;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::gate_keys;

/// A garbling, and how its labels reach the evaluator.
pub(crate) trait Garbling: Private {
    /// The garbler's side of the OTs.
    type Sender;
    /// The evaluator's side of the OTs.
    type Receiver;

    /// Step 1: the garbler, and the correlation of the OT extension.
    fn garbler(here: &Here, rng: &mut dyn CryptoRng) -> (Self::Garbler, Block);

    /// Step 1: the evaluator.
    fn evaluator(here: &Here) -> Self::Evaluator;

    /// The garbler's OTs of step 3, from the extension of step 1.
    fn sender(ot: iknp::Sender) -> Self::Sender;

    /// The evaluator's OTs of step 3, from the extension of step 1.
    fn receiver(ot: iknp::Receiver) -> Self::Receiver;

    /// Step 2: the wire of a bit of the garbler's whose active label is this one.
    fn own(garbler: &mut Self::Garbler, active: Block, bit: bool) -> WireOf<Self>;

    /// Step 3: makes the wires of the evaluator's bits, and sends what the evaluator needs of them.
    fn send(
        garbler: &mut Self::Garbler,
        ot: &mut Self::Sender,
        ch: &mut dyn Channel,
        wires: &mut [WireOf<Self>],
    ) -> Result<()>;

    /// Step 3: receives the active labels of the evaluator's bits.
    fn receive(ot: &mut Self::Receiver, ch: &mut dyn Channel, value: &Bits, labels: &mut [Block]) -> Result<()>;
}

/// The wire as the garbler of a scheme holds it.
pub(crate) type WireOf<S> = <<S as Scheme>::Garbler as Garble>::Wire;

/// A garbling with free XOR, which has an offset and a start of gate keys.
pub(crate) trait Keyed: Private + FreeXor {
    /// A garbler with a fresh offset.
    fn garbler(here: &Here, rng: &mut dyn CryptoRng) -> Self::Garbler;

    /// The evaluator.
    fn evaluator(here: &Here) -> Self::Evaluator;
}

impl Keyed for HalfGates {
    fn garbler(here: &Here, rng: &mut dyn CryptoRng) -> Self::Garbler {
        HalfGates::garbler(here.backend, Delta::new(Block::random(rng)), gate_keys(&here.session))
    }

    fn evaluator(here: &Here) -> Self::Evaluator {
        HalfGates::evaluator(here.backend, gate_keys(&here.session))
    }
}

impl Keyed for ThreeHalves {
    fn garbler(here: &Here, rng: &mut dyn CryptoRng) -> Self::Garbler {
        let delta = Delta::new(Block::random(rng));
        ThreeHalves::garbler(here.backend, delta, three_halves_keys(&here.session), Block::random(rng))
    }

    fn evaluator(here: &Here) -> Self::Evaluator {
        ThreeHalves::evaluator(here.backend, three_halves_keys(&here.session))
    }
}

/// The public start of the gate keys of three halves: under that of half gates one key would hash labels of
/// both.
fn three_halves_keys(session: &SessionId) -> Block {
    session.block("start of the gate keys of three halves")
}

impl<S: Keyed> Garbling for S {
    type Sender = iknp::Sender;
    type Receiver = iknp::Receiver;

    fn garbler(here: &Here, rng: &mut dyn CryptoRng) -> (S::Garbler, Block) {
        let garbler = <S as Keyed>::garbler(here, rng);
        let delta = S::delta(&garbler);
        (garbler, delta)
    }

    fn evaluator(here: &Here) -> S::Evaluator {
        <S as Keyed>::evaluator(here)
    }

    fn sender(ot: iknp::Sender) -> iknp::Sender {
        ot
    }

    fn receiver(ot: iknp::Receiver) -> iknp::Receiver {
        ot
    }

    fn own(garbler: &mut S::Garbler, active: Block, bit: bool) -> Block {
        active ^ S::delta(garbler).masked(bit)
    }

    fn send(_: &mut S::Garbler, ot: &mut iknp::Sender, ch: &mut dyn Channel, wires: &mut [Block]) -> Result<()> {
        ot.extend(ch, wires)
    }

    fn receive(ot: &mut iknp::Receiver, ch: &mut dyn Channel, value: &Bits, labels: &mut [Block]) -> Result<()> {
        ot.extend(ch, value, labels)
    }
}

impl Garbling for Standard {
    type Sender = HashedSender<iknp::Sender>;
    type Receiver = HashedReceiver<iknp::Receiver>;

    fn garbler(here: &Here, rng: &mut dyn CryptoRng) -> (Self::Garbler, Block) {
        (Standard::garbler(here.backend, rng), Block::random(rng))
    }

    fn evaluator(here: &Here) -> Self::Evaluator {
        Standard::evaluator(here.backend)
    }

    fn sender(ot: iknp::Sender) -> Self::Sender {
        HashedSender::new(ot)
    }

    fn receiver(ot: iknp::Receiver) -> Self::Receiver {
        HashedReceiver::new(ot)
    }

    fn own(garbler: &mut Self::Garbler, active: Block, bit: bool) -> Labels {
        garbler.around(active, bit)
    }

    /// The permute bit of a label is the bit that it stands for, which the evaluator knows.
    fn send(
        garbler: &mut Self::Garbler,
        ot: &mut Self::Sender,
        ch: &mut dyn Channel,
        wires: &mut [Labels],
    ) -> Result<()> {
        let mut pads = Zeroizing::new(vec![[Block::ZERO; 2]; wires.len()]);
        ot.sender_random(ch, &mut pads)?;
        for (wire, [zero, one]) in wires.iter_mut().zip(pads.iter()) {
            *wire = garbler.wire([zero.with_lsb(false), one.with_lsb(true)]);
        }
        Ok(())
    }

    fn receive(ot: &mut Self::Receiver, ch: &mut dyn Channel, value: &Bits, labels: &mut [Block]) -> Result<()> {
        ot.sender_random(ch, value, labels)?;
        for (label, bit) in labels.iter_mut().zip(value.iter()) {
            *label = label.with_lsb(bit);
        }
        Ok(())
    }
}
