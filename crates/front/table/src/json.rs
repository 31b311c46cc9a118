//! JSON lines: an object a line, whose columns are what the objects have.
//!
//! A number keeps the text that it was written with: as a floating-point number, two long ones would be the
//! same, and 1.10 would be 1.1.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Record;
use crate::error::{Error, Result};
use crate::reader::{ColumnKind, TableColumn, at_line, read_line};

/// The objects of a file, one by one.
pub(crate) struct JsonLines {
    reader: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    number: u64,
    /// Blank lines right before the last object, or before the end.
    blank: u64,
    columns: Vec<TableColumn>,
    /// Whether a record had the column, and whether it had a value there.
    seen: Vec<(bool, bool)>,
    places: HashMap<String, usize>,
    fields: Vec<String>,
    /// For each column the kind of the last record's value: `None` if the record lacks it, `Some(None)` for
    /// null.
    values: Vec<Option<Option<ColumnKind>>>,
}

impl JsonLines {
    pub(crate) fn new(text: Box<dyn Read>) -> JsonLines {
        JsonLines {
            reader: BufReader::with_capacity(1 << 16, text),
            line: Vec::new(),
            number: 0,
            blank: 0,
            columns: Vec::new(),
            seen: Vec::new(),
            places: HashMap::new(),
            fields: Vec::new(),
            values: Vec::new(),
        }
    }

    pub(crate) fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// The kind of the last record's value in a column, if it has one there.
    pub(crate) fn kind(&self, column: usize) -> Option<ColumnKind> {
        self.values.get(column).copied().flatten().flatten()
    }

    /// The blank lines right before the last object, or before the end.
    pub(crate) fn blank(&self) -> u64 {
        self.blank
    }

    /// Has these columns before the first record.
    pub(crate) fn know(&mut self, columns: &[TableColumn]) {
        for column in columns {
            let at = self.expect(&column.name);
            self.columns[at].kind = column.kind;
        }
    }

    /// The place of a column that a record will have.
    pub(crate) fn expect(&mut self, name: &str) -> usize {
        if let Some(at) = self.places.get(name) {
            return *at;
        }
        self.columns.push(TableColumn { name: name.to_owned(), kind: ColumnKind::Text });
        self.seen.push((false, false));
        self.places.insert(name.to_owned(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// A column that was expected and is in no record, and those that are.
    pub(crate) fn unseen(&self) -> Option<(&str, Vec<TableColumn>)> {
        let at = self.seen.iter().position(|(there, _)| !there)?;
        let there = self.columns.iter().zip(&self.seen).filter(|(_, (there, _))| *there);
        Some((&self.columns[at].name, there.map(|(column, _)| column.clone()).collect()))
    }

    /// The next object. Columns that it lacks are empty.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<bool> {
        record.clear();
        self.blank = 0;
        loop {
            self.number += 1;
            if !read_line(&mut self.reader, &mut self.line).map_err(|e| e.at(format!("line {}", self.number)))? {
                return Ok(false);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
            self.blank += 1;
        }
        let line = core::mem::take(&mut self.line);
        let taken = self.take(&line);
        self.line = line;
        taken?;
        self.fields.iter().for_each(|field| record.push_field(field.as_bytes()));
        record.set_position(Some(at_line(self.number)));
        Ok(true)
    }

    /// Takes the values of an object.
    fn take(&mut self, line: &[u8]) -> Result<()> {
        let Object(object) = serde_json::from_slice(line).map_err(|error| {
            let what = match error.classify() {
                _ if line.trim_ascii_start().starts_with(b"[") => {
                    "the file is one array, and an object on each line is wanted: convert it with `jq -c '.[]' FILE`"
                        .to_owned()
                }
                serde_json::error::Category::Data => "the line is not a JSON object".to_owned(),
                _ => error.to_string().replace(" at line 1 column", ", at character"),
            };
            Error::new(format!("line {}: {what}", self.number))
        })?;
        self.fields.iter_mut().for_each(String::clear);
        self.values.fill(None);
        for (name, value) in &object {
            let at = self.expect(name);
            self.fields.resize(self.columns.len(), String::new());
            self.values.resize(self.columns.len(), None);
            let wrong = |what: &str| Error::new(format!("line {}, column `{name}`: {what}", self.number));
            if self.values[at].is_some() {
                return Err(wrong("the object has this member twice"));
            }
            let (text, kind) = read(value.get()).map_err(|error| wrong(&error.to_string()))?;
            self.fields[at] = text;
            self.values[at] = Some(kind);
            let (there, typed) = &mut self.seen[at];
            *there = true;
            if let Some(kind) = kind {
                let column = &mut self.columns[at];
                column.kind = if *typed { both(column.kind, kind) } else { kind };
                *typed = true;
            }
        }
        self.fields.resize(self.columns.len(), String::new());
        Ok(())
    }
}

/// A value's text and kind; null has no kind.
fn read(value: &str) -> serde_json::Result<(String, Option<ColumnKind>)> {
    let kind = match value.as_bytes().first() {
        Some(b'"') => return Ok((serde_json::from_str(value)?, Some(ColumnKind::Text))),
        Some(b'n') => return Ok((String::new(), None)),
        Some(b't' | b'f') => ColumnKind::Bool,
        Some(b'[' | b'{') => ColumnKind::Nested,
        _ if value.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => ColumnKind::Integer,
        _ => ColumnKind::Real,
    };
    Ok((value.to_owned(), Some(kind)))
}

/// The members of an object, in order, each value as it is written.
struct Object<'l>(Vec<(String, &'l RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> core::result::Result<Object<'de>, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> core::result::Result<Object<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        from.deserialize_map(Members)
    }
}

/// The kind of a column that has values of two.
fn both(one: ColumnKind, other: ColumnKind) -> ColumnKind {
    match (one, other) {
        (one, other) if one == other => one,
        (ColumnKind::Integer | ColumnKind::Real, ColumnKind::Integer | ColumnKind::Real) => ColumnKind::Real,
        _ => ColumnKind::Text,
    }
}
