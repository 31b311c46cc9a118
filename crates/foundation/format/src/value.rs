//! Values as text: what people type and read, to bits on wires and back.
//!
//! | text | is |
//! | --- | --- |
//! | `00112233…` or `0x00112233…` | the value's number in hex, all of its digits: one for every four bits, rounded up |
//! | `u64:12345`, `i32:-7` | a number in decimal, of as many bits as the value has (in two's complement) |
//! | `dec:12345`, `dec:-7` | a number in decimal that fits the value, whatever its width |
//! | `text:abc` | the bytes of a text in UTF-8, the first one the most significant: what a hash takes |
//! | `bits:0101…` | the wires themselves, in order |
//!
//! Hex reads as standards print it: the key of FIPS 197, the digest of FIPS 180. A number's least significant bit is on
//! the value's first wire, unless [`BitOrder::Msb`] turns that; `bits:` is never turned.
//!
//! Errors never repeat a value, which may be a secret.
//!
//! That is how a value without a type is written. Where a program gives a [`Type`], [`read`] and [`show`] are for
//! numbers in decimal, booleans, arrays, tuples and structs.

mod number;
mod rows;
mod show;
mod typed;

pub use comity_circuit::{FloatWidth, Type};
use comity_core::Bits;

use crate::BYTE_ORDER_MARK;

pub use show::{show, show_json};
pub use typed::{TypedError, read};

/// The order of bits: which bit of a number is on the first wire of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitOrder {
    /// The least significant one.
    #[default]
    Lsb,
    /// The most significant one, as in some circuit files.
    Msb,
}

/// The reason why a text is not a value of the wanted width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Another number of hex digits.
    #[error("{digits} hex digits are given; a value of {bits} bits has {}", bits.div_ceil(4))]
    HexDigits {
        /// The number of digits given.
        digits: usize,
        /// The number of bits of the value.
        bits: usize,
    },
    /// A character that is not allowed at its place.
    #[error("character {at} is not {expected}")]
    Character {
        /// The place of the character in the text, counted from 1.
        at: usize,
        /// The characters that may stand there.
        expected: &'static str,
    },
    /// Another number of bits after `bits:`.
    #[error("{given} bits are given; the value has {takes}")]
    Bits {
        /// The number of bits given.
        given: usize,
        /// The number of bits of the value.
        takes: usize,
    },
    /// A type of another width before a number.
    #[error("a number of {given} bits is given; the value has {takes} (`dec:` takes any number that fits)")]
    Width {
        /// The number of bits of the type.
        given: usize,
        /// The number of bits of the value.
        takes: usize,
    },
    /// A text of another length.
    #[error("a text of {given} bytes is given; a value of {bits} bits has {} (a hash of N bytes is a circuit of its own, such as sha256-N)", bits / 8)]
    Text {
        /// The number of bytes given.
        given: usize,
        /// The number of bits of the value.
        bits: usize,
    },
    /// The number does not fit.
    #[error("the number does not fit {0} bits")]
    Range(usize),
    /// An unknown word before the colon.
    #[error("a value is hex, or begins with bits:, dec:, text:, or u or i and its width as in u64:")]
    Kind,
}

const HEX: &str = "a hex digit";
const DECIMAL: &str = "a decimal digit";
const BIT: &str = "0 or 1";

/// Reads a value of `bits` bits. One line break at the end is not part of it.
///
/// # Errors
/// [`ValueError`], with both widths where they differ.
pub fn parse(text: &str, bits: usize, order: BitOrder) -> Result<Bits, ValueError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let number = match text.split_once(':') {
        None => hex(text, bits)?,
        Some(("bits", wires)) => return parse_bits(wires, bits),
        Some(("text", letters)) => bytes(letters.as_bytes(), bits)?,
        Some(("dec", digits)) => decimal(digits, "dec:".len(), bits, true, true)?,
        Some((kind, digits)) => {
            let (signed, width) = match (kind.strip_prefix('i'), kind.strip_prefix('u')) {
                (Some(width), _) => (true, width),
                (_, Some(width)) => (false, width),
                _ => return Err(ValueError::Kind),
            };
            let given: usize = width.parse().map_err(|_| ValueError::Kind)?;
            if given != bits {
                return Err(ValueError::Width { given, takes: bits });
            }
            decimal(digits, kind.len() + 1, bits, signed, !signed)?
        }
    };
    Ok(turned(number, order))
}

/// The hex of a value: what [`parse`] reads.
pub fn to_hex(value: &Bits, order: BitOrder) -> String {
    let bit = |at: usize| match order {
        BitOrder::Lsb => value.get(at),
        BitOrder::Msb => value.get(value.len() - 1 - at),
    };
    let digit = |at: usize| (at..value.len().min(at + 4)).rev().fold(0, |digit, at| 2 * digit + u32::from(bit(at)));
    let digits = (0..value.len()).step_by(4).rev();
    digits.map(|at| char::from_digit(digit(at), 16).unwrap_or('0')).collect()
}

/// The bits of a value's wires in order, as zeros and ones: what [`parse`] reads after `bits:`.
pub fn to_bits(value: &Bits) -> String {
    value.iter().map(|bit| if bit { '1' } else { '0' }).collect()
}

fn reversed(bits: &Bits) -> Bits {
    (0..bits.len()).rev().map(|i| bits.get(i)).collect()
}

fn turned(number: Bits, order: BitOrder) -> Bits {
    match order {
        BitOrder::Lsb => number,
        BitOrder::Msb => reversed(&number),
    }
}

fn hex(text: &str, bits: usize) -> Result<Bits, ValueError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let before = text.len() - digits.len();
    let mut number = Bits::zeros(bits);
    let count = digits.chars().count();
    for (i, c) in digits.chars().enumerate() {
        let digit = c.to_digit(16).ok_or(ValueError::Character { at: before + i + 1, expected: HEX })?;
        let low = 4 * (count - 1 - i);
        for j in (0..4).filter(|j| digit >> j & 1 == 1) {
            if low + j < bits {
                number.set(low + j, true);
            } else if count == bits.div_ceil(4) {
                return Err(ValueError::Range(bits));
            }
        }
    }
    if count == bits.div_ceil(4) { Ok(number) } else { Err(ValueError::HexDigits { digits: count, bits }) }
}

/// Bytes as a number, the first one the most significant.
fn bytes(bytes: &[u8], bits: usize) -> Result<Bits, ValueError> {
    if 8 * bytes.len() != bits {
        return Err(ValueError::Text { given: bytes.len(), bits });
    }
    Ok(bytes.iter().rev().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1)).collect())
}

fn parse_bits(text: &str, takes: usize) -> Result<Bits, ValueError> {
    let mut bits = Bits::default();
    for (i, c) in text.chars().enumerate() {
        let bit = match c {
            '0' => false,
            '1' => true,
            _ => return Err(ValueError::Character { at: "bits:".len() + i + 1, expected: BIT }),
        };
        bits.push(bit);
    }
    let given = bits.len();
    if given == takes { Ok(bits) } else { Err(ValueError::Bits { given, takes }) }
}

/// Decimal digits that a word takes.
const CHUNK: usize = 19;

/// A decimal number in two's complement. `negative` numbers go down to `-2^(bits-1)`; others go up to `2^bits - 1` if
/// `full`, else to `2^(bits-1) - 1`.
fn decimal(text: &str, before: usize, bits: usize, negative: bool, full: bool) -> Result<Bits, ValueError> {
    let (digits, minus) = match text.strip_prefix('-') {
        Some(digits) if negative => (digits, true),
        _ => (text, false),
    };
    let before = before + text.len() - digits.len();
    if digits.is_empty() {
        return Err(ValueError::Character { at: before + 1, expected: DECIMAL });
    }
    let mut words = vec![0u64; bits.div_ceil(64)];
    let (mut fits, mut used) = (true, 0);
    let mut places = digits.chars().enumerate();
    loop {
        // As many digits at a time as a word can take.
        let (mut power, mut chunk) = (1_u64, 0_u64);
        for (i, c) in places.by_ref().take(CHUNK) {
            let digit = c.to_digit(10).ok_or(ValueError::Character { at: before + i + 1, expected: DECIMAL })?;
            (power, chunk) = (power * 10, chunk * 10 + u64::from(digit));
        }
        if power == 1 {
            break;
        }
        if !fits {
            continue;
        }
        let mut carry = u128::from(chunk);
        for word in &mut words[..used] {
            carry += u128::from(*word) * u128::from(power);
            *word = carry as u64;
            carry >>= 64;
        }
        match words.get_mut(used) {
            _ if carry == 0 => {}
            Some(word) => (*word, used) = (carry as u64, used + 1),
            None => fits = false,
        }
    }
    let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
    fits &= (bits..64 * words.len()).all(|i| !bit(&words, i));
    let top = fits && bits > 0 && bit(&words, bits - 1);
    if minus {
        // -2^(bits-1) is its own negation; every larger magnitude with the top bit is out of range.
        fits &= !top || (0..bits - 1).all(|i| !bit(&words, i));
        let mut carry = true;
        for word in &mut words {
            (*word, carry) = (!*word).overflowing_add(u64::from(carry));
        }
    } else {
        fits &= full || !top;
    }
    if fits { Ok((0..bits).map(|i| bit(&words, i)).collect()) } else { Err(ValueError::Range(bits)) }
}

#[cfg(test)]
mod typed_tests;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wires(text: &str, bits: usize) -> Result<String, ValueError> {
        parse(text, bits, BitOrder::Lsb).map(|value| to_bits(&value))
    }

    /// 10^n is 2^n times an odd number; and it is there in time, with a hundred thousand digits.
    #[test]
    fn long_decimal_numbers_are_read() {
        for zeros in [0, 1, 17, 18, 19, 20, 37, 38, 39, 100_000] {
            let bits = zeros * 10 / 3 + 64;
            let value = parse(&format!("dec:1{}", "0".repeat(zeros)), bits, BitOrder::Lsb).unwrap();
            assert_eq!(value.iter().position(|bit| bit), Some(zeros), "{zeros}");
            let one_less = parse(&format!("dec:{}", "9".repeat(zeros)), bits, BitOrder::Lsb);
            if zeros > 0 {
                let less = one_less.unwrap();
                assert!((0..bits).all(|i| less.get(i) == if i <= zeros { i < zeros } else { value.get(i) }), "{zeros}");
            }
        }
        assert_eq!(wires(&format!("dec:{}", "9".repeat(100_000)), 64), Err(ValueError::Range(64)));
        let wrong = format!("dec:{}x", "9".repeat(100));
        assert_eq!(wires(&wrong, 64), Err(ValueError::Character { at: 105, expected: DECIMAL }));
    }

    #[test]
    fn hex_is_the_number_as_written() {
        assert_eq!(wires("1e", 8).unwrap(), "01111000");
        assert_eq!(wires("0x1E\n", 8).unwrap(), "01111000");
        assert_eq!(wires("1", 1).unwrap(), "1");
        assert_eq!(wires("1f", 5).unwrap(), "11111");
        assert_eq!(wires("", 0).unwrap(), "");
        let msb = parse("1e", 8, BitOrder::Msb).unwrap();
        assert_eq!((to_bits(&msb).as_str(), to_hex(&msb, BitOrder::Msb).as_str()), ("00011110", "1e"));
        assert_eq!(to_hex(&msb, BitOrder::Lsb), "78");
        // FIPS 197, appendix B: the first byte of the key is the most significant one of the number.
        let key = parse("2b7e151628aed2a6abf7158809cf4f3c", 128, BitOrder::Lsb).unwrap();
        assert_eq!((key.to_bytes()[15], key.to_bytes()[0]), (0x2b, 0x3c));
    }

    #[test]
    fn a_text_is_its_bytes_as_printed() {
        let hex = parse("616263", 24, BitOrder::Lsb);
        assert_eq!(parse("text:abc", 24, BitOrder::Lsb), hex);
        assert_eq!(parse("\u{feff}text:abc\r\n", 24, BitOrder::Lsb), hex);
        assert_eq!(wires("text:é:", 24).unwrap(), wires("c3a93a", 24).unwrap());
        assert_eq!(wires("text:ab", 24), Err(ValueError::Text { given: 2, bits: 24 }));
        let why = wires("text:ab", 512).unwrap_err().to_string();
        assert!(why.contains("2 bytes") && why.contains("has 64") && why.contains("sha256-N"), "{why}");
    }

    #[test]
    fn hex_of_another_length_is_refused_with_both() {
        let error = |text, bits| wires(text, bits).unwrap_err();
        assert_eq!(error("1e", 9), ValueError::HexDigits { digits: 2, bits: 9 });
        assert_eq!(error("01e", 8), ValueError::HexDigits { digits: 3, bits: 8 });
        assert_eq!(error("", 8), ValueError::HexDigits { digits: 0, bits: 8 });
        assert_eq!(error("ff", 4).to_string(), "2 hex digits are given; a value of 4 bits has 1");
        assert_eq!(error("2f", 5), ValueError::Range(5));
        assert_eq!(error("1g", 8), ValueError::Character { at: 2, expected: HEX });
        assert_eq!(error("0xé", 8), ValueError::Character { at: 3, expected: HEX });
        assert_eq!(error("1 e", 12), ValueError::Character { at: 2, expected: HEX });
        assert_eq!(error("1e\n\n", 8), ValueError::Character { at: 3, expected: HEX });
    }

    #[test]
    fn bits_are_the_wires_in_order() {
        assert_eq!(wires("bits:0110", 4).unwrap(), "0110");
        assert_eq!(to_bits(&parse("bits:0010", 4, BitOrder::Msb).unwrap()), "0010");
        assert_eq!(wires("bits:", 0).unwrap(), "");
        assert_eq!(wires("bits:011", 4), Err(ValueError::Bits { given: 3, takes: 4 }));
        assert_eq!(wires("bits:012", 3), Err(ValueError::Character { at: 8, expected: BIT }));
    }

    #[test]
    fn numbers_are_in_range_and_of_the_right_width() {
        assert_eq!(wires("u8:6", 8).unwrap(), "01100000");
        assert_eq!(wires("i8:-2", 8).unwrap(), "01111111");
        assert_eq!(wires("dec:5", 3).unwrap(), "101");
        assert_eq!(to_bits(&parse("u4:1", 4, BitOrder::Msb).unwrap()), "0001");
        assert_eq!(wires("u64:5", 32), Err(ValueError::Width { given: 64, takes: 32 }));
        for (text, fits) in [
            ("u8:255", true),
            ("u8:256", false),
            ("i8:127", true),
            ("i8:128", false),
            ("i8:-128", true),
            ("i8:-129", false),
            ("dec:255", true),
            ("dec:256", false),
            ("dec:-128", true),
            ("dec:-129", false),
            ("dec:-255", false),
            ("dec:-0", true),
            ("dec:00000000000000000000000000000000000007", true),
            ("dec:99999999999999999999999999999999999999", false),
        ] {
            assert_eq!(wires(text, 8).is_ok(), fits, "{text}");
        }
        assert_eq!(wires("u128:340282366920938463463374607431768211455", 128).unwrap(), "1".repeat(128));
        assert_eq!(wires("u128:340282366920938463463374607431768211456", 128), Err(ValueError::Range(128)));
        assert_eq!(wires("dec:0", 0).unwrap(), "");
        assert_eq!(wires("dec:1", 0), Err(ValueError::Range(0)));
    }

    #[test]
    fn what_is_no_value_is_named() {
        for (text, at) in [("u8:", 4), ("u8:-1", 4), ("dec:-", 6), ("dec:1x", 6), ("i8:+1", 4), ("dec:--1", 6)] {
            assert_eq!(wires(text, 8), Err(ValueError::Character { at, expected: DECIMAL }), "{text}");
        }
        for text in ["x:1", "u:1", "uu8:1", "u-8:1", ":1", "BITS:1", "u99999999999999999999999:1"] {
            assert_eq!(wires(text, 8), Err(ValueError::Kind), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_back(bits in prop::collection::vec(any::<bool>(), 0..300)) {
            let value: Bits = bits.iter().copied().collect();
            for order in [BitOrder::Lsb, BitOrder::Msb] {
                prop_assert_eq!(&parse(&to_hex(&value, order), bits.len(), order).unwrap(), &value);
                let text = format!("bits:{}", to_bits(&value));
                prop_assert_eq!(&parse(&text, bits.len(), order).unwrap(), &value);
            }
        }

        #[test]
        fn decimals_are_the_machines(number in any::<i128>(), shift in 0u32..128) {
            let number = number >> shift;
            let value = parse(&format!("i128:{number}"), 128, BitOrder::Lsb).unwrap();
            prop_assert_eq!(value.to_bytes(), number.to_le_bytes());
            let wide = parse(&format!("dec:{number}"), 200, BitOrder::Lsb).unwrap();
            let fill = if number < 0 { 0xff } else { 0 };
            prop_assert_eq!(wide.to_bytes(), [&number.to_le_bytes()[..], &[fill; 9]].concat());
        }

        #[test]
        fn no_text_panics(text in "(bits:|dec:|u8:|i8:|0x)?[-0-9a-fx:é\n]{0,12}", bits in 0usize..70) {
            let _ = parse(&text, bits, BitOrder::Msb);
        }
    }
}
