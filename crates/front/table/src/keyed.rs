//! `KeyedTable`: a table that was read for its keys, and for the columns that travel beside them.

use std::collections::HashSet;

use crate::Record;
use crate::elements::Elements;
use crate::error::{Error, Result};
use crate::format::TableShape;
use crate::key::{Key, KeyHash};
use crate::payload::{Decoder, Duplicates, Payload};
use crate::profile::KeyProfile;
use crate::reader::{ColumnKind, TableColumn, TableReader};
use crate::source::Source;

/// Rows between two calls of a function that shows progress.
pub(crate) const STRIDE: u64 = 1 << 12;

/// What is read of a table.
#[derive(Clone, Copy)]
pub struct TableRead<'a> {
    /// The keys; several are alternatives.
    pub keys: &'a [Key],
    /// The names of the columns that travel beside the keys.
    pub payload: &'a [String],
    /// What travels beside a key that several rows have.
    pub duplicates: Duplicates,
    /// Whether an empty key is an error; else its row is left out.
    pub complete: bool,
}

/// A table that was read for its keys. Its rows are read again, and written, by
/// [`TableJoin`](crate::TableJoin).
pub struct KeyedTable {
    /// The file.
    pub source: Source,
    /// The format of the file.
    pub shape: TableShape,
    /// The keys.
    pub keys: Vec<Key>,
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// For each key which row has which element. Its items are [taken out](KeyedTable::take_items).
    pub elements: Vec<Elements>,
    /// For each key how its distinct values look.
    pub profiles: Vec<KeyProfile>,
    /// The columns that travel beside the keys, if any do.
    pub payload: Option<PackedPayload>,
}

/// Payload as it travels.
pub struct PackedPayload {
    /// The names and kinds of its columns: [`PackedPayload::columns`] reads them.
    pub header: Vec<u8>,
    /// For each key the cells of its elements, and their width.
    pub cells: Vec<(Vec<u8>, usize)>,
}

/// The text between the words for hashes and those for what was hashed.
const OF: &str = " of ";

impl KeyedTable {
    /// Reads the keys of a table, and its payload. `progress` is called now and then with the number of rows
    /// and of bytes that are read.
    ///
    /// # Errors
    /// An error that names the table, and the line and the column if one is at fault.
    pub fn read(
        source: Source,
        shape: TableShape,
        what: TableRead<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<KeyedTable> {
        let Pass { reader, elements, profiles, payloads, sent, .. } =
            Pass::begin(&source, &shape, what)?.run(progress)?;
        let columns = reader.columns().to_vec();
        let payload = match &sent[..] {
            [] => None,
            sent => {
                let fields: Vec<String> = sent.iter().map(|at| described(&columns[*at])).collect();
                let cells = payloads.into_iter().map(Payload::cells).collect::<Result<_>>()?;
                Some(PackedPayload { header: Decoder::header(&fields), cells })
            }
        };
        Ok(KeyedTable { source, shape, keys: what.keys.to_vec(), columns, elements, profiles, payload })
    }

    /// Takes out the distinct items of each key.
    pub fn take_items(&mut self) -> Vec<Vec<KeyHash>> {
        self.elements.iter_mut().map(Elements::take).collect()
    }

    /// How keys become items, in words that both sides have alike.
    pub fn encoding(&self) -> String {
        self.keys.iter().map(Key::agreed).collect::<Vec<_>>().join(";")
    }

    /// How keys were made before they were hashed here, if any is.
    pub fn hashed(&self) -> Option<String> {
        let hashed: Vec<Option<String>> = self.keys.iter().map(Key::hashed).collect();
        let words = || hashed.iter().map(|hashed| hashed.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(";");
        hashed.iter().any(Option::is_some).then(words)
    }

    /// All that there is to say of how keys are made.
    pub fn made(&self) -> String {
        match self.hashed() {
            Some(hashed) => format!("{}{OF}{hashed}", self.encoding()),
            None => self.encoding(),
        }
    }

    /// Whether keys are made as those of another table, which says this of them by [`made`](KeyedTable::made):
    /// a table of hashes fits however they came about.
    pub fn made_as(&self, other: &str) -> bool {
        let (encoding, hashed) =
            other.split_once(OF).map_or((other, None), |(encoding, hashed)| (encoding, Some(hashed)));
        let alike = |(ours, theirs): (String, &str)| ours == theirs;
        encoding == self.encoding() && self.hashed().zip(hashed).is_none_or(alike)
    }
}

impl PackedPayload {
    /// The columns of the payload with this header, which may come from another party.
    ///
    /// # Errors
    /// An error if the bytes are not a header, or two columns have one name.
    pub fn columns(header: &[u8]) -> Result<Vec<TableColumn>> {
        let column = |text: String| {
            let mut chars = text.chars();
            let kind = match chars.next() {
                Some('i') => ColumnKind::Integer,
                Some('r') => ColumnKind::Real,
                Some('b') => ColumnKind::Bool,
                Some('n') => ColumnKind::Nested,
                _ => ColumnKind::Text,
            };
            TableColumn { name: chars.as_str().to_owned(), kind }
        };
        let columns: Vec<TableColumn> = Decoder::fields(header)?.into_iter().map(column).collect();
        let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        if names.len() < columns.len() {
            return Err(Error::new("the names of the columns of the payload are not all different"));
        }
        Ok(columns)
    }
}

/// A column as another party gets it: a letter for its kind, and its name.
fn described(column: &TableColumn) -> String {
    let kind = match column.kind {
        ColumnKind::Text => 't',
        ColumnKind::Integer => 'i',
        ColumnKind::Real => 'r',
        ColumnKind::Bool => 'b',
        ColumnKind::Nested => 'n',
    };
    format!("{kind}{}", column.name)
}

/// The first pass over a table.
struct Pass<'a> {
    source: &'a Source,
    shape: &'a TableShape,
    what: TableRead<'a>,
    reader: TableReader,
    elements: Vec<Elements>,
    profiles: Vec<KeyProfile>,
    payloads: Vec<Payload>,
    /// The places of the columns that travel.
    sent: Vec<usize>,
}

impl<'a> Pass<'a> {
    fn begin(source: &'a Source, shape: &'a TableShape, what: TableRead<'a>) -> Result<Pass<'a>> {
        let mut reader = TableReader::new(source, shape)?;
        let sent = what.payload.iter().map(|name| reader.find(name)).collect::<Result<Vec<_>>>()?;
        if let Some(at) = (1..sent.len()).find(|&at| sent[..at].contains(&sent[at])) {
            return Err(Error::new(format!("--payload names column `{}` twice", what.payload[at])));
        }
        let payloads = match sent.len() {
            0 => Vec::new(),
            columns => what.keys.iter().map(|_| Payload::new(columns, what.duplicates)).collect(),
        };
        let elements = what.keys.iter().map(|_| Elements::default()).collect();
        let profiles = vec![KeyProfile::default(); what.keys.len()];
        Ok(Pass { source, shape, what, reader, elements, profiles, payloads, sent })
    }

    fn run(mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Pass<'a>> {
        let keys = self.what.keys;
        let mut bound = keys.iter().map(|key| key.bind(&mut self.reader)).collect::<Result<Vec<_>>>()?;
        let mut record = Record::new();
        while self.reader.next(&mut record)? {
            for (at, key) in bound.iter_mut().enumerate() {
                let item = key.item(&self.reader, &record)?;
                if item.is_none() && self.what.complete {
                    let (line, title) = (self.reader.line(&record), keys[at].title());
                    return Err(Error::new(format!(
                        "{}: line {line}: the key {title} is empty; --empty drop leaves such rows out",
                        self.source.name(),
                    )));
                }
                let Some((element, new)) = self.elements[at].add(item.as_ref()) else { continue };
                if new {
                    self.profiles[at].add(key.values());
                }
                let Some(payload) = self.payloads.get_mut(at) else { continue };
                let fields = self.sent.iter().map(|column| record.get(*column).unwrap_or_default());
                if let Err((column, what)) = payload.add(element, fields) {
                    let column = column.map_or(String::new(), |at| {
                        format!(", column `{}`", self.reader.columns()[self.sent[at]].name)
                    });
                    let (line, title, first) = (self.reader.line(&record), keys[at].title(), self.first(at, element)?);
                    return Err(Error::new(format!(
                        "{}: line {line}{column}, whose key {title} is first in line {first}: {what}",
                        self.source.name(),
                    )));
                }
            }
            if self.elements[0].is_full() {
                return Err(Error::new(format!("{}: more than 2^32 - 2 rows", self.source.name())));
            }
            if self.reader.rows().is_multiple_of(STRIDE) {
                progress(self.reader.rows(), self.reader.bytes());
            }
        }
        self.reader.finish()?;
        self.source.unchanged()?;
        Ok(self)
    }

    /// The line of the first row that has this element.
    fn first(&self, key: usize, element: usize) -> Result<u64> {
        let mut reader = TableReader::new(self.source, self.shape)?;
        let mut bound = self.what.keys[key].bind(&mut reader)?;
        let mut record = Record::new();
        while reader.next(&mut record)? {
            if bound.item(&reader, &record)?.as_ref() == Some(&self.elements[key].items()[element]) {
                break;
            }
        }
        Ok(reader.line(&record))
    }
}
