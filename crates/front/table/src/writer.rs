//! `TableWriter`: a table in any of the formats.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::{Error, Result};
use crate::format::{TableFormat, TableShape};
use crate::reader::{ColumnKind, TableColumn};

/// A writer of a table's records.
pub struct TableWriter {
    form: Form,
    columns: Vec<TableColumn>,
    rows: u64,
}

enum Form {
    Csv(Box<csv::Writer<Sink>>),
    Lines(Sink),
    Json(Sink),
    #[cfg(feature = "parquet")]
    Parquet(crate::parquet::Table<Box<dyn Write + Send>>),
}

enum Sink {
    Plain(Box<dyn Write + Send>),
    Gzip(GzEncoder<Box<dyn Write + Send>>),
}

impl TableWriter {
    /// A writer of a table with these columns.
    ///
    /// # Errors
    /// An error if the format cannot have them; the errors of `out`.
    pub fn new(out: Box<dyn Write + Send>, shape: &TableShape, columns: Vec<TableColumn>) -> Result<TableWriter> {
        let sink =
            |out| if shape.gzip { Sink::Gzip(GzEncoder::new(out, Compression::fast())) } else { Sink::Plain(out) };
        let form = match shape.format {
            TableFormat::Csv => {
                let mut builder = csv::WriterBuilder::new();
                let mut csv = builder.delimiter(shape.delimiter).buffer_capacity(1 << 16).from_writer(sink(out));
                if shape.header {
                    csv.write_record(columns.iter().map(|column| &column.name)).map_err(failed)?;
                }
                Form::Csv(Box::new(csv))
            }
            TableFormat::Json => Form::Json(sink(out)),
            TableFormat::Lines if columns.len() == 1 => Form::Lines(sink(out)),
            TableFormat::Lines => {
                return Err(Error::new(format!(
                    "a file with a key on each line has one column, and this table has {}: write csv, tsv or json",
                    columns.len()
                )));
            }
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Form::Parquet(crate::parquet::Table::new(out, &columns)?),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => return Err(Error::no_parquet("writes")),
        };
        Ok(TableWriter { form, columns, rows: 0 })
    }

    /// Writes a record. It must have a field for each column.
    ///
    /// # Errors
    /// Those of the sink; an error if a field cannot be written in this format.
    pub fn write<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>) -> Result<()> {
        self.rows += 1;
        match &mut self.form {
            Form::Csv(csv) => csv.write_record(fields).map_err(failed),
            Form::Lines(sink) => {
                let mut line: Vec<u8> = fields.flatten().copied().collect();
                if line.contains(&b'\n') || line.ends_with(b"\r") {
                    return Err(Error::new(
                        "a key has a line break, which would split it into several lines: write csv, tsv or json",
                    ));
                }
                line.push(b'\n');
                Ok(sink.write_all(&line)?)
            }
            Form::Json(sink) => {
                let mut line = b"{".to_vec();
                for (column, field) in self.columns.iter().zip(fields) {
                    if line.len() > 1 {
                        line.push(b',');
                    }
                    serde_json::to_writer(&mut line, &column.name).map_err(std::io::Error::from)?;
                    line.push(b':');
                    value(column, field, &mut line)?;
                }
                line.extend_from_slice(b"}\n");
                Ok(sink.write_all(&line)?)
            }
            #[cfg(feature = "parquet")]
            Form::Parquet(table) => table.write(fields),
        }
    }

    /// The number of records so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes what is buffered, and returns the sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(self) -> Result<Box<dyn Write + Send>> {
        let sink = match self.form {
            Form::Csv(csv) => csv.into_inner().map_err(|e| Error::from(e.into_error()))?,
            Form::Lines(sink) | Form::Json(sink) => sink,
            #[cfg(feature = "parquet")]
            Form::Parquet(table) => Sink::Plain(table.finish()?),
        };
        let mut out = match sink {
            Sink::Plain(out) => out,
            Sink::Gzip(gzip) => gzip.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

/// A field as a value of JSON. A field of a number column that is not a number is written as text: another
/// owner may have sent it.
fn value(column: &TableColumn, field: &[u8], line: &mut Vec<u8>) -> Result<()> {
    let text = core::str::from_utf8(field)
        .map_err(|_| Error::new(format!("column `{}` is not UTF-8, which JSON needs: write csv", column.name)))?;
    match column.kind {
        ColumnKind::Text => {}
        _ if text.is_empty() => {
            line.extend_from_slice(b"null");
            return Ok(());
        }
        _ if literal(text) => {
            line.extend_from_slice(field);
            return Ok(());
        }
        _ => {}
    }
    serde_json::to_writer(line, text).map_err(|e| Error::from(std::io::Error::from(e)))
}

/// Whether a text is a value of JSON on one line, with nothing around it.
fn literal(text: &str) -> bool {
    let bare = !text.contains(['\n', '\r']) && text.trim_ascii() == text;
    bare && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn failed(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => Error::new(format!("{other:?}")),
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Sink::Plain(out) => out.write(bytes),
            Sink::Gzip(gzip) => gzip.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Sink::Plain(out) => out.flush(),
            Sink::Gzip(gzip) => gzip.flush(),
        }
    }
}
