//! Versions, transactions, other clients, and a database that lies: what is found out, and by which name.

use std::fs;
use std::thread;

use crate::common::{again, big, column, make, open, path, rng};
use comity_ope::{Column, OpeKey, OpeScheme};
use comity_postgres::{Error, NewRow, Query, Table, add_column, read_key, write_key};
use postgres::Client;
use rand_core::Rng;

fn values(client: &mut Client, table: &mut Table) -> Vec<String> {
    let ty = table.key().columns[0].ty;
    let rows = table.select(client, &Query::parse("v is not null order by v").unwrap()).unwrap();
    rows.iter().map(|row| ty.write(row.secret[0].as_ref().unwrap()).to_string()).collect()
}

pub(crate) fn insert(client: &mut Client, table: &mut Table, numbers: impl IntoIterator<Item = i64>) {
    for number in numbers {
        table.insert(client, &[], &[("v", Some(&big(number)))]).unwrap();
    }
}

#[test]
fn clients_that_race_never_give_one_code_to_two_values() {
    database!(server, address, client);
    for (round, isolation) in ["read committed", "repeatable read", "serializable"].into_iter().enumerate() {
        for scheme in crate::common::SCHEMES {
            let name = format!("r{round}{}", scheme.name().len());
            let key = make(&mut client, &name, &[column("v", "bigint", scheme)]);
            thread::scope(|scope| {
                for who in 0..3u64 {
                    let (key, address) = (&key, &address);
                    scope.spawn(move || {
                        let mut client = again(address);
                        client.batch_execute(&format!("set default_transaction_isolation = '{isolation}'")).unwrap();
                        let mut table = open(&mut client, key, None, who.into()).unwrap();
                        let mut rng = rng(100 + u128::from(who));
                        for step in 0..15 {
                            let value = |rng: &mut comity_core::Prg| big((rng.next_u32() % 50).into());
                            if step % 5 == 4 {
                                let rows: Vec<NewRow> = (0..4)
                                    .map(|_| NewRow { plain: vec![], secret: vec![Some(value(&mut rng))] })
                                    .collect();
                                table.transact(&mut client, |work| work.insert_many(&[], &["v"], &rows)).unwrap();
                            } else if step % 7 == 6 && scheme.has_codes() {
                                table.transact(&mut client, |work| work.rebalance("v")).unwrap();
                            } else {
                                table.insert(&mut client, &[], &[("v", Some(&value(&mut rng)))]).unwrap();
                            }
                        }
                    });
                }
            });
            let mut table = open(&mut client, &key, None, 9).unwrap();
            let checked = table.check(&mut client).unwrap();
            assert!(checked.rows >= 3 * 15, "{} rows", checked.rows);
            if scheme == OpeScheme::Ideal {
                // One value, one code.
                let codes: std::collections::BTreeSet<_> = table.codes(&mut client, "v").unwrap().into_iter().collect();
                let values: std::collections::BTreeSet<_> = codes.iter().map(|pair| pair.1).collect();
                assert_eq!(codes.len(), values.len());
            }
        }
    }
}

#[test]
fn what_a_caller_rolls_back_the_dictionary_never_had() {
    database!(server, address, client);
    for scheme in crate::common::SCHEMES {
        let name = format!("c{}", scheme.name().len());
        let key = make(&mut client, &name, &[column("v", "bigint", scheme)]);
        client.batch_execute("drop table if exists budget; create table budget (spent int)").unwrap();
        let mut table = open(&mut client, &key, None, 1).unwrap();
        insert(&mut client, &mut table, [10, 20]);
        // Dropped, rolled back, with codes that move and without.
        for (rebalance, drop_it) in [(false, true), (true, true), (false, false), (true, false)] {
            let mut work = table.work(client.transaction().unwrap()).unwrap();
            work.transaction().execute("insert into budget values (1)", &[]).unwrap();
            work.insert(&[], &[("v", Some(&big(15)))]).unwrap();
            if rebalance && scheme.has_codes() {
                work.rebalance("v").unwrap();
            }
            if drop_it {
                drop(work)
            } else {
                work.rollback().unwrap()
            }
            assert_eq!(values(&mut client, &mut table), ["10", "20"]);
        }
        let mut work = table.work(client.transaction().unwrap()).unwrap();
        work.transaction().execute("insert into budget values (1)", &[]).unwrap();
        work.insert(&[], &[("v", Some(&big(15)))]).unwrap();
        work.commit().unwrap();
        assert_eq!(values(&mut client, &mut table), ["10", "15", "20"]);
        assert_eq!(client.query_one("select count(*) from budget", &[]).unwrap().get::<_, i64>(0), 1);
        table.check(&mut client).unwrap();
        // A statement of the caller's own that fails.
        let mut work = table.work(client.transaction().unwrap()).unwrap();
        work.insert(&[], &[("v", Some(&big(16)))]).unwrap();
        work.transaction().execute("select 1/0", &[]).unwrap_err();
        assert!(matches!(work.commit(), Err(Error::Database(_))));
        // An operation that fails half-way is not committed.
        let mut work = table.work(client.transaction().unwrap()).unwrap();
        work.insert(&[], &[("v", Some(&big(17)))]).unwrap();
        let text = comity_ope::ColumnType::Text(4).parse("x").unwrap();
        assert!(matches!(work.insert(&[], &[("v", Some(&text))]), Err(Error::Invalid(_))));
        assert!(matches!(work.commit(), Err(Error::Invalid(_))));
        insert(&mut client, &mut table, [17]);
        assert_eq!(values(&mut client, &mut table), ["10", "15", "17", "20"]);
        table.check(&mut client).unwrap();
    }
}

/// A table with the values 0, 10, …, 90, and its cache.
pub(crate) fn filled(client: &mut Client, name: &str, scheme: OpeScheme) -> (OpeKey, std::path::PathBuf) {
    let key = make(client, name, &[column("v", "bigint", scheme)]);
    let cache = path("cache");
    let mut table = open(client, &key, Some(&cache), 1).unwrap();
    insert(client, &mut table, (0..10).map(|i| 10 * i));
    table.save().unwrap();
    (key, cache)
}

#[test]
fn a_database_that_was_put_back_is_seen_by_who_kept_the_cache() {
    database!(server, address, client);
    let (key, cache) = filled(&mut client, "t", OpeScheme::Ideal);
    client.batch_execute("create table t_old as table t; create table state_old as table comity_ope").unwrap();
    let put_back = "delete from t; insert into t select * from t_old; update comity_ope c set version = o.version, sealed = o.sealed from state_old o";
    let mut table = open(&mut client, &key, Some(&cache), 2).unwrap();
    insert(&mut client, &mut table, [5]);
    table.save().unwrap();
    client.batch_execute(put_back).unwrap();
    // Open or not, nothing is written any more.
    let (seen, found) = (table.state().version(), table.state().version() - 1);
    let rolled_back = |result: Result<u64, Error>| {
        assert!(matches!(result, Err(Error::RolledBack { seen: s, found: f }) if s == seen && f == found))
    };
    rolled_back(table.insert(&mut client, &[], &[("v", Some(&big(7)))]));
    rolled_back(table.select(&mut client, &Query::default()).map(|_| 0));
    rolled_back(open(&mut client, &key, Some(&cache), 3).map(|_| 0));
    rolled_back(Table::rebuild(&mut client, key.clone(), Some(&cache), false, &mut rng(4)).map(|_| 0));
    assert_eq!(client.query_one("select count(*) from t", &[]).unwrap().get::<_, i64>(0), 10);
    // A client without a cache does not know.
    open(&mut client, &key, None, 5).unwrap();

    // The same number of versions, with another history: the other copy went on.
    let mut other = open(&mut client, &key, None, 6).unwrap();
    insert(&mut client, &mut other, [6]);
    assert!(
        matches!(open(&mut client, &key, Some(&cache), 7).map(|_| ()), Err(Error::RolledBack { seen: s, found: f }) if s == seen && f == seen)
    );

    // The user says so.
    let (mut table, checked) = Table::rebuild(&mut client, key.clone(), Some(&cache), true, &mut rng(8)).unwrap();
    assert_eq!(checked.rows, 11);
    table.save().unwrap();
    let mut table = open(&mut client, &key, Some(&cache), 9).unwrap();
    insert(&mut client, &mut table, [95]);
    assert_eq!(table.check(&mut client).unwrap().rows, 12);
    fs::remove_file(cache).unwrap();
}

#[test]
fn a_lying_database_is_named() {
    database!(server, address, client);
    for scheme in crate::common::SCHEMES {
        let name = format!("l{}", scheme.name().len());
        let (key, cache) = filled(&mut client, &name, scheme);
        client.batch_execute(&format!("create table {name}_old as table {name}")).unwrap();
        let ask = |client: &mut Client, lie: &str, query: &str| {
            client.batch_execute(&lie.replace('@', &name)).unwrap();
            let mut table = open(client, &key, Some(&cache), 1).unwrap();
            let answer = table.select(client, &Query::parse(query).unwrap()).map(|rows| rows.len());
            let check = table.check(client).map(|_| ());
            let back = "delete from @; insert into @ select * from @_old".replace('@', &name);
            client.batch_execute(&back).unwrap();
            (answer, check)
        };
        let range = "v between 20 and 60";
        let tampered = |answer: &Result<usize, Error>, rows: &[u64]| {
            assert!(
                matches!(answer, Err(Error::Tampered { column, row }) if column == "v" && rows.contains(row)),
                "{scheme}: {answer:?}"
            );
        };
        // Rows 4 and 6 have 30 and 50.
        let swap = |column: &str| {
            format!(
                "update @ a set {column} = b.{column} from @ b where (a.comity_row, b.comity_row) in ((4, 6), (6, 4))"
            )
        };
        let (answer, check) = ask(&mut client, &swap("v_sealed"), range);
        tampered(&answer, &[4, 6]);
        tampered(&check.map(|()| 0), &[4, 6]);
        let (answer, check) =
            ask(&mut client, &swap("v_order").replace("update", "alter table @ disable trigger all; update"), range);
        if scheme.has_codes() {
            tampered(&answer, &[4, 6]);
            assert!(matches!(check, Err(Error::Disordered { .. } | Error::Tampered { .. })), "{check:?}");
        }
        // Moved out of the range into it.
        let moved = if scheme.has_codes() {
            "update @ set v_order = v_order + 1 where comity_row = 4"
        } else {
            "update @ set v_order = (select v_order from @ where comity_row = 4) where comity_row = 9"
        };
        let (answer, _) = ask(&mut client, moved, range);
        if scheme.has_codes() && answer.as_ref().is_ok_and(|rows| *rows == 5) {
            panic!("a changed code was not seen");
        } else if !scheme.has_codes() {
            tampered(&answer, &[9]);
        }
        for lie in [
            "update @ set v_sealed = set_byte(v_sealed, 25, get_byte(v_sealed, 25) # 1) where comity_row = 4",
            "update @ set v_sealed = null where comity_row = 4",
            "update @ set v_sealed = 'x' where comity_row = 4",
            "update @ set v_sealed = set_byte(v_sealed, 0, 2) where comity_row = 4",
        ] {
            let (answer, check) = ask(&mut client, lie, range);
            tampered(&answer, &[4]);
            tampered(&check.map(|()| 0), &[4]);
        }
        // What a query cannot see, and a check of all rows does.
        for lie in
            ["delete from @ where comity_row = 4", "update @ set v_sealed = null, v_order = null where comity_row = 4"]
        {
            let (answer, check) = ask(&mut client, lie, range);
            assert_eq!(answer.unwrap(), 4, "a row that is left out is not seen");
            assert!(matches!(check, Err(Error::Incomplete { found: 9, expected: 10, .. })), "{check:?}");
        }
        // A single row that was put back.
        let mut table = open(&mut client, &key, Some(&cache), 2).unwrap();
        table.transact(&mut client, |work| work.update(4, "v", Some(&big(35)))).unwrap();
        table.save().unwrap();
        let lie = format!(
            "delete from {name} where comity_row = 4; insert into {name} select * from {name}_old where comity_row = 4"
        );
        client.batch_execute(&lie).unwrap();
        let mut table = open(&mut client, &key, Some(&cache), 3).unwrap();
        assert!(matches!(table.check(&mut client), Err(Error::Incomplete { found: 10, expected: 10, .. })));
        fs::remove_file(cache).unwrap();
        // The state itself.
        client
            .batch_execute(&format!("update comity_ope set version = version + 1 where \"table\" = '{name}'"))
            .unwrap();
        assert!(matches!(open(&mut client, &key, None, 4).map(|_| ()), Err(Error::StateChanged)));
        client.batch_execute(&format!("update comity_ope set version = version - 1, sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where \"table\" = '{name}'")).unwrap();
        assert!(matches!(open(&mut client, &key, None, 5).map(|_| ()), Err(Error::StateChanged)));
    }
}

#[test]
fn keys_and_caches_that_are_wrong_or_lost() {
    database!(server, address, client);
    let (key, cache) = filled(&mut client, "t", OpeScheme::FrequencyHiding);
    // Another key: no table of its own, and none that it could take over.
    let mut other = OpeKey::new("", key.table.clone(), &mut rng(77));
    other.columns = key.columns.clone();
    assert!(matches!(open(&mut client, &other, None, 1).map(|_| ()), Err(Error::Invalid(_))));
    assert!(add_column(&mut client, &other, "v", &mut rng(1)).is_err());
    // The same table's key, with another secret.
    let mut bytes = key.to_bytes().to_vec();
    let secret = bytes.len() - 32 - 8;
    bytes[secret] ^= 1;
    assert!(OpeKey::from_bytes(&bytes).is_err(), "damage is seen");
    // A copy from before a column was added.
    let mut old = key.clone();
    old.columns.clear();
    assert!(matches!(open(&mut client, &old, None, 2).map(|_| ()), Err(Error::WrongKey)));
    // Caches: cut anywhere, of nothing, or gone, the rows have all there is.
    let whole = fs::read(&cache).unwrap();
    for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&cache, &whole[..cut]).unwrap();
        let mut table = open(&mut client, &key, Some(&cache), 3).unwrap();
        assert!(table.cache_is_damaged());
        assert_eq!(values(&mut client, &mut table).len(), 10);
        table.save().unwrap();
        assert!(!open(&mut client, &key, Some(&cache), 4).unwrap().cache_is_damaged());
    }
    fs::remove_file(&cache).unwrap();
    let mut table = open(&mut client, &key, Some(&cache), 5).unwrap();
    assert_eq!(values(&mut client, &mut table).len(), 10);
    assert!(!String::from_utf8_lossy(&whole).contains("v\0"), "the cache is sealed");
    // Key files: readable by others, or there already.
    let file = path("key");
    write_key(&file, &key).unwrap();
    assert_eq!(read_key(&file).unwrap().id, key.id);
    assert!(matches!(comity_postgres::create_key(&file, &key), Err(Error::File { .. })));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(read_key(&file).map(|_| ()), Err(Error::Invalid(message)) if message.contains("chmod")));
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn names_are_only_names() {
    database!(server, address, client);
    client.batch_execute("create table victim (x int)").unwrap();
    let names = ["a\"; drop table victim; --", "it's", "SELECT", "weiß ☃", "$1", "tab\tle"];
    for name in names {
        for scheme in crate::common::SCHEMES {
            client.batch_execute("drop table if exists comity_ope").unwrap();
            let quoted = format!("\"{}\"", name.replace('"', "\"\""));
            client
                .batch_execute(&format!("drop table if exists {quoted}; create table {quoted} ({quoted} text)"))
                .unwrap();
            let secret = format!("{name}\u{3b1}");
            let key = make(&mut client, name, &[column(&secret, "bigint", scheme)]);
            let mut table = open(&mut client, &key, None, 1).unwrap();
            table.insert(&mut client, &[(name, &name)], &[(&secret, Some(&big(1)))]).unwrap();
            let row = NewRow { plain: vec![Some("\\N\t\n\r\\.'\"".into())], secret: vec![Some(big(2))] };
            table
                .transact(&mut client, |work| work.insert_many(&[name], &[&secret], std::slice::from_ref(&row)))
                .unwrap();
            if scheme.has_codes() {
                table.transact(&mut client, |work| work.rebalance(&secret)).unwrap();
            }
            table.transact(&mut client, |work| work.update(1, &secret, Some(&big(3)))).unwrap();
            let asked = format!(
                "\"{}\" > 1 and {quoted} is not null order by \"{}\"",
                secret.replace('"', "\"\""),
                secret.replace('"', "\"\"")
            );
            let rows = table.select(&mut client, &Query::parse(&asked).unwrap()).unwrap();
            assert_eq!(
                rows.iter().map(|row| row.plain[0].clone()).collect::<Vec<_>>(),
                [row.plain[0].clone(), Some(name.into())]
            );
            table.check(&mut client).unwrap();
        }
    }
    client.query("select * from victim", &[]).expect("it is still there");
}

#[test]
fn an_adjustable_column_gets_its_order_when_it_is_asked_for() {
    database!(server, address, client);
    for scheme in crate::common::SCHEMES {
        let name = format!("j{}", scheme.name().len());
        let key = make(&mut client, &name, &[Column { adjustable: true, ..column("v", "bigint", scheme) }]);
        let mut table = open(&mut client, &key, None, 1).unwrap();
        let mut other = open(&mut client, &key, None, 2).unwrap();
        insert(&mut client, &mut table, [5, 3, 3, 9]);
        let orders = |client: &mut Client| {
            client.query_one(&format!("select count(v_order) from {name}"), &[]).unwrap().get::<_, i64>(0)
        };
        assert_eq!(orders(&mut client), 0, "nothing shows");
        let query = Query::parse("v between 3 and 5").unwrap();
        assert!(matches!(table.select(&mut client, &query), Err(Error::NotOrdered { column }) if column == "v"));
        assert_eq!(orders(&mut client), 0, "asking is not agreeing");
        table.transact(&mut client, |work| work.order("v")).unwrap();
        assert_eq!(orders(&mut client), 4);
        for table in [&mut table, &mut other] {
            assert_eq!(table.select(&mut client, &query).unwrap().len(), 3);
            insert(&mut client, table, [40]);
        }
        assert_eq!(table.check(&mut client).unwrap().rows, 6);
        assert!(table.transact(&mut client, |work| work.order("v")).is_err());
    }
}

#[test]
fn a_rotation_that_is_cut_short_is_finished_by_the_next() {
    database!(server, address, client);
    let columns = [
        column("v", "bigint", OpeScheme::Ideal),
        column("w", "date", OpeScheme::FrequencyHiding),
        column("x", "text(20)", OpeScheme::LeftRight),
    ];
    let key = make(&mut client, "t", &columns);
    let mut table = open(&mut client, &key, None, 1).unwrap();
    let fields = |i: i64| {
        [
            big(i % 3),
            columns[1].ty.parse(&format!("2024-01-{:02}", 1 + i % 5)).unwrap(),
            columns[2].ty.parse(&format!("t{i}")).unwrap(),
        ]
    };
    for i in 0..8 {
        let [v, w, x] = fields(i);
        table
            .insert(&mut client, &[], &[("v", Some(&v)), ("w", Some(&w)), ("x", Some(&x).filter(|_| i != 4))])
            .unwrap();
    }
    let file = path("key");
    write_key(&file, &key).unwrap();
    // Cut short before the database has anything new, and then before the old secret is forgotten.
    for fail_at in [1, 2] {
        let key = read_key(&file).unwrap();
        let mut table = open(&mut client, &key, None, 2).unwrap();
        let mut calls = 0;
        let cut = table.rotate(&mut client, &mut rng(3), |key| {
            calls += 1;
            if calls == fail_at { Err(Error::Busy) } else { write_key(&file, key) }
        });
        assert!(matches!(cut, Err(Error::Busy)));
        let mut table = open(&mut client, &read_key(&file).unwrap(), None, 4).unwrap();
        assert_eq!(table.check(&mut client).unwrap().rows, 8);
        assert_eq!(values(&mut client, &mut table).len(), 8);
    }
    let before = read_key(&file).unwrap();
    let mut table = open(&mut client, &before, None, 5).unwrap();
    assert_eq!(table.rotate(&mut client, &mut rng(6), |key| write_key(&file, key)).unwrap(), 8);
    assert_eq!(read_key(&file).unwrap().numbers().count(), 1);
    assert_eq!(table.check(&mut client).unwrap().rows, 8);
    insert(&mut client, &mut table, [100]);
    let asked = Query::parse("w between 2024-01-02 and 2024-01-03 and x >= 't1'").unwrap();
    let all = table.select(&mut client, &asked).unwrap().len();
    assert_eq!(all, (0..8).filter(|i| [1, 2].contains(&(i % 5)) && *i != 4).count());
    // The old key opens nothing any more.
    assert!(matches!(open(&mut client, &key, None, 7).map(|_| ()), Err(Error::WrongKey)));
    fs::remove_file(file).unwrap();
}

/// A connection that is lost inside a piece of work.
#[test]
fn a_lost_connection_loses_the_work_and_nothing_else() {
    database!(server, address, client);
    let (key, cache) = filled(&mut client, "t", OpeScheme::FrequencyHiding);
    let mut table = open(&mut client, &key, Some(&cache), 1).unwrap();
    let pid: i32 = client.query_one("select pg_backend_pid()", &[]).unwrap().get(0);
    let mut work = table.work(client.transaction().unwrap()).unwrap();
    work.insert(&[], &[("v", Some(&big(1)))]).unwrap();
    again(&address).execute("select pg_terminate_backend($1)", &[&pid]).unwrap();
    assert!(matches!(work.commit(), Err(Error::Connection(_))));
    let mut client = again(&address);
    assert_eq!(values(&mut client, &mut table).len(), 10);
    insert(&mut client, &mut table, [1]);
    assert_eq!(table.check(&mut client).unwrap().rows, 11);
    fs::remove_file(cache).unwrap();
}
