//! Range queries on encrypted columns of PostgreSQL: `comity-ope` put to work.
//!
//! **What leaks** is said in [`comity_ope`]: with codes the server sees the order of all values, always; with
//! left/right it sees how values compare to the ends of each query, which its logs may keep. NULL is visible
//! in every scheme, and so are the number of rows, when they came, and which rows an answer has.
//!
//! For a column `salary` the table has `salary_sealed`, the value under authenticated encryption, and
//! `salary_order`: a code, with an index, or a right ciphertext, which a function compares row by row.
//! `comity_row` numbers the rows. A table's *state* is one sealed row of `comity_ope`, in the table's schema.
//! The database has all that a client needs but its key: the cache on the client's disk saves time, and knows
//! which version was seen last.
//!
//! **Checked**: that a value belongs to its row, its column and its code ([`Error::Tampered`]); that an
//! answer's rows are in the range; that the state has the one that this client saw last in its history
//! ([`comity_ope::History`]), or it is older, or of a copy that went on by itself ([`Error::RolledBack`]).
//! [`Table::check`] also finds rows that are missing, were added or are older ones ([`Error::Incomplete`],
//! [`Error::RowsChanged`]). **Not checked** by a query: rows left out of its answer, and a single row that
//! was put back, value and code together. **Never checked**: columns that are not encrypted, unless they are
//! [bound](Work::bind): then each value has a tag that vouches for it in its row, and only one that was there
//! before can stand in its place.
//!
//! ```no_run
//! use comity_ope::{ColumnType, ColumnValue};
//! use comity_postgres::{Query, Table, connect, read_key};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # // Outside of examples, the system's randomness.
//! # let mut rng = comity_core::Prg::new(comity_core::Backend::detect(), comity_core::Block::ZERO);
//! let mut client = connect("postgres:///shop", None)?;
//! let (key, cache) = (read_key("staff.key".as_ref())?, "staff.key.cache".as_ref());
//! let mut staff = Table::open(&mut client, key, Some(cache), &mut rng)?;
//! let salary = ColumnType::BigInt.parse("52000")?;
//! staff.insert(&mut client, &[("name", &"Ada")], &[("salary", Some(&salary))])?;
//! let rows = staff.select(&mut client, &Query::parse("salary between 40000 and 60000 order by salary limit 20")?)?;
//!
//! // In a transaction of one's own: what it rolls back, the dictionary never had.
//! let mut work = staff.work(client.transaction()?)?;
//! work.transaction().execute("update budget set spent = spent + 1", &[])?;
//! work.insert(&[("name", &"Grace")], &[("salary", Some(&salary))])?;
//! work.commit()?;
//! # Ok(())
//! # }
//! ```

mod binary;
mod bound;
mod bulk;
mod column;
mod connect;
mod copy;
mod error;
mod files;
mod name;
mod query;
mod recode;
mod schema;
mod select;
pub mod server;
mod table;
mod work;
mod writer;

pub use bulk::{NewRow, Rows};
pub use connect::connect;
pub use error::{Error, Result};
pub use files::{cache_path, create_key, read_key, write_key};
pub use name::table_name;
pub use query::{Condition, Operator, Query};
pub use recode::Checked;
pub use schema::{add_column, resolve};
pub use select::Row;
pub use table::Table;
pub use work::{Field, Work};
pub use writer::Writer;
