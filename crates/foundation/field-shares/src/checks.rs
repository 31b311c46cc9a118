//! The checks of shares in a field. Those of the bits and coins below are [`comity_share`]'s.

comity_core::checks! { "field_shares";
    /// Values that were opened, or said by their owner, do not carry the MACs that they must have.
    FALSE_MAC = "a value was opened with a wrong MAC, or was put in inconsistently";
    /// A party's part of a check of MACs is not the one that it committed to.
    MAC_OPENING = "a commitment in a check of MACs was opened to something else";
    /// Random combinations of what has to be bits are not bits.
    NOT_A_BIT = "a party put in something that is not a bit";
}
