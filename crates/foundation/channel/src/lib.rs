//! Byte channels between parties, and what wraps them.
//!
//! A [`Channel`] is one ordered, reliable byte stream to one peer. Protocols are written against the trait and
//! never learn whether a socket, a pipe in memory or a recording is behind it.

mod channel;
pub mod checks;
mod counted;
mod duplex;
mod echo;
mod foreign;
pub mod hello;
pub mod memory;
mod mesh;
mod per_peer;
mod recorded;
mod replay;
pub mod simulated;
mod tamper;

pub use channel::{AHEAD, Channel, RecvHalf, SendHalf};
pub use comity_core::{Error, Result};
pub use counted::{Counted, Counter, Traffic};
pub use duplex::duplex;
pub use echo::{Echo, Heard, Settled};
pub use foreign::foreign;
pub use hello::{Greeted, Hello, hello};
pub use memory::MemoryChannel;
pub use mesh::{Mesh, Pieces, memory_mesh};
pub use per_peer::PerPeer;
pub use recorded::{Recorded, Recorder, Recording};
pub use replay::Replay;
pub use simulated::{NetProfile, Simulated};
pub use tamper::{Change, Direction, Tamper, Tampering};
