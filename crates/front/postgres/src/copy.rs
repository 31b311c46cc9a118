//! [`Copy`]: rows as COPY takes them, in PostgreSQL's binary form, or in its text form where a plain column
//! has values that only the server can read.

use postgres::types::Type;

use crate::binary;

/// The form in which rows are sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Binary, with the types of the plain columns.
    Binary(Vec<Type>),
    Text,
}

impl Form {
    /// The form for rows without plain columns, which are always binary.
    pub(crate) fn bare() -> &'static Form {
        const BARE: &Form = &Form::Binary(Vec::new());
        BARE
    }

    /// The form for rows with plain columns of these types; `None` stands for a type that is not PostgreSQL's
    /// own.
    pub(crate) fn of(types: impl Iterator<Item = Option<Type>>) -> Form {
        let known = types.map(|ty| ty.filter(binary::is_known)).collect::<Option<_>>();
        known.map_or(Form::Text, Form::Binary)
    }

    /// Turns to text if a row has a plain value that has no binary form here.
    pub(crate) fn fit(&mut self, plain: &[Option<String>], room: &mut Vec<u8>) {
        let Form::Binary(types) = self else { return };
        room.clear();
        let mut values = types.iter().zip(plain).filter_map(|(ty, value)| Some((ty, value.as_deref()?)));
        if !values.all(|(ty, value)| binary::write(ty, value, room).is_some()) {
            *self = Form::Text;
        }
    }

    /// The options of a COPY statement.
    pub(crate) fn options(&self) -> &'static str {
        if *self == Form::Text { "" } else { " (format binary)" }
    }
}

/// Rows, written one after another, field by field.
pub(crate) struct Copy<'a> {
    form: &'a Form,
    bytes: Vec<u8>,
    /// The sealed value of a row that is sent as text.
    room: Vec<u8>,
}

/// Bytes that are sent at once.
const CHUNK: usize = 128 << 10;

/// The signature of the binary form, no flags and no extension.
const HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

impl<'a> Copy<'a> {
    pub(crate) fn new(form: &'a Form) -> Copy<'a> {
        let mut copy = Copy { form, bytes: Vec::with_capacity(2 * CHUNK), room: Vec::new() };
        if copy.is_binary() {
            copy.bytes.extend_from_slice(HEADER);
        }
        copy
    }

    fn is_binary(&self) -> bool {
        matches!(self.form, Form::Binary(_))
    }

    /// Begins a row of `fields` fields.
    pub(crate) fn row(&mut self, fields: usize) {
        if self.is_binary() {
            self.bytes.extend_from_slice(&(fields as u16).to_be_bytes());
        }
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        if !self.is_binary()
            && let Some(last) = self.bytes.last_mut()
        {
            *last = b'\n';
        }
    }

    /// A field of type `bigint`.
    pub(crate) fn number(&mut self, number: i64) {
        if self.is_binary() {
            self.bytes.extend_from_slice(&8u32.to_be_bytes());
            self.bytes.extend_from_slice(&number.to_be_bytes());
        } else {
            self.bytes.extend_from_slice(number.to_string().as_bytes());
            self.bytes.push(b'\t');
        }
    }

    /// A field of type `bytea`, which `write` appends.
    pub(crate) fn bytes(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.is_binary() {
            return sized(&mut self.bytes, |bytes| {
                write(bytes);
                Some(())
            })
            .expect("it is written");
        }
        self.room.clear();
        write(&mut self.room);
        hex(&self.room, &mut self.bytes);
        self.bytes.push(b'\t');
    }

    pub(crate) fn null(&mut self) {
        self.bytes.extend_from_slice(if self.is_binary() { &[0xff; 4] } else { b"\\N\t" });
    }

    /// The plain fields; `None` if one has no binary form and rows are sent so.
    pub(crate) fn plain(&mut self, values: &[Option<String>]) -> Option<()> {
        for (i, value) in values.iter().enumerate() {
            match (self.form, value) {
                (_, None) => self.null(),
                (Form::Binary(types), Some(value)) => {
                    let ty = types.get(i)?;
                    sized(&mut self.bytes, |bytes| binary::write(ty, value, bytes))?;
                }
                (Form::Text, Some(value)) => {
                    escape(value, &mut self.bytes);
                    self.bytes.push(b'\t');
                }
            }
        }
        Some(())
    }

    /// The bytes so far, if they are enough to be sent.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        (self.bytes.len() >= CHUNK).then(|| std::mem::replace(&mut self.bytes, Vec::with_capacity(2 * CHUNK)))
    }

    /// The last bytes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.is_binary() {
            self.bytes.extend_from_slice(&(-1i16).to_be_bytes());
        }
        self.bytes
    }
}

/// Appends the bytes that `write` writes, behind their length.
fn sized(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<()> {
    let start = bytes.len() + 4;
    bytes.extend_from_slice(&[0; 4]);
    write(bytes)?;
    let length = (bytes.len() - start) as u32;
    bytes[start - 4..start].copy_from_slice(&length.to_be_bytes());
    Some(())
}

/// Bytes as PostgreSQL reads them in the text form, where a backslash is written twice.
fn hex(bytes: &[u8], text: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text.extend_from_slice(b"\\\\x");
    text.extend(bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]));
}

/// A field in the text form.
fn escape(value: &str, text: &mut Vec<u8>) {
    for byte in value.bytes() {
        match byte {
            b'\\' => text.extend_from_slice(b"\\\\"),
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            byte => text.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are binary as long as all that is in them has such a form, and only so long.
    #[test]
    fn the_form_is_binary_where_it_can_be() {
        let form = |types: &[Option<Type>], rows: &[&[Option<&str>]]| {
            let mut form = Form::of(types.iter().cloned());
            for row in rows {
                let row: Vec<Option<String>> = row.iter().map(|value| value.map(str::to_owned)).collect();
                form.fit(&row, &mut Vec::new());
            }
            form
        };
        let types = [Some(Type::INT4), Some(Type::DATE)];
        let binary = Form::Binary(vec![Type::INT4, Type::DATE]);
        assert_eq!(form(&types, &[&[Some("5"), Some("2020-01-01")], &[None, None]]), binary);
        assert_eq!(form(&types, &[&[Some("5"), Some("2020-01-01")], &[None, Some("today")]]), Form::Text);
        assert_eq!(form(&[Some(Type::INT4), None], &[]), Form::Text);
        assert_eq!(form(&[Some(Type::POINT)], &[]), Form::Text);
        assert_eq!(form(&[], &[&[]]), *Form::bare());
    }
}
