//! A service that takes files by HTTP PUT and gives them by GET.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::Duration;

use comity_core::Error;
use comity_terminal::failure::{Ending, Failure, Outcome};
use ureq::Agent;

use super::temporary;

/// The time for which a service may say nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes a second below which a service is given up, after [`PATIENCE`].
const SLOWEST: u64 = 4 << 10;

/// A service, by its URL, which ends in a slash: the name of a file comes after it.
pub(in crate::nisc) struct Service {
    agent: Agent,
    url: String,
}

impl Service {
    /// The service of this URL. Without TLS it is one on this machine.
    pub(super) fn new(url: &str, tls: bool) -> Outcome<Service> {
        let mut config = Agent::config_builder()
            .https_only(tls)
            // Whoever it were redirected to would see which copies are fetched.
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent("comity")
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE));
        if !tls {
            config = config.proxy(None);
        }
        Ok(Service { agent: config.build().into(), url: format!("{}/", url.trim_end_matches('/')) })
    }

    /// Puts a file.
    pub(super) fn put(&self, name: &str, mut file: File) -> Outcome {
        let Service { agent, url } = self;
        let network = |what: String| Failure::new(Ending::Network, format!("{url}: cannot store {name}: {what}"));
        let length = file.rewind().and_then(|()| file.metadata()).map_err(|e| network(e.to_string()))?.len();
        let request = agent.put(format!("{url}{name}")).content_type("application/octet-stream");
        let sent = request.config().timeout_global(Some(patience(length))).build().send(file);
        match sent.map_err(|e| network(e.to_string()))?.status() {
            status if status.is_success() => Ok(()),
            status => Err(network(format!("the service says {status}"))),
        }
    }

    /// Fetches a file to a temporary one. No message says which.
    pub(super) fn get(&self, name: &str, bytes: u64) -> comity_core::Result<File> {
        let Service { agent, url } = self;
        let what = || format!("{url}: a copy cannot be fetched");
        let request = agent.get(format!("{url}{name}")).config().timeout_global(Some(patience(bytes))).build();
        let response = request.call().map_err(|error| match error {
            ureq::Error::Timeout(_) => Error::timed_out(what()),
            ureq::Error::Io(error) => Error::system(what(), error),
            error => Error::system(what(), io::Error::other(error.to_string())),
        })?;
        if !response.status().is_success() {
            let said = io::Error::other(format!("the service says {}", response.status()));
            return Err(Error::system(what(), said));
        }
        let mut file = temporary().map_err(|error| Error::io("making a temporary file", error))?;
        // One byte too many is seen where the copy is opened.
        let mut body = response.into_body().into_reader().take(bytes.saturating_add(1));
        let copied = io::copy(&mut body, &mut file).and_then(|_| file.rewind());
        copied.map_err(|source| Error::system(what(), source))?;
        Ok(file)
    }

    /// The URL, which ends in a slash.
    #[cfg(test)]
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// The time that `bytes` bytes may take.
fn patience(bytes: u64) -> Duration {
    PATIENCE + Duration::from_secs(bytes / SLOWEST)
}
