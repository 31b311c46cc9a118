//! The public interface of comity-table: what is read is what is there, in every format, and what is no table
//! is refused with its place.

mod forms;
mod hostile;

use comity_table::{Record, Result, Source, TableReader, TableShape};

/// A table that comes through a pipe.
fn piped(bytes: &[u8]) -> Source {
    Source::spill(&mut &bytes[..], "t").unwrap()
}

fn shape(name: &str) -> TableShape {
    name.parse().unwrap()
}

/// All records of a table, and its columns.
fn all(source: &Source, shape: &TableShape) -> Result<(Vec<String>, Vec<Vec<String>>)> {
    let mut reader = TableReader::new(source, shape)?;
    let (mut record, mut rows) = (Record::new(), Vec::new());
    while reader.next(&mut record)? {
        rows.push(record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect());
    }
    reader.finish()?;
    Ok((reader.columns().iter().map(|column| column.name.clone()).collect(), rows))
}

/// Why a table is refused.
fn why(bytes: &[u8], shape: &TableShape) -> String {
    all(&piped(bytes), shape).unwrap_err().to_string()
}
