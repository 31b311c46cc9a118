//! Words in files: the name of a sender, and how a query says which program it is for.

use std::fmt;

use comity_circuit::Program;
use comity_core::{Error, Result};
use rand_core::CryptoRng;

use crate::file::Fields;

/// The name that a sender gives itself. Anybody may take any name: it tells answers apart, and proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// The longest name, in bytes.
    pub const MAX: usize = 64;

    /// A name: 1 to [`MAX`](Name::MAX) bytes of letters, digits, spaces and `-_.@+`, so that it can be shown anywhere.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) for any other text.
    pub fn new(text: &str) -> Result<Name> {
        let fits = |c: char| c.is_alphanumeric() || " -_.@+".contains(c);
        if text.is_empty() || text.len() > Name::MAX || !text.chars().all(fits) {
            return Err(Error::invalid_input(format!(
                "a sender's name has 1 to {} bytes, of letters, digits, spaces and -_.@+",
                Name::MAX
            )));
        }
        Ok(Name(text.to_owned()))
    }

    /// A random name.
    pub fn random(rng: &mut dyn CryptoRng) -> Name {
        Name(format!("sender-{:08x}", rng.next_u32()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a query says which program it is for: words that help to find it, and the owners of its inputs. The
/// hash beside it is what counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    text: String,
    owners: Vec<u8>,
}

impl Reference {
    /// The longest text, in bytes.
    pub const MAX: usize = 1024;

    /// Refers to a program by the name that its user gave it, without the folders in it: they are nobody
    /// else's business.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the text is too long or holds characters that are not to be
    /// shown, or the program is for more than two parties.
    pub(crate) fn new(program: &Program, text: &str) -> Result<Reference> {
        let text = text.rsplit(['/', '\\']).next().unwrap_or_default();
        if text.len() > Reference::MAX || !text.chars().all(shown) {
            return Err(Error::invalid_input(format!(
                "the name of a program has at most {} bytes, and no control characters",
                Reference::MAX
            )));
        }
        let owner =
            |input: &comity_circuit::Input| input.owner.party().filter(|party| party.0 < 2).map(|party| party.0 as u8);
        let owners: Option<Vec<u8>> = program.inputs().iter().map(owner).collect();
        let owners = owners.filter(|owners| owners.len() <= usize::from(u16::MAX)).ok_or_else(|| {
            Error::invalid_input("non-interactive computation is for two parties, and at most 65,535 input values")
        })?;
        Ok(Reference { text: text.to_owned(), owners })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The owner of each input value.
    pub fn owners(&self) -> &[u8] {
        &self.owners
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        put_text(&self.text, to);
        to.extend_from_slice(&(self.owners.len() as u16).to_le_bytes());
        to.extend_from_slice(&self.owners);
    }

    pub(crate) fn take(from: &mut Fields<'_>) -> Result<Reference> {
        let text = take_text(from, Reference::MAX)?;
        let count = u16::from_le_bytes(from.array()?);
        let owners = from.bytes(count.into())?.to_vec();
        if owners.iter().any(|&party| party > 1) {
            return Err(Error::malformed("an input value belongs to a party that does not exist"));
        }
        Ok(Reference { text, owners })
    }
}

/// Whether a character can be shown on a terminal: it neither controls it, nor hides or turns around what follows.
fn shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

pub(crate) fn put_text(text: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(&(text.len() as u16).to_le_bytes());
    to.extend_from_slice(text.as_bytes());
}

pub(crate) fn take_text(from: &mut Fields<'_>, most: usize) -> Result<String> {
    let wrong = || {
        Error::malformed(format!(
            "a text in it is not UTF-8, has characters that control a terminal, or has more than {most} bytes"
        ))
    };
    let length = usize::from(u16::from_le_bytes(from.array()?));
    let bytes = from.bytes(Some(length).filter(|&length| length <= most).ok_or_else(wrong)?)?;
    let text = str::from_utf8(bytes).ok().filter(|text| text.chars().all(shown)).ok_or_else(wrong)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_harmless() {
        for good in ["ann", "Ørsted 2", "ann@example.org", "a+b_c-d.e", &"x".repeat(64)] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a\nb", "a\u{1b}[31m", "a\u{202e}b", "a/b", "\u{0}", &"x".repeat(65), &"é".repeat(33)] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }
}
