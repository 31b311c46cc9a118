//! `Key`: the columns that rows are compared by, and the item that a row's key becomes.

use std::str::FromStr;

use crate::Record;
use crate::error::{Error, Result};
use crate::reader::{ColumnKind, TableReader};
use crate::steps::{Steps, unicode};

/// The error for a value that is not text.
pub const NO_TEXT: &str = "the text is not UTF-8: convert it with `iconv -t UTF-8`";

/// A hash of a key's encoding: equal for equal keys; nobody finds different keys with the same hash.
pub type KeyHash = [u8; 32];

/// The columns of a key, and the steps for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    columns: Vec<(String, Steps)>,
}

impl FromStr for Key {
    type Err = Error;

    /// Reads `COL[:STEPS][,COL2…]`. A comma stands between columns and between steps: behind steps, what is a
    /// step's name is one more. A colon or comma in a column's name has a backslash before it.
    fn from_str(text: &str) -> Result<Key> {
        let mut columns: Vec<(String, Option<String>)> = Vec::new();
        for part in split(text, ',') {
            let words = split(&part, ':');
            match (&words[..], columns.last_mut()) {
                ([step], Some((_, Some(steps)))) if Steps::has(step) => {
                    steps.push(',');
                    steps.push_str(step);
                }
                ([name], _) => columns.push((bare(name), None)),
                ([name, steps], _) => columns.push((bare(name), Some(steps.clone()))),
                _ => {
                    return Err(Error::new(format!(
                        "`{part}`: write COLUMN or COLUMN:STEPS, with a backslash before a colon or comma in a name"
                    )));
                }
            }
        }
        let column = |(name, steps): (String, Option<String>)| {
            if name.is_empty() {
                return Err(Error::new(format!("`{text}`: the column's name is missing")));
            }
            Ok((name, steps.unwrap_or_default().parse()?))
        };
        Ok(Key { columns: columns.into_iter().map(column).collect::<Result<_>>()? })
    }
}

/// The parts of a text between these, where no backslash is before them; backslashes stay.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut escaped) = (vec![String::new()], false);
    for c in text.chars() {
        if c == separator && !escaped {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    parts
}

/// A name without the backslashes.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

impl Key {
    /// The key that is a whole line, or the one column of this name.
    pub fn column(name: &str) -> Key {
        Key { columns: vec![(name.to_owned(), Steps::default())] }
    }

    /// The part of the key's description that both owners must have alike: the number of columns, the steps
    /// for each, and if they matter the versions of Unicode's tables. Each owner has its own column names.
    pub fn agreed(&self) -> String {
        let steps: Vec<String> = self.columns.iter().map(|(_, steps)| steps.agreed()).collect();
        versioned(steps, self.columns.iter().any(|(_, steps)| steps.needs_unicode() && !steps.hashes()))
    }

    /// The steps of each column, if this key is hashed: another owner that hashes its keys itself must have
    /// the same.
    pub fn hashed(&self) -> Option<String> {
        let hashed = || self.columns.iter().map(|(_, steps)| steps).filter(|steps| steps.hashes());
        hashed().next()?;
        let steps =
            self.columns.iter().map(|(_, steps)| if steps.hashes() { steps.to_string() } else { "-".to_owned() });
        Some(versioned(steps.collect(), hashed().any(Steps::needs_unicode)))
    }

    /// The name, for people.
    pub fn title(&self) -> String {
        self.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The key as it is found in this table.
    ///
    /// # Errors
    /// Those of [`TableReader::find`].
    pub fn bind(&self, reader: &mut TableReader) -> Result<Bound> {
        let columns = self.columns.iter().map(|(name, steps)| Ok((reader.find(name)?, steps.clone())));
        Ok(Bound {
            columns: columns.collect::<Result<_>>()?,
            hasher: blake3::Hasher::new_derive_key("comity 2026 key of a row"),
            text: Vec::new(),
            ends: Vec::new(),
        })
    }
}

/// The steps of columns, and where they matter the versions of Unicode's tables.
fn versioned(steps: Vec<String>, matter: bool) -> String {
    let unicode = if matter { format!("({})", unicode()) } else { String::new() };
    format!("{}{unicode}", steps.join(","))
}

/// A key in a table.
pub struct Bound {
    columns: Vec<(usize, Steps)>,
    hasher: blake3::Hasher,
    /// The values of the last key, one behind another.
    text: Vec<u8>,
    ends: Vec<u64>,
}

impl Bound {
    /// The item of a record's key; `None` if one of its columns is empty.
    ///
    /// # Errors
    /// An error that names the line and the column, if a step does not apply to a value, or a value is not
    /// text.
    pub fn item(&mut self, reader: &TableReader, record: &Record) -> Result<Option<KeyHash>> {
        self.text.clear();
        self.ends.clear();
        for (column, steps) in &self.columns {
            let wrong = |what: &str| Err(reader.wrong(record, *column, what));
            match reader.kind(*column) {
                ColumnKind::Real => {
                    return wrong("a number with a fraction cannot be a key, since it can be written in many ways");
                }
                ColumnKind::Nested => return wrong("a list or an object cannot be a key"),
                _ => {}
            }
            let Ok(value) = core::str::from_utf8(record.get(*column).unwrap_or_default()) else {
                return wrong(NO_TEXT);
            };
            let from = self.text.len();
            if let Err(what) = steps.apply(value, &mut self.text) {
                return wrong(what);
            }
            if self.text.len() == from {
                return Ok(None);
            }
            self.ends.push(self.text.len() as u64);
        }
        // Where each value ends tells ("ab", "c") from ("a", "bc"); how many there are is agreed on.
        let mut hasher = self.hasher.clone();
        self.ends.iter().for_each(|end| {
            hasher.update(&end.to_le_bytes());
        });
        Ok(Some(*hasher.update(&self.text).finalize().as_bytes()))
    }

    /// The values of the last record's key, column by column.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(move |(from, to)| {
            let value = self.text.get(from as usize..*to as usize).unwrap_or_default();
            core::str::from_utf8(value).unwrap_or_default()
        })
    }

    /// The values of the last record's key, one behind another, as rows are sorted by them.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        let key: Key = text.parse().unwrap();
        let column = |(name, steps): &(String, Steps)| format!("{name}={steps}");
        key.columns.iter().map(column).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn commas_are_between_steps_and_columns() {
        assert_eq!(key("email"), "email=as-is");
        assert_eq!(key("email:lower,trim"), "email=lower+trim");
        assert_eq!(key("first:lower,trim,last:lower,born:date"), "first=lower+trim last=lower born=date");
        assert_eq!(key("first,last"), "first=as-is last=as-is");
        // Behind a column without steps it is a column, and with a colon always.
        assert_eq!(key("a,trim"), "a=as-is trim=as-is");
        assert_eq!(key("a:lower,trim:"), "a=lower trim=as-is");
        assert_eq!(key("a\\:b\\,c:trim"), "a:b,c=trim");
        for bad in ["", "a:b:c", ":trim", "a,,b", "a:lowre"] {
            assert!(bad.parse::<Key>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_other_owner_names_columns_otherwise_and_steps_alike() {
        let agreed = |text: &str| text.parse::<Key>().unwrap().agreed();
        assert_eq!(agreed("email:lower,trim"), agreed("mail:trim,lower"));
        assert_ne!(agreed("email:lower"), agreed("email:trim"));
        assert_ne!(agreed("a,b"), agreed("a"));
        assert_eq!(agreed("mail:lower,trim,sha256"), agreed("hash:hex"));
        // Nobody can tell how hashes came about; an owner who makes them says it to another who does.
        let hashed = |text: &str| text.parse::<Key>().unwrap().hashed();
        assert_eq!((hashed("hash:hex"), hashed("a,b:lower")), (None, None));
        assert_eq!(hashed("a:trim,b:sha256,trim").as_deref(), Some("-,trim+sha256"));
        assert_eq!(hashed("a:lower,sha256"), Some(format!("lower+sha256({})", unicode())));
        assert_ne!(hashed("a:sha256"), hashed("a:trim,sha256"));
        for (key, needed) in
            [("a:lower", true), ("a:nfc", true), ("a:digits", true), ("a:trim", false), ("a:hex", false)]
        {
            assert_eq!(agreed(key).contains(&unicode()), needed, "{key}");
        }
    }
}
