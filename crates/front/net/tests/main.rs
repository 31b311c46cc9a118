//! Connections, keys and groups, as their users have them, and whole runs of many parties.

mod common;
mod connection;
mod damage;
mod group;
mod keys;
mod many;
mod meeting;
mod relay;
mod time;
