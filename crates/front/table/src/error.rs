//! What is wrong with a table, in words.

use std::fmt;

/// An error that names the table, the line and the column if these are known, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

/// The result of an operation on a table.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// An error of these words.
    pub fn new(what: impl Into<String>) -> Error {
        Error(what.into())
    }

    /// The error of a build without Parquet, asked to read or to write it.
    #[cfg(any(test, not(feature = "parquet")))]
    pub(crate) fn no_parquet(does: &str) -> Error {
        Error(format!(
            "this build of comity {does} no Parquet: build comity with `--features parquet`, or with every command, \
                `--features full`"
        ))
    }

    /// The same error, with the place in front.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Error {
        Error(format!("{place}: {}", self.0))
    }

    /// The same error, with advice behind it.
    #[must_use]
    pub(crate) fn and(self, advice: &str) -> Error {
        Error(format!("{}. {advice}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_parquet_says_how_to_get_it() {
        let said = Error::no_parquet("writes").at("x.parquet").to_string();
        assert!(said.starts_with("x.parquet: this build of comity writes no Parquet"), "{said}");
        assert!(said.contains("--features parquet") && said.contains("--features full"), "{said}");
    }
}
