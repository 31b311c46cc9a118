//! A seed on its way to another party: sealed to that party's key by HPKE (RFC 9180, base mode: X25519,
//! HKDF-SHA256, ChaCha20-Poly1305), and signed by the token. The base mode does not say who sealed; the
//! signature does, and names all that the seed is for.

use comity_core::{Block, Error, Result, SessionId, declassify};
use hpke::aead::{AeadTag, ChaCha20Poly1305};
use hpke::inout::InOutBuf;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable, setup_receiver, setup_sender_with_rng};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::checks::{WRONG_SEAL, WRONG_SIGNATURE};
use crate::keys::{TokenSigner, signed};
use crate::messages::{SealedSeed, SeedLetter};

/// Bytes of an encapsulated key, and of a seed.
const ENCAPSULATED: usize = 32;
const SEED: usize = 16;

/// All that a sealed seed is for: what the token signs beside the ciphertext.
#[derive(Clone, Copy)]
pub struct SeedUse {
    /// The session.
    pub session: SessionId,
    /// The party whose seed it is. The holder is party 0.
    pub party: u16,
    /// The number of parties.
    pub parties: u16,
    /// The key of the party whose seed it is.
    pub recipient: [u8; 32],
    /// The number of triples.
    pub triples: u64,
}

impl SeedUse {
    /// The text of this use, of the seeds with this number. All of its parts are of one length.
    fn text(&self, counter: u64) -> Vec<u8> {
        let mut text = b"comity: the use of a token's seed, version 1".to_vec();
        text.extend(counter.to_le_bytes());
        text.extend(self.session.to_bytes());
        text.extend([0, self.party, self.parties].into_iter().flat_map(u16::to_le_bytes));
        text.extend(self.recipient);
        text.extend(self.triples.to_le_bytes());
        text
    }

    /// The text that is signed.
    pub(crate) fn signed_text(&self, counter: u64, sealed: &[u8; SealedSeed::CIPHERTEXT]) -> Vec<u8> {
        [&self.text(counter)[..], blake3::hash(sealed).as_bytes()].concat()
    }
}

/// The key pair of a recipient, for one session.
pub struct RecipientKey(<X25519HkdfSha256 as Kem>::PrivateKey, [u8; 32]);

impl RecipientKey {
    /// A new key pair.
    pub fn draw(rng: &mut (impl CryptoRng + ?Sized)) -> RecipientKey {
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut seed[..]);
        let (key, public) = X25519HkdfSha256::derive_keypair(&seed[..]);
        RecipientKey(key, declassify(public.to_bytes().into(), "the others are told the public half"))
    }

    /// The public half.
    pub fn public(&self) -> &[u8; 32] {
        &self.1
    }
}

/// Seals a seed, and signs what it is for.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if the recipient's key is not a point that can be sealed to; those of the
/// key that signs.
pub(crate) fn seal(
    for_: &SeedUse,
    counter: u64,
    seed: Block,
    signing: &dyn TokenSigner,
    rng: &mut dyn CryptoRng,
) -> Result<SealedSeed> {
    let refused = |_| {
        Error::malformed(format!(
            "no seed can be sealed to the key of party {}: it is not a point of X25519",
            for_.party
        ))
    };
    let key = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(&for_.recipient).map_err(refused)?;
    let begun = setup_sender_with_rng::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
        &OpModeS::Base,
        &key,
        &for_.text(counter),
        &mut &mut *rng,
    );
    let (encapsulated, mut context) = begun.map_err(refused)?;
    let mut bytes = Zeroizing::new(seed.to_bytes());
    let tag = context.seal_inout_detached(InOutBuf::from(&mut bytes[..]), &[]);
    let tag = tag.expect("a seed is far below the cipher's limit").to_bytes();
    let mut sealed = [0; SealedSeed::CIPHERTEXT];
    sealed[..ENCAPSULATED].copy_from_slice(&encapsulated.to_bytes());
    sealed[ENCAPSULATED..][..SEED].copy_from_slice(&bytes[..]);
    sealed[ENCAPSULATED + SEED..].copy_from_slice(&tag);
    Ok(SealedSeed { sealed, signature: signing.sign(&for_.signed_text(counter, &sealed))? })
}

/// Checks that the token, or its issuer, that is known by this fingerprint (`None`: any) signed a sealed seed for
/// this use. It does not say that the seed opens.
///
/// # Errors
/// [`OTHER_TOKEN`](crate::checks::OTHER_TOKEN), [`WRONG_CERTIFICATE`](crate::checks::WRONG_CERTIFICATE),
/// [`WRONG_SIGNATURE`].
pub fn vouched(letter: &SeedLetter, known: Option<[u8; 32]>, for_: &SeedUse) -> Result<()> {
    letter.introduction.check(known)?;
    let SealedSeed { sealed, signature } = &letter.sealed;
    match signed(letter.introduction.token(), &for_.signed_text(letter.counter, sealed), signature) {
        true => Ok(()),
        false => Err(WRONG_SIGNATURE.into()),
    }
}

/// Opens the letter that party 0 handed on. `known` is the fingerprint of the token or of its issuer, or
/// `None` where any will do; that `for_` is this party's own session, key and number of triples is what the
/// signature is held against.
///
/// # Errors
/// Each of the [checks](crate::checks), by its name.
pub fn open(letter: &SeedLetter, known: Option<[u8; 32]>, for_: &SeedUse, key: RecipientKey) -> Result<Block> {
    vouched(letter, known, for_)?;
    if for_.recipient != key.1 {
        return Err(WRONG_SIGNATURE.into());
    }
    unseal(&for_.text(letter.counter), &letter.sealed.sealed, &key.0).ok_or(WRONG_SEAL.into())
}

/// Whether it opens is all that it tells. Never inlined, since that is how `make ct` knows what in it is others' code.
#[inline(never)]
fn unseal(
    text: &[u8],
    sealed: &[u8; SealedSeed::CIPHERTEXT],
    key: &<X25519HkdfSha256 as Kem>::PrivateKey,
) -> Option<Block> {
    let (encapsulated, rest) = sealed.split_at(ENCAPSULATED);
    let (seed, tag) = rest.split_at(SEED);
    let point = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
    let mut context =
        setup_receiver::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(&OpModeR::Base, key, &point, text).ok()?;
    let mut bytes = Zeroizing::new([0; SEED]);
    bytes.copy_from_slice(seed);
    let tag = AeadTag::<ChaCha20Poly1305>::from_bytes(tag).ok()?;
    context.open_inout_detached(InOutBuf::from(&mut bytes[..]), &[], &tag).ok()?;
    Some(Block::new(*bytes))
}
