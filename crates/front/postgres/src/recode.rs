//! What writes every row anew: an order for a column that had none, and a rotation of secrets; and what reads every row: checks.

use std::io::Write;
use std::path::Path;

use comity_ope::{Coin, Key, State, Value};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use rand_core::CryptoRng;

use crate::column::{Col, Order, hex};
use crate::name::{self, ROW};
use crate::schema::{lock_state, write_state};
use crate::table::{Contents, Loaded, Table};
use crate::work::{Work, fresh};
use crate::{Error, Result};

/// What a check of all rows found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Rows.
    pub rows: u64,
    /// Values in each encrypted column.
    pub values: Vec<(String, u64)>,
    /// The version that they are of.
    pub version: u64,
}

impl Work<'_, '_> {
    /// Gives an adjustable column its order: from now on the server has it, for ever.
    ///
    /// # Errors
    /// [`Error::Tampered`]; [`Error::Invalid`] if it has one; [`Error::Database`].
    pub fn order(&mut self, column: &str) -> Result<u64> {
        let at = self.table.column(column)?;
        if self.table.columns[at].is_ordered() {
            return Err(Error::invalid(format!("column `{column}` is ordered already")));
        }
        self.begin_change();
        let rows = self.rewrite(&[at], self.number)?;
        self.state.columns[at].ordered = true;
        self.broken = false;
        Ok(rows)
    }

    /// Seals everything under the current secret of the key, with new codes.
    pub(crate) fn reseal(&mut self, number: u32) -> Result<u64> {
        self.begin_change();
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        let rows = self.rewrite(&all, number)?;
        self.number = number;
        self.broken = false;
        Ok(rows)
    }

    /// Writes these columns of all rows anew; columns without an order get one only if they are alone.
    fn rewrite(&mut self, columns: &[usize], number: u32) -> Result<u64> {
        self.rewrites = true;
        let mut rows: Vec<u64> = Vec::new();
        let mut values: Vec<Vec<Option<Value>>> = vec![Vec::new(); columns.len()];
        let sql = format!(
            "select t.{ROW}{} from {} t where t.{ROW} is not null",
            self.table.encrypted(),
            self.table.names.table
        );
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        let mut found = transaction.query_raw(&sql, [] as [&(dyn ToSql + Sync); 0])?;
        while let Some(row) = found.next()? {
            let key = row.try_get::<_, i64>(0)? as u64;
            rows.push(key);
            for (values, at) in values.iter_mut().zip(columns) {
                values.push(self.table.columns[*at].open(key, row.try_get(2 + 2 * at)?)?.map(|opened| opened.0));
            }
        }
        drop(found);
        let mut texts: Vec<Vec<String>> = Vec::new();
        for (values, at) in values.iter().zip(columns) {
            texts.push(self.rewrite_column(*at, number, &rows, values, columns.len() == 1)?);
        }
        let cols = || columns.iter().map(|at| &self.table.columns[*at].def);
        let made: String =
            cols().enumerate().map(|(i, def)| format!(", o{i} {}, s{i} bytea", Col::sql_type(def))).collect();
        let sets = cols()
            .enumerate()
            .map(|(i, def)| format!("{} = n.o{i}, {} = n.s{i}", name::order(&def.name), name::sealed(&def.name)));
        let update = format!(
            "analyze pg_temp.comity_new; update {} t set {} from pg_temp.comity_new n where t.{ROW} = n.r; drop table pg_temp.comity_new",
            self.table.names.table,
            sets.collect::<Vec<_>>().join(", ")
        );
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        transaction.batch_execute(&format!("create temporary table comity_new (r bigint{made}) on commit drop"))?;
        let mut writer = transaction.copy_in("copy pg_temp.comity_new from stdin")?;
        for (i, row) in rows.iter().enumerate() {
            let line: String = texts.iter().map(|texts| texts[i].as_str()).collect();
            writeln!(writer, "{row}{line}").map_err(crate::work::copy_failed)?;
        }
        writer.finish()?;
        transaction.batch_execute(&update)?;
        Ok(rows.len() as u64)
    }

    /// The new codes and sealed values of a column, as text for COPY.
    fn rewrite_column(
        &mut self,
        at: usize,
        number: u32,
        rows: &[u64],
        values: &[Option<Value>],
        alone: bool,
    ) -> Result<Vec<String>> {
        let Table { key, columns, rng, .. } = &mut *self.table;
        let col = &mut columns[at];
        let ordered = alone || col.is_ordered();
        let new = key.column_key(number, &col.def.name).ok_or(Error::WrongKey)?;
        col.lose();
        col.key = new;
        col.order = if ordered { col.empty() } else { Order::None };
        let nonces: Vec<[u8; 16]> = rows.iter().map(|_| fresh(rng)).collect();
        let there: Vec<usize> = (0..rows.len()).filter(|i| values[*i].is_some()).collect();
        let mut codes = vec![None; rows.len()];
        if col.has_codes() {
            let pair = |i: &usize| (values[*i].as_ref().map_or(0, Value::order), col.key.coin(nonces[*i]));
            let pairs: Vec<(u128, Coin)> = there.iter().map(pair).collect();
            let bulk = col.insert_many(&pairs)?;
            there.iter().zip(bulk.codes).for_each(|(i, code)| codes[*i] = Some(code));
        }
        let mut sum = comity_ope::Sum::default();
        let texts = rows.iter().zip(values).enumerate().map(|(i, (row, value))| {
            let Some(value) = value else { return "\t\\N\t\\N".into() };
            let plain = col.def.ty.to_bytes(value);
            sum.add(col.key.term(*row, &plain));
            let mut text = String::from("\t");
            match (codes[i], &col.order) {
                (Some(code), _) => text.push_str(&col.text(code)),
                (None, Order::Ore(ore)) => hex(&ore.right(value.order(), fresh(rng)), &mut text),
                (None, _) => text.push_str("\\N"),
            }
            text.push('\t');
            hex(&col.key.seal(*row, nonces[i], &plain), &mut text);
            text
        });
        let texts = texts.collect();
        self.state.columns[at].sum = sum;
        self.state.columns[at].count = there.len() as u64;
        Ok(texts)
    }
}

impl Table {
    /// Seals everything under a new secret, with new codes. `keep` writes the key file; it is called before the database has anything under
    /// the new secret, and again when it has nothing under the old one, so that no crash leaves rows that no key opens.
    ///
    /// # Errors
    /// What `keep` returns; as [`Work::commit`].
    pub fn rotate(
        &mut self,
        client: &mut Client,
        rng: &mut impl CryptoRng,
        mut keep: impl FnMut(&Key) -> Result<()>,
    ) -> Result<u64> {
        self.refresh(client)?;
        // A secret that is there already is of a rotation that was cut short.
        if self.key.number() == self.number {
            self.key.begin_rotation(rng);
        }
        keep(&self.key)?;
        let number = self.key.number();
        let checked = self.check(client)?;
        let rows = self.transact(client, |work| work.reseal(number))?;
        debug_assert!(rows >= checked.rows);
        self.key.end_rotation(number);
        keep(&self.key)?;
        Ok(rows)
    }

    /// Reads all rows, and compares them with what the state says was written.
    ///
    /// # Errors
    /// [`Error::Tampered`], [`Error::Incomplete`], [`Error::Disordered`].
    pub fn check(&mut self, client: &mut Client) -> Result<Checked> {
        for _ in 0..crate::table::TRIES {
            self.refresh(client)?;
            let contents = self.contents(client, 0);
            if self.server_state(client)?.0.version != self.state.version {
                continue;
            }
            let contents = contents?;
            self.compare(&contents)?;
            return Ok(self.checked(&contents));
        }
        Err(Error::Busy)
    }

    fn checked(&self, contents: &Contents) -> Checked {
        let names = self.columns.iter().map(|column| column.def.name.clone());
        let values = names.zip(contents.sums.iter().map(|sum| sum.0)).collect();
        Checked { rows: contents.rows, values, version: self.state.version }
    }

    fn compare(&mut self, contents: &Contents) -> Result<()> {
        for ((column, state), (found, sum)) in self.columns.iter().zip(&self.state.columns).zip(&contents.sums) {
            if (*found, *sum) != (state.count, state.sum) {
                let (column, found, expected) = (column.def.name.clone(), *found, state.count);
                return Err(Error::Incomplete { column, found, expected });
            }
        }
        // Codes rise with values.
        for (column, pairs) in self.columns.iter_mut().zip(&contents.pairs) {
            if column.has_codes() {
                let mut read = Col::new(column.def.clone(), column.key.clone(), true);
                read.load(pairs.clone(), Default::default())?;
            }
        }
        Ok(())
    }

    /// Makes the dictionaries from the rows alone, whatever the cache says, and checks the rows. With `accept`, what is there
    /// is taken for right from now on, even if it is older than what this client has seen, or rows are missing.
    ///
    /// # Errors
    /// As [`check`](Table::check); [`Error::RolledBack`] without `accept`.
    pub fn rebuild(
        client: &mut Client,
        key: Key,
        cache: Option<&Path>,
        accept: bool,
        rng: &mut impl CryptoRng,
    ) -> Result<(Table, Checked)> {
        let mut table = Table::unread(client, key, cache, rng)?;
        if !accept {
            if let Some(cache) = table.cached() {
                (table.state.version, table.state.chain) = (cache.version, cache.chain);
            }
            let checked = table.check(client)?;
            return Ok((table, checked));
        }
        let seen = table.cached().map_or(0, |cache| cache.version);
        let mut transaction = client.transaction()?;
        let (state, number) = lock_state(&mut transaction, &table.names, &table.key)?.ok_or(Error::WrongKey)?;
        table.set_columns(&state, number)?;
        let contents = table.contents(&mut transaction, 0)?;
        let mut next = State { version: state.version.max(seen), ..state };
        let last = transaction.query_one(&format!("select max({ROW}) from {}", table.names.table), &[])?;
        next.next_row = next.next_row.max(last.try_get::<_, Option<i64>>(0)?.map_or(1, |last| last as u64 + 1));
        for (column, (count, sum)) in next.columns.iter_mut().zip(&contents.sums) {
            (column.count, column.sum) = (*count, *sum);
        }
        next.advance(true);
        for (column, pairs) in table.columns.iter_mut().zip(&contents.pairs) {
            column.load(pairs.clone(), Default::default())?;
        }
        write_state(&mut transaction, &table.names, &table.key, number, &next, &mut table.rng)?;
        transaction.commit()?;
        table.loaded = Some(Loaded { version: next.version, next_row: next.next_row });
        table.state = next;
        let checked = table.checked(&contents);
        Ok((table, checked))
    }

    /// What the server sees of a column, and what is in it: for each row its code, or its rank where there is none to see, and the number
    /// that its value is ordered by.
    ///
    /// # Errors
    /// As reading.
    pub fn codes(&mut self, client: &mut Client, column: &str) -> Result<Vec<(u128, u128)>> {
        self.refresh(client)?;
        let at = self.column(column)?;
        let contents = self.contents(client, 0)?;
        Ok(contents.pairs[at].iter().map(|((value, _), code)| (*code, *value)).collect())
    }
}
