//! The facade, as its users have it.

mod afternoon;
mod facade;
mod forms;
mod groups;
mod interactive;
mod phases;
mod plans;
mod session;
mod several;
mod shares;
mod store;
mod stores;
