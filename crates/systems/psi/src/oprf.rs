//! An oblivious pseudo-random function by a garbled circuit: D13.3, section 5.2.1, for sets of very different sizes.
//!
//! The function is AES-128 under the server's key. The client learns its values at inputs of its own, and the
//! server learns how many. A server whose set is large [publishes](crate::base) the values of its items once,
//! as masks; each client then asks for those of its own few items, and looks them up at home. So a query
//! costs what the client's set costs (Kiss, Liu, Schneider, Asokan, Pinkas, PoPETs 2017, ePrint 2017/670,
//! which does so for the same function).
//!
//! **Protocol**. *Offline*, for each query to come ([`Oprf::prepare`], [`OprfQuestions::prepare`]):
//! 1. 128 COTs of random choice bits `r`, with the garbling's delta: the server gets `q_j`, the client
//!    `t_j = q_j ^ r_j delta`.
//! 2. The server garbles AES with half gates, and sends the tables. It expands the key itself. A round key's
//!    bit `k` is a wire whose active label is zero and whose label for zero is `k delta`: it is only ever
//!    added to a wire of the state, where the server moves the labels and nothing is sent.
//!
//! *Online* ([`OprfQuestions::ask`], [`OprfAnswers::answer`], [`OprfAsked::values`]), for an input `x`:
//! 3. The client sends `d = x ^ r`.
//! 4. The server sends `c_j = w_j ^ q_j ^ d_j delta` for each bit, where `w_j` is the input's label for zero,
//!    and the colours of the output's.
//! 5. The client has the active labels `c_j ^ t_j = w_j ^ x_j delta`, and evaluates.
//!
//! **Adversary**. *Client*: malicious. The OTs withstand one; then it has one label of each input bit,
//! whatever `d` it sends, and an evaluator has no other freedom. It may ask what it likes, and whoever asks
//! for everything learns the set: limits are for the caller. *Server*: semi-honest. One that garbles another
//! function gets no output, but the client's values are then those of that function, and whether the client
//! goes on may tell something of its input. A circuit is for one input: two would give away delta and with it
//! the key, so both halves are consumed by value. The output's colours come last: tables that are there
//! before the input is chosen bind nobody to an output.
//!
//! **Assumptions**: those of [SoftSpoken OT](comity_ot::softspoken) in the malicious model; AES-128 as an
//! ideal cipher (garbling, also with inputs that are chosen after the tables are there) and as a
//! pseudo-random function.
//!
//! **Cost** of a query: 5,120 AND gates, 160 KiB and 0.5 KiB of OTs before the input is known; 2,080 bytes
//! when it is, and one round trip for all queries of a run. A party that keeps nothing beforehand prepares
//! and asks [`OPRF_ROUND`] at a time ([`ask`], [`Oprf::serve`]): 40 MiB of tables are in memory, however many
//! queries there are, for a round trip each.
//!
//! **Differences from the section.** It counts 5,440 ANDs, with S-boxes of 34; they have 32 here. It sends
//! two masked labels for each input bit online (4 KiB a query); with OTs whose correlation is the garbling's
//! delta one is enough. LowMC, which it names beside AES, is not offered: its parameters were changed after
//! attacks, more than once.
//!
//! [`evaluate_over`] gives the same values by a program under any general protocol, such as GMW, without a
//! phase of its own before.

mod half;
pub(crate) mod method;
mod program;

pub use half::{OprfAnswers, OprfAsked, OprfQuestions, answer, ask, query};
pub use program::{OprfInput, evaluate_over};

use comity_circuit::{Builder, Circuit, Goal, eval_circuit};
use comity_core::{Aes128, Backend, Bits, Block};
use comity_library::aes::KeySchedule;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// The levels of the OTs' trees: 4 bytes an OT, far below the tables.
pub(crate) const LEVELS: usize = 4;

/// Bits of the round keys.
const ROUND_KEYS: usize = 11 * 128;

/// Bits of an input and of a value.
const WIDTH: usize = 128;

/// AND gates of a query.
pub const OPRF_ANDS: usize = 5120;

/// Bytes of the tables of a query, which are sent before the input is known.
pub const OPRF_TABLES: usize = 32 * OPRF_ANDS;

/// Bytes of a query when the input is known: from the client, and from the server.
pub const OPRF_ONLINE: [usize; 2] = [WIDTH / 8, Block::BYTES * WIDTH + WIDTH / 8];

/// The most queries that are prepared, kept and used up together.
pub const OPRF_TOGETHER: usize = 64;

/// The most queries that [`ask`] has prepared at a time: their tables are 40 MiB.
pub const OPRF_ROUND: usize = 4 * OPRF_TOGETHER;

/// The function, with the server's key, AES-128. Wiped on drop.
pub struct Oprf {
    key: Zeroizing<[u8; 16]>,
}

impl Oprf {
    /// A new key.
    pub fn random(rng: &mut dyn CryptoRng) -> Oprf {
        let mut key = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut *key);
        Oprf { key }
    }

    /// The function of a stored key.
    pub fn new(key: [u8; 16]) -> Oprf {
        Oprf { key: Zeroizing::new(key) }
    }

    /// The key, to be stored. Secret.
    pub fn key(&self) -> &[u8; 16] {
        &self.key
    }

    /// The values at these inputs, computed with the key. They are secret.
    pub fn evaluate(&self, backend: Backend, inputs: impl ExactSizeIterator<Item = u128>) -> Zeroizing<Vec<Block>> {
        let mut values = Zeroizing::new(Vec::with_capacity(inputs.len()));
        values.extend(inputs.map(|input| Block::new(input.to_be_bytes())));
        Aes128::new(backend, Block::new(*self.key)).encrypt(&mut values);
        values
    }

    /// The round keys, as the circuit takes them.
    fn round_keys(&self) -> Bits {
        let mut b = Builder::new();
        let key = b.input("key", 128);
        let schedule = KeySchedule::expand(&mut b, &key).to_wires(&mut b);
        b.output("round keys", &schedule);
        let key = Bits::from_u128(u128::from_be_bytes(*self.key), 128).expect("128 bits");
        eval_circuit(&b.finish(), &[key]).remove(0)
    }
}

/// The function as a circuit, of the round keys and an input.
fn circuit(goal: Goal) -> Circuit {
    let mut b = Builder::for_goal(goal);
    let keys = b.input("round keys", ROUND_KEYS);
    let input = b.input("input", WIDTH);
    let value = KeySchedule::from_wires(&keys).encrypt(&mut b, &input);
    b.output("value", &value);
    b.finish()
}

/// The value of an output of the circuit.
fn value(output: u128) -> Block {
    Block::new(output.to_be_bytes())
}

#[cfg(test)]
mod tests;
