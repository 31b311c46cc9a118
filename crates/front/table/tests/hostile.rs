//! Files that are no tables, or want to be more than one.

use std::io::{self, Read, Write};

use comity_table::{Key, Record, Source, TableReader, TableShape};

use crate::{all, piped, shape, why};

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let csv = shape("csv");
    for (bytes, words) in [
        (&b"a,b\n1,2\n3\n"[..], "t: line 3: 1 fields, where the first line has 2: column `b` is missing"),
        (b"a,b\n\"x\ny\",2\n1,2,3\n", "line 4: 3 fields, where the first line has 2: column 3 is one too many"),
        (b"a,b\n1,2\n3,x\0y\n", "line 3, column `b`: a NUL byte"),
        (b"a\0,b\n", "line 1, column 1: a NUL byte"),
        (
            b"a,b\n1,\"2\n3,4\n",
            "t: line 2: a quote (\") is not closed, so the rest of the file would be one field. If quotes have",
        ),
        (b"a\n\"b", "t: line 2: a quote (\") is not closed"),
        // Two quotes that would make one row of three, or a field of the text between two.
        (b"a,b\n1,5\"\n2,6\"\n", "t: line 2: a field has a quote (\") inside, but does not begin with one"),
        (b"a,b\n1,x\"y\n2,3\n4,z\"\n", "line 2: a field has a quote (\") inside"),
        (b"a,b\n1,\"x\"y\n", "line 2: after the quote (\") that closes a field"),
        (b"a,b\n\"1\n\"\"\",\"x\" ,\n", "line 3: after the quote (\") that closes a field"),
        (b"a,b\n1, \"x\"\n", "line 2: a field has a quote (\") inside"),
        (b"a,b,a\n", "line 1, column 3: the header has `a` twice"),
        (b"", "lacks even a header"),
        (b"\xff\xfea\0,\0b\0", "iconv -f UTF-16"),
        (b"\xfe\xff\0a\0,\0b", "iconv -f UTF-16"),
        (b"PAR1....", "name the file .parquet"),
        (b"PK\x03\x04..", "save it as CSV"),
    ] {
        let why = why(bytes, &csv);
        assert!(why.contains(words), "{why}");
    }
    for (bytes, words) in [
        (&b"{\"a\": 1}\n{\"a\": \n"[..], "line 2: EOF while parsing"),
        (b"{\"a\": 1}\n7\n", "line 2: the line is not a JSON object"),
        (
            b"[{\"a\": 1}]\n",
            "line 1: the file is one array, and an object on each line is wanted: convert it with `jq -c '.[]' FILE`",
        ),
        (b"[\n  {\"a\": 1}\n]\n", "line 1: the file is one array, and an object on each line is wanted"),
        (b"{\"a\": 1} x\n", "line 1: trailing characters, at character 10"),
    ] {
        let why = why(bytes, &shape("json"));
        assert!(why.contains(words), "{why}");
    }
    for (bytes, words) in [
        (&b"{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n"[..], "line 2, column `a`: the object has this member twice"),
        (b"{\"a\": \"\\ud800\"}\n", "line 1, column `a`: "),
        (b"{\"a\": 01}\n", "line 1: "),
    ] {
        let why = why(bytes, &shape("json"));
        assert!(why.contains(words), "{why}");
    }
    assert!(why(b"a\nb\0\n", &shape("lines")).contains("line 2: a NUL byte"));
    // Quotes that are right, wherever a piece of the text ends; and a delimiter of another kind.
    let quoted = b"a;\"b\"\r\n\"x\"\"\n\r;y\";\"\"\n\"\"\"\";\"z\"";
    let semicolon = TableShape { delimiter: b';', ..csv };
    let rows = [["x\"\n\r;y", ""], ["\"", "z"]];
    for cut in 0..quoted.len() {
        let gzip = |bytes: &[u8]| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        };
        let pieces = [gzip(&quoted[..cut]), gzip(&quoted[cut..])].concat();
        assert_eq!(all(&piped(&pieces), &semicolon).unwrap().1, rows, "{cut}");
    }
    let plain = TableShape { quoting: false, ..csv };
    assert_eq!(all(&piped(b"a,b\n1,5\"\n"), &plain).unwrap().1, [["1", "5\""]]);
}

/// Each name is looked at once, whatever there is beside it.
#[test]
fn a_header_of_very_many_columns_is_read() {
    let header: Vec<String> = (0..200_000).map(|n| format!("c{n}")).collect();
    let text = header.join(",");
    let source = piped(text.as_bytes());
    let mut reader = TableReader::new(&source, &shape("csv")).unwrap();
    assert_eq!(reader.columns().len(), header.len());
    assert_eq!(reader.find("c199999").unwrap(), 199_999);
    assert!(reader.find("d").unwrap_err().to_string().ends_with("and 199988 more"));
    let why = why(format!("{text},c7").as_bytes(), &shape("csv"));
    assert!(why.contains("column 200001: the header has `c7` twice"), "{}", &why[..100]);
}

#[test]
fn a_column_that_is_not_there_is_told_with_the_nearest() {
    let error = |bytes: &[u8], form: &str, name: &str| {
        let source = piped(bytes);
        let mut reader = TableReader::new(&source, &shape(form)).unwrap();
        let bound = Key::column(name).bind(&mut reader).map(drop);
        let mut record = Record::new();
        while reader.next(&mut record).unwrap() {}
        bound.and_then(|()| reader.finish()).unwrap_err().to_string()
    };
    let said = "t: there is no column `emial`; there is `email`, `mail`, `id`";
    assert_eq!(error(b"id,mail,email\n", "csv", "emial"), said);
    assert_eq!(error(b"{\"id\": 1, \"mail\": 2}\n{\"email\": null}", "json", "emial"), said);
    assert_eq!(error(b"id,mail,email\n", "csv", "EMAIL"), said.replace("emial", "EMAIL"), "whatever the case");
    assert!(error(b"x\n", "lines", "line").contains("whose only column is called `key`"));
    let header: Vec<String> = (10..30).map(|n| format!("c{n}")).collect();
    let why = error(header.join(",").as_bytes(), "csv", "c1");
    assert!(why.contains("there is `c10`, ") && why.ends_with("`c20` and 8 more"), "{why}");
    assert!(error(b"", "json", "a").ends_with("the table has no columns"));
}

#[test]
fn a_value_that_is_no_key_is_told_with_its_place() {
    let error = |bytes: &[u8], form: &str, key: &str| {
        let source = piped(bytes);
        let mut reader = TableReader::new(&source, &shape(form)).unwrap();
        let mut bound = key.parse::<Key>().unwrap().bind(&mut reader).unwrap();
        let mut record = Record::new();
        loop {
            assert!(reader.next(&mut record).unwrap());
            if let Err(error) = bound.item(&reader, &record) {
                return error.to_string();
            }
        }
    };
    assert!(
        error(b"a,b\n1,2020-01-01\n2,secret\n", "csv", "b:date")
            .contains("t: line 3, column `b`: the value is not a day")
    );
    assert!(!error(b"a,b\n1,2020-01-01\n2,secret\n", "csv", "b:date").contains("secret"));
    // Latin-1 in one row of a file that is UTF-8 otherwise.
    assert!(error(b"a\n\xc3\xa9\n\xe9\n", "csv", "a").contains("line 3, column `a`: the text is not UTF-8"));
    assert!(error(b"{\"a\": 1}\n{\"a\": 1.5}\n", "json", "a").contains("line 2, column `a`: a number with a fraction"));
    // Each value by itself, whatever the column has been so far.
    assert!(error(b"{\"a\": \"x\"}\n{\"a\": 1.50}\n", "json", "a").contains("line 2, column `a`: a number with"));
    assert!(error(b"{\"a\": null}\n{\"a\": 1e2}\n", "json", "a").contains("line 2, column `a`: a number with"));
    assert!(error(b"{\"a\": [1]}\n", "json", "a").contains("a list or an object cannot be a key"));
}

/// A field of a gigabyte is refused long before it is in memory.
#[test]
fn a_record_that_never_ends_is_refused() {
    struct Endless(u64);
    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = into.len().min(1 << 16).min(self.0 as usize);
            into[..count].fill(b'x');
            self.0 -= count as u64;
            Ok(count)
        }
    }
    for (start, form) in [("a,b\n1,", "csv"), ("a,b\n1,\"", "csv"), ("{\"a\": \"", "json"), ("", "lines")] {
        let mut pipe = start.as_bytes().chain(Endless(40 << 20));
        let source = Source::spill(&mut pipe, "t").unwrap();
        let mut reader = TableReader::new(&source, &shape(form)).unwrap();
        let why = reader.next(&mut Record::new()).unwrap_err().to_string();
        assert!(why.contains("a record has more than 16 MiB"), "{form}: {why}");
        assert!(reader.bytes() <= 17 << 20, "{form}: {} bytes were read", reader.bytes());
    }
    // Many records may have more together.
    let line = [&[b'x'; 99_999][..], b"\n"].concat();
    let source = Source::spill(&mut &*line.repeat(200), "t").unwrap();
    for form in ["csv", "lines"] {
        let shape = TableShape { header: false, ..shape(form) };
        assert_eq!(all(&source, &shape).unwrap().1.len(), 200, "{form}");
    }
}

#[test]
fn a_folder_is_no_table_and_a_pipe_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let why = Source::open(folder.path()).err().unwrap().to_string();
    assert!(why.ends_with("it is a folder, not a table"), "{why}");
    #[cfg(unix)]
    {
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let written = path.clone();
        let writer = std::thread::spawn(move || std::fs::write(written, "a\n1\n"));
        let source = Source::open(&path).unwrap();
        writer.join().unwrap().unwrap();
        for _ in 0..2 {
            assert_eq!(all(&source, &shape("csv")).unwrap().1, [["1"]]);
        }
    }
}

#[test]
fn damaged_containers_are_errors() {
    let rows: String = (0..40_000).map(|n| format!("{n},{}\n", n * n)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(format!("a,b\n{rows}").as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    assert_eq!(all(&piped(&whole), &shape("csv")).unwrap().1.len(), 40_000);
    for cut in [3, 12, 30, whole.len() / 2, whole.len() - 1] {
        let why = why(&whole[..cut], &shape("csv"));
        assert!(
            why.starts_with("t: ") && why.ends_with(": the gzip file ends too early: it was cut off"),
            "{cut}: {why}"
        );
    }
    let mut damaged = whole.clone();
    damaged[whole.len() - 6] ^= 1;
    for damaged in [damaged, [&whole[..], b"something else"].concat(), [&whole[..10], &[0xff; 40]].concat()] {
        let why = why(&damaged, &shape("csv"));
        assert!(why.starts_with("t: ") && why.contains("the gzip file is damaged: "), "{why}");
    }
    #[cfg(feature = "parquet")]
    for bytes in [&b""[..], b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"a,b\n1,2\n"] {
        assert!(why(bytes, &shape("parquet")).starts_with("t: Parquet: "), "{bytes:?}");
    }
}

#[test]
fn a_list_has_no_columns_to_be_named() {
    let mut reader = TableReader::new(&piped(b"email\na@b.c\n"), &shape("lines")).unwrap();
    assert_eq!(reader.find("key").unwrap(), 0);
    let why = reader.find("email").unwrap_err().to_string();
    assert!(["`email`", "--key key:STEPS", "--format csv"].iter().all(|word| why.contains(word)), "{why}");
}
