//! Types and values: what a column holds, as a number that keeps the order and as bytes that are sealed.
//!
//! Every value maps to a number below 2^120 that is ordered as values are. Numbers, decimals and times *are*
//! that number. A text's is its first 15 bytes, so that text is ordered by the bytes of its UTF-8 form
//! (PostgreSQL's `collate "C"`) as far as a prefix tells; the rest is for the client to compare. What is
//! sealed has one length for all values of a column: text is padded to its declared width, since lengths
//! would show which rows are equal.

use core::fmt;
use core::str::FromStr;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::error::{Error, Result};

/// The type of an encrypted column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// `smallint`
    SmallInt,
    /// `integer`
    Integer,
    /// `bigint`
    BigInt,
    /// `numeric(precision, scale)`
    Numeric {
        /// Digits in all, at most 35.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// `date`, of the years 1 to 9999
    Date,
    /// `timestamp`, of the years 1 to 9999, to the microsecond
    Timestamp,
    /// `text(bytes)`, at most 1024
    Text(u16),
}

/// A value of a column.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct ColumnValue {
    order: u128,
    /// All of a text.
    text: Option<String>,
}

/// Bytes of a text that its number has.
pub(crate) const PREFIX: usize = 15;

impl ColumnValue {
    /// The number by which values are ordered.
    pub fn order(&self) -> u128 {
        self.order
    }
}

/// The order of a column's values, which are of one type.
impl Ord for ColumnValue {
    fn cmp(&self, other: &ColumnValue) -> core::cmp::Ordering {
        self.order.cmp(&other.order).then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for ColumnValue {
    fn partial_cmp(&self, other: &ColumnValue) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl ColumnType {
    /// Bytes of the number by which values are ordered.
    pub fn width(self) -> usize {
        match self {
            ColumnType::SmallInt => 2,
            ColumnType::Integer | ColumnType::Date => 4,
            ColumnType::BigInt | ColumnType::Timestamp => 8,
            ColumnType::Numeric { precision, .. } if precision <= 18 => 8,
            ColumnType::Numeric { .. } | ColumnType::Text(_) => PREFIX,
        }
    }

    /// Whether the number is only a part of the value, so that the client has to compare the rest.
    pub fn is_prefix(self) -> bool {
        matches!(self, ColumnType::Text(_))
    }

    /// Bytes of a value before it is sealed.
    pub fn plain_bytes(self) -> usize {
        match self {
            ColumnType::Text(bytes) => 2 + usize::from(bytes),
            other => other.width(),
        }
    }

    /// The offset that is added to a number so that the sum is never negative.
    fn offset(self) -> i128 {
        1 << (8 * self.width() - 1)
    }

    fn number(self, number: i128) -> ColumnValue {
        ColumnValue { order: (number + self.offset()) as u128, text: None }
    }

    /// The value that a text stands for. The text has the form in which PostgreSQL writes values by default.
    ///
    /// # Errors
    /// [`Error::Invalid`] says what is wrong, without the value.
    pub fn parse(self, text: &str) -> Result<ColumnValue> {
        let wrong = |what: &str| Error::Invalid(format!("the text is not a value of the type {self}: {what}"));
        let integer = |least: i128, greatest: i128| {
            let number: i128 = text.trim().parse().map_err(|_| wrong("a whole number is wanted"))?;
            if (least..=greatest).contains(&number) {
                Ok(self.number(number))
            } else {
                Err(wrong("it is out of range"))
            }
        };
        match self {
            ColumnType::SmallInt => integer(i16::MIN.into(), i16::MAX.into()),
            ColumnType::Integer => integer(i32::MIN.into(), i32::MAX.into()),
            ColumnType::BigInt => integer(i64::MIN.into(), i64::MAX.into()),
            ColumnType::Numeric { precision, scale } => {
                decimal(text.trim(), precision, scale).map(|number| self.number(number)).map_err(wrong)
            }
            ColumnType::Date => {
                date(text.trim()).map(|days| self.number(days.into())).ok_or_else(|| wrong("write 2024-01-31"))
            }
            ColumnType::Timestamp => timestamp(text.trim())
                .map(|micros| self.number(micros.into()))
                .ok_or_else(|| wrong("write 2024-01-31 23:59:59.123456")),
            ColumnType::Text(bytes) => {
                if text.len() > bytes.into() {
                    return Err(wrong("it is longer than the declared width"));
                }
                if text.contains('\0') {
                    return Err(wrong("a text has no zero bytes"));
                }
                let mut order = [0; 16];
                let prefix = &text.as_bytes()[..text.len().min(PREFIX)];
                order[1..][..prefix.len()].copy_from_slice(prefix);
                Ok(ColumnValue { order: u128::from_be_bytes(order), text: Some(text.to_owned()) })
            }
        }
    }

    /// A value as text.
    pub fn write(self, value: &ColumnValue) -> Zeroizing<String> {
        let number = value.order as i128 - self.offset();
        Zeroizing::new(match (self, &value.text) {
            (_, Some(text)) => text.clone(),
            (ColumnType::Numeric { scale, .. }, _) => write_decimal(number, scale.into()),
            (ColumnType::Date, _) => write_date(number as i64),
            (ColumnType::Timestamp, _) => write_timestamp(number as i64),
            _ => number.to_string(),
        })
    }

    /// The bytes of a value: the same number for all values of the type.
    pub fn to_bytes(self, value: &ColumnValue) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.plain_bytes()));
        match &value.text {
            Some(text) => {
                bytes.extend_from_slice(&(text.len() as u16).to_be_bytes());
                bytes.extend_from_slice(text.as_bytes());
                bytes.resize(self.plain_bytes(), 0);
            }
            None => bytes.extend_from_slice(&value.order.to_be_bytes()[16 - self.width()..]),
        }
        bytes
    }

    /// Decodes a value.
    ///
    /// # Errors
    /// [`Error::Malformed`] if they do not encode a value of this type.
    pub fn from_bytes(self, bytes: &[u8]) -> Result<ColumnValue> {
        let malformed = || Error::Malformed(format!("the bytes are not a value of the type {self}"));
        if bytes.len() != self.plain_bytes() {
            return Err(malformed());
        }
        let value = if let ColumnType::Text(_) = self {
            let (length, rest) = bytes.split_at(2);
            let text = rest.get(..usize::from(u16::from_be_bytes([length[0], length[1]]))).ok_or_else(malformed)?;
            self.parse(core::str::from_utf8(text).map_err(|_| malformed())?).map_err(|_| malformed())?
        } else {
            let mut order = [0; 16];
            order[16 - bytes.len()..].copy_from_slice(bytes);
            ColumnValue { order: u128::from_be_bytes(order), text: None }
        };
        // One value, one form; and no number that the type does not have.
        let again = self.parse(&self.write(&value)).map_err(|_| malformed())?;
        if again == value && self.to_bytes(&value)[..] == *bytes { Ok(value) } else { Err(malformed()) }
    }

    /// The least and the greatest number that a value can have.
    pub fn ends(self) -> (u128, u128) {
        (0, (1 << (8 * self.width())) - 1)
    }
}

/// A decimal number, scaled.
fn decimal(text: &str, precision: u8, scale: u8) -> Result<i128, &'static str> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (whole.is_empty() && fraction.is_empty()) || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit())
    {
        return Err("a decimal number is wanted");
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > scale.into() {
        return Err("it has more digits after the point than the scale, and comity does not round it");
    }
    let zeros = usize::from(scale) - fraction.len();
    let digits = whole.bytes().chain(fraction.bytes()).chain(core::iter::repeat_n(b'0', zeros));
    let mut number = 0i128;
    for digit in digits {
        number = 10 * number + i128::from(digit - b'0');
        if number >= 10i128.pow(precision.into()) {
            return Err("it has more digits than the precision");
        }
    }
    Ok(if negative { -number } else { number })
}

fn write_decimal(number: i128, scale: usize) -> String {
    let digits = format!("{:0width$}", number.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let (sign, point) = (if number < 0 { "-" } else { "" }, if scale > 0 { "." } else { "" });
    format!("{sign}{whole}{point}{fraction}")
}

/// Days of a date since 1970-01-01, in the Gregorian calendar at all times, as in SQL.
fn date(text: &str) -> Option<i32> {
    let mut parts = text.split('-');
    let mut part = |width: usize| {
        let part = parts.next().filter(|part| part.len() == width && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<i32>().ok()
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let fits = parts.next().is_none() && year >= 1 && (1..=12).contains(&month);
    (fits && (1..=month_days(year, month)).contains(&day)).then(|| days(year, month) + day - 1)
}

fn leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_days(year: i32, month: i32) -> i32 {
    match month {
        2 => 28 + i32::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first of a month.
fn days(year: i32, month: i32) -> i32 {
    let before = year - 1;
    let years = 365 * before + before / 4 - before / 100 + before / 400 - 719_162;
    years + (1..month).map(|month| month_days(year, month)).sum::<i32>()
}

fn write_date(days_since: i64) -> String {
    // Close, and then a step at most.
    let mut year = (i128::from(days_since) * 400).div_euclid(146_097) as i64 + 1970;
    let start = |year: i64| i64::from(days(year.clamp(1, 10_000) as i32, 1));
    while start(year) > days_since && year > 1 {
        year -= 1;
    }
    while start(year + 1) <= days_since && year < 9999 {
        year += 1;
    }
    let year = year.clamp(1, 9999) as i32;
    let month = (1..=12).rev().find(|month| i64::from(days(year, *month)) <= days_since).unwrap_or(1);
    format!("{year:04}-{month:02}-{:02}", days_since - i64::from(days(year, month)) + 1)
}

const DAY: i64 = 86_400_000_000;

/// Microseconds since 1970-01-01 00:00:00.
fn timestamp(text: &str) -> Option<i64> {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.split(':');
    let mut part = |below: i64| {
        let part = parts.next().filter(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<i64>().ok().filter(|number| *number < below)
    };
    let seconds = 3600 * part(24)? + 60 * part(60)? + part(60)?;
    if parts.next().is_some() || !(1..=6).contains(&fraction.len()) || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
    Some(i64::from(date(day)?) * DAY + seconds * 1_000_000 + micros)
}

fn write_timestamp(micros: i64) -> String {
    let (day, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!(".{fraction:06}");
    format!("{} {time}{}", write_date(day), fraction.trim_end_matches('0').trim_end_matches('.'))
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::SmallInt => f.write_str("smallint"),
            ColumnType::Integer => f.write_str("integer"),
            ColumnType::BigInt => f.write_str("bigint"),
            ColumnType::Numeric { precision, scale } => write!(f, "numeric({precision},{scale})"),
            ColumnType::Date => f.write_str("date"),
            ColumnType::Timestamp => f.write_str("timestamp"),
            ColumnType::Text(bytes) => write!(f, "text({bytes})"),
        }
    }
}

impl FromStr for ColumnType {
    type Err = Error;

    fn from_str(text: &str) -> Result<ColumnType> {
        let text = text.trim().to_ascii_lowercase();
        let wrong = || {
            Error::Invalid(format!(
                "there is no type `{text}`: choose smallint, integer, bigint, numeric(PRECISION,SCALE) with at most 35 digits, date, \
                 timestamp, or text(BYTES) with at most 1024"
            ))
        };
        let (name, inside) = match text.split_once('(') {
            Some((name, rest)) => (name.trim_end(), Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
            None => (text.as_str(), None),
        };
        let number = |text: &str| text.trim().parse::<u16>().map_err(|_| wrong());
        match (name, inside) {
            ("smallint", None) => Ok(ColumnType::SmallInt),
            ("integer" | "int", None) => Ok(ColumnType::Integer),
            ("bigint", None) => Ok(ColumnType::BigInt),
            ("date", None) => Ok(ColumnType::Date),
            ("timestamp", None) => Ok(ColumnType::Timestamp),
            ("text", Some(bytes)) => {
                Some(number(bytes)?).filter(|b| (1..=1024).contains(b)).map(ColumnType::Text).ok_or_else(wrong)
            }
            ("numeric" | "decimal", Some(inside)) => {
                let (precision, scale) = inside.split_once(',').unwrap_or((inside, "0"));
                let (precision, scale) = (number(precision)?, number(scale)?);
                if !(1..=35).contains(&precision) || scale > precision {
                    return Err(wrong());
                }
                Ok(ColumnType::Numeric { precision: precision as u8, scale: scale as u8 })
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn types() -> impl Strategy<Value = ColumnType> {
        let numeric = (1..=35u8)
            .prop_flat_map(|precision| (0..=precision).prop_map(move |scale| ColumnType::Numeric { precision, scale }));
        prop_oneof![
            Just(ColumnType::SmallInt),
            Just(ColumnType::Integer),
            Just(ColumnType::BigInt),
            Just(ColumnType::Date),
            Just(ColumnType::Timestamp),
            numeric,
            (1..=40u16).prop_map(ColumnType::Text),
        ]
    }

    proptest! {
        #[test]
        fn what_decodes_is_written_and_read_back(ty in types(), bytes in prop::collection::vec(any::<u8>(), 42)) {
            let bytes = &bytes[..ty.plain_bytes().min(42)];
            if let Ok(value) = ty.from_bytes(bytes) {
                prop_assert_eq!(&ty.to_bytes(&value)[..], bytes);
                prop_assert!(ty.parse(&ty.write(&value)).unwrap() == value);
                prop_assert!(value.order() <= ty.ends().1);
            }
        }

        #[test]
        fn integers_and_decimals_are_ordered_as_numbers(a in any::<i64>(), b in any::<i64>()) {
            for ty in [ColumnType::BigInt, ColumnType::Numeric { precision: 21, scale: 2 }] {
                let [x, y] = [a, b].map(|number| ty.parse(&number.to_string()).unwrap());
                prop_assert_eq!(x.cmp(&y), a.cmp(&b));
                prop_assert_eq!(x.order().cmp(&y.order()), a.cmp(&b));
            }
        }

        #[test]
        fn times_are_ordered_as_their_text(a in -62_135_596_800_000_000..253_402_300_800_000_000i64, b in -62_135_596_800_000_000..253_402_300_800_000_000i64) {
            let texts = [a, b].map(write_timestamp);
            let [x, y] = texts.clone().map(|text| ColumnType::Timestamp.parse(&text).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(timestamp(&texts[0]), Some(a));
            let [x, y] = texts.clone().map(|text| ColumnType::Date.parse(&text[..10]).unwrap());
            prop_assert_eq!(x.cmp(&y), texts[0][..10].cmp(&texts[1][..10]));
        }

        #[test]
        fn text_is_ordered_by_its_bytes(a in "[a-c\u{e9}\u{20ac}]{0,12}", b in "[a-c\u{e9}\u{20ac}]{0,12}") {
            let [x, y] = [&a, &b].map(|text| ColumnType::Text(40).parse(text).unwrap());
            prop_assert_eq!(x.cmp(&y), a.as_bytes().cmp(b.as_bytes()));
            prop_assert!(x.order().cmp(&y.order()) == x.cmp(&y) || x.order() == y.order());
            prop_assert_eq!(ColumnType::Text(40).to_bytes(&x).len(), 42, "one length for all");
        }
    }

    #[test]
    fn the_ends_of_the_types() {
        for (ty, least, greatest) in [
            ("smallint", "-32768", "32767"),
            ("integer", "-2147483648", "2147483647"),
            ("bigint", "-9223372036854775808", "9223372036854775807"),
            ("numeric(5,2)", "-999.99", "999.99"),
            ("numeric(35,0)", &format!("-{}", "9".repeat(35)), &"9".repeat(35)),
            ("date", "0001-01-01", "9999-12-31"),
            ("timestamp", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
            ("text(3)", "", "\u{7f}\u{7f}\u{7f}"),
        ] {
            let ty: ColumnType = ty.parse().unwrap();
            let [low, high] = [least, greatest].map(|text| ty.parse(text).unwrap());
            assert!(low < high && high.order() <= ty.ends().1, "{ty}");
            assert_eq!([&low, &high].map(|value| ty.write(value).to_string()), [least, greatest]);
            for value in [&low, &high] {
                assert!(ty.from_bytes(&ty.to_bytes(value)).is_ok_and(|read| read == *value));
            }
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (ty, bad) in [
            ("smallint", "32768"),
            ("integer", "1.5"),
            ("bigint", ""),
            ("numeric(5,2)", "1000"),
            ("numeric(5,2)", "1.001"),
            ("numeric(5,2)", "."),
            ("numeric(5,2)", "1e3"),
            ("date", "2023-02-29"),
            ("date", "1900-02-29"),
            ("date", "0000-01-01"),
            ("date", "2023-13-01"),
            ("timestamp", "2023-01-01 24:00:00"),
            ("timestamp", "2023-01-01 00:00:00.1234567"),
            ("text(3)", "abcd"),
            ("text(3)", "a\0"),
        ] {
            let refused = ty.parse::<ColumnType>().unwrap().parse(bad);
            let Err(Error::Invalid(message)) = refused else { panic!("{ty}: {bad}") };
            assert!(bad.len() < 4 || !message.contains(bad), "an error does not show the value: {message}");
        }
        for bad in ["", "int8", "numeric(36,0)", "numeric(3,4)", "text", "text(0)", "text(1025)", "text(3", "date(3)"] {
            assert!(bad.parse::<ColumnType>().is_err(), "{bad}");
        }
        let numeric: ColumnType = "numeric(5,2)".parse().unwrap();
        assert_eq!(numeric.write(&numeric.parse("-1.5").unwrap()).as_str(), "-1.50");
        assert_eq!(numeric.write(&numeric.parse("-0").unwrap()).as_str(), "0.00");
        assert!(numeric.from_bytes(&[0xff; 8]).is_err(), "beyond the precision");
        assert_eq!(
            ColumnType::Timestamp.write(&ColumnType::Timestamp.parse("2024-02-29").unwrap()).as_str(),
            "2024-02-29 00:00:00"
        );
    }
}
