//! [`Writer`]: rows one by one, each in one statement that is a transaction of its own.

use std::collections::BTreeMap;

use comity_ope::{Link, Nonces, State};
use postgres::types::ToSql;
use postgres::{Client, Statement};

use crate::bulk::Rows;
use crate::error::{Error, Result};
use crate::schema::seal_state;
use crate::table::{Loaded, TRIES, Table};
use crate::work::{Cell, Field, Plan, Work, push_cells};

/// Inserts rows with values for the same columns.
pub struct Writer<'a> {
    client: &'a mut Client,
    table: &'a mut Table,
    plan: Plan,
    statement: Statement,
}

impl Table {
    /// Prepares to insert rows with values for these columns.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown column; [`Error::Database`].
    pub fn writer<'a>(&'a mut self, client: &'a mut Client, plain: &[&str], secret: &[&str]) -> Result<Writer<'a>> {
        self.refresh(client)?;
        let plan = Plan::new(self, plain.iter().copied(), secret.iter().copied())?;
        let statement = client.prepare(&plan.insert_at_version(self))?;
        Ok(Writer { client, table: self, plan, statement })
    }

    /// Inserts one row, in one statement and a transaction of its own; returns its key.
    ///
    /// # Errors
    /// As [`Writer::insert`].
    pub fn insert(
        &mut self,
        client: &mut Client,
        plain: &[(&str, &(dyn ToSql + Sync))],
        secret: &[(&str, Field<'_>)],
    ) -> Result<u64> {
        let (plain_names, plain): (Vec<&str>, Vec<_>) = plain.iter().copied().unzip();
        let (secret_names, secret): (Vec<&str>, Vec<_>) = secret.iter().copied().unzip();
        self.writer(client, &plain_names, &secret_names)?.insert(&plain, &secret)
    }

    /// Inserts many rows, in a transaction of their own, as [`Work::insert_many`]; a repeated try uses the
    /// same coins. Besides the dictionaries it keeps a number for each row in memory.
    ///
    /// # Errors
    /// As [`Work::insert_many`]; the error that `rows` returns.
    pub fn load(&mut self, client: &mut Client, plain: &[&str], secret: &[&str], rows: &mut dyn Rows) -> Result<u64> {
        let nonces = Nonces::new(&mut self.rng);
        self.transact(client, |work| work.insert_rows(plain, secret, rows, &nonces))
    }

    /// Does work in a transaction of its own, and tries again if other clients wrote first.
    ///
    /// # Errors
    /// The error that the work returns; [`Error::Busy`].
    pub fn transact<T>(
        &mut self,
        client: &mut Client,
        mut work: impl FnMut(&mut Work<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        for _ in 0..TRIES {
            let transaction = client.transaction()?;
            let done = self.work(transaction).and_then(|mut at_work| {
                let result = work(&mut at_work)?;
                at_work.commit().map(|()| result)
            });
            match done {
                Err(error) if error.is_transient() || matches!(error, Error::Busy) => (),
                done => return done,
            }
        }
        Err(Error::Busy)
    }
}

impl Writer<'_> {
    /// Inserts a row; returns its key. A row for which codes have to move goes through a transaction of
    /// several statements.
    ///
    /// # Errors
    /// As [`Work::insert`].
    pub fn insert(&mut self, plain: &[&(dyn ToSql + Sync)], secret: &[Field<'_>]) -> Result<u64> {
        // A try that failed was seen by the server: the next one keeps its coins.
        let mut nonces = BTreeMap::new();
        for _ in 0..TRIES {
            if self.table.loaded.is_none() {
                self.table.refresh(self.client)?;
            }
            if self.plan.bound.len() != self.table.bound().count() {
                return Err(Error::invalid("columns were bound since this writer was made: make a new writer"));
            }
            let mut state = self.table.state.clone();
            let row = state.next_row;
            let placed = self.table.place(&mut state, &self.plan, row, secret, &mut nonces);
            let (cells, moves) = match placed {
                Ok(placed) => placed,
                Err(error) => {
                    self.table.undo();
                    return Err(error);
                }
            };
            if !moves.is_empty() {
                self.table.undo();
                return self.insert_moving(plain, secret, &mut nonces);
            }
            state.rows.add(self.table.row_terms()?.of(row));
            let link = state.advance(false);
            let tags = match self.table.tags(row, &self.plan.plain, &self.plan.bound, plain) {
                Ok(tags) => tags,
                Err(error) => {
                    self.table.undo();
                    return Err(error);
                }
            };
            match self.execute(row, plain, (&cells, &tags), (&state, &link)) {
                Ok(1) => {
                    self.table.columns.iter_mut().for_each(crate::column::Col::commit);
                    self.table.loaded = Some(Loaded { version: state.version(), next_row: state.next_row });
                    self.table.state = state;
                    return Ok(row);
                }
                // The version is another one by now.
                Ok(_) => self.table.undo(),
                Err(error) => {
                    self.table.undo();
                    if !error.is_transient() {
                        return Err(error);
                    }
                }
            }
            self.table.refresh(self.client)?;
        }
        Err(Error::Busy)
    }

    fn execute(
        &mut self,
        row: u64,
        plain: &[&(dyn ToSql + Sync)],
        (cells, tags): (&[Cell], &[Vec<u8>]),
        (state, link): (&State, &Link),
    ) -> Result<u64> {
        let Table { key, number, rng, state: before, .. } = &mut *self.table;
        let sealed = seal_state(key, *number, state, rng);
        let (id, versions, row) = (&key.id[..], [state.version() as i64, before.version() as i64], row as i64);
        let link = &link.to_bytes()[..];
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&versions[0], &sealed, &id, &versions[1], &link, &row];
        params.extend(plain);
        push_cells(&mut params, cells);
        params.extend(tags.iter().map(|tag| tag as &(dyn ToSql + Sync)));
        if params.len() != self.statement.params().len() {
            return Err(Error::invalid("the row has more or fewer values than there are columns"));
        }
        Ok(self.client.execute(&self.statement, &params)?)
    }

    fn insert_moving(
        &mut self,
        plain: &[&(dyn ToSql + Sync)],
        secret: &[Field<'_>],
        nonces: &mut BTreeMap<usize, [u8; 16]>,
    ) -> Result<u64> {
        let plan = &self.plan;
        self.table.transact(self.client, |work| work.insert_planned(plan, plain, secret, nonces))
    }
}
