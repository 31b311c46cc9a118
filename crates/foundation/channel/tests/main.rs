//! Channels as their users have them.

mod hello;
mod memory;
mod wrappers;
