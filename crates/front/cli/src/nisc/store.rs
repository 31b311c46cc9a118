//! Where the copies of answers wait: a folder, or a service that takes files by HTTP PUT and gives them by GET.
//!
//! A service sees which files are asked for, and whoever watches the network must not: so TLS is a must, but
//! on this machine. A folder is read whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::PathBuf;

use comity_core::Error;
use comity_files::Access;
use comity_mail::CopyStore;
use comity_net::SystemRng;
use comity_terminal::failure::{Failure, Outcome};
use rand_core::Rng;

use super::files::{self, Partial};
use super::program::hex;
use service::Service;

#[cfg(feature = "http")]
mod service;

/// A build without HTTP has no services.
#[cfg(not(feature = "http"))]
mod service {
    use std::fs::File;

    use comity_terminal::failure::Outcome;

    use crate::absent::absent;

    pub(in crate::nisc) enum Service {}

    impl Service {
        pub(super) fn new(url: &str, _: bool) -> Outcome<Service> {
            Err(absent(&format!("--store {url}: a service that is spoken to by HTTP"), "http"))
        }

        pub(super) fn put(&self, _: &str, _: File) -> Outcome {
            match *self {}
        }

        pub(super) fn get(&self, _: &str, _: u64) -> comity_core::Result<File> {
            match *self {}
        }
    }
}

/// The place where copies wait.
pub(super) enum Place {
    Folder(PathBuf),
    Service(Service),
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
                    "--store {text}: the folder does not exist: make it, or name another"
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
                    "--store {text}: http is not encrypted, so anybody on the way would see which copies are fetched: \
                        use https"
                )));
            }
            _ => {
                return Err(Failure::input(format!(
                    "--store {text}: name a folder, or a URL that begins with https://"
                )));
            }
        };
        Service::new(text, tls).map(Place::Service)
    }

    /// Begins a file. It is in the store only after [`Place::keep`].
    pub(super) fn begin(&self, name: &str) -> comity_core::Result<Item> {
        let file = match self {
            Place::Folder(folder) => {
                let partial = Partial::new(&folder.join(name), Access::Umask);
                ItemFile::Beside(partial.map_err(|failure| Error::invalid_input(failure.message))?)
            }
            Place::Service(_) => {
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
                (Place::Service(service), ItemFile::Waiting(file)) => service.put(&name, file),
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
            Place::Service(service) => service.get(name, bytes)?,
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
                matches!(Place::new(good), Ok(Place::Service(service)) if service.url().ends_with('/') && !service.url().ends_with("//")),
                "{good}"
            );
        }
        assert!(refused("/no/such/folder").contains("the folder does not exist"));
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
