//! Steps that make keys alike which mean the same.
//!
//! Steps are a set: they are always taken in one order, so that two owners who name the same ones mean the
//! same. Each is idempotent but `sha256`, after which a key is hex: an owner who has only hashes of keys says
//! `hex`.

use std::fmt;
use std::str::FromStr;

use caseless::Caseless;
use ring::digest::{SHA256, digest};
use unicode_normalization::UnicodeNormalization;

use crate::error::Error;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Unicode's NFC.
    Nfc,
    /// NFKC and full case folding.
    Lower,
    /// No white space at the ends.
    Trim,
    /// The decimal digits alone.
    Digits,
    /// An integer without leading zeros: 007 is 7.
    Integer,
    /// A day as YYYY-MM-DD.
    Date,
    /// Hex digits, in lower case.
    Hex,
    /// The SHA-256 hash, in hex.
    Sha256,
}

/// In the order in which they are taken.
const ALL: [(Step, &str); 8] = [
    (Step::Nfc, "nfc"),
    (Step::Lower, "lower"),
    (Step::Trim, "trim"),
    (Step::Digits, "digits"),
    (Step::Integer, "integer"),
    (Step::Date, "date"),
    (Step::Hex, "hex"),
    (Step::Sha256, "sha256"),
];

/// The steps that a column's values go through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps(Vec<Step>);

/// The versions of Unicode's tables for normal forms and for case, which two owners must have alike.
pub fn unicode() -> String {
    let (form, case) = (unicode_normalization::UNICODE_VERSION, caseless::UNICODE_VERSION);
    format!("{}.{}/{}.{}", form.0, form.1, case.0, case.1)
}

impl Steps {
    /// Whether there is a step of this name.
    pub fn has(name: &str) -> bool {
        ALL.iter().any(|(_, other)| *other == name)
    }

    /// The steps as the other owner must have them: a hash does not show how it was made.
    pub fn agreed(&self) -> String {
        if self.hashes() { "hex".to_owned() } else { self.to_string() }
    }

    /// Whether a key is hashed.
    pub fn hashes(&self) -> bool {
        self.0.contains(&Step::Sha256)
    }

    /// Whether a step depends on Unicode's tables.
    pub fn needs_unicode(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Nfc | Step::Lower | Step::Digits))
    }

    /// Appends the value after these steps to `out`.
    ///
    /// # Errors
    /// What is wrong with a value, in words that do not contain the value.
    pub fn apply(&self, value: &str, out: &mut Vec<u8>) -> Result<(), &'static str> {
        // Most keys are ASCII, and most steps are the simplest ones: nothing is allocated for these.
        if value.is_ascii() && self.0.iter().all(|step| *step <= Step::Trim) {
            let value = if self.0.contains(&Step::Trim) { value.trim() } else { value };
            let from = out.len();
            out.extend_from_slice(value.as_bytes());
            if self.0.contains(&Step::Lower) {
                out[from..].make_ascii_lowercase();
            }
            return Ok(());
        }
        let mut value = value.to_owned();
        for step in &self.0 {
            value = step.apply(value)?;
        }
        out.extend_from_slice(value.as_bytes());
        Ok(())
    }
}

impl FromStr for Steps {
    type Err = Error;

    /// Steps with commas between them.
    fn from_str(text: &str) -> Result<Steps, Error> {
        let mut steps = Vec::new();
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let found = ALL.iter().find(|(_, other)| *other == name);
            let names: Vec<&str> = ALL.iter().map(|(_, name)| *name).collect();
            let (step, _) =
                found.ok_or_else(|| Error::new(format!("there is no step `{name}`; there is {}", names.join(", "))))?;
            steps.push(*step);
        }
        steps.sort_unstable();
        steps.dedup();
        let forms = steps.iter().filter(|step| (Step::Integer..=Step::Hex).contains(step)).count();
        if forms > 1 {
            return Err(Error::new(format!("`{text}`: choose one of integer, date and hex")));
        }
        Ok(Steps(steps))
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("as-is");
        }
        let names = ALL.iter().filter(|(step, _)| self.0.contains(step)).map(|(_, name)| *name);
        f.write_str(&names.collect::<Vec<_>>().join("+"))
    }
}

impl Step {
    fn apply(self, value: String) -> Result<String, &'static str> {
        if value.is_empty() {
            return Ok(value);
        }
        Ok(match self {
            Step::Nfc => value.nfc().collect(),
            Step::Lower => fold(value),
            Step::Trim => value.trim().to_owned(),
            Step::Digits => digits(&value).ok_or(
                "the value has a digit of another script, a Han numeral, or a number in one character, such as a \
                    fraction: write it with the digits 0 to 9",
            )?,
            Step::Integer => integer(&value).ok_or("the value is not an integer")?,
            Step::Date => {
                date(&value).ok_or("the value is not a day: write YYYY-MM-DD, YYYYMMDD, YYYY/MM/DD or DD.MM.YYYY")?
            }
            Step::Hex => hex(&value).ok_or("the value is not hex")?,
            Step::Sha256 => {
                digest(&SHA256, value.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
            }
        })
    }
}

/// NFKC and case folding until nothing changes: either may undo the other's work on a few characters.
fn fold(mut value: String) -> String {
    loop {
        let folded: String = value.nfkc().default_case_fold().nfkc().collect();
        if folded == value {
            return value;
        }
        value = folded;
    }
}

/// The numerals of Han script, in their forms for every day and for accounts: letters to Unicode, which a
/// digit step must not leave out.
const HAN: &str = "一二三四五六七八九十百千万萬亿億兆零两兩廿卅卌壹壱弌贰貳弐弍叁叄參参弎肆伍陆陸柒捌玖拾佰仟";

/// The decimal digits of a value, also those of full width. None if there are others: were they left out, two
/// numbers would be one.
fn digits(value: &str) -> Option<String> {
    let mut out = String::new();
    for c in value.chars() {
        let forms = || std::iter::once(c).nfkc();
        // What `lower` makes of a fraction has the slash of fractions.
        if !c.is_numeric() && c != '\u{2044}' && !forms().any(|form| HAN.contains(form)) {
            continue;
        }
        match (forms().next(), forms().nth(1)) {
            (Some(digit), None) if digit.is_ascii_digit() => out.push(digit),
            _ => return None,
        }
    }
    Some(out)
}

fn integer(value: &str) -> Option<String> {
    let (sign, digits) = match value.as_bytes()[0] {
        b'-' => ("-", &value[1..]),
        b'+' => ("", &value[1..]),
        _ => ("", value),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("{sign}{digits}"),
    })
}

/// A day, where year, month and day cannot be mixed up.
fn date(value: &str) -> Option<String> {
    let parts = |separator| {
        let parts: Vec<&str> = value.split(separator).collect();
        <[&str; 3]>::try_from(parts).ok()
    };
    let [year, month, day] = match (value.len(), value.is_ascii()) {
        (8, true) if value.bytes().all(|b| b.is_ascii_digit()) => [&value[..4], &value[4..6], &value[6..]],
        _ => match (parts('-').or_else(|| parts('/')), parts('.')) {
            (Some(parts), _) => parts,
            (None, Some([day, month, year])) => [year, month, day],
            _ => return None,
        },
    };
    let number = |text: &str, most: usize| -> Option<u32> {
        let fits = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse().ok())?
    };
    if year.len() != 4 {
        return None;
    }
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days).contains(&day).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Hex digits without what people put before and between them: 0x, \x, colons, dashes.
fn hex(value: &str) -> Option<String> {
    let value = ["0x", "0X", "\\x"].iter().find_map(|prefix| value.strip_prefix(prefix)).unwrap_or(value);
    let digits: String = value.chars().filter(|c| !matches!(c, ':' | '-' | ' ')).collect();
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(steps: &str, value: &str) -> Result<String, &'static str> {
        let mut out = Vec::new();
        steps.parse::<Steps>().unwrap().apply(value, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_means_the_same_becomes_alike() {
        let same = |steps: &str, values: &[&str], expected: &str| {
            for value in values {
                assert_eq!(after(steps, value).as_deref(), Ok(expected), "{steps} of {value:?}");
            }
        };
        same("lower,trim", &["Ann@X.org ", "\u{a0}ann@x.ORG", "\u{ff41}nn@x.org"], "ann@x.org");
        same("lower", &["Stra\u{df}e", "STRASSE", "stra\u{1e9e}e"], "strasse");
        same("lower", &["\u{3a3}", "\u{3c2}", "\u{3c3}"], "\u{3c3}");
        same("nfc", &["e\u{301}", "\u{e9}"], "\u{e9}");
        same("digits", &["+49 (30) 12-34", "493012\u{ff13}4"], "49301234");
        same("digits", &["\u{6771}\u{4eac} 21", "21"], "21");
        same("digits", &["x\u{b2}\u{2460}", "21", "2\u{e9}1"], "21");
        same("integer", &["007", "+7", "7"], "7");
        same("integer", &["-0", "0000", "+0"], "0");
        same("integer,trim", &[" -012 "], "-12");
        same("date", &["2024-02-29", "20240229", "29.2.2024", "2024/2/29"], "2024-02-29");
        same("date", &["2000-02-29"], "2000-02-29");
        same("hex", &["0xAB:cd", "ab-cd", "\\xABCD"], "abcd");
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        same("lower,sha256", &["abc", "ABC"], digest);
        same("hex", &[&digest.to_uppercase()], digest);
        same("trim,lower,integer,sha256", &[""], "");
    }

    #[test]
    fn what_has_no_such_form_is_refused() {
        for (steps, values) in [
            ("integer", &["7.0", "", "x", "-", "1e3", "\u{0663}"][..]),
            ("date", &["2023-02-29", "01/02/2020", "2020-13-01", "20-01-02", "2020-1-0", "1900-02-29", "x"]),
            ("hex", &["xyz", "0x0g"]),
            // Han numerals, also those of accounts and one of the radicals.
            ("digits", &["\u{4e8c}\u{4e00}", "2\u{5341}", "\u{58f9}\u{4edf}", "\u{2f00}", "030\u{96f6}"]),
            // Arabic-Indic and Bengali digits, a fraction, a circled 21, a Roman numeral, a numeral of Han
            // characters' own block.
            ("digits", &["+49 \u{0663}0", "\u{09e7}", "30\u{bd}", "\u{3251}", "\u{2163}", "\u{3007}", "1\u{2044}2"]),
        ] {
            for value in values.iter().filter(|value| !value.is_empty()) {
                assert!(after(steps, value).is_err(), "{steps} of {value:?}");
            }
        }
        assert!("integer,date".parse::<Steps>().is_err());
        assert!("lowr".parse::<Steps>().unwrap_err().to_string().contains("there is nfc, lower, trim"));
    }

    #[test]
    fn the_order_in_which_steps_are_named_says_nothing() {
        let steps: Steps = "trim,lower,trim".parse().unwrap();
        assert_eq!(steps.to_string(), "lower+trim");
        assert_eq!(steps, "lower,trim".parse().unwrap());
        assert_eq!("lower,sha256".parse::<Steps>().unwrap().agreed(), "hex".parse::<Steps>().unwrap().agreed());
        assert_eq!(Steps::default().to_string(), "as-is");
    }

    proptest! {
        /// Also for characters whose folding has no normal form, and the other way round.
        #[test]
        fn steps_are_idempotent(value in "\\PC{0,12}|[\u{300}-\u{345}\u{1f80}-\u{1fff}\u{a8}\u{130}a-z ]{1,6}|[0-9./-]{1,10}") {
            for steps in ["nfc", "lower", "trim", "digits", "integer", "date", "hex", "lower,trim", "nfc,trim", "lower,trim,digits,integer"] {
                if let Ok(once) = after(steps, &value) {
                    let twice = after(steps, &once);
                    prop_assert_eq!(twice.as_ref(), Ok(&once), "{}", steps);
                }
            }
        }

        /// The way without allocations is no other.
        #[test]
        fn ascii_is_like_the_rest(value in "[ -~\t]{0,12}") {
            for steps in ["trim", "lower", "lower,trim", "nfc,lower,trim", ""] {
                let steps: Steps = steps.parse().unwrap();
                let slow = steps.0.iter().try_fold(value.clone(), |value, step| step.apply(value)).unwrap();
                let mut quick = Vec::new();
                steps.apply(&value, &mut quick).unwrap();
                prop_assert_eq!(quick, slow.into_bytes());
            }
        }
    }
}
