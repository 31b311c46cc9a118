//! `comity ope`: range queries on encrypted columns of PostgreSQL.

pub(crate) mod args;
mod csv;
mod demo;
mod leakage;
mod report;
mod rows;

use std::fs;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use comity_net::SystemRng;
use comity_ope::{Column, ColumnType, OpeKey};
use comity_postgres::{self as pg, Query, Row, Table, cache_path};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use postgres::Client;

use args::{
    Codes, ColumnArgs, InitArgs, LeakageArgs, OpeCommand, PlaceArgs, QueryArgs, RebuildArgs, Scheme, StatusArgs,
    TableArgs,
};
use report::Report;

/// The command.
pub(crate) fn run(command: &OpeCommand) -> Outcome<ExitCode> {
    match command {
        OpeCommand::Init(args) => init(args),
        OpeCommand::Load(args) => rows::load(args),
        OpeCommand::Insert(args) => rows::insert(args),
        OpeCommand::Update(args) => rows::update(args),
        OpeCommand::Delete(args) => rows::delete(args),
        OpeCommand::Query(args) => query(args),
        OpeCommand::Status(args) => status(args),
        OpeCommand::Rebalance(args) => rebalance(args),
        OpeCommand::Rebuild(args) => rebuild(args),
        OpeCommand::Rotate(args) => rotate(args),
        OpeCommand::Leakage(args) => leak(args),
        OpeCommand::Demo(args) => demo::run(args),
    }
    .map(|()| ExitCode::SUCCESS)
}

/// Where the key of a table is.
fn key_path(place: &PlaceArgs, table: &str) -> PathBuf {
    place.key.clone().unwrap_or_else(|| format!("{table}.key").into())
}

/// A table that is there, and all that goes with it.
struct Opened {
    client: Client,
    table: Table,
    path: PathBuf,
}

fn key(place: &PlaceArgs, table: &str) -> Outcome<(OpeKey, PathBuf)> {
    let path = key_path(place, table);
    if !path.exists() {
        return Err(Failure::input(format!(
            "{}: there is no such key file: `comity ope init --table {table}` makes one, and --key names one elsewhere",
            path.display()
        )));
    }
    let key = pg::read_key(&path).map_err(Failure::from)?;
    let named = pg::table_name(table)?;
    if named[1] != key.table[1] || (!named[0].is_empty() && named[0] != key.table[0]) {
        return Err(Failure::input(format!(
            "{}: this is the key of `{}`, not of `{table}`",
            path.display(),
            key.table[1]
        )));
    }
    Ok((key, path))
}

fn connect(place: &PlaceArgs, key: &OpeKey) -> Outcome<Client> {
    Ok(pg::connect(place.database.as_deref().unwrap_or(&key.database), place.root.as_deref())?)
}

fn open(place: &PlaceArgs, table: &str) -> Outcome<Opened> {
    let (key, path) = key(place, table)?;
    let mut client = connect(place, &key)?;
    let table = Table::open(&mut client, key, Some(&cache_path(&path)), &mut SystemRng)?;
    if table.cache_is_damaged() {
        note(
            "note: the cache is damaged and was not used; if the database was set back to an older state, this command \
                cannot notice it",
        );
    }
    Ok(Opened { client, table, path })
}

fn init(args: &InitArgs) -> Outcome {
    let start = Instant::now();
    let TableArgs { table, place } = &args.table;
    let path = key_path(place, table);
    let ty: ColumnType = args.ty.parse().map_err(|error| Failure::input(format!("--type: {error}")))?;
    let scheme = match args.scheme {
        Scheme::LeftRight => comity_ope::OpeScheme::LeftRight,
        Scheme::Ideal => comity_ope::OpeScheme::Ideal,
        Scheme::FrequencyHiding => comity_ope::OpeScheme::FrequencyHiding,
    };
    let column =
        Column { name: args.column.clone(), ty, scheme, wide: args.codes == Codes::Bytea, adjustable: args.adjustable };
    let (mut owned, fresh) = if path.exists() {
        (key(place, table)?.0, false)
    } else {
        let database = place
            .database
            .as_deref()
            .ok_or_else(|| Failure::input("--database is missing: it says which database the table is in"))?;
        (OpeKey::new(database, pg::table_name(table)?, &mut SystemRng), true)
    };
    let mut client = connect(place, &owned)?;
    if fresh {
        owned.table = pg::resolve(&mut client, owned.table.clone())?;
    }
    match owned.column(&column.name) {
        // A call that was cut short is done again.
        Some(known) if *known == column => (),
        Some(_) => {
            return Err(Failure::input(format!(
                "column `{}` exists already, with another type or scheme",
                column.name
            )));
        }
        None => owned.columns.push(column),
    }
    // The key first: what it opens is never there without it.
    if fresh {
        pg::create_key(&path, &owned)?
    } else {
        pg::write_key(&path, &owned)?
    }
    pg::add_column(&mut client, &owned, &args.column, &mut SystemRng)?;
    let mut table = Table::open(&mut client, owned, Some(&cache_path(&path)), &mut SystemRng)?;
    if !args.bind.is_empty() {
        table.transact(&mut client, |work| work.bind(&args.bind))?;
    }
    table.save()?;
    if fresh {
        note(&format!("{}: keep it, and a copy of it: without it nothing opens", path.display()));
    }
    note(&format!("`{}` ({}, {scheme}): {}", args.column, ty, shows(scheme, args.adjustable)));
    if !args.bind.is_empty() {
        let columns = args.bind.join("`, `");
        note(&format!("`{columns}`: bound to their rows; the values that they have now count as right"));
    }
    Report::new(&table, start).print(place.json, "")
}

/// What the database sees of a column.
fn shows(scheme: comity_ope::OpeScheme, adjustable: bool) -> &'static str {
    match scheme {
        _ if adjustable => "the database sees no order until the first range query",
        comity_ope::OpeScheme::LeftRight => {
            "the database sees no order in what is stored; a query shows how values compare to its ends"
        }
        comity_ope::OpeScheme::Ideal => "the database sees the order of all values, and which are equal",
        comity_ope::OpeScheme::FrequencyHiding => "the database sees the order of all values",
    }
}

fn query(args: &QueryArgs) -> Outcome {
    let start = Instant::now();
    let query = Query::parse(&args.query)?;
    let Opened { mut client, mut table, .. } = open(&args.place, &args.from)?;
    let rows = loop {
        match table.select(&mut client, &query) {
            Err(pg::Error::NotOrdered { column }) if args.yes || agrees(&column)? => {
                table.transact(&mut client, |work| work.order(&column))?;
            }
            rows => break rows?,
        }
    };
    table.save()?;
    let (names, lines) = answer(&table, &rows);
    let mut report = Report::new(&table, start);
    report.rows = Some(rows.len() as u64);
    let numbers: Vec<Option<u64>> = rows.iter().map(|row| row.key).collect();
    // The number comes first, if it is wanted.
    let shown = |number: Option<u64>| args.rows.then(|| number.map(|number| number.to_string()));
    let first = args.rows.then(|| Some("row".to_owned()));
    let records = [&names].into_iter().chain(&lines).zip([first].into_iter().chain(numbers.iter().map(|n| shown(*n))));
    let text: String =
        records.map(|(record, first)| csv::line(first.iter().chain(record).map(Option::as_deref))).collect();
    report.numbers = Some(numbers);
    report.columns = Some(names.into_iter().flatten().collect());
    report.values = Some(lines);
    report.print(args.place.json, &text)
}

/// The names of the columns, and the rows.
fn answer(table: &Table, rows: &[Row]) -> (csv::Record, Vec<csv::Record>) {
    let secret: Vec<&Column> =
        table.state().columns.iter().filter_map(|column| table.key().column(&column.name)).collect();
    let names =
        table.plain_columns().chain(secret.iter().map(|column| column.name.as_str())).map(|name| Some(name.to_owned()));
    let line = |row: &Row| {
        let values = row.secret.iter().zip(&secret);
        let opened = values.map(|(value, column)| value.as_ref().map(|value| column.ty.write(value).to_string()));
        row.plain.iter().cloned().chain(opened).collect()
    };
    (names.collect(), rows.iter().map(line).collect())
}

/// Whether the user wants a column to have an order from now on.
fn agrees(column: &str) -> Outcome<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    note(&format!(
        "column `{column}` has no order yet. This query gives it one, and the database then sees the order for ever. \
            Go on? [y/N]"
    ));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|error| Failure::input(format!("standard input: {error}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn status(args: &StatusArgs) -> Outcome {
    let start = Instant::now();
    let TableArgs { table, place } = &args.table;
    let Opened { mut client, mut table, .. } = open(place, table)?;
    let checked = if args.full { Some(table.check(&mut client)?) } else { None };
    table.save()?;
    let mut report = Report::new(&table, start);
    if let Some(checked) = checked {
        report.checked(&checked, false);
    }
    let text = report.text();
    report.print(place.json, &text)
}

fn rebalance(args: &ColumnArgs) -> Outcome {
    let start = Instant::now();
    let TableArgs { table, place } = &args.table;
    let Opened { mut client, mut table, .. } = open(place, table)?;
    let coded = table.state().columns.iter().filter(|state| state.ordered).map(|state| state.name.clone());
    let coded = coded.filter(|name| table.key().column(name).is_some_and(|column| column.scheme.has_codes()));
    let columns = args.column.clone().map_or_else(|| coded.collect(), |column| vec![column]);
    let moved = table.transact(&mut client, |work| {
        columns.iter().try_fold(0, |moved, column| Ok(moved + work.rebalance(column)? as u64))
    })?;
    table.save()?;
    let mut report = Report::new(&table, start);
    report.moved = Some(moved);
    report.print(place.json, &format!("{moved} codes moved\n"))
}

fn rebuild(args: &RebuildArgs) -> Outcome {
    let start = Instant::now();
    let TableArgs { table, place } = &args.table;
    let (key, path) = key(place, table)?;
    let mut client = connect(place, &key)?;
    let cache = cache_path(&path);
    let (mut table, checked) = Table::rebuild(&mut client, key, Some(&cache), args.accept, &mut SystemRng)?;
    table.save()?;
    let mut report = Report::new(&table, start);
    let text = report.checked(&checked, args.accept);
    report.print(place.json, &text)
}

fn rotate(args: &TableArgs) -> Outcome {
    let start = Instant::now();
    let Opened { mut client, mut table, path } = open(&args.place, &args.table)?;
    let rows = table.rotate(&mut client, &mut SystemRng, |key| pg::write_key(&path, key))?;
    table.save()?;
    note("copies of the old key open old copies of the database, and nothing that is written from now on");
    let mut report = Report::new(&table, start);
    report.resealed = Some(rows);
    report.print(args.place.json, &format!("{rows} rows sealed anew\n"))
}

fn leak(args: &LeakageArgs) -> Outcome {
    let start = Instant::now();
    let TableArgs { table, place } = &args.table;
    let Opened { mut client, mut table, .. } = open(place, table)?;
    let column = table.key().column(&args.column).cloned();
    let column = column.ok_or_else(|| Failure::input(format!("there is no encrypted column `{}`", args.column)))?;
    let codes = table.codes(&mut client, &args.column)?;
    let public = args.histogram.as_deref().map(|path| histogram(path, column.ty)).transpose()?;
    let found = leakage::run(&codes, public);
    let mut report = Report::new(&table, start);
    let text = leakage::text(&column, &found);
    report.attacks = Some(found);
    report.print(place.json, &text)
}

/// Public data: values and how often each occurs.
fn histogram(path: &Path, ty: ColumnType) -> Outcome<Vec<(u128, u64)>> {
    let at = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| Failure::input(format!("{at}: {error}")))?;
    let records = csv::read(&text).map_err(|failure| failure.at(&at))?;
    let entry = |record: &csv::Record| match &record[..] {
        [Some(value), Some(count)] => Some((ty.parse(value).ok()?.order(), count.trim().parse().ok()?)),
        _ => None,
    };
    let mut entries = Vec::new();
    for (number, record) in records.iter().enumerate() {
        match entry(record) {
            Some(entry) => entries.push(entry),
            // The first line may say what the columns are.
            None if number == 0 => (),
            None => return Err(Failure::input(format!("{at}: line {}: VALUE,COUNT is wanted", number + 1))),
        }
    }
    Ok(entries)
}
