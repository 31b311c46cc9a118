//! Parquet, row by row: columns of a group of rows are turned into records, and back.

use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{Type, TypePtr};

use crate::Record;
use crate::error::{Error, Result};
use crate::guard::{MOST, too_long};
use crate::reader::{ColumnKind, TableColumn};
use crate::source::Source;

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Error {
        Error::new(format!("Parquet: {error}"))
    }
}

/// The rows of a file.
pub(crate) struct Rows {
    rows: RowIter<'static>,
    text: String,
    /// Rows so far and in all, and the bytes of the file: as many are read, about, as rows are.
    done: u64,
    total: u64,
    size: u64,
    read: Rc<Cell<u64>>,
}

impl Rows {
    pub(crate) fn new(source: &Source) -> Result<(Rows, Vec<TableColumn>)> {
        let file = SerializedFileReader::new(source.file()?)?;
        let meta = file.metadata().file_metadata();
        let columns = meta.schema().get_fields().iter().map(column).collect();
        let total = u64::try_from(meta.num_rows()).unwrap_or(0);
        let rows = RowIter::from_file_into(Box::new(file));
        let read = Rc::new(Cell::new(0));
        Ok((Rows { rows, text: String::new(), done: 0, total, size: source.size(), read }, columns))
    }

    /// About how many bytes were read.
    pub(crate) fn read(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.read)
    }

    /// The next row. NULL is empty.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<bool> {
        use std::fmt::Write;
        record.clear();
        record.set_position(None);
        let Some(row) = self.rows.next() else { return Ok(false) };
        for (_, field) in row?.get_column_iter() {
            self.text.clear();
            let bytes = match field {
                Field::Null => b"",
                Field::Str(text) => text.as_bytes(),
                Field::Bytes(bytes) => bytes.data(),
                Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => {
                    let _ = write!(self.text, "{}", field.to_json_value());
                    self.text.as_bytes()
                }
                plain => {
                    let _ = write!(self.text, "{plain}");
                    self.text.as_bytes()
                }
            };
            if bytes.len() as u64 > MOST {
                return Err(Error::new(format!("row {}: {}", self.done + 1, too_long())));
            }
            record.push_field(bytes);
        }
        self.done += 1;
        self.read.set((self.done as f64 / self.total.max(1) as f64 * self.size as f64) as u64);
        Ok(true)
    }
}

/// A column, as the schema has it.
fn column(field: &TypePtr) -> TableColumn {
    let info = field.get_basic_info();
    let plain = field.is_primitive() && info.repetition() != Repetition::REPEATED;
    let kind = match (plain, plain.then(|| field.get_physical_type())) {
        (true, Some(Physical::BOOLEAN)) => ColumnKind::Bool,
        (true, Some(Physical::FLOAT | Physical::DOUBLE)) => ColumnKind::Real,
        (true, Some(physical)) => match (info.converted_type(), info.logical_type_ref()) {
            (ConvertedType::DECIMAL, _) | (_, Some(LogicalType::Decimal { .. } | LogicalType::Float16)) => {
                ColumnKind::Real
            }
            (ConvertedType::NONE, None | Some(LogicalType::Integer { .. }))
            | (
                ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
                | ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
                _,
            ) if matches!(physical, Physical::INT32 | Physical::INT64) => ColumnKind::Integer,
            _ => ColumnKind::Text,
        },
        _ => ColumnKind::Nested,
    };
    TableColumn { name: field.name().to_owned(), kind }
}

/// Rows of a group that is written at once.
const GROUP: usize = 1 << 16;

/// A table that is written.
pub(crate) struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<(TableColumn, Values)>,
    rows: usize,
}

/// The values of a column that are not written yet, those that are not NULL, and which are.
struct Values {
    there: Vec<i16>,
    values: Typed,
}

enum Typed {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Bool(Vec<bool>),
}

impl<W: Write + Send> Table<W> {
    pub(crate) fn new(out: W, columns: &[TableColumn]) -> Result<Table<W>> {
        let field = |column: &TableColumn| -> Result<TypePtr> {
            let (physical, logical, repetition) = match column.kind {
                ColumnKind::Integer => (Physical::INT64, None, Repetition::OPTIONAL),
                ColumnKind::Real => (Physical::DOUBLE, None, Repetition::OPTIONAL),
                ColumnKind::Bool => (Physical::BOOLEAN, None, Repetition::OPTIONAL),
                _ => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
            };
            let builder = Type::primitive_type_builder(&column.name, physical);
            Ok(Arc::new(builder.with_logical_type(logical).with_repetition(repetition).build()?))
        };
        let fields = columns.iter().map(field).collect::<Result<_>>()?;
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        let columns = columns.iter().map(|column| (column.clone(), Values::of(column.kind)));
        Ok(Table { file, columns: columns.collect(), rows: 0 })
    }

    pub(crate) fn write<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>) -> Result<()> {
        for ((column, values), field) in self.columns.iter_mut().zip(fields) {
            if values.push(field).is_none() {
                let column = &column.name;
                return Err(Error::new(format!("column `{column}`: Parquet cannot have this value there: write csv")));
            }
        }
        self.rows += 1;
        if self.rows == GROUP { self.group() } else { Ok(()) }
    }

    /// Writes the rows that are there as a group.
    fn group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        self.columns.iter_mut().try_for_each(|(_, values)| values.write(&mut group))?;
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.group()?;
        }
        Ok(self.file.into_inner()?)
    }
}

impl Values {
    fn of(kind: ColumnKind) -> Values {
        let values = match kind {
            ColumnKind::Integer => Typed::Integer(Vec::new()),
            ColumnKind::Real => Typed::Real(Vec::new()),
            ColumnKind::Bool => Typed::Bool(Vec::new()),
            _ => Typed::Text(Vec::new()),
        };
        Values { there: Vec::new(), values }
    }

    /// Takes a value; `None` if it does not have this type.
    fn push(&mut self, field: &[u8]) -> Option<()> {
        let text = core::str::from_utf8(field).ok()?;
        let null = text.is_empty() && !matches!(self.values, Typed::Text(_));
        self.there.push(i16::from(!null));
        if null {
            return Some(());
        }
        match &mut self.values {
            Typed::Text(values) => values.push(field.into()),
            Typed::Integer(values) => values.push(text.parse().ok()?),
            Typed::Real(values) => values.push(text.parse().ok()?),
            Typed::Bool(values) => values.push(text.parse().ok()?),
        }
        Some(())
    }

    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Err(Error::new("Parquet: a column too many")) };
        let there = core::mem::take(&mut self.there);
        match &mut self.values {
            Typed::Text(values) => {
                column.typed::<ByteArrayType>().write_batch(values, None, None)?;
                values.clear();
            }
            Typed::Integer(values) => {
                column.typed::<Int64Type>().write_batch(values, Some(&there), None)?;
                values.clear();
            }
            Typed::Real(values) => {
                column.typed::<DoubleType>().write_batch(values, Some(&there), None)?;
                values.clear();
            }
            Typed::Bool(values) => {
                column.typed::<BoolType>().write_batch(values, Some(&there), None)?;
                values.clear();
            }
        }
        Ok(column.close()?)
    }
}

#[cfg(test)]
mod tests {
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// The bytes of a table with these columns.
    fn written(columns: &[(&str, ColumnKind)], rows: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>> {
        let columns: Vec<TableColumn> =
            columns.iter().map(|&(name, kind)| TableColumn { name: name.to_owned(), kind }).collect();
        let mut table = Table::new(Vec::new(), &columns)?;
        for row in rows {
            table.write(row.iter().map(String::as_bytes))?;
        }
        table.finish()
    }

    fn source(bytes: &[u8]) -> Source {
        Source::spill(&mut &bytes[..], "t").unwrap()
    }

    /// Only what has one way to be written as an integer is one; what has a fraction or a structure is told as such.
    #[test]
    fn columns_have_the_kind_that_the_schema_says() {
        use ColumnKind::{Bool, Integer, Nested, Real, Text};
        for (field, kind) in [
            ("required int32 a;", Integer),
            ("optional int64 a (INTEGER(64, false));", Integer),
            ("optional int32 a (INT_8);", Integer),
            ("optional int64 a (UINT_64);", Integer),
            ("required int32 a (DATE);", Text),
            ("required int64 a (TIMESTAMP_MICROS);", Text),
            ("required int96 a;", Text),
            ("required int32 a (DECIMAL(9, 2));", Real),
            ("required binary a (DECIMAL(9, 2));", Real),
            ("required fixed_len_byte_array(2) a (FLOAT16);", Real),
            ("required float a;", Real),
            ("required double a;", Real),
            ("required boolean a;", Bool),
            ("required binary a;", Text),
            ("required binary a (STRING);", Text),
            ("repeated int32 a;", Nested),
            ("required group a { required int32 b; }", Nested),
        ] {
            let schema = parse_message_type(&format!("message m {{ {field} }}")).unwrap();
            assert_eq!(column(&schema.get_fields()[0]), TableColumn { name: "a".into(), kind }, "{field}");
        }
    }

    #[test]
    fn tables_are_written_in_groups() {
        let columns = [("id", ColumnKind::Integer), ("name", ColumnKind::Text)];
        let row = |n: usize| vec![n.to_string(), format!("row {n}")];
        let bytes = written(&columns, (0..GROUP + 5).map(row)).unwrap();
        let file = SerializedFileReader::new(source(&bytes).file().unwrap()).unwrap();
        let groups = file.metadata().row_groups().iter().map(|group| group.num_rows() as usize);
        assert_eq!(groups.collect::<Vec<_>>(), [GROUP, 5]);
        let (mut rows, _) = Rows::new(&source(&bytes)).unwrap();
        let (mut record, mut count) = (Record::new(), 0);
        while rows.next(&mut record).unwrap() {
            assert_eq!(record, row(count));
            count += 1;
        }
        assert_eq!(count, GROUP + 5);
    }

    #[test]
    fn a_value_that_is_none_of_its_column_is_refused() {
        for (kind, good, bad) in
            [(ColumnKind::Integer, "-7", "7.5"), (ColumnKind::Real, "1e3", "x"), (ColumnKind::Bool, "true", "1")]
        {
            let one = |value: &str| written(&[("a", kind)], std::iter::once(vec![value.to_owned()]));
            assert!(one(good).is_ok() && one("").is_ok(), "{kind:?}");
            let why = one(bad).unwrap_err().to_string();
            assert!(why.contains("column `a`: Parquet cannot have this value"), "{kind:?}: {why}");
        }
    }

    #[test]
    fn a_field_of_many_megabytes_is_refused() {
        let rows = ["x".to_owned(), "x".repeat(MOST as usize + 1)].map(|field| vec![field]);
        let bytes = written(&[("a", ColumnKind::Text)], rows.into_iter()).unwrap();
        let (mut rows, _) = Rows::new(&source(&bytes)).unwrap();
        let mut record = Record::new();
        assert!(rows.next(&mut record).unwrap());
        let why = rows.next(&mut record).unwrap_err().to_string();
        assert!(why.contains("row 2: a record has more than 16 MiB"), "{why}");
    }

    /// A column without a type of its own has bytes, which may be a text or not.
    #[test]
    fn bytes_are_read_as_they_are() {
        let schema = Arc::new(parse_message_type("message m { required binary a; }").unwrap());
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&[b"a\xff".to_vec().into()], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        let (mut rows, _) = Rows::new(&source(&file.into_inner().unwrap())).unwrap();
        let mut record = Record::new();
        assert!(rows.next(&mut record).unwrap());
        assert_eq!(record.get(0), Some(&b"a\xff"[..]));
    }
}
