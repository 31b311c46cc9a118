//! The checks of private set intersection.

comity_core::checks! { "psi";
    /// The sender opened another part of the masks' randomness than it had committed to.
    MASK_OPENING = "the sender's part of the masks is not what it committed to";
}
