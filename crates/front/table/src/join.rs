//! `TableJoin`: the rows that come out. A table is read again, and each row written as the matches say.

use std::collections::HashSet;
use std::io::Write;

use crate::Record;
use crate::error::{Error, Result};
use crate::format::TableShape;
use crate::keyed::{KeyedTable, STRIDE};
use crate::payload::Decoder;
use crate::reader::{ColumnKind, TableColumn, TableReader};
use crate::writer::TableWriter;

/// The rows that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinRows {
    /// Those whose key the other side has.
    Common,
    /// Those whose key the other side has not.
    Others,
    /// All, with a column `matched`.
    All,
    /// Only 1 or 0 for each line of the table; a blank line has 0.
    Flags,
}

/// The elements of a key that the other side has, too.
#[derive(Clone, Copy)]
pub struct KeyMatches<'a> {
    /// The number of elements of the key.
    pub elements: usize,
    /// Those that are common, ascending.
    pub matched: &'a [u32],
    /// The other side's payload of these, one cell behind another.
    pub payload: &'a [u8],
    /// The bytes of a cell.
    pub width: usize,
}

/// The second pass over a table: what it writes, and how.
pub struct TableJoin<'a> {
    /// The table.
    pub table: &'a KeyedTable,
    /// The rows that are written.
    pub rows: JoinRows,
    /// Whether they are sorted by the first key, and held in memory for that; else they have the table's order.
    pub sorted: bool,
    /// The format of the output.
    pub shape: TableShape,
    /// Where rows go, for people.
    pub place: String,
}

/// The counts of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinCounts {
    /// Rows of the table whose key the other side has.
    pub common: u64,
    /// Rows that were written.
    pub rows: u64,
    /// Common keys whose payload from the other side cannot be read.
    pub unreadable: u64,
}

/// No element of the other side's.
const NONE: u32 = u32::MAX;

impl TableJoin<'_> {
    /// Refuses a format that cannot have the rows of this table. The other side's columns are not known yet.
    ///
    /// # Errors
    /// An error that says what the format cannot have.
    pub fn fits(&self) -> Result<()> {
        let writer = TableWriter::new(Box::new(std::io::sink()), &self.shape, self.columns(Vec::new()));
        writer.map(drop).map_err(|error| self.unwritten(error))
    }

    /// Writes the rows: `matches` has an entry for each key, `theirs` are the columns of the other side's payload.
    /// `progress` is called now and then with the number of rows and of bytes that are read.
    ///
    /// # Errors
    /// An error of the table, which may have changed since, or of the output.
    pub fn write(
        &self,
        matches: &[KeyMatches<'_>],
        theirs: Vec<TableColumn>,
        sink: Box<dyn Write + Send>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<JoinCounts> {
        let (theirs, unreadable) = match self.rows {
            JoinRows::Common | JoinRows::All => judge(theirs, matches, &self.shape),
            JoinRows::Others | JoinRows::Flags => (Vec::new(), 0),
        };
        let decoder = (!theirs.is_empty()).then_some(Decoder { columns: theirs.len() });
        let writer = TableWriter::new(sink, &self.shape, self.columns(theirs));
        let places = matches.iter().map(|key| {
            let mut places = vec![NONE; key.elements];
            (0..).zip(key.matched).for_each(|(at, element)| places[*element as usize] = at);
            places
        });
        let places = places.collect();
        let writer = writer.map_err(|error| self.unwritten(error))?;
        let rows = Rows { join: self, matches, places, decoder, writer };
        rows.write(progress).map(|(common, rows)| JoinCounts { common, rows, unreadable })
    }

    fn unwritten(&self, error: Error) -> Error {
        error.at(&self.place)
    }

    /// The columns that are written, the other side's behind the table's own.
    fn columns(&self, theirs: Vec<TableColumn>) -> Vec<TableColumn> {
        let mut columns = if self.rows == JoinRows::Flags { Vec::new() } else { self.table.columns.clone() };
        if matches!(self.rows, JoinRows::Flags | JoinRows::All) {
            let taken = columns.iter().map(|column| column.name.clone()).collect();
            columns.push(TableColumn { name: free("matched", &taken), kind: ColumnKind::Bool });
        }
        let mut taken: HashSet<String> = columns.iter().map(|column| column.name.clone()).collect();
        for column in theirs {
            let name = free(&column.name, &taken);
            taken.insert(name.clone());
            columns.push(TableColumn { name, ..column });
        }
        columns
    }
}

/// The rows of the table on their way out.
struct Rows<'a> {
    join: &'a TableJoin<'a>,
    matches: &'a [KeyMatches<'a>],
    /// For each key and element the place among the matches.
    places: Vec<Vec<u32>>,
    decoder: Option<Decoder>,
    writer: TableWriter,
}

impl Rows<'_> {
    /// Writes all rows, and returns the number of those that are common, and of those that are written.
    fn write(mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<(u64, u64)> {
        let KeyedTable { source, shape, keys, columns, elements, .. } = self.join.table;
        let mut reader = TableReader::again(source, shape, columns)?;
        let mut first = if self.join.sorted { Some(keys[0].bind(&mut reader)?) } else { None };
        let mut held: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
        let (mut record, mut row, mut common) = (Record::new(), 0, 0);
        while reader.next(&mut record)? {
            let hit = elements.iter().zip(&self.places).enumerate().find_map(|(key, (elements, places))| {
                let place = places[elements.of_row(row)?];
                (place != NONE).then_some((key, place as usize))
            });
            row += 1;
            self.blank(reader.blank())?;
            common += u64::from(hit.is_some());
            let wanted = match self.join.rows {
                JoinRows::Common => hit.is_some(),
                JoinRows::Others => hit.is_none(),
                JoinRows::All | JoinRows::Flags => true,
            };
            if wanted {
                self.row(&record, hit, |fields| match &mut first {
                    None => Ok(Some(fields)),
                    Some(key) => {
                        let _ = key.item(&reader, &record)?;
                        held.push((key.text().to_vec(), fields.iter().map(|field| field.to_vec()).collect()));
                        Ok(None)
                    }
                })?;
            }
            if reader.rows().is_multiple_of(STRIDE) {
                progress(reader.rows(), reader.bytes());
            }
        }
        self.blank(reader.blank())?;
        if row != elements[0].rows() {
            let error = Error::new(
                "the table has fewer rows than when it was first read: it changed while psi ran; run again, and leave \
                    the file alone",
            );
            return Err(error.at(source.name()));
        }
        source.unchanged()?;
        held.sort();
        for (_, fields) in &held {
            self.put(fields.iter().map(Vec::as_slice))?;
        }
        let (join, rows) = (self.join, self.writer.rows());
        self.writer.finish().map_err(|error| join.unwritten(error))?;
        Ok((common, rows))
    }

    /// Writes one row of fields.
    fn put<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>) -> Result<()> {
        self.writer.write(fields).map_err(|error| self.join.unwritten(error))
    }

    /// Flags are as many as the lines of the table are: blank ones, which are no rows, have one, too.
    fn blank(&mut self, lines: u64) -> Result<()> {
        for _ in 0..if self.join.rows == JoinRows::Flags { lines } else { 0 } {
            self.put([&b"0"[..]].into_iter())?;
        }
        Ok(())
    }

    /// Hands the fields of a row to `hold`, and writes what it gives back: one row, or one for each row of
    /// payload.
    fn row(
        &mut self,
        record: &Record,
        hit: Option<(usize, usize)>,
        mut hold: impl for<'f> FnMut(&'f [&'f [u8]]) -> Result<Option<&'f [&'f [u8]]>>,
    ) -> Result<()> {
        let width = self.join.table.columns.len();
        let mut fields: Vec<&[u8]> = Vec::with_capacity(width + 4);
        if self.join.rows != JoinRows::Flags {
            fields.extend((0..width).map(|at| record.get(at).unwrap_or_default()));
        }
        match (self.join.rows, hit.is_some()) {
            (JoinRows::Flags, true) => fields.push(b"1"),
            (JoinRows::Flags, false) => fields.push(b"0"),
            (JoinRows::All, true) => fields.push(b"true"),
            (JoinRows::All, false) => fields.push(b"false"),
            _ => {}
        }
        let own = fields.len();
        let mut theirs: Vec<&[u8]> = Vec::new();
        let matches = self.matches;
        if let Some(decoder) = self.decoder {
            let cell = hit.and_then(|(key, at)| {
                let KeyMatches { payload, width, .. } = matches[key];
                payload.get(at * width..(at + 1) * width)
            });
            // A cell that cannot be read was counted, and its columns are empty, as where there is no cell.
            if cell.is_none_or(|cell| decoder.decode(cell, &mut theirs).is_err()) {
                theirs.clear();
                theirs.resize(decoder.columns, b"");
            }
        }
        let rows = self.decoder.map_or(1, |decoder| theirs.len() / decoder.columns);
        for at in 0..rows {
            fields.truncate(own);
            if let Some(Decoder { columns }) = self.decoder {
                fields.extend_from_slice(&theirs[at * columns..(at + 1) * columns]);
            }
            if let Some(fields) = hold(&fields)? {
                self.put(fields.iter().copied())?;
            }
        }
        Ok(())
    }
}

/// Looks at all cells before any row is written, so that the existence of an output does not show what the
/// other side sent beside one key. Returns the columns as all cells fit them (of text if a cell does not fit
/// the kind that the other side announced), and the number of cells that cannot be read.
fn judge(mut columns: Vec<TableColumn>, matches: &[KeyMatches<'_>], shape: &TableShape) -> (Vec<TableColumn>, u64) {
    let (decoder, mut fields, mut unreadable) = (Decoder { columns: columns.len() }, Vec::new(), 0);
    for key in matches.iter().filter(|key| key.width > 0) {
        for cell in key.payload.chunks(key.width) {
            if decoder.decode(cell, &mut fields).is_err() {
                unreadable += 1;
                continue;
            }
            for row in fields.chunks(columns.len().max(1)) {
                for (column, field) in columns.iter_mut().zip(row) {
                    if !shape.holds(column.kind, field) {
                        column.kind = ColumnKind::Text;
                    }
                }
            }
        }
    }
    (columns, unreadable)
}

/// A name that no column has.
fn free(name: &str, taken: &HashSet<String>) -> String {
    let mut free = name.to_owned();
    while taken.contains(&free) {
        free.insert_str(0, "their_");
    }
    free
}
