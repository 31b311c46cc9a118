//! What `comity ope … --json` prints, and the same for people.

use std::time::Instant;

use comity_postgres::{Checked, Table};
use comity_terminal::console::emit;
use comity_terminal::failure::Outcome;
use comity_terminal::json::to_line;
use comity_terminal::numbers::bytes;
use serde::Serialize;

use super::leakage::Attack;

/// One object with counts.
#[derive(Serialize)]
pub(crate) struct Report {
    table: String,
    /// The version of the table: it grows with each transaction that writes.
    epoch: u64,
    /// The number of the secret in use.
    secret: u32,
    columns_encrypted: Vec<ColumnReport>,
    /// The columns that are not encrypted and bound to their rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bound: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loaded: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<u64>,
    /// The row that was inserted, changed or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) row: Option<u64>,
    /// The numbers of the rows of an answer; `None` for a row that was not written here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) numbers: Option<Vec<Option<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) columns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<Vec<Option<String>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checked: Option<u64>,
    /// The checks that passed, in words.
    #[serde(skip)]
    right: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moved: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resealed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attacks: Option<Vec<Attack>>,
    seconds: f64,
    #[serde(skip)]
    start: Instant,
}

#[derive(Serialize)]
struct ColumnReport {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    scheme: String,
    ordered: bool,
    values: u64,
}

impl Report {
    pub(crate) fn new(table: &Table, start: Instant) -> Report {
        let column = |state: &comity_ope::ColumnState| {
            let def = table.key().column(&state.name);
            ColumnReport {
                name: state.name.clone(),
                ty: def.map(|def| def.ty.to_string()).unwrap_or_default(),
                scheme: def.map(|def| def.scheme.to_string()).unwrap_or_default(),
                ordered: state.ordered,
                values: state.values.count,
            }
        };
        Report {
            table: table.key().table.join("."),
            epoch: table.state().version(),
            secret: table.key().number(),
            columns_encrypted: table.state().columns.iter().map(column).collect(),
            bound: table.bound_columns().map(str::to_owned).collect(),
            cache_bytes: table.cache_bytes(),
            loaded: None,
            rows: None,
            row: None,
            numbers: None,
            columns: None,
            values: None,
            checked: None,
            right: String::new(),
            moved: None,
            resealed: None,
            attacks: None,
            seconds: 0.0,
            start,
        }
    }

    /// The text of `status`, for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}: version {}, secret {}\n", self.table, self.epoch, self.secret);
        for column in &self.columns_encrypted {
            let order = if column.ordered { "" } else { ", no order yet" };
            text += &format!("{}: {}, {}, {} values{order}\n", column.name, column.ty, column.scheme, column.values);
        }
        if !self.bound.is_empty() {
            text += &format!("bound: {}\n", self.bound.join(", "));
        }
        if let Some(size) = self.cache_bytes {
            text += &format!("cache: {}\n", bytes(size));
        }
        text + &self.right
    }

    /// Takes the findings of a check of all rows, or what was accepted. Returns words for people.
    pub(crate) fn checked(&mut self, checked: &Checked, accepted: bool) -> String {
        let Checked { rows, foreign, values, .. } = checked;
        let count: u64 = values.iter().map(|(_, count)| count).sum();
        let and = if self.bound.is_empty() {
            String::new()
        } else {
            format!(", and what is bound ({})", self.bound.join(", "))
        };
        self.checked = Some(*rows);
        self.right = match accepted {
            true => format!(
                "{count} encrypted values{and}, in {rows} rows, count as right from now on; other columns are not \
                 checked\n"
            ),
            false => format!(
                "{count} encrypted values{and} are right, in {rows} rows, and no row is missing; other columns are \
                 not checked\n"
            ),
        };
        if *foreign > 0 {
            self.right += &format!("{foreign} rows were not written by comity, and are not checked\n");
        }
        self.right.clone()
    }

    /// Prints the object, or this text.
    pub(crate) fn print(mut self, json: bool, text: &str) -> Outcome {
        self.seconds = self.start.elapsed().as_secs_f64();
        emit(&if json { to_line(&self) } else { text.to_owned() })
    }
}
