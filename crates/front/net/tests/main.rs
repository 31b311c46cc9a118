//! Connections, keys and groups, as their users have them.

mod common;
mod connection;
mod damage;
mod group;
mod keys;
mod meeting;
