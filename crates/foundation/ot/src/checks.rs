//! The checks of the OT protocols.

comity_core::checks! { "ot";
    /// A message of base OT or of input recovery holds bytes that are no canonical group element.
    INVALID_POINT = "a point is not a canonical group element";
    /// A message of base OT or of input recovery holds the identity element.
    IDENTITY_POINT = "a point is the identity";
    /// The receiver of base OTs did not answer the sender's challenge, or the sender's opening of it is wrong.
    BASE_OT_CHALLENGE = "the challenge of base OT was not answered as an honest party would";
    /// The receiver of an OT extension did not use the same choice bits everywhere.
    INCONSISTENT_CHOICES = "the consistency check of the OT extension failed: choice bits are not the same everywhere";
    /// Two rows of the receiver's matrix are equal, which honest rows never are.
    EQUAL_ROWS = "two rows of the OT extension's matrix are equal";
    /// The sender of a committing OT opened another delta, or other seeds, than it used.
    WRONG_OPENING = "the committing OT was opened to something else than was committed";
    /// A tree of seeds does not expand to what its maker vouched for.
    INCONSISTENT_TREE = "the consistency check of a tree of seeds failed";
    /// The consistency check of silent OT failed.
    INCONSISTENT_CORRELATION = "the consistency check of silent OT failed";
}
