//! The facade, as its users have it.

mod interactive;
mod session;
mod store;
