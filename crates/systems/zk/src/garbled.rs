//! Zero knowledge from a garbled circuit: for statements of any size, in conversation.
//!
//! **Source**: Jawurek, Kerschbaum, Orlandi (CCS 2013, ePrint 2013/073), in deliverable D13.3 section 3.6,
//! with garbling that gives authenticity alone: Frederiksen, Nielsen, Orlandi (Eurocrypt 2015;
//! [`RowReduced`](comity_garble::RowReduced)), without rows for XOR gates by Zahur, Rosulek, Evans
//! ([`PrivacyFree`](comity_garble::PrivacyFree), the default).
//!
//! **How**
//! 1. The verifier draws a seed, from which it garbles the program.
//! 2. Committing OT: the prover gets the labels of its bits. Then the tables stream, and the prover evaluates.
//! 3. The prover commits to the labels of the outputs, whatever came out, and shows no difference until step 5.
//! 4. The verifier opens: the seed, and all OTs.
//! 5. The prover garbles again from the seed. Tables and labels must be those that it got; the tables are
//!    compared by a polynomial hash under a key of its own that nobody ever learns, so that 16 bytes of
//!    memory stand for any number of gates. Only then it opens its commitment.
//! 6. The verifier accepts if these are the labels of the expected outputs.
//!
//! No label of a public input or of a constant is sent: their active labels are known to both.
//!
//! **Adversary**: malicious, either party. A prover without a witness must guess a label: 2^-127. It can try
//! offsets by itself on the tables that it has, and `q` calls of AES find the right one with probability
//! `q 2^-127`. What a verifier learns before step 5 hides in a commitment, and in step 5 the prover looks at
//! things that do not depend on its witness: both messages of each OT, and all tables. A conversation that
//! breaks off is never resumed: the next one has another session, seed, OTs and keys.
//!
//! **Assumptions**: those of the committing OT (gap Diffie-Hellman, BLAKE3 as a random oracle), AES-128 as an
//! ideal cipher.
//!
//! **Cost**: 16 bytes an AND gate (with [`RowReduced`](comity_garble::RowReduced) a gate of any kind); 36
//! bytes a secret bit; 128 base OTs. Both keep the wires of the program, not its gates.

mod gates;
mod hash;
mod play;
#[cfg(test)]
mod tests;

pub(crate) use play::{prove, verify};
