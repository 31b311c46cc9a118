//! `GarblingAct`: what a party is about to use or say. An honest party does not look; the tests have parties
//! that are honest but for one lie, and a lie is another [`Conduct`](comity_protocol::Conduct).

use comity_core::{Block, PartyId};

/// An act, before it is done.
pub enum GarblingAct<'a> {
    /// Figure 6, step 2: this party's new key of the public value 0 of a wire.
    NewKey(&'a mut Block),
    /// Figure 6, step 4: this party's shares of the rows of garbled gates; of each gate four rows, of each
    /// row an entry a party.
    Garbled(&'a mut [Block]),
    /// Figure 7, step 3: shares, masked, for whoever collects these gates.
    Shares(PartyId, &'a mut [u8]),
    /// Figure 7, step 4: rows that this party collected, as it says them to one peer.
    Rows(PartyId, &'a mut [u8]),
    /// Figure 9: public values of this party's inputs, as it says them to one peer.
    Public(PartyId, &'a mut [u8]),
    /// Figure 9: this party's active keys of all inputs, as it says them to one peer.
    Keys(PartyId, &'a mut [u8]),
    /// Figure 9: the open rows, before they are evaluated.
    Opened(&'a [Block]),
}
