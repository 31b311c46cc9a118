//! Committing OT: oblivious transfers that the sender can later open, all at once (Wang, Malozemoff, Katz, Eurocrypt
//! 2017, Figure 2 and section 4.2; the extension behind it is [`softspoken`](crate::softspoken), malicious).
//!
//! **Functionality** (Figure 2). The receiver gives choice bits and gets, of each OT, the chosen one of the sender's
//! two messages, of any length; or the messages are random. Then the sender may say *open*, once: the receiver gets
//! both messages of every OT, the same that it could have chosen. A sender cannot open to anything else, nor open some
//! OTs only: opening consumes both sides.
//!
//! **How**: message `b` of OT `j` is masked by `H(session, j, q_j ^ b delta)`, so delta opens everything. Opened
//! without proof, a delta that is false in one bit would make the receiver's view of the other message depend on its
//! choice bits: whoever sees what it does with them learns these. So the opening is delta *and* a hash of all seeds
//! that the sender holds, which are all but one of each tree, and which one is delta. The receiver knows all seeds,
//! computes what a sender with this delta would hold, and derives the messages only if the hash is that; otherwise
//! [`WrongOpening`](crate::checks::WRONG_OPENING). Whether it aborts does not depend on its choice bits.
//!
//! **Adversary**: malicious, either party, with the leak of [`CotReceiver`](crate::CotReceiver). To open another
//! delta the sender must know a seed of 128 bits that it never got. The receiver learns nothing about the other
//! messages before the opening: the masks are outputs of a random oracle, which a simulator can still make fit messages
//! that it gets to know at the opening only.
//!
//! **Assumptions**: those of the malicious extension, BLAKE3 as random oracle.
//!
//! **Corrections**: delta belongs to this instance alone (it is drawn in the set-up and there is no way to hand it in),
//! so opening it tells nothing about another protocol. The hash of the seeds ties delta to the base OTs.
//!
//! **Cost**: the extension with k = 4 (4 bytes an OT from the receiver), three hashes an OT, and for chosen messages
//! twice their length from the sender. The opening is 48 bytes in one message. Until then the receiver keeps 16 bytes
//! and the masked messages of every OT.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::Receiver;
pub use sender::Sender;

use blake3::Hasher;
use comity_core::{Block, Error, Result, SessionId, ShortHash};
use zeroize::{Zeroize, Zeroizing};

use crate::softspoken::Shape;

/// The trees of the extension.
const SHAPE: Shape = Shape { k: 4 };

/// The session of the base OTs, under that of the committing OT.
const BASE: &str = "base OT of committing OT";

/// OTs whose masked messages travel together.
const GROUP: usize = 256;

/// The sender's last message: delta, and the hash of the seeds that it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DeltaOpening {
    delta: Block,
    seeds: [u8; 32],
}

impl DeltaOpening {
    /// Bytes in the message.
    pub const BYTES: usize = 48;

    /// The message with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not [`BYTES`](DeltaOpening::BYTES).
    pub fn from_bytes(bytes: &[u8]) -> Result<DeltaOpening> {
        let (Some((delta, rest)), true) = (bytes.split_first_chunk(), bytes.len() == DeltaOpening::BYTES) else {
            let len = bytes.len();
            return Err(Error::malformed(format!("the opening of committing OT is 48 bytes long, not {len}")));
        };
        Ok(DeltaOpening { delta: Block::new(*delta), seeds: std::array::from_fn(|i| rest[i]) })
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; DeltaOpening::BYTES] {
        let mut bytes = [0; DeltaOpening::BYTES];
        bytes[..16].copy_from_slice(&self.delta.to_bytes());
        bytes[16..].copy_from_slice(&self.seeds);
        bytes
    }
}

/// The masks of messages, and the random messages.
struct Pads {
    masks: Hasher,
    messages: ShortHash,
}

impl Pads {
    fn new(session: &SessionId) -> Pads {
        let mut masks = Hasher::new_derive_key("comity committing OT: the mask of a message");
        masks.update(&session.to_bytes());
        Pads { masks, messages: ShortHash::new(session.child("random messages of committing OT").to_bytes()) }
    }

    /// Adds to `message` the mask of OT `index` that belongs to a block of the correlation.
    fn add(&self, index: u64, block: Block, message: &mut [u8]) {
        let mut hasher = self.masks.clone();
        hasher.update(&index.to_le_bytes()).update(&block.to_bytes());
        let mut output = hasher.finalize_xof();
        let mut pad = [0; 64];
        for part in message.chunks_mut(pad.len()) {
            output.fill(&mut pad);
            part.iter_mut().zip(&pad).for_each(|(byte, pad)| *byte ^= pad);
        }
        pad.zeroize();
        output.zeroize();
        hasher.zeroize();
    }

    /// Writes the random messages of blocks of the correlation, each with the index of its OT.
    fn random(&self, blocks: impl Iterator<Item = (u64, Block)>, out: &mut [Block]) {
        let mut blocks = blocks.fuse();
        let mut inputs = Zeroizing::new([[0; ShortHash::MESSAGE]; GROUP]);
        let mut digests = Zeroizing::new([[0; 32]; GROUP]);
        for out in out.chunks_mut(GROUP) {
            let n = out.len();
            for (input, (index, block)) in inputs.iter_mut().zip(blocks.by_ref().take(n)) {
                input[..8].copy_from_slice(&index.to_le_bytes());
                input[8..24].copy_from_slice(&block.to_bytes());
            }
            self.messages.hash(&inputs[..n], &mut digests[..n]);
            for (message, digest) in out.iter_mut().zip(digests.iter()) {
                *message = Block::new(std::array::from_fn(|k| digest[k]));
            }
        }
    }
}

/// Starts a call, unless an earlier one failed.
fn begin(broken: &mut bool) -> Result<()> {
    if std::mem::replace(broken, true) {
        return Err(Error::invalid_input("this committing OT stopped at an earlier error; set up a new one"));
    }
    Ok(())
}
