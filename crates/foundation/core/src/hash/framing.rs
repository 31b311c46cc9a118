//! BLAKE3 over length-framed fields: no two different sequences of fields feed it the same bytes.

/// A hash over fields.
pub(crate) struct Framed(blake3::Hasher);

impl Framed {
    /// An empty hash for one use: BLAKE3 in its key-derivation mode keeps contexts apart.
    pub(crate) fn new(context: &str) -> Framed {
        Framed(blake3::Hasher::new_derive_key(context))
    }

    /// Adds a field: its length in eight bytes, then its bytes.
    pub(crate) fn add(&mut self, field: &[u8]) {
        self.0.update(&(field.len() as u64).to_le_bytes());
        self.0.update(field);
    }

    /// The hash of the fields so far.
    pub(crate) fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }

    /// The hash of the fields so far, of any length. A shorter one is the start of a longer one.
    pub(crate) fn fill(&self, out: &mut [u8]) {
        self.0.finalize_xof().fill(out);
    }
}
