//! Two-party computation by scrambled tables of gates: TinyTable (Damgård, Nielsen, Nielsen, Ranellucci,
//! ePrint 2016/695), in the form of deliverable D13.3 of the PRACTICE project, section 2.5.
//!
//! Each wire `u` has a random mask `r_u`, which is chosen ahead, and its value `b_u` is only seen masked,
//! `e_u = b_u + r_u` (sums are XORs). Ahead each gate gets a table, shared between the parties: at the masked
//! inputs `(c, d)` stands the masked output. So a party looks up one bit a gate, and the sum of both parties'
//! bits is the masked output. The tables depend on the program, and serve one run of it.
//!
//! **Functionality**: secure evaluation of a program between two parties; each output goes to one of them or
//! to both.
//!
//! **Adversary**. [`TinyTableSemiHonest`]: semi-honest. A peer that breaks the rules can change any AND and
//! any output, unnoticed, and through the OT extension learn the masks of the other party, and with them its
//! inputs. [`TinyTable`]: malicious and static, with abort.
//!
//! **Assumptions**: those of the triples that tables are made of, as in [`comity_gmw`] and
//! [`comity_triples`]; for the malicious form BLAKE3 as a random oracle.
//!
//! - [`authenticated`]: the malicious form, by its steps.
//! - [`semi_honest`]: figure 2.5, making the tables, and figure 2.6, looking up in them.
//! - [`boxes`]: what is looked up whole, such as S-boxes, in the semi-honest form.
//! - [`kept`]: what a party keeps of them.
//! - [`masked`]: the walk over a program on masked bits. Its order is the order in which tables were made.
//! - [`TinyTableSemiHonest`] and [`TinyTable`]: all of it as protocols.
//!
//! **Cost** of the semi-honest form: ahead a [triple](comity_gmw::dealers) and two bits each way for an AND
//! gate; then one bit each way, half of what GMW sends. XOR and NOT cost nothing. An input bit is a bit of
//! its owner, an output nothing. Rounds: those of the triples, one for 2^18 gates, and one for each output;
//! then one for each layer of ANDs and 2^18 of them. A party keeps two bits for each AND gate, which are in
//! memory where there is no store.
//!
//! **Different from the deliverable.** Figure 2.6 sends `x_u + b_u` for an input, where `b_u` is the wire's
//! value in the text: it is the mask `r_u`, and of own wires. XOR and NOT have no tables, so their masks are
//! not drawn: `r_o = r_u + r_v`, and `r_o = r_u`. A table of an AND is linear,
//! `A[c, d] = t + c r_v + d r_u + cd`, the last term at party 0 alone. So a party keeps `t` and its share of
//! `r_o`, two bits instead of four entries, and adds up its shares of `r_u` and `r_v` along every XOR once
//! more in the run. The malicious protocol that the section announces is not in it: [`authenticated`] is
//! built on TinyOT's triples.

pub mod authenticated;
pub mod boxes;
mod conduct;
mod costs;
pub mod kept;
pub mod masked;
mod protocol;
pub mod semi_honest;
#[cfg(test)]
mod tests;

pub use protocol::{TinyTable, TinyTableSemiHonest, run_malicious_over, run_over};
