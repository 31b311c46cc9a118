//! `JointAct`: what a party of a [`Joint`](super::Joint) is about to do. An honest party does it.

use comity_core::{Bits, Block, PartyId};

/// An act of a [`Joint`](super::Joint): what is about to be used or sent.
pub enum JointAct<'a> {
    /// The global key that is used towards a peer.
    Key {
        /// The peer.
        peer: PartyId,
        /// The key.
        delta: &'a mut Block,
    },
    /// The shares of a chunk that are used towards a peer, with padding and mask.
    Choices {
        /// The peer.
        peer: PartyId,
        /// The shares.
        choices: &'a mut Bits,
    },
    /// The shares of the bits by which global keys are compared, masked, before they are said to all.
    Masked(&'a mut Block),
    /// The combinations of MACs by which global keys are compared, before they are committed to.
    Combined(&'a mut [Block]),
    /// The share of a sum that is tested to be zero.
    Sigma(&'a mut Block),
    /// The differences of the two strings for each bit of a blind product: the factor times the powers of x.
    Strings {
        /// The peer.
        peer: PartyId,
        /// The differences for the factor, and those for its mask.
        differences: [&'a mut [Block]; 2],
    },
    /// The share of a blind product, before it is committed to.
    Product(&'a mut Block),
    /// Blocks of a protocol above, with which its next step goes on.
    Holds {
        /// The name of the blocks.
        what: &'static str,
        /// The blocks.
        blocks: &'a mut [Block],
    },
    /// The plain text of a message that will be hidden under a zero-share.
    Hides {
        /// The name of the message.
        what: &'static str,
        /// The peer, if the message is for one peer; else it is for all.
        to: Option<PartyId>,
        /// The plain text.
        bare: &'a [u8],
    },
    /// A message to all. A change changes the party's own view of it, too.
    Tells {
        /// The name of the message.
        what: &'static str,
        /// Its bytes.
        bytes: &'a mut Vec<u8>,
    },
    /// A message to a peer.
    Says {
        /// The name of the message.
        what: &'static str,
        /// The peer.
        peer: PartyId,
        /// Its bytes.
        bytes: &'a mut Vec<u8>,
    },
    /// A message of a peer.
    Hears {
        /// The name of the message.
        what: &'static str,
        /// The peer.
        peer: PartyId,
        /// Its bytes.
        bytes: &'a [u8],
    },
}
