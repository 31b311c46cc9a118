//! What touches the outside: TCP, TLS, key files and the system's randomness.
//!
//! [`meet`] gives a party a [`Connection`] to each other one, which is a
//! [`Channel`](comity_channel::Channel): some come to its [`Listener`], the others it calls; two have
//! [`Listener::accept`] and [`connect`]. What protects connections is their [`Security`]:
//!
//! - *plain*: frames with checksums on TCP. Damage on the way is an error and never data; whoever sits on the line can
//!   read and change everything. Only on this machine, unless the caller insists ([`check_plaintext`]).
//! - *TLS*: TLS 1.3 with raw public keys. Each side proves an [`Identity`], and admits the [`Fingerprint`]s
//!   of the other parties, by which it knows who is who. Against whoever sits on the line: they see how much
//!   is sent, and when, and can cut the line.
//!
//! Two parties neither of which can be called meet at a [`Relay`], through which they speak TLS. A helper of
//! one party alone, such as a token, is called at a socket of its machine (`LocalChannel`, where there are
//! such).
//!
//! All must choose the same one; a party that calls somebody that did not is told at once. One that listens
//! is not to be stopped by a stranger: it turns away whoever is not expected, and goes on waiting until its
//! time-out. Keys and trusted fingerprints live in a [`KeyDir`].
//!
//! ```
//! use std::time::Duration;
//! use comity_channel::Channel;
//! use comity_core::PartyId;
//! use comity_net::{Listener, Security, Settings, connect};
//!
//! let settings = |me| Settings::of_two(PartyId(me), Security::Plain { anywhere: false }, Duration::from_secs(30));
//! let listener = Listener::bind("127.0.0.1:0", &settings(0))?;
//! let address = listener.address().to_string();
//! let peer = std::thread::spawn(move || {
//!     let mut channel = connect(&address, PartyId(0), &settings(1), &mut |text| eprintln!("{text}"))?;
//!     channel.send(b"hello")?;
//!     channel.flush()
//! });
//! let mut channel = listener.accept(&mut |event| eprintln!("{event:?}"))?;
//! let mut bytes = [0; 5];
//! channel.recv(&mut bytes)?;
//! assert_eq!(&bytes, b"hello");
//! peer.join().unwrap()?;
//! # Ok::<(), comity_core::Error>(())
//! ```

mod address;
mod connection;
mod frame;
mod group;
mod hub;
mod identity;
mod keep;
mod keys;
mod limits;
#[cfg(unix)]
mod local;
mod meeting;
mod parting;
mod pinned;
mod plain;
mod post;
mod relay;
mod relayed;
mod rng;
mod settings;
mod socket;
mod tcp;
mod tls;
mod transport;

pub use address::{check_plaintext, is_loopback, stays_here};
pub use connection::{Connection, connect};
#[doc(hidden)]
pub use frame::unframe;
pub use group::{Calls, Digest, MOST, Member, PartyGroup, Ways, ways};
pub use hub::Listener;
pub use identity::{Fingerprint, Identity};
pub use keys::{KeyDir, owned, read_own};
pub use limits::{Limits, Now, Stop};
#[cfg(unix)]
pub use local::{LocalChannel, LocalListener};
pub use meeting::{Event, meet};
pub use parting::settle;
#[doc(hidden)]
pub use relay::carried;
pub use relay::{PAIRS, Relay, RelayEvent, Tally};
pub use rng::SystemRng;
pub use settings::{ByRelay, Security, Settings};
#[doc(hidden)]
pub use tls::TlsEar;
#[doc(hidden)]
pub use transport::opens;
