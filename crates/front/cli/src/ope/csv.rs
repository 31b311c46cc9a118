//! CSV (RFC 4180): an empty field without quotes is NULL, as in PostgreSQL.

use comity_terminal::failure::{Failure, Outcome};
use zeroize::Zeroizing;

/// A line's fields.
pub(crate) type Record = Vec<Option<String>>;

/// The records of a file, each with as many fields as the first.
pub(crate) fn read(text: &str) -> Outcome<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    let (mut record, mut line) = (Record::new(), 1);
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let wrong = |what: &str| Failure::input(format!("line {line}: {what}"));
        let (field, behind) = match rest.strip_prefix('"') {
            None => {
                let end = rest.find([',', '\n', '\r']).unwrap_or(rest.len());
                if rest[..end].contains('"') {
                    return Err(wrong("a quote in a field that does not begin with one"));
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
                None => return Err(wrong("behind a quoted field, a comma or the end of the line is wanted")),
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
