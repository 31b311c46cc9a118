//! The checks of WMK17.

comity_core::checks! { "cutchoose";
    /// A message of input recovery holds bytes that are no canonical group element.
    INVALID_POINT = "a point is not a canonical group element";
    /// A message of input recovery holds the identity element.
    IDENTITY_POINT = "a point is the identity";
    /// The garbler's input labels of an evaluated copy do not open their commitment, or belong to another
    /// input than the one that was transferred.
    INPUT_OPENING = "the garbler's input labels of a copy do not open their commitment";
    /// The commitment to the garbler's input labels of a checked copy is not what the copy's seed gives.
    INPUT_COMMITMENT = "the commitment to the garbler's input labels of a checked copy is wrong";
    /// An input label of the evaluator in a checked copy is not what the copy's seed gives.
    INPUT_LABEL = "an input label of the evaluator in a checked copy is wrong";
    /// A garbled circuit of a checked copy is not what the copy's seed gives.
    GARBLED_CIRCUIT = "a checked copy of the garbled circuit is wrong";
    /// Coded tables do not decode to what the garbler sent hashes of, or a stored copy is not that.
    CODED_CIRCUIT = "the garbled circuits are not those whose hashes were sent";
    /// The output table of an evaluated copy does not open its commitment.
    OUTPUT_OPENING = "the output table of a copy does not open its commitment";
    /// The commitment to the output table of a checked copy is not what the copy's seed gives.
    OUTPUT_TABLE = "the commitment to the output table of a checked copy is wrong";
    /// The output labels that the garbler revealed are not those whose hashes it sent.
    OUTPUT_LABELS = "the output labels that the garbler revealed are not those it was bound to";
    /// The input recovery of a checked copy is not what its seed says.
    INPUT_RECOVERY = "the input recovery of a checked copy is wrong";
    /// No evaluated copy gave a valid output label everywhere.
    NO_VALID_COPY = "no evaluated copy gave valid output labels";
    /// Copies gave different outputs, and they do not tell one input of the garbler.
    NO_RECOVERY = "the evaluated copies disagree, and the garbler's input cannot be recovered";
    /// The output that the evaluator passed on to the garbler does not carry the right tag.
    OUTPUT_TAG = "the output that the evaluator passed on is not the one computed";
}
