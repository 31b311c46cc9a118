//! [`State`]: what the client leaves at the server about a table, sealed.

use zeroize::Zeroizing;

use crate::bytes::{Reader, put_text};
use crate::error::Result;
use crate::history::{History, Link};
use crate::seal::Sum;

/// A table's state, as of one version. Every transaction that writes a code makes a new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The version, and those before it.
    pub history: History,
    /// The last version that did more than insert rows.
    pub rewritten: u64,
    /// The key of the next row.
    pub next_row: u64,
    /// The total of the rows that have a key.
    pub rows: RowTotal,
    /// The encrypted columns.
    pub columns: Vec<ColumnState>,
    /// The names of the columns that are not encrypted but bound to their rows. They are not in the encoded
    /// bytes, but beside them ([`State::beside`]).
    pub bound: Vec<String>,
}

/// A set of rows, as their number and the sum of their terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowTotal {
    /// The number of rows.
    pub count: u64,
    /// The sum of their terms.
    pub sum: Sum,
}

impl RowTotal {
    /// Adds a row, by its term.
    pub fn add(&mut self, term: Sum) {
        self.count += 1;
        self.sum.add(term);
    }

    /// Removes a row, by its term; `None` if the set is empty.
    pub fn subtract(&mut self, term: Sum) -> Option<()> {
        self.count = self.count.checked_sub(1)?;
        self.sum.subtract(term);
        Some(())
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.count.to_le_bytes());
        self.sum.0.iter().for_each(|part| bytes.extend_from_slice(&part.to_le_bytes()));
    }

    fn read(reader: &mut Reader<'_>) -> Result<RowTotal> {
        let count = reader.number()?;
        let sum = Sum([reader.number()?, reader.number()?, reader.number()?, reader.number()?]);
        Ok(RowTotal { count, sum })
    }
}

/// A column's part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnState {
    /// The column's name.
    pub name: String,
    /// Whether rows have codes or right ciphertexts. An adjustable column begins without them.
    pub ordered: bool,
    /// The total of the rows with a value.
    pub values: RowTotal,
}

/// The first bytes of a state. Those of an earlier version begin with a number that is never this one.
const MAGIC: &[u8; 8] = b"state v2";

impl State {
    /// The state of a new table. Rows are numbered from 1.
    pub fn new() -> State {
        State {
            history: History::default(),
            rewritten: 0,
            next_row: 1,
            rows: RowTotal::default(),
            columns: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// The version, which grows by one with each transaction that writes.
    pub fn version(&self) -> u64 {
        self.history.version()
    }

    /// Moves on to the next version; `rewrites` says whether existing rows changed. Returns the link between
    /// the two, which the server keeps.
    pub fn advance(&mut self, rewrites: bool) -> Link {
        if rewrites {
            self.rewritten = self.version() + 1;
        }
        let mut hash = blake3::Hasher::new_derive_key("comity ope v2 content of a state");
        let content = *hash.update(&self.to_bytes()).finalize().as_bytes();
        self.history.advance(content)
    }

    /// The text that the state is sealed beside: the names of these bound columns.
    pub fn beside(bound: &[String]) -> String {
        bound.iter().map(|name| format!("{name}\0")).collect()
    }

    /// The bytes to seal.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(MAGIC.to_vec());
        for number in [self.version(), self.rewritten, self.next_row] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.history.put(&mut bytes);
        self.rows.put(&mut bytes);
        bytes.push(self.columns.len() as u8);
        for column in &self.columns {
            put_text(&column.name, &mut bytes);
            bytes.push(column.ordered.into());
            column.values.put(&mut bytes);
        }
        bytes
    }

    /// Decodes a state.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed), also for a state of an earlier version of comity.
    pub fn from_bytes(bytes: &[u8]) -> Result<State> {
        let mut reader = Reader::new(bytes, "the state of the table");
        if reader.array()? != *MAGIC {
            return Err(
                reader.malformed("it was written by an earlier version of comity: make the table anew with this one")
            );
        }
        let (version, rewritten, next_row) = (reader.number()?, reader.number()?, reader.number()?);
        let history = History::read(version, &mut reader)?;
        let rows = RowTotal::read(&mut reader)?;
        let mut columns = Vec::new();
        for _ in 0..reader.byte()? {
            let (name, ordered, values) = (reader.text()?, reader.flag()?, RowTotal::read(&mut reader)?);
            columns.push(ColumnState { name, ordered, values });
        }
        reader.end()?;
        Ok(State { history, rewritten, next_row, rows, columns, bound: Vec::new() })
    }
}

impl Default for State {
    fn default() -> State {
        State::new()
    }
}
