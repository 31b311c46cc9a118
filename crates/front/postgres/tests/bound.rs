//! Columns that are not encrypted and bound to their rows: what a database changes in them is named.

use crate::common::{again, big, column, make, open};
use comity_ope::{OpeKey, OpeScheme};
use comity_postgres::{Error, NewRow, Query, Row, Table};
use postgres::Client;
use postgres::types::{IsNull, ToSql, Type};

/// A table with two bound columns, one that is not, and an encrypted one. The first row was there before.
fn bound(client: &mut Client, name: &str) -> (OpeKey, Table) {
    client
        .batch_execute(&format!(
            "create table {name} (name text, town varchar(10), hired date, note text); insert into {name} values ('Ada', 'Paris', null, 'a')"
        ))
        .unwrap();
    let key = make(client, name, &[column("v", "bigint", OpeScheme::Ideal)]);
    let mut table = open(client, &key, None, 1).unwrap();
    let names = ["name", "town", "hired"].map(str::to_owned);
    table.transact(client, |work| work.bind(&names)).unwrap();
    assert_eq!(table.bound_columns().collect::<Vec<_>>(), names);
    let rows = [
        NewRow {
            plain: vec![Some("Rome".into()), Some("Alan".into()), Some("2020-02-29".into())],
            secret: vec![Some(big(3))],
        },
        NewRow { plain: vec![None, Some("".into()), None], secret: vec![None] },
    ];
    let loaded = table.transact(client, |work| work.insert_many(&["town", "name", "hired"], &["v"], &rows));
    assert_eq!(loaded.unwrap(), 2);
    let grace: [(&str, &(dyn ToSql + Sync)); 3] = [("name", &"Grace"), ("town", &None::<&str>), ("hired", &NoDate)];
    table.transact(client, |work| work.insert(&grace, &[("v", Some(&big(2)))])).unwrap();
    let edsger: [(&str, &(dyn ToSql + Sync)); 3] = [("name", &"Edsger"), ("town", &"Oslo"), ("hired", &NoDate)];
    table.insert(client, &edsger, &[("v", Some(&big(5)))]).unwrap();
    (key, table)
}

/// NULL, of whatever type.
#[derive(Debug)]
struct NoDate;

impl ToSql for NoDate {
    fn to_sql(&self, _: &Type, _: &mut bytes::BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        Ok(IsNull::Yes)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    postgres::types::to_sql_checked!();
}

fn all(client: &mut Client, table: &mut Table) -> Result<Vec<Row>, Error> {
    table.select(client, &Query::parse("name is not null").unwrap())
}

/// What a query and a check of all rows say that was changed, of a client that was there before.
fn changed(client: &mut Client, table: &mut Table) -> Vec<(String, u64)> {
    let tampered = |error| match error {
        Error::Tampered { column, row } => (column, row),
        other => panic!("{other}"),
    };
    let queried = all(client, table).map(drop).unwrap_err();
    let checked = table.check(client).map(drop).unwrap_err();
    vec![tampered(queried), tampered(checked)]
}

#[test]
fn what_is_changed_in_a_bound_column_is_named() {
    database!(server, address, client);
    let (_, mut table) = bound(&mut client, "staff");
    let names = |rows: &[Row]| rows.iter().map(|row| row.plain[0].clone().unwrap()).collect::<Vec<_>>();
    let mut found = names(&all(&mut client, &mut table).unwrap());
    found.sort();
    assert_eq!(found, ["", "Ada", "Alan", "Edsger", "Grace"]);
    assert_eq!(table.check(&mut client).unwrap().rows, 5);
    // Each is undone by the one behind it.
    let breaks = [
        (
            "update staff set name = 'Eve' where comity_row = 1",
            "update staff set name = 'Ada' where comity_row = 1",
            "name",
            1,
        ),
        (
            "update staff set town = null where comity_row = 1",
            "update staff set town = 'Paris' where comity_row = 1",
            "town",
            1,
        ),
        (
            "update staff set hired = '2020-02-29' where comity_row = 1",
            "update staff set hired = null where comity_row = 1",
            "hired",
            1,
        ),
        // The tag of one row in another, with its value or without.
        (
            "update staff set town = 'Oslo', town_bound = (select town_bound from staff where name = 'Grace') where comity_row = 1",
            "select 1",
            "town",
            1,
        ),
    ];
    for (harm, mend, column, row) in &breaks[..3] {
        client.batch_execute(harm).unwrap();
        assert_eq!(changed(&mut client, &mut table), vec![((*column).to_owned(), *row); 2], "{harm}");
        client.batch_execute(mend).unwrap();
        assert!(all(&mut client, &mut table).is_ok(), "{mend}");
    }
    // Two rows change places, tags and all; the tag is gone.
    let swap = "update staff t set name = o.name, name_bound = o.name_bound from staff o where t.comity_row in (1, 2) and o.comity_row = 3 - t.comity_row";
    client.batch_execute(swap).unwrap();
    assert!(changed(&mut client, &mut table).iter().all(|(column, _)| column == "name"));
    client.batch_execute(swap).unwrap();
    assert!(all(&mut client, &mut table).is_ok());
    // What is not bound is not looked at.
    client.batch_execute("update staff set note = 'b'").unwrap();
    assert!(table.check(&mut client).is_ok());
    let (harm, _, column, row) = breaks[3];
    client.batch_execute(harm).unwrap();
    assert_eq!(changed(&mut client, &mut table), vec![(column.to_owned(), row); 2]);
    client.batch_execute("update staff set town_bound = null where comity_row = 1").unwrap();
    assert_eq!(changed(&mut client, &mut table), vec![(column.to_owned(), row); 2]);
}

/// Which columns are bound is the client's to say, and no column goes by another's name.
#[test]
fn a_database_unbinds_nothing() {
    database!(server, address, client);
    let (key, _) = bound(&mut client, "staff");
    client.batch_execute("update comity_ope set bound = array['name', 'hired']").unwrap();
    assert!(matches!(open(&mut client, &key, None, 2), Err(Error::StateChanged)));
    client.batch_execute("update comity_ope set bound = array['name', 'town', 'hired']").unwrap();
    client.batch_execute("alter table staff rename name to n; alter table staff rename note to name").unwrap();
    let opened = open(&mut client, &key, None, 2);
    assert!(matches!(opened, Err(Error::Tampered { column, row: 1.. }) if column == "name"));
    client.batch_execute("alter table staff drop name").unwrap();
    assert!(matches!(open(&mut client, &key, None, 2), Err(Error::Tampered { column, row: 0 }) if column == "name"));
}

/// The client changes values and secrets; another client, which was there before columns were bound, keeps to it, too.
#[test]
fn a_client_keeps_tags_right() {
    database!(server, address, client);
    client.batch_execute("create table staff (name text)").unwrap();
    let key = make(&mut client, "staff", &[column("v", "bigint", OpeScheme::LeftRight)]);
    let (mut other, mut table) = (again(&address), open(&mut client, &key, None, 1).unwrap());
    let mut elsewhere = open(&mut other, &key, None, 2).unwrap();
    elsewhere.insert(&mut other, &[("name", &"Ada")], &[("v", Some(&big(1)))]).unwrap();
    table.transact(&mut client, |work| work.bind(&["name".into()])).unwrap();
    // Bound twice is bound once, and what is rolled back was not.
    table.transact(&mut client, |work| work.bind(&["name".into()])).unwrap();
    elsewhere.insert(&mut other, &[("name", &"Grace")], &[("v", Some(&big(2)))]).unwrap();
    elsewhere.transact(&mut other, |work| work.update_plain(1, "name", Some("Lovelace"))).unwrap();
    elsewhere.transact(&mut other, |work| work.update(2, "v", Some(&big(7)))).unwrap();
    assert_eq!(all(&mut client, &mut table).unwrap().len(), 2);
    let old: Vec<u8> = client.query_one("select name_bound from staff where comity_row = 1", &[]).unwrap().get(0);
    table.rotate(&mut client, &mut crate::common::rng(5), |_| Ok(())).unwrap();
    assert_eq!(table.check(&mut client).unwrap().rows, 2);
    assert_eq!(all(&mut client, &mut table).unwrap().len(), 2);
    // A tag under the earlier secret is no longer valid.
    client.execute("update staff set name_bound = $1 where comity_row = 1", &[&old]).unwrap();
    assert!(matches!(table.check(&mut client), Err(Error::Tampered { column, row: 1 }) if column == "name"));
}

#[test]
fn what_the_database_would_write_otherwise_is_refused() {
    database!(server, address, client);
    let (_, mut table) = bound(&mut client, "staff");
    let mut refused = |column: &str, value: &str, words: &str| {
        let error = table.transact(&mut client, |work| work.update_plain(1, column, Some(value))).unwrap_err();
        assert!(matches!(&error, Error::Invalid(why) if why.contains(words) && why.contains(column)), "{error}");
        let row = NewRow {
            plain: ["name", "town", "hired"].iter().map(|name| (*name == column).then(|| value.to_owned())).collect(),
            secret: vec![None],
        };
        let error = table.transact(&mut client, |work| {
            work.insert_many(&["name", "town", "hired"], &["v"], std::slice::from_ref(&row))
        });
        assert!(matches!(error, Err(Error::Invalid(why)) if why.contains(words)), "{column}");
    };
    refused("hired", "yesterday", "is bound");
    refused("hired", "29.2.2020", "is bound");
    refused("town", "Rome       ", "is bound");
    let missing = table.transact(&mut client, |work| work.insert_many(&["name", "town"], &["v"], &[])).unwrap_err();
    assert!(missing.to_string().contains("column `hired` is bound"), "{missing}");
    client.batch_execute("alter table staff add price numeric(8,2), add short timestamp(0)").unwrap();
    let mut table = open(&mut client, table.key(), None, 3).unwrap();
    for column in ["price", "short", "nobody"] {
        let error = table.transact(&mut client, |work| work.bind(&[column.to_owned()])).unwrap_err();
        assert!(matches!(&error, Error::Invalid(why) if why.contains(column)), "{error}");
    }
    assert_eq!(table.bound_columns().count(), 3);
    assert!(table.check(&mut client).is_ok());
}
