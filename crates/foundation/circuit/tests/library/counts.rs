//! The table of gate counts, COUNTS.md beside the library's source: regenerated, and held against the file.

use std::fmt::Write;

use comity_circuit::library;

/// Circuits of the table, with the smallest number of ANDs that we know in print and where.
const ROWS: &[(&str, Option<(u64, &str)>)] = &[
    ("aes128", Some((6_400, NIST))),
    ("aes192", Some((7_168, BRISTOL))),
    ("aes256", Some((8_832, BRISTOL))),
    ("sha1", None),
    ("sha1-iv", Some((11_515, EPFL))),
    ("sha256", Some((22_573, BRISTOL))),
    ("sha256-iv", Some((22_272, CGGN))),
    ("sha512", Some((57_947, BRISTOL))),
    ("sha512-iv", None),
    ("keccak-f", Some((38_400, BRISTOL))),
    ("add32", Some((31, BPP))),
    ("add64", Some((63, BPP))),
    ("addfull32", Some((32, BPP))),
    ("sub64", Some((63, BRISTOL))),
    ("mul8", Some((57, KSS))),
    ("mul32", Some((993, KSS))),
    ("mul64", Some((4_033, BRISTOL))),
    ("mul128", Some((16_257, WMK))),
    ("mul256", Some((65_281, WMK))),
    ("mul1024", None),
    ("mulfull8", Some((120, KSS))),
    ("mulfull32", Some((1_689, EPFL))),
    ("mulfull64", Some((8_128, BRISTOL))),
    ("mulfull128", None),
    ("mulfull1024", None),
    ("eq64", Some((63, BRISTOL))),
    ("lt64", Some((64, KSS))),
    ("le64", Some((64, KSS))),
    ("gt64", Some((64, KSS))),
    ("ge64", Some((64, KSS))),
    ("slt64", Some((64, KSS))),
    ("sle64", Some((64, KSS))),
    ("sgt64", Some((64, KSS))),
    ("sge64", Some((64, KSS))),
    ("min64", Some((128, KSS))),
    ("max64", Some((128, KSS))),
    ("smin64", Some((128, KSS))),
    ("smax64", Some((128, KSS))),
    ("mux64", Some((64, KSS))),
    ("xor64", None),
    ("and64", None),
    ("or64", None),
    ("hamming64", Some((63, BP))),
    ("hamming1000", Some((994, BP))),
    ("chain1000", None),
];

const BP: &str = "Boyar, Peralta 2008; optimal";
const BPP: &str = "Boyar, Peralta, Pochuev 2000; optimal";
const BRISTOL: &str = "Bristol Fashion files";
const CGGN: &str = "Campanelli, Gennaro, Goldfeder, Nizzardo 2017";
const EPFL: &str = "Testa, Soeken, Riener, Amarù, De Micheli 2020";
const KSS: &str = "Kolesnikov, Sadeghi, Schneider 2009";
const NIST: &str = "NIST circuit complexity project";
const WMK: &str = "Wang, Malozemoff, Katz 2017";

const HEAD: &str = "\
# Gates of the built-in circuits

The last two columns give the fewest ANDs that we know in print for the same function, and whose they are. A test fails
if this table is stale or one of our circuits is larger; to write it anew, run
`COMITY_WRITE_COUNTS=1 cargo test -p comity-circuit --test library counts`.

| name | inputs | output | AND | XOR | NOT | AND depth | AND, published | by |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
";

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
    groups.join(",")
}

fn table() -> String {
    let mut text = HEAD.to_owned();
    for (name, published) in ROWS {
        let circuit = library::circuit(name).expect(name);
        let values = |groups: &[comity_circuit::Group]| {
            groups.iter().map(|group| format!("{}: {}", group.name, group.bits)).collect::<Vec<_>>().join(", ")
        };
        let counts = circuit.counts();
        if let Some((best, by)) = *published {
            assert!(counts.and <= best, "{name}: {} ANDs, but {by} has {best}", counts.and);
        }
        let (best, by) = published.map_or(("–".into(), "–"), |(best, by)| (grouped(best), by));
        let [and, xor, not, depth] = [counts.and, counts.xor, counts.not, counts.and_depth].map(grouped);
        let (inputs, outputs) = (values(circuit.inputs()), values(circuit.outputs()));
        writeln!(text, "| {name} | {inputs} | {outputs} | {and} | {xor} | {not} | {depth} | {best} | {by} |").unwrap();
    }
    text
}

#[test]
fn the_table_of_counts_is_up_to_date_and_no_worse_than_published() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/library/COUNTS.md");
    let (fresh, kept) = (table(), std::fs::read_to_string(path).unwrap_or_default());
    if std::env::var_os("COMITY_WRITE_COUNTS").is_some() {
        std::fs::write(path, &fresh).unwrap();
        return;
    }
    let stale = fresh.lines().zip(kept.lines()).find(|(fresh, kept)| fresh != kept);
    assert!(
        fresh == kept,
        "COUNTS.md is stale{}; to write it anew, run\n\
         COMITY_WRITE_COUNTS=1 cargo test -p comity-circuit --test library counts",
        stale.map_or(String::new(), |(fresh, kept)| format!(":\n  it says {kept}\n  but now {fresh}\n")),
    );
}

#[test]
fn the_table_shows_each_family() {
    for entry in library::names() {
        let stem = entry.pattern.trim_end_matches('N');
        let shown = |name: &str| name.strip_prefix(stem).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        assert!(ROWS.iter().any(|(name, _)| shown(name)), "{} is missing", entry.pattern);
    }
}
