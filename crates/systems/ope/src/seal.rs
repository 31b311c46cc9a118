//! Sealing: values in rows, and the client's own state.
//!
//! Every row has a key of its own, keyed BLAKE3 of (row key, 16 random bytes) under the column's key, for
//! AES-256-GCM: a sealed value opens in its table, column and row and nowhere else. It carries the number of
//! the secret that it is sealed under. A plain value may have a tag ([`Binding`]), which vouches for it in
//! its column and row. The random bytes give the row's [`Coin`], too, so that the database alone has all that
//! a dictionary is made of, and a retry under another row key keeps its coin.

use rand_core::CryptoRng;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::coin::Coin;
use crate::error::{Error, Result};
use crate::key::{ColumnKey, OpeKey};

/// Bytes before the sealed ones: the secret's number, and random bytes.
const HEAD: usize = 4 + 16;
/// Bytes that the cipher adds.
const TAG: usize = 16;

/// Bytes that sealing adds.
pub const OVERHEAD: usize = HEAD + TAG;

/// The number of the secret that bytes are sealed under.
///
/// # Errors
/// [`Error::Sealed`] if the bytes are too short to have one.
pub fn sealed_under(sealed: &[u8]) -> Result<u32> {
    Ok(u32::from_le_bytes(*sealed.first_chunk().ok_or(Error::Sealed)?))
}

impl ColumnKey {
    /// Seals a value for a row. A `nonce` must be used for one value only; a retry of the value may use it
    /// again, under another row key, too.
    pub fn seal(&self, row: u64, nonce: [u8; 16], plain: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(plain.len() + OVERHEAD);
        self.seal_to(row, nonce, plain, &mut sealed);
        sealed
    }

    /// Appends what [`seal`](ColumnKey::seal) returns.
    pub fn seal_to(&self, row: u64, nonce: [u8; 16], plain: &[u8], to: &mut Vec<u8>) {
        seal(self.number, &self.row_key(row, &nonce), &nonce, plain, to);
    }

    /// The coin of a value that is sealed with this nonce.
    pub fn coin(&self, nonce: [u8; 16]) -> Coin {
        let mut hash = blake3::keyed_hash(&self.coin, &nonce);
        let coin = Coin::new(u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a hash has 32 bytes")));
        hash.zeroize();
        coin
    }

    /// Opens what was sealed for this row, and returns the value's coin, too.
    ///
    /// # Errors
    /// [`Error::Sealed`] if it was not sealed for this row.
    pub fn open(&self, row: u64, sealed: &[u8]) -> Result<(Zeroizing<Vec<u8>>, Coin)> {
        if sealed_under(sealed)? != self.number {
            return Err(Error::Sealed);
        }
        let nonce = sealed.get(4..HEAD).and_then(|nonce| nonce.first_chunk()).ok_or(Error::Sealed)?;
        Ok((open(&self.row_key(row, nonce), sealed)?, self.coin(*nonce)))
    }

    /// The term that a row adds to its column's sum.
    pub fn term(&self, row: u64, plain: &[u8]) -> Sum {
        Sum::of(&keyed(&self.sum, row, plain))
    }

    fn row_key(&self, row: u64, nonce: &[u8; 16]) -> Zeroizing<[u8; 32]> {
        keyed(&self.row, row, nonce)
    }
}

/// Keyed BLAKE3 of a row key and bytes behind it.
fn keyed(key: &[u8; 32], row: u64, bytes: &[u8]) -> Zeroizing<[u8; 32]> {
    // In one piece where a block of the hash holds them: a hasher for pieces has two kilobytes to be wiped.
    let mut block = Zeroizing::new([0; 64]);
    let hash = if let Some((input, _)) = block.split_at_mut_checked(8 + bytes.len()) {
        input[..8].copy_from_slice(&row.to_le_bytes());
        input[8..].copy_from_slice(bytes);
        blake3::keyed_hash(key, input)
    } else {
        let mut hash = blake3::Hasher::new_keyed(key);
        hash.update(&row.to_le_bytes()).update(bytes);
        let output = hash.finalize();
        hash.zeroize();
        output
    };
    Zeroizing::new(hash.into())
}

/// Nonces of many values, which are not stored but computed again: keyed hashes of the row's number, the
/// column's and the value, under a key that is used for nothing else. A value that has changed when it is
/// read again has another nonce, too: one nonce never seals two values.
pub struct Nonces(Zeroizing<[u8; 32]>);

impl Nonces {
    /// New nonces, with a random key.
    pub fn new(rng: &mut impl CryptoRng) -> Nonces {
        let mut key = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *key);
        Nonces(key)
    }

    /// The nonce of this value in a row's column.
    pub fn of(&self, row: u64, column: usize, plain: &[u8]) -> [u8; 16] {
        let mut input = Zeroizing::new(Vec::with_capacity(8 + plain.len()));
        input.extend_from_slice(&(column as u64).to_le_bytes());
        input.extend_from_slice(plain);
        *keyed(&self.0, row, &input).first_chunk().expect("a hash has 32 bytes")
    }
}

impl OpeKey {
    /// The terms that rows add to the sum over all of them, under the secret of this number.
    pub fn row_terms(&self, number: u32) -> Option<RowTerms> {
        Some(RowTerms(self.derive(number, "comity ope v2 sum over rows", "")?))
    }
}

/// The terms that rows add to the sum over all rows. They do not depend on the rows' content.
pub struct RowTerms(Zeroizing<[u8; 32]>);

impl RowTerms {
    /// The term of a row.
    pub fn of(&self, row: u64) -> Sum {
        Sum::of(&keyed(&self.0, row, &[]))
    }
}

/// The key of tags, each of which authenticates a plain value in its column and row: a keyed hash of them. An
/// earlier value under the same secret has a valid tag, too.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Binding([u8; 32]);

impl OpeKey {
    /// The key of the tags of a column that is not encrypted, under the secret of this number.
    pub fn binding(&self, number: u32, column: &str) -> Option<Binding> {
        Some(Binding(*self.derive(number, "comity ope v2 bound columns", column)?))
    }
}

impl Binding {
    /// The tag of a value in a row; `None` is NULL.
    pub fn tag(&self, row: u64, value: Option<&[u8]>) -> [u8; 32] {
        let mut input = vec![u8::from(value.is_some())];
        input.extend_from_slice(value.unwrap_or_default());
        *keyed(&self.0, row, &input)
    }

    /// Whether this is the tag of the value. The time does not depend on where they differ.
    pub fn vouches(&self, row: u64, value: Option<&[u8]>, tag: &[u8]) -> bool {
        blake3::Hash::from_bytes(self.tag(row, value)) == *tag
    }
}

/// The purpose of sealed bytes that the client keeps for itself, at the server or on its own disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The state of the table.
    State,
    /// The cache of the dictionaries.
    Cache,
}

impl Purpose {
    fn context(self) -> &'static str {
        match self {
            Purpose::State => "comity ope v1 state",
            Purpose::Cache => "comity ope v1 cache",
        }
    }
}

impl OpeKey {
    /// Seals bytes under the secret of this number; `None` if there is no such secret. A `nonce` must be used
    /// once. `beside` is text that is stored with the bytes and not sealed: they do not open beside any other
    /// text.
    pub fn seal(&self, number: u32, purpose: Purpose, beside: &str, nonce: [u8; 16], plain: &[u8]) -> Option<Vec<u8>> {
        let key = self.once(number, purpose, beside, &nonce)?;
        let mut sealed = Vec::with_capacity(plain.len() + OVERHEAD);
        seal(number, &key, &nonce, plain, &mut sealed);
        Some(sealed)
    }

    /// Opens bytes that were sealed for this purpose, beside the same text.
    ///
    /// # Errors
    /// [`Error::Sealed`] if they were not.
    pub fn open(&self, purpose: Purpose, beside: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let nonce = sealed.get(4..HEAD).and_then(|nonce| nonce.first_chunk()).ok_or(Error::Sealed)?;
        let key = self.once(sealed_under(sealed)?, purpose, beside, nonce).ok_or(Error::Sealed)?;
        open(&key, sealed)
    }

    fn once(&self, number: u32, purpose: Purpose, beside: &str, nonce: &[u8; 16]) -> Option<Zeroizing<[u8; 32]>> {
        let key = self.derive(number, purpose.context(), beside)?;
        Some(Zeroizing::new(*blake3::keyed_hash(&key, nonce).as_bytes()))
    }
}

/// A key seals once, so that the cipher's own nonce is zero.
fn cipher(key: &[u8; 32]) -> (LessSafeKey, Nonce) {
    let key = UnboundKey::new(&AES_256_GCM, key).expect("the key has the cipher's 32 bytes");
    (LessSafeKey::new(key), Nonce::assume_unique_for_key([0; 12]))
}

fn seal(number: u32, key: &[u8; 32], nonce: &[u8; 16], plain: &[u8], to: &mut Vec<u8>) {
    to.extend_from_slice(&number.to_le_bytes());
    to.extend_from_slice(nonce);
    let start = to.len();
    to.extend_from_slice(plain);
    let (cipher, zero) = cipher(key);
    let tag = cipher.seal_in_place_separate_tag(zero, Aad::empty(), &mut to[start..]);
    to.extend_from_slice(tag.expect("it is far below the cipher's limit").as_ref());
}

fn open(key: &[u8; 32], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(sealed.get(HEAD..).ok_or(Error::Sealed)?.to_vec());
    let (cipher, zero) = cipher(key);
    let length = cipher.open_in_place(zero, Aad::empty(), &mut bytes).map_err(|_| Error::Sealed)?.len();
    bytes.truncate(length);
    Ok(bytes)
}

/// A keyed sum over the rows of a column, which does not depend on their order: MSet-Add-Hash of D. Clarke
/// and others (Asiacrypt 2003). The server never sees a sum in the clear. A row key occurs once, so that
/// every term is in the sum once or not at all.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sum(pub(crate) [u64; 4]);

impl Sum {
    fn of(bytes: &[u8; 32]) -> Sum {
        Sum(core::array::from_fn(|i| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("8 bytes"))))
    }

    /// Adds the term of a row.
    pub fn add(&mut self, term: Sum) {
        self.0.iter_mut().zip(term.0).for_each(|(sum, term)| *sum = sum.wrapping_add(term));
    }

    /// Subtracts the term of a row.
    pub fn subtract(&mut self, term: Sum) {
        self.0.iter_mut().zip(term.0).for_each(|(sum, term)| *sum = sum.wrapping_sub(term));
    }
}
