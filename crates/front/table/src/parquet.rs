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

    /// Takes a value; `None` if it is none of this type.
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
