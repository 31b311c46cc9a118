//! `Draw`: all of a prover's randomness.

use comity_core::{Bits, declassify};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::bound::Bound;
use crate::system::System;

/// The randomness of one proof, drawn from a hash of the generator's bytes *and* of the statement, the
/// witness and the way of proving.
///
/// A generator that repeats itself (a virtual machine that was restored, a broken device) would otherwise
/// give two proofs the same seeds: each challenge opens two branches of three, so two proofs together would
/// open all of them. In conversation the challenge differs each time although the statement is the same. The
/// statement is bound there to the verifier's commitment to its challenge: a prover that is restored to an
/// earlier state, session included, draws the same bytes only for the same challenge.
pub(crate) struct Draw(blake3::OutputReader);

impl Draw {
    /// The randomness of a proof of the statement, whose input values these are.
    pub(crate) fn new(
        rng: &mut dyn CryptoRng,
        system: System,
        parameters: u64,
        bound: &Bound<'_>,
        inputs: &[Option<Bits>],
    ) -> Draw {
        let mut drawn = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *drawn);
        let mut hash = blake3::Hasher::new_derive_key("comity zk randomness v1");
        hash.update(&*drawn).update(&[system.code()]).update(&parameters.to_le_bytes()).update(bound.binding());
        // The statement says how many bits each value has.
        for value in inputs.iter().flatten() {
            hash.update(&Zeroizing::new(value.to_bytes()));
        }
        let draw = Draw(hash.finalize_xof());
        hash.zeroize();
        draw
    }

    /// The next bytes.
    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }

    /// A salt, which is published with the salted values.
    pub(crate) fn salt(&mut self) -> [u8; 32] {
        let mut salt = [0; 32];
        self.fill(&mut salt);
        declassify(salt, "the verifier is told the salt")
    }
}

impl Drop for Draw {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
