//! Oblivious transfer.
