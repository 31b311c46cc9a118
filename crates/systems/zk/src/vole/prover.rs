//! The prover. Numbers are the steps in the [module](super).

use comity_channel::Channel;
use comity_circuit::run;
use comity_core::{Backend, Bits, Block, Result, SessionId};
use comity_protocol::Conduct;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{BATCH, MASKS, bits_of, correlations, digest, session_of};
use crate::gates::{Branches, Head, Nobody};
use crate::macs::{Gates, Mac, ONE, block, lsb, packed, word};
use crate::sliced::{Shares, and, xor};
use crate::statement::Statement;

/// An act of the prover: something that is about to be used or sent.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum ProverAct<'a> {
    /// What an AND gate gives, the number of the gate beside it.
    Product(u64, &'a mut bool),
    /// The differences of a batch, as bytes.
    Told(&'a mut [u8]),
    /// The masked sums of the gates.
    Sums(&'a mut [Block; 2]),
    /// The outputs' MACs, whose hash is sent.
    Outputs(&'a mut [Block]),
}

/// The prover. `secret` are all secret bits; they must make the statement true.
pub(crate) fn prove(
    (ch, session): (&mut dyn Channel, &SessionId),
    backend: Backend,
    statement: &Statement,
    secret: &Bits,
    rng: &mut dyn CryptoRng,
    conduct: &mut impl for<'a> Conduct<ProverAct<'a>>,
) -> Result<()> {
    let session = session_of(session, statement);
    let left = bits_of(statement);
    // Step 1, at first for the masks.
    let count = left + MASKS as u64;
    let mut bits = correlations::Bits::setup(ch, &session.child("COT"), backend, count, rng)?;
    let mut masks = Zeroizing::new([Block::ZERO; MASKS]);
    bits.next(ch, &mut masks[..])?;
    let room = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
    let proving = Proving {
        ch,
        backend,
        conduct,
        bits,
        secret,
        inputs: 0,
        ands: 0,
        left,
        macs: Zeroizing::new(Vec::with_capacity(room)),
        told: Zeroizing::new(Vec::with_capacity(room)),
        gates: Gates::with_room(room),
        // Until the next batch is told; a single one needs none.
        waiting: Gates::with_room(if left as usize > room { room } else { 0 }),
        waits: false,
        sums: [Block::ZERO; 2],
    };
    let mut engine = Head::new(backend, proving, statement.public());
    run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
    let (mut proving, outputs) = engine.finish();
    proving.tell()?;
    proving.sum_up()?;
    let Proving { ch, sums, conduct, .. } = proving;
    // Step 4.
    let choices =
        Bits::from_words(masks.chunks(64).map(|macs| word_of(macs.iter().map(|mac| mac.lsb()))).collect(), MASKS);
    let own = [packed(backend, &masks[..]), Block::new(choices.to_bytes().try_into().expect("128 bits"))];
    let mut sums = core::array::from_fn(|i| sums[i] ^ own[i]);
    conduct.before(ProverAct::Sums(&mut sums));
    ch.send(Block::bytes_of(&sums))?;
    // Step 5.
    let mut macs: Zeroizing<Vec<Block>> = Zeroizing::new(outputs.iter().map(|Shares([mac])| block(*mac)).collect());
    conduct.before(ProverAct::Outputs(&mut macs));
    ch.send(&digest(&session, &macs))?;
    ch.flush()
}

/// Up to 64 bits, the first one lowest.
fn word_of(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().fold(0, |word, (i, bit)| word | u64::from(bit) << i)
}

/// The prover's gates: a wire is a MAC whose bit 0 is the value.
struct Proving<'a, C> {
    ch: &'a mut dyn Channel,
    backend: Backend,
    conduct: &'a mut C,
    bits: correlations::Bits,
    secret: &'a Bits,
    /// The secret bits and the AND gates that were taken.
    inputs: usize,
    ands: u64,
    /// The bits for which there is no COT yet.
    left: u64,
    /// The MACs of the batch's random bits.
    macs: Zeroizing<Vec<Block>>,
    /// The message of the batch: a byte for each difference, one for each bit.
    told: Zeroizing<Vec<u8>>,
    gates: Gates,
    /// The batch before, which was told and whose seed has not come.
    waiting: Gates,
    waits: bool,
    sums: [Block; 2],
}

impl<C: for<'b> Conduct<ProverAct<'b>>> Proving<'_, C> {
    /// Gives the next bit a MAC: step 2.
    #[inline(always)]
    fn commit(&mut self, bit: Mac) -> Mac {
        let random = word(self.macs[self.told.len()]);
        let value = and(bit, ONE);
        self.told.push((u64::from_le(random[0] ^ value[0]) & 1) as u8);
        xor(random, and(xor(random, value), ONE))
    }

    /// Sends the differences of the batch; then takes the seed of the batch before, so that neither side
    /// waits for the other.
    fn tell(&mut self) -> Result<()> {
        let words = self.told.chunks(64).map(|bits| word_of(bits.iter().map(|bit| *bit == 1))).collect();
        let mut told = Bits::from_words(words, self.told.len()).to_bytes();
        self.conduct.before(ProverAct::Told(&mut told));
        self.told.clear();
        self.ch.send(&told)?;
        self.ch.flush()?;
        self.sum_up()?;
        core::mem::swap(&mut self.gates, &mut self.waiting);
        self.waits = true;
        Ok(())
    }

    /// Takes the seed of the batch that waits for one, and sums it up: step 3.
    fn sum_up(&mut self) -> Result<()> {
        if !core::mem::take(&mut self.waits) {
            return Ok(());
        }
        let mut seed = [0; Block::BYTES];
        self.ch.recv(&mut seed)?;
        let sums = self.waiting.sums(self.backend, Block::new(seed));
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum ^= more);
        Ok(())
    }
}

impl<C: for<'b> Conduct<ProverAct<'b>>> Branches<2, 1> for Proving<'_, C> {
    fn room(&mut self, wanted: usize) -> Result<usize> {
        if self.told.len() == self.macs.len() {
            if !self.macs.is_empty() {
                self.tell()?;
            }
            let next = self.left.min(BATCH as u64);
            self.left -= next;
            self.macs.resize(next as usize, Block::ZERO);
            self.bits.next(self.ch, &mut self.macs)?;
        }
        Ok(wanted.min(self.macs.len() - self.told.len()))
    }

    fn secret(&mut self) -> Shares<2, 1> {
        let bit = self.secret.get(self.inputs);
        self.inputs += 1;
        Shares([self.commit([u64::from(bit).to_le(), 0])])
    }

    /// A public bit has MAC zero, except for the value in its place: the verifier's key makes up for it.
    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<2, 1> {
        Shares([[u64::from(bit).to_le(), 0]])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<2, 1>, Shares([b]): Shares<2, 1>) -> Shares<2, 1> {
        let mut product = u64::from_le(a[0] & b[0]) & 1 == 1;
        self.conduct.before(ProverAct::Product(self.ands, &mut product));
        self.ands += 1;
        let mac = self.commit([u64::from(product).to_le(), 0]);
        let crossed = xor(and(lsb(a), b), and(lsb(b), a));
        self.gates.push([a, b], xor(crossed, mac));
        Shares([mac])
    }
}
