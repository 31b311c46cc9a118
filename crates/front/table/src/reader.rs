//! `TableReader`: the records of a table, one by one.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::rc::Rc;

use crate::Record;
use crate::error::{Error, Result};
use crate::format::{TableFormat, TableShape};
use crate::guard::{Guard, MOST, Seen, too_long};
use crate::json::JsonLines;
use crate::source::{Source, Text};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The column's name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
}

/// The kind of values in a column, as far as the format tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Texts. In a text file all values are texts.
    Text,
    /// Integers, as decimal text.
    Integer,
    /// Numbers with a fraction, as decimal text.
    Real,
    /// `true` and `false`.
    Bool,
    /// Lists and objects, as JSON.
    Nested,
}

/// A reader of a table's records, in order.
pub struct TableReader {
    name: String,
    form: Form,
    columns: Vec<TableColumn>,
    read: Rc<Cell<u64>>,
    rows: u64,
    /// Blank lines right before the last record, or before the end.
    blank: u64,
}

enum Form {
    Csv {
        reader: csv::Reader<Guard<Box<dyn Read>>>,
        seen: Rc<Seen>,
        header: bool,
        first: Option<Record>,
    },
    Lines {
        reader: BufReader<Box<dyn Read>>,
        line: Vec<u8>,
    },
    Json(JsonLines),
    #[cfg(feature = "parquet")]
    Parquet(crate::parquet::Rows),
}

/// The name of the only column of a file with one key a line.
const KEY: &str = "key";

impl TableReader {
    /// A reader at the first record.
    ///
    /// # Errors
    /// An error that says what is wrong with the file, or its header.
    pub fn new(source: &Source, shape: &TableShape) -> Result<TableReader> {
        let name = source.name().to_owned();
        if shape.format == TableFormat::Parquet {
            return TableReader::parquet(source, name);
        }
        let Text { reader: text, read } = source.text()?;
        let (form, columns) = match shape.format {
            TableFormat::Csv => Form::csv(text, shape).map_err(|e| e.at(&name))?,
            TableFormat::Json => (Form::Json(JsonLines::new(text)), Vec::new()),
            _ => {
                let reader = BufReader::with_capacity(1 << 16, text);
                (
                    Form::Lines { reader, line: Vec::new() },
                    vec![TableColumn { name: KEY.into(), kind: ColumnKind::Text }],
                )
            }
        };
        Ok(TableReader { name, form, columns, read, rows: 0, blank: 0 })
    }

    /// A reader of a table that was read before, and had these columns at its end.
    ///
    /// # Errors
    /// As [`TableReader::new`].
    pub fn again(source: &Source, shape: &TableShape, columns: &[TableColumn]) -> Result<TableReader> {
        let mut reader = TableReader::new(source, shape)?;
        if let Form::Json(lines) = &mut reader.form {
            lines.know(columns);
        }
        Ok(reader)
    }

    #[cfg(feature = "parquet")]
    fn parquet(source: &Source, name: String) -> Result<TableReader> {
        let (rows, columns) = crate::parquet::Rows::new(source).map_err(|e| e.at(&name))?;
        let read = rows.read();
        Ok(TableReader { name, form: Form::Parquet(rows), columns, read, rows: 0, blank: 0 })
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(_source: &Source, name: String) -> Result<TableReader> {
        Err(Error::no_parquet("reads").at(name))
    }

    /// The columns. Those of JSON lines are what the records so far have.
    pub fn columns(&self) -> &[TableColumn] {
        match &self.form {
            Form::Json(lines) => lines.columns(),
            _ => &self.columns,
        }
    }

    /// The kind of the last record's value in a column: in JSON lines each value has its own.
    pub fn kind(&self, column: usize) -> ColumnKind {
        match &self.form {
            Form::Json(lines) => lines.kind(column).unwrap_or(ColumnKind::Text),
            _ => self.columns[column].kind,
        }
    }

    /// The place of a column, by its name or its number.
    ///
    /// # Errors
    /// An error with the table's column names, the nearest first. For JSON lines it comes from
    /// [`finish`](TableReader::finish), since a later record may have the column.
    pub fn find(&mut self, name: &str) -> Result<usize> {
        if let Form::Json(lines) = &mut self.form {
            return Ok(lines.expect(name));
        }
        let found = self.columns.iter().position(|column| column.name == name);
        let lines = matches!(self.form, Form::Lines { .. });
        found.ok_or_else(|| if lines { no_columns(name) } else { missing(name, &self.columns) }.at(&self.name))
    }

    /// Reads the next record, if there is one.
    ///
    /// # Errors
    /// An error that names the line, and the column if one caused it.
    pub fn next(&mut self, record: &mut Record) -> Result<bool> {
        let more = match &mut self.form {
            Form::Csv { reader, seen, first, .. } => next_csv(reader, seen, first, record, &self.columns),
            Form::Lines { reader, line } => next_line(reader, line, self.rows + 1, record),
            Form::Json(lines) => lines.next(record),
            #[cfg(feature = "parquet")]
            Form::Parquet(rows) => rows.next(record),
        };
        let more = more.map_err(|e| e.at(&self.name))?;
        self.rows += u64::from(more);
        self.blank = match &self.form {
            Form::Csv { seen, header, .. } if more => seen.passed(self.rows + u64::from(*header)),
            Form::Csv { seen, .. } => seen.passed(u64::MAX),
            Form::Json(lines) => lines.blank(),
            _ => 0,
        };
        Ok(more)
    }

    /// The blank lines right before the last record, or at the end when there is no more. In a file with one
    /// key a line they are records, without a key.
    pub fn blank(&self) -> u64 {
        self.blank
    }

    /// The line at which the last record begins; the number of the row in Parquet.
    pub fn line(&self, record: &Record) -> u64 {
        record.position().map_or(self.rows, csv::Position::line)
    }

    /// An error in a field of the last record.
    pub fn wrong(&self, record: &Record, column: usize, what: impl std::fmt::Display) -> Error {
        let unit = match &self.form {
            #[cfg(feature = "parquet")]
            Form::Parquet(_) => "row",
            _ => "line",
        };
        let column = self.columns().get(column).map_or("", |column| &column.name);
        Error::new(format!("{unit} {}, column `{column}`: {what}", self.line(record))).at(&self.name)
    }

    /// The number of records so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The bytes of the file that were read so far.
    pub fn bytes(&self) -> u64 {
        self.read.get()
    }

    /// Checks what can be known only after the last record.
    ///
    /// # Errors
    /// An error if a column that was asked for was in no record.
    pub fn finish(&self) -> Result<()> {
        match &self.form {
            Form::Json(lines) => match lines.unseen() {
                Some((name, there)) => Err(missing(name, &there).at(&self.name)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

impl Form {
    fn csv(text: Box<dyn Read>, shape: &TableShape) -> Result<(Form, Vec<TableColumn>)> {
        let (guard, seen) = Guard::new(text, shape.quoting.then_some(shape.delimiter));
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(shape.delimiter)
            .quoting(shape.quoting)
            .has_headers(false)
            .buffer_capacity(1 << 16)
            .from_reader(guard);
        let mut first = Record::new();
        let there = next_csv(&mut reader, &seen, &mut None, &mut first, &[])?;
        if !there && shape.header {
            return Err(Error::new("the file is empty: it lacks even a header"));
        }
        let mut columns: Vec<TableColumn> = Vec::with_capacity(first.len());
        let mut names = HashSet::with_capacity(first.len());
        for (at, field) in first.iter().enumerate() {
            let name = if shape.header { String::from_utf8_lossy(field).into_owned() } else { (at + 1).to_string() };
            if !names.insert(name.clone()) {
                return Err(Error::new(format!(
                    "line 1, column {}: the header has `{name}` twice: give the columns different names",
                    at + 1
                )));
            }
            columns.push(TableColumn { name, kind: ColumnKind::Text });
        }
        if shape.header {
            let _ = seen.passed(1);
        }
        let first = (there && !shape.header).then_some(first);
        Ok((Form::Csv { reader, seen, header: shape.header, first }, columns))
    }
}

/// The next record of CSV, which has as many fields as there are columns, and no byte that no text has.
fn next_csv(
    reader: &mut csv::Reader<Guard<Box<dyn Read>>>,
    seen: &Seen,
    first: &mut Option<Record>,
    record: &mut Record,
    columns: &[TableColumn],
) -> Result<bool> {
    if let Some(first) = first.take() {
        *record = first;
        return Ok(true);
    }
    seen.since.set(0);
    let more = reader.read_byte_record(record).map_err(|error| ragged(error, reader.position().line(), columns))?;
    let line = record.position().map_or(0, csv::Position::line);
    if !more {
        return Ok(false);
    }
    if seen.nul.get() && memchr::memchr(0, record.as_slice()).is_some() {
        let column = record.iter().position(|field| memchr::memchr(0, field).is_some()).unwrap_or(0);
        return Err(Error::new(format!(
            "line {line}, column {}: a NUL byte: the file is not text, or is damaged",
            columns.get(column).map_or((column + 1).to_string(), |column| format!("`{}`", column.name))
        )));
    }
    Ok(true)
}

/// An error of the CSV parser, for people.
fn ragged(error: csv::Error, line: u64, columns: &[TableColumn]) -> Error {
    match error.into_kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.map_or(line, |pos| pos.line());
            let which = match columns.get(len as usize) {
                Some(column) => format!("column `{}` is missing", column.name),
                None => format!("column {} is one too many", expected_len + 1),
            };
            Error::new(format!("line {line}: {len} fields, where the first line has {expected_len}: {which}"))
        }
        csv::ErrorKind::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            // The guard reads ahead, and has named its own line.
            Some(error) => error.clone(),
            None => Error::new(format!("line {line}: {error}")),
        },
        other => Error::new(format!("line {line}: {other:?}")),
    }
}

/// The next line of a file with one key a line.
fn next_line(
    reader: &mut BufReader<Box<dyn Read>>,
    line: &mut Vec<u8>,
    number: u64,
    record: &mut Record,
) -> Result<bool> {
    record.clear();
    if !read_line(reader, line).map_err(|e| e.at(format!("line {number}")))? {
        return Ok(false);
    }
    if line.contains(&0) {
        return Err(Error::new(format!("line {number}: a NUL byte: the file is not text, or is damaged")));
    }
    record.push_field(line);
    record.set_position(Some(at_line(number)));
    Ok(true)
}

/// Reads a line without its end, if there is one.
pub(crate) fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    let count = reader.take(MOST + 1).read_until(b'\n', line)?;
    if count as u64 > MOST {
        return Err(Error::new(too_long()));
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    while line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(count > 0)
}

/// The position of a record that begins at this line.
pub(crate) fn at_line(number: u64) -> csv::Position {
    let mut position = csv::Position::new();
    position.set_line(number);
    position
}

/// The error for a column of a file with one key a line.
fn no_columns(name: &str) -> Error {
    Error::new(format!(
        "there is no column `{name}`: the file is read as a list, a key on each line and no header, whose only column \
            is called `{KEY}` (--key {KEY}:STEPS). If its first line names columns, add --format csv"
    ))
}

/// The error for a column that is not there.
fn missing(name: &str, columns: &[TableColumn]) -> Error {
    if columns.is_empty() {
        return Error::new(format!("there is no column `{name}`: the table has no columns"));
    }
    const SHOWN: usize = 12;
    /// How alike longer names are takes long to say, and nobody mistypes them.
    const LONGEST: usize = 64;
    let lower = name.to_lowercase();
    let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    names.sort_by_cached_key(|other| match lower.len().max(other.len()) > LONGEST {
        true => usize::MAX,
        false => strsim::damerau_levenshtein(&lower, &other.to_lowercase()),
    });
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::new(format!("there is no column `{name}`; there is {}{more}", shown.join(", ")))
}
