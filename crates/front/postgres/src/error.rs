//! What can go wrong between a client and its table.

use std::io;
use std::path::PathBuf;

use postgres::error::{DbError, Severity};
use postgres::types::{WasNull, WrongType};

/// The result of this crate's calls.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The reason why an operation did not succeed. Unless it says so, nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be reached, refuses the login, or ended the connection.
    #[error("the database: {}", database(.0))]
    Connection(postgres::Error),
    /// The database refused a statement.
    #[error("the database: {}", database(.0))]
    Database(postgres::Error),
    /// The database returned a value of another type than what was written.
    #[error("the database holds a value of another type than comity wrote: {}", database(.0))]
    Malformed(postgres::Error),
    /// A value, its code or both are not what the client wrote there.
    #[error("column `{column}`, row {row}: the database holds another value than was written there")]
    Tampered {
        /// The column.
        column: String,
        /// The row's key.
        row: u64,
    },
    /// Rows are missing or were added: the sum over a column is not the expected one.
    #[error(
        "column `{column}`: rows are missing, were added or were put back (found {found}, {expected} were written)"
    )]
    Incomplete {
        /// The column.
        column: String,
        /// Values found.
        found: u64,
        /// Values that there should be.
        expected: u64,
    },
    /// Rows are missing or were added, whatever they contain: the sum over all rows is not the expected one.
    #[error("rows are missing, were added or were put back (found {found}, {expected} were written)")]
    RowsChanged {
        /// Rows found.
        found: u64,
        /// Rows that there should be.
        expected: u64,
    },
    /// Codes are not in the order of their values.
    #[error("column `{column}`: codes are not in the order of their values")]
    Disordered {
        /// The column.
        column: String,
    },
    /// The database is older than the version that this client has seen, or has another history.
    #[error(
        "the database was set back to an older state, or is a copy that went on separately: this client has seen \
            version {seen}, and the database has {found}. Nothing is written until you accept its state with `comity \
            ope rebuild --accept`"
    )]
    RolledBack {
        /// The version that this client has seen.
        seen: u64,
        /// The version that the database has.
        found: u64,
    },
    /// The state of the table is sealed under a secret that the key does not have, or has columns that the
    /// key does not have.
    #[error(
        "the state of the table does not open with this key: the key belongs to another table, or is an older copy"
    )]
    WrongKey,
    /// The state of the table does not open under the secret that it names, or does not belong to the version
    /// beside it.
    #[error("the state of the table was changed by others than comity")]
    StateChanged,
    /// A range query on a column that has no order yet.
    #[error("column `{column}` has no order yet: a range query needs one, and then the database sees it for ever")]
    NotOrdered {
        /// The column.
        column: String,
    },
    /// Other clients wrote first, on every try.
    #[error("other clients write to this table all the time: try again")]
    Busy,
    /// Codes are used up, or a value does not fit.
    #[error(transparent)]
    Ope(#[from] comity_ope::Error),
    /// A name, a query or a parameter that does not fit.
    #[error("{0}")]
    Invalid(String),
    /// A file of the client.
    #[error("{}: {source}", path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The connection needs TLS and has none, or the server's certificate is not trusted.
    #[error("{0}")]
    Untrusted(String),
}

impl Error {
    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::Invalid(message.into())
    }

    /// Whether the same statement may succeed when it is tried again.
    pub(crate) fn is_transient(&self) -> bool {
        let Error::Database(error) = self else { return false };
        // serialization_failure, deadlock_detected
        error.code().is_some_and(|code| matches!(code.code(), "40001" | "40P01"))
    }
}

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Error {
        let cause = std::error::Error::source(&error);
        if cause.is_some_and(|cause| cause.is::<WrongType>() || cause.is::<WasNull>()) {
            return Error::Malformed(error);
        }
        match error.as_db_error() {
            Some(said) if !is_over(said) => Error::Database(error),
            _ => Error::Connection(error),
        }
    }
}

/// Whether the database ended the session, or can do nothing for want of memory, disk or the like (classes 53 and 58).
fn is_over(said: &DbError) -> bool {
    let severity = said.parsed_severity();
    matches!(severity, Some(Severity::Fatal | Severity::Panic))
        || ["53", "58"].iter().any(|class| said.code().code().starts_with(class))
}

/// The message of a database in its own words; the driver's hide them.
fn database(error: &postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) => error.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
