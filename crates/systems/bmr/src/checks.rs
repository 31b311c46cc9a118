//! The checks of garbling by many.

comity_core::checks! { "bmr";
    /// A key that a garbled row gave is not one of its party's two: some party's share of the table, or a key
    /// that it sent, was wrong.
    GARBLED_ROW = "a garbled gate does not give a key of its wire: some party garbled or opened it falsely";
    /// The combinations of products of bits with offsets do not add up: some party chose in the OTs by other
    /// bits than it has, or has several offsets.
    BIT_STRING = "products of bits with the parties' offsets are false: some party used other bits or another offset for them";
}
