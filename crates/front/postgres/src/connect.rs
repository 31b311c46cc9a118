//! A connection: over TLS 1.3, unless the database is on this machine.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};

/// Connects to the database at this address, `postgres://…` or `host=… dbname=…`. `root` is a PEM file with
/// the certificates that sign the server's; a database on another machine needs it.
///
/// # Errors
/// [`Error::Invalid`] for an address that does not parse; [`Error::Untrusted`] if the database is on another
/// machine and there is no `root`; [`Error::Connection`].
pub fn connect(address: &str, root: Option<&Path>) -> Result<Client> {
    // What was wrong with it is the error's cause. The address may have a password in it, and is not repeated.
    let mut config: Config = address.parse().map_err(|error: postgres::Error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Error::invalid(format!("the address of the database does not parse{cause}"))
    })?;
    if config.get_user().is_none() {
        config.user(&std::env::var("USER").unwrap_or_else(|_| "postgres".into()));
    }
    if config.get_hosts().is_empty() {
        config.host_path("/var/run/postgresql");
    }
    match root {
        Some(root) => {
            config.ssl_mode(SslMode::Require);
            Ok(config.connect(tls(root)?)?)
        }
        None if config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(IpAddr::is_loopback) => {
            Ok(config.connect(NoTls)?)
        }
        None => Err(Error::Untrusted(
            "the database is on another machine: name the certificate that vouches for it with --root FILE, so that TLS is used".into(),
        )),
    }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn tls(root: &Path) -> Result<MakeRustlsConnect> {
    let wrong = |what: &str| Error::Untrusted(format!("{}: {what}", root.display()));
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(root).map_err(|error| wrong(&error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| wrong(&error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(&error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("the file has no certificate"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]);
    let builder = builder.map_err(|error| wrong(&error.to_string()))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_needs_a_certificate() {
        for address in [
            "postgres://192.0.2.1/shop",
            "host=db.example dbname=shop",
            "host=localhost,db.example",
            "host=localhost hostaddr=192.0.2.1",
        ] {
            assert!(matches!(connect(address, None), Err(Error::Untrusted(_))), "{address}");
        }
        let missing = Path::new("no-such-certificate.pem");
        assert!(matches!(connect("postgres://192.0.2.1/shop", Some(missing)), Err(Error::Untrusted(_))));
    }
}
