//! What writes every row anew: an order for a column that had none, and a rotation of secrets; and what reads
//! every row: checks.

use std::io::Write;
use std::path::Path;

use comity_ope::{History, Nonces, OpeKey, RowTotal};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::column::Col;
use crate::copy::{Copy, Form};
use crate::error::{Error, Result};
use crate::name::{self, ROW};
use crate::schema::{lock_state, write_state};
use crate::table::{Contents, Loaded, Table};
use crate::work::Work;

/// Rows that are read and written anew at once.
const AT_ONCE: i32 = 256;

/// The findings of a check of all rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The number of rows that have a key.
    pub rows: u64,
    /// The number of rows without a key: another client wrote them, and they have no encrypted values.
    pub foreign: u64,
    /// The number of values in each encrypted column.
    pub values: Vec<(String, u64)>,
    /// The version that was checked.
    pub version: u64,
}

impl Work<'_, '_> {
    /// Gives an adjustable column its order. The server then knows the order for ever.
    ///
    /// # Errors
    /// [`Error::Tampered`]; [`Error::Invalid`] if the column has an order already; [`Error::Database`].
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
        let bound: Vec<usize> =
            (0..self.table.plain.len()).filter(|at| self.table.plain[*at].binding.is_some()).collect();
        self.tag_rows(&bound, number)?;
        self.number = number;
        self.broken = false;
        Ok(rows)
    }

    /// Writes these columns of all rows anew; columns without an order get one only if they are alone. Rows
    /// are read twice, some at a time: first all values get their codes, then each is sealed and sent.
    fn rewrite(&mut self, columns: &[usize], number: u32) -> Result<u64> {
        self.rewrites = true;
        let Table { key, columns: all, rng, .. } = &mut *self.table;
        // What is there is opened by what the columns were.
        let mut old = Vec::new();
        for at in columns {
            let col = &mut all[*at];
            let new = key.column_key(number, &col.def.name).ok_or(Error::WrongKey)?;
            let ordered = columns.len() == 1 || col.is_ordered();
            col.lose();
            old.push(std::mem::replace(col, Col::new(col.def.clone(), new, ordered)));
            col.lose();
        }
        let nonces = Nonces::new(rng);
        let terms = key.row_terms(number).ok_or(Error::WrongKey)?;
        self.place_again(columns, &old, &nonces)?;
        let defs = || old.iter().map(|col| &col.def);
        let made: String =
            defs().enumerate().map(|(i, def)| format!(", o{i} {}, s{i} bytea", Col::sql_type(def))).collect();
        let sets = defs()
            .enumerate()
            .map(|(i, def)| format!("{} = n.o{i}, {} = n.s{i}", name::order(&def.name), name::sealed(&def.name)));
        let sets = sets.collect::<Vec<_>>().join(", ");
        let select = self.sealed(&old);
        let Table { columns: all, rng, names, .. } = &mut *self.table;
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        transaction.batch_execute(&format!("create temporary table comity_new (r bigint{made}) on commit drop"))?;
        let statement = transaction.prepare(&select)?;
        let portal = transaction.bind(&statement, &[])?;
        let (mut rows, mut values) = (RowTotal::default(), vec![RowTotal::default(); columns.len()]);
        loop {
            let mut copy = Copy::new(Form::bare());
            let found = transaction.query_portal(&portal, AT_ONCE)?;
            if found.is_empty() {
                break;
            }
            for row in &found {
                let key = row.try_get::<_, i64>(0)? as u64;
                rows.add(terms.of(key));
                copy.row(1 + 2 * columns.len());
                copy.number(key as i64);
                for (i, at) in columns.iter().enumerate() {
                    let Some((value, _)) = old[i].open(key, row.try_get(1 + i)?)? else {
                        copy.null();
                        copy.null();
                        continue;
                    };
                    values[i].add(all[*at].write(
                        key,
                        nonces.of(key, *at, &old[i].def.ty.to_bytes(&value)),
                        &value,
                        rng,
                        &mut copy,
                    )?);
                }
                copy.end_row();
            }
            let mut writer = transaction.copy_in("copy pg_temp.comity_new from stdin (format binary)")?;
            writer.write_all(&copy.finish()).map_err(crate::work::copy_failed)?;
            writer.finish()?;
        }
        transaction.batch_execute(&format!(
            "analyze pg_temp.comity_new; update {} t set {sets} from pg_temp.comity_new n where t.{ROW} = n.r; \
             drop table pg_temp.comity_new",
            names.table,
        ))?;
        for (at, values) in columns.iter().zip(values) {
            self.state.columns[*at].values = values;
        }
        // The sum is under another secret then. Rows were checked before.
        if number != self.number {
            self.state.rows = rows;
        }
        Ok(rows.count)
    }

    /// Gives the values of all rows new codes, in columns that have any.
    fn place_again(&mut self, columns: &[usize], old: &[Col], nonces: &Nonces) -> Result<()> {
        let coded: Vec<usize> = (0..columns.len()).filter(|i| self.table.columns[columns[*i]].has_codes()).collect();
        if coded.is_empty() {
            return Ok(());
        }
        let mut pairs = vec![Zeroizing::new(Vec::new()); coded.len()];
        let select = self.sealed(old);
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        let mut found = transaction.query_raw(&select, [] as [&(dyn ToSql + Sync); 0])?;
        while let Some(row) = found.next()? {
            let key = row.try_get::<_, i64>(0)? as u64;
            for (i, pairs) in coded.iter().zip(&mut pairs) {
                if let Some((value, _)) = old[*i].open(key, row.try_get(1 + i)?)? {
                    let at = columns[*i];
                    let nonce = nonces.of(key, at, &old[*i].def.ty.to_bytes(&value));
                    pairs.push((value.order(), self.table.columns[at].coin(nonce)));
                }
            }
        }
        drop(found);
        for (i, pairs) in coded.iter().zip(pairs) {
            self.table.columns[columns[*i]].insert_many(&pairs)?;
        }
        Ok(())
    }

    /// A statement for the keys of all rows and their sealed parts of these columns.
    fn sealed(&self, columns: &[Col]) -> String {
        let sealed: String = columns.iter().map(|col| format!(", t.{}", name::sealed(&col.def.name))).collect();
        format!("select t.{ROW}{sealed} from {} t where t.{ROW} is not null", self.table.names.table)
    }
}

impl Table {
    /// Seals everything under a new secret, with new codes. `keep` must write the key file; it is called
    /// before the database has anything under the new secret, and again when it has nothing under the old
    /// one, so that after a crash the key opens all rows.
    ///
    /// # Errors
    /// The error that `keep` returns; as [`Work::commit`].
    pub fn rotate(
        &mut self,
        client: &mut Client,
        rng: &mut impl CryptoRng,
        mut keep: impl FnMut(&OpeKey) -> Result<()>,
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

    /// Reads all rows, and compares them with the state, which says what was written.
    ///
    /// # Errors
    /// [`Error::Tampered`], [`Error::Incomplete`], [`Error::Disordered`].
    pub fn check(&mut self, client: &mut Client) -> Result<Checked> {
        for _ in 0..crate::table::TRIES {
            self.refresh(client)?;
            let contents = self.contents(client, 0);
            if self.server_state(client)?.0.version() != self.state.version() {
                continue;
            }
            let mut contents = contents?;
            self.compare(&mut contents)?;
            return Ok(self.checked(&contents));
        }
        Err(Error::Busy)
    }

    fn checked(&self, contents: &Contents) -> Checked {
        let names = self.columns.iter().map(|column| column.def.name.clone());
        let values = names.zip(contents.values.iter().map(|values| values.count)).collect();
        Checked { rows: contents.rows.count, foreign: contents.foreign, values, version: self.state.version() }
    }

    fn compare(&mut self, contents: &mut Contents) -> Result<()> {
        for ((column, state), found) in self.columns.iter().zip(&self.state.columns).zip(&contents.values) {
            if *found != state.values {
                let (column, found, expected) = (column.def.name.clone(), found.count, state.values.count);
                return Err(Error::Incomplete { column, found, expected });
            }
        }
        if contents.rows != self.state.rows {
            return Err(Error::RowsChanged { found: contents.rows.count, expected: self.state.rows.count });
        }
        // Codes rise with values.
        for (column, pairs) in self.columns.iter_mut().zip(contents.pairs.drain(..)) {
            if column.has_codes() {
                let mut read = Col::new(column.def.clone(), column.key.clone(), true);
                read.load(pairs, Default::default())?;
            }
        }
        Ok(())
    }

    /// Rebuilds the dictionaries from the rows alone, without the cache, and checks the rows. With `accept`,
    /// the rows as they are count as right from now on, even if they are older than what this client has
    /// seen, or if some are missing.
    ///
    /// # Errors
    /// As [`check`](Table::check); [`Error::RolledBack`] without `accept`.
    pub fn rebuild(
        client: &mut Client,
        key: OpeKey,
        cache: Option<&Path>,
        accept: bool,
        rng: &mut impl CryptoRng,
    ) -> Result<(Table, Checked)> {
        let mut table = Table::unread(client, key, cache, rng)?;
        if !accept {
            if let Some(cache) = table.cached() {
                table.state.history = History::remembered(cache.version, cache.chain);
            }
            let checked = table.check(client)?;
            return Ok((table, checked));
        }
        let seen = table.cached().map_or(0, |cache| cache.version);
        let mut transaction = client.transaction()?;
        let (state, number) = lock_state(&mut transaction, &table.names, &table.key)?.ok_or(Error::WrongKey)?;
        table.set_columns(&state, number)?;
        let mut contents = table.contents(&mut transaction, 0)?;
        let mut next = state;
        if seen > next.version() {
            // What is there goes on under a greater number than any that was seen.
            next.history = History::remembered(seen, next.history.chain());
        }
        let last = transaction.query_one(&format!("select max({ROW}) from {}", table.names.table), &[])?;
        next.next_row = next.next_row.max(last.try_get::<_, Option<i64>>(0)?.map_or(1, |last| last as u64 + 1));
        for (column, values) in next.columns.iter_mut().zip(&contents.values) {
            column.values = *values;
        }
        next.rows = contents.rows;
        let link = next.advance(true);
        for (column, pairs) in table.columns.iter_mut().zip(contents.pairs.drain(..)) {
            column.load(pairs, Default::default())?;
        }
        write_state(&mut transaction, &table.names, &table.key, number, (&next, &link), &mut table.rng)?;
        transaction.commit()?;
        table.loaded = Some(Loaded { version: next.version(), next_row: next.next_row });
        table.state = next;
        let checked = table.checked(&contents);
        Ok((table, checked))
    }

    /// The server's view of a column, with the truth: for each row its code, or its rank if the server sees
    /// no codes, and the number that its value is ordered by.
    ///
    /// # Errors
    /// The errors of reading the table.
    pub fn codes(&mut self, client: &mut Client, column: &str) -> Result<Vec<(u128, u128)>> {
        self.refresh(client)?;
        let at = self.column(column)?;
        let contents = self.contents(client, 0)?;
        Ok(contents.pairs[at].iter().map(|((value, _), code)| (*code, *value)).collect())
    }
}
