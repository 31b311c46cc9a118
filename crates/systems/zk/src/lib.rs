//! Zero knowledge: proofs that one knows the secret inputs of a program.
//!
//! A [`Statement`] is a program, the values of its public inputs, and what (some of) its outputs must be.
//! Party 0's inputs are secret: the *witness*. [`prove`] makes a [`Proof`], bytes that go into a file;
//! [`verify`] says whether it holds. [`Verifier`] and [`Prover`] are the same in conversation: the challenge
//! is drawn, committed to beforehand, and not hashed. All of them are functions of their arguments, and need
//! no operating system.
//!
//! | system | what it is | bytes | soundness |
//! |---|---|---|---|
//! | [`System::ZkBoo`] | figure 3.5 of deliverable D13.3 | two bits an AND gate and round | (2/3)^r |
//! | [`System::ZkbPlusPlus`] | the same, without what the verifier computes | one bit an AND gate and round | (2/3)^r |
//! | [`System::Kkw`] | 64 parties with preprocessing | 54 bits an AND gate at 128 bits | the formula of its section 2.1 |
//! | [`System::VoleInTheHead`] | MACs on wires under a key that is a hash, in files only | 15 bits an AND gate | 2^-126 |
//! | [`Conversation::Vole`] | MACs on wires, in conversation only: [`prove_to`] | a bit an AND gate and its COT, streamed | 2^-125 |
//! | [`Conversation::Garbled`] | a garbled circuit, in conversation only | 16 bytes an AND gate, streamed | 2^-127 |
//! | [`Conversation::GarbledRows`] | the same as first published | 16 bytes a gate | 2^-127 |
//!
//! **Functionality**: zero-knowledge proof of knowledge of `w` with `P(w, public) = expected`,
//! non-interactive by Fiat and Shamir.
//!
//! **Adversary**: malicious, either party. A prover that knows no witness passes with `(2/3)^r` in
//! conversation. A hashed challenge can be tried again: `q` hashes give a forger about `q (2/3)^r`, so that a
//! file has 219 rounds, 128 bits, or what VOLE in the head has of these, [`FILE_BITS`], and nothing less.
//! [`Soundness`] has the numbers, and [`System::bits`] what each system makes of them. Beside its one guess a
//! prover of a garbled circuit can try keys by itself: `q` calls of AES find the one that garbled with
//! probability `q 2^-127`. So it is with MACs on wires from 2^21 gates on, with `q 2^-122`, since the OTs are
//! silent then.
//!
//! **Assumptions**: BLAKE3 as a random oracle (which a simulator programs), AES-128 as a pseudorandom
//! generator. Both are thought to withstand quantum computers, at half of the bits.
//!
//! **Who is convinced**: by a file, everybody. In conversation the verifier, and a prover can deny: in the
//! systems of three moves also to a verifier that does not follow the rules. It commits to its challenge
//! before the prover says anything, and the prover answers that challenge alone, so a simulator that sees the
//! verifier's calls of the random oracle, and programs none, finds the challenge in that of the commitment
//! and makes up the rest ([`Verifier`] believes it, as a test shows). Nothing that is hashed there fits a
//! file. Whoever drew the challenge and sits beside the verifier *is* the verifier, though. With MACs on
//! wires and garbled circuits the same is claimed of a verifier that follows the rules; of another one zero
//! knowledge is, but the simulators of their OTs program the oracle, and so nothing is claimed on what it
//! could show to others.
//!
//! **A prover that is put back** to an earlier state answers no second challenge with the same seeds, in
//! files and in the systems of three moves: all it draws depends on the verifier's commitment, too. With MACs
//! on wires and garbled circuits nothing of the kind is claimed.
//!
//! **Policy**: a verifier takes the system and the salt from a proof and nothing else. Statement, level and
//! context are its own. An output of which nothing is expected is no part of the statement, and a proof holds
//! no share of it.
//!
//! ```
//! use comity_circuit::{Builder, Program, Wire};
//! use comity_core::{Backend, Bits, Prg};
//! use comity_zk::{Proof, Statement, System, prove, verify};
//! use rand_core::SeedableRng;
//!
//! // "I know a byte, below, which and 0x5a have 0x42 in common."
//! let mut b = Builder::new();
//! let (secret, public) = (b.input("secret", 8), b.input("mask", 8));
//! let both: Vec<Wire> = secret.iter().zip(&public).map(|(&x, &y)| b.and(x, y)).collect();
//! b.output("both", &both);
//! let program = Program::from_circuit(b.finish())?; // value 0 is party 0's: secret
//!
//! let byte = |n: u8| Some(Bits::from_bytes(&[n], 8));
//! let statement = Statement::new(&program, &[None, byte(0x5a)], &[byte(0x42)], b"an example")?;
//! # let mut rng = Prg::from_seed([7; 16]);
//! let proof = prove(Backend::detect(), &statement, &[byte(0xe7), None], System::ZkbPlusPlus, &mut rng)?;
//!
//! let received = Proof::from_bytes(&proof.to_bytes())?;
//! verify(Backend::detect(), &statement, &received)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod card;
mod challenge;
pub mod checks;
mod conversation;
mod converse;
mod draw;
mod garbled;
mod gates;
mod kkw;
mod macs;
mod proof;
mod sliced;
mod statement;
mod system;
#[cfg(test)]
mod tests;
mod tree;
mod vole;
mod voleith;
mod zkboo;

pub use card::CARD;
pub use comity_core::Commitment;
pub use conversation::{Asked, FIRST, OPENING, ProofTerms, Prover, Verifier};
pub use converse::{Conversation, prove_to, verify_from};
pub use proof::{FILE_BITS, Proof, ProofHead, Valid, prove, verify};
pub use statement::{PROVER, Statement};
pub use system::{Soundness, System};
