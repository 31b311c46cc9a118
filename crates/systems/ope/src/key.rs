//! [`OpeKey`]: what the owner of a table keeps, and the keys that follow from it.
//!
//! The key file has all that is needed beside the database: the table, its columns with their types and
//! schemes, and the secrets, one of which is current. Without it nothing opens; there is no other copy.

use core::fmt;
use core::str::FromStr;

use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::bytes::{Reader, put_text};
use crate::error::{Error, Result};
use crate::value::ColumnType;

/// The scheme by which a column is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeScheme {
    /// Left/right order-revealing encryption: the stored ciphertexts show no order.
    LeftRight,
    /// Ideal-security codes: they show the order, and which values are equal.
    Ideal,
    /// Frequency-hiding codes: they show the order alone.
    FrequencyHiding,
}

impl OpeScheme {
    /// All schemes, the default first.
    pub const ALL: [OpeScheme; 3] = [OpeScheme::LeftRight, OpeScheme::Ideal, OpeScheme::FrequencyHiding];

    /// The scheme's name.
    pub fn name(self) -> &'static str {
        match self {
            OpeScheme::LeftRight => "left-right",
            OpeScheme::Ideal => "ideal",
            OpeScheme::FrequencyHiding => "frequency-hiding",
        }
    }

    /// Whether the client keeps a dictionary and the server keeps codes.
    pub fn has_codes(self) -> bool {
        self != OpeScheme::LeftRight
    }
}

impl fmt::Display for OpeScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OpeScheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<OpeScheme> {
        let found = OpeScheme::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| {
            Error::Invalid(format!("there is no scheme `{name}`: choose left-right, ideal or frequency-hiding"))
        })
    }
}

/// An encrypted column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name, as the user calls it.
    pub name: String,
    /// The type of its values.
    pub ty: ColumnType,
    /// The scheme by which it is ordered.
    pub scheme: OpeScheme,
    /// Whether codes have 126 bits (`bytea`) and not 62 (`bigint`).
    pub wide: bool,
    /// Whether the column begins without an order and gets one at its first range query.
    pub adjustable: bool,
}

/// The key that the owner of a table keeps.
#[derive(Clone)]
pub struct OpeKey {
    /// Public random bytes, different for each table.
    pub id: [u8; 16],
    /// The address of the database, as the user said it.
    pub database: String,
    /// The table, as the user calls it: its schema, which may be empty, and its name.
    pub table: [String; 2],
    /// The table's encrypted columns.
    pub columns: Vec<Column>,
    /// The secrets, by number; the last one is current, others are there while a rotation is under way.
    secrets: Vec<(u32, Secret)>,
}

#[derive(Clone, Zeroize, ZeroizeOnDrop)]
struct Secret([u8; 32]);

/// The keys of one column that are derived from one secret.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ColumnKey {
    pub(crate) number: u32,
    /// The key of the keys of rows.
    pub(crate) row: [u8; 32],
    /// The key of coins.
    pub(crate) coin: [u8; 32],
    /// The key of the sum over all rows.
    pub(crate) sum: [u8; 32],
    ore: [u8; 32],
}

impl ColumnKey {
    /// The secret's number, which every row carries.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The key of [`Ore`](crate::Ore).
    pub fn ore(&self) -> &[u8; 32] {
        &self.ore
    }
}

const MAGIC: &[u8; 16] = b"comity ope v1\n\0\0";

impl OpeKey {
    /// A new key for a table without encrypted columns.
    pub fn new(database: &str, table: [String; 2], rng: &mut impl CryptoRng) -> OpeKey {
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        let mut key = OpeKey { id, database: database.to_owned(), table, columns: Vec::new(), secrets: Vec::new() };
        key.begin_rotation(rng);
        key
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The number of the current secret.
    pub fn number(&self) -> u32 {
        self.secrets.last().map_or(0, |secret| secret.0)
    }

    /// The numbers of all secrets.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.secrets.iter().map(|secret| secret.0)
    }

    /// Draws a new secret, which becomes the current one; the others stay until
    /// [`end_rotation`](OpeKey::end_rotation).
    pub fn begin_rotation(&mut self, rng: &mut impl CryptoRng) {
        let mut secret = Secret([0; 32]);
        rng.fill_bytes(&mut secret.0);
        self.secrets.push((self.number() + 1, secret));
    }

    /// Forgets all secrets but the one with this number.
    pub fn end_rotation(&mut self, number: u32) {
        self.secrets.retain(|secret| secret.0 == number);
    }

    /// The keys of a column under the secret of this number.
    pub fn column_key(&self, number: u32, column: &str) -> Option<ColumnKey> {
        let derive = |purpose| self.derive(number, purpose, column);
        Some(ColumnKey {
            number,
            row: *derive("comity ope v1 rows")?,
            coin: *derive("comity ope v1 coins")?,
            sum: *derive("comity ope v1 sum")?,
            ore: *derive("comity ope v1 left-right")?,
        })
    }

    /// The key that follows from the secret of this number for a purpose and a name.
    pub(crate) fn derive(&self, number: u32, purpose: &str, name: &str) -> Option<Zeroizing<[u8; 32]>> {
        let secret = &self.secrets.iter().find(|secret| secret.0 == number)?.1;
        let mut hash = blake3::Hasher::new_derive_key(purpose);
        hash.update(&secret.0).update(&self.id).update(name.as_bytes());
        let derived = Zeroizing::new(*hash.finalize().as_bytes());
        hash.zeroize();
        Some(derived)
    }

    /// The key in these bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes are not a key, or are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<OpeKey> {
        const WHAT: &str = "the key file";
        let (body, sum) = bytes.split_last_chunk::<32>().unwrap_or((&[], &[0; 32]));
        if !body.starts_with(MAGIC) {
            return Err(Error::Malformed(format!(
                "{WHAT}: it does not begin as a key file of `comity ope` of this version does"
            )));
        }
        if checksum(body) != *sum {
            return Err(Error::Malformed(format!("{WHAT}: it is damaged")));
        }
        let mut reader = Reader::new(&body[MAGIC.len()..], WHAT);
        let id = reader.array()?;
        let (database, table) = (reader.text()?, [reader.text()?, reader.text()?]);
        let mut columns: Vec<Column> = Vec::new();
        for _ in 0..reader.byte()? {
            let name = reader.text()?;
            let ty: ColumnType =
                reader.text()?.parse().map_err(|_| reader.malformed("a column has no type of this version"))?;
            let scheme = usize::from(reader.byte()?);
            let scheme = *OpeScheme::ALL
                .get(scheme)
                .ok_or_else(|| reader.malformed("a column has no scheme of this version"))?;
            let (wide, adjustable) = (reader.flag()?, reader.flag()?);
            if columns.iter().any(|column| column.name == name) {
                return Err(reader.malformed("two columns have one name"));
            }
            columns.push(Column { name, ty, scheme, wide, adjustable });
        }
        let mut secrets: Vec<(u32, Secret)> = Vec::new();
        for _ in 0..reader.byte()? {
            let (number, secret) = (u32::from_le_bytes(reader.array()?), Secret(reader.array()?));
            if secrets.last().is_some_and(|last| last.0 >= number) {
                return Err(reader.malformed("the secrets are out of order"));
            }
            secrets.push((number, secret));
        }
        if secrets.is_empty() {
            return Err(reader.malformed("it has no secret"));
        }
        reader.end()?;
        Ok(OpeKey { id, database, table, columns, secrets })
    }

    /// The bytes to keep.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // Room for all, so that no outgrown copy is left behind.
        let names: usize = self.columns.iter().map(|column| column.name.len() + 64).sum();
        let room =
            256 + self.database.len() + self.table[0].len() + self.table[1].len() + names + 36 * self.secrets.len();
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.id);
        put_text(&self.database, &mut bytes);
        self.table.iter().for_each(|name| put_text(name, &mut bytes));
        bytes.push(self.columns.len() as u8);
        for column in &self.columns {
            put_text(&column.name, &mut bytes);
            put_text(&column.ty.to_string(), &mut bytes);
            bytes.push(
                OpeScheme::ALL.iter().position(|scheme| *scheme == column.scheme).expect("it is one of all") as u8
            );
            bytes.extend_from_slice(&[column.wide.into(), column.adjustable.into()]);
        }
        bytes.push(self.secrets.len() as u8);
        for (number, secret) in &self.secrets {
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&secret.0);
        }
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }
}

/// The checksum of a key file, against accidents: whoever can change a key file can write one.
fn checksum(body: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new_derive_key("comity ope v1 checksum of a key file").update(body).finalize().as_bytes()
}
