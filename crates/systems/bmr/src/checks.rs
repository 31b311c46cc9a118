//! The checks of garbling by many.

comity_core::checks! { "bmr";
    /// A key that a garbled row gave is none of the two of the party whose it is: some party's share of the table, or a key that
    /// it sent, was not what it has to be.
    GARBLED_ROW = "a garbled gate does not give a key of its wire: some party garbled or opened it falsely";
}
