//! Where the copies of answers wait: a folder, or a service that takes files by HTTP PUT and gives them by GET.
//!
//! A service sees which files are asked for, and whoever watches the network must not: so TLS is a must, but on this machine. A
//! folder is read whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use comity_core::Error;
use comity_mail::CopyStore;
use comity_net::SystemRng;
use comity_terminal::failure::{Ending, Failure, Outcome};
use rand_core::Rng;
use ureq::Agent;

use super::files::{self, Partial};
use super::program::hex;

/// The time for which a service may say nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes a second below which a service is given up, after [`PATIENCE`].
const SLOWEST: u64 = 4 << 10;

/// The place where copies wait.
pub(super) enum Place {
    Folder(PathBuf),
    Service { agent: Agent, url: String },
}

/// A copy on its way to a store.
pub(super) struct Item {
    name: String,
    file: ItemFile,
}

enum ItemFile {
    Beside(Partial),
    Waiting(File),
}

impl Write for Item {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            ItemFile::Beside(file) => file.write(bytes),
            ItemFile::Waiting(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Place {
    /// A place by the word of the user.
    pub(super) fn new(text: &str) -> Outcome<Place> {
        let Some((scheme, rest)) = text.split_once("://") else {
            let path = PathBuf::from(text);
            if !path.is_dir() {
                return Err(Failure::input(format!(
                    "--store {text}: there is no such folder: make it first, or name another"
                )));
            }
            return Ok(Place::Folder(path));
        };
        let host = rest.split('/').next().unwrap_or_default();
        if rest.contains(['?', '#', '@'])
            || host.is_empty()
            || rest.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Err(Failure::input(format!(
                "--store {text}: name a URL like https://host/folder: the names of files are put after it"
            )));
        }
        let tls = match scheme {
            "https" => true,
            "http" if is_loopback(host) => false,
            "http" => {
                return Err(Failure::input(format!(
                    "--store {text}: this is not encrypted, and anybody on the way would see which copies are fetched: use https"
                )));
            }
            _ => {
                return Err(Failure::input(format!(
                    "--store {text}: name a folder, or a URL that begins with https://"
                )));
            }
        };
        let mut config = Agent::config_builder()
            .https_only(tls)
            // To another place without encryption nothing is redirected.
            .max_redirects(if tls { 3 } else { 0 })
            .http_status_as_error(false)
            .user_agent("comity")
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE));
        if !tls {
            config = config.proxy(None);
        }
        Ok(Place::Service { agent: config.build().into(), url: format!("{}/", text.trim_end_matches('/')) })
    }

    /// Begins a file. It is in the store only after [`Place::keep`].
    pub(super) fn begin(&self, name: &str) -> comity_core::Result<Item> {
        let file = match self {
            Place::Folder(folder) => {
                let partial = Partial::new(&folder.join(name), false);
                ItemFile::Beside(partial.map_err(|failure| Error::invalid_input(failure.message))?)
            }
            Place::Service { .. } => {
                ItemFile::Waiting(temporary().map_err(|error| Error::io("making a temporary file", error))?)
            }
        };
        Ok(Item { name: name.to_owned(), file })
    }

    /// Puts files into the store, all or an error.
    pub(super) fn keep(&self, items: Vec<Item>) -> Outcome {
        let mut kept = Vec::new();
        for Item { name, file } in items {
            let done = match (self, file) {
                (Place::Folder(folder), ItemFile::Beside(partial)) => {
                    kept.push(folder.join(&name));
                    partial.keep()
                }
                (Place::Service { agent, url }, ItemFile::Waiting(file)) => put(agent, url, &name, file),
                _ => unreachable!("a place keeps what it began"),
            };
            if let Err(failure) = done {
                // A set that is not complete is good for nothing. What was put to a service stays there.
                kept.iter().for_each(|path| _ = fs::remove_file(path));
                return Err(failure);
            }
        }
        Ok(())
    }
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The time that so many bytes may take.
fn patience(bytes: u64) -> Duration {
    PATIENCE + Duration::from_secs(bytes / SLOWEST)
}

fn put(agent: &Agent, url: &str, name: &str, mut file: File) -> Outcome {
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
fn get(agent: &Agent, url: &str, name: &str, bytes: u64) -> comity_core::Result<File> {
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

impl CopyStore for Place {
    fn whole(&self) -> bool {
        matches!(self, Place::Folder(_))
    }

    fn fetch(&mut self, name: &str, bytes: u64) -> comity_core::Result<Box<dyn Read>> {
        Ok(Box::new(match self {
            Place::Folder(folder) => {
                let opened = files::open(&folder.join(name));
                opened.map_err(|failure| Error::invalid_input(format!("a copy of it: {}", failure.message)))?
            }
            Place::Service { agent, url } => get(agent, url, name, bytes)?,
        }))
    }
}

/// A file without a name, which is gone when it is closed.
fn temporary() -> io::Result<File> {
    let mut random = [0; 16];
    SystemRng.fill_bytes(&mut random);
    let path = std::env::temp_dir().join(format!("comity-{}", hex(&random)));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // FILE_FLAG_DELETE_ON_CLOSE
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, 0x0400_0000);
    let file = options.open(&path)?;
    #[cfg(unix)]
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_folders_or_encrypted() {
        let refused = |text: &str| Place::new(text).err().map(|failure| failure.message).unwrap_or_default();
        assert!(matches!(Place::new("."), Ok(Place::Folder(_))));
        for good in [
            "https://example.org",
            "https://example.org:81/a/b/",
            "http://127.0.0.1:80",
            "http://[::1]:8/x",
            "http://localhost/",
        ] {
            assert!(
                matches!(Place::new(good), Ok(Place::Service { url, .. }) if url.ends_with('/') && !url.ends_with("//")),
                "{good}"
            );
        }
        assert!(refused("/no/such/folder").contains("no such folder"));
        for plain in
            ["http://example.org", "http://127.0.0.1.example.org/", "http://localhost.example.org", "http://10.0.0.1"]
        {
            assert!(refused(plain).contains("not encrypted"), "{plain}");
        }
        for bad in
            ["ftp://example.org", "https://", "https://a/b?c", "https://me:word@a/", "https://a/b c", "https://a/#b"]
        {
            assert!(refused(bad).contains("--store"), "{bad}");
        }
    }
}
