//! CSV (RFC 4180): an empty field without quotes is NULL, as in PostgreSQL.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use comity_terminal::failure::{Failure, Outcome};
use zeroize::Zeroizing;

/// A line's fields.
pub(crate) type Record = Vec<Option<String>>;

/// The records of a file, each with as many fields as the first.
pub(crate) fn read(text: &str) -> Outcome<Vec<Record>> {
    read_from(text, 1)
}

fn read_from(text: &str, mut line: usize) -> Outcome<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    let mut record = Record::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let wrong = |what: &str| Failure::input(format!("line {line}: {what}"));
        let (field, behind) = match rest.strip_prefix('"') {
            None => {
                let end = rest.find([',', '\n', '\r']).unwrap_or(rest.len());
                if rest[..end].contains('"') {
                    return Err(wrong("a field has a quote inside, but does not begin with one"));
                }
                ((end > 0).then(|| rest[..end].to_owned()), &rest[end..])
            }
            Some(inside) => {
                let (mut field, mut from) = (Zeroizing::new(String::new()), inside);
                loop {
                    let end = from.find('"').ok_or_else(|| wrong("a quote is not closed"))?;
                    field.push_str(&from[..end]);
                    from = &from[end + 1..];
                    match from.strip_prefix('"') {
                        Some(more) => {
                            field.push('"');
                            from = more;
                        }
                        None => break,
                    }
                }
                line += field.matches('\n').count();
                (Some(field.to_string()), from)
            }
        };
        record.push(field);
        let wrong = |what: &str| Failure::input(format!("line {line}: {what}"));
        if let Some(more) = behind.strip_prefix(',') {
            rest = more;
            if !rest.is_empty() {
                continue;
            }
            record.push(None);
        } else {
            let unix = behind.strip_prefix('\r').unwrap_or(behind);
            rest = match unix.strip_prefix('\n') {
                Some(more) => more,
                None if unix.is_empty() => unix,
                None => {
                    return Err(wrong(
                        "after the closing quote of a field there must be a comma or the end of the line",
                    ));
                }
            };
        }
        if let Some(first) = records.first().map(Vec::len).filter(|first| *first != record.len()) {
            return Err(wrong(&format!("{} fields, where the first line has {first}", record.len())));
        }
        records.push(std::mem::take(&mut record));
        line += 1;
    }
    Ok(records)
}

/// A file that records are read from one by one, in any order.
pub(crate) struct Source<F> {
    file: F,
    /// Where each record begins, the first one first, and where the last one ends.
    starts: Vec<u64>,
}

/// Bytes of a record at most: a quote that is not closed ends there.
const MOST: usize = 16 << 20;

impl<F: Read + Seek> Source<F> {
    /// Finds all records, and checks their form.
    pub(crate) fn new(mut file: F) -> Outcome<Source<F>> {
        let mut reader = BufReader::new(&mut file);
        let (mut starts, mut fields, mut line, mut at) = (vec![0], None, 1, 0);
        let (mut text, mut quotes) = (Zeroizing::new(Vec::new()), 0);
        loop {
            // A record ends with a line in which all quotes are closed.
            let more = (&mut reader).take(MOST as u64).read_until(b'\n', &mut text).map_err(unread)?;
            quotes += text[text.len() - more..].iter().filter(|byte| **byte == b'"').count();
            if quotes % 2 == 1 && more > 0 && text.len() < MOST {
                continue;
            }
            if text.is_empty() {
                return Ok(Source { file, starts });
            }
            let wrong = |what: &str| Failure::input(format!("line {line}: {what}"));
            if text.len() >= MOST {
                return Err(wrong("a record has more than 16 MiB: is a quote not closed?"));
            }
            let record = core::str::from_utf8(&text).map_err(|_| wrong("the line is not UTF-8 text"))?;
            let count = record_of(record, line)?.len();
            if *fields.get_or_insert(count) != count {
                return Err(wrong(&format!("{count} fields, where the first line has {}", fields.unwrap_or(count))));
            }
            line += text.iter().filter(|byte| **byte == b'\n').count();
            at += text.len() as u64;
            starts.push(at);
            text.clear();
            quotes = 0;
        }
    }

    /// How many records there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// One of them.
    pub(crate) fn record(&mut self, at: usize) -> Outcome<Record> {
        let (start, end) = (self.starts[at], self.starts[at + 1]);
        let mut text = Zeroizing::new(vec![0; (end - start) as usize]);
        self.file.seek(SeekFrom::Start(start)).map_err(unread)?;
        self.file.read_exact(&mut text).map_err(unread)?;
        let record = core::str::from_utf8(&text).ok().and_then(|text| record_of(text, 1).ok());
        record.ok_or_else(|| Failure::input("the file changed while it was read"))
    }
}

fn unread(error: std::io::Error) -> Failure {
    Failure::input(error.to_string())
}

/// The one record of a text that begins at this line.
fn record_of(text: &str, line: usize) -> Outcome<Record> {
    Ok(read_from(text, line)?.pop().unwrap_or_default())
}

/// One record as a line.
pub(crate) fn line<'a>(fields: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let field = |field: Option<&str>| match field {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(text) => text.to_owned(),
    };
    let fields: Vec<String> = fields.into_iter().map(field).collect();
    fields.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(texts: &[Option<&str>]) -> Record {
        texts.iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn records_are_read_and_written() {
        let text = "name,salary\nAda,\n\"a, \"\"b\"\"\nc\",7\r\n\"\",\n";
        let records = read(text).unwrap();
        let expected = [
            fields(&[Some("name"), Some("salary")]),
            fields(&[Some("Ada"), None]),
            fields(&[Some("a, \"b\"\nc"), Some("7")]),
            fields(&[Some(""), None]),
        ];
        assert_eq!(records, expected);
        let written: String = records.iter().map(|record| line(record.iter().map(Option::as_deref))).collect();
        assert_eq!(read(&written).unwrap(), expected);
        assert_eq!(read("a,b\n1,").unwrap()[1], fields(&[Some("1"), None]));
        assert_eq!(read("").unwrap(), Vec::<Record>::new());
    }

    /// Records that are read one by one, in any order, are those of the whole text.
    #[test]
    fn a_source_has_the_records_of_its_text() {
        for text in ["", "a", "a,b\n1,\n", "\u{feff}a,b\r\n\"x\n\"\"y\",2\r\n\"\",\n\u{e9},\"\n\n\"", "\n\n"] {
            let mut source = Source::new(std::io::Cursor::new(text)).unwrap();
            let records = read(text).unwrap();
            assert_eq!(source.count(), records.len(), "{text:?}");
            for (at, record) in records.iter().enumerate().rev() {
                assert_eq!(source.record(at).unwrap(), *record, "{text:?}");
            }
        }
        for (text, line) in
            [("a,b\n1\n", "line 2"), ("a\n\"b", "line 2"), ("a\n\"\n\"\nb\"c\n", "line 4"), ("a\n\"b\"c\n", "line 2")]
        {
            let failure = Source::new(std::io::Cursor::new(text)).err().unwrap();
            assert!(failure.message.contains(line), "{}", failure.message);
        }
        assert!(
            Source::new(std::io::Cursor::new(b"a\n\xff\n"))
                .err()
                .unwrap()
                .message
                .contains("line 2: the line is not UTF-8 text")
        );
        let endless = format!("a\n\"{}", "x\n".repeat(MOST / 2));
        assert!(Source::new(std::io::Cursor::new(endless)).err().unwrap().message.contains("not closed"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line) in
            [("a,b\n1\n", "line 2"), ("a\n\"b", "line 2"), ("a\nb\"c\n", "line 2"), ("a\n\"b\"c\n", "line 2")]
        {
            let failure = read(text).unwrap_err();
            assert!(failure.message.contains(line), "{}", failure.message);
        }
    }
}
