//! [`State`]: what the client leaves at the server about a table, sealed.

use zeroize::Zeroizing;

use crate::bytes::{Reader, put_text};
use crate::error::Result;
use crate::seal::Sum;

/// A table's state, as of one version. Every transaction that writes a code makes a new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The version, which grows by one with each transaction that writes.
    pub version: u64,
    /// The last version that did more than insert rows.
    pub rewritten: u64,
    /// The key of the next row.
    pub next_row: u64,
    /// A hash over all versions: two histories with one version differ here.
    pub chain: [u8; 32],
    /// The encrypted columns.
    pub columns: Vec<ColumnState>,
}

/// A column's part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnState {
    /// The column's name.
    pub name: String,
    /// Whether rows have codes, or right ciphertexts. An adjustable column begins without.
    pub ordered: bool,
    /// Rows with a value.
    pub count: u64,
    /// The sum over the rows with a value.
    pub sum: Sum,
}

impl State {
    /// The state of a new table. Rows are numbered from 1.
    pub fn new() -> State {
        State { version: 0, rewritten: 0, next_row: 1, chain: [0; 32], columns: Vec::new() }
    }

    /// Becomes the next version; `rewrites` if rows that were there changed.
    pub fn advance(&mut self, rewrites: bool) {
        self.version += 1;
        if rewrites {
            self.rewritten = self.version;
        }
        let mut hash = blake3::Hasher::new_derive_key("comity ope v1 chain of states");
        self.chain = *hash.update(&self.to_bytes()).finalize().as_bytes();
    }

    /// The bytes to seal.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::new());
        for number in [self.version, self.rewritten, self.next_row] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.chain);
        bytes.push(self.columns.len() as u8);
        for column in &self.columns {
            put_text(&column.name, &mut bytes);
            bytes.push(column.ordered.into());
            bytes.extend_from_slice(&column.count.to_le_bytes());
            column.sum.0.iter().for_each(|part| bytes.extend_from_slice(&part.to_le_bytes()));
        }
        bytes
    }

    /// The state in these bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed).
    pub fn from_bytes(bytes: &[u8]) -> Result<State> {
        let mut reader = Reader::new(bytes, "the state of the table");
        let (version, rewritten, next_row) = (reader.number()?, reader.number()?, reader.number()?);
        let chain = reader.array()?;
        let mut columns = Vec::new();
        for _ in 0..reader.byte()? {
            let (name, ordered, count) = (reader.text()?, reader.flag()?, reader.number()?);
            let sum = Sum([reader.number()?, reader.number()?, reader.number()?, reader.number()?]);
            columns.push(ColumnState { name, ordered, count, sum });
        }
        reader.end()?;
        Ok(State { version, rewritten, next_row, chain, columns })
    }
}

impl Default for State {
    fn default() -> State {
        State::new()
    }
}
