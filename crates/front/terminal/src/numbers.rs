//! Numbers for people.

/// Seconds: `12.3 ms`, `1.50 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// A number of bytes: `512 bytes`, `1.30 MB`.
pub fn bytes(count: u64) -> String {
    if count < 1000 { format!("{count} bytes") } else { format!("{}B", scaled(count as f64)) }
}

/// A number with a comma before each three digits: `1,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with four digits and the prefix that it needs: `68.1 M`.
pub fn scaled(value: f64) -> String {
    const PREFIXES: [(f64, &str); 8] =
        [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, ""), (1e-3, " m"), (1e-6, " µ"), (1e-9, " n")];
    let (scale, prefix) = PREFIXES.into_iter().find(|&(scale, _)| value.abs() >= scale).unwrap_or(if value == 0.0 {
        (1.0, "")
    } else {
        PREFIXES[7]
    });
    let value = value / scale;
    let decimals = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 100.0) };
    format!("{value:.decimals$}{prefix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (value, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567"), (123456, "123,456")] {
            assert_eq!(grouped(value), text);
        }
    }

    #[test]
    fn numbers_are_scaled() {
        for (value, text) in [(68.12e6, "68.1 M"), (0.0, "0.00"), (999.4, "999"), (0.0123, "12.3 m"), (1e9, "1.00 G")] {
            assert_eq!(scaled(value), text);
        }
    }
}
