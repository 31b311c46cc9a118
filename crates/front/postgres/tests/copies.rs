//! Copies of a database that went on by themselves, and rows that have no value or no key.

use std::fs;

use comity_ope::OpeScheme;
use comity_postgres::{Error, NewRow, Query};

use crate::common::{big, column, make, open};
use crate::history::{filled, insert};

/// Two copies of one database went on: a client of one does not follow the other, however many versions that
/// has, and in whatever scheme.
#[test]
fn a_copy_that_went_on_by_itself_is_not_followed() {
    database!(server, address, client);
    for scheme in crate::common::SCHEMES {
        let name = format!("f{}", scheme.name().len());
        let (key, cache) = filled(&mut client, &name, scheme);
        let keep = format!(
            "drop table if exists rows_old, state_old, links_old; create table rows_old as table {name}; \
             create table state_old as table comity_ope; create table links_old as table comity_ope_links"
        );
        client.batch_execute(&keep).unwrap();
        let mut table = open(&mut client, &key, Some(&cache), 2).unwrap();
        insert(&mut client, &mut table, [5]);
        table.save().unwrap();
        let seen = table.state().version();
        let put_back = format!(
            "delete from {name}; insert into {name} select * from rows_old; delete from comity_ope; \
             insert into comity_ope select * from state_old; delete from comity_ope_links; insert into comity_ope_links select * from links_old"
        );
        client.batch_execute(&put_back).unwrap();
        let mut other = open(&mut client, &key, None, 3).unwrap();
        for more in 0..6 {
            insert(&mut client, &mut other, [6 + more]);
            let found = other.state().version();
            assert_eq!(found, seen + u64::try_from(more).unwrap());
            let mut results = vec![
                open(&mut client, &key, Some(&cache), 4).map(|_| ()),
                table.insert(&mut client, &[], &[("v", Some(&big(7)))]).map(|_| ()),
            ];
            // A query compares versions, and looks further where they differ.
            if found > seen {
                let query = Query::parse("v between 1 and 50").unwrap();
                results.push(table.select(&mut client, &query).map(|_| ()));
            }
            for result in results {
                assert!(
                    matches!(result, Err(Error::RolledBack { seen: s, found: f }) if s == seen && f == found),
                    "{scheme}, {more} more: {result:?}"
                );
            }
        }
        // A client that has seen this copy follows it; without the links it cannot know that it does.
        fs::remove_file(&cache).unwrap();
        let mut third = open(&mut client, &key, Some(&cache), 5).unwrap();
        third.save().unwrap();
        insert(&mut client, &mut other, (0..5).map(|i| 100 + i));
        open(&mut client, &key, Some(&cache), 6).unwrap();
        insert(&mut client, &mut other, [200]);
        client.batch_execute("delete from comity_ope_links").unwrap();
        let unproven = (0..4).any(|i| {
            insert(&mut client, &mut other, [201 + i]);
            client.batch_execute("delete from comity_ope_links").unwrap();
            matches!(open(&mut client, &key, Some(&cache), 7).map(|_| ()), Err(Error::RolledBack { .. }))
        });
        assert!(unproven, "a history without links is believed");
        fs::remove_file(&cache).unwrap();
    }
}

/// A row with nothing but NULL in its encrypted columns is counted, too; one without a key is in no answer
/// that asks for a value.
#[test]
fn rows_without_values_and_without_keys() {
    database!(server, address, client);
    for scheme in crate::common::SCHEMES {
        let name = format!("n{}", scheme.name().len());
        client.batch_execute(&format!("create table {name} (name text)")).unwrap();
        let key = make(&mut client, &name, &[column("v", "bigint", scheme)]);
        let mut table = open(&mut client, &key, None, 1).unwrap();
        let rows: Vec<NewRow> =
            (0..3).map(|i| NewRow { plain: vec![Some(format!("n{i}"))], secret: vec![None] }).collect();
        table.transact(&mut client, |work| work.insert_many(&["name"], &["v"], &rows)).unwrap();
        table.insert(&mut client, &[("name", &"Ada")], &[("v", None)]).unwrap();
        table.insert(&mut client, &[("name", &"Bo")], &[("v", Some(&big(30)))]).unwrap();
        let checked = table.check(&mut client).unwrap();
        assert_eq!((checked.rows, checked.foreign, &checked.values[0].1), (5, 0, &1));
        for lie in ["delete from @ where comity_row = 2", "update @ set comity_row = 77 where comity_row = 2"] {
            client.batch_execute(&format!("create table keep_{name} as table {name}")).unwrap();
            client.batch_execute(&lie.replace('@', &name)).unwrap();
            let check = table.check(&mut client).map(|_| ());
            assert!(matches!(check, Err(Error::RowsChanged { expected: 5, .. })), "{check:?}");
            let back =
                format!("delete from {name}; insert into {name} select * from keep_{name}; drop table keep_{name}");
            client.batch_execute(&back).unwrap();
        }
        table.transact(&mut client, |work| work.delete(1)).unwrap();
        assert_eq!(table.check(&mut client).unwrap().rows, 4);
        // Somebody else's row is one, and says so.
        client.batch_execute(&format!("insert into {name} (name) values ('Eve')")).unwrap();
        assert_eq!(table.check(&mut client).unwrap().foreign, 1);
        assert_eq!(table.select(&mut client, &Query::parse("name = 'Eve'").unwrap()).unwrap()[0].key, None);
        // With a code that was put there by hand it is not, nor in an answer for a range.
        let code =
            format!("update {name} set v_order = (select v_order from {name} where comity_row = 5) where name = 'Eve'");
        let defer = if scheme == OpeScheme::FrequencyHiding {
            format!("alter table {name} drop constraint {name}_v_order_key; ")
        } else {
            String::new()
        };
        client.batch_execute(&(defer + &code)).unwrap();
        for query in ["v between 20 and 40", "name = 'Eve'"] {
            let answer = table.select(&mut client, &Query::parse(query).unwrap()).map(|rows| rows.len());
            assert!(matches!(&answer, Err(Error::Tampered { row: 0, .. })), "{scheme}, {query}: {answer:?}");
        }
        assert!(matches!(table.check(&mut client), Err(Error::Tampered { row: 0, .. })));
    }
}
