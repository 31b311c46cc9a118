//! The checks of authenticated garbling. Openings, of bits and of outputs, are checked by
//! [`WRONG_MAC`](comity_share::checks::WRONG_MAC).

comity_core::checks! { "ag";
    /// The comparison of the circuit check failed: the masked values are not those of the circuit under the masks.
    CIRCUIT_CHECK = "the circuit check failed: masked values are not what the circuit makes of the inputs";
    /// A label of an input does not stand for the masked value that was sent.
    INPUT_LABEL = "an input label does not belong to the masked value that was sent";
}
