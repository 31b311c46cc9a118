//! `QueryKey`, what a receiver keeps: it opens the answers, and knows which it has opened.

use std::collections::BTreeMap;

use comity_circuit::Program;
use comity_core::{Backend, Bits, Error, Result};
use comity_nisc::{Copies, Secret};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::file::{CHECKSUM, FileKind};
use crate::name::{Reference, put_text, take_text};
use crate::query::Query;
use crate::seal::public_key;

/// The key that opens the answers to a query. Whoever has it knows the receiver's input, and can read all
/// answers.
pub struct QueryKey {
    /// The seed of the key that answers are sealed to.
    pub(crate) seed: Zeroizing<[u8; 32]>,
    pub(crate) fingerprint: [u8; 32],
    expected: u32,
    /// Whether a batch was closed: no other answers are opened then.
    pub(crate) spent: bool,
    named: String,
    reference: Reference,
    /// The answers that were opened: the encapsulated key of each, and the checksum.
    pub(crate) opened: BTreeMap<[u8; 32], [u8; CHECKSUM]>,
    pub(crate) secret: Secret,
}

impl QueryKey {
    /// Makes the key of a new query. `inputs[i]` is `Some` exactly for the values of party 0. `named` is the
    /// receiver's name for the program; the query shows it without its folders. `expected` is the most
    /// answers that a batch should have, for the record: choose `copies` for log2 of it more bits of
    /// security.
    ///
    /// # Errors
    /// As [`comity_nisc::publish`].
    pub fn publish(
        backend: Backend,
        program: &Program,
        named: &str,
        inputs: &[Option<Bits>],
        copies: Copies,
        expected: u32,
        rng: &mut dyn CryptoRng,
    ) -> Result<QueryKey> {
        let reference = Reference::new(program, named)?;
        let (_, secret) = comity_nisc::publish(backend, program, inputs, copies, rng)?;
        Ok(QueryKey::new(secret, named.to_owned(), reference, expected, rng))
    }

    fn new(secret: Secret, named: String, reference: Reference, expected: u32, rng: &mut dyn CryptoRng) -> QueryKey {
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut seed[..]);
        let mut key = QueryKey {
            seed,
            fingerprint: [0; 32],
            expected,
            spent: false,
            named,
            reference,
            opened: BTreeMap::new(),
            secret,
        };
        key.fingerprint = *key.query().fingerprint();
        key
    }

    /// The query.
    pub fn query(&self) -> Query {
        Query::new(public_key(&self.seed), self.reference.clone(), self.secret.query())
    }

    /// The key of the next query for the same input: fresh circuit OTs, a fresh key for answers, and nothing
    /// opened. Answers to the earlier query do not open with it.
    ///
    /// # Errors
    /// As [`Secret::refresh`].
    pub fn refresh(&self, rng: &mut dyn CryptoRng) -> Result<QueryKey> {
        let secret = self.secret.refresh(rng)?;
        Ok(QueryKey::new(secret, self.named.clone(), self.reference.clone(), self.expected, rng))
    }

    /// The key in these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the bytes are not a key, or are damaged, or have another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<QueryKey> {
        let (mut fields, _) = FileKind::Key.fields(bytes)?;
        let seed = Zeroizing::new(fields.array()?);
        let fingerprint = fields.array()?;
        let expected = u32::from_le_bytes(fields.array()?);
        let spent = match fields.array()? {
            [0] => false,
            [1] => true,
            _ => return Err(Error::malformed("the key's state is neither fresh nor spent")),
        };
        let named = take_text(&mut fields, u16::MAX.into())?;
        let reference = Reference::take(&mut fields)?;
        let count = u32::from_le_bytes(fields.array()?);
        let mut opened = BTreeMap::new();
        for _ in 0..count {
            opened.insert(fields.array()?, fields.array()?);
        }
        let secret = Secret::from_bytes(fields.rest())?;
        let key = QueryKey { seed, fingerprint, expected, spent, named, reference, opened, secret };
        // One key, one form.
        if !bool::from(key.to_bytes().ct_eq(bytes)) {
            return Err(Error::malformed("the key is not encoded as comity encodes it"));
        }
        Ok(key)
    }

    /// This key with the tables that `other` has made, if both are of one query. Not for users: fuzzing opens
    /// with a new key each time.
    #[doc(hidden)]
    pub fn with_tables_of(mut self, other: &QueryKey) -> QueryKey {
        self.secret = self.secret.with_tables_of(&other.secret);
        self
    }

    /// The bytes to keep.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let secret = self.secret.to_bytes();
        // Room for all, so that no outgrown copy is left behind.
        let room = 256 + self.named.len() + Reference::MAX + self.reference.owners().len();
        let mut bytes = Zeroizing::new(Vec::with_capacity(room + 64 * self.opened.len() + secret.len()));
        bytes.extend_from_slice(&FileKind::Key.start());
        bytes.extend_from_slice(&self.seed[..]);
        bytes.extend_from_slice(&self.fingerprint);
        bytes.extend_from_slice(&self.expected.to_le_bytes());
        bytes.push(self.spent.into());
        put_text(&self.named, &mut bytes);
        self.reference.put(&mut bytes);
        bytes.extend_from_slice(&(self.opened.len() as u32).to_le_bytes());
        for (encapsulated, sum) in &self.opened {
            bytes.extend_from_slice(encapsulated);
            bytes.extend_from_slice(sum);
        }
        bytes.extend_from_slice(&secret);
        let sum = FileKind::Key.sum(&bytes);
        bytes.extend_from_slice(sum.as_bytes());
        bytes
    }

    /// The fingerprint of the query.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// The name that the receiver gave the program.
    pub fn named(&self) -> &str {
        &self.named
    }

    /// The reference to the program, as in the query.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The number of answers that were expected when the query was published.
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// Whether the key opens no more answers until it is refreshed.
    pub fn spent(&self) -> bool {
        self.spent
    }

    /// The number of answers that were opened with it.
    pub fn opened(&self) -> usize {
        self.opened.len()
    }

    /// The receiver's secret of the protocol.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }
}
