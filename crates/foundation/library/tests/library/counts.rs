//! The table of gate counts, COUNTS.md beside the library's source: regenerated, and held against the file.

mod arrays;
mod benchmarks;
mod ciphers;
mod depths;
mod floats;
mod hashes;
mod sources;
mod universal;
mod words;

use std::collections::HashMap;
use std::fmt::Write;

use comity_circuit::Goal;

use depths::DEPTHS;

/// A built-in of the table, with the smallest number of ANDs that we know in print and where.
type Row = (&'static str, Option<(u64, &'static str)>);

/// The rows of all tables, in order.
const ROWS: &[&[Row]] =
    &[ciphers::ROWS, hashes::ROWS, words::ROWS, arrays::ROWS, floats::ROWS, universal::ROWS, benchmarks::ROWS];

const HEAD: &str = "\
# Gates of the built-in circuits

Each has two forms: for size, as garbling wants it, and for depth, as secret sharing does. The form for size has the fewest ANDs that we
know, and of those circuits the fewest XORs: 2 AND + XOR are the rows of its tables where garbling has no free XOR (`yao` with
`garbling=standard`). No AND is spent to save XORs, which would pay where one saves more than two: in the S-boxes of DES, and in rotations by
a secret number. The sum of two words of n bits has 5n - 3 gates with its carry, NOTs not counted, and no circuit has fewer (Redkin 1981). Behind them stand the fewest ANDs
and the least AND depth that we know in print for the same function, and whose they are. A test fails if this table is
stale or one of our circuits is larger or deeper, or deeper than it was; to write it anew, run
`COMITY_WRITE_COUNTS=1 cargo test -p comity-library --test library counts`.

| name | inputs | output | AND | XOR | NOT | 2 AND + XOR | AND depth | for depth: AND | AND depth | AND, published | by | AND depth, published | by |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- |
";

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
    groups.join(",")
}

fn table() -> String {
    let mut text = HEAD.to_owned();
    for (name, published) in ROWS.iter().copied().flatten() {
        let program = comity_library::program(name).expect(name);
        let values = |values: Vec<(&str, usize)>| {
            values.iter().map(|(name, bits)| format!("{name}: {bits}")).collect::<Vec<_>>().join(", ")
        };
        let counts = program.totals();
        if let Some((best, by)) = *published {
            assert!(counts.and <= best, "{name}: {} ANDs, but {by} has {best}", counts.and);
        }
        let shallow = comity_library::program_for(name, Goal::Depth).expect(name).totals();
        let least = DEPTHS.iter().find(|(other, ..)| other == name).map(|&(_, depth, by)| (depth, by));
        if let Some((best, by)) = least {
            assert!(shallow.and_depth <= best, "{name}: {} deep, but that of {by} is {best}", shallow.and_depth);
        }
        let printed =
            |best: Option<(u64, &'static str)>| best.map_or(("–".into(), "–"), |(best, by)| (grouped(best), by));
        let ((best, by), (least, whose)) = (printed(*published), printed(least));
        let rows = 2 * counts.and + counts.xor;
        let [and, xor, not, rows, depth] = [counts.and, counts.xor, counts.not, rows, counts.and_depth].map(grouped);
        let [and_shallow, shallow] = [shallow.and, shallow.and_depth].map(grouped);
        let (inputs, outputs) = (
            values(program.inputs().iter().map(|v| (&v.name[..], v.bits)).collect()),
            values(program.outputs().iter().map(|v| (&v.name[..], v.bits)).collect()),
        );
        write!(
            text,
            "| {name} | {inputs} | {outputs} | {and} | {xor} | {not} | {rows} | {depth} | {and_shallow} | {shallow} "
        )
        .unwrap();
        writeln!(text, "| {best} | {by} | {least} | {whose} |").unwrap();
    }
    text
}

/// The AND depth of the forms for depth in a table.
fn shallow(table: &str) -> HashMap<&str, u64> {
    let depth = |line: &str| -> Option<u64> { line.split('|').nth(10)?.trim().replace(',', "").parse().ok() };
    table.lines().filter_map(|line| Some((line.split('|').nth(1)?.trim(), depth(line)?))).collect()
}

#[test]
fn the_table_of_counts_is_up_to_date_and_no_worse_than_published() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/COUNTS.md");
    let (fresh, kept) = (table(), std::fs::read_to_string(path).unwrap_or_default());
    let before = shallow(&kept);
    for (name, depth) in shallow(&fresh) {
        let last = before.get(name).copied().unwrap_or(depth);
        assert!(depth <= last, "{name}: {depth} deep in the form for depth, and it was {last}");
    }
    if std::env::var_os("COMITY_WRITE_COUNTS").is_some() {
        std::fs::write(path, &fresh).unwrap();
        return;
    }
    let stale = fresh.lines().zip(kept.lines()).find(|(fresh, kept)| fresh != kept);
    assert!(
        fresh == kept,
        "COUNTS.md is stale{}; to write it anew, run\n\
         COMITY_WRITE_COUNTS=1 cargo test -p comity-library --test library counts",
        stale.map_or(String::new(), |(fresh, kept)| format!(":\n  it says {kept}\n  but now {fresh}\n")),
    );
}

/// The names of the table.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().copied().flatten().map(|(name, _)| *name)
}

#[test]
fn the_table_shows_each_family() {
    for entry in comity_library::names() {
        // A name has digits where its pattern has a capital.
        let fits = |rest: &'static str, c: char| match c {
            'N' | 'W' | 'K' => {
                Some(rest.trim_start_matches(|c: char| c.is_ascii_digit())).filter(|&behind| behind != rest)
            }
            _ => rest.strip_prefix(c),
        };
        let shown = |name: &'static str| entry.pattern.chars().try_fold(name, fits) == Some("");
        assert!(ROWS.iter().copied().flatten().any(|(name, _)| shown(name)), "{} is missing", entry.pattern);
    }
}
