//! `Count`: how many, as `--n` takes it.

use std::fmt;
use std::str::FromStr;

/// `--n N`: how many, as a number or a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) usize);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        let count = match text.strip_prefix("2^") {
            Some(power) => power.parse().ok().and_then(|power| 1usize.checked_shl(power)),
            None => text.parse().ok(),
        };
        count
            .filter(|count| (1..=1 << 40).contains(count))
            .map(Count)
            .ok_or_else(|| format!("a number from 1 to 2^40 is wanted, such as 1000000 or 2^20, not `{text}`"))
    }
}

/// The number as it is read: a power of two as that.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            count if count.is_power_of_two() => write!(f, "2^{}", count.ilog2()),
            count => write!(f, "{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, count) in [("2^20", 1 << 20), ("1000000", 1_000_000), ("2^0", 1), ("2^40", 1 << 40)] {
            assert_eq!(text.parse::<Count>().unwrap(), Count(count));
            assert_eq!(Count(count).to_string(), text);
        }
        for bad in ["0", "", "2^", "2^41", "2^64", "2^-1", "3^2", "-5", "1e6"] {
            assert!(bad.parse::<Count>().is_err(), "{bad}");
        }
    }
}
