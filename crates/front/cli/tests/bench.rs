//! `comity bench ot`: its flags, its table and its figure.

use crate::common::{Folder, comity};

#[test]
fn flags_that_fit_nothing_are_refused() {
    comity(&["bench", "ot.extension", "--n", "2^41"]).fails(2, &["2^41", "2^40"]);
    comity(&["bench", "garble", "--n", "2^10"]).fails(2, &["--n", "ot.extension"]);
    comity(&["bench", "ot.figure32", "--plot", "no/such/figure.svg"]).fails(2, &["no/such/figure.svg"]);
}

#[test]
fn extensions_are_one_table_of_as_many_ots_as_asked_for() {
    let done = comity(&[
        "bench",
        "ot.base.csw",
        "ot.extension.iknp.random",
        "ot.extension.softspoken.malicious.k4",
        "--n",
        "1000",
    ]);
    // Model, number, bytes to the receiver and to the sender, rounds.
    let rows = |protocol: &str| -> Vec<[&str; 5]> {
        let lines = done.ok().lines().filter(|line| line.starts_with(protocol));
        lines.map(|line| [40..52, 52..61, 70..85, 85..96, 96..104].map(|cell| line[cell].trim())).collect()
    };
    // CSW has three moves, IKNP one, SoftSpoken the corrections, the challenge and the answer to it.
    assert_eq!(rows("base.csw"), [["malicious", "2^7", "16.5000", "32.500", "3"]]);
    assert_eq!(rows("iknp.random"), [["semi-honest", "1000", "0.0000", "15.875", "1"]]);
    assert_eq!(rows("softspoken.malicious.k4.correlated"), [["malicious", "1000", "0.0160", "4.512", "3"]]);
    assert_eq!(done.out.matches("protocol ").count(), 1, "one table: {}", done.out);
}

#[test]
fn the_figure_is_drawn_as_text_and_to_a_file() {
    let folder = Folder::new("figure");
    let file = folder.path("figure.svg");
    let done = comity(&["bench", "ot.figure32.lan.n10", "--plot", &file]);
    assert!(done.ok().contains("Figure 3.2: lan") && done.out.contains("r RR-OT"));
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<circle ").count(), 4 + 8, "a point for each flavour, and R-OT's base line");
}
