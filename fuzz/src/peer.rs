//! What a peer sends: the hello, base OT, and whole runs of Yao against a peer that says anything at all.

use std::sync::OnceLock;

use comity_arith::Conversions;
use comity_arith::dealers::{WordDealer, from_ot_over};
use comity_channel::{Channel, Error, Hello, Mesh, PerPeer, RecvHalf, Result, SendHalf};
use comity_circuit::{Builder, Observer, Program};
use comity_core::{Backend, Bits, Params, PartyId, SessionId};
use comity_gmw::Gmw;
use comity_gmw::dealers::OtTriples;
use comity_library::arith as gadgets;
use comity_ot::base::simplest;
use comity_protocol::{Here, Job, Options, Party, Protocol};
use comity_share::triples::OtKind;
use comity_yao::Yao;

use crate::ideal::Ideal;
use crate::mutate::rng;

/// A peer that says these bytes, whatever it hears, and then leaves.
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl RecvHalf for Script<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (now, later) = self.0.split_at_checked(bytes.len()).ok_or(Error::closed())?;
        bytes.copy_from_slice(now);
        self.0 = later;
        Ok(())
    }
}

/// A sending half that takes everything.
struct Sink;

impl SendHalf for Sink {
    fn send(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Channel for Script<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Sink.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        RecvHalf::recv(self, bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        Sink.send(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (Box::new(Sink), Box::new(Script(std::mem::take(&mut self.0))))
    }

    fn exchange(&mut self, _: &[u8], into: &mut [u8]) -> Result<()> {
        Channel::recv(self, into)
    }

    fn fork(&mut self, _: &str) -> Result<Box<dyn Channel>> {
        Err(Error::closed())
    }
}

/// The hello that the honest side says in [`hello`]; its peer is party 1.
pub(crate) fn greeting(party: u16) -> Hello {
    Hello {
        protocol: "yao".into(),
        options: vec![("coded", Some("no".into())), ("garbler", None)],
        params: Params::default(),
        me: PartyId(party),
        parties: 2,
        program: "add8".into(),
        program_digest: [7; 32],
        owners: "0 1".into(),
        recipients: "all".into(),
        key: None,
        peer_keys: PerPeer::new(PartyId(party), 2, |_| None),
        group: None,
    }
}

/// The first message of a session, from the peer.
pub(crate) fn hello(data: &[u8]) {
    let ours = greeting(0);
    match comity_channel::hello(&mut Mesh::of_two(ours.me, Script(data)), &ours, &mut rng()) {
        // What the parties agree on is all there.
        Ok(_) => assert!(data.len() >= comity_channel::hello::WIRE_BYTES),
        // It is shown to the user: nothing in it may act on a terminal.
        Err(error) => assert!(!error.to_string().contains(|c: char| c.is_control()), "{error:?}"),
    }
}

/// Both messages of base OT: the first 32 bytes are the sender's, the others the receiver's.
pub(crate) fn base_ot(data: &[u8]) {
    let session = SessionId::new([1; 32]);
    let (setup, points) = data.split_at(data.len().min(32));
    if let Ok(setup) = <[u8; 32]>::try_from(setup) {
        let choices: Bits = [false, true].into_iter().collect();
        let setup = simplest::Setup::from_bytes(setup);
        if let Ok((receiver, points)) = simplest::Receiver::new(&session, &choices, &setup, &mut rng()) {
            assert_eq!(points.as_bytes().len(), 2 * 32);
            assert_eq!(receiver.finish().len(), 2);
        }
    }
    let n = points.len() / 32;
    match simplest::Points::from_bytes(points, n) {
        Ok(message) => {
            assert_eq!(message.as_bytes(), points);
            let (sender, _) = simplest::Sender::new(&session, &mut rng());
            if let Ok(keys) = sender.finish(&message) {
                assert_eq!(keys.len(), n);
                assert!(keys.iter().all(|[zero, one]| zero != one), "both keys of an OT are the same");
            }
        }
        Err(_) => assert_ne!(points.len() % 32, 0),
    }
}

/// An observer that counts outputs. What a semi-honest protocol cannot check may make them wrong, but each
/// comes once, and whole.
#[derive(Default)]
struct Outputs(usize);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        assert_eq!(value.len(), 8);
        self.0 += 1;
    }
}

/// The bits that two 8-bit numbers, one of each party, have in common, for both parties.
pub(crate) fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut builder = Builder::new();
        let (a, b) = (builder.input("a", 8), builder.input("b", 8));
        let both: Vec<_> = a.into_iter().zip(b).map(|(a, b)| builder.and(a, b)).collect();
        builder.output("both", &both);
        Program::from_circuit(builder.finish()).expect("two parties are no more than there can be")
    })
}

/// How a party runs.
pub(crate) type Run = fn(&mut Party<'_, '_>, &Job<'_>) -> Result<()>;

/// Yao's protocol over ideal base OTs, with half gates.
pub(crate) fn yao(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    yao_with("half-gates", me, job)
}

/// Yao's protocol under standard assumptions: labels from random OTs, and tables that are no whole blocks.
pub(crate) fn yao_standard(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    yao_with("standard", me, job)
}

/// Yao's protocol with three halves, whose tables are no whole blocks.
pub(crate) fn yao_three_halves(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    yao_with("three-halves", me, job)
}

fn yao_with(garbling: &str, me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut options = Options::new(Yao.card());
    options.set(me.me(), "garbling", garbling)?;
    comity_yao::run_over::<Ideal>(me, &Job { program: job.program, inputs: job.inputs, options: &options })
}

/// GMW with triples from IKNP, the extension that has the least set-up, over ideal base OTs.
pub(crate) fn gmw(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let dealer = OtTriples::setup_over::<Ideal>(&mut me.sub("dealer"), OtKind::Iknp)?;
    comity_gmw::run_with(me, Some(Box::new(dealer)), job)
}

/// Words with triples and conversions likewise: the product of the numbers or zero, as they compare, in the
/// place of the bits that they have in common.
pub(crate) fn arith(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    static PRODUCT: OnceLock<Program> = OnceLock::new();
    let program = PRODUCT.get_or_init(|| {
        let mut builder = Builder::new();
        let (a, b) = (builder.input("a", 8), builder.input("b", 8));
        let product = gadgets::mul(&mut builder, &a, &b);
        let less = gadgets::lt(&mut builder, &product, &b);
        let kept = gadgets::mux(&mut builder, less, &product, &a);
        builder.output("kept", &kept);
        Program::from_circuit(builder.finish()).expect("two parties are no more than there can be")
    });
    let dealer =
        |me: &mut Party<'_, '_>| -> Result<Box<dyn WordDealer>> { Ok(from_ot_over::<Ideal>(me, OtKind::Iknp)?) };
    let conversions = |me: &mut Party<'_, '_>, both| Conversions::setup_over::<Ideal>(me, OtKind::Iknp, both);
    comity_arith::run_with(me, dealer, conversions, &Job { program, ..*job })
}

/// One party of a run of [`program`]. Returns how many outputs it learned.
pub(crate) fn run(
    with: impl Fn(&mut Party<'_, '_>, &Job<'_>) -> Result<()>,
    party: u16,
    channel: &mut dyn Channel,
) -> Result<usize> {
    let me = PartyId(party);
    let mut inputs = [None, None];
    inputs[usize::from(party)] = Some(Bits::from_bytes(&[42], 8));
    let (session, params) = (SessionId::new([2; 32]), Params::default());
    let here = Here { me, parties: 2, session, params, backend: Backend::detect() };
    let (mut net, mut outputs) = (Mesh::of_two(me, channel), Outputs::default());
    // Of GMW's none is looked at, and Yao's protocol has its own.
    let options = Options::new(Gmw.card());
    let job = Job { program: program(), inputs: &inputs, options: &options };
    with(&mut Party { net: &mut net, here, rng: &mut rng(), observer: &mut outputs }, &job)?;
    Ok(outputs.0)
}

fn against(with: Run, party: u16, data: &[u8]) {
    if let Ok(outputs) = run(with, party, &mut Script(data)) {
        assert_eq!(outputs, 1);
    }
}

/// The garbler against an evaluator who says anything.
pub(crate) fn yao_garbler(data: &[u8]) {
    against(yao, 0, data);
}

/// The evaluator against a garbler who says anything.
pub(crate) fn yao_evaluator(data: &[u8]) {
    against(yao, 1, data);
}

/// The garbler under standard assumptions against an evaluator who says anything.
pub(crate) fn yao_standard_garbler(data: &[u8]) {
    against(yao_standard, 0, data);
}

/// The evaluator under standard assumptions against a garbler who says anything.
pub(crate) fn yao_standard_evaluator(data: &[u8]) {
    against(yao_standard, 1, data);
}

/// The evaluator of three halves against a garbler who says anything.
pub(crate) fn yao_three_halves_evaluator(data: &[u8]) {
    against(yao_three_halves, 1, data);
}

/// Party 0 of GMW against a peer who says anything.
pub(crate) fn gmw_peer(data: &[u8]) {
    against(gmw, 0, data);
}

/// Party 0 of arith against a peer who says anything.
pub(crate) fn arith_peer(data: &[u8]) {
    against(arith, 0, data);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seed that is refused at its first message leads nowhere, and one of which something is left over has
    /// too much.
    #[test]
    fn honest_seeds_end_a_run_at_their_last_byte() {
        let runs: [(Run, u16, &[u8]); 7] = [
            (yao, 0, include_bytes!("../corpus/yao_garbler/valid")),
            (yao, 1, include_bytes!("../corpus/yao_evaluator/valid")),
            (yao_standard, 0, include_bytes!("../corpus/yao_standard_garbler/valid")),
            (yao_standard, 1, include_bytes!("../corpus/yao_standard_evaluator/valid")),
            (yao_three_halves, 1, include_bytes!("../corpus/yao_three_halves_evaluator/valid")),
            (gmw, 0, include_bytes!("../corpus/gmw_peer/valid")),
            (arith, 0, include_bytes!("../corpus/arith_peer/valid")),
        ];
        for (with, party, said) in runs {
            let mut script = Script(said);
            assert_eq!(run(with, party, &mut script).expect("an honest peer"), 1);
            assert!(script.0.is_empty());
            assert!(run(with, party, &mut Script(&said[..said.len() - 1])).is_err());
        }
    }
}
