//! `Query`, the file that a receiver publishes.

use comity_core::{Error, Result};

use crate::file::{CHECKSUM, FileKind};
use crate::name::Reference;

/// A query, as a receiver publishes it: the first message of the protocol, the key that answers are sealed
/// to, and a reference to the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub(crate) sealing: [u8; 32],
    reference: Reference,
    inner: comity_nisc::Query,
    fingerprint: [u8; 32],
    bytes: Vec<u8>,
}

impl Query {
    pub(crate) fn new(sealing: [u8; 32], reference: Reference, inner: comity_nisc::Query) -> Query {
        let mut bytes = FileKind::Query.start();
        bytes.extend_from_slice(&sealing);
        reference.put(&mut bytes);
        bytes.extend(inner.to_bytes());
        let fingerprint = *FileKind::Query.sum(&bytes).as_bytes();
        bytes.extend_from_slice(&fingerprint);
        Query { sealing, reference, inner, fingerprint, bytes }
    }

    /// The query with these bytes. Its points are checked by [`respond`](crate::respond()).
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the bytes are not a query, or are damaged, or have another
    /// version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Query> {
        let (mut fields, _) = FileKind::Query.fields(bytes)?;
        let sealing = fields.array()?;
        let reference = Reference::take(&mut fields)?;
        let query = Query::new(sealing, reference, comity_nisc::Query::from_bytes(fields.rest())?);
        // One query, one form: the fingerprint is of what was read.
        if query.bytes != bytes {
            return Err(Error::malformed("the query is not encoded as comity encodes it"));
        }
        Ok(query)
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The hash of the query. Answers are bound to it. A receiver and senders with the same hash have the
    /// same query.
    pub fn fingerprint(&self) -> &[u8; CHECKSUM] {
        &self.fingerprint
    }

    /// The receiver's words for the program that the query is for.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The first message of the protocol.
    pub fn message(&self) -> &comity_nisc::Query {
        &self.inner
    }
}
