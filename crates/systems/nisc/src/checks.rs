//! The checks of AMPR14. Whether points are ones is checked as in base OT, by the same names.

pub use comity_ot::checks::{IDENTITY_POINT, INVALID_POINT};

comity_core::checks! { "nisc";
    /// The two output commitments of an output bit do not add up to the public key of the sender's input commitments.
    OUTPUT_COMMITMENTS = "the output commitments do not add up to the key of the input commitments";
    /// The answers to the input OTs of a checked circuit are not what the circuit's seed gives.
    TRANSFER_ANSWER = "the answers to the input OTs of a checked circuit are wrong";
    /// The sender's input to an evaluated circuit is not shown to be the one that it committed to.
    INPUT_EQUALITY = "the sender's input to an evaluated circuit is not shown equal to its input commitments";
    /// The commitment to the garbler's input labels of a checked copy is not what the copy's seed gives.
    INPUT_COMMITMENT = "the commitment to the garbler's input labels of a checked copy is wrong";
    /// A garbled circuit of a checked copy is not what the copy's seed gives.
    GARBLED_CIRCUIT = "a checked copy of the garbled circuit is wrong";
    /// The opening of the cheating recovery box of an evaluated circuit does not open it.
    RECOVERY_OPENING = "the cheating recovery box of an evaluated circuit is not opened";
    /// The input recovery of a checked copy is not what its seed says.
    INPUT_RECOVERY = "the input recovery of a checked copy is wrong";
    /// Coded tables do not decode to what the garbler sent hashes of, or a stored copy is not that.
    CODED_CIRCUIT = "the garbled circuits are not those whose hashes were sent";
    /// No evaluated copy gave a valid output label everywhere.
    NO_VALID_COPY = "no evaluated copy gave valid output labels";
    /// Copies gave different outputs, and they do not tell one input of the garbler.
    NO_RECOVERY = "the evaluated copies disagree, and the garbler's input cannot be recovered";
}
