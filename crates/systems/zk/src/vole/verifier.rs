//! The verifier. Numbers are the steps in the [module](super).

use comity_channel::Channel;
use comity_circuit::run;
use comity_core::{Backend, Block, Error, Prg, Result, SessionId, gf128, verdict};
use comity_protocol::Conduct;
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{BATCH, MASKS, bits_of, correlations, digest, session_of};
use crate::checks;
use crate::gates::{Branches, Head, Nobody};
use crate::macs::{Gates, Mac, ONE, block, packed, word};
use crate::sliced::{Shares, and, xor};
use crate::statement::Statement;

/// An act of the verifier: something that is about to be used or sent.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum VerifierAct<'a> {
    /// The seed of a batch's coefficients.
    Seed(&'a mut Block),
}

/// The verifier.
///
/// # Errors
/// [`WRONG_GATES`](checks::WRONG_GATES), [`OTHER_MACS`](checks::OTHER_MACS); those of the OTs and of the channel.
pub(crate) fn verify(
    (ch, session): (&mut dyn Channel, &SessionId),
    backend: Backend,
    statement: &Statement,
    rng: &mut dyn CryptoRng,
    conduct: &mut dyn for<'a> Conduct<VerifierAct<'a>>,
) -> Result<()> {
    let session = session_of(session, statement);
    let left = bits_of(statement);
    // Step 1, at first for the masks.
    let count = left + MASKS as u64;
    let delta = Block::random(rng).with_lsb(true);
    let mut keys = correlations::Keys::setup(ch, &session.child("COT"), backend, count, delta, rng)?;
    let mut masks = Zeroizing::new([Block::ZERO; MASKS]);
    keys.next(ch, &mut masks[..])?;
    let verifying = Verifying {
        ch,
        backend,
        conduct,
        delta: Zeroizing::new(word(delta)),
        keys,
        seeds: Prg::new(backend, Block::random(rng)),
        left,
        batch: Zeroizing::default(),
        at: 0,
        gates: Gates::with_room(usize::try_from(left).map_or(BATCH, |left| left.min(BATCH))),
        sums: [Block::ZERO; 2],
    };
    let mut engine = Head::new(backend, verifying, statement.public());
    run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
    let (mut verifying, outputs) = engine.finish();
    verifying.challenge()?;
    let Verifying { ch, sums, .. } = verifying;
    let (mut answer, mut hash) = ([Block::ZERO; 2], [0; 32]);
    ch.recv(Block::bytes_of_mut(&mut answer))?;
    ch.recv(&mut hash)?;
    // Step 4: products, terms times Delta, and the masks' key.
    let ours = sums[0] ^ gf128::mul(backend, sums[1], delta) ^ packed(backend, &masks[..]);
    let theirs = answer[0] ^ gf128::mul(backend, answer[1], delta);
    if !verdict(ours.ct_eq(&theirs)) {
        return Err(checks::WRONG_GATES.into());
    }
    // Step 5.
    let expected = statement.outputs();
    let macs = outputs.iter().zip(expected.iter()).map(|(Shares([key]), bit)| mac(*key, bit, delta));
    let macs: Zeroizing<Vec<Block>> = Zeroizing::new(macs.collect());
    if verdict(digest(&session, &macs).ct_eq(&hash)) { Ok(()) } else { Err(checks::OTHER_MACS.into()) }
}

/// The MAC of a public bit under this key.
fn mac(key: Mac, bit: bool, delta: Block) -> Block {
    block(key) ^ if bit { delta } else { Block::ZERO }
}

/// The verifier's gates: a wire is a key whose bit 0 is clear.
struct Verifying<'a> {
    ch: &'a mut dyn Channel,
    backend: Backend,
    conduct: &'a mut dyn for<'b> Conduct<VerifierAct<'b>>,
    delta: Zeroizing<Mac>,
    keys: correlations::Keys,
    seeds: Prg,
    /// The bits for which there is no COT yet.
    left: u64,
    /// The keys of the batch's bits.
    batch: Zeroizing<Vec<Block>>,
    /// The bits of the batch that were taken.
    at: usize,
    gates: Gates,
    sums: [Block; 2],
}

impl Verifying<'_> {
    /// Draws a batch's coefficients, all of whose bits are there, and tells their seed: step 3.
    fn challenge(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut seed = self.seeds.block();
        self.conduct.before(VerifierAct::Seed(&mut seed));
        self.ch.send(&seed.to_bytes())?;
        self.ch.flush()?;
        let sums = self.gates.sums(self.backend, seed);
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum ^= more);
        Ok(())
    }

    /// The key of the next bit.
    fn next(&mut self) -> Mac {
        self.at += 1;
        word(self.batch[self.at - 1])
    }
}

impl Branches<2, 1> for Verifying<'_> {
    fn room(&mut self, wanted: usize) -> Result<usize> {
        if self.at == self.batch.len() {
            let next = self.left.min(BATCH as u64);
            self.left -= next;
            // The prover takes the seed when it has sent the next batch, whose OTs therefore come first.
            let mut keys = Zeroizing::new(vec![Block::ZERO; next as usize]);
            self.keys.next(self.ch, &mut keys)?;
            self.challenge()?;
            (self.batch, self.at) = (keys, 0);
            // Step 2.
            let mut told = vec![0; self.batch.len().div_ceil(8)];
            self.ch.recv(&mut told)?;
            if !self.batch.len().is_multiple_of(8)
                && told.last().is_some_and(|last| last >> (self.batch.len() % 8) != 0)
            {
                return Err(Error::malformed("bits beyond the end of a batch"));
            }
            let delta = and(*self.delta, [!ONE[0], u64::MAX]);
            for (i, key) in self.batch.iter_mut().enumerate() {
                let difference = u64::from(told[i / 8] >> (i % 8) & 1).wrapping_neg();
                *key = block(xor(word(*key), and(delta, [difference; 2])));
            }
        }
        Ok(wanted.min(self.batch.len() - self.at))
    }

    fn secret(&mut self) -> Shares<2, 1> {
        Shares([self.next()])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<2, 1> {
        let key = xor(*self.delta, ONE);
        Shares([and(key, [u64::from(bit).wrapping_neg(); 2])])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<2, 1>, Shares([b]): Shares<2, 1>) -> Shares<2, 1> {
        let key = self.next();
        self.gates.push([a, b], key);
        Shares([key])
    }
}
