//! A base file: the values that the [OPRF](crate::oprf) gives a server's set, published once as masks, for
//! many clients.
//!
//! A client reads it, asks for the values of its own items ([`crate::oprf`]), and [finds](BaseFile::find)
//! them at home. *Updates* are files, too: masks that go, and masks that come. Each names the file that it
//! follows by its digest, so that none is applied twice, left out or taken for another base's.
//!
//! **What the files show**, to anybody: how many items the set has and how many come and go, as told (dummies
//! come, and go, with them: those of an update come from what was padded before it), how many only get
//! another payload, whose mask goes and comes at once, the words for how keys are made, and the widths of
//! payload. Payload is sealed for one file: two payloads of an item have two keys. Whoever has once asked for
//! an item sees in all later updates whether it came or went, and reads its payload if it comes: its value is
//! that of the key and the item alone, and what an update seals follows from it. Only a new base, under a new
//! key, ends that. Two sets never have one key, or anybody would see what they have in common: [`Published`]
//! draws a key for each base.
//!
//! **How long masks are**: `rho + log2(N) + log2(Q)` bits for all `N` masks of a base and its updates, and
//! all `Q` queries under its key, so that in all of its life an item is taken for another one with
//! probability below 2^-rho. Both are fixed when it is published, and refused beyond.
//!
//! **Format**: little-endian. *Base*: 16 bytes of magic, the version (4), the base's id (32), `N` (8), `Q`
//! (8), rho (4), the bytes of payload an item (4), the lengths of the payload's header and of the words for
//! the encoding (4 each) and both; the number of masks (8); the masks as a [sorted list](crate::MaskList);
//! the sealed payload of each; BLAKE3 of all that (32). *Update*: magic, version, id, its own name (32), its
//! number from 1 on (8), the digest of what it follows (32), the number of masks that go and of those that
//! come (8 each), both lists, sealed payload of those that come, and the digest.

mod file;
mod published;

pub use file::{BaseFile, BaseTerms, BaseUpdate};
pub use published::{Changed, Published};

#[cfg(test)]
mod tests;
