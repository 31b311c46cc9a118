//! Malicious two-party computation by authenticated garbling (Katz, Ranellucci, Rosulek, Wang, Crypto 2018,
//! ePrint 2018/578; after Wang, Ranellucci, Katz, CCS 2017, ePrint 2017/030).
//!
//! **Functionality**: secure evaluation of a program; each output goes to one party or to both; with abort: a
//! party that cheats may end the run, also after it has its own output (fairness is not claimed).
//!
//! **Adversary**: malicious, either party, static. A cheat succeeds with probability 2^-rho, by the dealer's
//! buckets; with 2^-126 and what a collision of BLAKE3 takes in all else.
//!
//! **Idea**. One garbled circuit. The value of each wire is hidden by a *mask*, of which each party has a
//! share with a MAC under the other's global key; what the evaluator sees of a wire is its *masked value*.
//! The garbler's global key is its offset `R` between labels, so that shares of masks under MACs are shares
//! of masks times `R`: just what rows are made of. So the garbler cannot say which mask a row is for, and the
//! evaluator's MACs complete the rows. A row that is wrong gives a masked value that is not the circuit's, or
//! a label that opens nothing; and masked values are checked, all at once, against the shares of the masks.
//!
//! **Protocol**, for each chunk of 32,640 AND gates
//! 1. *Masks*: random authenticated bits, one for each AND gate's output (of XORs they are sums), and for
//!    inputs bits of the owner's own.
//! 2. *Products* `l_u l_v` of an AND gate's masks, by a triple and two opened bits each way (`live`).
//! 3. *Rows*: the garbler sends two blocks and a bit for each AND gate
//!    ([`AuthGarbler`](comity_core::AuthGarbler) has the formulas); the evaluator evaluates.
//! 4. *Masked values*: the evaluator tells those of all AND gates.
//!
//! Inputs come before the gates that read them: the owner tells the masked bits, the garbler sends the labels
//! that stand for them. Before an output leaves: what was opened in step 2 is settled; the circuit check
//! (`verdict`) compares digests over both parties' MACs, by commit and open; then each recipient gets the
//! peer's shares of the output's masks, with their MACs. Nothing that a party sends before the check depends
//! on the masked values that it was told, but what the check looks at.
//!
//! **Two phases**. Steps 1 to 3 need no input, so all rows can be made and sent ahead (`stored`): for one
//! program, garbled; or the dealer's material for any, `shares`, which are those of tinyot. Garbled ahead,
//! the evaluator sees the rows before inputs are chosen: then the garbling must be *adaptively* secure, as
//! half gates are where the hash is an ideal cipher that a simulator may program.
//!
//! **Keys end with a check**. A check that began and has not passed, whatever the reason, is the end of a
//! global key: a run without a store has keys of its own, a garbled program is a lot by itself, and a lot of
//! shares is told (`check_begins`).
//!
//! **Assumptions**: AES-128 as an ideal cipher and a pseudo-random generator, BLAKE3 as a random oracle, gap
//! Diffie-Hellman in ristretto255 (base OT). The hash of the gates is circular correlation robust for `R`, of
//! which two bits are fixed; its keys are [`Starts`](comity_core::Starts)', a hash of the session, and never
//! come twice under one `R`.
//!
//! **Cost**, bytes both ways:
//!
//! | for | bytes | |
//! |---|---|---|
//! | AND gate: triple | 167, or 223 | three leaky ANDs, or four: as [`Budget`](comity_triples::bucket::Budget) says |
//! | AND gate: mask | 7.8 | |
//! | AND gate: opened bits | 0.5 | |
//! | AND gate: rows, and a bit | 32.1 | from the garbler |
//! | AND gate: masked value | 0.1 | from the evaluator |
//! | input bit | 16 + 1/8, and 4 | from the garbler; and the mask |
//! | output value | 32 and an eighth a bit, for each recipient | and 160 for the checks before it |
//! | run | some 20 KiB | base OTs |
//!
//! Rounds: seven for the set-up, three for all masks of inputs and of the first chunk, five for each later
//! chunk, three for an output; of the dealer five for a batch of triples, and five for each 87,040 of its
//! leaky ANDs. Memory: a batch of the dealer (12 to 36 MiB; 102 to 144 where buckets of three want it,
//! between 280,000 and a million AND gates), 25 MiB for chunks, 49 bytes for each wire of the program.
//!
//! **Differences from the paper.** Garbling and evaluation go chunk by chunk, so that memory does not grow
//! with the program: all that there is to be checked is checked before an output, and until then all that a
//! party sends is masked. The circuit check compares digests over both parties' MACs, by commit and open
//! (`verdict` says why, and what a digest over one party's MACs would give away). Triples are made for any
//! program, and not for the masks that a program gives:
//!
//! **What triples for one program would spare.** In a bucket of leaky ANDs `(x_j, y_j, z_j)` only the `x_j`
//! can leak, and the triple's second factor is `y_1`. Where the program is known first, `y_1` can be the mask
//! `l_v` itself: it is an authenticated bit that is there anyhow, and it stays hidden, since the `y_j` that
//! it is opened with are fresh. Then `e` is zero, and `d = l_u + x_1 + ... + x_B` can be shown in the message
//! that combines the bucket. (`x_1` cannot be `l_u` in the same way: a leaked `x_1` would be a leaked mask.)
//! Bytes of an AND gate both ways, an OT being 31/8 bytes each way:
//!
//! | | any program, as here | one program |
//! |---|---|---|
//! | OTs of the leaky ANDs | 3 B · 31/4 | (3 B - 1) · 31/4 |
//! | their `G` and a bit | B · 32 1/4 | the same |
//! | `y_1 + y_j` | (B - 1)/4 | the same |
//! | OT of the output's mask | 31/4 | the same |
//! | `d` and `e` | 1/2 | 1/4 |
//! | rows and masked value | 32 1/4 | the same |
//! | all, B = 3 | 207.5 | 199.5 |
//! | all, B = 4 | 263 1/4 | 255 1/4 |
//!
//! So it spares 31/4 + 1/4 = 8 bytes, 3.9 or 3.0 per cent, and one message of some twenty for a chunk. (With
//! an extension of 128 bits an OT, as was usual in 2018, the bit alone is 32 bytes.) It costs the walk over
//! the program a batch of triples ahead, with 32 bytes of masks for each of its 32,768 to 524,288 gates; a
//! dealer that takes bits from outside, the same one in several ANDs; and material that is for one program,
//! where `shares` now serve any. That is not worth it, and is not done.

pub mod checks;
mod conduct;
mod costs;
mod gates;
mod live;
mod protocol;
mod run;
mod stored;
#[cfg(test)]
mod tests;
mod verdict;
mod walk;

pub use protocol::{Ag, run_over};
