//! Whole numbers of any width, from text and to text.

use comity_core::Bits;

/// The reason why a text is no number of a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    /// The text is not written as a number; the character that is wrong, counted from 0.
    Character(usize),
    /// The number does not fit.
    Range,
}

/// Reads a number of `bits` bits: a sign if it has one, then decimal digits, or `0x`, `0o` or `0b` and
/// digits. `_` may stand between digits. A number may be negative only if it is signed.
pub(super) fn parse(text: &str, bits: usize, signed: bool) -> Result<Bits, NumberError> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let minus = text.starts_with('-');
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x" | "0X") => (16, &unsigned[2..]),
        Some("0o" | "0O") => (8, &unsigned[2..]),
        Some("0b" | "0B") => (2, &unsigned[2..]),
        _ => (10, unsigned),
    };
    let before = text.len() - digits.len();
    let mut words = vec![0u64; bits.div_ceil(64)];
    let (mut fits, mut after_digit) = (true, false);
    for (i, c) in digits.char_indices() {
        if c == '_' && after_digit {
            after_digit = false;
            continue;
        }
        let digit = c.to_digit(radix).ok_or(NumberError::Character(before + i))?;
        after_digit = true;
        // A number that does not fit is read on only to see that it is one.
        fits = fits && push(&mut words, u64::from(radix), u64::from(digit));
    }
    if !after_digit {
        return Err(NumberError::Character(text.len()));
    }
    let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
    fits &= (bits..64 * words.len()).all(|i| !bit(&words, i));
    let top = fits && bits > 0 && bit(&words, bits - 1);
    let zero = fits && words.iter().all(|&word| word == 0);
    fits &= match (signed, minus) {
        (false, false) => true,
        (false, true) => zero,
        (true, false) => !top,
        // -2^(bits-1) is its own negation; every larger magnitude with the top bit is out of range.
        (true, true) => !top || (0..bits - 1).all(|i| !bit(&words, i)),
    };
    if !fits {
        return Err(NumberError::Range);
    }
    if minus {
        negate(&mut words);
    }
    Ok((0..bits).map(|i| bit(&words, i)).collect())
}

/// The number `radix * words + digit`; false if that does not fit the words.
fn push(words: &mut [u64], radix: u64, digit: u64) -> bool {
    let mut carry = u128::from(digit);
    for word in words {
        carry += u128::from(*word) * u128::from(radix);
        *word = carry as u64;
        carry >>= 64;
    }
    carry == 0
}

fn negate(words: &mut [u64]) {
    let mut carry = true;
    for word in words {
        (*word, carry) = (!*word).overflowing_add(u64::from(carry));
    }
}

/// The number in decimal.
pub(super) fn show(bits: &Bits, signed: bool) -> String {
    let minus = signed && !bits.is_empty() && bits.get(bits.len() - 1);
    let mut words = vec![if minus { u64::MAX } else { 0 }; bits.len().div_ceil(64)];
    for (i, bit) in bits.iter().enumerate() {
        let place = 1u64 << (i % 64);
        words[i / 64] = if bit { words[i / 64] | place } else { words[i / 64] & !place };
    }
    if minus {
        negate(&mut words);
    }
    // The least significant nineteen digits first.
    const CHUNK: u128 = 10_000_000_000_000_000_000;
    let mut chunks = Vec::new();
    while let Some(top) = words.iter().rposition(|&word| word != 0) {
        words.truncate(top + 1);
        let mut rest = 0u128;
        for word in words.iter_mut().rev() {
            let part = rest << 64 | u128::from(*word);
            (*word, rest) = ((part / CHUNK) as u64, part % CHUNK);
        }
        chunks.push(rest);
    }
    let mut text = if minus { "-".to_owned() } else { String::new() };
    text += &chunks.pop().unwrap_or(0).to_string();
    chunks.iter().rev().for_each(|chunk| text += &format!("{chunk:019}"));
    text
}

/// The range from the smallest to the largest number, for people.
pub(super) fn range(bits: usize, signed: bool) -> String {
    match (bits, signed) {
        (0, _) => "0".to_owned(),
        (1..=128, false) => format!("0 to {}", u128::MAX >> (128 - bits)),
        (1..=128, true) => format!("{} to {}", i128::MIN >> (128 - bits), i128::MAX >> (128 - bits)),
        (_, false) => format!("0 to 2^{bits} - 1"),
        (_, true) => format!("-2^{n} to 2^{n} - 1", n = bits - 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_notation() {
        let number = |text: &str| parse(text, 16, true).map(|bits| show(&bits, true));
        for (text, value) in [
            ("0", "0"),
            ("-0", "0"),
            ("+7", "7"),
            ("-32_768", "-32768"),
            ("0x7fFF", "32767"),
            ("-0x80_00", "-32768"),
            ("0b1010", "10"),
            ("0o17", "15"),
            ("00012", "12"),
        ] {
            assert_eq!(number(text), Ok(value.to_owned()), "{text}");
        }
        for (text, at) in [
            ("", 0),
            ("-", 1),
            ("0x", 2),
            ("1__2", 2),
            ("_1", 0),
            ("1_", 2),
            ("--1", 1),
            ("1a", 1),
            ("1é", 1),
            ("0b2", 2),
        ] {
            assert_eq!(number(text), Err(NumberError::Character(at)), "{text}");
        }
    }

    #[test]
    fn the_ends_of_the_ranges() {
        for (text, bits, signed, fits) in [
            ("255", 8, false, true),
            ("256", 8, false, false),
            ("-1", 8, false, false),
            ("127", 8, true, true),
            ("128", 8, true, false),
            ("-128", 8, true, true),
            ("-129", 8, true, false),
            ("-1", 1, true, true),
            ("1", 1, true, false),
            ("0", 0, true, true),
            ("1", 0, false, false),
            ("18446744073709551616", 64, false, false),
            ("18446744073709551616", 65, false, true),
        ] {
            assert_eq!(parse(text, bits, signed).is_ok(), fits, "{text}");
        }
        assert_eq!(range(8, false), "0 to 255");
        assert_eq!(range(8, true), "-128 to 127");
        assert_eq!(range(128, true), format!("{} to {}", i128::MIN, i128::MAX));
        assert_eq!(range(256, true), "-2^255 to 2^255 - 1");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn numbers_are_the_machines(number in any::<i128>(), shift in 0u32..128, wide in 128usize..300) {
            let number = number >> shift;
            prop_assert_eq!(show(&parse(&number.to_string(), wide, true).unwrap(), true), number.to_string());
            let number = number as u128;
            prop_assert_eq!(show(&parse(&format!("{number:#x}"), wide, false).unwrap(), false), number.to_string());
        }

        #[test]
        fn what_is_shown_is_read_back(bits in prop::collection::vec(any::<bool>(), 0..400), signed in any::<bool>()) {
            let value: Bits = bits.iter().copied().collect();
            prop_assert_eq!(parse(&show(&value, signed), bits.len(), signed).unwrap(), value);
        }
    }
}
