//! The checks that a proof fails.

comity_core::checks! { "zk";
    /// The proof names another program, other public values, other expected outputs or another context.
    OTHER_STATEMENT = "the proof is of another statement: of another program, other public values, other expected outputs or \
                       another context";
    /// ZKBoo, figure 3.5, step 3: a value of view `e` is not what its function makes of views `e` and `e + 1`.
    WRONG_VIEW = "an opened view is not what its gates compute";
    /// The opened values are not those that were committed to, with output shares that add up to the expected
    /// outputs.
    WRONG_OPENING = "what was opened is not what was committed to, or does not give the expected outputs";
    /// In conversation, before the answer: the verifier's challenge does not follow from what it committed to
    /// beforehand, so that it may have been chosen after the first message.
    WRONG_CHALLENGE = "the verifier's challenge is not the one that it committed to before the proof began";
    /// MACs on wires, step 4: a bit that was told for an AND gate is not the product of its inputs.
    WRONG_GATES = "an AND gate of the prover does not give the product of its inputs";
    /// MACs on wires, step 5: the MACs of the outputs are not those of the expected outputs.
    OTHER_MACS = "the prover has no MACs of the expected outputs";
    /// Garbled circuit, step 5: the labels in the OTs are not those of the seed.
    WRONG_LABELS = "the labels that the verifier sent are not those of its seed";
    /// Garbled circuit, step 5: the tables are not those of the program, garbled from the seed.
    WRONG_TABLES = "the verifier garbled something else than the program";
    /// Garbled circuit, step 6: the prover opened something else than it committed to.
    WRONG_COMMITMENT = "the prover opened something else than it committed to";
    /// Garbled circuit, step 6: the outputs' labels are not those of the expected outputs.
    OTHER_OUTPUTS = "the prover does not know the labels of the expected outputs";
}
