//! `Route`: where the peers are.

use comity_channel::{Channel, PerPeer};

/// The place where the peers are.
pub(crate) enum Route<'a> {
    Unknown,
    Listen(String),
    Connect(String),
    Over(Box<dyn Channel + 'a>),
    Among(PerPeer<Box<dyn Channel + 'a>>),
}
