//! The checks of what a token sends by party 0.

comity_core::checks! { "token";
    /// Neither the token nor its issuer has the key that this party knows.
    OTHER_TOKEN = "the seed is from another token than the one whose fingerprint, or whose issuer's, was named here";
    /// The certificate is not the issuer's, or not for this token.
    WRONG_CERTIFICATE = "the issuer that the token names did not sign the token's key";
    /// The token signed something else: another counter, session, party, key, number of triples or ciphertext.
    WRONG_SIGNATURE = "the token did not sign this seed for this session, this party, its key and this number of triples: it is changed, repeated, or another party's";
    /// The token signed what does not open.
    WRONG_SEAL = "the sealed seed does not open with this party's key";
}
