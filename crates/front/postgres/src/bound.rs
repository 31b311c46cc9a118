//! Columns that are not encrypted and bound to their rows: each of their values has a tag beside it, which
//! vouches for it in its row.
//!
//! The database keeps the value as it likes to, and the tag is of the bytes that it tells of it. So a column
//! is bound only if it is of a type whose values come back as they were sent, and takes no value that only
//! the server can read. Which columns are bound stands beside the state, which does not open beside other
//! names.

use std::io::Write;

use bytes::BytesMut;
use comity_ope::Binding;
use postgres::types::{FromSql, IsNull, ToSql, Type};

use crate::binary;
use crate::copy::{Copy, Form};
use crate::error::{Error, Result};
use crate::name::{self, ROW, quote};
use crate::table::{PlainColumn, Table};
use crate::work::{Work, copy_failed};

/// Rows that are read and get their tags at once.
const AT_ONCE: i32 = 256;

/// The types whose values come back as they were sent.
const TYPES: [Type; 12] = [
    Type::BOOL,
    Type::INT2,
    Type::INT4,
    Type::INT8,
    Type::FLOAT4,
    Type::FLOAT8,
    Type::TEXT,
    Type::VARCHAR,
    Type::DATE,
    Type::TIMESTAMP,
    Type::TIMESTAMPTZ,
    Type::UUID,
];

/// The bytes that the database tells of a value, whatever its type is.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Raw<'a>, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Raw(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl PlainColumn {
    /// The type, if values of it come back as they were sent: a length of text is no matter, since more is
    /// refused, and any other modifier is.
    fn kept(&self) -> Option<&Type> {
        let own = self.own.as_ref().filter(|own| TYPES.contains(own))?;
        (*own == Type::VARCHAR || !self.ty.contains('(')).then_some(own)
    }

    /// The bytes of a value that is written as text, as the database will tell them.
    pub(crate) fn bytes(&self, text: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let written = self.kept().and_then(|own| binary::write(own, text, &mut bytes));
        let most = self.ty.split_once('(').and_then(|(_, most)| most.strip_suffix(')')?.parse().ok());
        if written.is_none() || most.is_some_and(|most| text.chars().count() > most) {
            let Self { name, ty, .. } = self;
            return Err(Error::invalid(format!(
                "column `{name}` is bound: write its values in the full form that {ty} prints, which `{text}` is not"
            )));
        }
        Ok(bytes)
    }

    /// The bytes of a value that is given as a parameter; `None` for NULL.
    fn bytes_of(&self, value: &(dyn ToSql + Sync)) -> Result<Option<Vec<u8>>> {
        let mut bytes = BytesMut::new();
        let own = self.kept().unwrap_or(&Type::TEXT);
        match value.to_sql_checked(own, &mut bytes) {
            Ok(IsNull::Yes) => Ok(None),
            Ok(IsNull::No) => Ok(Some(bytes.to_vec())),
            Err(error) => Err(Error::invalid(format!("the value for `{}`: {error}", self.name))),
        }
    }
}

impl Table {
    /// The bound columns, with the keys of their tags.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (&PlainColumn, &Binding)> {
        self.plain.iter().filter_map(|column| Some((column, column.binding.as_ref()?)))
    }

    /// The columns that are not encrypted and bound to their rows.
    pub fn bound_columns(&self) -> impl Iterator<Item = &str> {
        self.bound().map(|(column, _)| column.name.as_str())
    }

    /// The bound columns of a row of `t` and their tags, as SQL text behind a comma.
    pub(crate) fn tagged(&self) -> String {
        self.bound()
            .map(|(column, _)| format!(", t.{}, t.{}", quote(&column.name), name::bound(&column.name)))
            .collect()
    }

    /// Checks the bound columns of a row against their tags, which begin at this field.
    pub(crate) fn check_bound(&self, row: u64, found: &postgres::Row, first: usize) -> Result<()> {
        for (at, (column, binding)) in (first..).step_by(2).zip(self.bound()) {
            let (value, tag) = (found.try_get::<_, Option<Raw<'_>>>(at)?, found.try_get::<_, Option<&[u8]>>(at + 1)?);
            if !tag.is_some_and(|tag| binding.vouches(row, value.map(|value| value.0), tag)) {
                return Err(Error::Tampered { column: column.name.clone(), row });
            }
        }
        Ok(())
    }

    /// The tags of a row that is inserted: `bound` says which of its plain values they are of.
    pub(crate) fn tags(
        &self,
        row: u64,
        columns: &[usize],
        bound: &[usize],
        plain: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Vec<u8>>> {
        let tag = |at: &usize| {
            let column = &self.plain[columns[*at]];
            let value =
                plain.get(*at).ok_or_else(|| Error::invalid("the row has fewer values than there are columns"))?;
            let bytes = column.bytes_of(*value)?;
            let binding = column.binding.as_ref().ok_or(Error::WrongKey)?;
            Ok(binding.tag(row, bytes.as_deref()).to_vec())
        };
        bound.iter().map(tag).collect()
    }
}

impl Work<'_, '_> {
    /// Binds columns that are not encrypted to their rows: from now on a value in them that the client did
    /// not write there is noticed when its row is read. The values in existing rows are taken as right.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown column, or a column whose type has values that do not come back as
    /// they were sent; [`Error::Database`].
    pub fn bind(&mut self, columns: &[String]) -> Result<()> {
        self.begin_change();
        self.rewrites = true;
        // What is noted in the table is read again if this is rolled back.
        self.table.columns.iter_mut().for_each(crate::column::Col::lose);
        let mut fresh = Vec::new();
        for name in columns {
            let at = self.table.plain.iter().position(|column| column.name == *name);
            let at = at.ok_or_else(|| self.table.no_column(name))?;
            let column = &self.table.plain[at];
            if column.binding.is_some() || fresh.contains(&at) {
                continue;
            }
            name::check(name)?;
            if column.kept().is_none() {
                let types: Vec<&str> = TYPES.iter().map(Type::name).collect();
                return Err(Error::invalid(format!(
                    "column `{name}` cannot be bound: the database may change how it writes values of {}. Columns of \
                        these types can be bound: {}, without modifiers except a length of text",
                    column.ty,
                    types.join(", ")
                )));
            }
            let sql = format!("alter table {} add column {} bytea", self.table.names.table, name::bound(name));
            self.transaction().batch_execute(&sql)?;
            self.state.bound.push(name.clone());
            fresh.push(at);
        }
        self.tag_rows(&fresh, self.number)?;
        self.broken = false;
        Ok(())
    }

    /// Writes the tags of these plain columns in all rows, under the secret of this number. Those that are
    /// bound already are checked.
    pub(crate) fn tag_rows(&mut self, columns: &[usize], number: u32) -> Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        let key = &self.table.key;
        let binding = |at: &usize| key.binding(number, &self.table.plain[*at].name).ok_or(Error::WrongKey);
        let bindings: Vec<Binding> = columns.iter().map(binding).collect::<Result<_>>()?;
        let names: Vec<(String, String)> =
            columns.iter().map(|at| &self.table.plain[*at].name).map(|name| (quote(name), name::bound(name))).collect();
        let values: String = names.iter().map(|(name, _)| format!(", t.{name}")).collect();
        let (table, transaction) = (&*self.table, self.transaction.as_mut().expect("it is there until it ends"));
        let made: String = (0..names.len()).map(|i| format!(", b{i} bytea")).collect();
        transaction.batch_execute(&format!("create temporary table comity_tags (r bigint{made}) on commit drop"))?;
        let select =
            format!("select t.{ROW}{values}{} from {} t where t.{ROW} is not null", table.tagged(), table.names.table);
        let statement = transaction.prepare(&select)?;
        let portal = transaction.bind(&statement, &[])?;
        loop {
            let found = transaction.query_portal(&portal, AT_ONCE)?;
            if found.is_empty() {
                break;
            }
            let mut copy = Copy::new(Form::bare());
            for row in &found {
                let key = row.try_get::<_, i64>(0)? as u64;
                table.check_bound(key, row, 1 + names.len())?;
                copy.row(1 + names.len());
                copy.number(key as i64);
                for (i, binding) in bindings.iter().enumerate() {
                    let value: Option<Raw<'_>> = row.try_get(1 + i)?;
                    copy.bytes(|bytes| bytes.extend_from_slice(&binding.tag(key, value.map(|value| value.0))));
                }
                copy.end_row();
            }
            let mut writer = transaction.copy_in("copy pg_temp.comity_tags from stdin (format binary)")?;
            writer.write_all(&copy.finish()).map_err(copy_failed)?;
            writer.finish()?;
        }
        let sets: Vec<String> = names.iter().enumerate().map(|(i, (_, bound))| format!("{bound} = n.b{i}")).collect();
        transaction.batch_execute(&format!(
            "analyze pg_temp.comity_tags; update {} t set {} from pg_temp.comity_tags n where t.{ROW} = n.r; drop table pg_temp.comity_tags",
            table.names.table,
            sets.join(", ")
        ))?;
        for (at, binding) in columns.iter().zip(bindings) {
            self.table.plain[*at].binding = Some(binding);
        }
        Ok(())
    }
}
