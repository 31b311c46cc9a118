//! Non-interactive secure computation by cut-and-choose (Afshar, Mohassel, Pinkas, Riva, Eurocrypt 2014; "AMPR14").
//!
//! The receiver, party 0 and the paper's `P1`, publishes one message: the query. A sender, party 1 and `P2`,
//! answers it with one message. The receiver learns `f(x, y)` of each answer; nobody else learns anything.
//! [`publish`], [`respond`] and [`open`] are these three steps. They do no input or output but for the `Read`
//! or `Write` that an answer streams through.
//!
//! **Functionality**: Figure 1 for one answer: `(x; y) -> (f(x, y); nothing)`, with abort. One query serves
//! many answers if they are all opened together, before anybody hears of a result or of an abort; after that
//! [`Secret::refresh`] makes the next query.
//!
//! **Adversary**: malicious, static, either party. A cheating sender is caught, or the output is right, but
//! with probability `1/(2^t - 1)` for `t` copies, coded `1/C(t, e)`, and what 128-bit keys leave. With `Q`
//! answers to one query these chances add: take `t >= rho + log2 Q`. One copy is always evaluated and never
//! checked: no protection at all. That answers of different senders stay secret from, and cannot be made of,
//! each other is for a layer above, which encrypts them to the receiver.
//!
//! **Context**: 32 bytes that both sides of an answer give beside the query, and that enter its session. The
//! layer above puts there what it adds: above all the key that the answer is encrypted to. Were that not
//! bound, somebody could put a key of its own before the receiver's query, have an honest sender answer
//! *that*, decrypt the answer and encrypt it for the receiver, who would learn `f(x, y)` as the answer of one
//! who knows no `y`. With all zeros an answer is for anybody who has the query.
//!
//! **Assumptions**: DDH in ristretto255; BLAKE3 as a random oracle (CRS, pads, REHash, commitments, `K`);
//! AES-128 as an ideal cipher (garbling). The copies share the key of a gate's hash, which costs `log2(2 t)`
//! bits of its concrete security (2019/1168).
//!
//! # The messages
//!
//! `n1`, `n2`, `m` are the bits of both inputs and of the output, `i` a copy, `j` a bit, `b` a bit's value;
//! points are 32 bytes, additive, of generator `G`; scalars are sent as halves, since points are encoded many
//! at a time as doubles of others.
//!
//! **Query** (Figure 2): header, `id`, epoch; `COT1(x_j)` (64 bytes each); `COT1(t_i)` (64 bytes each),
//! `t_i = 1` if copy `i` is checked; checksum. The CRS of its OTs is hashed to the group from a label, the
//! version and `id`.
//!
//! **Answer** (Figure 3): header, the hash of query and context, and a nonce, which together make the session; then
//!
//! | # | what | bytes | from `seed_i` | check, and what fails it |
//! |---|---|---|---|---|
//! | 1 | `h = wG` | 32 | | a point: [`InvalidPoint`], [`IdentityPoint`], as for all points |
//! | 2 | input commitments `A_j = r_j G`, `B_j = r_j h + y_j G` | 64 n2 | | |
//! | 3 | output commitments `h_{j,0} = w_{j,0} G`, `h_{j,1} = w_{j,1} G` | 64 m | | `h_{j,0} + h_{j,1} = h`: [`OutputCommitments`] |
//! | 4 | circuit OTs `COT2(k_i, seed_i)` | 96 t | | |
//! | 5 | heads `X_{i,0}, X_{i,1}` of the input OTs | 64 t | yes | checked: [`TransferAnswer`] |
//! | 6 | for each `j` of `x`: both labels under the OT's pads | 32 t | yes | checked: [`TransferAnswer`] |
//! | 7 | for each `j` of `y`: `r_j - r_{i,j,y_j}` under `k_i` | 32 t | | evaluated: [`InputEquality`] |
//! | 8 | with 7: commitments to `u_{i,j,0}, u_{i,j,1}`, permuted | 64 t | yes | checked: [`InputCommitment`] |
//! | 9 | with 7: adapters from both, permuted | 32 t | yes | checked: [`GarbledCircuit`] |
//! | 10 | garbled tables, for each AND gate | 32 t | yes | checked: [`GarbledCircuit`] |
//! | 11 | decoding bits of the output | 16 t for 128 | yes | checked: [`GarbledCircuit`] |
//! | 12 | for each `j` of the output: `w_{j,b} + K_{i,j,b}` under `k_i` | 64 t | | evaluated: [`RecoveryOpening`] |
//! | 13 | cheating recovery box: the hash of all `h_{j,b} + K_{i,j,b} G` | 32 t | yes | checked: [`InputRecovery`] |
//! | 14 | coded or stored: the hash of all that is from `seed_i` | 32 t | | checked: [`GarbledCircuit`]; evaluated: [`CodedCircuit`] |
//! | 15 | checksum of all before | 32 | | damaged on the way: `Malformed`, and no verdict |
//!
//! `u_{i,j,b} = (r_{i,j,b} G, r_{i,j,b} h + b G)`. What is from `seed_i` stands side by side for all copies
//! (`t` becomes `e` where it is coded), so that both sides walk the program once. Numbers 5 to 9 come before
//! the tables and 11 to 13 after them: neither side ever holds more than the labels of the program's wires,
//! of the inputs and of the outputs, and a buffer of tables.
//!
//! **Opening** (Figure 4). For a checked copy the receiver has the seed and makes every byte again; for an
//! evaluated one it has `k_i`, finds `u_{i,j,y_j} = (A_j, B_j) - (rho G, rho h)` from the proof `rho` of
//! number 7, which must open one of the two commitments, evaluates, and takes `K` from each output label: if
//! `w_{j,b} = (w_{j,b} + K) - K` is the logarithm of `h_{j,b}` for every output bit, the copy is
//! *semi-trusted*. None is: [`NoValidCopy`]. All say the same: that is the output. Two differ in bit `j`:
//! then `w = w_{j,0} + w_{j,1}` decrypts `y_j` from `B_j - w A_j`, and the output is computed in the clear;
//! commitments to no bits: [`NoRecovery`].
//!
//! # Where the paper is silent, and what differs
//!
//! - `T`, the checked copies, is uniform among the subsets other than all (the paper's may be all, and an
//!   honest run fails then); hence `2^t - 1`.
//! - **Input OTs share their randomness** between the bits of one copy (`comity_ot::base::pvw` says why that
//!   hides as well): `X` is sent once a copy, and an answer takes half of the paper's products. All
//!   randomness is from `seed_i` still.
//! - **`u` is not sent**: it follows from the input commitment and the proof. So `inputs_i` and the equality
//!   check are one, and a wrong `u`, another input bit, and a wrong `r_j - r_{i,j,y_j}` have one name. The
//!   commitments need no salt: `u` has 250 bits of entropy, and nothing but random oracles is shown of the
//!   one that is not opened.
//! - **`K_{i,j,b}` is hashed from the output label** (section 1.2 has the label itself), so nothing is
//!   encrypted under labels. The box is one hash, for the receiver makes all its points in either case: from
//!   the seed, or from number 12, which thereby is shown to be their logarithms.
//! - **Adapters**: REHash labels have no common offset, free-XOR labels do: `W_{i,j,b}` under the pad
//!   `REHash(u_{i,j,b})`, for both `b` in the order of the commitments, which is random and from the seed.
//! - Never from the seed: the circuit OTs' answers, `k_i`, `w`, `w_{j,b}`, `r_j`. The checked copies would show them.
//! - Labels of constants and repeated outputs are as they fall: `K` is bound to `i`, `j` and `b`.
//! - Section 5's code is over GF(2^8), byte by byte, at the points 1 to `t + e`, and covers all that is from
//!   the seeds. What is wrong in a checked copy spoils what is decoded of the evaluated ones, and may be
//!   named there, before the hashes arrive: [`InvalidPoint`], [`IdentityPoint`] or [`InputEquality`]. It is
//!   an abort for every choice of copies that checks it.
//! - Section 5's form with a third party: [`Copies::stored`], [`respond_stored`] and [`open_stored`]. The
//!   rows from `seed_i` are streams for themselves, in the order of the table, and `t` becomes 0 where it
//!   says "from `seed_i`". A hash fixes a copy before it is fetched, so the bound is that of the plain form.
//!   A copy that cannot be had is an abort, and not one copy less: else a sender would store one, a wrong
//!   one, which is evaluated half of the time. That abort depends on `T`, never on an input. **Assumption**:
//!   the store hides from senders what was fetched, as long as the query takes answers.
//! - Whether an answer aborts, and by which name, depends on `T` and what the sender did, never on `x` (but
//!   for [`NoValidCopy`] and [`NoRecovery`], when every evaluated copy was guessed): it must stay with the
//!   receiver while the query lives. Whether an output was *recovered* can depend on `x`: nobody else may
//!   ever hear of it.
//!
//! **Timing**: variable time only where a checked copy is made again, which neither input enters, and where
//! nothing but public points and scalars that hide under `K` (number 12) enter. The sender's work does not
//! depend on its input, and the receiver's depends neither on `x` nor on the outputs while the copies agree,
//! as those of an honest sender do. It does depend on `T`, and where copies differ, on what they say: who can
//! watch the machine while an answer is opened must not be able to answer the same query.
//!
//! **Cost**: [`Cost`] counts bytes and group multiplications.
//!
//! [`InvalidPoint`]: checks::INVALID_POINT
//! [`IdentityPoint`]: checks::IDENTITY_POINT
//! [`OutputCommitments`]: checks::OUTPUT_COMMITMENTS
//! [`TransferAnswer`]: checks::TRANSFER_ANSWER
//! [`InputEquality`]: checks::INPUT_EQUALITY
//! [`InputCommitment`]: checks::INPUT_COMMITMENT
//! [`GarbledCircuit`]: checks::GARBLED_CIRCUIT
//! [`RecoveryOpening`]: checks::RECOVERY_OPENING
//! [`InputRecovery`]: checks::INPUT_RECOVERY
//! [`CodedCircuit`]: checks::CODED_CIRCUIT
//! [`NoValidCopy`]: checks::NO_VALID_COPY
//! [`NoRecovery`]: checks::NO_RECOVERY

mod card;
pub mod checks;
mod conduct;
mod copies;
mod cost;
mod files;
mod gates;
mod group;
mod inputs;
mod open;
mod outputs;
mod parallel;
mod plan;
mod query;
mod respond;
mod stored;
mod stream;
#[cfg(test)]
mod tests;

pub use card::CARD;
pub use cost::Cost;
pub use open::{Opened, open};
pub use plan::Copies;
pub use query::{Query, Secret, publish};
pub use respond::respond;
pub use stored::{Writers, open_stored, respond_stored};
