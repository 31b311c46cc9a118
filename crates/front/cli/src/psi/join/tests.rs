//! What the other side sends as payload, honest or not, and what is written of it.

use std::fs;

use clap::Parser;
use comity::psi::Matches;
use comity_table::Decoder;

use super::*;
use crate::psi::args::TableArgs;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    result: OutArgs,
}

/// What is written of a table with the keys a, b and c, all common, beside which these cells came, to a file
/// of this name.
fn written(name: &str, header: &[&str], cells: [&[u8]; 3]) -> (JoinCounts, String) {
    let folder = tempfile::tempdir().unwrap();
    let (table, out) = (folder.path().join("t.csv"), folder.path().join(name));
    fs::write(&table, "k\na\nb\nc\n").unwrap();
    let args = ["psi", table.to_str().unwrap(), "--key", "k", "--out", out.to_str().unwrap()];
    let Args { table, result } = Args::parse_from(args);
    let table = Table::read(&table).unwrap();
    let width = cells.iter().map(|cell| cell.len()).max().unwrap();
    let payload = cells.iter().flat_map(|cell| cell.iter().copied().chain(std::iter::repeat(0)).take(width)).collect();
    let matches = vec![Matches { theirs: 3, matched: vec![0, 1, 2], payload, left_out: 0 }];
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let learnt = Learnt { matches, payload: Some((Decoder::header(&header), vec![width])) };
    let written = Out::begin(&result, &out).unwrap().write(&table, &learnt).unwrap();
    let bytes = fs::read(&out).unwrap();
    (written, if name.ends_with("parquet") { String::new() } else { String::from_utf8(bytes).unwrap() })
}

/// Whether there is an output, and how the command ends, does not tell which keys are common.
#[test]
fn a_cell_that_is_none_ends_nothing() {
    let good = [1, 1, b'7', 2, b'x', b'y'];
    for bad in [&[0][..], &[1, 9], &[1, 1, 0xff, 0], &[1, 0, 0, 1], &[9]] {
        let (done, text) = written("out.csv", &["iage", "tname"], [&good, bad, &good]);
        assert_eq!(text, "k,age,name\na,7,xy\nb,,\nc,7,xy\n", "{bad:?}");
        assert_eq!((done.rows, done.common, done.unreadable), (3, 3, 1));
        let (done, text) = written("out.jsonl", &["iage", "tname"], [bad, &good, bad]);
        let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((rows.len(), &rows[1]["age"], &rows[2]["age"]), (3, &7.into(), &serde_json::Value::Null));
        assert_eq!((done.rows, done.unreadable), (3, 2));
    }
}

/// Claims of the other side, on what it has in its columns, are held against all that came, and not row by row.
#[test]
fn a_value_that_is_none_of_its_column_is_a_text() {
    let cells: [&[u8]; 3] = [&[1, 1, b'7'], &[1, 1, b'x'], &[1, 2, b'[', b'"']];
    let (done, text) = written("out.jsonl", &["iage"], cells);
    assert_eq!(text, "{\"k\":\"a\",\"age\":7}\n{\"k\":\"b\",\"age\":\"x\"}\n{\"k\":\"c\",\"age\":\"[\\\"\"}\n");
    assert_eq!(done.unreadable, 0);
    #[cfg(feature = "parquet")]
    assert_eq!(written("out.parquet", &["iage"], cells).0.rows, 3);
}

#[test]
fn cells_without_columns_and_columns_of_one_name() {
    let (done, text) = written("out.csv", &[], [&[1], &[1], &[0]]);
    assert_eq!((text.as_str(), done.rows), ("k\na\nb\nc\n", 3));
    let (_, text) = written("out.csv", &["tk", "ttheir_k"], [&[1, 0, 0], &[1, 0, 0], &[1, 0, 0]]);
    assert!(text.starts_with("k,their_k,their_their_k\n"), "{text}");
    assert!(PackedPayload::columns(&Decoder::header(&["ta".to_owned(), "ia".to_owned()])).is_err());
    // As many columns as a header has room for.
    let many: Vec<String> = (0..9000).map(|n| format!("t{n}")).collect();
    assert_eq!(PackedPayload::columns(&Decoder::header(&many)).unwrap().len(), 9000);
}
