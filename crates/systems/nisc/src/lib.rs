//! Non-interactive secure computation.
