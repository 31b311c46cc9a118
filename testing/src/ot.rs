//! The ideal functionalities of oblivious transfer (OT), and one harness that holds every protocol against them.
//!
//! A functionality here is what a trusted party would do, with what it grants a corrupt one: [`EndemicOt`] (a corrupt
//! party chooses what it gets itself), [`FixedDelta`] (that, the selective leak and the global-key query),
//! [`CorrelatedOt`] (the sender sees a random message before it says what the other one is), [`ChosenOt`], and
//! [`CommittingOt`]. [`holds`] runs a protocol, lets each party in turn be a corrupt one in the ideal world that
//! chooses what the real one got, and asks whether the other party gets there what it really got. What nobody chooses
//! must look uniform.
//!
//! The types of the protocols are not known to it: a protocol comes as two functions, so that what is tested
//! need not be what the harness is built with.
//!
//! [`DealtBaseOts`] and [`DealtOts`] are for what stands above OTs: a trusted dealer in their place.

use std::collections::HashSet;

use comity_channel::{MemoryChannel, Result};
use comity_core::{Backend, Bits, Block, Prg};

use crate::parties::Pair;

mod dealt;
mod functionality;

pub use dealt::{DealtBaseOts, DealtOts};
pub use functionality::{ChosenOt, CommittingOt, CorrelatedOt, EndemicOt, FixedDelta, Stopped};

/// The numbers of OTs that every protocol is tried with, one call after another: none, one, less than a byte, a block,
/// one more, and more than most buffers hold.
pub const SIZES: [usize; 6] = [0, 1, 7, 128, 129, (1 << 14) + 3];

/// A flavour of OT: the inputs and the outputs of a call, and which outputs are right.
pub trait Flavour {
    /// The sender's input of one call.
    type SenderInput: Sync;
    /// The receiver's input of one call.
    type ReceiverInput: Sync;
    /// The sender's output of one call.
    type SenderOutput: Send;
    /// The receiver's output of one call.
    type ReceiverOutput: Send;

    /// Random inputs for a call of `n` OTs.
    fn draw(&self, n: usize, rng: &mut Prg) -> (Self::SenderInput, Self::ReceiverInput);

    /// Checks that the ideal functionality could have given these outputs for these inputs; if not, says what
    /// is wrong.
    fn judge(
        &mut self,
        n: usize,
        inputs: &(Self::SenderInput, Self::ReceiverInput),
        outputs: (Self::SenderOutput, Self::ReceiverOutput),
    ) -> std::result::Result<(), String>;
}

/// Runs a protocol once, with a call of each size, and has the flavour judge every call.
///
/// Each function sets its party up and makes the calls whose inputs it gets, one after another.
///
/// # Panics
/// If a party fails, or a call gives outputs that the functionality does not. The message names the protocol
/// and the size.
pub fn holds<F: Flavour>(
    name: &str,
    mut flavour: F,
    sizes: &[usize],
    sender: impl FnOnce(&mut MemoryChannel, &[F::SenderInput]) -> Result<Vec<F::SenderOutput>> + Send,
    receiver: impl FnOnce(&mut MemoryChannel, &[F::ReceiverInput]) -> Result<Vec<F::ReceiverOutput>> + Send,
) {
    let mut rng = rng(7);
    let (sending, receiving): (Vec<_>, Vec<_>) = sizes.iter().map(|&n| flavour.draw(n, &mut rng)).unzip();
    let (sent, received) = Pair::run(|ch| sender(ch, &sending), |ch| receiver(ch, &receiving));
    let sent = sent.unwrap_or_else(|error| panic!("{name}: the sender: {error}"));
    let received = received.unwrap_or_else(|error| panic!("{name}: the receiver: {error}"));
    assert_eq!([sent.len(), received.len()], [sizes.len(); 2], "{name}: outputs of so many calls");
    let inputs = sending.into_iter().zip(receiving);
    for ((&n, inputs), outputs) in sizes.iter().zip(inputs).zip(sent.into_iter().zip(received)) {
        flavour.judge(n, &inputs, outputs).unwrap_or_else(|wrong| panic!("{name}, {n} OTs: {wrong}"));
    }
}

/// Whether the receiver chooses, or gets random choice bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choices {
    /// The receiver gives its choice bits.
    Given,
    /// The choice bits are random, and an output.
    Random,
}

impl Choices {
    fn judge(self, n: usize, given: &Bits, got: &Bits) -> std::result::Result<(), String> {
        match self {
            Choices::Given => demand(got == given, || "the choice bits are not those that were given".into()),
            Choices::Random => {
                demand(got.len() == n, || format!("{} choice bits", got.len()))?;
                coins("choice bits", got.iter().filter(|&bit| bit).count(), n)
            }
        }
    }
}

/// Random messages of 128 bits (SR-OT, R-OT; base OT). The sender gets both, the receiver gets its choice
/// bits and the chosen message.
pub struct RandomOt(pub Choices);

impl Flavour for RandomOt {
    type SenderInput = usize;
    type ReceiverInput = Bits;
    type SenderOutput = Vec<[Block; 2]>;
    type ReceiverOutput = (Bits, Vec<Block>);

    fn draw(&self, n: usize, rng: &mut Prg) -> (usize, Bits) {
        (n, bits(n, rng))
    }

    fn judge(
        &mut self,
        n: usize,
        (_, given): &(usize, Bits),
        (pairs, (choices, chosen)): (Vec<[Block; 2]>, (Bits, Vec<Block>)),
    ) -> std::result::Result<(), String> {
        demand(pairs.len() == n && chosen.len() == n, || format!("{} and {} messages", pairs.len(), chosen.len()))?;
        self.0.judge(n, given, &choices)?;
        // A corrupt sender that chooses these pairs: the receiver gets the chosen ones.
        let ideal = EndemicOt::corrupt_sender(&choices, &pairs);
        demand(ideal == chosen, || "the receiver has not the chosen messages".into())?;
        // A corrupt receiver that chooses these: what is left of the pairs is uniform, whatever else is known.
        let ideal = EndemicOt::corrupt_receiver(&choices, &chosen, &mut rng(9));
        let same = |(j, bit): (usize, bool)| ideal[j][usize::from(bit)] == pairs[j][usize::from(bit)];
        demand(choices.iter().enumerate().all(same), || "the sender has other messages".into())?;
        let others: Vec<_> = choices.iter().zip(&pairs).map(|(bit, pair)| pair[usize::from(!bit)]).collect();
        let sums: Vec<_> = pairs.iter().map(|&[zero, one]| zero ^ one).collect();
        uniform("the messages not chosen", &others)?;
        uniform("the chosen messages", &chosen)?;
        uniform("the sums of both messages", &sums)
    }
}

/// OT with a fixed correlation: the sender gets delta and q, the receiver its choice bits x and `q ^ x delta`.
pub struct DeltaOt {
    choices: Choices,
    fixed: Block,
    functionality: Option<FixedDelta>,
}

impl DeltaOt {
    /// The flavour. After the first call the sender gives its delta, which is that of all calls.
    pub fn new(choices: Choices) -> DeltaOt {
        DeltaOt { choices, fixed: Block::ZERO, functionality: None }
    }

    /// The flavour of protocols that leave some bits of the sender's blocks to the protocol above: these bits
    /// need not look random.
    pub fn with_fixed_bits(self, fixed: Block) -> DeltaOt {
        DeltaOt { fixed, ..self }
    }
}

impl Flavour for DeltaOt {
    type SenderInput = usize;
    type ReceiverInput = Bits;
    type SenderOutput = (Block, Vec<Block>);
    type ReceiverOutput = (Bits, Vec<Block>);

    fn draw(&self, n: usize, rng: &mut Prg) -> (usize, Bits) {
        (n, bits(n, rng))
    }

    fn judge(
        &mut self,
        n: usize,
        (_, given): &(usize, Bits),
        ((delta, q), (choices, t)): ((Block, Vec<Block>), (Bits, Vec<Block>)),
    ) -> std::result::Result<(), String> {
        demand(q.len() == n && t.len() == n, || format!("{} and {} blocks", q.len(), t.len()))?;
        self.choices.judge(n, given, &choices)?;
        let ideal = self.functionality.get_or_insert_with(|| FixedDelta::new(delta));
        demand(ideal.is_delta(delta), || "delta is not that of the calls before".into())?;
        let stopped = |_| "nobody guessed".to_owned();
        demand(ideal.corrupt_sender(&choices, &q).map_err(stopped)? == t, || "the receiver has another t".into())?;
        demand(ideal.corrupt_receiver(&choices, &t).map_err(stopped)? == q, || "the sender has another q".into())?;
        uniform_but_for(self.fixed, "the sender's blocks", &q)
    }
}

/// C-OT: the sender chooses the second message when it has seen the first. Messages have this number of
/// bytes.
pub struct ReactiveOt(pub usize);

impl ReactiveOt {
    /// The second message of an OT, to be computed by the sender under test. It depends on the first one and
    /// on the input, and not by an XOR alone.
    pub fn correlate(input: &[u8], zero: &[u8], one: &mut [u8]) {
        for ((one, zero), input) in one.iter_mut().zip(zero.iter().rev()).zip(input) {
            *one = zero.wrapping_mul(3).wrapping_add(*input);
        }
    }
}

impl Flavour for ReactiveOt {
    /// One block as long as all messages.
    type SenderInput = Vec<u8>;
    type ReceiverInput = Bits;
    /// All first messages.
    type SenderOutput = Vec<u8>;
    /// All chosen messages.
    type ReceiverOutput = Vec<u8>;

    fn draw(&self, n: usize, rng: &mut Prg) -> (Vec<u8>, Bits) {
        (bytes(n * self.0, rng), bits(n, rng))
    }

    fn judge(
        &mut self,
        n: usize,
        (input, choices): &(Vec<u8>, Bits),
        (zeros, got): (Vec<u8>, Vec<u8>),
    ) -> std::result::Result<(), String> {
        demand(zeros.len() == n * self.0, || format!("{} bytes of first messages", zeros.len()))?;
        let ideal = CorrelatedOt::corrupt_sender(self.0, zeros.clone());
        let mut ones = vec![0; zeros.len()];
        let messages = ones.chunks_exact_mut(self.0).zip(ideal.zeros().chunks_exact(self.0));
        for ((one, zero), input) in messages.zip(input.chunks_exact(self.0)) {
            ReactiveOt::correlate(input, zero, one);
        }
        demand(ideal.correlate(&ones, choices) == got, || "the receiver has not the chosen messages".into())?;
        let blocks: Vec<_> =
            zeros.chunks_exact(self.0).filter_map(|m| m.first_chunk().map(|m| Block::new(*m))).collect();
        uniform("the first messages", &blocks)
    }
}

/// OT and RR-OT: chosen messages of this number of bytes.
pub struct MessageOt(pub Choices, pub usize);

impl Flavour for MessageOt {
    /// All messages for either choice bit.
    type SenderInput = [Vec<u8>; 2];
    type ReceiverInput = Bits;
    type SenderOutput = ();
    type ReceiverOutput = (Bits, Vec<u8>);

    fn draw(&self, n: usize, rng: &mut Prg) -> ([Vec<u8>; 2], Bits) {
        ([bytes(n * self.1, rng), bytes(n * self.1, rng)], bits(n, rng))
    }

    fn judge(
        &mut self,
        n: usize,
        (messages, given): &([Vec<u8>; 2], Bits),
        ((), (choices, got)): ((), (Bits, Vec<u8>)),
    ) -> std::result::Result<(), String> {
        self.0.judge(n, given, &choices)?;
        let ideal = ChosenOt::call(self.1, [&messages[0], &messages[1]], &choices);
        demand(ideal == got, || "the receiver has not the chosen messages".into())
    }
}

/// Chosen messages of a given number of bytes that the sender opens after the last call.
#[derive(Default)]
pub struct OpenedOt {
    len: usize,
}

impl OpenedOt {
    /// The flavour for messages of `len` bytes.
    pub fn new(len: usize) -> OpenedOt {
        OpenedOt { len }
    }
}

impl Flavour for OpenedOt {
    /// All messages for either choice bit.
    type SenderInput = [Vec<u8>; 2];
    type ReceiverInput = Bits;
    type SenderOutput = ();
    /// The chosen messages, and what was opened of this call.
    type ReceiverOutput = (Vec<u8>, [Vec<u8>; 2]);

    fn draw(&self, n: usize, rng: &mut Prg) -> ([Vec<u8>; 2], Bits) {
        ([bytes(n * self.len, rng), bytes(n * self.len, rng)], bits(n, rng))
    }

    fn judge(
        &mut self,
        _: usize,
        (messages, choices): &([Vec<u8>; 2], Bits),
        ((), (got, opened)): ((), (Vec<u8>, [Vec<u8>; 2])),
    ) -> std::result::Result<(), String> {
        let mut ideal = CommittingOt::new(self.len);
        demand(ideal.call([&messages[0], &messages[1]], choices) == got, || "not the chosen messages".into())?;
        demand(ideal.open() == opened, || "the opening is not what could have been chosen".into())
    }
}

/// 1-out-of-N OT of random messages, N = 2^64: the sender evaluates two of the N entries of each OT, of which
/// the receiver chose one.
pub struct EntryOt;

impl Flavour for EntryOt {
    /// The entries to evaluate, which differ.
    type SenderInput = Vec<[u128; 2]>;
    /// The chosen entries.
    type ReceiverInput = Vec<u128>;
    type SenderOutput = Vec<[Block; 2]>;
    type ReceiverOutput = Vec<Block>;

    fn draw(&self, n: usize, rng: &mut Prg) -> (Vec<[u128; 2]>, Vec<u128>) {
        let mut entry = || rng.block().to_u128() >> 64;
        let entries: Vec<_> = (0..n).map(|_| [entry(), entry()]).collect();
        let choices = entries.iter().map(|pair| pair[usize::from(pair[0] & 1 == 1)]).collect();
        (entries, choices)
    }

    fn judge(
        &mut self,
        n: usize,
        (entries, wanted): &(Vec<[u128; 2]>, Vec<u128>),
        (pairs, chosen): (Vec<[Block; 2]>, Vec<Block>),
    ) -> std::result::Result<(), String> {
        let choices: Bits = entries.iter().zip(wanted).map(|(pair, wanted)| pair[1] == *wanted).collect();
        RandomOt(Choices::Given).judge(n, &(n, choices.clone()), (pairs, (choices, chosen)))
    }
}

/// A generator whose stream only depends on `seed`.
fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bytes(n: usize, rng: &mut Prg) -> Vec<u8> {
    let mut bytes = vec![0; n];
    rng.fill(&mut bytes);
    bytes
}

fn bits(n: usize, rng: &mut Prg) -> Bits {
    Bits::from_bytes(&bytes(n.div_ceil(8), rng), n)
}

fn demand(holds: bool, otherwise: impl FnOnce() -> String) -> std::result::Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Demands that `ones` of `n` are as many as a fair coin gives, within seven standard deviations.
fn coins(what: &str, ones: usize, n: usize) -> std::result::Result<(), String> {
    let off = (ones as f64 - n as f64 / 2.0).abs();
    demand(off <= 3.5 * (n as f64).sqrt(), || format!("{what}: {ones} ones of {n}"))
}

/// Demands that no block comes twice, and every bit is a fair coin.
fn uniform(what: &str, blocks: &[Block]) -> std::result::Result<(), String> {
    uniform_but_for(Block::ZERO, what, blocks)
}

/// Demands that no block comes twice, and every bit is a fair coin that is not one of these.
fn uniform_but_for(fixed: Block, what: &str, blocks: &[Block]) -> std::result::Result<(), String> {
    let distinct: HashSet<u128> = blocks.iter().map(|block| block.to_u128()).collect();
    demand(distinct.len() == blocks.len(), || format!("{what}: some are equal"))?;
    (0..128).filter(|i| fixed.to_u128() >> i & 1 == 0).try_for_each(|i| {
        let ones = blocks.iter().filter(|block| block.to_u128() >> i & 1 == 1).count();
        coins(&format!("{what}, bit {i}"), ones, blocks.len())
    })
}
