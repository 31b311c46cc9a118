//! A party's key pair, and the fingerprint by which others know it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use comity_core::{Error, Result};
use rand_core::CryptoRng;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

/// The bytes before the 32 secret ones of an Ed25519 key in PKCS #8 (RFC 5958, RFC 8410).
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// Bytes of an Ed25519 key in PKCS #8.
const PKCS8_BYTES: usize = PKCS8_PREFIX.len() + 32;

/// A party's Ed25519 key pair, with which it proves to its peers who it is. The secret bytes that this crate holds
/// are wiped on drop; rustls keeps the expanded key for as long as a connection may need it.
#[derive(Clone)]
pub struct Identity {
    pkcs8: Arc<Zeroizing<[u8; PKCS8_BYTES]>>,
    certified: Arc<CertifiedKey>,
    fingerprint: Fingerprint,
}

impl Identity {
    /// A new key pair.
    pub fn generate(rng: &mut dyn CryptoRng) -> Identity {
        let mut secret = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut secret[..]);
        Identity::from_secret(&secret)
    }

    /// The key pair whose secret half these bytes are (RFC 8032).
    pub fn from_secret(secret: &[u8; 32]) -> Identity {
        let mut pkcs8 = Zeroizing::new([0; PKCS8_BYTES]);
        pkcs8[..PKCS8_PREFIX.len()].copy_from_slice(&PKCS8_PREFIX);
        pkcs8[PKCS8_PREFIX.len()..].copy_from_slice(secret);
        Identity::from_pkcs8(&pkcs8[..]).expect("any 32 bytes are an Ed25519 key")
    }

    /// The key pair in these bytes of PKCS #8 DER.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if they are not an Ed25519 key as [`Identity::to_pkcs8`] writes it.
    pub fn from_pkcs8(der: &[u8]) -> Result<Identity> {
        let wrong = || Error::invalid_input("not an Ed25519 key in PKCS #8 DER");
        if !der.starts_with(&PKCS8_PREFIX) {
            return Err(wrong());
        }
        let pkcs8: [u8; PKCS8_BYTES] = der.try_into().map_err(|_| wrong())?;
        let pkcs8 = Arc::new(Zeroizing::new(pkcs8));
        let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(&pkcs8[..])).map_err(|_| wrong())?;
        let public = key.public_key().ok_or_else(wrong)?;
        let fingerprint = Fingerprint::of(&public);
        // With raw public keys, what takes a certificate's place is the key itself.
        let certified = Arc::new(CertifiedKey::new(vec![CertificateDer::from(public.to_vec())], key));
        Ok(Identity { pkcs8, certified, fingerprint })
    }

    /// The key pair, secret half included, in PKCS #8 DER.
    pub fn to_pkcs8(&self) -> &[u8] {
        &self.pkcs8[..]
    }

    /// The fingerprint that others know this key by.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// An impostor's identity: another one's public key, with this one's secret key to sign.
    #[cfg(test)]
    pub(crate) fn posing_as(&self, other: &Identity) -> Identity {
        let certified = Arc::new(CertifiedKey::new(other.certified.cert.clone(), self.certified.key.clone()));
        Identity { certified, fingerprint: other.fingerprint, ..self.clone() }
    }

    pub(crate) fn certified(&self) -> Arc<CertifiedKey> {
        self.certified.clone()
    }
}

/// The digest of a public key: 256 bits of BLAKE3, so that nobody can make another key with the same one.
///
/// As text it is `comity:` and 13 groups of 4 letters and digits (base 32 of RFC 4648, lower case). Read back, the
/// dashes, the case and the `comity:` do not matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Letters of a fingerprint: 5 bits each.
const LETTERS: usize = 52;

impl Fingerprint {
    /// The fingerprint's bytes.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// The fingerprint of these [bytes](Fingerprint::to_bytes).
    pub fn from_bytes(bytes: [u8; 32]) -> Fingerprint {
        Fingerprint(bytes)
    }

    /// The fingerprint of a public key, as a DER SubjectPublicKeyInfo.
    pub(crate) fn of(public: &[u8]) -> Fingerprint {
        Fingerprint(blake3::derive_key("comity key fingerprint v1", public))
    }
}

/// Bytes as letters of 5 bits each, in groups of four.
pub(crate) fn base32(bytes: &[u8], letters: usize) -> String {
    let letter = |at: usize| {
        let bits = (0..5).fold(0, |bits, i| {
            let at = 5 * at + i;
            let bit = bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
            bits << 1 | usize::from(bit)
        });
        char::from(BASE32[bits])
    };
    let dash = |at: usize| (at > 0 && at.is_multiple_of(4)).then_some('-');
    (0..letters).flat_map(|at| dash(at).into_iter().chain([letter(at)])).collect()
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "comity:{}", base32(&self.0, LETTERS))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Fingerprint> {
        let wrong = |why: String| Error::invalid_input(format!("{text:?} is not a fingerprint of a key: {why}"));
        let lower = text.trim().to_ascii_lowercase();
        let mut bytes = [0u8; 32];
        let mut letters = 0;
        for letter in lower.strip_prefix("comity:").unwrap_or(&lower).chars().filter(|&c| c != '-') {
            let value = BASE32.iter().position(|&c| char::from(c) == letter);
            let value = value.ok_or_else(|| wrong(format!("{letter:?} is not one of a-z and 2-7")))?;
            for i in 0..5 {
                let (at, bit) = (5 * letters + i, (value >> (4 - i) & 1) as u8);
                match bytes.get_mut(at / 8) {
                    Some(byte) => *byte |= bit << (7 - at % 8),
                    None if bit == 1 => return Err(wrong("its last letter is impossible".into())),
                    None => {}
                }
            }
            letters += 1;
            if letters > LETTERS {
                break;
            }
        }
        if letters != LETTERS {
            let count = if letters > LETTERS { "more".to_owned() } else { letters.to_string() };
            return Err(wrong(format!("it has {count} letters, not {LETTERS}")));
        }
        Ok(Fingerprint(bytes))
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Kind;

    use super::*;
    use crate::rng::SystemRng;

    #[test]
    fn the_public_key_is_that_of_rfc_8032() {
        // RFC 8032, section 7.1, test 1.
        let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let bytes = |hex: &str| -> Vec<u8> {
            (0..32).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
        };
        let identity = Identity::from_pkcs8(&[&PKCS8_PREFIX[..], &bytes(secret)].concat()).unwrap();
        let spki = identity.certified.cert[0].to_vec();
        assert!(spki.ends_with(&bytes(public)));
        assert_eq!(identity.fingerprint(), Fingerprint::of(&spki));
    }

    #[test]
    fn keys_survive_their_encoding() {
        let identity = Identity::generate(&mut SystemRng);
        let again = Identity::from_pkcs8(identity.to_pkcs8()).unwrap();
        assert_eq!(identity.fingerprint(), again.fingerprint());
        assert_ne!(identity.fingerprint(), Identity::generate(&mut SystemRng).fingerprint());
        let der = identity.to_pkcs8();
        for wrong in [&der[..47], &[der, &[0]].concat(), &[&[0], &der[1..]].concat(), &[]] {
            assert!(matches!(Identity::from_pkcs8(wrong), Err(Error { kind: Kind::InvalidInput(_), .. })));
        }
    }

    #[test]
    fn fingerprints_survive_their_text() {
        let mut bytes = [0u8; 32];
        for i in 0..200u8 {
            bytes[usize::from(i) % 32] = bytes[usize::from(i) % 32].wrapping_mul(31).wrapping_add(i);
            let fingerprint = Fingerprint(bytes);
            let text = fingerprint.to_string();
            assert_eq!(text.len(), "comity:".len() + 52 + 12);
            assert_eq!(text.parse::<Fingerprint>().unwrap(), fingerprint);
            let plain = text.to_uppercase().replace('-', "");
            assert_eq!(plain.trim_start_matches("COMITY:").parse::<Fingerprint>().unwrap(), fingerprint);
            for wrong in [&text[..text.len() - 1], &(text.clone() + "a"), &text.replacen('-', "1", 1), "", "comity:"] {
                assert!(
                    matches!(wrong.parse::<Fingerprint>(), Err(Error { kind: Kind::InvalidInput(_), .. })),
                    "{wrong}"
                );
            }
        }
        assert_eq!(Fingerprint([0xff; 32]).to_string().chars().last(), Some('q'));
        let odd = Fingerprint([0xff; 32]).to_string().replace('q', "r");
        assert!(matches!(odd.parse::<Fingerprint>(), Err(Error { kind: Kind::InvalidInput(_), .. })));
    }
}
