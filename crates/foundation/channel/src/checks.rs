//! The checks of what all parties must hear alike.

comity_core::checks! { "channel";
    /// Not all parties heard the same broadcasts: some party said different things, or says that it heard others.
    EQUIVOCATION = "some party sent different values to different parties; which party that was is not known";
}
