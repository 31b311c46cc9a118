//! The checks of authenticated shares. Whether all heard the same is the links' own ([`EQUIVOCATION`]).

pub use comity_channel::checks::EQUIVOCATION;

comity_core::checks! { "share";
    /// Bits that the peer showed do not carry the MACs that they must have.
    WRONG_MAC = "a bit was shown with a wrong MAC";
    /// A party's seed of a common random string is not the one it committed to.
    COIN_OPENING = "a commitment of a coin toss was opened to something else";
    /// The sums over the parties that are zero if every party has one global key towards all are not.
    DELTAS = "some party uses different global keys towards different parties";
    /// The combinations of MACs by which global keys are compared are not those that the party committed to.
    ROW_OPENING = "a commitment in the check of global keys was opened to something else";
    /// The strings of a blind product are not of one factor.
    PRODUCT = "the strings of a blind product are not of one factor";
    /// The share of a blind product is not the one that the party committed to.
    PRODUCT_OPENING = "a commitment to a share of a blind product was opened to something else";
}
