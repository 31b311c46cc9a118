//! Many rows at once: each is read when its value gets a code, and again when it is sealed and sent, so that
//! none but a few are in memory.

use std::borrow::Cow;
use std::sync::mpsc::{SyncSender, sync_channel};

use comity_ope::{ColumnValue, Nonces, State};
use rand_core::Rng;
use zeroize::Zeroizing;

use crate::column::changed;
use crate::copy::{Copy, Form};
use crate::error::{Error, Result};
use crate::table::Table;
use crate::work::{Plan, Work, copy_failed};

/// A row for [`Work::insert_many`].
#[derive(Clone, Default)]
pub struct NewRow {
    /// Values of the plain columns, as text; `None` for NULL.
    pub plain: Vec<Option<String>>,
    /// Values of the encrypted columns.
    pub secret: Vec<Option<ColumnValue>>,
}

/// Rows that are read twice, in any order: first all values get their codes, then the rows are sealed and
/// sent one by one.
pub trait Rows: Send {
    /// The number of rows.
    fn count(&self) -> usize;

    /// Row number `at`. It is the same each time.
    ///
    /// # Errors
    /// The reason why the row cannot be read.
    fn row(&mut self, at: usize) -> Result<Cow<'_, NewRow>>;

    /// Announces the next rows. Rows in memory are then brought into the processor's cache all at once;
    /// otherwise each access would wait for memory in turn.
    fn bring_near(&mut self, _: &[usize]) {}
}

impl Rows for &[NewRow] {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&mut self, at: usize) -> Result<Cow<'_, NewRow>> {
        Ok(Cow::Borrowed(&self[at]))
    }

    fn bring_near(&mut self, rows: &[usize]) {
        // Something that depends on each part, and on no order among the rows.
        let first = |value: &Option<String>| value.as_ref().and_then(|text| text.as_bytes().first().copied());
        let parts = rows.iter().map(|at| {
            let NewRow { plain, secret } = &self[*at];
            let secret = secret.iter().filter(|value| value.is_some()).count();
            plain.iter().filter_map(first).map(usize::from).sum::<usize>() + secret
        });
        std::hint::black_box(parts.sum::<usize>());
    }
}

impl Work<'_, '_> {
    /// Inserts many rows at once. They are spread out evenly among the codes, and come to the server in the
    /// order of a column's codes; if a column is left/right, in random order, since then the order in which
    /// rows are stored must say nothing. They are sent in PostgreSQL's binary form, but as text if a plain
    /// column has a type that is not one of PostgreSQL's usual ones, or a value that only the server can
    /// read, such as `yesterday`.
    ///
    /// # Errors
    /// As [`insert`](Work::insert).
    pub fn insert_many(&mut self, plain: &[&str], secret: &[&str], rows: &[NewRow]) -> Result<u64> {
        let nonces = Nonces::new(&mut self.table.rng);
        self.insert_rows(plain, secret, &mut &*rows, &nonces)
    }

    pub(crate) fn insert_rows(
        &mut self,
        plain: &[&str],
        secret: &[&str],
        rows: &mut dyn Rows,
        nonces: &Nonces,
    ) -> Result<u64> {
        use std::io::Write;
        let plan = Plan::new(self.table, plain.iter().copied(), secret.iter().copied())?;
        self.begin_change();
        let types = plan.plain.iter().map(|at| self.table.plain[*at].own.clone());
        let mut form = Form::of(types);
        let order = self.place_all(&plan, &mut form, rows, nonces)?;
        let copy = format!("copy {} ({}) from stdin{}", self.table.names.table, plan.columns(), form.options());
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        let mut writer = transaction.copy_in(&copy)?;
        let (table, state) = (&mut *self.table, &mut self.state);
        let sealing = Sealing { plan: &plan, form: &form, rows, nonces, table, state };
        // One thread seals while the other one sends.
        std::thread::scope(|scope| {
            let (chunks, sealed) = sync_channel(4);
            let sealing = scope.spawn(move || sealing.write(&order, &chunks));
            let sent = sealed.into_iter().try_for_each(|chunk| writer.write_all(&chunk));
            let sealed = sealing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sealed.and(sent.map_err(copy_failed))
        })?;
        let written = writer.finish()?;
        self.broken = false;
        Ok(written)
    }

    /// Gives all rows their codes, column by column; returns the order in which they are to be stored.
    fn place_all(&mut self, plan: &Plan, form: &mut Form, rows: &mut dyn Rows, nonces: &Nonces) -> Result<Vec<usize>> {
        let coded = |at: &usize| self.table.columns[plan.secret[*at]].has_codes();
        let coded: Vec<usize> = (0..plan.secret.len()).filter(coded).collect();
        let mut pairs = vec![Zeroizing::new(Vec::new()); coded.len()];
        let first = coded.first() == Some(&0) && coded.len() == plan.secret.len();
        // In the order of the first column's codes; NULL has none, and comes first.
        let (mut ranks, mut room) = (Zeroizing::new(Vec::new()), Vec::new());
        for i in 0..rows.count() {
            // Whatever is wrong with a row is found before the first one is sent.
            let row = rows.row(i)?;
            if (row.plain.len(), row.secret.len()) != (plan.plain.len(), plan.secret.len()) {
                return Err(Error::invalid("a row has more or fewer values than there are columns"));
            }
            for at in &plan.bound {
                let column = &self.table.plain[plan.plain[*at]];
                row.plain[*at].as_deref().map(|text| column.bytes(text)).transpose()?;
            }
            form.fit(&row.plain, &mut room);
            for (at, pairs) in coded.iter().zip(&mut pairs) {
                let col = &self.table.columns[plan.secret[*at]];
                let nonce = |value: &ColumnValue| nonces.of(i as u64, *at, &col.def.ty.to_bytes(value));
                let placed = |value: &ColumnValue| (value.order(), col.coin(nonce(value)));
                pairs.extend(row.secret[*at].as_ref().map(placed));
            }
            if first {
                ranks.push((row.secret[0].as_ref().and(pairs[0].last().copied()), i));
            }
        }
        for (at, pairs) in coded.iter().zip(pairs) {
            let column = plan.secret[*at];
            let moves = self.table.columns[column].insert_many(&pairs)?.moves;
            self.move_codes(column, &moves)?;
        }
        if first {
            ranks.sort_unstable();
            return Ok(ranks.iter().map(|rank| rank.1).collect());
        }
        let mut order: Vec<usize> = (0..rows.count()).collect();
        if coded.len() < plan.secret.len() {
            for i in (1..order.len()).rev() {
                let below = u128::from(self.table.rng.next_u64()) * (i as u128 + 1);
                order.swap(i, (below >> 64) as usize);
            }
        }
        Ok(order)
    }
}

/// The input of COPY: rows that have their codes, still to be sealed.
struct Sealing<'a> {
    plan: &'a Plan,
    form: &'a Form,
    rows: &'a mut dyn Rows,
    nonces: &'a Nonces,
    table: &'a mut Table,
    state: &'a mut State,
}

/// Rows that are brought near at once.
const NEAR: usize = 32;

impl Sealing<'_> {
    /// Seals the rows in this order, and notes them in the state. Nobody listens any more if sending has failed.
    fn write(self, order: &[usize], chunks: &SyncSender<Vec<u8>>) -> Result<()> {
        let Sealing { plan, form, rows, nonces, table, state } = self;
        let terms = table.row_terms()?;
        let Table { columns, rng, plain, .. } = table;
        let mut copy = Copy::new(form);
        for near in order.chunks(NEAR) {
            rows.bring_near(near);
            for i in near {
                let (row, key) = (rows.row(*i)?, state.next_row);
                state.next_row += 1;
                state.rows.add(terms.of(key));
                copy.row(1 + plan.plain.len() + 2 * plan.secret.len() + plan.bound.len());
                copy.number(key as i64);
                copy.plain(&row.plain).ok_or_else(changed)?;
                for (at, column) in plan.secret.iter().enumerate() {
                    let Some(value) = &row.secret[at] else {
                        copy.null();
                        copy.null();
                        continue;
                    };
                    let col = &columns[*column];
                    let nonce = nonces.of(*i as u64, at, &col.def.ty.to_bytes(value));
                    state.columns[*column].values.add(col.write(key, nonce, value, rng, &mut copy)?);
                }
                for at in &plan.bound {
                    let column = &plain[plan.plain[*at]];
                    let value = row.plain[*at].as_deref().map(|text| column.bytes(text)).transpose()?;
                    let binding = column.binding.as_ref().ok_or(Error::WrongKey)?;
                    copy.bytes(|bytes| bytes.extend_from_slice(&binding.tag(key, value.as_deref())));
                }
                copy.end_row();
                if let Some(chunk) = copy.chunk()
                    && chunks.send(chunk).is_err()
                {
                    return Ok(());
                }
            }
        }
        let _ = chunks.send(copy.finish());
        Ok(())
    }
}
