//! Non-interactive computation for people: one publishes a query, many send sealed answers, and one batch
//! opens them all.
//!
//! [`comity_nisc`] carries the protocol (Afshar, Mohassel, Pinkas, Riva, Eurocrypt 2014; "AMPR14") for one
//! query and one answer. This crate makes of it what the paper calls MS-NISC, many senders who do not trust
//! each other: answers are encrypted to the receiver, and opened in batches. Nothing here does input or
//! output but through `Read` and `Write`.
//!
//! - [`QueryKey::publish`] makes a [`QueryKey`], which stays at home, and [`QueryKey::query`] its [`Query`],
//!   which anybody may see.
//! - [`respond`] writes a sealed answer to a query. The sender chooses the [`Name`] in it; it proves nothing.
//! - [`QueryKey::batch`] opens answers. A [`Batch`] tells its [`Verdict`]s only after the key, marked as
//!   spent, was saved.
//! - [`QueryKey::refresh`] makes the next query for the same input.
//!
//! **Functionality**: Figure 1 of the paper: the receiver learns `f(x, y_i)` of all senders at once, with
//! abort for each sender; nobody else learns anything, but that an answer was sent, how long it is, and its
//! sender's name.
//!
//! **Adversary**: malicious, static: the receiver, or any number of senders. A cheat among `Q` answers of one
//! batch escapes with probability at most `Q` times that of one ([`comity_nisc::Copies::security`]).
//!
//! # Sealed answers
//!
//! An answer in the clear tells every reader of the mail something about it, and could be sent again, or
//! changed, in another's name. So it is sealed with HPKE (RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305,
//! base mode) to a key that is part of the query. `info` is the query's fingerprint. The associated data of
//! each chunk of 64 KiB is the hash of the answer's head (version, program, query, name), and whether the
//! chunk is the last one; HPKE's sequence number is its place. So a chunk that is missing, moved, or taken
//! from another answer does not open.
//!
//! **Copying.** The seal is bound to what is in it, and what is in it to the seal: the hash of head and
//! encapsulated key is the context of [`comity_nisc::respond()`], and so part of the session of every
//! oblivious transfer, hash and garbled gate inside. Without that, somebody could put its own key for answers
//! before another's query; unseal what an honest sender answers to that; and seal it again, as its own
//! answer, for the other, who would open `f(x, y)` of a `y` that the one who answers never knew. Now what was
//! made for one seal opens in no other: under no other query, refreshed or not, nor name, nor a second time.
//! An answer whose encapsulated key was seen before is refused: it repeats another one. The key remembers
//! these, of refused answers too, so that all of this holds for all the batches that a key opens. It does not
//! hold that different answers are of different people: a sender may answer as often as it likes, and with a
//! `y` that another has told it.
//!
//! # Batches
//!
//! Whether a cheat is found out depends on which copies are checked, so that whoever hears of it learns
//! something about them; and could cheat where it is not seen with the next answer (AMPR14, section 1.2). Two
//! ways to open keep that from happening:
//!
//! - [`Batch::close`], for MS-NISC: all answers first; then the key is marked as spent; then the verdicts.
//!   Later answers to that query are refused. The same answers can be opened again, since that tells nothing
//!   new.
//! - [`Batch::settle`], for adaptive MS-NISC: verdicts as answers come, until the first one is refused. Up to
//!   then every output is `f(x, y)`, so that all that senders learn of the checked copies is that no cheat
//!   met one: a sequence of `Q` cheats, each made for the case that none before was refused, is as good as
//!   `Q` cheats of one batch, and the bound is the same. The first refusal marks the key as spent. What
//!   remains: senders may choose their inputs by the results of others, and one cheater forces a refresh.
//!
//! Whether an answer is refused depends on the checked copies alone, but **whether an output was recovered
//! ([`Opened::recovered`](comity_nisc::Opened)) can depend on the receiver's input**: a copy may be made to
//! fail for one value of a bit. So a recovered output counts as any other, for both ways to open, and nobody
//! but the receiver may ever hear of it, nor see it act on it, refreshed or not: a sender who did would learn
//! that bit.
//!
//! The mark is in the key. **A copy of the key that was made before knows nothing of it**: a receiver who
//! opens a second batch with a copy (a backup, a second machine) has no protection against cheats. And
//! verdicts (that a cheat was seen, and which) are the receiver's alone as long as the query lives.
//!
//! # Stored copies
//!
//! A query may ask that the copies of the garbled circuit wait in a store ([`comity_nisc::Copies::stored`]):
//! [`respond_stored`] writes them there, and the receiver fetches those that it evaluates. **Assumption**:
//! who runs the store, or sees it being read, does not tell senders which were fetched. So fetching comes
//! last: [`Batch::admit`] notes all answers, [`Batch::fetch`] has the key saved as spent, and only then
//! [`Fetching`] opens answers; there is no adaptive way. The same copies can be fetched again: that tells
//! nothing new. A [`CopyStore`] that costs nothing to read is read whole.
//!
//! A copy is sealed as an answer is, with an encapsulated key of its own, and in HPKE's PSK mode: the
//! pre-shared key is exported from the seal of the answer, so that nobody but its sender (and the receiver)
//! can have sealed the copy. The associated data are a hash of the answer's context and the number of the
//! copy. In the clear are what the file is and the encapsulated key. Its name in the store is made of a hash
//! of the answer's context, which is random, and the copy's number. A copy that does not open is nobody's
//! fault; one that opens, and is not what the answer says, is its sender's. Never ask a sender for one copy
//! again: it is one that is evaluated.
//!
//! **Cost**: the answer grows by 147 bytes, the name and 16 bytes for each chunk, a part in 4,096; one pass
//! of the cipher and one of a hash.

mod answer;
mod batch;
mod envelope;
mod file;
mod head;
mod key;
mod name;
mod query;
mod seal;
mod store;
#[cfg(test)]
mod tests;

pub use answer::{examine, examine_copy, respond};
pub use batch::{Batch, Fetching, Verdict};
pub use file::FileKind;
pub use head::Head;
pub use key::QueryKey;
pub use name::{Name, Reference};
pub use query::Query;
pub use seal::{Sealer, stored_bytes};
pub use store::{CopyStore, Destination, respond_stored};
