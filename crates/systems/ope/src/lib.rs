//! Order-preserving encryption: range queries on a column that the server cannot read.
//!
//! **What leaks**: with [`Ideal`] and [`FrequencyHiding`] the server, and whoever steals a copy, sees the
//! order of all values, always; with [`Ideal`] also which are equal. "Ideal" means that it sees nothing
//! *more*. Order alone gives away much: columns with few values are recovered by sorting, and others nearly
//! by rank ([`leakage`] runs these attacks on one's own data). With [`Ore`] a stolen copy shows nothing, and
//! every query shows how the stored values compare to its ends. Choose [`Ore`] unless the server must have an
//! index.
//!
//! - [`Ideal`]: section 4.1 of the deliverable (Kerschbaum, Schröpfer, CCS 2014).
//! - [`FrequencyHiding`]: section 4.2 (Kerschbaum, CCS 2015), in the notion of Maffei, Reinert and Schröder (2017).
//! - [`Ore`]: left/right order-revealing encryption (Lewi, Wu, CCS 2016); [`Clww`] (FSE 2016) stands beside
//!   it for comparison.
//!
//! These are state machines without a database. What a database needs beside them is here as well, as plain
//! bytes: [`ColumnType`] and [`ColumnValue`], the [`OpeKey`] and what it seals, the [`State`] that is left at
//! the server, and the [`Cache`]. `comity-postgres` puts them to work.
//!
//! **Adversary**: the server is curious, and may lie: a value that was changed, moved or taken from another
//! row does not open; a code that is not its value's is seen when a row is read; a state that was rolled back
//! is seen by a client that kept its cache. Rows that the server leaves out of an answer are *not* seen by
//! the query, only by a check of the whole table.
//!
//! **The client is trusted**, its machine too: finding a value in a dictionary takes branches and memory
//! accesses that depend on the value ([`Ore`] takes none; only how many random bits it draws depends on the
//! key and a value's leading blocks). Nobody else's secrets are there, and no peer times them but through
//! whole statements.
//!
//! ```
//! use comity_ope::{Ideal, Placed};
//!
//! let mut salaries = Ideal::<u64>::new();
//! let [low, high] = [40_000, 60_000].map(|salary| salaries.insert(salary).map(|placed| placed.code()));
//! let between = salaries.insert(50_000)?.code();
//! assert!(low? < between && between < high?);
//! assert_eq!(salaries.decrypt(between), Some(50_000));
//! assert_eq!(salaries.range(45_000, 55_000), Some((between, between)));
//! # Ok::<(), comity_ope::Error>(())
//! ```

mod bytes;
#[cfg(feature = "dictionary")]
mod cache;
mod card;
mod clww;
mod coin;
#[cfg(feature = "dictionary")]
mod dictionary;
mod digit;
mod error;
#[cfg(feature = "dictionary")]
mod frequency;
mod history;
#[cfg(feature = "dictionary")]
mod ideal;
mod key;
pub mod leakage;
mod ore;
mod seal;
mod state;
mod value;

#[cfg(feature = "dictionary")]
pub use cache::{Cache, CachedColumn};
pub use card::CARD;
pub use clww::Clww;
pub use coin::Coin;
pub use error::{Error, Result};
#[cfg(feature = "dictionary")]
pub use frequency::FrequencyHiding;
pub use history::{ChainHash, History, Link};
#[cfg(feature = "dictionary")]
pub use ideal::{Bulk, Code, Ideal, Pattern, Placed, Plaintext};
pub use key::{Column, ColumnKey, OpeKey, OpeScheme};
pub use ore::{Left, Ore};
pub use seal::{Binding, Nonces, OVERHEAD, Purpose, RowTerms, Sum, sealed_under};
pub use state::{ColumnState, RowTotal, State};
pub use value::{ColumnType, ColumnValue};
