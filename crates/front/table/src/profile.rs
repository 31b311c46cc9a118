//! `KeyProfile`: how a table's keys look, in lengths and kinds and without a value, so that two owners can
//! compare theirs in words.

use std::fmt;

/// The look of a table's keys, column by column, after the steps of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyProfile {
    columns: Vec<ColumnProfile>,
    /// The kind of the first key's first value.
    first: Option<Kind>,
}

/// How the values of one column look.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ColumnProfile {
    /// Characters of the shortest value, and of the longest.
    lengths: (usize, usize),
    /// How many values are of each kind.
    kinds: [u64; Kind::ALL.len()],
    /// How many values have white space at an end.
    padded: u64,
    /// How many values have a capital letter.
    capital: u64,
}

/// The look of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Digits,
    DigitsAndSigns,
    Hash,
    Address,
    Words,
    WordsAndDigits,
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Digits, Kind::DigitsAndSigns, Kind::Hash, Kind::Address, Kind::Words, Kind::WordsAndDigits];

    /// Hex digits of the shortest hash: those of MD5.
    const HASH: usize = 32;

    fn of(value: &str) -> Kind {
        let letters = value.chars().any(char::is_alphabetic);
        let digits = value.chars().any(|c| c.is_ascii_digit());
        match () {
            () if value.len() >= Kind::HASH && value.bytes().all(|byte| byte.is_ascii_hexdigit()) => Kind::Hash,
            () if value.bytes().all(|byte| byte.is_ascii_digit()) => Kind::Digits,
            () if value.contains('@') => Kind::Address,
            () if digits && !letters => Kind::DigitsAndSigns,
            () if digits => Kind::WordsAndDigits,
            () => Kind::Words,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Digits => "digits alone",
            Kind::DigitsAndSigns => "digits and other signs",
            Kind::Hash => "hex as long as hashes",
            Kind::Address => "e-mail addresses",
            Kind::Words => "words without digits",
            Kind::WordsAndDigits => "letters and digits",
        }
    }
}

impl KeyProfile {
    /// Takes the values of the next distinct key.
    pub fn add<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        for (at, value) in values.enumerate() {
            let kind = Kind::of(value);
            if at == 0 {
                self.first.get_or_insert(kind);
            }
            if at == self.columns.len() {
                let (lengths, kinds) = ((usize::MAX, 0), [0; Kind::ALL.len()]);
                self.columns.push(ColumnProfile { lengths, kinds, padded: 0, capital: 0 });
            }
            let column = &mut self.columns[at];
            let length = value.chars().count();
            column.lengths = (column.lengths.0.min(length), column.lengths.1.max(length));
            column.kinds[kind as usize] += 1;
            column.padded += u64::from(value.trim() != value);
            column.capital += u64::from(value.chars().any(char::is_uppercase));
        }
    }

    /// The kind of the first key and that of all others, if the others are alike and the first one is not: it
    /// may be a header.
    pub fn odd_first(&self) -> Option<(&'static str, &'static str)> {
        let (first, column) = (self.first?, self.columns.first()?);
        let all: u64 = column.kinds.iter().sum();
        let others = Kind::ALL.into_iter().find(|kind| *kind != first && column.kinds[*kind as usize] + 1 == all);
        others.filter(|_| all > 2).map(|others| (first.name(), others.name()))
    }
}

impl fmt::Display for KeyProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.columns.is_empty() {
            return f.write_str("there is no key");
        }
        for (at, column) in self.columns.iter().enumerate() {
            let (shortest, longest) = column.lengths;
            let several = self.columns.len() > 1;
            if several {
                write!(f, "{}column {}: ", if at == 0 { "" } else { "; " }, at + 1)?;
            }
            match shortest == longest {
                true => write!(f, "{shortest} characters each")?,
                false => write!(f, "{shortest} to {longest} characters")?,
            }
            for kind in Kind::ALL {
                let count = column.kinds[kind as usize];
                if count > 0 {
                    write!(f, ", {count} of {}", kind.name())?;
                }
            }
            for (count, what) in [(column.capital, "capital letters"), (column.padded, "blanks at an end")] {
                if count > 0 {
                    write!(f, ", {count} with {what}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(keys: &[&[&str]]) -> KeyProfile {
        let mut profile = KeyProfile::default();
        keys.iter().for_each(|key| profile.add(key.iter().copied()));
        profile
    }

    #[test]
    fn lengths_and_kinds_are_told_and_no_value() {
        assert_eq!(profile(&[]).to_string(), "there is no key");
        let hash = "0123456789abcdef0123456789abcdef";
        let all = profile(&[&["17"], &["1004.0"], &[hash], &["a@b.c"], &["Bergen "], &["=\"0017x\""]]);
        assert_eq!(
            all.to_string(),
            "2 to 32 characters, 1 of digits alone, 1 of digits and other signs, 1 of hex as long as hashes, \
             1 of e-mail addresses, 1 of words without digits, 1 of letters and digits, 1 with capital letters, \
             1 with blanks at an end"
        );
        // The order of columns shows.
        let (one, other) = (profile(&[&["ann", "17"]]), profile(&[&["17", "ann"]]));
        assert_eq!(
            one.to_string(),
            "column 1: 3 characters each, 1 of words without digits; column 2: 2 characters each, 1 of digits alone"
        );
        assert_ne!(one.to_string(), other.to_string());
    }

    #[test]
    fn a_header_is_no_item_of_the_others_kind() {
        let odd = |keys: &[&str]| profile(&keys.iter().map(std::slice::from_ref).collect::<Vec<_>>()).odd_first();
        assert_eq!(odd(&["email", "a@b.c", "d@e.f"]), Some(("words without digits", "e-mail addresses")));
        assert_eq!(odd(&["id", "17", "4"]), Some(("words without digits", "digits alone")));
        // Two keys, others that are not alike, an odd one elsewhere, and a header that is like the rest.
        for none in
            [&["email", "a@b.c"][..], &["id", "17", "4.0"], &["17", "x", "4"], &["name", "ann", "bo"], &["1", "2", "3"]]
        {
            assert_eq!(odd(none), None, "{none:?}");
        }
    }
}
