//! Hashes, generators, commitments and transcripts.

pub(crate) mod aes;
pub(crate) mod commit;
pub(crate) mod cr;
pub(crate) mod framing;
pub(crate) mod gate_hash;
pub(crate) mod half_tree;
pub(crate) mod prg;
pub(crate) mod short_hash;
pub(crate) mod sum_hash;
pub(crate) mod tccr;
pub(crate) mod transcript;
