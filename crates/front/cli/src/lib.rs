//! The comity command.
