//! The facade, as its users have it.

mod groups;
mod interactive;
mod session;
mod shares;
mod store;
