//! Keys: what a token signs with, who vouches for it, and the secret from which its seeds follow.

use comity_core::{Error, Result};
use rand_core::CryptoRng;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use zeroize::Zeroizing;

use crate::checks::{OTHER_TOKEN, WRONG_CERTIFICATE};

/// Bytes of a signature.
pub(crate) const SIGNATURE: usize = 64;

/// The first bytes of what an issuer signs.
const CERTIFICATE: &[u8] = b"comity: the key of a token, version 1";

/// The bytes before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The fingerprint of an Ed25519 key: the one that people know it by wherever comity shows keys.
pub fn fingerprint(public: &[u8; 32]) -> [u8; 32] {
    blake3::derive_key("comity key fingerprint v1", &[&SPKI_PREFIX[..], public].concat())
}

/// An Ed25519 key that signs: a token's, or its issuer's, in memory or in a module that keeps it to itself.
pub trait TokenSigner: Send + Sync {
    /// The public half.
    fn public(&self) -> [u8; 32];

    /// Signs.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the key cannot be used.
    fn sign(&self, text: &[u8]) -> Result<[u8; SIGNATURE]>;
}

/// An Ed25519 key pair in memory. *ring* does not wipe it.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// The key pair whose secret half these bytes are.
    pub fn new(secret: &[u8; 32]) -> SigningKey {
        SigningKey(Ed25519KeyPair::from_seed_unchecked(secret).expect("any 32 bytes are an Ed25519 key"))
    }
}

impl TokenSigner for SigningKey {
    fn public(&self) -> [u8; 32] {
        self.0.public_key().as_ref().try_into().expect("an Ed25519 key has 32 bytes")
    }

    fn sign(&self, text: &[u8]) -> Result<[u8; SIGNATURE]> {
        Ok(self.0.sign(text).as_ref().try_into().expect("an Ed25519 signature has 64 bytes"))
    }
}

/// Whether this is the signature of a text under a public key.
pub(crate) fn signed(public: &[u8; 32], text: &[u8], signature: &[u8; SIGNATURE]) -> bool {
    UnparsedPublicKey::new(&ED25519, public).verify(text, signature).is_ok()
}

/// What a token shows of itself: its public key, its issuer's, and the issuer's signature of the token's. A
/// token that nobody issued is its own issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Introduction {
    token: [u8; 32],
    issuer: [u8; 32],
    certificate: [u8; SIGNATURE],
}

impl Introduction {
    /// Bytes of an introduction.
    pub const BYTES: usize = 32 + 32 + SIGNATURE;

    /// The introduction of the token with this public key by an issuer.
    ///
    /// # Errors
    /// Those of the issuer's key.
    pub fn issued(issuer: &dyn TokenSigner, token: [u8; 32]) -> Result<Introduction> {
        let certificate = issuer.sign(&certificate(&token))?;
        Ok(Introduction { token, issuer: issuer.public(), certificate })
    }

    /// The token's public key.
    pub fn token(&self) -> &[u8; 32] {
        &self.token
    }

    /// The issuer's public key.
    pub fn issuer(&self) -> &[u8; 32] {
        &self.issuer
    }

    /// The bytes of an introduction.
    pub fn to_bytes(&self) -> [u8; Introduction::BYTES] {
        let mut bytes = [0; Introduction::BYTES];
        bytes[..32].copy_from_slice(&self.token);
        bytes[32..64].copy_from_slice(&self.issuer);
        bytes[64..].copy_from_slice(&self.certificate);
        bytes
    }

    /// The introduction with these bytes. Whether it is true, [`Introduction::check`] says.
    pub fn from_bytes(bytes: &[u8; Introduction::BYTES]) -> Introduction {
        let (mut token, mut issuer, mut certificate) = ([0; 32], [0; 32], [0; SIGNATURE]);
        token.copy_from_slice(&bytes[..32]);
        issuer.copy_from_slice(&bytes[32..64]);
        certificate.copy_from_slice(&bytes[64..]);
        Introduction { token, issuer, certificate }
    }

    /// Checks that the issuer vouches for the token, and that one of them has the fingerprint that is known
    /// here. Without one (`None`) any token will do.
    ///
    /// # Errors
    /// [`OTHER_TOKEN`], [`WRONG_CERTIFICATE`].
    pub fn check(&self, known: Option<[u8; 32]>) -> Result<()> {
        if known.is_some_and(|known| ![fingerprint(&self.token), fingerprint(&self.issuer)].contains(&known)) {
            return Err(OTHER_TOKEN.into());
        }
        if !signed(&self.issuer, &certificate(&self.token), &self.certificate) {
            return Err(WRONG_CERTIFICATE.into());
        }
        Ok(())
    }
}

/// What an issuer signs of a token.
fn certificate(token: &[u8; 32]) -> Vec<u8> {
    [CERTIFICATE, token].concat()
}

/// All that a token keeps: the master key, from which its seeds follow, the key that it signs with, and its
/// introduction.
pub struct TokenKeys {
    master: Zeroizing<[u8; 32]>,
    signing: Box<dyn TokenSigner>,
    introduction: Introduction,
}

impl TokenKeys {
    /// Bytes of the secret that a token's keys follow from: the master key, and the secret half of the key
    /// that it signs with.
    pub const SECRET: usize = 64;

    /// Bytes of the master key.
    pub const MASTER: usize = 32;

    /// The secret of a new token.
    pub fn draw(rng: &mut (impl CryptoRng + ?Sized)) -> Zeroizing<[u8; TokenKeys::SECRET]> {
        let mut secret = Zeroizing::new([0; TokenKeys::SECRET]);
        rng.fill_bytes(&mut secret[..]);
        secret
    }

    /// The keys of a token that is its own issuer.
    pub fn new(secret: &[u8; TokenKeys::SECRET]) -> TokenKeys {
        let (master, _) = secret.split_first_chunk().expect("the first half");
        let signing = SigningKey::new(TokenKeys::signing_secret(secret));
        TokenKeys::signed_by(master, Box::new(signing)).expect("a key in memory signs")
    }

    /// The secret half of the key that a token signs with.
    pub fn signing_secret(secret: &[u8; TokenKeys::SECRET]) -> &[u8; 32] {
        secret.last_chunk().expect("the second half")
    }

    /// The keys of a token that is its own issuer, and whose key to sign with is elsewhere.
    ///
    /// # Errors
    /// Those of that key.
    pub fn signed_by(master: &[u8; TokenKeys::MASTER], signing: Box<dyn TokenSigner>) -> Result<TokenKeys> {
        let introduction = Introduction::issued(&*signing, signing.public())?;
        Ok(TokenKeys { master: Zeroizing::new(*master), signing, introduction })
    }

    /// The same token, introduced by an issuer.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the introduction is another token's, or false.
    pub fn introduced(self, introduction: Introduction) -> Result<TokenKeys> {
        if introduction.token != self.introduction.token || introduction.check(None).is_err() {
            return Err(Error::invalid_input(
                "the certificate is not for this token's key, or it is damaged: let the issuer make it anew (`comity token certify`)",
            ));
        }
        Ok(TokenKeys { introduction, ..self })
    }

    /// What the token shows of itself.
    pub fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    pub(crate) fn master(&self) -> &[u8; 32] {
        &self.master
    }

    pub(crate) fn signing(&self) -> &dyn TokenSigner {
        &*self.signing
    }
}
