//! What follows from the secret of one copy.

use comity_core::{Block, SessionId};
use zeroize::Zeroize;

/// Fills `out` from the secret of copy `j` by BLAKE3: `context` names the protocol and the secret, and no two
/// are alike.
pub fn expand(context: &str, session: &SessionId, j: usize, secret: Block, out: &mut [u8]) {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(&session.to_bytes()).update(&(j as u64).to_le_bytes()).update(&secret.to_bytes());
    let mut stream = hasher.finalize_xof();
    stream.fill(out);
    stream.zeroize();
    hasher.zeroize();
}
