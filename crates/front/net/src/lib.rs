//! TCP, TLS and the system's randomness for comity.

mod address;
mod connection;
mod frame;
mod plain;
mod rng;
mod tcp;

pub use address::{check_plaintext, is_loopback};
pub use connection::{Connection, Listener, Security, Settings, connect};
pub use rng::SystemRng;
