//! The checks of the dealers.

comity_core::checks! { "triples";
    /// The comparison that ends a batch of leaky ANDs failed.
    LEAKY_AND = "the check of a batch of ANDs failed";
    /// The comparison that ends a batch of leaky OTs failed.
    LEAKY_OT = "the check of a batch of OTs failed";
    /// The comparison that ends a batch of leaky authenticated bits failed.
    LEAKY_BIT = "the check of a batch of authenticated bits failed: the bits are not the same everywhere";
}
