//! Answers: a query becomes one statement, and every row of its answer is opened and checked.

use std::cmp::Ordering;

use comity_ope::{ColumnType, ColumnValue};
use postgres::GenericClient;
use postgres::types::ToSql;

use crate::column::{Order, Param};
use crate::error::{Error, Result};
use crate::name::{self, ROW, quote};
use crate::query::{Condition, Operator, Query};
use crate::table::{PlainColumn, TRIES, Table, is_null};

/// A row of an answer.
#[derive(Clone)]
pub struct Row {
    /// The row's key; `None` for a row that this program did not write.
    pub key: Option<u64>,
    /// The plain columns, as text.
    pub plain: Vec<Option<String>>,
    /// The encrypted columns.
    pub secret: Vec<Option<ColumnValue>>,
}

/// A range of values, from one to another, both included.
struct Range {
    column: usize,
    low: Option<ColumnValue>,
    high: Option<ColumnValue>,
    /// Whether the ends themselves are in the range.
    open: [bool; 2],
}

impl Range {
    fn holds(&self, value: &ColumnValue) -> bool {
        let above = self.low.as_ref().is_none_or(|low| if self.open[0] { value > low } else { value >= low });
        let below = self.high.as_ref().is_none_or(|high| if self.open[1] { value < high } else { value <= high });
        above && below
    }

    /// The least and the greatest number that values in the range can have; `None` if no value is in the
    /// range.
    fn numbers(&self, ty: ColumnType) -> Option<(u128, u128)> {
        let (least, greatest) = ty.ends();
        // Where the number is all of a value, an end that is not included is the next number.
        let step = |open| u128::from(open && !ty.is_prefix());
        let low = self.low.as_ref().map_or(Some(least), |low| low.order().checked_add(step(self.open[0])))?;
        let high = self.high.as_ref().map_or(Some(greatest), |high| high.order().checked_sub(step(self.open[1])))?;
        (low <= high).then_some((low, high))
    }
}

/// A statement without its parameters' values.
struct Statement {
    conditions: Vec<String>,
    params: Vec<Param>,
    ranges: Vec<Range>,
    nulls: Vec<(usize, bool)>,
}

impl Statement {
    fn bind(&mut self, param: Param) -> usize {
        self.params.push(param);
        // $1 is the table's id.
        self.params.len() + 1
    }
}

impl Table {
    /// The rows that a query asks for.
    ///
    /// # Errors
    /// [`Error::Tampered`] names a row that was changed; [`Error::NotOrdered`]; [`Error::RolledBack`];
    /// [`Error::Invalid`] for names and values that do not fit; [`Error::Database`].
    pub fn select(&mut self, client: &mut impl GenericClient, query: &Query) -> Result<Vec<Row>> {
        for _ in 0..TRIES {
            if self.loaded.is_none_or(|loaded| loaded.version != self.state.version()) {
                self.refresh(client)?;
            }
            match self.try_select(client, query) {
                Ok(Some(rows)) => return Ok(rows),
                // The database has another version by now.
                Ok(None) => self.refresh(client)?,
                Err(error) if error.is_transient() => self.refresh(client)?,
                // Another client may have given it one.
                Err(error @ Error::NotOrdered { .. }) => {
                    let before = self.state.version();
                    self.refresh(client)?;
                    if self.state.version() == before {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Busy)
    }

    /// The rows whose value in a column is between two others, both included.
    ///
    /// # Errors
    /// As [`select`](Table::select).
    pub fn range(
        &mut self,
        client: &mut impl GenericClient,
        column: &str,
        low: &ColumnValue,
        high: &ColumnValue,
    ) -> Result<Vec<Row>> {
        if self.columns.is_empty() {
            self.refresh(client)?;
        }
        let ty = self.columns[self.column(column)?].def.ty;
        let [low, high] = [low, high].map(|value| ty.write(value).to_string());
        self.select(
            client,
            &Query { conditions: vec![Condition::Between(column.into(), low, high)], ..Query::default() },
        )
    }

    /// The rows that a query asks for; `None` if the database has another version than the dictionaries.
    fn try_select(&mut self, client: &mut impl GenericClient, query: &Query) -> Result<Option<Vec<Row>>> {
        let mut statement =
            Statement { conditions: Vec::new(), params: Vec::new(), ranges: Vec::new(), nulls: Vec::new() };
        for condition in &query.conditions {
            match self.columns.iter().position(|column| column.def.name == condition.column()) {
                Some(column) => self.secret_condition(&mut statement, column, condition)?,
                None => self.plain_condition(&mut statement, condition)?,
            }
        }
        let (order, at_client) = self.order_by(query, &statement)?;
        let plain: String = self.plain.iter().map(|column| format!(", t.{}::text", quote(&column.name))).collect();
        let on = statement.conditions.iter().map(|condition| format!(" and {condition}")).collect::<String>();
        let limit = match query.limit {
            Some(limit) if !at_client => format!(" limit {}", limit.max(1)),
            _ => String::new(),
        };
        // The state's row is there even if there is no other, and is of the same snapshot.
        let sql = format!(
            "select v.version, t.ctid is null{}, t.{ROW}{plain}{} from {} v left join {} t on true{on} where v.id = $1{order}{limit}",
            self.encrypted(),
            self.tagged(),
            self.names.state,
            self.names.table,
        );
        let id = &self.key.id[..];
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&id];
        params.extend(statement.params.iter().map(|param| &**param as &(dyn ToSql + Sync)));
        let found = client.query(&sql, &params)?;
        let Some(first) = found.first() else { return Err(Error::WrongKey) };
        if first.try_get::<_, i64>(0)? as u64 != self.state.version() {
            return Ok(None);
        }
        let mut rows = Vec::new();
        for row in &found {
            if !row.try_get::<_, bool>(1)? {
                rows.extend(self.open_row(row, &statement)?);
            }
        }
        if at_client {
            self.sort(&mut rows, query);
        }
        rows.truncate(query.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(Some(rows))
    }

    fn secret_condition(&self, statement: &mut Statement, at: usize, condition: &Condition) -> Result<()> {
        let column = &self.columns[at];
        let ty = column.def.ty;
        let named = |error| Error::invalid(format!("column `{}`: {error}", column.def.name));
        let value = |text: &str| ty.parse(text).map(Some).map_err(named);
        let (low, high, open) = match condition {
            Condition::Null(_, is) => {
                let not = if *is { "" } else { "not " };
                statement.conditions.push(format!("t.{} is {not}null", name::sealed(&column.def.name)));
                statement.nulls.push((at, *is));
                return Ok(());
            }
            Condition::Between(_, low, high) => (value(low)?, value(high)?, [false; 2]),
            Condition::Compare(_, operator, text) => match operator {
                Operator::Equal => (value(text)?, value(text)?, [false; 2]),
                Operator::Less => (None, value(text)?, [false, true]),
                Operator::AtMost => (None, value(text)?, [false; 2]),
                Operator::Greater => (value(text)?, None, [true, false]),
                Operator::AtLeast => (value(text)?, None, [false; 2]),
            },
        };
        let range = Range { column: at, low, high, open };
        let order = name::order(&column.def.name);
        match (range.numbers(ty), &column.order) {
            (_, Order::None) => return Err(Error::NotOrdered { column: column.def.name.clone() }),
            (None, _) => statement.conditions.push("false".into()),
            (Some((low, high)), Order::Ore(ore)) => {
                let compare = &self.names.compare;
                // An end of the type says nothing, and costs a pass.
                if low > ty.ends().0 {
                    let low = statement.bind(Box::new(ore.left(low).to_bytes()));
                    statement.conditions.push(format!("{compare}(${low}, t.{order}) <= 0"));
                }
                if high < ty.ends().1 {
                    let high = statement.bind(Box::new(ore.left(high).to_bytes()));
                    statement.conditions.push(format!("{compare}(${high}, t.{order}) >= 0"));
                }
                statement.conditions.push(format!("t.{order} is not null"));
            }
            (Some((low, high)), _) => match column.range(low, high) {
                Some((low, high)) => {
                    let [low, high] = [low, high].map(|code| statement.bind(column.param(code)));
                    statement.conditions.push(format!("t.{order} between ${low} and ${high}"));
                }
                None => statement.conditions.push("false".into()),
            },
        }
        statement.ranges.push(range);
        Ok(())
    }

    fn plain_condition(&self, statement: &mut Statement, condition: &Condition) -> Result<()> {
        let found = self.plain.iter().find(|known| known.name == condition.column());
        let PlainColumn { name, ty, .. } = found.ok_or_else(|| self.no_column(condition.column()))?;
        let column = quote(name);
        let mut bind = |text: &String| format!("${}::text::{ty}", statement.bind(Box::new(text.clone())));
        let sql = match condition {
            Condition::Compare(_, operator, text) => format!("t.{column} {} {}", operator.sql(), bind(text)),
            Condition::Between(_, low, high) => format!("t.{column} between {} and {}", bind(low), bind(high)),
            Condition::Null(_, is) => format!("t.{column} is {}null", if *is { "" } else { "not " }),
        };
        statement.conditions.push(sql);
        Ok(())
    }

    /// The order, and whether the client has to bring it about, or to leave out rows, before it counts them.
    fn order_by(&self, query: &Query, statement: &Statement) -> Result<(String, bool)> {
        let filtered = statement.ranges.iter().any(|range| self.columns[range.column].def.ty.is_prefix());
        let Some((column, falls)) = &query.order else { return Ok((String::new(), filtered)) };
        let direction = if *falls { " desc" } else { "" };
        if let Some(secret) = self.columns.iter().find(|known| known.def.name == *column) {
            let server = secret.has_codes() && !secret.def.ty.is_prefix() && !filtered;
            let order = format!(" order by t.{}{direction}", name::order(column));
            return Ok((if server { order } else { String::new() }, !server));
        }
        if !self.plain.iter().any(|known| known.name == *column) {
            return Err(self.no_column(column));
        }
        Ok((format!(" order by t.{}{direction}", quote(column)), filtered))
    }

    /// Opens a row, and checks that it is as it was written and that it was asked for; `None` if the server
    /// could not tell from a prefix and it was not asked for.
    fn open_row(&self, found: &postgres::Row, statement: &Statement) -> Result<Option<Row>> {
        let behind = 2 + 2 * self.columns.len();
        let Some(key) = found.try_get::<_, Option<i64>>(behind)?.map(|key| key as u64) else {
            // Written by somebody else: there is nothing encrypted in it, and it is in no answer that asks for a value.
            let foreign = (0..self.columns.len()).find(|i| !is_null(found, 2 + 2 * i) || !is_null(found, 3 + 2 * i));
            let ranges = statement.ranges.iter().map(|range| range.column);
            let mut asked = ranges.chain(statement.nulls.iter().filter(|(_, is)| !is).map(|(column, _)| *column));
            return match foreign.or_else(|| asked.next()) {
                Some(column) => Err(self.columns[column].tampered(0)),
                None => Ok(Some(Row { key: None, plain: self.texts(found)?, secret: vec![None; self.columns.len()] })),
            };
        };
        self.check_bound(key, found, behind + 1 + self.plain.len())?;
        let mut secret = Vec::new();
        for (i, column) in self.columns.iter().enumerate() {
            let opened = column.open(key, found.try_get(3 + 2 * i)?)?;
            let (there, ordered) = (opened.is_some(), !is_null(found, 2 + 2 * i));
            if ordered != (there && column.is_ordered()) {
                return Err(column.tampered(key));
            }
            if let (Some((value, coin)), true) = (&opened, column.has_codes())
                && column.read(found, 2 + 2 * i)? != column.code(value.order(), *coin)
            {
                return Err(column.tampered(key));
            }
            secret.push(opened.map(|opened| opened.0));
        }
        for (column, is) in &statement.nulls {
            if secret[*column].is_none() != *is {
                return Err(self.columns[*column].tampered(key));
            }
        }
        for range in &statement.ranges {
            let column = &self.columns[range.column];
            match &secret[range.column] {
                Some(value) if range.holds(value) => (),
                Some(_) if column.def.ty.is_prefix() => return Ok(None),
                _ => return Err(column.tampered(key)),
            }
        }
        Ok(Some(Row { key: Some(key), plain: self.texts(found)?, secret }))
    }

    fn texts(&self, found: &postgres::Row) -> Result<Vec<Option<String>>> {
        let first = 3 + 2 * self.columns.len();
        (0..self.plain.len()).map(|i| Ok(found.try_get(first + i)?)).collect()
    }

    /// Orders rows as the server would, NULL greater than all values. The server has brought plain columns into order.
    fn sort(&self, rows: &mut [Row], query: &Query) {
        let Some((column, falls)) = &query.order else { return };
        let Some(at) = self.columns.iter().position(|known| known.def.name == *column) else { return };
        rows.sort_by(|one, two| {
            let ordering = match (&one.secret[at], &two.secret[at]) {
                (Some(one), Some(two)) => one.cmp(two),
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
            };
            if *falls { ordering.reverse() } else { ordering }
        });
    }
}
