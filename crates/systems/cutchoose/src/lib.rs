//! Malicious two-party computation in a single execution, by cut-and-choose (Wang, Malozemoff, Katz, Eurocrypt 2017).
//!
//! **Functionality**: secure evaluation of a program; each output goes to one party or to both. With abort: a
//! party that cheats may end the run, also after it has its own output (fairness is not claimed).
//!
//! **Adversary**: malicious, either party. A cheating garbler is caught, or the output is right, but with probability
//! `1 / (2^rho - 1)` and what 128-bit keys leave.
//!
//! **Idea**. The garbler garbles the program `rho` times. The evaluator chooses in secret which copies it
//! evaluates; the others it gets the seeds of, makes them again and compares. If the garbler cheats in a copy
//! that is checked it is caught. If it cheats in a copy that is evaluated and another one is honest, the
//! outputs differ, and two different outputs hold the key to the garbler's input: the evaluator computes the
//! result from both inputs in the clear, and the garbler does not learn that this happened. A cheat escapes
//! only if exactly the evaluated copies are bad: one guess among `2^rho - 1`.
//!
//! **Protocol**: the steps in the code are those of Figures 3 and 4. `transfer`: steps 1 and 2;
//! `consistency`: 3 and 4; `gates`, `intake` and `outputs`: 5 and 6; `recovery`: 7; `consistency` again: 8.
//! The checks of step 9 are made as soon as what they look at is there, so that nothing is stored for them.
//! [`CutChoose`] is the protocol whole; [`prepare`] and [`Prepared`] are its offline and its online phase.
//! With the option `coded` the garbled circuits travel coded (`intake`).
//!
//! **Assumptions**: DDH in ristretto255 and what the OT needs (gap CDH, random oracle); AES-128 as an ideal
//! cipher; BLAKE3 as a random oracle, with 256 bits wherever something is committed to. All copies share the
//! key of a gate's hash, which costs `log2(2 rho)` bits of its concrete security (ePrint 2019/1168).
//!
//! **What leaks**. The evaluator's time depends a little on how many copies it evaluates, since checking a
//! copy takes longer than evaluating it: a garbler that measures this exactly knows how many there are, and
//! its guess is right with `rho / (2^rho - 1)`, which is `log2(rho)` bits less to guess (5.3 at rho = 40;
//! none in coded form, where the number is fixed). Nothing else that leaves the evaluator before the
//! garbler's last message depends on its choice. By whether a check aborts, two inputs of the evaluator can
//! be told apart with at most `2^-(rho - 1)` (selective failure, `probe`). Sizes are public: the program, and
//! who gives and learns how many bits.
//!
//! **Cost** for `s` copies (`s = rho`, or in coded form some more: 44 at rho = 40, of which 19 are
//! evaluated), in bytes:
//!
//! | for | garbler sends | evaluator sends |
//! |---|---|---|
//! | AND gate | 32 s, or coded 32 for each evaluated copy | |
//! | encoded input bit of the evaluator (1.2 to 3 for each bit) | 32 s | 4 |
//! | input bit of the garbler | 32 s + 4 | |
//! | output bit | 32 s + 64 + 16 | |
//! | output bit to the garbler | 12 AND gates for the tag, an input bit if only it learns it | 1/8 |
//! | run | 208 s, base OTs and trees about 12 KiB | about 12 KiB |
//!
//! Rounds do not depend on the program: base OTs, the extension's check, the committing OT's check and
//! opening, step 7. Memory: a label of each copy for each wire of the program and for inputs that wait to be
//! put in, and one buffer of tables.
//!
//! **Corrections followed, and differences from the paper**
//! - The evaluated copies are a uniform set that is not empty; the paper's may be, and then an honest run fails.
//! - Several recovered inputs, not more than two, make step 8 fail; and Lemma 4 needs two input bits of the
//!   garbler: one alone gets company, and with none there is nothing to recover.
//! - The garbler's input labels are checked by a linear check over all bits of a copy, not by commitments
//!   (`consistency`); the rows of the output tables are encrypted before they are committed to (`outputs`),
//!   `Delta` is hashed to the group (`recovery`).
//! - Recovery is always computed, with the program in the clear, whether it is needed or not, so that a
//!   garbler that waits for its outputs cannot tell by the time.
//! - The garbler's outputs are padded and tagged inside the garbled circuit (`plan`), as in Lindell and Pinkas 2007.
//! - One committing extension runs the other way (section 4.2 speaks of an ordinary one too; no step of the
//!   figures uses it).

pub mod checks;
mod conduct;
mod consistency;
mod copies;
mod costs;
mod evaluator;
mod garbler;
mod gates;
mod intake;
mod mac;
mod messages;
mod outputs;
mod plan;
mod prepared;
mod probe;
mod protocol;
mod random;
mod recovery;
mod rows;
#[cfg(test)]
mod tests;
mod transfer;

pub use plan::garbler;
pub use prepared::{Loaded, Prepared, prepare, prepare_over};
pub use probe::Probe;
pub use protocol::{CutChoose, run_over};
