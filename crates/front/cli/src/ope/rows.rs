//! `comity ope load`, `insert`, `update`, `delete`: rows that are written.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::time::Instant;

use comity_ope::{Column, ColumnValue};
use comity_postgres::{self as pg, NewRow, Rows, Table};
use comity_terminal::failure::{Failure, Outcome};
use zeroize::Zeroizing;

use super::args::{Assignment, DeleteArgs, InsertArgs, LoadArgs, UpdateArgs};
use super::report::Report;
use super::{Opened, csv, open};

/// A source that records can be read from in any order.
trait Input: Read + Seek + Send {}

impl<F: Read + Seek + Send> Input for F {}

/// A file that can be read in any order; what comes through a pipe is kept in memory.
fn input(path: &std::path::Path) -> std::io::Result<Box<dyn Input>> {
    let mut file = File::open(path)?;
    if file.stream_position().is_ok() && file.metadata()?.is_file() {
        return Ok(Box::new(file));
    }
    let mut all = Vec::new();
    file.read_to_end(&mut all)?;
    Ok(Box::new(Cursor::new(all)))
}

/// The rows of a CSV file, its first line left out.
struct Records {
    source: csv::Source<Box<dyn Input>>,
    names: Vec<String>,
    /// The column of each field, if it is an encrypted one.
    columns: Vec<Option<Column>>,
    at: String,
}

impl Rows for Records {
    fn count(&self) -> usize {
        self.source.count().saturating_sub(1)
    }

    fn row(&mut self, at: usize) -> pg::Result<Cow<'_, NewRow>> {
        let wrong = |what: String| pg::Error::Invalid(format!("{}: {what}", self.at));
        let record = self.source.record(at + 1).map_err(|failure| wrong(failure.message))?;
        let mut row = NewRow::default();
        for ((field, column), name) in record.into_iter().zip(&self.columns).zip(&self.names) {
            let Some(column) = column else {
                row.plain.push(field);
                continue;
            };
            let value = parse(column, field).map_err(|error| wrong(format!("row {}, {name}: {error}", at + 1)))?;
            row.secret.push(value);
        }
        Ok(Cow::Owned(row))
    }
}

fn parse(column: &Column, field: Option<String>) -> comity_ope::Result<Option<ColumnValue>> {
    field.map(Zeroizing::new).map(|text| column.ty.parse(&text)).transpose()
}

pub(super) fn load(args: &LoadArgs) -> Outcome {
    let start = Instant::now();
    let at = args.file.display().to_string();
    let file = input(&args.file).map_err(|error| Failure::input(format!("{at}: {error}")))?;
    let mut source = csv::Source::new(file).map_err(|failure| failure.at(&at))?;
    if source.count() == 0 {
        return Err(Failure::input(format!("{at}: the file is empty: its first line must name the columns")));
    }
    let names: Vec<String> = source.record(0)?.into_iter().map(Option::unwrap_or_default).collect();
    let Opened { mut client, mut table, .. } = open(&args.place, &args.into)?;
    let column = |name: &String| table.key().column(name).cloned();
    for name in &args.encrypt {
        if column(name).is_none() || !names.contains(name) {
            let init = format!("`comity ope init --table {} --column {name}` makes one", args.into);
            return Err(Failure::input(format!(
                "--encrypt {name}: the table has no such encrypted column, or {at} has no column of that name; {init}"
            )));
        }
    }
    let columns: Vec<Option<Column>> = names.iter().map(column).collect();
    let (mut plain, mut secret) = (Vec::new(), Vec::new());
    for (name, column) in names.iter().zip(&columns) {
        if column.is_some() { secret.push(name.as_str()) } else { plain.push(name.as_str()) }
    }
    let mut records = Records { source, names: names.clone(), columns, at };
    let loaded = table.load(&mut client, &plain, &secret, &mut records)?;
    table.save()?;
    let mut report = Report::new(&table, start);
    report.loaded = Some(loaded);
    report.print(args.place.json, &format!("{loaded} rows loaded\n"))
}

/// The value of an encrypted column; `None` for a plain one.
fn secret(table: &Table, given: &Assignment) -> Outcome<Option<Option<ColumnValue>>> {
    let Some(column) = table.key().column(&given.column) else { return Ok(None) };
    let value = parse(column, given.value.clone());
    value.map(Some).map_err(|error| Failure::input(format!("{}: {error}", given.column)))
}

pub(super) fn insert(args: &InsertArgs) -> Outcome {
    let start = Instant::now();
    let Opened { mut client, mut table, .. } = open(&args.place, &args.into)?;
    let (mut plain, mut hidden, mut row) = (Vec::new(), Vec::new(), NewRow::default());
    for given in &args.values {
        match secret(&table, given)? {
            Some(value) => {
                hidden.push(given.column.as_str());
                row.secret.push(value);
            }
            None => {
                plain.push(given.column.as_str());
                row.plain.push(given.value.clone());
            }
        }
    }
    table.load(&mut client, &plain, &hidden, &mut &std::slice::from_ref(&row)[..])?;
    table.save()?;
    let number = table.state().next_row - 1;
    let mut report = Report::new(&table, start);
    report.row = Some(number);
    report.print(args.place.json, &format!("row {number} inserted\n"))
}

pub(super) fn update(args: &UpdateArgs) -> Outcome {
    let start = Instant::now();
    let Opened { mut client, mut table, .. } = open(&args.table.place, &args.table.table)?;
    let values = args.values.iter().map(|given| secret(&table, given)).collect::<Outcome<Vec<_>>>()?;
    table.transact(&mut client, |work| {
        args.values.iter().zip(&values).try_for_each(|(given, value)| match value {
            Some(value) => work.update(args.row, &given.column, value.as_ref()),
            None => work.update_plain(args.row, &given.column, given.value.as_deref()),
        })
    })?;
    table.save()?;
    let mut report = Report::new(&table, start);
    report.row = Some(args.row);
    report.print(args.table.place.json, &format!("row {} changed\n", args.row))
}

pub(super) fn delete(args: &DeleteArgs) -> Outcome {
    let start = Instant::now();
    let Opened { mut client, mut table, .. } = open(&args.place, &args.from)?;
    table.transact(&mut client, |work| work.delete(args.row))?;
    table.save()?;
    let mut report = Report::new(&table, start);
    report.row = Some(args.row);
    report.print(args.place.json, &format!("row {} deleted\n", args.row))
}
