//! A party's share of a value as a text file, to be used in another run.
//!
//! ```text
//! comity share 1
//! tag 5be0…
//! party 1 of 3
//! type u32
//! bits 32
//! share 8f3a0c11
//! check 9d41…
//! ```
//!
//! The shares of a value sum up to it, bit by bit; one alone is uniform, and tells nothing. All of a value
//! have one tag, so that parties can tell whether theirs belong together. A file holds one share, so no two
//! of one value lie in one file. The share is written as the bytes of its packed wires. The last line is a
//! digest of those before: it shows damage by accident, and nothing else, since a share has no MAC.
//!
//! There is one way of writing a share, and whatever else stands in a file is an error that names the line.

use std::fmt;

use comity_core::{Bits, PartyId, SessionId};

/// The first line.
const HEAD: &str = "comity share 1";

/// The longest name of a type, in bytes.
const LONGEST_TYPE: usize = 1 << 14;

/// A party's share of a value.
#[derive(Clone, PartialEq, Eq)]
pub struct ValueShare {
    /// The tag that all shares of the value have alike.
    pub tag: [u8; 32],
    /// The party whose share it is.
    pub party: PartyId,
    /// The number of parties that have a share of the value.
    pub parties: u16,
    /// The type of the value, as people read it.
    pub ty: String,
    /// The share.
    pub share: Bits,
}

/// The reason why a file is not a share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}; the share cannot be used")]
pub struct NoShare {
    /// The line, counted from 1.
    pub line: usize,
    /// The fault, in words.
    pub what: &'static str,
}

impl ValueShare {
    /// The most bytes of a file with a share of `bits` bits.
    pub fn longest(bits: usize) -> u64 {
        2 * bits.div_ceil(8) as u64 + LONGEST_TYPE as u64 + 512
    }

    /// The text of the file.
    pub fn encode(&self) -> String {
        let text = format!(
            "{HEAD}\ntag {}\nparty {} of {}\ntype {}\nbits {}\nshare {}\n",
            hex(&self.tag),
            self.party,
            self.parties,
            self.ty,
            self.share.len(),
            hex(&self.share.to_bytes()),
        );
        let check = digest(&text);
        format!("{text}check {check}\n")
    }

    /// Reads a file, which may be hostile: nothing is allocated for what it announces.
    ///
    /// # Errors
    /// [`NoShare`].
    pub fn decode(bytes: &[u8]) -> Result<ValueShare, NoShare> {
        let text = str::from_utf8(bytes).map_err(|_| NoShare { line: 1, what: "the file is not UTF-8 text" })?;
        let mut lines = (1..).zip(text.split('\n'));
        let mut next = |key: &str, what: &'static str| {
            let (line, text) = lines.next().ok_or(NoShare { line: 1, what: "the file is empty" })?;
            let wrong = NoShare { line, what };
            let rest = text.strip_prefix(key).and_then(|rest| rest.strip_prefix(' ')).ok_or(wrong.clone())?;
            Ok::<_, NoShare>((rest, wrong))
        };
        let (version, wrong) = next("comity share", "the file is not a share of comity")?;
        if version != "1" {
            return Err(NoShare { what: "the share is in the form of another version of comity", ..wrong });
        }
        let (tag, wrong) = next("tag", "`tag` and 64 hex digits are expected")?;
        let tag = unhex(tag).and_then(|tag| tag.try_into().ok()).ok_or(wrong)?;
        let (who, wrong) = next("party", "`party I of N` is expected")?;
        let numbers = who.split_once(" of ").and_then(|(me, all)| Some((me.parse().ok()?, all.parse().ok()?)));
        let (party, parties) = numbers.filter(|(me, all)| me < all && *all >= 2).ok_or(wrong)?;
        let (ty, wrong) = next("type", "`type` and the type of the value are expected")?;
        if ty.is_empty() || ty.len() > LONGEST_TYPE || ty.contains(char::is_control) {
            return Err(wrong);
        }
        let (bits, wrong) = next("bits", "`bits` and a number are expected")?;
        let bits: usize = bits.parse().map_err(|_| wrong)?;
        let (share, wrong) = next("share", "`share` and as many hex digits as it has bits are expected")?;
        let share = unhex(share).filter(|bytes| bytes.len() == bits.div_ceil(8)).ok_or(wrong)?;
        let read = ValueShare {
            tag,
            party: PartyId(party),
            parties,
            ty: ty.to_owned(),
            share: Bits::from_bytes(&share, bits),
        };
        let (check, wrong) = next("check", "`check` and a digest are expected")?;
        // Numbers with zeros in front, bits behind the last one, lines after the last one: all that is not as
        // it is written.
        match read.encode() == text {
            true => Ok(read),
            false if check.len() == 32 => Err(NoShare { what: "the digest is not that of the lines before", ..wrong }),
            false => Err(wrong),
        }
    }
}

/// Without the share.
impl fmt::Debug for ValueShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueShare({} of {}, {} bits of {})", self.party, self.parties, self.share.len(), self.ty)
    }
}

/// Half of a hash: against accidents it is more than enough.
fn digest(text: &str) -> String {
    hex(&SessionId::derive("file of a share", &[text.as_bytes()]).to_bytes()[..16])
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[usize::from(digit)] as char).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect::<Option<_>>()?;
    rest.is_empty().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(bits: usize) -> ValueShare {
        let share = (0..bits).map(|i| i % 3 == 0).collect();
        ValueShare { tag: [0xa5; 32], party: PartyId(1), parties: 3, ty: "[u8; 2]".into(), share }
    }

    #[test]
    fn what_is_written_is_read() {
        for bits in [1, 7, 8, 9, 64, 65, 1000] {
            let text = share(bits).encode();
            assert_eq!(ValueShare::decode(text.as_bytes()), Ok(share(bits)));
            assert!((text.len() as u64) < ValueShare::longest(bits));
        }
        assert_eq!(
            share(16).encode().lines().take(6).collect::<Vec<_>>()[1..],
            [&*format!("tag {}", "a5".repeat(32)), "party 1 of 3", "type [u8; 2]", "bits 16", "share 4992"]
        );
        assert!(!format!("{:?}", share(16)).contains("4992"));
    }

    /// The text with this in the place of that, and a digest that fits.
    fn changed(from: &str, to: &str) -> String {
        let text = share(13).encode();
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let before = text.split_once("check ").map_or(&*text, |(before, _)| before);
        format!("{before}check {}\n", digest(before))
    }

    #[test]
    fn whatever_else_stands_there_is_refused_with_its_line() {
        assert!(ValueShare::decode(changed("u8", "u4").as_bytes()).is_ok());
        for (from, to, line) in [
            ("comity share 1", "comity share 2", 1),
            ("comity", "Comity", 1),
            ("tag a5", "tag 5", 2),
            ("tag a5", "tag A5", 7),
            ("tag a5", "tag g5", 2),
            ("party 1 of 3", "party 3 of 3", 3),
            ("party 1 of 3", "party 0 of 1", 3),
            ("party 1 of 3", "party 01 of 3", 7),
            ("party 1 of 3", "party 1 of 99999", 3),
            ("type [u8; 2]", "type ", 4),
            ("type [u8; 2]", "type a\tb", 4),
            ("bits 13", "bits 17", 6),
            ("bits 13", "bits 99999999999999999999", 5),
            ("bits 13", "bits 18446744073709551615", 6),
            // A bit behind the last one.
            ("share 4912", "share 4952", 7),
            ("share 4912", "share 491200", 6),
            ("share 4912", "share 491", 6),
            ("share 4912\n", "share 4912\nshare 4912\n", 7),
            ("type", "share 4912\ntype", 4),
        ] {
            let text = changed(from, to);
            let why = ValueShare::decode(text.as_bytes()).unwrap_err();
            assert_eq!(why.line, line, "{from} -> {to}: {why}");
        }
        let good = share(13).encode();
        for end in 0..good.len() {
            assert!(ValueShare::decode(&good.as_bytes()[..end]).is_err(), "{end}");
        }
        for at in 0..good.len() {
            let mut bytes = good.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(ValueShare::decode(&bytes).is_err(), "byte {at}");
        }
        assert!(ValueShare::decode(format!("{good}\n").as_bytes()).is_err());
        assert!(ValueShare::decode(good.replace('\n', "\r\n").as_bytes()).is_err());
        assert!(ValueShare::decode(b"\xff").is_err());
    }
}
