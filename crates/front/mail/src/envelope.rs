//! What is outside of a seal, and what it is bound to: an answer's and its stored copies'.

use blake3::Hasher;
use hpke::{HpkeError, PskBundle};
use zeroize::Zeroizing;

use crate::file::FileKind;

/// Bytes of an encapsulated key.
pub(crate) const ENCAPSULATED: usize = 32;

/// An envelope: everything in which an answer and a stored copy differ, which is outside of the seal, and the
/// values that the seal is bound to. `M` is the mode of HPKE at the sender or at the receiver.
pub(crate) struct Envelope<'a, M> {
    pub(crate) kind: FileKind,
    pub(crate) mode: M,
    pub(crate) info: Vec<u8>,
    /// The bytes in the clear before the encapsulated key.
    pub(crate) clear: &'a [u8],
    /// The text that the chunks are bound to.
    pub(crate) bound: [u8; 33],
}

impl<'a, M> Envelope<'a, M> {
    /// The envelope of the answer with this head to this query.
    pub(crate) fn answer(mode: M, query: &[u8; 32], head: &'a [u8]) -> Envelope<'a, M> {
        Envelope { kind: FileKind::Answer, mode, info: info(query), clear: head, bound: bound(head) }
    }

    /// The envelope of copy `i` of the answer with this tie to this query; `start` is the start of its file.
    pub(crate) fn copy(mode: M, query: &[u8; 32], tie: &Tie, i: usize, start: &'a [u8]) -> Envelope<'a, M> {
        Envelope { kind: FileKind::Copy, mode, info: Tie::info(query), clear: start, bound: tie.bound(i) }
    }
}

fn info(query: &[u8; 32]) -> Vec<u8> {
    [&b"comity mail 2: an answer"[..], query].concat()
}

/// The text that the chunks of the answer with this head are bound to; the last byte says whether one is the last.
fn bound(head: &[u8]) -> [u8; 33] {
    let mut bound = [0; 33];
    bound[..32].copy_from_slice(&blake3::derive_key("comity mail: the head of an answer", head));
    bound
}

/// The context, which differs for all answers to all queries: the hash of its head and its encapsulated key.
/// The sealed bytes are bound to it from the inside, as their [context](comity_nisc::respond()): so they open
/// in this seal only, which no key but the query's opens.
pub(crate) fn context(head: &[u8], encapsulated: &[u8; ENCAPSULATED]) -> [u8; 32] {
    let mut hash = Hasher::new_derive_key("comity mail: the head and the encapsulated key of an answer");
    *hash.update(head).update(encapsulated).finalize().as_bytes()
}

/// The tie between stored copies and their answer.
pub(crate) struct Tie {
    /// The secret that the seal of the answer exports.
    secret: Zeroizing<[u8; 32]>,
    /// The context of the answer.
    pub(crate) answer: [u8; 32],
}

impl Tie {
    const EXPORT: &[u8] = b"comity mail 2: the secret of stored copies";
    const ID: &[u8] = b"comity mail 2: a stored copy";

    /// The tie of the answer in this context; `export` is that of its seal.
    pub(crate) fn new(answer: [u8; 32], export: impl FnOnce(&[u8], &mut [u8]) -> Result<(), HpkeError>) -> Tie {
        let mut secret = Zeroizing::new([0; 32]);
        export(Tie::EXPORT, &mut secret[..]).expect("HKDF gives 32 bytes");
        Tie { secret, answer }
    }

    pub(crate) fn psk(&self) -> PskBundle<'_> {
        PskBundle::new(&self.secret[..], Tie::ID).expect("neither part is empty")
    }

    fn info(query: &[u8; 32]) -> Vec<u8> {
        [Tie::ID, query].concat()
    }

    /// The text that the chunks of copy `i` are bound to.
    fn bound(&self, i: usize) -> [u8; 33] {
        let copy = [&self.answer[..], &(i as u64).to_le_bytes()].concat();
        let mut bound = [0; 33];
        bound[..32].copy_from_slice(&blake3::derive_key("comity mail: a stored copy", &copy));
        bound
    }

    /// The name of copy `i` in a store. All names have one length, so that not even an observer of lengths
    /// learns which copy is asked for.
    pub(crate) fn name(&self, i: usize) -> String {
        let id = blake3::derive_key("comity mail: the names of stored copies", &self.answer);
        let id: String = id[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{id}-{i:03}.copy")
    }
}
