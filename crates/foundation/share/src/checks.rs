//! The checks of authenticated shares.

comity_core::checks! { "share";
    /// Bits that the peer showed do not carry the MACs that they must have.
    WRONG_MAC = "a bit was shown with a wrong MAC";
    /// A party's seed of a common random string is not the one it committed to.
    COIN_OPENING = "a commitment of a coin toss was opened to something else";
    /// Not all parties heard the same commitments: some party told different ones, or says that it heard others.
    EQUIVOCATION = "some party told different things to different parties";
}
