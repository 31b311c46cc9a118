//! [`Work`]: what one transaction does to a table.

use std::collections::BTreeMap;

use comity_ope::{ColumnValue, State};
use postgres::Transaction;
use postgres::types::ToSql;

use crate::column::{Col, Order, Param, fresh};
use crate::copy::{Copy, Form};
use crate::error::{Error, Result};
use crate::name::{self, ROW, quote};
use crate::schema::{OVER, lock_state, write_state};
use crate::table::{Loaded, Table};

/// A value for a column; `None` for NULL.
pub type Field<'a> = Option<&'a ColumnValue>;

/// A transaction on a table. Dropped, it is rolled back, and the table is as before.
pub struct Work<'t, 'c> {
    pub(crate) table: &'t mut Table,
    pub(crate) transaction: Option<Transaction<'c>>,
    /// The state that a commit writes.
    pub(crate) state: State,
    /// The secret that a commit leaves in use.
    pub(crate) number: u32,
    pub(crate) changed: bool,
    /// Whether rows that were there are changed.
    pub(crate) rewrites: bool,
    /// Whether an operation failed half-way.
    pub(crate) broken: bool,
}

/// The parts of a row in one encrypted column, to be written.
pub(crate) struct Cell {
    pub(crate) order: Param,
    pub(crate) sealed: Option<Vec<u8>>,
}

impl<'t, 'c> Work<'t, 'c> {
    pub(crate) fn begin(table: &'t mut Table, mut transaction: Transaction<'c>) -> Result<Work<'t, 'c>> {
        let (state, number) = lock_state(&mut transaction, &table.names, &table.key)?.ok_or(Error::WrongKey)?;
        if !table.follow(&mut transaction, state, number)? {
            return Err(Error::Busy);
        }
        let state = table.state.clone();
        Ok(Work {
            number: table.number,
            table,
            transaction: Some(transaction),
            state,
            changed: false,
            rewrites: false,
            broken: false,
        })
    }

    /// The transaction, for statements of the caller's own.
    pub fn transaction(&mut self) -> &mut Transaction<'c> {
        self.transaction.as_mut().expect("it is there until it ends")
    }

    /// Commits.
    ///
    /// # Errors
    /// [`Error::Database`]. If the connection was lost, the next statement shows whether it was committed.
    pub fn commit(mut self) -> Result<()> {
        if self.broken {
            return Err(Error::invalid("an operation of this transaction failed: it is rolled back"));
        }
        if self.changed {
            let link = self.state.advance(self.rewrites);
            let Table { names, key, rng, .. } = &mut *self.table;
            let transaction = self.transaction.as_mut().expect("it is there until it ends");
            write_state(transaction, names, key, self.number, (&self.state, &link), rng)?;
        }
        self.transaction.take().expect("it is there until it ends").commit()?;
        if self.changed {
            self.table.columns.iter_mut().for_each(Col::commit);
            self.table.number = self.number;
            let loaded = Loaded { version: self.state.version(), next_row: self.state.next_row };
            self.table.loaded = self.table.loaded.map(|_| loaded);
            self.table.state = self.state.clone();
            self.changed = false;
        }
        Ok(())
    }

    /// Rolls back.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn rollback(mut self) -> Result<()> {
        Ok(self.transaction.take().expect("it is there until it ends").rollback()?)
    }

    /// Inserts a row; returns its key.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown column, or a value of another type; [`Error::Ope`] if codes are used
    /// up; [`Error::Database`].
    pub fn insert(&mut self, plain: &[(&str, &(dyn ToSql + Sync))], secret: &[(&str, Field<'_>)]) -> Result<u64> {
        let plan = Plan::new(self.table, plain.iter().map(|p| p.0), secret.iter().map(|s| s.0))?;
        let plain: Vec<_> = plain.iter().map(|p| p.1).collect();
        let secret: Vec<Field<'_>> = secret.iter().map(|s| s.1).collect();
        self.insert_planned(&plan, &plain, &secret, &mut BTreeMap::new())
    }

    pub(crate) fn insert_planned(
        &mut self,
        plan: &Plan,
        plain: &[&(dyn ToSql + Sync)],
        secret: &[Field<'_>],
        nonces: &mut BTreeMap<usize, [u8; 16]>,
    ) -> Result<u64> {
        self.begin_change();
        let row = self.state.next_row;
        let (cells, moves) = self.table.place(&mut self.state, plan, row, secret, nonces)?;
        self.state.rows.add(self.table.row_terms()?.of(row));
        for (column, moves) in moves {
            self.move_codes(column, &moves)?;
        }
        let key = row as i64;
        let tags = self.table.tags(row, &plan.plain, &plan.bound, plain)?;
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&key];
        params.extend(plain);
        push_cells(&mut params, &cells);
        params.extend(tags.iter().map(|tag| tag as &(dyn ToSql + Sync)));
        let sql = plan.insert(&self.table.names.table, &plan.values(1));
        self.transaction().execute(&sql, &params)?;
        self.broken = false;
        Ok(row)
    }

    /// Changes a value of a row.
    ///
    /// # Errors
    /// [`Error::Tampered`] if the old value is not what was written; [`Error::Invalid`] if there is no such
    /// row; as [`insert`](Work::insert).
    pub fn update(&mut self, row: u64, column: &str, value: Field<'_>) -> Result<()> {
        let at = self.table.column(column)?;
        self.take(row, &[at])?;
        let plan = Plan { plain: Vec::new(), secret: vec![at], bound: Vec::new(), names: Vec::new() };
        let (mut cells, moves) = self.table.place(&mut self.state, &plan, row, &[value], &mut BTreeMap::new())?;
        for (column, moves) in moves {
            self.move_codes(column, &moves)?;
        }
        let Cell { order, sealed } = cells.remove(0);
        let sql = format!(
            "update {} set {} = $2, {} = $3 where {ROW} = $1",
            self.table.names.table,
            name::order(column),
            name::sealed(column)
        );
        self.transaction().execute(&sql, &[&(row as i64), &*order, &sealed])?;
        self.broken = false;
        Ok(())
    }

    /// Changes a value of a row in a column that is not encrypted, given as text.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such row or column, or if the column is bound and the text is not
    /// the form in which PostgreSQL stores the value; [`Error::Database`].
    pub fn update_plain(&mut self, row: u64, column: &str, value: Option<&str>) -> Result<()> {
        let found = self.table.plain.iter().find(|known| known.name == column);
        let found = found.ok_or_else(|| self.table.no_column(column))?;
        let (ty, key) = (&found.ty, row as i64);
        let mut sql = format!("update {} set {} = $2::text::{ty}", self.table.names.table, quote(column));
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&key, &value];
        let tag;
        if let Some(binding) = &found.binding {
            tag = binding.tag(row, value.map(|text| found.bytes(text)).transpose()?.as_deref()).to_vec();
            sql += &format!(", {} = $3", name::bound(column));
            params.push(&tag);
        }
        sql += &format!(" where {ROW} = $1");
        match self.transaction().execute(&sql, &params)? {
            0 => Err(Error::invalid(format!("there is no row {row}"))),
            _ => Ok(()),
        }
    }

    /// Deletes a row.
    ///
    /// # Errors
    /// As [`update`](Work::update).
    pub fn delete(&mut self, row: u64) -> Result<()> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        self.take(row, &all)?;
        let term = self.table.row_terms()?.of(row);
        self.state.rows.subtract(term).ok_or(Error::StateChanged)?;
        let sql = format!("delete from {} where {ROW} = $1", self.table.names.table);
        self.transaction().execute(&sql, &[&(row as i64)])?;
        self.broken = false;
        Ok(())
    }

    /// Begins a change: work in which it fails half-way cannot be committed.
    pub(crate) fn begin_change(&mut self) {
        (self.changed, self.broken) = (true, true);
    }

    /// Takes a row's values out of the state and the dictionaries.
    fn take(&mut self, row: u64, columns: &[usize]) -> Result<()> {
        let sql = format!(
            "select 0{} from {} t where t.{ROW} = $1 for update",
            self.table.encrypted(),
            self.table.names.table
        );
        let found = self.transaction().query_opt(&sql, &[&(row as i64)])?;
        let found = found.ok_or_else(|| Error::invalid(format!("there is no row {row}")))?;
        self.begin_change();
        self.rewrites = true;
        for at in columns {
            let column = &mut self.table.columns[*at];
            let Some((value, coin)) = column.open(row, found.try_get(2 + 2 * at)?)? else { continue };
            if column.has_codes() && column.read(&found, 1 + 2 * at)? != column.code(value.order(), coin) {
                return Err(column.tampered(row));
            }
            let term = column.key.term(row, &column.def.ty.to_bytes(&value));
            self.state.columns[*at].values.subtract(term).ok_or_else(|| column.tampered(row))?;
            column.forget(value.order(), coin);
        }
        Ok(())
    }

    /// Spreads the codes of a column out evenly; returns how many changed.
    ///
    /// # Errors
    /// As [`insert`](Work::insert).
    pub fn rebalance(&mut self, column: &str) -> Result<usize> {
        let at = self.table.column(column)?;
        if !self.table.columns[at].has_codes() {
            return Err(Error::invalid(format!("column `{column}` has no codes: there is nothing to rebalance")));
        }
        self.begin_change();
        let moves = self.table.columns[at].rebalance()?;
        self.move_codes(at, &moves)?;
        self.broken = false;
        Ok(moves.len())
    }

    /// Replaces codes, all in one statement.
    pub(crate) fn move_codes(&mut self, column: usize, moves: &[(u128, u128)]) -> Result<()> {
        use std::io::Write;
        if moves.is_empty() {
            return Ok(());
        }
        self.rewrites = true;
        let col = &self.table.columns[column];
        let (order, table, ty) = (name::order(&col.def.name), &self.table.names.table, Col::sql_type(&col.def));
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        transaction
            .batch_execute(&format!("create temporary table comity_moves (old {ty}, new {ty}) on commit drop"))?;
        let mut writer = transaction.copy_in("copy pg_temp.comity_moves from stdin (format binary)")?;
        let mut copy = Copy::new(Form::bare());
        for (old, new) in moves {
            copy.row(2);
            col.put_code(*old, &mut copy);
            col.put_code(*new, &mut copy);
            copy.end_row();
            if let Some(chunk) = copy.chunk() {
                writer.write_all(&chunk).map_err(copy_failed)?;
            }
        }
        writer.write_all(&copy.finish()).map_err(copy_failed)?;
        writer.finish()?;
        transaction.batch_execute(&format!(
            "analyze pg_temp.comity_moves; \
             update {table} t set {order} = m.new from pg_temp.comity_moves m where t.{order} = m.old; \
             drop table pg_temp.comity_moves"
        ))?;
        Ok(())
    }
}

impl Drop for Work<'_, '_> {
    fn drop(&mut self) {
        if !self.changed {
            return;
        }
        self.table.undo();
    }
}

/// The columns of a row that are written.
pub(crate) struct Plan {
    pub(crate) plain: Vec<usize>,
    pub(crate) secret: Vec<usize>,
    /// Which of the plain ones are bound: their tags come last.
    pub(crate) bound: Vec<usize>,
    /// The names of all columns that are written, with their types, behind the row's key.
    names: Vec<(String, String)>,
}

impl Plan {
    pub(crate) fn new<'a>(
        table: &Table,
        plain: impl Iterator<Item = &'a str>,
        secret: impl Iterator<Item = &'a str>,
    ) -> Result<Plan> {
        let mut plan = Plan { plain: Vec::new(), secret: Vec::new(), bound: Vec::new(), names: Vec::new() };
        for column in plain {
            let at = table.plain.iter().position(|known| known.name == column);
            let at = at.ok_or_else(|| table.no_column(column))?;
            plan.plain.push(at);
            plan.names.push((quote(column), table.plain[at].ty.clone()));
        }
        for column in secret {
            let at = table.column(column)?;
            plan.secret.push(at);
            plan.names.push((name::order(column), Col::sql_type(&table.columns[at].def).into()));
            plan.names.push((name::sealed(column), "bytea".into()));
        }
        for column in table.bound_columns() {
            let said = plan.plain.iter().position(|at| table.plain[*at].name == column);
            plan.bound.push(said.ok_or_else(|| {
                Error::invalid(format!(
                    "column `{column}` is bound to its row: a new row must name it, with a value or NULL"
                ))
            })?);
            plan.names.push((name::bound(column), "bytea".into()));
        }
        let distinct: std::collections::BTreeSet<_> = plan.names.iter().map(|name| &name.0).collect();
        if distinct.len() != plan.names.len() {
            return Err(Error::invalid("a column is named twice"));
        }
        Ok(plan)
    }

    /// The names of all columns that are written.
    pub(crate) fn columns(&self) -> String {
        let names: Vec<&str> = [ROW].into_iter().chain(self.names.iter().map(|name| name.0.as_str())).collect();
        names.join(", ")
    }

    /// Parameters for the columns, from this number on.
    fn params(&self, first: usize) -> String {
        let types = ["bigint"].into_iter().chain(self.names.iter().map(|name| name.1.as_str()));
        let params: Vec<String> = types.enumerate().map(|(i, ty)| format!("${}::{ty}", first + i)).collect();
        params.join(", ")
    }

    fn values(&self, first: usize) -> String {
        format!("values ({})", self.params(first))
    }

    /// A statement that inserts where the version is still the one before: `$1` the next version, `$2` its
    /// state, `$3` the table's id and `$4` the version before, and `$5` the link between them.
    pub(crate) fn insert_at_version(&self, table: &Table) -> String {
        let insert = self.insert(&table.names.table, &format!("select {} from s", self.params(6)));
        let (state, links) = (&table.names.state, &table.names.links);
        format!(
            "with s as (update {state} set version = $1, sealed = $2 where id = $3 and version = $4 returning 1), \
             l as (insert into {links} (id, version, link) select $3, $1, $5 from s {OVER}) {insert}"
        )
    }

    fn insert(&self, table: &str, source: &str) -> String {
        format!("insert into {table} ({}) {source}", self.columns())
    }
}

pub(crate) fn push_cells<'a>(params: &mut Vec<&'a (dyn ToSql + Sync)>, cells: &'a [Cell]) {
    for cell in cells {
        params.push(&*cell.order);
        params.push(&cell.sealed);
    }
}

/// The codes that have to change, for each column.
pub(crate) type Moves = Vec<(usize, Vec<(u128, u128)>)>;

impl Table {
    /// Begins work in a transaction of the caller's, which may have done other things and may do more. It
    /// must not be a nested one, since a rollback of the outer one is not noticed here. Nobody else can write
    /// to the table until it ends.
    ///
    /// # Errors
    /// [`Error::RolledBack`]; [`Error::Database`], for instance a serialization failure, after which the
    /// whole transaction must be tried again.
    pub fn work<'t, 'c>(&'t mut self, transaction: Transaction<'c>) -> Result<Work<'t, 'c>> {
        Work::begin(self, transaction)
    }

    /// Places a row in the dictionaries and in a state. `nonces` are those of an earlier try, which keeps its
    /// coins; new ones are added.
    pub(crate) fn place(
        &mut self,
        state: &mut State,
        plan: &Plan,
        row: u64,
        values: &[Field<'_>],
        nonces: &mut BTreeMap<usize, [u8; 16]>,
    ) -> Result<(Vec<Cell>, Moves)> {
        let (mut cells, mut moves) = (Vec::new(), Vec::new());
        for (column, value) in plan.secret.iter().zip(values) {
            let col = &mut self.columns[*column];
            let Some(value) = value else {
                cells.push(Cell { order: col.null(), sealed: None });
                continue;
            };
            let plain = col.def.ty.to_bytes(value);
            if !col.def.ty.from_bytes(&plain).is_ok_and(|again| again == **value) {
                return Err(Error::invalid(format!("the value for `{}` is of another type", col.def.name)));
            }
            let nonce = nonces.entry(*column).or_insert_with(|| fresh(&mut self.rng));
            let order: Param = match &col.order {
                Order::None => col.null(),
                Order::Ore(ore) => Box::new(Some(ore.right(value.order(), fresh(&mut self.rng)))),
                Order::Ideal(_) | Order::Hiding(_) => {
                    let (code, moved) = loop {
                        match col.insert(value.order(), col.coin(*nonce)) {
                            Err(error) if Col::is_coin(&error) => *nonce = fresh(&mut self.rng),
                            placed => break placed?,
                        }
                    };
                    if !moved.is_empty() {
                        moves.push((*column, moved));
                    }
                    col.param(code)
                }
            };
            state.columns[*column].values.add(col.key.term(row, &plain));
            cells.push(Cell { order, sealed: Some(col.key.seal(row, *nonce, &plain)) });
        }
        state.next_row = state.next_row.max(row + 1);
        Ok((cells, moves))
    }
}

pub(crate) fn copy_failed(source: std::io::Error) -> Error {
    match source.downcast::<postgres::Error>() {
        Ok(error) => error.into(),
        Err(source) => Error::File { path: "COPY".into(), source },
    }
}
