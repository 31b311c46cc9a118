//! Names of tables and columns in SQL text: the only thing of the user's that is ever part of it.

use crate::error::{Error, Result};

/// Bytes of a name at most; PostgreSQL cuts at 63, and endings are added here.
const MOST: usize = 50;

/// A name as SQL text.
pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as an SQL literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Refuses a text that is no name that PostgreSQL keeps as it is.
pub(crate) fn check(name: &str) -> Result<()> {
    if name.is_empty() || name.len() > MOST || name.contains('\0') {
        return Err(Error::invalid(format!(
            "`{}` cannot name a table or column: a name has 1 to {MOST} bytes",
            name.escape_debug()
        )));
    }
    Ok(())
}

/// A table's name as a user writes it, `name` or `schema.name`.
///
/// # Errors
/// [`Error::Invalid`] if it is not such a name.
pub fn table_name(text: &str) -> Result<[String; 2]> {
    let (schema, name) = text.split_once('.').unwrap_or(("", text));
    if !schema.is_empty() {
        check(schema)?;
    }
    check(name)?;
    Ok([schema.to_owned(), name.to_owned()])
}

/// The SQL text of the names of one table.
#[derive(Clone)]
pub(crate) struct Names {
    pub(crate) table: String,
    pub(crate) state: String,
    /// The links of all versions.
    pub(crate) links: String,
    pub(crate) compare: String,
}

impl Names {
    pub(crate) fn new(table: &[String; 2]) -> Names {
        let inside = |name: &str| format!("{}.{}", quote(&table[0]), quote(name));
        let [state, links, compare] = ["comity_ope", "comity_ope_links", "comity_ope_compare"].map(inside);
        Names { table: inside(&table[1]), state, links, compare }
    }
}

/// The columns that an encrypted column is stored in.
pub(crate) fn sealed(column: &str) -> String {
    quote(&format!("{column}_sealed"))
}

/// As [`sealed`], for the part that is ordered.
pub(crate) fn order(column: &str) -> String {
    quote(&format!("{column}_order"))
}

/// The column with the tags of a bound one.
pub(crate) fn bound(column: &str) -> String {
    quote(&format!("{column}_bound"))
}

/// The key of a row.
pub(crate) const ROW: &str = "\"comity_row\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(sealed("x\"; drop table staff; --"), "\"x\"\"; drop table staff; --_sealed\"");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(table_name("hr.staff").unwrap(), ["hr", "staff"]);
        assert_eq!(table_name("staff").unwrap(), ["", "staff"]);
        for bad in ["", "a.", &"x".repeat(51), "a\0b"] {
            assert!(matches!(table_name(bad), Err(Error::Invalid(_))), "{bad:?}");
        }
    }
}
