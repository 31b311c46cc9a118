//! Channels as their users have them.

mod echo;
mod hello;
mod memory;
mod wrappers;
