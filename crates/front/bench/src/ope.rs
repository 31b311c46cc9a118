//! Order-preserving encryption: the client alone, then through a PostgreSQL server beside the same rows in plain text.

use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use comity_channel::{Channel, NetProfile};
use comity_core::{Aes128, Block, Prg};
use comity_net::SystemRng;
use comity_ope::{
    Cache, CachedColumn, Clww, Coin, Column, ColumnType, FrequencyHiding, Ideal, OpeKey, OpeScheme, Ore, Pattern,
    Placed,
};
use comity_postgres::server::Server;
use comity_postgres::{self as pg, NewRow, Query, Table};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use postgres::Client;
use rand_core::Rng;

use crate::picture::Rows;
use crate::suite::{Bench, Suite, backend};
use crate::two::{NETWORKS, play};

/// The state machines, with 10^6 values there.
pub(super) const CLIENT: Bench = Bench {
    name: "ope.client",
    about: "values encrypted at the client, 10^6 present, one thread",
    ceiling: Some("machine.aes"),
    run: client,
};

/// Insertions of 4.1 and of mOPE over a network.
pub(super) const INTERACTION: Bench = Bench {
    name: "ope.interaction",
    about: "an insertion in one round trip, and mOPE's walk down the server's tree beside it (--net; all three networks by default)",
    ceiling: None,
    run: interaction,
};

/// The state that a client keeps.
pub(super) const STORAGE: Bench = Bench {
    name: "ope.storage",
    about: "bytes a row of the client's cache, for several data sets, and rebalances in sorted order",
    ceiling: None,
    run: storage,
};

const PRESENT: usize = 1_000_000;

fn rng(seed: u128) -> Prg {
    Prg::new(backend(), Block::from_u128(seed))
}

fn numbers(count: usize, seed: u128) -> Vec<u64> {
    let mut rng = rng(seed);
    (0..count).map(|_| rng.next_u64()).collect()
}

fn client(suite: &mut Suite) -> Outcome {
    const MORE: usize = 200_000;
    let present = numbers(PRESENT, 1);
    let mut seed = 2;
    let mut more = || {
        seed += 1;
        numbers(MORE, seed)
    };
    let mut ideal = Ideal::<u64, u64>::new();
    let mut hiding = FrequencyHiding::<u64, u64>::new();
    let coins = |values: &[u64]| -> Vec<(u64, Coin)> {
        values.iter().map(|value| (*value, Coin::new(value.rotate_left(32)))).collect()
    };
    ideal.insert_many(&present)?;
    hiding.insert_many(&coins(&present))?;
    suite.rate("ope.client.ideal.insert", "values/s", None, 5, || {
        let values = more();
        let start = ideal.len();
        values.iter().try_for_each(|value| ideal.insert(*value).map(drop))?;
        Ok((ideal.len() - start) as f64)
    })?;
    suite.rate("ope.client.frequency_hiding.insert", "values/s", None, 5, || {
        let values = more();
        values.iter().try_for_each(|value| hiding.insert(value % 1000, Coin::new(*value)).map(drop))?;
        Ok(values.len() as f64)
    })?;
    suite.rate("ope.client.ideal.bulk", "values/s", None, 5, || {
        let mut ideal = Ideal::<u64, u64>::new();
        Ok(ideal.insert_many(&present)?.codes.len() as f64)
    })?;
    let rows = coins(&present.iter().map(|value| value % 1000 * 1_000_003 + value / 7).collect::<Vec<_>>());
    suite.rate("ope.client.frequency_hiding.bulk", "values/s", None, 5, || {
        let mut hiding = FrequencyHiding::<u64, u64>::new();
        Ok(hiding.insert_many(&rows)?.codes.len() as f64)
    })?;
    seal(suite)?;
    revealing(suite)
}

/// A value sealed for its row: two hashes, a key schedule and a tag.
fn seal(suite: &mut Suite) -> Outcome {
    const TIMES: u64 = 100_000;
    let key =
        OpeKey::new("", [String::new(), "t".into()], &mut rng(5)).column_key(1, "v").expect("a new key has a secret");
    suite.rate("ope.client.seal", "values/s", None, 5, || {
        for row in 0..TIMES {
            black_box(key.seal(row, u128::from(row).to_le_bytes(), &row.to_be_bytes()));
        }
        Ok(TIMES as f64)
    })
}

fn revealing(suite: &mut Suite) -> Outcome {
    // Each beside as many encryptions of a block as it takes.
    let aes = suite.value("machine.aes");
    let backend = backend();
    let (ore, clww) = (Ore::new(backend, &[7; 32], 8), Clww::new(backend, [8; 16]));
    let values = numbers(20_000, 6);
    suite.rate("ope.client.clww", "values/s", aes.map(|aes| aes / 64.0), 5, || {
        for value in values.iter().cycle().take(10 * values.len()) {
            black_box(clww.encrypt(black_box(*value)));
        }
        Ok(10.0 * values.len() as f64)
    })?;
    suite.rate("ope.client.left", "values/s", aes.map(|aes| aes / 218.0), 5, || {
        values.iter().for_each(|value| drop(black_box(ore.left((*value).into()))));
        Ok(values.len() as f64)
    })?;
    suite.rate("ope.client.right", "values/s", aes.map(|aes| aes / 4306.0), 5, || {
        values.iter().for_each(|value| drop(black_box(ore.right((*value).into(), u128::from(*value).to_le_bytes()))));
        Ok(values.len() as f64)
    })?;
    let right = ore.right(1 << 63, [1; 16]);
    let left = ore.left((1 << 63) + 1);
    suite.rate("ope.client.compare", "values/s", None, 5, || {
        for _ in 0..100_000 {
            black_box(ore.compare(black_box(&left), &right));
        }
        Ok(100_000.0)
    })
}

fn interaction(suite: &mut Suite) -> Outcome {
    let networks = match suite.network() {
        Some(profile) => vec![("net", Some(profile))],
        None => NETWORKS.to_vec(),
    };
    let mut drawn = Rows::of(["mOPE", "codes", "codes, many at once"]);
    for (name, net) in networks {
        let inserts = if name == "localhost" { 500 } else { 10 };
        let ours = codes(net, inserts, 1)?;
        let batch = codes(net, inserts, inserts)?;
        let walk = mope(net, inserts)?;
        let each = inserts as f64;
        for (kind, seconds) in [("codes", ours), ("batch", batch), ("mope", walk)] {
            let measured = format!("ope.interaction.{name}.{kind}");
            if suite.wants(&measured) {
                suite.record(&measured, "inserts/s", None, vec![each / seconds]);
            }
        }
        drawn.row(name, [walk, ours, batch].map(|seconds| Some(seconds / each)));
        let saved = 100.0 * (1.0 - ours / walk);
        suite.page(
            "Insertion among 10^4 values: the share of mOPE's time that one round trip saves (the paper: up to 81 % on a LAN, 95 % on a WAN)",
            &format!("{name:10} {saved:.0} %\n"),
        );
    }
    drawn.draw(suite, "D13.3, chapter 4: an insertion", "seconds");
    Ok(())
}

/// Bytes of a sealed value beside a code.
const SEALED: usize = 8 + 44;

/// Insertions as in 4.1: the code goes with the value, and the server says that it is stored; `batch` of them
/// a round trip.
fn codes(net: Option<NetProfile>, inserts: usize, batch: usize) -> Outcome<f64> {
    let (run, (), ()) = play(
        net,
        |server| {
            let (mut row, mut rows) = (vec![0; batch * SEALED], Vec::new());
            for _ in 0..inserts / batch {
                server.recv(&mut row)?;
                rows.extend_from_slice(&row);
                server.send(&[1])?;
                server.flush()?;
            }
            Ok(())
        },
        |client| {
            let mut ideal = Ideal::<u64, u64>::new();
            let present = ideal.insert_many(&numbers(10_000, 1));
            present.map_err(|error| comity_core::Error::invalid_input(error.to_string()))?;
            for values in numbers(inserts, 2).chunks(batch) {
                for value in values {
                    let placed =
                        ideal.insert(*value).map_err(|error| comity_core::Error::invalid_input(error.to_string()))?;
                    client.send(&placed.code().to_be_bytes())?;
                    client.send(&[0; SEALED - 8])?;
                }
                client.recv(&mut [0])?;
            }
            Ok(())
        },
    )?;
    Ok(run.seconds)
}

/// Insertions as in mOPE: the server sends the ciphertext at a node of its balanced tree, the client says
/// where to go on.
fn mope(net: Option<NetProfile>, inserts: usize) -> Outcome<f64> {
    let encrypt = |aes: &Aes128, value: u64| {
        let mut block = [Block::from_u128(u128::from(value) << 64)];
        aes.encrypt(&mut block);
        block[0].to_bytes()
    };
    let mut present = numbers(10_000, 1);
    present.sort_unstable();
    let steps = present.len().ilog2() as usize + 1;
    let values = numbers(inserts, 2);
    let aes = Aes128::new(backend(), Block::from_u128(9));
    let tree: Vec<[u8; 16]> = present.iter().map(|value| encrypt(&aes, *value)).collect();
    let all = present.iter().chain(&values);
    let plain: HashMap<[u8; 16], u64> = all.map(|value| (encrypt(&aes, *value), *value)).collect();
    let (run, (), ()) = play(
        net,
        |server| {
            let mut tree = tree;
            for _ in 0..inserts {
                let (mut low, mut high) = (0, tree.len());
                for _ in 0..steps {
                    let middle = (low + high) / 2;
                    server.send(&tree[middle.min(tree.len() - 1)])?;
                    let mut answer = [0];
                    server.recv(&mut answer)?;
                    if low < high {
                        if answer[0] == 0 { high = middle } else { low = middle + 1 }
                    }
                }
                let mut new = [0; 16];
                server.recv(&mut new)?;
                tree.insert(low, new);
                server.send(&[1])?;
                server.flush()?;
            }
            Ok(())
        },
        |client| {
            for value in values {
                for _ in 0..steps {
                    let mut node = [0; 16];
                    client.recv(&mut node)?;
                    // A decryption costs what an encryption does; what it would give is looked up.
                    black_box(encrypt(&aes, value));
                    client.send(&[u8::from(plain.get(&node).is_some_and(|known| *known < value))])?;
                    client.flush()?;
                }
                client.send(&encrypt(&aes, value))?;
                client.recv(&mut [0])?;
            }
            Ok(())
        },
    )?;
    Ok(run.seconds)
}

fn storage(suite: &mut Suite) -> Outcome {
    let mut random = rng(3);
    let sets: [(&str, Vec<u64>); 4] = [
        ("distinct", numbers(PRESENT, 4)),
        ("thousand", (0..PRESENT).map(|_| random.next_u64() % 1000).collect()),
        ("ten", (0..PRESENT).map(|_| random.next_u64() % 10).collect()),
        ("timestamps", (0..PRESENT as u64).map(|i| 1_700_000_000_000_000 + 1_000_003 * i).collect()),
    ];
    for (name, values) in sets {
        let mut coin = || Coin::random(&mut random);
        let rows: Vec<(u128, Coin)> = values.iter().map(|value| (u128::from(*value), coin())).collect();
        let (mut ideal, mut hiding) = (Ideal::<u128, u64>::new(), FrequencyHiding::<u128, u64>::new());
        ideal.insert_many(&rows.iter().map(|row| row.0).collect::<Vec<_>>())?;
        hiding.insert_many(&rows)?;
        let bytes = |coins, pairs| {
            let column = CachedColumn { name: "v".into(), pattern: Pattern::default(), coins, pairs };
            let cache = Cache { version: 1, chain: [0; 32], next_row: 1, columns: vec![column] };
            cache.to_bytes().len() as f64 / PRESENT as f64
        };
        let shared = ideal.iter().map(|(value, code)| ((value, Coin::new(0)), code.into())).collect();
        let own = hiding.iter().map(|(row, code)| (row, code.into())).collect();
        for (scheme, bytes) in [("ideal", bytes(false, shared)), ("frequency_hiding", bytes(true, own))] {
            suite.record(&format!("ope.storage.{scheme}.{name}"), "bytes/row", None, vec![bytes]);
        }
    }
    for (name, values) in [
        ("random", numbers(PRESENT, 7)),
        ("rising", (0..PRESENT as u64).collect()),
        ("falling", (0..PRESENT as u64).rev().collect::<Vec<_>>()),
    ] {
        let mut ideal = Ideal::<u64, u64>::new();
        let mut moves = 0;
        for value in values {
            moves += u32::from(matches!(ideal.insert(value)?, Placed::Rebalanced { .. }));
        }
        suite.record(&format!("ope.storage.rebalances.{name}"), "in 10^6", None, vec![moves.into()]);
    }
    Ok(())
}

/// Rows into a server of our own.
pub(super) const POSTGRES: Bench = Bench {
    name: "ope.postgres",
    about: "rows inserted into a PostgreSQL server of one's own, and the same rows in plain text (skipped where it is not installed)",
    ceiling: None,
    run: postgres_rows,
};

/// Rows of a load, of a row-by-row insertion, and how often each side is measured.
const ROWS: usize = 200_000;
const SINGLES: usize = 1000;
const ROUNDS: usize = 3;

fn failed(error: postgres::Error) -> Failure {
    Failure::from(pg::Error::from(error))
}

/// Seconds that something took.
fn timed(work: impl FnOnce() -> Outcome) -> Outcome<f64> {
    let start = Instant::now();
    work().map(|()| start.elapsed().as_secs_f64())
}

/// Plain text and ours take turns, since a disk's speed differs from minute to minute; each share is of the
/// median of the same rounds.
fn postgres_rows(suite: &mut Suite) -> Outcome {
    let Some(server) = Server::start()? else {
        note("SKIPPED ope.postgres: PostgreSQL is not installed");
        return Ok(());
    };
    let mut client = pg::connect(&server.database()?, None)?;
    let values: Vec<i64> = numbers(ROWS, 11).into_iter().map(|value| (value >> 1) as i64).collect();
    let row = |(id, value): (usize, &i64)| NewRow {
        plain: vec![Some(format!("person {id}"))],
        secret: vec![ColumnType::BigInt.parse(&value.to_string()).ok()],
    };
    let new: Vec<NewRow> = values.iter().enumerate().map(row).collect();
    for scheme in [OpeScheme::Ideal, OpeScheme::FrequencyHiding, OpeScheme::LeftRight] {
        let name = scheme.name().replace('-', "_");
        if !suite.wants(&format!("ope.postgres.{name}")) {
            continue;
        }
        // 528 bytes a row, 5 µs each to make: a tenth of the rows.
        let rows = if scheme.has_codes() { ROWS } else { ROWS / 10 };
        let stored = opaque_rows(scheme, rows);
        let (mut loads, mut inserts, mut ranges) = ([vec![], vec![]], [vec![], vec![]], vec![]);
        let mut opaque = vec![];
        for round in 0..ROUNDS {
            loads[0].push(rows as f64 / timed(|| plain_load(&mut client, &values[..rows]))?);
            opaque.push(rows as f64 / timed(|| opaque_load(&mut client, scheme, &stored))?);
            let mut table = None;
            let seconds = timed(|| {
                table = Some(our_load(&mut client, scheme, &new[..rows])?);
                Ok(())
            })?;
            loads[1].push(rows as f64 / seconds);
            let Some(mut table) = table else { continue };
            let fresh = &values[round * SINGLES..][..SINGLES];
            inserts[0].push(SINGLES as f64 / timed(|| plain_inserts(&mut client, fresh))?);
            inserts[1].push(SINGLES as f64 / timed(|| our_inserts(&mut client, &mut table, fresh))?);
            let times = if scheme.has_codes() { 200 } else { 1 };
            ranges.push(times as f64 / timed(|| our_ranges(&mut client, &mut table, times))?);
        }
        for (what, [plain, ours]) in [("load", loads), ("insert", inserts)] {
            let mut sorted = plain.clone();
            sorted.sort_by(f64::total_cmp);
            suite.record(&format!("ope.postgres.{name}.{what}.plain"), "rows/s", None, plain);
            suite.record(&format!("ope.postgres.{name}.{what}"), "rows/s", sorted.get(ROUNDS / 2).copied(), ours);
        }
        suite.record(&format!("ope.postgres.{name}.load.opaque"), "rows/s", None, opaque);
        suite.record(&format!("ope.postgres.{name}.range"), "queries/s", None, ranges);
    }
    Ok(())
}

/// The load in the order in which it comes, with a key and an index, as ours have.
fn plain_load(client: &mut Client, values: &[i64]) -> Outcome {
    let make = "drop table if exists p; create table p (id bigint unique, name text, v bigint); create index on p (v)";
    client.batch_execute(make).map_err(failed)?;
    let mut copy = client.copy_in("copy p from stdin").map_err(failed)?;
    let mut text = String::new();
    for (id, value) in values.iter().enumerate() {
        text += &format!("{id}\tperson {id}\t{value}\n");
        if text.len() >= 128 << 10 || id + 1 == values.len() {
            copy.write_all(text.as_bytes()).map_err(|error| Failure::input(error.to_string()))?;
            text.clear();
        }
    }
    copy.finish().map_err(failed)?;
    Ok(())
}

/// Rows with as many bytes as ours, made before and random where ours are, in the binary form of COPY: the
/// server takes them no faster.
fn opaque_rows(scheme: OpeScheme, count: usize) -> Vec<u8> {
    fn field(bytes: &[u8], rows: &mut Vec<u8>) {
        rows.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        rows.extend_from_slice(bytes);
    }
    let mut random = rng(12);
    let mut bytes = |count: usize| {
        let mut bytes = vec![0; count];
        random.fill_bytes(&mut bytes);
        bytes
    };
    let mut rows = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    for row in 0..count as u64 {
        rows.extend_from_slice(&4u16.to_be_bytes());
        field(&row.to_be_bytes(), &mut rows);
        field(format!("person {row}").as_bytes(), &mut rows);
        let order = if scheme.has_codes() { (row << 40).to_be_bytes().to_vec() } else { bytes(528) };
        field(&order, &mut rows);
        field(&bytes(SEALED - 8), &mut rows);
    }
    rows.extend_from_slice(&(-1i16).to_be_bytes());
    rows
}

fn opaque_load(client: &mut Client, scheme: OpeScheme, rows: &[u8]) -> Outcome {
    let (order, index) = match scheme {
        OpeScheme::LeftRight => ("bytea", ""),
        OpeScheme::Ideal => ("bigint", "; create index on q (o)"),
        OpeScheme::FrequencyHiding => ("bigint", "; alter table q add unique (o) deferrable"),
    };
    let table = format!("create table q (r bigint unique, name text, o {order}, s bytea){index}");
    client.batch_execute(&format!("drop table if exists q; {table}")).map_err(failed)?;
    let mut copy = client.copy_in("copy q from stdin (format binary)").map_err(failed)?;
    let mut chunks = rows.chunks(128 << 10);
    chunks.try_for_each(|chunk| copy.write_all(chunk)).map_err(|error| Failure::input(error.to_string()))?;
    copy.finish().map_err(failed)?;
    Ok(())
}

fn our_load(client: &mut Client, scheme: OpeScheme, rows: &[NewRow]) -> Outcome<Table> {
    client.batch_execute("drop table if exists t, comity_ope; create table t (name text)").map_err(failed)?;
    let mut key = OpeKey::new("", pg::resolve(client, pg::table_name("t")?)?, &mut SystemRng);
    key.columns.push(Column { name: "v".into(), ty: ColumnType::BigInt, scheme, wide: false, adjustable: false });
    pg::add_column(client, &key, "v", &mut SystemRng)?;
    let mut table = Table::open(client, key, None, &mut SystemRng)?;
    table.transact(client, |work| work.insert_many(&["name"], &["v"], rows))?;
    Ok(table)
}

fn plain_inserts(client: &mut Client, values: &[i64]) -> Outcome {
    let statement = client.prepare("insert into p values ($1, $2, $3)").map_err(failed)?;
    let id = |at: usize| (ROWS + at) as i64;
    let mut rows = values.iter().enumerate();
    rows.try_for_each(|(at, value)| client.execute(&statement, &[&id(at), &"person", value]).map(drop)).map_err(failed)
}

fn our_inserts(client: &mut Client, table: &mut Table, values: &[i64]) -> Outcome {
    let mut writer = table.writer(client, &["name"], &["v"])?;
    for value in values {
        let value = ColumnType::BigInt.parse(&value.wrapping_add(1).max(0).to_string())?;
        writer.insert(&[&"person"], &[Some(&value)])?;
    }
    Ok(())
}

/// Ranges of some twenty rows.
fn our_ranges(client: &mut Client, table: &mut Table, times: i64) -> Outcome {
    let width = i64::MAX / ROWS as i64 * 20;
    for low in (0..times).map(|i| i * width) {
        let query = Query::parse(&format!("v between {low} and {}", low + width))?;
        black_box(table.select(client, &query)?.len());
    }
    Ok(())
}
