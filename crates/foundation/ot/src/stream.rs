//! What all extensions do alike with the streams that they advance: whether they may go on, and buffers.

use comity_core::{Error, Result};

/// Starts a call that advances the streams, unless an earlier one failed: the two sides then no longer agree on how far
/// they have advanced. `broken` stays set until the call has succeeded and clears it.
pub(crate) fn begin(broken: &mut bool) -> Result<()> {
    if std::mem::replace(broken, true) {
        return Err(Error::invalid_input("this OT extension stopped at an earlier error; set up a new one"));
    }
    Ok(())
}

/// The first `n` elements of a buffer, which grows if it must and never shrinks, so that wiping it wipes
/// everything.
pub(crate) fn grown<T: Copy + Default>(buffer: &mut Vec<T>, n: usize) -> &mut [T] {
    if buffer.len() < n {
        buffer.resize(n, T::default());
    }
    &mut buffer[..n]
}
