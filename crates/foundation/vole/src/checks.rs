//! The checks of VOLE.

comity_core::checks! { "vole";
    /// The receiver did not multiply one vector with all bits of delta.
    INCONSISTENT_PRODUCTS = "the check of products failed: not the same vector with each bit";
    /// The sender's trees are not those that the receiver got.
    INCONSISTENT_NOISE = "the check of sparse correlations failed";
}
