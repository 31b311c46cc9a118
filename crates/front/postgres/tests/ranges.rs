//! Answers are those of the same query on plain text, for every type and scheme.

use crate::common::{column, make, open, rng};
use comity_ope::{Column, ColumnValue, OpeScheme};
use comity_postgres::{NewRow, Query, Row, Table};
use postgres::Client;
use rand_core::Rng;

/// Values of each type, with both ends, what lies beside them, and repetitions.
const VALUES: [(&str, &[&str]); 8] = [
    ("smallint", &["-32768", "-32767", "-1", "0", "0", "1", "7", "7", "7", "32766", "32767"]),
    ("integer", &["-2147483648", "-5", "-5", "0", "3", "12", "2147483647", "2147483646"]),
    (
        "bigint",
        &["-9223372036854775808", "-1", "-1", "0", "1", "4294967296", "9223372036854775806", "9223372036854775807"],
    ),
    ("numeric(7,2)", &["-99999.99", "-1.50", "-1.5", "-0.01", "0", "0.01", "1.49", "1.50", "99999.99"]),
    (
        "numeric(30,10)",
        &["-12345678901234567890.0123456789", "-1", "0", "0.0000000001", "1", "99999999999999999999.9999999999"],
    ),
    ("date", &["0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "2024-02-29", "2024-03-01", "9999-12-31"]),
    (
        "timestamp",
        &[
            "0001-01-01 00:00:00",
            "1999-12-31 23:59:59.999999",
            "2000-01-01 00:00:00",
            "2000-01-01 00:00:00",
            "9999-12-31 23:59:59.999999",
        ],
    ),
    (
        "text(40)",
        &[
            "",
            "a",
            "ab",
            "ab",
            "b",
            "prefix of fifteen",
            "prefix of fifteen!",
            "prefix of fiftees",
            "prefix of fifte",
            "Z",
            "\u{e9}t\u{e9}",
            "\u{10ffff}",
        ],
    ),
];

/// The answer of plain SQL: the numbers of rows.
fn plain(client: &mut Client, condition: &str) -> Vec<i32> {
    let sql = format!("select n from plain where {condition} order by n");
    client.query(&sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

fn numbers(rows: &[Row]) -> Vec<i32> {
    let mut numbers: Vec<i32> = rows.iter().map(|row| row.plain[0].as_ref().unwrap().parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

/// The types of PostgreSQL that ours are compared with.
fn sql_type(ty: &str) -> String {
    if ty.starts_with("text") { "text collate \"C\"".into() } else { ty.into() }
}

#[test]
fn ranges_are_those_of_plain_sql() {
    database!(server, address, client);
    for (i, (ty, values)) in VALUES.into_iter().enumerate() {
        for (j, scheme) in crate::common::SCHEMES.into_iter().enumerate() {
            for wide in [false, true] {
                if wide && scheme == OpeScheme::LeftRight {
                    continue;
                }
                let name = format!("t{i}{j}{wide}");
                compare(&mut client, &name, Column { wide, ..column("v", ty, scheme) }, values);
            }
        }
    }
}

fn compare(client: &mut Client, name: &str, def: Column, values: &[&str]) {
    let ty = def.ty;
    let plain_type = sql_type(&ty.to_string());
    client
        .batch_execute(&format!("drop table if exists plain; create table plain (n integer, v {plain_type})"))
        .unwrap();
    client.batch_execute(&format!("create table {name} (n integer)")).unwrap();
    let key = make(client, name, &[def]);
    let mut table = open(client, &key, None, 3).unwrap();
    // Half of them in bulk, half one by one; NULL among them.
    let mut rows: Vec<Option<&str>> = values.iter().map(|value| Some(*value)).chain([None, None]).collect();
    let mut rng = rng(17);
    (1..rows.len()).rev().for_each(|i| rows.swap(i, rng.next_u64() as usize % (i + 1)));
    for (n, value) in rows.iter().enumerate() {
        let sql = format!("insert into plain values ({n}, $1::text::{})", plain_type.split(' ').next().unwrap());
        client.execute(&sql, &[value]).unwrap();
    }
    let parsed: Vec<Option<ColumnValue>> = rows.iter().map(|value| value.map(|text| ty.parse(text).unwrap())).collect();
    let (bulk, single) = parsed.split_at(parsed.len() / 2);
    let new: Vec<NewRow> = bulk
        .iter()
        .enumerate()
        .map(|(n, value)| NewRow { plain: vec![Some(n.to_string())], secret: vec![value.clone()] })
        .collect();
    table.transact(client, |work| work.insert_many(&["n"], &["v"], &new)).unwrap();
    for (n, value) in single.iter().enumerate() {
        let n = (bulk.len() + n) as i32;
        table.insert(client, &[("n", &n)], &[("v", value.as_ref())]).unwrap();
    }
    check(client, &mut table, values, true);
    // Another client, which has the rows only, answers the same.
    let mut other = open(client, &key, None, 4).unwrap();
    check(client, &mut other, values, false);
    table.check(client).unwrap();
}

fn check(client: &mut Client, table: &mut Table, values: &[&str], pairs: bool) {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let ask = |client: &mut Client, table: &mut Table, text: &str| {
        table.select(client, &Query::parse(text).unwrap()).unwrap()
    };
    for a in values {
        for b in values.iter().filter(|_| pairs) {
            let text = format!("v between {} and {}", quote(a), quote(b));
            assert_eq!(numbers(&ask(client, table, &text)), plain(client, &text), "{text}");
        }
        for operator in ["=", "<", "<=", ">", ">="] {
            let text = format!("v {operator} {}", quote(a));
            assert_eq!(numbers(&ask(client, table, &text)), plain(client, &text), "{text}");
        }
    }
    for text in ["v is null", "v is not null", "v is not null and n > 3"] {
        assert_eq!(numbers(&ask(client, table, text)), plain(client, text), "{text}");
    }
    // Order, with a limit that cuts: values, since the order of equal ones is nobody's.
    let ty = table.key().columns[0].ty;
    for direction in ["", " desc"] {
        for limit in [1, 3, 100] {
            let rows = ask(client, table, &format!("order by v{direction} limit {limit}"));
            let ours: Vec<Option<String>> =
                rows.iter().map(|row| row.secret[0].as_ref().map(|v| ty.write(v).to_string())).collect();
            let sql = format!("select v::text from plain order by plain.v{direction} limit {limit}");
            let theirs: Vec<Option<String>> = client.query(&sql, &[]).unwrap().iter().map(|row| row.get(0)).collect();
            let same = |text: &Option<String>| text.as_ref().map(|text| ty.parse(text).unwrap().order());
            assert!(ours.iter().map(same).eq(theirs.iter().map(same)), "{direction} {limit}: {ours:?} {theirs:?}");
        }
    }
}

/// Rows come and go, codes move, and answers stay right.
#[test]
fn updates_deletes_and_rebalances_keep_answers_right() {
    database!(server, address, client);
    client.batch_execute("create table plain (n integer, v bigint)").unwrap();
    for scheme in crate::common::SCHEMES {
        client
            .batch_execute(
                "truncate plain; drop table if exists t; create table t (n integer); drop table if exists comity_ope",
            )
            .unwrap();
        let key = make(&mut client, "t", &[column("v", "bigint", scheme)]);
        let mut table = open(&mut client, &key, None, 5).unwrap();
        let (mut rng, mut keys) = (rng(6), Vec::new());
        for n in 0..150i32 {
            let value = i64::from(rng.next_u32() % 40) - 20;
            let field = crate::common::big(value);
            match rng.next_u32() % 6 {
                0 if !keys.is_empty() => {
                    let (row, n) = keys.swap_remove(rng.next_u32() as usize % keys.len());
                    table.transact(&mut client, |work| work.delete(row)).unwrap();
                    client.execute("delete from plain where n = $1", &[&n]).unwrap();
                }
                1 if !keys.is_empty() => {
                    let (row, n) = keys[rng.next_u32() as usize % keys.len()];
                    let null = rng.next_u32() % 4 == 0;
                    table.transact(&mut client, |work| work.update(row, "v", Some(&field).filter(|_| !null))).unwrap();
                    client
                        .execute("update plain set v = $2 where n = $1", &[&n, &Some(value).filter(|_| !null)])
                        .unwrap();
                }
                2 if scheme.has_codes() && n % 7 == 0 => {
                    table.transact(&mut client, |work| work.rebalance("v")).unwrap();
                }
                _ => {
                    keys.push((table.insert(&mut client, &[("n", &n)], &[("v", Some(&field))]).unwrap(), n));
                    client.execute("insert into plain values ($1, $2)", &[&n, &value]).unwrap();
                }
            }
            let low = i64::from(rng.next_u32() % 40) - 20;
            let text = format!("v between {low} and {}", low + 8);
            let rows = table.select(&mut client, &Query::parse(&text).unwrap()).unwrap();
            assert_eq!(numbers(&rows), plain(&mut client, &text), "{scheme} {text}");
        }
        table.check(&mut client).unwrap();
        let mut other = open(&mut client, &key, None, 7).unwrap();
        let all = Query::parse("v between -100 and 100").unwrap();
        assert_eq!(numbers(&other.select(&mut client, &all).unwrap()), plain(&mut client, "v is not null"));
    }
}

/// Values that only rise or fall make codes move in single inserts, too, within a small space.
#[test]
fn codes_that_move_are_moved_in_one_step() {
    database!(server, address, client);
    for (name, scheme) in [("a", OpeScheme::Ideal), ("b", OpeScheme::FrequencyHiding)] {
        let key = make(&mut client, name, &[column("v", "bigint", scheme)]);
        let mut table = open(&mut client, &key, None, 8).unwrap();
        for value in 0..200 {
            table.insert(&mut client, &[], &[("v", Some(&crate::common::big(value)))]).unwrap();
        }
        assert!(table.state().rewritten > 1, "codes did move");
        let rows = table.range(&mut client, "v", &crate::common::big(50), &crate::common::big(149)).unwrap();
        assert_eq!(rows.len(), 100);
        table.check(&mut client).unwrap();
    }
}
