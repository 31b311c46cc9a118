//! Every format, there and back.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use comity_table::{ColumnKind, Elements, Key, Record, Source, TableColumn, TableReader, TableShape, TableWriter};

use crate::{all, piped, shape};

/// A sink whose bytes can be looked at.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn columns(names: &[(&str, ColumnKind)]) -> Vec<TableColumn> {
    names.iter().map(|&(name, kind)| TableColumn { name: name.to_owned(), kind }).collect()
}

/// The bytes of a table in this form.
fn written(shape: &TableShape, columns: Vec<TableColumn>, rows: &[&[&str]]) -> Vec<u8> {
    let shared = Shared::default();
    let mut writer = TableWriter::new(Box::new(shared.clone()), shape, columns).unwrap();
    rows.iter().for_each(|row| writer.write(row.iter().map(|field| field.as_bytes())).unwrap());
    assert_eq!(writer.rows(), rows.len() as u64);
    writer.finish().unwrap();
    let bytes = shared.0.lock().unwrap();
    bytes.clone()
}

const ROWS: &[&[&str]] = &[&["ann", "34", "a \"b\", c"], &["b\u{f6}b", "", "x\ny"], &["c", "-7", ""]];

#[test]
fn what_is_written_is_read() {
    let names = [("name", ColumnKind::Text), ("age", ColumnKind::Integer), ("note", ColumnKind::Text)];
    let rows: Vec<Vec<String>> = ROWS.iter().map(|row| row.iter().map(|&field| field.to_owned()).collect()).collect();
    let mut forms = vec!["csv", "tsv", "json"];
    if cfg!(feature = "parquet") {
        forms.push("parquet");
    }
    for form in forms {
        for gzip in [false, true] {
            let shape = TableShape { gzip: gzip && form != "parquet", ..shape(form) };
            let bytes = written(&shape, columns(&names), ROWS);
            let (header, read) = all(&piped(&bytes), &shape).unwrap();
            assert_eq!((header, read), (vec!["name".into(), "age".into(), "note".into()], rows.clone()), "{shape:?}");
        }
    }
    let bare = TableShape { header: false, ..shape("csv") };
    let bytes = written(&bare, columns(&names), ROWS);
    let (header, read) = all(&piped(&bytes), &bare).unwrap();
    assert_eq!((header, read), (vec!["1".into(), "2".into(), "3".into()], rows));
    let (header, read) = all(&piped(b"\xef\xbb\xbfa b\r\n\nc"), &shape("lines")).unwrap();
    assert_eq!(
        (header, read),
        (vec!["key".to_owned()], vec![vec!["a b".to_owned()], vec![String::new()], vec!["c".into()]])
    );
}

#[test]
fn json_has_the_types_of_its_columns() {
    let names =
        [("n", ColumnKind::Integer), ("t", ColumnKind::Text), ("b", ColumnKind::Bool), ("x", ColumnKind::Nested)];
    let bytes = written(
        &shape("json"),
        columns(&names),
        &[&["7", "7", "true", "[1, 2]"], &["", "", "", ""], &["7\n8", "\"", "x", "[1,"], &["7\n", "", "", ""]],
    );
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text,
        "{\"n\":7,\"t\":\"7\",\"b\":true,\"x\":[1, 2]}\n{\"n\":null,\"t\":\"\",\"b\":null,\"x\":null}\n\
         {\"n\":\"7\\n8\",\"t\":\"\\\"\",\"b\":\"x\",\"x\":\"[1,\"}\n\
         {\"n\":\"7\\n\",\"t\":\"\",\"b\":null,\"x\":null}\n"
    );
    // A column may come later, and one that lacks it is empty.
    let source = piped(b"{\"a\": 1}\n\n{\"b\": \"x\", \"a\": 2}\n{\"b\": null}\n");
    let (header, rows) = all(&source, &shape("json")).unwrap();
    assert_eq!(header, ["a", "b"]);
    assert_eq!(rows, [vec!["1"], vec!["2", "x"], vec!["", ""]]);
    // Read again, all columns are there from the first record on, and of the kinds that they had in the end.
    let mut reader = TableReader::new(&source, &shape("json")).unwrap();
    let mut record = Record::new();
    while reader.next(&mut record).unwrap() {}
    let mut again = TableReader::again(&source, &shape("json"), reader.columns()).unwrap();
    assert_eq!(again.columns(), columns(&[("a", ColumnKind::Integer), ("b", ColumnKind::Text)]));
    assert!(again.next(&mut record).unwrap() && record.len() == 2);
}

/// Numbers are the text that they were written as, and so two long ones are two keys, and the last digit of a
/// price stays.
#[test]
fn json_numbers_keep_their_text() {
    let lines = b"{\"n\": 123456789012345678901, \"p\": 1.10, \"x\": {\"b\": [1.0, 2],\t\"a\": 3}}\n\
                  {\"n\": 123456789012345678902, \"p\": 1E400, \"x\": []}\n\
                  {\"n\": -0, \"p\": 0.1000, \"x\": \"\\u00e9\"}\n";
    let source = piped(lines);
    let mut reader = TableReader::new(&source, &shape("json")).unwrap();
    let mut bound = Key::column("n").bind(&mut reader).unwrap();
    let (mut record, mut elements, mut rows) = (Record::new(), Elements::default(), Vec::new());
    while reader.next(&mut record).unwrap() {
        let item = bound.item(&reader, &record).unwrap();
        assert!(elements.add(item.as_ref()).unwrap().1, "two numbers are one key");
        rows.push(record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect::<Vec<_>>());
    }
    assert_eq!(
        rows,
        [
            ["123456789012345678901", "1.10", "{\"b\": [1.0, 2],\t\"a\": 3}"],
            ["123456789012345678902", "1E400", "[]"],
            ["-0", "0.1000", "\u{e9}"]
        ]
    );
    let kinds = reader.columns().to_vec();
    let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let texts: Vec<&[&str]> = texts.iter().map(Vec::as_slice).collect();
    let again = written(&shape("json"), kinds, &texts);
    assert!(String::from_utf8(again).unwrap().starts_with("{\"n\":123456789012345678901,\"p\":1.10,\"x\":"));
    // An integer is one beside a fraction, too.
    let mixed = piped(b"{\"n\": 1.5}\n{\"n\": 7}\n");
    let mut reader = TableReader::new(&mixed, &shape("json")).unwrap();
    let mut bound = Key::column("n").bind(&mut reader).unwrap();
    assert!(reader.next(&mut record).unwrap() && bound.item(&reader, &record).is_err());
    assert!(reader.next(&mut record).unwrap() && bound.item(&reader, &record).unwrap().is_some());
}

/// What another owner sends as a number, or as a list, is UTF-8 and JSON, or there is no output.
#[test]
fn json_is_json_whatever_a_column_claims() {
    let names = [("n", ColumnKind::Integer), ("x", ColumnKind::Nested)];
    let bytes = written(
        &shape("json"),
        columns(&names),
        &[&["1 ", "[1]\r"], &["\u{e9}", "\u{e9}"], &["[", "\"\u{e9}\""], &["00", "[1,\t2]"]],
    );
    for line in String::from_utf8(bytes).unwrap().lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    let mut writer = TableWriter::new(Box::new(io::sink()), &shape("json"), columns(&names)).unwrap();
    let refused = writer.write([&b"1"[..], b"[\"\xff\"]"].into_iter()).unwrap_err().to_string();
    assert!(refused.contains("column `x` is not UTF-8"), "{refused}");
}

/// A column whose records differ has the kind that all of them fit.
#[test]
fn json_columns_have_the_kind_of_all_records() {
    let kinds = |bytes: &[u8]| {
        let source = piped(bytes);
        let mut reader = TableReader::new(&source, &shape("json")).unwrap();
        while reader.next(&mut Record::new()).unwrap() {}
        reader.columns().iter().map(|column| column.kind).collect::<Vec<_>>()
    };
    let lines = b"{\"a\": 1.5, \"b\": \"x\", \"c\": null}\n{\"a\": 1, \"b\": 2, \"c\": true}\n{\"c\": null}\n";
    assert_eq!(kinds(lines), [ColumnKind::Real, ColumnKind::Text, ColumnKind::Bool]);
}

#[test]
fn lines_are_one_key_each() {
    let mut lines =
        TableWriter::new(Box::new(io::sink()), &shape("lines"), columns(&[("a", ColumnKind::Text)])).unwrap();
    lines.write([&b"a b\rc"[..]].into_iter()).unwrap();
    for key in [&b"a\nb"[..], b"a\r"] {
        assert!(lines.write([key].into_iter()).unwrap_err().to_string().contains("several lines"));
    }
    let two = columns(&[("a", ColumnKind::Text), ("b", ColumnKind::Text)]);
    let refused = TableWriter::new(Box::new(io::sink()), &shape("lines"), two).err().unwrap();
    assert!(refused.to_string().contains("has one column, and this table has 2"));
}

/// Text begins where its first bytes are, in however many pieces these come.
#[test]
fn the_start_of_a_text_may_come_in_pieces() {
    let gzip = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let bytes = [gzip(b"\xef"), gzip(b"\xbb\xbf"), gzip(b"a\n1\n")].concat();
    assert_eq!(all(&piped(&bytes), &shape("csv")).unwrap().0, ["a"]);
}

/// Rows with equal keys are one element, in whatever form they come, and composite keys keep their parts apart.
#[test]
fn a_key_is_the_same_in_every_format() {
    let items = |source: &Source, shape: &TableShape, key: &str| {
        let mut reader = TableReader::new(source, shape).unwrap();
        let mut bound = key.parse::<Key>().unwrap().bind(&mut reader).unwrap();
        let (mut record, mut elements) = (Record::new(), Elements::default());
        while reader.next(&mut record).unwrap() {
            let item = bound.item(&reader, &record).unwrap();
            elements.add(item.as_ref());
        }
        (elements.items().to_vec(), elements.empty())
    };
    let csv = piped(b"id,mail\n1, Ann@X.org \n2,ann@x.ORG\n3,\n");
    let json = piped(b"{\"mail\": \"ann@x.org\"}\n");
    let (ours, empty) = items(&csv, &shape("csv"), "mail:lower,trim");
    assert_eq!((ours.len(), empty), (1, 1));
    assert_eq!(items(&json, &shape("json"), "mail:lower,trim").0, ours);
    assert_eq!(items(&piped(b"ann@x.org"), &shape("lines"), "key:trim,lower").0, ours);
    assert_ne!(
        items(&piped(b"a,b\nab,c\n"), &shape("csv"), "a,b").0,
        items(&piped(b"a,b\na,bc\n"), &shape("csv"), "a,b").0
    );
    assert_eq!(items(&piped(b"a,b\n1,x\n,x\n"), &shape("csv"), "a,b").1, 1, "a part is empty");
    #[cfg(feature = "parquet")]
    {
        let names = [("id", ColumnKind::Integer), ("x", ColumnKind::Real)];
        let table = piped(&written(&shape("parquet"), columns(&names), &[&["7", "1.5"], &["-12", "2"]]));
        let lines = items(&piped(b"007\n-12\n"), &shape("lines"), "key:integer").0;
        assert_eq!(items(&table, &shape("parquet"), "id:integer").0, lines);
        let mut reader = TableReader::new(&table, &shape("parquet")).unwrap();
        let mut bound = Key::column("x").bind(&mut reader).unwrap();
        // A record that was another table's says nothing of its place in this one.
        let mut record = Record::new();
        assert!(TableReader::new(&csv, &shape("csv")).unwrap().next(&mut record).unwrap());
        reader.next(&mut record).unwrap();
        let error = bound.item(&reader, &record).unwrap_err().to_string();
        assert!(error.contains("row 1, column `x`: a number with a fraction"), "{error}");
    }
}

/// The parsers pass blank lines by, and the reader says how many: a row and its line stay together.
#[test]
fn blank_lines_are_counted_where_they_are() {
    let counted = |text: &str, shape: &TableShape| {
        let mut reader = TableReader::new(&piped(text.as_bytes()), shape).unwrap();
        let (mut record, mut blank) = (Record::new(), Vec::new());
        loop {
            let more = reader.next(&mut record).unwrap();
            blank.push(reader.blank());
            if !more {
                return blank;
            }
        }
    };
    let text = "\n\nk,n\n\n1,a\n2,\"x\n\ny\"\n\n\n3,c\n\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
        assert_eq!(counted(&text, &shape("csv")), [1, 0, 2, 1], "{text:?}");
        let bare = TableShape { header: false, ..shape("csv") };
        assert_eq!(counted(&text, &bare), [2, 1, 0, 2, 1], "{text:?}");
    }
    // The last line has no end; quotes without a meaning end no line; blanks are no blank line.
    assert_eq!(counted("k\n1\n\n2", &shape("csv")), [0, 1, 0]);
    let plain = TableShape { quoting: false, ..shape("csv") };
    assert_eq!(counted("k\n\"1\n\n\"2\n \n", &plain), [0, 1, 0, 0]);
    assert_eq!(counted("{\"k\":1}\n\n \n{\"k\":2}\n\n", &shape("json")), [0, 2, 1]);
    // A file longer than what is read at once.
    let long: String =
        (0..50_000).map(|n| if n % 1000 == 999 { format!("{n}\n\n") } else { format!("{n}\n") }).collect();
    let blank = counted(&format!("k\n{long}"), &shape("csv"));
    assert!((0..=50_000).all(|n| blank[n] == u64::from(n > 0 && n % 1000 == 0)));
    // In a list with a key a line, a blank one is a record.
    assert_eq!(counted("1\n\n2\n", &shape("lines")), [0, 0, 0, 0]);
}
