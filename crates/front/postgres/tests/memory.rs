//! What is in memory at once does not grow with the bytes of a table: rows are read, sealed and sent some at a time.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;

use crate::common::{column, make, path, rng};
use comity_ope::{Column, ColumnType, ColumnValue, OpeScheme};
use comity_postgres::{NewRow, Result, Rows, Table, connect, read_key, write_key};
use comity_testing::{Process, peak_memory};

/// Bytes of a row's encrypted text, and of the plain one beside it.
const TEXT: usize = 1000;

/// Rows that nobody has in memory.
struct Made(usize);

impl Rows for Made {
    fn count(&self) -> usize {
        self.0
    }

    fn row(&mut self, at: usize) -> Result<Cow<'_, NewRow>> {
        let text = format!("{at:0TEXT$}");
        let note: ColumnValue = ColumnType::Text(TEXT as u16).parse(&text)?;
        let number = crate::common::big(at as i64 % 1000);
        Ok(Cow::Owned(NewRow { plain: vec![Some(text)], secret: vec![Some(note), Some(number)] }))
    }
}

/// The process that is measured.
#[test]
fn child() {
    let Ok(address) = std::env::var("COMITY_OPE_ADDRESS") else { return };
    let var = |name: &str| std::env::var(name).unwrap();
    let (file, rows) = (var("COMITY_OPE_KEY"), var("COMITY_OPE_ROWS").parse().unwrap());
    let (file, mut client, mut rng) = (file.as_ref(), connect(&address, None).unwrap(), rng(1));
    let key = read_key(file).unwrap();
    match var("COMITY_OPE_MODE").as_str() {
        "rebuild" => {
            assert_eq!(Table::rebuild(&mut client, key, None, false, &mut rng).unwrap().1.rows, rows as u64);
        }
        mode => {
            let mut table = Table::open(&mut client, key, None, &mut rng).unwrap();
            match mode {
                "load" => table.load(&mut client, &["t"], &["note", "v"], &mut Made(rows)).map(drop).unwrap(),
                "rotate" => table.rotate(&mut client, &mut rng, |key| write_key(file, key)).map(drop).unwrap(),
                _ => (),
            }
        }
    }
    fs::write(var("COMITY_OPE_PEAK"), peak_memory().unwrap_or(0).to_string()).unwrap();
}

fn measure(rows: usize, schemes: [OpeScheme; 2], adjustable: bool, row: u64) {
    let Some(server) = crate::common::server() else { return };
    let address = server.database().unwrap();
    let mut client = connect(&address, None).unwrap();
    client.batch_execute("create table t (t text)").unwrap();
    let note = Column { adjustable, ..column("note", &format!("text({TEXT})"), schemes[0]) };
    let (file, told) = (path("key"), path("peak"));
    write_key(&file, &make(&mut client, "t", &[note, column("v", "bigint", schemes[1])])).unwrap();
    let mut least = 0;
    for mode in ["open", "load", "rebuild", "rotate"] {
        let count = rows.to_string();
        let variables: [(&str, &dyn AsRef<OsStr>); 5] = [
            ("COMITY_OPE_ADDRESS", &address),
            ("COMITY_OPE_KEY", &file),
            ("COMITY_OPE_MODE", &mode),
            ("COMITY_OPE_ROWS", &count),
            ("COMITY_OPE_PEAK", &told),
        ];
        let end = Process::test("memory::child", &variables).end();
        assert_eq!(end.code, Some(0), "{mode}: {}", end.err);
        let peak: u64 = fs::read_to_string(&told).unwrap().parse().unwrap();
        if peak == 0 {
            let _ = writeln!(std::io::stderr(), "SKIPPED: this system does not tell a process's memory");
            break;
        }
        if mode == "open" {
            least = peak;
        }
        // What the dictionaries take, and room for a few chunks.
        let most = least + rows as u64 * row / 1024 + (8 << 10);
        assert!(peak <= most, "{mode}: {peak} KiB, {most} at most; an empty table takes {least}");
    }
    let _ = (fs::remove_file(&file), fs::remove_file(&told));
}

/// A table with 12 MB of text, which is twice as much in hexadecimal, and as much again beside it.
#[test]
fn rows_are_not_held_in_memory() {
    measure(12_000, [OpeScheme::LeftRight, OpeScheme::FrequencyHiding], true, 400);
}

#[test]
#[ignore = "a campaign: a million rows of 2 KB"]
fn a_million_rows_are_not_held_in_memory() {
    measure(1_000_000, [OpeScheme::LeftRight, OpeScheme::FrequencyHiding], true, 400);
}
