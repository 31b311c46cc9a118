//! Tables of rows in files, for programs that compare the rows of two owners.
//!
//! A [`Source`] is a file, or a pipe that is spilled to one, since a table is read twice: its keys first, and
//! at the end the rows that are wanted. A [`TableReader`] yields its records one by one in bounded memory,
//! whatever the format; a [`TableWriter`] is its inverse. A [`Key`] makes a fixed-length item of some columns
//! of a record, after [`Steps`] that make texts alike which mean the same; [`Elements`] are the distinct
//! items of a table, and a [`KeyProfile`] says how they look. [`Payload`] packs columns that travel beside an
//! item. [`KeyedTable`] is all of this of one table; when it is known which keys are common, [`TableJoin`]
//! writes the rows.

mod elements;
mod error;
mod format;
mod guard;
mod join;
mod json;
mod key;
mod keyed;
#[cfg(feature = "parquet")]
mod parquet;
mod payload;
mod profile;
mod reader;
mod source;
mod steps;
mod writer;

pub use csv::ByteRecord as Record;
pub use elements::Elements;
pub use error::{Error, Result};
pub use format::{TableFormat, TableShape};
pub use join::{JoinCounts, JoinRows, KeyMatches, TableJoin};
pub use key::{Key, KeyHash, NO_TEXT};
pub use keyed::{KeyedTable, PackedPayload, TableRead};
pub use payload::{Decoder, Duplicates, Payload};
pub use profile::KeyProfile;
pub use reader::{ColumnKind, TableColumn, TableReader};
pub use source::{Source, no_text};
pub use steps::{Steps, unicode};
pub use writer::TableWriter;
