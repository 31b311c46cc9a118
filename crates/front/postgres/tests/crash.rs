//! Clients and servers that are killed at any instant: no row that was acknowledged is lost, the order is
//! right, and the next start repairs what there is to repair.
#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{big, column, make, path, rng};
use comity_ope::{Column, OpeScheme};
use comity_postgres::server::Server;
use comity_postgres::{NewRow, Query, Table, add_column, cache_path, connect, read_key, write_key};
use comity_testing::{PATIENCE, Process};
use rand_core::Rng;

const MODES: [&str; 5] = ["insert", "load", "rebalance", "rotate", "adjust"];

/// The process that is killed: it writes, and notes each row when the database has acknowledged it.
#[test]
fn child() {
    let Ok(address) = std::env::var("COMITY_OPE_ADDRESS") else { return };
    let var = |name: &str| std::env::var(name).unwrap();
    let (key, mode, seed) = (var("COMITY_OPE_KEY"), var("COMITY_OPE_MODE"), var("COMITY_OPE_SEED").parse().unwrap());
    let mut noted = OpenOptions::new().append(true).create(true).open(var("COMITY_OPE_NOTED")).unwrap();
    let (key, cache) = (Path::new(&key), cache_path(Path::new(&key)));
    let mut rng = rng(seed);
    let mut client = connect(&address, None).unwrap();
    let mut table = Table::open(&mut client, read_key(key).unwrap(), Some(&cache), &mut rng).unwrap();
    noted.write_all(b"ready\n").unwrap();
    loop {
        let mut numbers: Vec<i32> =
            (0..if mode == "load" { 20 } else { 1 }).map(|_| (rng.next_u32() >> 1) as i32).collect();
        numbers.dedup();
        let rows: Vec<NewRow> = numbers
            .iter()
            .map(|n| NewRow {
                plain: vec![Some(n.to_string())],
                secret: vec![Some(value(*n)), Some(value(*n)), Some(value(*n))],
            })
            .collect();
        if mode == "load" {
            table.transact(&mut client, |work| work.insert_many(&["n"], &["v", "w", "x"], &rows)).unwrap();
        } else {
            let v = value(numbers[0]);
            // Into those that have no order yet, too.
            let columns: Vec<String> = table.state().columns.iter().map(|column| column.name.clone()).collect();
            let secret: Vec<_> = columns.iter().map(|column| (column.as_str(), Some(&v))).collect();
            table.insert(&mut client, &[("n", &numbers[0])], &secret).unwrap();
        }
        let lines: String = numbers.iter().map(|n| format!("{n}\n")).collect();
        noted.write_all(lines.as_bytes()).unwrap();
        match mode.as_str() {
            "rebalance" => {
                table.transact(&mut client, |work| work.rebalance("v").and(work.rebalance("w"))).unwrap();
            }
            "adjust" => {
                let columns = table.state().columns.iter().filter(|column| !column.ordered);
                for column in columns.map(|column| column.name.clone()).collect::<Vec<_>>() {
                    table.transact(&mut client, |work| work.order(&column)).unwrap();
                }
            }
            "rotate" => {
                table.rotate(&mut client, &mut rng, |new| write_key(key, new)).unwrap();
            }
            _ => (),
        }
        table.save().unwrap();
    }
}

/// The value of the row with this number.
fn value(number: i32) -> comity_ope::ColumnValue {
    big(i64::from(number % 1000))
}

#[derive(Clone, Copy, PartialEq)]
enum Victim {
    Client,
    Server,
}

fn kills(victim: Victim, count: usize) {
    let Some(server) = Server::start().unwrap() else {
        // The test runner would keep what `eprintln!` says to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: PostgreSQL is not installed");
        return;
    };
    let address = server.database().unwrap();
    let mut client = connect(&address, None).unwrap();
    client.batch_execute("create table t (n integer)").unwrap();
    let columns = [
        column("v", "bigint", OpeScheme::Ideal),
        Column { wide: true, ..column("w", "bigint", OpeScheme::FrequencyHiding) },
        column("x", "bigint", OpeScheme::LeftRight),
    ];
    let (file, noted) = (path("key"), path("noted"));
    write_key(&file, &make(&mut client, "t", &columns)).unwrap();
    drop(client);
    let mut rng = rng(if victim == Victim::Client { 1 } else { 2 });
    let (mut acknowledged, mut done) = (Vec::new(), BTreeMap::new());
    for round in 0..count {
        let mode = MODES[round % MODES.len()];
        let _ = fs::remove_file(&noted);
        if mode == "adjust" {
            let mut key = read_key(&file).unwrap();
            let name = format!("a{round}");
            let scheme = OpeScheme::ALL[round / MODES.len() % OpeScheme::ALL.len()];
            key.columns.push(Column { adjustable: true, ..column(&name, "bigint", scheme) });
            write_key(&file, &key).unwrap();
            add_column(&mut connect(&address, None).unwrap(), &key, &name, &mut rng).unwrap();
        }
        let seed = (1000 * count + round).to_string();
        let mut child = Process::test(
            "crash::child",
            &[
                ("COMITY_OPE_ADDRESS", &address),
                ("COMITY_OPE_KEY", &file),
                ("COMITY_OPE_MODE", &mode),
                ("COMITY_OPE_SEED", &seed),
                ("COMITY_OPE_NOTED", &noted),
            ],
        );
        // From when it begins to write: anywhere in what follows.
        let start = Instant::now();
        while fs::metadata(&noted).map_or(0, |meta| meta.len()) < 6 && child.runs() {
            assert!(start.elapsed() < PATIENCE, "round {round}, {mode}: the client does not begin");
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_micros(u64::from(rng.next_u32()) % 60_000));
        match victim {
            Victim::Client => child.kill(),
            Victim::Server => {
                server.kill().unwrap();
                server.up().unwrap();
            }
        }
        let said = child.end().err;
        let text = fs::read_to_string(&noted).unwrap_or_default();
        assert!(text.starts_with("ready"), "round {round}, {mode}: the client did not open the table: {said}");
        // A line that was cut off was not acknowledged.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let rows = whole.lines().skip(1).map(|line| line.parse::<i32>().unwrap());
        let before = acknowledged.len();
        acknowledged.extend(rows);
        *done.entry(mode).or_insert(0) += acknowledged.len() - before;
        if round % 10 == 9 || round + 1 == count {
            verify(&address, &file, &acknowledged);
        }
    }
    eprintln!("{count} kills, {} rows acknowledged: {done:?}", acknowledged.len());
    for path in [&file, &noted, &cache_path(&file)] {
        let _ = fs::remove_file(path);
    }
}

fn verify(address: &str, file: &Path, acknowledged: &[i32]) {
    let mut client = connect(address, None).unwrap();
    let key = read_key(file).unwrap();
    let mut table = Table::open(&mut client, key, Some(&cache_path(file)), &mut rng(3)).unwrap();
    table.check(&mut client).unwrap();
    table.save().unwrap();
    let mut rows: BTreeMap<i32, Vec<comity_ope::ColumnValue>> = BTreeMap::new();
    for column in ["v", "w", "x"] {
        let found =
            table.select(&mut client, &Query::parse(&format!("{column} >= -1000 order by {column}")).unwrap()).unwrap();
        let order: Vec<u128> = found.iter().map(|row| value_of(row, column).order()).collect();
        assert!(order.is_sorted(), "{column} is in order");
        for row in found {
            rows.entry(row.plain[0].as_ref().unwrap().parse().unwrap())
                .or_default()
                .push(value_of(&row, column).clone());
        }
    }
    for column in table
        .state()
        .columns
        .iter()
        .filter(|column| column.ordered)
        .map(|column| column.name.clone())
        .collect::<Vec<_>>()
    {
        let found = table.select(&mut client, &Query::parse(&format!("{column} >= -1000")).unwrap()).unwrap();
        assert_eq!(found.len() as u64, count_of(&table, &column), "{column}");
    }
    for number in acknowledged {
        let found = rows.get(number).unwrap_or_else(|| panic!("row {number} was acknowledged and is lost"));
        assert!(found.len() >= 3 && found.iter().all(|found| *found == value(*number)), "row {number}");
    }
}

fn count_of(table: &Table, column: &str) -> u64 {
    table.state().columns.iter().find(|known| known.name == column).unwrap().values.count
}

fn value_of<'a>(row: &'a comity_postgres::Row, column: &str) -> &'a comity_ope::ColumnValue {
    row.secret[["v", "w", "x"].iter().position(|known| *known == column).unwrap()].as_ref().unwrap()
}

#[test]
fn a_client_that_is_killed_loses_nothing() {
    kills(Victim::Client, 12);
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    kills(Victim::Server, 4);
}

#[test]
#[ignore = "a campaign: 200 kills of a client"]
fn two_hundred_kills_of_a_client() {
    kills(Victim::Client, 200);
}

#[test]
#[ignore = "a campaign: 200 kills of the server"]
fn two_hundred_kills_of_the_server() {
    kills(Victim::Server, 200);
}
