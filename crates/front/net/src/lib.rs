//! What touches the outside: TCP, TLS, key files and the system's randomness.
//!
//! A [`Listener`] and [`connect`] give a [`Connection`], which is a [`Channel`](comity_channel::Channel). What protects
//! it is its [`Security`]:
//!
//! - *plain*: frames with checksums on TCP. Damage on the way is an error and never data; whoever sits on the line can
//!   read and change everything. Only on this machine, unless the caller insists ([`check_plaintext`]).
//! - *TLS*: TLS 1.3 with raw public keys. Each side proves an [`Identity`], and admits one [`Fingerprint`]. Against
//!   whoever sits on the line: they see how much is sent, and when, and can cut the line.
//!
//! Both sides must choose the same one; if they do not, both are told at once. Keys and trusted fingerprints live in a
//! [`KeyDir`].
//!
//! ```
//! use std::time::Duration;
//! use comity_channel::Channel;
//! use comity_net::{Listener, Security, Settings, connect};
//!
//! let settings = Settings { security: Security::Plain { anywhere: false }, timeout: Duration::from_secs(30) };
//! let listener = Listener::bind("127.0.0.1:0", &settings)?;
//! let address = listener.address().to_string();
//! let peer = std::thread::spawn(move || {
//!     let mut channel = connect(&address, &settings, &mut |text| eprintln!("{text}"))?;
//!     channel.send(b"hello")?;
//!     channel.flush()
//! });
//! let mut channel = listener.accept(&mut |text| eprintln!("{text}"))?;
//! let mut bytes = [0; 5];
//! channel.recv(&mut bytes)?;
//! assert_eq!(&bytes, b"hello");
//! peer.join().unwrap()?;
//! # Ok::<(), comity_core::Error>(())
//! ```

mod address;
mod connection;
mod frame;
mod identity;
mod keys;
mod pinned;
mod plain;
mod rng;
mod tcp;
mod tls;

pub use address::{check_plaintext, is_loopback};
pub use connection::{Connection, Listener, Security, Settings, connect};
pub use identity::{Fingerprint, Identity};
pub use keys::KeyDir;
pub use rng::SystemRng;
