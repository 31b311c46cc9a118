//! `Act`: what a party is about to do with what it made. An honest party does it; the tests have parties that are
//! honest but for one lie, and a lie is another [`Conduct`](comity_protocol::Conduct).

use comity_core::Block;

/// An act: something that is about to be used or sent. An honest party does not look at it.
pub enum Act<'a> {
    /// LaBit, step 3: the correction of seed OT `i`, a row that makes its messages differ by `Gamma`.
    Correction {
        /// The number of the seed OT.
        i: usize,
        /// The correction's row.
        row: &'a mut [u8],
    },
    /// LaBit, step 5(a): the sums that are announced.
    Sums(&'a mut [u8]),
    /// LaBit, step 5(c): `Z` of a pair of seed OTs that this party offered, with the sum that the peer announced, as it
    /// is compared.
    Compared {
        /// The pair.
        pair: [usize; 2],
        /// The sum.
        sum: bool,
        /// `Z`.
        row: &'a mut [u8],
    },
    /// Privacy amplification: the offset that turns the matrix times `Gamma` into the key.
    Offset(&'a mut Block),
    /// The test for one key: MACs as they are compared.
    Same(&'a mut [Block]),
    /// LaAND: the holder's bits x, y, r, as MACs.
    AndBits(&'a [[Block; 3]]),
    /// LaAND: the holder's d.
    AndD(&'a mut [u8]),
    /// LaAND: the key holder's U, and its side of the comparison.
    AndU {
        /// U.
        u: &'a mut [Block],
        /// The key holder's side of the comparison.
        compared: &'a mut [Block],
    },
    /// LaOT, after step 1: the half of the sender, and of the receiver.
    OtBits {
        /// The halves of the sender.
        sent: &'a [[Block; 4]],
        /// The halves of the receiver.
        received: &'a [[Block; 4]],
    },
    /// LaOT, step 4: `X_0`, `X_1`.
    OtX(&'a mut [[[Block; 2]; 2]]),
    /// LaOT, step 6: the receiver's d.
    OtD(&'a mut [u8]),
    /// LaOT, step 7: `I_0`, `I_1`, and the sender's side of the comparison.
    OtI {
        /// `I_0` and `I_1`.
        i: &'a mut [[Block; 2]],
        /// The sender's side of the comparison.
        compared: &'a mut [[Block; 2]],
    },
    /// Before the buckets: the coin of the party whose secrets could leak.
    Coin(&'a mut [u8; 32]),
    /// A reveal: the MACs on the shown bits, whose bits 0 are sent.
    Shown(&'a mut [Block]),
    /// A reveal: the MACs that go to the ledger.
    Macs(&'a mut [Block]),
}
