//! What follows from the two secrets of a copy: `seed_j`, from which all of copy `j` is made, and `key_j`, under which
//! travels what only the evaluator of the copy may see.
//!
//! Three things have no more in common than the copy's number: `delta_j`, the offset between the two labels of
//! every wire of copy `j`, which follows from `seed_j`; `Delta`, the offset of the output labels of step 5, which is
//! the same in all copies and follows from no seed; and `key_j`.
//!
//! Every use has a key of its own, derived by BLAKE3 from secret, session, copy and use, and a place in that key's
//! stream; nothing reads a place twice.

use comity_core::{Backend, Block, Delta, Prg, SessionId};
use comity_garble::lockstep::expand;
use comity_protocol::Here;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::recovery::Scalars;

/// A secret of a copy: `seed_j` or `key_j`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct CopySecret(pub(crate) Block);

/// A copy of the garbled circuit, as far as it is made from `seed_j`.
pub(crate) struct Replica {
    /// The seed, `seed_j`.
    pub(crate) seed: CopySecret,
    /// The offset `delta_j` between the labels of a wire.
    pub(crate) delta: Delta,
    /// The stream `PRF(i, 0, "A")`, with `delta_j` more `PRF(i, 1, "A")`: labels of the garbler's inputs, then `nu_j`
    /// of step 4.
    pub(crate) a: Prg,
    /// The stream for "B" in the same way: labels of the evaluator's encoded input.
    pub(crate) b: Prg,
    /// The stream `PRF(i, "R")`.
    pub(crate) r: Prg,
    /// The salt of the commitment `c_j^T`.
    pub(crate) salt: Zeroizing<[u8; 32]>,
    /// The scalars `s_j` and `t_j` of step 7.
    pub(crate) scalars: Scalars,
    /// The seeds of the streams `a` and `r`.
    streams: Zeroizing<[Block; 2]>,
}

/// The streams of `key_j`, which mask the values that steps 3, 4 and 5 encrypt under it.
pub(crate) struct KeyStreams {
    /// The mask of step 3.
    pub(crate) r: Prg,
    /// The mask of step 4: pads of the labels, then `mu_j`, and the pad of `N_j`.
    pub(crate) a: Prg,
    /// The mask of step 5.
    pub(crate) t: Prg,
}

/// The block of the next 16 bytes.
fn block(bytes: &mut &[u8]) -> Block {
    let (block, rest) = bytes.split_first_chunk().expect("enough was derived");
    *bytes = rest;
    Block::new(*block)
}

impl Replica {
    /// Copy `j` from its seed.
    pub(crate) fn new(backend: Backend, session: &SessionId, j: usize, seed: CopySecret) -> Replica {
        let mut bytes = Zeroizing::new([0; 64 + 32 + 128]);
        expand("comity cut-and-choose: from the seed of a copy", session, j, seed.0, &mut bytes[..]);
        let mut rest = &bytes[..];
        let delta = Delta::new(block(&mut rest));
        let [a, b, r] = [(); 3].map(|()| block(&mut rest));
        let streams = Zeroizing::new([a, r]);
        let [a, b, r] = [a, b, r].map(|seed| Prg::new(backend, seed));
        let (salt, scalars) = rest.split_first_chunk().expect("enough was derived");
        let scalars = Scalars::from_bytes(scalars.try_into().expect("enough was derived"));
        Replica { seed, delta, a, b, r, salt: Zeroizing::new(*salt), scalars, streams }
    }

    /// Copies 0, 1, ... from their seeds.
    pub(crate) fn all(here: Here, seeds: &[CopySecret]) -> Vec<Replica> {
        let copy = |(j, seed): (usize, &CopySecret)| Replica::new(here.backend, &here.session, j, seed.clone());
        seeds.iter().enumerate().map(copy).collect()
    }

    /// The streams of the garbler's input labels and of "R" once more, from their start.
    pub(crate) fn again(&self, backend: Backend) -> [Prg; 2] {
        self.streams.map(|seed| Prg::new(backend, seed))
    }

    /// The stream `PRF(i, "R")` of a seed alone, as recovery needs it.
    pub(crate) fn recovered(backend: Backend, session: &SessionId, j: usize, seed: CopySecret) -> Prg {
        Replica::new(backend, session, j, seed).r
    }
}

impl KeyStreams {
    /// The streams of `key_j`.
    pub(crate) fn new(backend: Backend, session: &SessionId, j: usize, key: &CopySecret) -> KeyStreams {
        let mut bytes = Zeroizing::new([0; 48]);
        expand("comity cut-and-choose: from the key of a copy", session, j, key.0, &mut bytes[..]);
        let mut rest = &bytes[..];
        let [r, a, t] = [(); 3].map(|()| Prg::new(backend, block(&mut rest)));
        KeyStreams { r, a, t }
    }

    /// The streams of `key_0`, `key_1`, ...
    pub(crate) fn all(here: Here, keys: &[CopySecret]) -> Vec<KeyStreams> {
        keys.iter().enumerate().map(|(j, key)| KeyStreams::new(here.backend, &here.session, j, key)).collect()
    }
}
