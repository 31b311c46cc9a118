//! Many rows at once: each is read when its value gets a code, and again when it is sealed and sent, so that none but a few are in memory.

use std::borrow::Cow;

use comity_core::{Aes128, Backend, Block};
use comity_ope::{ColumnValue, State};
use rand_core::Rng;
use zeroize::Zeroizing;

use crate::column::fresh;
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

/// Rows that are read twice, in any order: first all values get their codes, then the rows are sealed and sent one by one.
pub trait Rows: Send {
    /// The number of rows.
    fn count(&self) -> usize;

    /// One of the rows. It is the same each time.
    ///
    /// # Errors
    /// The reason why the row cannot be had.
    fn row(&mut self, at: usize) -> Result<Cow<'_, NewRow>>;
}

impl Rows for &[NewRow] {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&mut self, at: usize) -> Result<Cow<'_, NewRow>> {
        Ok(Cow::Borrowed(&self[at]))
    }
}

/// Nonces of many rows, which are not kept but made again: encryptions of the row's number under a key that is used for nothing else.
pub(crate) struct Nonces(Aes128);

impl Nonces {
    pub(crate) fn new(rng: &mut impl Rng) -> Nonces {
        Nonces(Aes128::new(Backend::detect(), Block::new(fresh(rng))))
    }

    pub(crate) fn of(&self, row: u64, column: usize) -> [u8; 16] {
        let mut block = [Block::from_u128(u128::from(row) << 64 | column as u128)];
        self.0.encrypt(&mut block);
        block[0].to_bytes()
    }
}

impl Work<'_, '_> {
    /// Inserts many rows, all at once: they are spread out evenly among the codes, and come to the server in the order of a column's codes;
    /// where a column is left/right, in random order, since there the order in which rows are stored must say nothing.
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
        let order = self.place_all(&plan, rows, nonces)?;
        let copy = format!("copy {} ({}) from stdin", self.table.names.table, plan.columns());
        let transaction = self.transaction.as_mut().expect("it is there until it ends");
        let mut writer = transaction.copy_in(&copy)?;
        let (table, state) = (&mut *self.table, &mut self.state);
        let lines = Lines { plan: &plan, rows, nonces, table, state };
        // One thread seals while the other one sends.
        std::thread::scope(|scope| {
            let (chunks, sealed) = std::sync::mpsc::sync_channel::<String>(4);
            let sealing = scope.spawn(move || lines.write(&order, &chunks));
            let sent = sealed.into_iter().try_for_each(|chunk| writer.write_all(chunk.as_bytes()));
            let sealed = sealing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sealed.and(sent.map_err(copy_failed))
        })?;
        let written = writer.finish()?;
        self.broken = false;
        Ok(written)
    }

    /// Gives all rows their codes, column by column; returns the order in which they are to be stored.
    fn place_all(&mut self, plan: &Plan, rows: &mut dyn Rows, nonces: &Nonces) -> Result<Vec<usize>> {
        let coded = |at: &usize| self.table.columns[plan.secret[*at]].has_codes();
        let coded: Vec<usize> = (0..plan.secret.len()).filter(coded).collect();
        let mut pairs = vec![Zeroizing::new(Vec::new()); coded.len()];
        let first = coded.first() == Some(&0) && coded.len() == plan.secret.len();
        // In the order of the first column's codes; NULL has none, and comes first.
        let mut ranks = Zeroizing::new(Vec::new());
        for i in 0..rows.count() {
            // Whatever is wrong with a row is found before the first one is sent.
            let row = rows.row(i)?;
            if (row.plain.len(), row.secret.len()) != (plan.plain.len(), plan.secret.len()) {
                return Err(Error::invalid("a row has more or fewer values than there are columns"));
            }
            for (at, pairs) in coded.iter().zip(&mut pairs) {
                let col = &self.table.columns[plan.secret[*at]];
                pairs.extend(
                    row.secret[*at].as_ref().map(|value| (value.order(), col.key.coin(nonces.of(i as u64, *at)))),
                );
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
struct Lines<'a> {
    plan: &'a Plan,
    rows: &'a mut dyn Rows,
    nonces: &'a Nonces,
    table: &'a mut Table,
    state: &'a mut State,
}

/// Bytes that are sent at once.
pub(crate) const CHUNK: usize = 128 << 10;

impl Lines<'_> {
    /// Seals the rows in this order, and notes them in the state. Nobody listens any more if sending has failed.
    fn write(self, order: &[usize], chunks: &std::sync::mpsc::SyncSender<String>) -> Result<()> {
        let Lines { plan, rows, nonces, table, state } = self;
        let Table { columns, rng, .. } = table;
        let mut line = String::with_capacity(2 * CHUNK);
        for i in order {
            let (row, key) = (rows.row(*i)?, state.next_row);
            state.next_row += 1;
            line.push_str(&key.to_string());
            for value in &row.plain {
                line.push('\t');
                escape(value.as_deref(), &mut line);
            }
            for (at, column) in plan.secret.iter().enumerate() {
                let (col, nonce) = (&columns[*column], nonces.of(*i as u64, at));
                let Some(value) = &row.secret[at] else {
                    line.push_str("\t\\N\t\\N");
                    continue;
                };
                let state = &mut state.columns[*column];
                state.count += 1;
                state.sum.add(col.write(key, nonce, value, rng, &mut line)?);
            }
            line.push('\n');
            if line.len() >= CHUNK {
                let full = std::mem::replace(&mut line, String::with_capacity(2 * CHUNK));
                if chunks.send(full).is_err() {
                    return Ok(());
                }
            }
        }
        let _ = chunks.send(line);
        Ok(())
    }
}

/// A field in the text form of COPY.
fn escape(value: Option<&str>, line: &mut String) {
    let Some(value) = value else { return line.push_str("\\N") };
    for c in value.chars() {
        match c {
            '\\' => line.push_str("\\\\"),
            '\t' => line.push_str("\\t"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            c => line.push(c),
        }
    }
}
