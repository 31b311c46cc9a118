//! The keys that a connection's peer may have, and the TLS configurations that follow from them.

use std::sync::{Arc, OnceLock};

use comity_core::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
use rustls::crypto::ring::default_provider;
use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, PeerIncompatible, ServerConfig,
    SignatureScheme,
};

use crate::identity::{Fingerprint, Identity};

type TlsResult<T> = Result<T, rustls::Error>;

/// Lets the peer in if its key has one of the expected fingerprints, and remembers that fingerprint.
#[derive(Debug)]
pub(crate) struct Pinned {
    expected: Vec<Fingerprint>,
    presented: OnceLock<Fingerprint>,
    algorithms: WebPkiSupportedAlgorithms,
}

fn provider() -> Arc<CryptoProvider> {
    let suites = vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256];
    Arc::new(CryptoProvider { cipher_suites: suites, kx_groups: vec![X25519], ..default_provider() })
}

impl Pinned {
    pub(crate) fn new(expected: Vec<Fingerprint>) -> Arc<Pinned> {
        let algorithms = default_provider().signature_verification_algorithms;
        Arc::new(Pinned { expected, presented: OnceLock::new(), algorithms })
    }

    /// The reason why the peer's key was refused, if it was.
    pub(crate) fn refusal(&self, peer: &dyn std::fmt::Display) -> Option<Error> {
        let presented = *self.presented.get()?;
        (!self.expected.contains(&presented)).then(|| {
            let expected = match self.expected.as_slice() {
                [one] => format!("the trusted one: expected {one}"),
                many => format!("one of the {} that are trusted", many.len()),
            };
            Error::untrusted(format!(
                "the key of the peer at {peer} is not {expected}, presented {presented}. Somebody may be in the \
                    middle. If the peer confirms its new key, by a way that you trust, remove the old one from the \
                    file of trusted keys and run `comity key trust`"
            ))
        })
    }

    /// The key that the peer has proved, after the handshake.
    pub(crate) fn presented(&self) -> Option<Fingerprint> {
        self.presented.get().copied()
    }

    pub(crate) fn client(self: &Arc<Pinned>, identity: &Identity) -> TlsResult<Arc<ClientConfig>> {
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(self.clone())
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(identity.certified())));
        config.enable_sni = false;
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config))
    }

    pub(crate) fn server(self: &Arc<Pinned>, identity: &Identity) -> TlsResult<Arc<ServerConfig>> {
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(self.clone())
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(identity.certified())));
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    fn check(&self, key: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> TlsResult<()> {
        let presented = *self.presented.get_or_init(|| Fingerprint::of(key));
        if others.is_empty() && self.expected.contains(&presented) {
            Ok(())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> TlsResult<ServerCertVerified> {
        self.check(key, others).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        self.check_signature(message, key, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> TlsResult<ClientCertVerified> {
        self.check(key, others).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        self.check_signature(message, key, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use comity_core::{Backend, Block, Prg};

    /// rustls would offer more, and whatever is offered has to be right.
    #[test]
    fn no_other_suites_and_groups_are_offered_or_taken() {
        let identity = Identity::generate(&mut Prg::new(Backend::detect(), Block::from_u128(1)));
        let pinned = Pinned::new(Vec::new());
        let (client, server) = (pinned.client(&identity).unwrap(), pinned.server(&identity).unwrap());
        for provider in [client.crypto_provider(), server.crypto_provider()] {
            let suites: Vec<_> = provider.cipher_suites.iter().map(|suite| suite.suite()).collect();
            assert_eq!(suites, [TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256].map(|suite| suite.suite()));
            assert_eq!(provider.kx_groups.iter().map(|group| group.name()).collect::<Vec<_>>(), [X25519.name()]);
        }
    }

    /// A signature of another kind may be one that somebody else's key makes, too.
    #[test]
    fn no_other_signature_is_taken() {
        let pinned = Pinned::new(Vec::new());
        assert_eq!(ServerCertVerifier::supported_verify_schemes(&*pinned), [SignatureScheme::ED25519]);
        assert_eq!(ClientCertVerifier::supported_verify_schemes(&*pinned), [SignatureScheme::ED25519]);
    }

    /// A resumed session would prove no key.
    #[test]
    fn no_session_is_resumed() {
        let identity = Identity::generate(&mut Prg::new(Backend::detect(), Block::from_u128(1)));
        let pinned = Pinned::new(Vec::new());
        let (client, server) = (pinned.client(&identity).unwrap(), pinned.server(&identity).unwrap());
        assert!(!server.session_storage.can_cache() && server.send_tls13_tickets == 0);
        let resumption = format!("{:?}", client.resumption);
        assert!(resumption.contains("NoClientSessionStorage"), "{resumption}");
    }

    /// The peer's key is the one that is trusted, and stands alone.
    #[test]
    fn a_key_comes_alone() {
        let key = CertificateDer::from(vec![7; 44]);
        let pinned = Pinned::new(vec![Fingerprint::of(&key)]);
        assert!(pinned.check(&key, &[]).is_ok());
        assert!(pinned.check(&key, std::slice::from_ref(&key)).is_err());
        assert!(Pinned::new(vec![Fingerprint::of(&[8; 44])]).check(&key, &[]).is_err());
    }
}
