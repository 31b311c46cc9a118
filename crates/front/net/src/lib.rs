//! TCP, TLS and the system's randomness for comity.

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
