//! Formats of tables, and what a file's name says of its own.

use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::reader::ColumnKind;

/// A format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Fields with a delimiter between them, quoted where that is in one (RFC 4180).
    Csv,
    /// A JSON object a line.
    Json,
    /// A key a line.
    Lines,
    /// Apache Parquet.
    Parquet,
}

/// The form of a table's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// The format.
    pub format: TableFormat,
    /// The byte between fields, in CSV.
    pub delimiter: u8,
    /// Whether quotes have a meaning, in CSV.
    pub quoting: bool,
    /// Whether the first record has the names of the columns, in CSV. Without them columns are named 1, 2 and so on.
    pub header: bool,
    /// Whether it is written compressed by gzip. When it is read, the file itself shows that.
    pub gzip: bool,
}

impl Default for TableShape {
    fn default() -> TableShape {
        TableShape { format: TableFormat::Csv, delimiter: b',', quoting: true, header: true, gzip: false }
    }
}

impl FromStr for TableShape {
    type Err = Error;

    /// The shape of this name: `csv`, `tsv`, `json`, `lines` or `parquet`.
    fn from_str(name: &str) -> Result<TableShape> {
        let shape = TableShape::default();
        let format = match name {
            "csv" | "tsv" => TableFormat::Csv,
            "json" | "jsonl" | "ndjson" => TableFormat::Json,
            "lines" | "txt" => TableFormat::Lines,
            "parquet" => TableFormat::Parquet,
            _ => return Err(Error::new(format!("a table is csv, tsv, json, lines or parquet, not `{name}`"))),
        };
        Ok(TableShape { format, delimiter: if name == "tsv" { b'\t' } else { shape.delimiter }, ..shape })
    }
}

impl TableShape {
    /// Whether a column of this kind can contain this field. Only Parquet has types that restrict fields.
    pub fn holds(&self, kind: ColumnKind, field: &[u8]) -> bool {
        let text = core::str::from_utf8(field).ok();
        match (self.format, kind) {
            (TableFormat::Parquet, ColumnKind::Integer) => is::<i64>(text),
            (TableFormat::Parquet, ColumnKind::Real) => is::<f64>(text),
            (TableFormat::Parquet, ColumnKind::Bool) => is::<bool>(text),
            (TableFormat::Parquet | TableFormat::Json, _) => text.is_some(),
            _ => true,
        }
    }

    /// The shape that a file's name implies, such as `common.csv.gz`; `None` if it implies none.
    pub fn of(path: &Path) -> Option<TableShape> {
        let ending = |path: &Path| path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        let (gzip, bare) = match ending(path).as_str() {
            "gz" => (true, path.with_extension("")),
            _ => (false, path.to_owned()),
        };
        ending(&bare).parse().ok().map(|shape| TableShape { gzip, ..shape })
    }
}

/// Whether a text is empty, or a value of this type.
fn is<T: FromStr>(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.is_empty() || text.parse::<T>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_shape() {
        assert_eq!(TableShape::of(Path::new("-")), None);
        let of = |name: &str| TableShape::of(Path::new(name)).unwrap();
        assert_eq!(of("a/b.CSV"), TableShape::default());
        assert_eq!(of("x.tsv.gz"), TableShape { delimiter: b'\t', gzip: true, ..TableShape::default() });
        assert_eq!(of("x.jsonl").format, TableFormat::Json);
        assert_eq!(of("x.txt").format, TableFormat::Lines);
        assert_eq!(of("x.parquet").format, TableFormat::Parquet);
        assert!("xlsx".parse::<TableShape>().unwrap_err().to_string().contains("not `xlsx`"));
    }
}
