//! What is made in the database: the state's table, columns and indexes, and the function that compares.

use std::collections::BTreeMap;

use comity_core::TccrHash;
use comity_ope::{Column, ColumnState, Link, OpeKey, OpeScheme, Purpose, RowTerms, RowTotal, State};
use postgres::{Client, GenericClient};
use rand_core::CryptoRng;

use crate::column::Col;
use crate::error::{Error, Result};
use crate::name::{self, Names, ROW, literal, quote};

/// Completes the name of a table by its schema: the one that has the table, or would get it.
///
/// # Errors
/// [`Error::Database`].
pub fn resolve(client: &mut Client, table: [String; 2]) -> Result<[String; 2]> {
    if !table[0].is_empty() {
        return Ok(table);
    }
    let found = client.query_opt(
        "select n.nspname::text from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         where c.oid = pg_catalog.to_regclass($1::text)",
        &[&quote(&table[1])],
    )?;
    let schema: Option<String> = match found {
        Some(row) => Some(row.try_get(0)?),
        None => client.query_one("select pg_catalog.current_schema()::text", &[])?.try_get(0)?,
    };
    let schema = schema
        .ok_or_else(|| Error::invalid("the database has no schema to make a table in: name one, as in SCHEMA.TABLE"))?;
    Ok([schema, table[1].clone()])
}

/// Adds a column of the key to the database, and the table if it does not exist. Save the key first, so that
/// nothing in the database is sealed without a key. A column that exists already, from an earlier call, is
/// left as it is.
///
/// # Errors
/// [`Error::Database`]; [`Error::WrongKey`] if the table's state is sealed under another key; [`Error::Invalid`].
pub fn add_column(client: &mut Client, key: &OpeKey, column: &str, rng: &mut impl CryptoRng) -> Result<()> {
    let def = key.column(column).ok_or_else(|| Error::invalid(format!("the key has no column `{column}`")))?;
    name::check(&def.name)?;
    let names = Names::new(&key.table);
    let mut tx = client.transaction()?;
    tx.batch_execute(&format!(
        "set local client_min_messages = warning; \
         create table if not exists {state} (id bytea primary key, \"table\" text not null unique, version bigint not null, sealed bytea not null, bound text[] not null default array[]::text[]); \
         lock table {state} in exclusive mode; \
         create table if not exists {links} (id bytea, version bigint, link bytea not null, primary key (id, version)); \
         create table if not exists {table} ({ROW} bigint unique); \
         alter table {table} add column if not exists {ROW} bigint unique",
        state = names.state,
        links = names.links,
        table = names.table,
    ))?;
    let before = read_state(&mut tx, &names, key)?;
    let fresh = before.is_none();
    let (mut state, number) = before.unwrap_or_else(|| (State::new(), key.number()));
    if state.columns.iter().any(|known| known.name == def.name) {
        return Ok(tx.commit()?);
    }
    let terms = key.row_terms(number).ok_or(Error::WrongKey)?;
    number_rows(&mut tx, &names, &mut state, &terms)?;
    make(&mut tx, &names, def)?;
    let ordered = !def.adjustable;
    state.columns.push(ColumnState { name: def.name.clone(), ordered, values: RowTotal::default() });
    let link = state.advance(true);
    if fresh {
        let taken = tx.query_opt(&format!("select 1 from {} where \"table\" = $1", names.state), &[&key.table[1]])?;
        if taken.is_some() {
            return Err(Error::WrongKey);
        }
        let insert = format!("insert into {} (id, \"table\", version, sealed) values ($1, $2, 0, '')", names.state);
        tx.execute(&insert, &[&&key.id[..], &key.table[1]])?;
    }
    write_state(&mut tx, &names, key, number, (&state, &link), rng)?;
    Ok(tx.commit()?)
}

/// Gives keys to the rows that were there before.
fn number_rows(tx: &mut impl GenericClient, names: &Names, state: &mut State, terms: &RowTerms) -> Result<()> {
    let table = &names.table;
    let base = state.next_row as i64 - 1;
    let numbered = tx.execute(
        &format!(
            "update {table} t set {ROW} = n.r from (select ctid as c, $1::bigint + row_number() over () as r from {table} where {ROW} is null) n \
             where t.ctid = n.c"
        ),
        &[&base],
    )?;
    for row in state.next_row..state.next_row + numbered {
        state.rows.add(terms.of(row));
    }
    state.next_row += numbered;
    Ok(())
}

fn make(tx: &mut impl GenericClient, names: &Names, def: &Column) -> Result<()> {
    let (table, order, sealed) = (&names.table, name::order(&def.name), name::sealed(&def.name));
    let ty = Col::sql_type(def);
    tx.batch_execute(&format!("alter table {table} add column {order} {ty}, add column {sealed} bytea"))?;
    match def.scheme {
        OpeScheme::Ideal => tx.batch_execute(&format!("create index on {table} ({order})"))?,
        // Checked after each statement and not after each row, since a rebalance shifts codes onto others.
        OpeScheme::FrequencyHiding => {
            tx.batch_execute(&format!("alter table {table} add unique ({order}) deferrable"))?
        }
        OpeScheme::LeftRight => compare(tx, names)?,
    }
    Ok(())
}

/// The function that compares a left ciphertext with a right one: as `comity_ope::Ore::compare`, less than 0
/// if the left's value is the smaller one.
fn compare(tx: &mut impl GenericClient, names: &Names) -> Result<()> {
    const PGCRYPTO: &str = "select n.nspname::text from pg_catalog.pg_extension e join pg_catalog.pg_namespace n \
                            on n.oid = e.extnamespace where e.extname = 'pgcrypto'";
    if tx.query_opt(PGCRYPTO, &[])?.is_none() {
        // Trusted since PostgreSQL 13: the owner of a database may.
        tx.batch_execute("create extension pgcrypto")?;
    }
    let pgcrypto: String = tx.query_one(PGCRYPTO, &[])?.try_get(0)?;
    let key: String = TccrHash::KEY.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let word = |of: &str, at: &str| format!("('x' || encode(substring({of} from {at} for 8), 'hex'))::bit(64)::bigint");
    tx.batch_execute(&format!(
        "create or replace function {compare}(q bytea, r bytea) returns integer \
         language plpgsql immutable strict parallel safe set search_path = pg_catalog as {body}",
        compare = names.compare,
        body = literal(&format!(
            "declare
  n integer := length(q) / 17; p integer; d integer;
  r1 bigint := {r1}; r2 bigint := {r2};
  k1 bigint; k2 bigint; h1 bigint; h2 bigint; c bytea; low bigint := 4294967295;
begin
  if length(q) <> 17 * n or length(r) <> 16 + 64 * n then raise exception 'comity: these do not fit each other'; end if;
  for i in 0 .. n - 1 loop
    k1 := {q1} # r1; k2 := {q2} # r2; p := get_byte(q, 17 * i + 16);
    c := {pgcrypto}.encrypt(int8send(k1) || int8send(k2), '\\x{key}'::bytea, 'aes-ecb/pad:none');
    h1 := {c1} # k1; h2 := {c2} # k2;
    d := (((get_byte(r, 16 + 64 * i + p / 4) >> (2 * (p % 4))) & 3) + 3
      - ((h1 & low) + ((h1 >> 32) & low) + (h2 & low) + ((h2 >> 32) & low)) % 3) % 3;
    if d = 1 then return -1; elsif d = 2 then return 1; end if;
  end loop;
  return 0;
end",
            r1 = word("r", "1"),
            r2 = word("r", "9"),
            q1 = word("q", "17 * i + 1"),
            q2 = word("q", "17 * i + 9"),
            c1 = word("c", "1"),
            c2 = word("c", "9"),
            pgcrypto = quote(&pgcrypto),
        )),
    ))?;
    Ok(())
}

/// The state of the key's table, and the number of the secret that it is sealed under; `None` if there is no
/// state.
pub(crate) fn read_state(client: &mut impl GenericClient, names: &Names, key: &OpeKey) -> Result<Option<(State, u32)>> {
    read(client, &format!("select version, sealed, bound from {} where id = $1", names.state), key)
}

/// As [`read_state`], and nobody else writes until the transaction ends.
pub(crate) fn lock_state(client: &mut impl GenericClient, names: &Names, key: &OpeKey) -> Result<Option<(State, u32)>> {
    read(client, &format!("select version, sealed, bound from {} where id = $1 for update", names.state), key)
}

fn read(client: &mut impl GenericClient, sql: &str, key: &OpeKey) -> Result<Option<(State, u32)>> {
    let Some(row) = client.query_opt(sql, &[&&key.id[..]])? else { return Ok(None) };
    let (version, sealed): (i64, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
    let number = comity_ope::sealed_under(sealed).map_err(|_| Error::StateChanged)?;
    if !key.numbers().any(|known| known == number) {
        return Err(Error::WrongKey);
    }
    let bound: Vec<String> = row.try_get(2)?;
    let bytes = key.open(Purpose::State, &State::beside(&bound), sealed).map_err(|_| Error::StateChanged)?;
    let state = State { bound, ..State::from_bytes(&bytes)? };
    // The number outside is there for statements to compare.
    if state.version() != version as u64 { Err(Error::StateChanged) } else { Ok(Some((state, number))) }
}

/// The links of these versions, in this order; `None` if one is missing.
pub(crate) fn read_links(
    client: &mut impl GenericClient,
    names: &Names,
    key: &OpeKey,
    versions: &[u64],
) -> Result<Option<Vec<Link>>> {
    if versions.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let numbers: Vec<i64> = versions.iter().map(|version| *version as i64).collect();
    let sql = format!("select version, link from {} where id = $1 and version = any($2)", names.links);
    let mut links = BTreeMap::new();
    for row in client.query(&sql, &[&&key.id[..], &numbers])? {
        links.insert(row.try_get::<_, i64>(0)?, Link::from_bytes(row.try_get(1)?));
    }
    Ok(numbers.iter().map(|version| links.remove(version).flatten()).collect())
}

/// A link takes the place of one of the same version: that is of a copy that is not gone on with.
pub(crate) const OVER: &str = "on conflict (id, version) do update set link = excluded.link";

/// Writes a state over the one before, and the link between them.
pub(crate) fn write_state(
    client: &mut impl GenericClient,
    names: &Names,
    key: &OpeKey,
    number: u32,
    (state, link): (&State, &Link),
    rng: &mut impl CryptoRng,
) -> Result<()> {
    let sealed = seal_state(key, number, state, rng);
    let sql = format!(
        "with s as (update {} set version = $1, sealed = $2, bound = $5 where id = $3 returning 1) \
         insert into {} (id, version, link) select $3, $1, $4 from s {OVER}",
        names.state, names.links
    );
    client.execute(&sql, &[&(state.version() as i64), &sealed, &&key.id[..], &&link.to_bytes()[..], &state.bound])?;
    Ok(())
}

/// A state, sealed.
pub(crate) fn seal_state(key: &OpeKey, number: u32, state: &State, rng: &mut impl CryptoRng) -> Vec<u8> {
    let mut nonce = [0; 16];
    rng.fill_bytes(&mut nonce);
    let beside = State::beside(&state.bound);
    key.seal(number, Purpose::State, &beside, nonce, &state.to_bytes()).expect("a secret that is in use is in the key")
}
