//! `Verdict`: the circuit check, and the outputs that leave after it.
//!
//! **What is checked.** Masked values `a`, `b`, `c` of an AND gate's inputs and output are right exactly if
//! `t = (a + l_u)(b + l_v) + c + l_w` is zero. All is shared under MACs, so both parties have shares of `t`,
//! which must be equal: then either knows the MACs on both, its own and, by its key, the peer's. Both hash
//! *both* MACs of every gate, and compare digests by commit and open ([`equal`]), since whoever saw the
//! other's digest first could say the same.
//!
//! **Why both MACs.** An evaluator may lie about the masked value of a wire. Gates that the wire goes into
//! then have a `t` that is a value of the computation. A digest of the garbler's MACs alone is one of two
//! that the evaluator can compute by its keys, and tells it that value. But the gate that the wire comes out
//! of has `t = 1` for certain (and inputs come out of none: their masked values are told before any label
//! that stands for them). There the garbler hashes, as the evaluator's MAC, one that differs by the garbler's
//! key from what the evaluator has. So its digest is one of 2^126 that cannot be told apart, and all that is
//! seen is that the check fails, which was certain. It is the same the other way round: a garbler that makes
//! a false row, or tells a false bit, gets a masked value that has the evaluator's share of a fresh mask in
//! it, and a digest with the evaluator's key in it.
//!
//! **When.** Before the share of any output's mask leaves, of all gates since the last check; what was opened
//! since then is settled first.

use comity_channel::{Channel, Mesh};
use comity_circuit::Recipients;
use comity_core::{Bits, Block, Result};
use comity_protocol::{Conduct, Here};
use comity_share::{Ledger, Share, equal};
use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::checks;
use crate::conduct::Act;
use crate::gates::{Algebra, Gates, Masked, pack};

/// Gates whose MACs are hashed in one go: they stay in the second-level cache, and the hash wants many at once.
const TILE: usize = 4096;

/// What has not been checked yet, and the ledger of outputs.
pub(crate) struct Verdict<'a> {
    here: Here,
    rng: &'a mut dyn CryptoRng,
    /// The MACs of all gates since the last check, each time under a key of its own.
    hasher: blake3::Hasher,
    /// Whether there were gates since the last check; and the number of checks.
    pending: bool,
    checks: u64,
    outputs: Ledger,
    macs: Vec<[Block; 2]>,
}

/// The hash of check number `check`.
pub(crate) fn hasher(here: &Here, check: u64) -> blake3::Hasher {
    blake3::Hasher::new_keyed(&here.session.child(&format!("MACs of circuit check {check}")).to_bytes())
}

impl<'a> Verdict<'a> {
    pub(crate) fn new(here: Here, rng: &'a mut dyn CryptoRng) -> Verdict<'a> {
        let outputs = Ledger::new(here.session.child("outputs"), here.me, here.me.other());
        Verdict { here, rng, hasher: hasher(&here, 0), pending: false, checks: 0, outputs, macs: Vec::new() }
    }

    /// Notes the gates of a chunk, with the masked values that both parties have told.
    pub(crate) fn note(
        &mut self,
        algebra: &Algebra,
        gates: &Gates,
        masked: &Masked,
        conduct: &mut impl for<'c> Conduct<Act<'c>>,
    ) {
        for at in (0..gates.len()).step_by(TILE) {
            algebra.checked(gates, masked, at..gates.len().min(at + TILE), &mut self.macs);
            conduct.before(Act::Checked(&mut self.macs));
            self.hasher.update(Block::bytes_of(self.macs.as_flattened()));
        }
        self.pending |= gates.len() > 0;
    }

    /// The circuit check of all gates since the last one.
    ///
    /// # Errors
    /// [`CIRCUIT_CHECK`](checks::CIRCUIT_CHECK); those of the channel.
    pub(crate) fn compare(&mut self, ch: &mut dyn Channel, conduct: &mut impl for<'c> Conduct<Act<'c>>) -> Result<()> {
        if !std::mem::take(&mut self.pending) {
            return Ok(());
        }
        let mut digest = *self.hasher.finalize().as_bytes();
        conduct.before(Act::Digest(&mut digest));
        let session = self.here.session.child(&format!("circuit check {}", self.checks));
        self.checks += 1;
        self.hasher = hasher(&self.here, self.checks);
        equal(&mut Mesh::of_two(self.here.me, ch), session, &digest, checks::CIRCUIT_CHECK, self.rng)
    }

    /// Opens the masks of an output to its recipients: after a comparison that passed.
    ///
    /// # Errors
    /// [`WRONG_MAC`](comity_share::checks::WRONG_MAC) if the peer's shares are not those it has; those of the channel.
    pub(crate) fn open(
        &mut self,
        ch: &mut dyn Channel,
        algebra: &Algebra,
        to: Recipients,
        masks: &[Share],
        conduct: &mut impl for<'c> Conduct<Act<'c>>,
    ) -> Result<Option<Bits>> {
        let own: Bits = masks.iter().map(|mask| mask.bit()).collect();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        if to.includes(self.here.me.other()) {
            let macs: Vec<Block> = masks.iter().map(|mask| mask.mac()).collect();
            self.outputs.show(&macs);
            ours = pack(own.iter());
            conduct.before(Act::Output(&mut ours));
            ours.extend(self.outputs.digest());
        }
        if to.includes(self.here.me) {
            theirs = vec![0; masks.len().div_ceil(8) + 32];
        }
        ch.exchange(&ours, &mut theirs)?;
        let Some((bits, digest)) = theirs.split_last_chunk::<32>() else {
            ch.flush()?;
            return Ok(None);
        };
        let mut value = Bits::from_bytes(bits, masks.len());
        let expected: Vec<Block> =
            masks.iter().zip(value.iter()).map(|(mask, bit)| mask.expected(bit, &algebra.key)).collect();
        self.outputs.see(&expected);
        self.outputs.verify(digest)?;
        value.xor_assign(&own);
        Ok(Some(value))
    }
}

impl Drop for Verdict<'_> {
    fn drop(&mut self) {
        self.macs.as_flattened_mut().zeroize();
    }
}
