//! Tables: files of rows, the steps of keys as people type them, and payload as another owner packs it.

use comity_table::{Decoder, Record, Result, Source, Steps, TableColumn, TableReader, TableShape, TableWriter};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A table: the first byte says its form, the rest is the file. What was read is read again when it was written.
pub(crate) fn table_rows(data: &[u8]) {
    let Some((form, file)) = data.split_first() else { return };
    let forms = ["csv", "tsv", "json", "lines"];
    let name = forms[usize::from(*form) % forms.len()];
    let header = *form < 128;
    let Ok(shape) = name.parse::<TableShape>() else { return };
    let shape = TableShape { header: shape.header && header, ..shape };
    let Ok((columns, rows)) = read(file, &shape) else { return };
    // What looks like a byte-order mark where a file begins is one.
    if columns.iter().any(|column| column.name.contains('\u{feff}')) || file.windows(3).any(|bytes| bytes == MARK) {
        return;
    }
    let sink = Sink::default();
    let mut writer = TableWriter::new(Box::new(sink.clone()), &shape, columns.clone())
        .expect("a table has columns that fit its form");
    for row in &rows {
        if writer.write(row.iter().map(Vec::as_slice)).is_err() {
            // JSON has no other texts than UTF-8, and CSV may have bytes of any kind.
            return;
        }
    }
    writer.finish().expect("memory takes everything");
    let bytes = sink.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // What begins as other files do is taken for one.
    let other = bytes.starts_with(b"PAR1") || bytes.starts_with(b"PK") || core::str::from_utf8(&bytes).is_err();
    if other || rows.is_empty() && !shape.header {
        return;
    }
    let (again, same) = read(&bytes, &shape).expect("what was written is read");
    assert_eq!(rows, same);
    assert!(again.iter().map(|column| &column.name).eq(columns.iter().map(|column| &column.name)) || rows.is_empty());
}

/// A byte-order mark.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

type Rows = Vec<Vec<Vec<u8>>>;

/// All rows, each with a field for each column.
fn read(file: &[u8], shape: &TableShape) -> Result<(Vec<TableColumn>, Rows)> {
    let source = Source::spill(&mut &file[..], "table")?;
    let mut reader = TableReader::new(&source, shape)?;
    let (mut record, mut rows) = (Record::new(), Rows::new());
    while reader.next(&mut record)? {
        rows.push(record.iter().map(<[u8]>::to_vec).collect());
    }
    let columns = reader.columns().to_vec();
    rows.iter_mut().for_each(|row| row.resize(columns.len(), Vec::new()));
    Ok((columns, rows))
}

/// Steps on the first line, a value behind it: what was taken once changes nothing the second time.
pub(crate) fn table_steps(data: &[u8]) {
    let Some((steps, value)) = core::str::from_utf8(data).ok().and_then(|text| text.split_once('\n')) else { return };
    let Ok(steps) = steps.parse::<Steps>() else { return };
    let mut once = Vec::new();
    if steps.apply(value, &mut once).is_err() || steps.to_string().contains("sha256") {
        return;
    }
    let mut twice = Vec::new();
    let text = core::str::from_utf8(&once).expect("steps make texts of texts");
    steps.apply(text, &mut twice).expect("what has a form keeps it");
    assert_eq!(once, twice);
}

/// A cell of payload, whose first byte is the number of columns.
pub(crate) fn table_cell(data: &[u8]) {
    let Some((columns, cell)) = data.split_first() else { return };
    let (columns, mut fields) = (usize::from(*columns), Vec::new());
    if (Decoder { columns }).decode(cell, &mut fields).is_ok() {
        assert_eq!(fields.len(), usize::from(cell[0]) * columns);
        assert!(fields.iter().map(|field| field.len()).sum::<usize>() < cell.len());
    }
    if let Ok(fields) = Decoder::fields(cell) {
        assert_eq!(Decoder::fields(&Decoder::header(&fields)), Ok(fields));
    }
}

/// A sink whose bytes are looked at afterwards.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
