//! Values of PostgreSQL's own types in its binary form, from text.
//!
//! The server reads more than is read here ("tomorrow" is a date to it): what is not understood without doubt
//! has no binary form, and is left to the server as text, which also says what is wrong with it.

use postgres::types::Type;

/// Whether values of a type may have a binary form here.
pub(crate) fn is_known(ty: &Type) -> bool {
    [
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::BOOL,
        Type::FLOAT4,
        Type::FLOAT8,
        Type::NUMERIC,
        Type::TEXT,
        Type::VARCHAR,
        Type::BPCHAR,
        Type::JSON,
        Type::JSONB,
        Type::DATE,
        Type::TIMESTAMP,
        Type::TIMESTAMPTZ,
        Type::UUID,
        Type::BYTEA,
    ]
    .contains(ty)
}

/// Appends the binary form of a value; `None` if the value has no such form, and then some bytes may have
/// been appended.
pub(crate) fn write(ty: &Type, text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    match *ty {
        Type::INT2 => bytes.extend_from_slice(&text.parse::<i16>().ok()?.to_be_bytes()),
        Type::INT4 => bytes.extend_from_slice(&text.parse::<i32>().ok()?.to_be_bytes()),
        Type::INT8 => bytes.extend_from_slice(&text.parse::<i64>().ok()?.to_be_bytes()),
        Type::BOOL => bytes.push(match text {
            "t" | "true" | "1" => 1,
            "f" | "false" | "0" => 0,
            _ => return None,
        }),
        // A number that is too large or too small for a normal one is for the server to decide.
        Type::FLOAT4 => {
            let number = decimal(text)?.parse::<f32>().ok().filter(|number| number.is_normal())?;
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        Type::FLOAT8 => {
            let number = decimal(text)?.parse::<f64>().ok().filter(|number| number.is_normal())?;
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        Type::NUMERIC => numeric(text, bytes)?,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::JSON => bytes.extend_from_slice(text.as_bytes()),
        Type::JSONB => {
            // The version of its binary form.
            bytes.push(1);
            bytes.extend_from_slice(text.as_bytes());
        }
        Type::DATE => bytes.extend_from_slice(&(date(text)? as i32).to_be_bytes()),
        Type::TIMESTAMP => bytes.extend_from_slice(&moment(text)?.to_be_bytes()),
        Type::TIMESTAMPTZ => {
            // Without its distance from Greenwich it is in the server's time zone.
            let sign = text.rfind(['+', '-']).filter(|at| *at > "2000-01-01".len())?;
            let (hours, minutes) = text[sign + 1..].split_once(':').unwrap_or((&text[sign + 1..], "00"));
            let east = (digits(hours, 2)? * 60 + digits(minutes, 2)?) * 60_000_000;
            let here = moment(&text[..sign])?;
            let there = if text[sign..].starts_with('+') { here - east } else { here + east };
            // The server refuses such zones.
            (digits(hours, 2)? < 15 && digits(minutes, 2)? < 60).then_some(())?;
            bytes.extend_from_slice(&there.to_be_bytes());
        }
        Type::UUID => {
            let parts: Vec<&str> = text.split('-').collect();
            parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]).then_some(())?;
            parts.iter().try_for_each(|part| hex(part, bytes))?;
        }
        Type::BYTEA => hex(text.strip_prefix("\\x")?, bytes)?,
        _ => return None,
    }
    Some(())
}

/// The number in a text of exactly `count` digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// A number with a dot or an exponent, but no name as `NaN`.
fn decimal(text: &str) -> Option<&str> {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)).then_some(text)
}

fn hex(text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    for pair in pairs {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        bytes.push((high? << 4 | low?) as u8);
    }
    Some(())
}

/// Days since 2000-01-01 of the Gregorian calendar.
fn date(text: &str) -> Option<i64> {
    let [year, month, day] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = [31, 28 + i64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month).ok()?.checked_sub(1).filter(|month| *month < 12)?;
    (year > 0 && (1..=length[month]).contains(&day)).then_some(())?;
    let before = year - 1;
    let years = 365 * before + before / 4 - before / 100 + before / 400;
    // 2000-01-01 is day 730,119 after 0001-01-01.
    Some(years + length[..month].iter().sum::<i64>() + day - 1 - 730_119)
}

/// Microseconds since the first moment of 2000.
fn moment(text: &str) -> Option<i64> {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = clock.split(':').collect::<Vec<_>>().try_into().ok()?;
    let (hour, minute, second) = (digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?);
    let fraction = digits(fraction, fraction.len()).filter(|_| (1..=6).contains(&fraction.len()))?
        * 10i64.pow(6 - fraction.len() as u32);
    (hour < 24 && minute < 60 && second < 60).then_some(())?;
    Some((((date(day)? * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + fraction)
}

/// Digits to the base 10,000, the number of those before the point less one, the sign, and the decimal digits
/// that are shown behind it.
fn numeric(text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    let negative = text.starts_with('-');
    let number = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = number.split_once('.').map_or((number, ""), |(whole, fraction)| (whole, fraction));
    let all_digits = [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    // `1.` and `.1` are left to the server.
    let proper = !whole.is_empty() && (!fraction.is_empty() || !number.contains('.'));
    (all_digits && proper && whole.len() <= 1000 && fraction.len() <= 1000).then_some(())?;
    let padded = format!("{}{whole}{fraction}{}", "0".repeat(pad(whole)), "0".repeat(pad(fraction)));
    let fours: Vec<i16> =
        padded.as_bytes().chunks(4).map(|four| four.iter().fold(0, |n, d| 10 * n + i16::from(d - b'0'))).collect();
    let leading = fours.iter().take_while(|four| **four == 0).count();
    let kept =
        fours[leading..].iter().rposition(|four| *four != 0).map_or(&[][..], |last| &fours[leading..=leading + last]);
    let weight = if kept.is_empty() { 0 } else { whole.len().div_ceil(4) as i16 - 1 - leading as i16 };
    let sign = if negative && !kept.is_empty() { 0x4000 } else { 0 };
    for part in [kept.len() as i16, weight, sign, fraction.len() as i16].iter().chain(kept) {
        bytes.extend_from_slice(&part.to_be_bytes());
    }
    Some(())
}

/// Zeros that fill up groups of four digits.
fn pad(digits: &str) -> usize {
    digits.len().wrapping_neg() % 4
}
