//! Private function evaluation: one party has a function, the other one an input, and nobody learns more than
//! the result and the function's [`Shape`], the numbers of its inputs, outputs and gates.
//!
//! **Sources**: PRACTICE deliverable D13.3 (2016), section 2.4; L. G. Valiant, "Universal circuits" (STOC
//! 1976); H. Liu, Y. Yu, S. Zhao, J. Zhang, W. Liu, "Pushing the Limits of Valiant's Universal Circuits"
//! (CRYPTO 2021, ePrint 2020/161), whose circuit of switches it is.
//!
//! **How**: the function becomes the [bits](Function::program) of a
//! [universal circuit](comity_library::universal), which is a program as any other, `universalNxWxK` in the
//! library: `N` bits in, `W` bits out, `K` gates. The owner of the function puts the bits in as its input,
//! and any protocol for programs computes it. So the adversary, the assumptions and the leakage are those of
//! the protocol that is taken; any bits are *some* function of the shape, so a cheating owner gains nothing
//! but the choice of the function, which it has anyway. Three protocols, all against semi-honest parties, are
//! for private functions alone: [`YaoPfe`], in which the owner of the function garbles what it knows, and
//! [`PFE_OT`] and [`PFE_LINEAR`], which have no universal circuit.
//!
//! **What stays open**: the shape. Gates are counted with those that copy, since no gate of a universal
//! circuit is read more than twice; [`Shape::gates`] can be larger than what a function needs, and so hide
//! it. An [`Arity`] says besides how often each wire is read, which makes the circuit about a tenth smaller,
//! and is much of the function. And the function itself is its owner's choice: it may give back the whole
//! input, if its output has room. The owner of the input bounds that by the number of outputs, and by who
//! learns them.
//!
//! **Cost**: `3 n log2 n` AND gates for the switches, with `n` inputs, gates and outputs in all, somewhat
//! less in fact ([`Shape::program_bits`] is the number of switches, and four bits a gate), and three for each
//! gate. Making the bits takes time and memory of the owner alone, and depends on the function.

mod card;
mod embed;
mod function;
pub mod garbled;
pub mod permuted;
mod readers;

pub use card::CARD;
pub use comity_library::universal::arity::Arity;
pub use comity_library::universal::valiant::Split;
pub use comity_library::universal::{Construction, Shape};
pub use function::Function;
pub use garbled::YaoPfe;
pub use permuted::{PFE_LINEAR, PFE_OT, PfePermuted};

#[cfg(test)]
mod tests;
