//! The facade, as its users have it.

mod interactive;
mod kills;
mod session;
mod store;
