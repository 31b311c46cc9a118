//! `Payload`: the columns that travel beside an item, packed into cells of one width.
//!
//! A cell is the number of rows, then each row's fields, then zeros; a field is its length in LEB128 and its
//! bytes, which are UTF-8.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::key::NO_TEXT;

/// The payload of an item that occurs in several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// No item may occur in several rows.
    Error,
    /// The payload of the first row.
    First,
    /// The payloads of all rows, of which there may be at most this number.
    List(u8),
    /// The sums of integers.
    Sum,
}

impl FromStr for Duplicates {
    type Err = Error;

    fn from_str(text: &str) -> Result<Duplicates> {
        match text {
            "error" => return Ok(Duplicates::Error),
            "first" => return Ok(Duplicates::First),
            "sum" => return Ok(Duplicates::Sum),
            _ => {}
        }
        let most = text.strip_prefix("list:").and_then(|most| most.parse().ok()).filter(|most| *most > 0);
        most.map(Duplicates::List).ok_or_else(|| {
            Error::new(format!("duplicates are error, first, list:K with K from 1 to 255, or sum, not `{text}`"))
        })
    }
}

/// Bytes of a cell at most.
const WIDEST: usize = 1 << 16;

/// Bytes of all cells at most.
const MOST: usize = 8 << 30;

/// The payload of a table's elements, collected row by row.
pub struct Payload {
    columns: usize,
    duplicates: Duplicates,
    /// Rows one behind another, and of each its element and where it ends.
    packed: Vec<u8>,
    rows: Vec<(u32, u64)>,
    /// How many rows each element has.
    counts: Vec<u8>,
    sums: Vec<i128>,
}

impl Payload {
    /// Payload of `columns` columns.
    pub fn new(columns: usize, duplicates: Duplicates) -> Payload {
        Payload { columns, duplicates, packed: Vec::new(), rows: Vec::new(), counts: Vec::new(), sums: Vec::new() }
    }

    /// Takes the fields of a row of this element, which must be UTF-8. New elements come in ascending order.
    /// An error names the field that caused it, if one did.
    ///
    /// # Errors
    /// An error that says what is wrong with the row.
    pub fn add<'f>(
        &mut self,
        element: usize,
        fields: impl Iterator<Item = &'f [u8]>,
    ) -> Result<(), (Option<usize>, String)> {
        let new = element == self.counts.len();
        if new {
            self.counts.push(0);
        }
        let count = &mut self.counts[element];
        match self.duplicates {
            Duplicates::Error if !new => {
                return Err((
                    None,
                    "an earlier row has the same key, and only one row's payload can be sent: choose with \
                        `--duplicates first`, `list:K` or `sum`"
                        .into(),
                ));
            }
            Duplicates::First if !new => return Ok(()),
            Duplicates::List(most) if *count == most => {
                return Err((None, format!("more than {most} rows have this key: `--duplicates list:K` takes more")));
            }
            Duplicates::Sum => {
                *count = 1;
                self.sums.resize(self.counts.len() * self.columns, 0);
                return add_up(&mut self.sums[element * self.columns..], fields);
            }
            _ => *count += 1,
        }
        let from = self.packed.len();
        for (at, field) in fields.enumerate() {
            if core::str::from_utf8(field).is_err() {
                return Err((Some(at), NO_TEXT.to_owned()));
            }
            pack(std::iter::once(field), &mut self.packed);
        }
        if self.packed.len() - from >= WIDEST {
            return Err((None, format!("the payload of a row has {WIDEST} bytes at most")));
        }
        self.rows.push((element as u32, self.packed.len() as u64));
        Ok(())
    }

    /// The cells of all elements, one behind another, and their common width. Without columns, cells have no
    /// bytes.
    ///
    /// # Errors
    /// An error if the cells are too large: each is as wide as the widest.
    pub fn cells(mut self) -> Result<(Vec<u8>, usize)> {
        if self.duplicates == Duplicates::Sum {
            for (element, sums) in self.sums.chunks(self.columns.max(1)).enumerate() {
                let texts: Vec<String> = sums.iter().map(i128::to_string).collect();
                pack(texts.iter().map(String::as_bytes), &mut self.packed);
                self.rows.push((element as u32, self.packed.len() as u64));
            }
        }
        let elements = self.counts.len();
        let mut filled = vec![1_usize; elements];
        let mut from = 0;
        for &(element, end) in &self.rows {
            filled[element as usize] += end as usize - from;
            from = end as usize;
        }
        let width = filled.iter().copied().max().unwrap_or(1);
        if width > WIDEST || width.saturating_mul(elements) > MOST {
            return Err(Error::new(format!(
                "the payload is too large: each of {elements} keys takes as much as the widest, {width} bytes, and the \
                    most is {WIDEST} bytes for one and {} GiB for all. Send fewer columns, or shorter ones",
                MOST >> 30
            )));
        }
        let mut cells = vec![0; width * elements];
        for (cell, count) in cells.chunks_mut(width).zip(&self.counts) {
            cell[0] = *count;
        }
        filled.fill(1);
        from = 0;
        for &(element, end) in &self.rows {
            let (element, row) = (element as usize, &self.packed[from..end as usize]);
            let at = element * width + filled[element];
            cells[at..at + row.len()].copy_from_slice(row);
            filled[element] += row.len();
            from = end as usize;
        }
        Ok((cells, width))
    }
}

/// Adds integers to sums.
fn add_up<'f>(sums: &mut [i128], fields: impl Iterator<Item = &'f [u8]>) -> Result<(), (Option<usize>, String)> {
    for (at, (sum, field)) in sums.iter_mut().zip(fields).enumerate() {
        let text = core::str::from_utf8(field).unwrap_or("?").trim();
        let number: i128 = if text.is_empty() {
            0
        } else {
            text.parse().map_err(|_| {
                (Some(at), "`--duplicates sum` adds integers, and the value is not an integer".to_owned())
            })?
        };
        *sum = sum.checked_add(number).ok_or((Some(at), "the sum has more than 127 bits".to_owned()))?;
    }
    Ok(())
}

/// Fields one behind another, each with its length.
pub(crate) fn pack<'f>(fields: impl Iterator<Item = &'f [u8]>, out: &mut Vec<u8>) {
    for field in fields {
        let mut length = field.len();
        while length >= 0x80 {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        out.extend_from_slice(field);
    }
}

/// A field from the beginning of these bytes, and the bytes behind it.
fn unpack(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut length, mut shift, mut rest) = (0_usize, 0, bytes);
    loop {
        let (byte, behind) = rest.split_first()?;
        length |= usize::from(byte & 0x7f) << shift;
        rest = behind;
        shift += 7;
        if byte & 0x80 == 0 {
            return rest.split_at_checked(length);
        }
        if shift > 21 {
            return None;
        }
    }
}

/// Decodes cells of a number of columns.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    /// The number of columns.
    pub columns: usize,
}

impl Decoder {
    /// Appends the fields of a cell's rows, one row behind another, to `fields`.
    ///
    /// # Errors
    /// An error if the bytes are not a cell, or a field is not UTF-8.
    pub fn decode<'c>(&self, cell: &'c [u8], fields: &mut Vec<&'c [u8]>) -> Result<()> {
        let wrong = || Error::new("the payload of a row does not decode");
        fields.clear();
        let (rows, mut rest) = cell.split_first().filter(|(rows, _)| **rows > 0).ok_or_else(wrong)?;
        for _ in 0..usize::from(*rows) * self.columns {
            let (field, behind) =
                unpack(rest).filter(|(field, _)| core::str::from_utf8(field).is_ok()).ok_or_else(wrong)?;
            fields.push(field);
            rest = behind;
        }
        if rest.iter().any(|byte| *byte != 0) { Err(wrong()) } else { Ok(()) }
    }

    /// Encodes fields, such as the names of columns, as one text.
    pub fn header(fields: &[String]) -> Vec<u8> {
        let mut out = Vec::new();
        pack(fields.iter().map(String::as_bytes), &mut out);
        out
    }

    /// The fields of a text from [`header`](Decoder::header).
    ///
    /// # Errors
    /// An error if the bytes are not such a text.
    pub fn fields(mut text: &[u8]) -> Result<Vec<String>> {
        let wrong = || Error::new("the names of the payload's columns do not decode");
        let mut fields = Vec::new();
        while !text.is_empty() {
            let (field, behind) = unpack(text).ok_or_else(wrong)?;
            fields.push(String::from_utf8(field.to_vec()).map_err(|_| wrong())?);
            text = behind;
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(duplicates: Duplicates, rows: &[(usize, &str)]) -> Result<Vec<Vec<String>>, String> {
        let mut payload = Payload::new(2, duplicates);
        for (element, fields) in rows {
            payload.add(*element, fields.split(',').map(str::as_bytes)).map_err(|(_, what)| what)?;
        }
        let (cells, width) = payload.cells().map_err(|e| e.to_string())?;
        let mut fields = Vec::new();
        let texts = cells.chunks(width).map(|cell| {
            Decoder { columns: 2 }.decode(cell, &mut fields).unwrap();
            fields.iter().map(|field| String::from_utf8(field.to_vec()).unwrap()).collect()
        });
        Ok(texts.collect())
    }

    #[test]
    fn duplicates_are_what_was_said() {
        let rows = [(0, "1,2"), (1, ",a long one"), (0, "30,-4")];
        assert!(cells(Duplicates::Error, &rows).unwrap_err().contains("an earlier row"));
        assert_eq!(cells(Duplicates::First, &rows).unwrap(), [vec!["1", "2"], vec!["", "a long one"]]);
        assert_eq!(cells(Duplicates::List(2), &rows).unwrap(), [vec!["1", "2", "30", "-4"], vec!["", "a long one"]]);
        assert!(cells(Duplicates::List(1), &rows).unwrap_err().contains("more than 1 rows"));
        assert!(cells(Duplicates::Sum, &rows).unwrap_err().contains("adds integers"));
        assert_eq!(cells(Duplicates::Sum, &[rows[0], rows[2]]).unwrap(), [vec!["31", "-2"]]);
        let long = format!("{},", "x".repeat(300));
        assert_eq!(cells(Duplicates::Error, &[(0, &long)]).unwrap()[0][0].len(), 300);
        assert!(cells(Duplicates::Error, &[(0, &"x".repeat(WIDEST))]).unwrap_err().contains("at most"));
        // Rows of one key, none too wide by itself; and one wide cell, which makes all others as wide.
        let wide = "x".repeat(WIDEST / 2);
        assert!(
            cells(Duplicates::List(3), &[(0, &wide), (0, &wide)])
                .unwrap_err()
                .contains("each of 1 keys takes as much as the widest")
        );
        let mut many = Payload::new(1, Duplicates::Error);
        for element in 0..MOST / wide.len() + 1 {
            let field: &[u8] = if element == 7 { wide.as_bytes() } else { b"" };
            many.add(element, std::iter::once(field)).unwrap();
        }
        assert!(many.cells().unwrap_err().to_string().contains("8 GiB for all. Send fewer"));
        let greatest = format!("{},0", i128::MAX);
        assert!(cells(Duplicates::Sum, &[(0, &greatest), (0, "1,0")]).unwrap_err().contains("127 bits"));
        let latin = Payload::new(2, Duplicates::First).add(0, [&b"a"[..], b"\xe9"].into_iter()).unwrap_err();
        assert!(latin.0 == Some(1) && latin.1.contains("not UTF-8"), "{latin:?}");
        assert_eq!("list:3".parse(), Ok(Duplicates::List(3)));
        assert!("list:0".parse::<Duplicates>().is_err() && "list:256".parse::<Duplicates>().is_err());
    }

    #[test]
    fn what_is_no_cell_is_refused() {
        let decode = |cell: &[u8]| Decoder { columns: 1 }.decode(cell, &mut Vec::new());
        assert!(decode(&[1, 2, 5, 6, 0]).is_ok());
        for bad in [
            &[][..],
            &[0, 0],
            &[1],
            &[1, 3, 1, 1],
            &[1, 0, 7],
            &[2, 0],
            &[1, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[1, 0x80, 0x80, 0x80, 0x80, 0],
            &[1, 1, 0xff],
        ] {
            assert!(decode(bad).is_err(), "{bad:?}");
        }
        let names = ["a".to_owned(), "\u{e9}".repeat(200)];
        assert_eq!(Decoder::fields(&Decoder::header(&names)).unwrap(), names);
        assert!(Decoder::fields(&[2, 0xff, 0xff]).is_err() && Decoder::fields(&[2, b'a']).is_err());
    }
}
