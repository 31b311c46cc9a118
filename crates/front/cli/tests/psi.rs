//! `comity psi`: two processes, files of every form, and a naive join beside them.

use std::collections::BTreeMap;
use std::fs;

use comity_table::{ColumnKind, TableColumn, TableShape, TableWriter};
use comity_testing::PATIENCE;

use crate::common::{Between, Done, Folder, Listener, comity, comity_with};

/// A table's rows.
type Rows = Vec<Vec<String>>;

/// Both sides, the first one listening, each with the arguments of its own.
pub(crate) fn meet(first: &[&str], second: &[&str]) -> (Done, Done) {
    let common = ["--method", "kkrt", &format!("--timeout={}", PATIENCE.as_secs())];
    let listener = Listener::begin("psi", &[first, &common].concat());
    let other = comity(&[&["psi", "--connect", &listener.address][..], second, &common].concat());
    (listener.end(), other)
}

/// Rows of a key, a name and a number, in which keys repeat; some keys are empty.
fn rows(seed: u64, count: u64, name: &str) -> Rows {
    let mut state = seed;
    let mut next = move |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let row = |at: u64| {
        let key = match next(9) {
            0 => String::new(),
            1 => format!(" {}", next(count)),
            _ => next(count).to_string(),
        };
        vec![key, format!("{name} \"{at}\", \u{e9}"), (at as i64 - 5).to_string()]
    };
    (0..count).map(row).collect()
}

fn write(folder: &Folder, name: &str, columns: [&str; 3], rows: &Rows) -> String {
    let path = folder.path(name);
    let kinds = [ColumnKind::Text, ColumnKind::Text, ColumnKind::Integer];
    let columns =
        columns.iter().zip(kinds).map(|(name, kind)| TableColumn { name: (*name).to_owned(), kind }).collect();
    let file = Box::new(fs::File::create(&path).unwrap());
    let mut writer = TableWriter::new(file, &TableShape::of(path.as_ref()).unwrap(), columns).unwrap();
    rows.iter().for_each(|row| writer.write(row.iter().map(|field| field.as_bytes())).unwrap());
    writer.finish().unwrap();
    path
}

/// The rows of a CSV file with a header, and the header.
fn read(text: &str) -> (Vec<String>, Rows) {
    let mut all = Vec::new();
    let mut reader = csv_of(text);
    let header = reader.remove(0);
    all.append(&mut reader);
    (header, all)
}

fn csv_of(text: &str) -> Rows {
    let source = comity_table::Source::spill(&mut text.as_bytes(), "csv").unwrap();
    let shape = TableShape { header: false, ..TableShape::default() };
    let mut reader = comity_table::TableReader::new(&source, &shape).unwrap();
    let (mut record, mut rows) = (comity_table::Record::new(), Rows::new());
    while reader.next(&mut record).unwrap() {
        rows.push(record.iter().map(|field| String::from_utf8(field.to_vec()).unwrap()).collect());
    }
    rows
}

/// The rows of the other side by key, after the step `trim`.
fn by_key(rows: &Rows) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut map: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row[0].trim().is_empty()) {
        map.entry(row[0].trim().to_owned()).or_default().push(row[1..].to_vec());
    }
    map
}

#[test]
fn rows_and_payload_are_those_of_a_naive_join() {
    let folder = Folder::new("psi-join");
    let (ours, theirs) = (rows(1, 300, "own"), rows(2, 400, "their"));
    let a = write(&folder, "a.csv", ["id", "name", "n"], &ours);
    let partners = by_key(&theirs);
    let mut forms = vec!["b.csv", "b.tsv.gz", "b.jsonl"];
    if cfg!(feature = "parquet") {
        forms.push("b.parquet");
    }
    for form in forms {
        let b = write(&folder, form, ["key", "name", "n"], &theirs);
        let out = folder.path("common.csv");
        let (done, other) = meet(
            &[&a, "--key", "id:trim", "--out", &out],
            &[&b, "--key", "key:trim", "--payload", "name,n", "--duplicates", "list:9"],
        );
        done.ok();
        other.ok();
        let (header, written) = read(&fs::read_to_string(&out).unwrap());
        assert_eq!(header, ["id", "name", "n", "their_name", "their_n"]);
        let expected: Rows = ours
            .iter()
            .flat_map(|row| {
                let partners = partners.get(row[0].trim()).cloned().unwrap_or_default();
                partners.into_iter().map(|partner| [&row[..], &partner].concat())
            })
            .collect();
        assert!(expected.len() > 100, "the tables have rows in common");
        assert_eq!(written, expected, "{form}");
        assert!(
            done.err.contains("semi-honest")
                && done.err.contains("left out: ")
                && done.err.contains(" rows without id"),
            "{}",
            done.err
        );
        assert!(other.err.contains("learnt which of its keys are in this table, with the columns"), "{}", other.err);
    }
}

#[test]
fn every_way_to_write_is_that_of_a_naive_join() {
    let folder = Folder::new("psi-modes");
    let (ours, theirs) = (rows(3, 120, "own"), rows(4, 150, "their"));
    let a = write(&folder, "a.csv", ["id", "name", "n"], &ours);
    let b = folder.file("b.txt", &theirs.iter().map(|row| row[0].clone() + "\n").collect::<String>());
    let partners = by_key(&theirs);
    let common = |row: &&Vec<String>| partners.contains_key(row[0].trim());
    let run = |name: &str, flags: &[&str]| {
        let out = folder.path(name);
        let (done, other) =
            meet(&[&[&a, "--key", "id:trim", "--out", &out][..], flags].concat(), &[&b, "--key", "key:trim"]);
        done.ok();
        other.ok();
        fs::read_to_string(out).unwrap()
    };
    let plain: Rows = ours.iter().filter(common).cloned().collect();
    let mut sorted = plain.clone();
    sorted.sort_by_key(|row| row[0].trim().to_owned());
    let mut got = read(&run("sorted.csv", &["--sorted"])).1;
    // Which of the rows with one key comes first is not said.
    let order = |rows: &Rows| rows.iter().map(|row| row[0].trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(order(&got), order(&sorted));
    got.sort();
    sorted.sort();
    assert_eq!(got, sorted);
    assert_eq!(read(&run("common.csv", &["--keep-order"])).1, plain);
    let anti: Rows = ours.iter().filter(|row| !common(row)).cloned().collect();
    assert_eq!(read(&run("anti.csv", &["--anti"])).1, anti);
    let left: Rows = ours.iter().map(|row| [&row[..], &[common(&row).to_string()]].concat()).collect();
    assert_eq!(read(&run("left.csv", &["--left"])), (["id", "name", "n", "matched"].map(String::from).to_vec(), left));
    let flags: String = ours.iter().map(|row| if common(&row) { "1\n" } else { "0\n" }).collect();
    assert_eq!(run("flags", &["--flags-only"]), flags);
    let json: Vec<serde_json::Value> =
        run("common.jsonl", &[]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        json.iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(),
        plain.iter().map(|row| &row[1]).collect::<Vec<_>>()
    );
}

#[test]
fn duplicates_are_sent_as_was_said_or_nobody_is_met() {
    let folder = Folder::new("psi-duplicates");
    let a = folder.file("a.csv", "k\n1\n2\n3\n");
    let b = folder.file("b.csv", "k,n\n1,10\n2,5\n1,-3\n");
    let out = folder.path("out.csv");
    let refused = ["psi", &b, "--key", "k", "--payload", "n", "--method", "kkrt", "--connect", "127.0.0.1:1"];
    comity(&refused).fails(2, &["b.csv: line 4, whose key k is first in line 2", "--duplicates first"]);
    comity(&[&refused[..], &["--duplicates", "list:1"]].concat()).fails(2, &["line 4", "more than 1 rows"]);
    for (how, expected) in
        [("first", "k,n\n1,10\n2,5\n"), ("sum", "k,n\n1,7\n2,5\n"), ("list:2", "k,n\n1,10\n1,-3\n2,5\n")]
    {
        let (done, other) =
            meet(&[&a, "--key", "k", "--out", &out], &[&b, "--key", "k", "--payload", "n", "--duplicates", how]);
        done.ok();
        other.ok();
        assert_eq!(fs::read_to_string(&out).unwrap(), expected, "{how}");
    }
    let later = folder.file("later.csv", "k,n\n1,10\n2,5\n3,7\n2,6\n");
    let refused = ["psi", &later, "--key", "k", "--payload", "n", "--connect", "127.0.0.1:1", "--timeout=1"];
    comity(&refused).fails(2, &["later.csv: line 5, whose key k is first in line 3"]);
}

#[test]
fn both_learn_and_a_size_is_padded() {
    let folder = Folder::new("psi-both");
    let a = folder.file("a.csv", "k,x\n1,a\n2,b\n3,c\n");
    let b = folder.file("b.csv", "k,y\n2,B\n3,C\n4,D\n5,E\n");
    let (first, second) = (folder.path("a-out.csv"), folder.path("b-out.csv"));
    let (one, two) = meet(
        &[&a, "--key", "k", "--payload", "x", "--out", &first, "--output-to", "all", "--pad-to", "100", "--json"],
        &[&b, "--key", "k", "--payload", "y", "--out", &second, "--output-to", "0,1", "--json"],
    );
    let (one, two) = (one.json(), two.json());
    assert_eq!(fs::read_to_string(&first).unwrap(), "k,x,y\n2,b,B\n3,c,C\n");
    assert_eq!(fs::read_to_string(&second).unwrap(), "k,y,x\n2,B,b\n3,C,c\n");
    assert_eq!(
        (&one["mine"], &one["theirs"], &one["common"], &one["rows_written"]),
        (&100.into(), &4.into(), &2.into(), &2.into())
    );
    assert_eq!(
        (&two["theirs"], &two["method"], &two["adversary"]),
        (&100.into(), &"kkrt".into(), &"semi-honest".into())
    );
    assert_eq!(one["bytes"]["sent"], two["bytes"]["received"]);
    for key in ["seconds", "rounds", "keys", "recipients"] {
        assert!(!one[key].is_null(), "{key}");
    }
}

#[test]
fn keys_are_composite_or_alternatives() {
    let folder = Folder::new("psi-keys");
    let a = folder.file("a.csv", "mail,phone,row\nX@y.z,,1\n,+49 30 1,2\nu@v.w,030-7,3\nq@q.q,,4\n");
    let b = folder.file(
        "b.jsonl",
        "{\"m\":\"x@Y.Z\",\"p\":\"5\"}\n{\"m\":null,\"p\":\"49301\"}\n{\"m\":\"n@n.n\",\"p\":\"0307\"}\n",
    );
    let out = folder.path("out.csv");
    let keys = |mail: &str, phone: &str| {
        ["--key".to_owned(), format!("{mail}:lower"), "--key".into(), format!("{phone}:digits")]
    };
    let (ours, theirs) = (keys("mail", "phone"), keys("m", "p"));
    let with = |file: &str, keys: &[String; 4], more: &[&str]| {
        [file]
            .into_iter()
            .chain(keys.iter().map(String::as_str))
            .chain(more.iter().copied())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (first, second) = (with(&a, &ours, &["--out", &out]), with(&b, &theirs, &[]));
    let [first, second] = [&first, &second].map(|args| args.iter().map(String::as_str).collect::<Vec<_>>());
    let (done, other) = meet(&first, &second);
    done.ok();
    other.ok();
    let rows: Vec<String> = read(&fs::read_to_string(&out).unwrap()).1.into_iter().map(|row| row[2].clone()).collect();
    assert_eq!(rows, ["1", "2", "3"]);
    assert!(done.err.contains("1 of 3 by mail, 2 of 2 by phone are common, in 3 of 4 rows"), "{}", done.err);
    // ("ab", "c") is not ("a", "bc").
    let (a, b) = (folder.file("c.csv", "x,y\nab,c\na,b\n"), folder.file("d.csv", "x,y\na,bc\na,b\n"));
    let (done, _) = meet(&[&a, "--key", "x,y", "--out", &out], &[&b, "--key", "x,y"]);
    done.ok();
    assert_eq!(fs::read_to_string(&out).unwrap(), "x,y\na,b\n");
}

#[test]
fn tables_come_and_go_through_pipes() {
    let folder = Folder::new("psi-pipes");
    let b = folder.file("b.tsv", "k\tn\nx\t1\ny\t2\n");
    let timeout = format!("--timeout={}", PATIENCE.as_secs());
    let listener = Listener::begin("psi", &[&b, "--key", "k", "--method", "kkrt", &timeout]);
    let piped =
        ["psi", "-", "--no-header", "--delimiter", ";", "--key", "2", "--out", "-", "--method", "kkrt", &timeout];
    let done = comity_with("1;x\n2;z\n3;x\n", &[&piped[..], &["--connect", &listener.address]].concat());
    assert_eq!(done.ok(), "1;x\n3;x\n");
    listener.end().ok();
}

#[test]
fn different_wishes_are_told_to_both() {
    let folder = Folder::new("psi-mismatch");
    let (a, b) = (folder.file("a.csv", "k,l\n1,2\n"), folder.file("b.csv", "k,l\n1,2\n"));
    let (own, out) = (folder.path("own.csv"), folder.path("out.csv"));
    for (ours, theirs, words) in [
        (
            &["--key", "k:lower,trim"][..],
            &["--key", "k:trim"][..],
            &["disagree on the keys", "lower+trim", "with the same steps"][..],
        ),
        (&["--key", "k,l"], &["--key", "k"], &["disagree on the keys", "as-is,as-is"]),
        (&["--key", "k", "--key", "l"], &["--key", "k"], &["disagree on the keys", "as-is;as-is"]),
        (&["--key", "k"], &["--key", "k", "--out", &out], &["recipients", "`--output-to all` is for both"]),
        (&["--key", "k"], &["--key", "k", "--method", "ot-bch"], &["disagree on the method", "kkrt", "ot-bch"]),
    ] {
        let first = [&[a.as_str(), "--out", &own][..], ours].concat();
        let method = if theirs.contains(&"--method") { &[][..] } else { &["--method", "kkrt"] };
        let timeout = format!("--timeout={}", PATIENCE.as_secs());
        let listener = Listener::begin("psi", &[&first, &["--method", "kkrt", &timeout][..]].concat());
        let other = comity(&[&["psi", &b, "--connect", &listener.address, &timeout][..], theirs, method].concat());
        for done in [listener.end(), other] {
            done.fails(2, words);
        }
        assert!(!fs::exists(&own).unwrap() && !fs::exists(&out).unwrap());
    }
}

#[test]
fn what_is_wrong_here_bothers_nobody() {
    let folder = Folder::new("psi-refused");
    let good = folder.file("good.csv", "mail,name\na,b\n");
    // Nobody is there: what would be told only then is told within a second.
    let alone = ["psi", "--method", "kkrt", "--connect", "127.0.0.1:1", "--timeout=1"];
    let psi = |args: &[&str]| comity(&[&alone[..], args].concat());
    psi(&[&good, "--key", "mial"]).fails(2, &["no column `mial`; there is `mail`, `name`"]);
    psi(&[&good, "--key", "mail", "--payload", "nmae"]).fails(2, &["no column `nmae`; there is `name`"]);
    psi(&[&good, "--key", "mail:date"]).fails(2, &["good.csv: line 2, column `mail`: the value is not a day"]);
    psi(&[&good]).fails(2, &["by which columns"]);
    psi(&[&good, "--key", "mail", "--output-to", "1"]).fails(2, &["--out FILE"]);
    psi(&[&good, "--key", "mail", "--output-to", "0", "--out", "x.csv"])
        .fails(2, &["this party does not learn the common rows"]);
    for (to, words) in [
        ("0=all", "say only who learns it"),
        ("shared", "cannot leave the common rows shared"),
        ("2", "there is no party 2"),
        ("0,7", "no party 7"),
    ] {
        psi(&[&good, "--key", "mail", "--output-to", to, "--out", "x.csv"]).fails(2, &[words]);
    }
    psi(&[&folder.file("two.csv", "mail\na\nb\n"), "--key", "mail", "--pad-to", "1"])
        .fails(2, &["2 keys cannot be padded to 1"]);
    comity(&["psi"]).fails(2, &["which table?"]);
    comity(&["psi", &good, "--key", "mail"]).fails(2, &["One adds --listen ADDR, and the other one --connect ADDR"]);
    comity(&["psi", &good, "--key", "mail", "--method", "circuit", "--connect", "127.0.0.1:1"])
        .fails(2, &["--protocol yao"]);
    psi(&[&good, "--key", "mail", "--pad-to", "1e12"]).fails(2, &["are too many"]);
    psi(&[&good, "--key", "mail", "--adversary", "malicious"]).fails(2, &["not for a malicious peer"]);
    psi(&[&good, "--key", "mail", "--out", &folder.path("x.txt")])
        .fails(2, &["x.txt: a file with a key on each line", "has 2"]);
    #[cfg(not(feature = "parquet"))]
    psi(&[&good, "--key", "mail", "--out", &folder.path("x.parquet")])
        .fails(2, &["x.parquet: this build of comity writes no"]);
    psi(&[&good, "--key", "mail", "--payload", "name", "--out", &folder.path("x.csv")]).fails(2, &["payload goes to"]);
    psi(&[&good, "--key", "mail", "--pad-to", "0"]).fails(3, &["127.0.0.1:1"]);
    psi(&[&folder.file("bad.csv", "a,b\n1,2\n3\n"), "--key", "a"])
        .fails(2, &["bad.csv: line 3: 1 fields", "`b` is missing"]);
    psi(&[&folder.file("nul.csv", "a\nx\0\n"), "--key", "a"]).fails(2, &["line 2, column `a`: a NUL byte"]);
    psi(&[&folder.file("empty.csv", "a\n\"\"\n"), "--key", "a", "--empty", "error"])
        .fails(2, &["line 2: the key a is empty"]);
    psi(&[&folder.file("x.json", "{\"a\":1}\n"), "--key", "b"])
        .fails(2, &["x.json: there is no column `b`; there is `a`"]);
    psi(&[&good, "--key", "mail", "--out", &folder.path("")]).fails(2, &["it is a folder; name a file in it"]);
    psi(&[&folder.path("none.csv"), "--key", "a"]).fails(2, &["none.csv: cannot read it"]);
    psi(&[&good, "--key", "mail", "--out", &folder.path("no/such")]).fails(2, &["cannot write it"]);
    psi(&[&good, "--key", "mail", "--out", "-", "--json"]).fails_json(2, "usage", &["standard output"]);
    psi(&[&good, "--key", "mail:lowr"]).fails(2, &["no step `lowr`"]);
    comity(&["psi", &good, "--key", "mail", "--method", "dh", "--connect", "127.0.0.1:1"])
        .fails(2, &["no method `dh`", "kkrt"]);
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 6, "nothing is left beside the files");
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let folder = Folder::new("psi-flags");
    let (table, out) = (folder.file("t.csv", "k\n1\n"), folder.path("out.csv"));
    for pair in [
        ["--anti", "--left"],
        ["--anti", "--flags-only"],
        ["--left", "--flags-only"],
        ["--keep-order", "--sorted"],
        ["--sorted", "--flags-only"],
    ] {
        let meet = ["--key", "k", "--out", &out, "--connect", "127.0.0.1:1", "--timeout=1"];
        for pair in [pair, [pair[1], pair[0]]] {
            comity(&[&["psi", &table][..], &meet, &pair].concat()).fails(2, &["cannot be used with", pair[0], pair[1]]);
        }
    }
    let query = ["psi", "query", &table, "--base", "b", "--key", "k", "--out", &out, "--connect", "127.0.0.1:1"];
    comity(&[&query[..], &["--protocol", "gmw", "--store", "S"]].concat()).fails(2, &["cannot be used with"]);
    // What is said of the method is looked at before a table is read, which may take long.
    comity(&[
        "psi",
        "none.csv",
        "--key",
        "k",
        "--method",
        "kkrt",
        "--adversary",
        "malicious",
        "--connect",
        "127.0.0.1:1",
    ])
    .fails(2, &["not for a malicious peer"]);
}

/// Whoever waits for the other side, waits no longer than the run may last.
#[test]
fn a_run_ends_by_its_deadline() {
    let folder = Folder::new("psi-deadline");
    let (table, out) = (folder.file("t.csv", "k\n1\n"), folder.path("o.csv"));
    let timeout = format!("--timeout={}", PATIENCE.as_secs());
    let alone = ["psi", &table, "--key", "k", "--listen", "127.0.0.1:0", "--out", &out, &timeout, "--deadline=0.2s"];
    comity(&alone).fails(3, &["did not end within 0.2 s"]);
    // A port that takes the connection, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (state, base) = (folder.path("state"), folder.path("base"));
    comity(&["psi", "publish", &table, "--key", "k", "--state", &state, "--out", &base]).ok();
    let address = silent.local_addr().unwrap().to_string();
    let asked = ["psi", "query", &table, "--key", "k", "--base", &base, "--connect", &address, "--out", &out];
    comity(&[&asked[..], &[&timeout, "--deadline=0.2s"]].concat()).fails(3, &["did not end within 0.2 s"]);
    assert!(!fs::exists(&out).unwrap(), "nothing is left behind");
}

/// What is written where: by the flag, by the name, and else as the table is; and of a table whose form its
/// name does not say.
#[test]
fn forms_are_those_that_were_said() {
    let folder = Folder::new("psi-forms");
    let a = folder.file("a.data", "id;matched;age\n1;x;5\"\n2;y;6\n");
    let b = folder.file("b.json", "{\"k\":\"1\",\"age\":34,\"tall\":true,\"w\":1.5,\"l\":[1]}\n");
    let keys = folder.file("keys.txt", "1\n7\n");
    let run = |name: &str, flags: &[&str], theirs: &[&str]| {
        let out = folder.path(name);
        let ours = [&a, "--delimiter", ";", "--no-quoting", "--key", "id", "--out", &out];
        let (done, other) = meet(&[&ours[..], flags].concat(), theirs);
        done.ok();
        other.ok();
        fs::read(&out).unwrap()
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    // Another side's columns keep their kinds, and get names of their own; flags alone and rows without a
    // partner have none.
    let payload = [&b, "--key", "k", "--payload", "age,tall,w,l"];
    assert_eq!(
        text(run("out.jsonl", &["--left"], &payload)),
        "{\"id\":\"1\",\"matched\":\"x\",\"age\":\"5\\\"\",\"their_matched\":true,\"their_age\":34,\"tall\":true,\"w\":1.5,\"l\":[1]}\n\
         {\"id\":\"2\",\"matched\":\"y\",\"age\":\"6\",\"their_matched\":false,\"their_age\":null,\"tall\":null,\"w\":null,\"l\":null}\n"
    );
    assert_eq!(text(run("anti.tsv", &["--anti"], &payload)), "id\tmatched\tage\n2\ty\t6\n");
    assert_eq!(text(run("flags", &["--flags-only"], &payload)), "1\n0\n");
    // Lines need no key to be named, and a flag says more than a name.
    assert_eq!(text(run("out.csv", &["--out-format", "tsv"], &[&keys])), "id\tmatched\tage\n1\tx\t\"5\"\"\"\n");
    let gzip = run("out.csv.gz", &["--out-format", "json"], &[&keys, "--format", "csv", "--no-header", "--key", "1"]);
    assert_eq!(gzip[..2], [0x1f, 0x8b]);
    let source = comity_table::Source::spill(&mut &gzip[..], "gz").unwrap();
    let mut reader = comity_table::TableReader::new(&source, &"json".parse().unwrap()).unwrap();
    assert!(reader.next(&mut comity_table::Record::new()).unwrap());
    assert_eq!(reader.columns().len(), 3);
}

#[test]
fn an_output_is_there_whole_or_as_it_was() {
    let folder = Folder::new("psi-out");
    let (a, b) = (folder.file("a.csv", "k\n1\n2\n"), folder.file("b.csv", "k\n2\n"));
    let out = folder.file("out.csv", "old\n");
    let (done, other) = meet(&[&a, "--key", "k", "--out", &out], &[&b, "--key", "k"]);
    done.ok();
    other.ok();
    assert_eq!(fs::read_to_string(&out).unwrap(), "k\n2\n");
    // A disk that is full.
    if fs::exists("/dev/full").unwrap() {
        let (done, other) = meet(&[&a, "--key", "k", "--out", "/dev/full"], &[&b, "--key", "k"]);
        done.fails(2, &["/dev/full: ", "No space left"]);
        other.ok();
    }
    // The other side goes away in the middle.
    let many: String = (0..60_000).map(|n| format!("{n}\n")).collect();
    let many = folder.file("many.csv", &format!("k\n{many}"));
    let before = fs::read_dir(folder.path("")).unwrap().count();
    let timeout = format!("--timeout={}", PATIENCE.as_secs());
    let mut listener = Listener::begin("psi", &[&many, "--key", "k", "--method", "kkrt", &timeout]);
    let between = Between::before(&listener.address);
    let args = ["psi", &many, "--key", "k", "--out", &out, "--method", "kkrt", &timeout, "--connect", &between.address];
    let lost = std::thread::scope(|scope| {
        let lost = scope.spawn(|| comity(&args));
        between.until(1 << 20);
        listener.kill();
        lost.join().unwrap()
    });
    lost.fails(3, &["closed"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "k\n2\n", "the file is as it was");
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), before, "nothing is left beside it");
}

#[test]
fn parties_meet_as_those_of_a_run_do() {
    let folder = Folder::new("psi-tls");
    let (a, b) = (folder.file("a.csv", "k\n1\n2\n"), folder.file("b.csv", "k\n2\n"));
    let (ours, theirs, out) = (folder.path("ann"), folder.path("ben"), folder.path("out.csv"));
    let print = |dir: &str| {
        let made = comity(&["key", "new", dir]);
        made.ok().split_whitespace().last().unwrap().to_owned()
    };
    let (first, second) = (print(&ours), print(&theirs));
    comity(&["key", "trust", &ours, "--party", "1", &second]).ok();
    comity(&["key", "trust", &theirs, "--party", "0", &first]).ok();
    let (done, other) = meet(&[&a, "--key", "k", "--out", &out, "--tls", &ours], &[&b, "--key", "k", "--tls", &theirs]);
    done.ok();
    other.ok();
    assert_eq!(fs::read_to_string(&out).unwrap(), "k\n2\n");
    // Plain text off this machine has to be asked for.
    let away = ["psi", &b, "--key", "k", "--method", "kkrt", "--connect", "192.0.2.1:7"];
    comity(&away).fails(2, &["--plaintext"]);
}

#[test]
fn a_plan_says_what_methods_take_and_sends_nothing() {
    let plan = comity(&["psi", "plan", "--mine", "1e4", "--theirs", "1e5", "--net", "100Mbit/s,20ms", "--json"]).json();
    let plans = plan.as_array().unwrap();
    let kkrt = plans.iter().find(|plan| plan["method"] == "kkrt").unwrap();
    // Masks of 100,000 keys take more than the OTs of 10,000.
    assert!(kkrt["bytes_received"].as_u64() > kkrt["bytes_sent"].as_u64(), "{kkrt}");
    assert!(kkrt["seconds"].as_f64().unwrap() > kkrt["bytes_received"].as_u64().unwrap() as f64 / 12.5e6, "{kkrt}");
    // What is planned is what a run sends and receives, but for the hello.
    let folder = Folder::new("psi-plan");
    let keys = |name: &str, count: u32| folder.file(name, &(0..count).map(|n| format!("{n}\n")).collect::<String>());
    let (mine, theirs, out) = (keys("mine.txt", 3000), keys("theirs.txt", 9000), folder.path("common.csv"));
    let planned = comity(&["psi", "plan", "--mine", "3000", "--theirs", "9000", "--json"]).json();
    let planned = planned.as_array().unwrap().iter();
    let planned = planned.clone().find(|plan| plan["method"] == "vole" && plan["adversary"] == "malicious").unwrap();
    let listener = Listener::begin("psi", &[&mine, "--key", "key", "--json", "--out", &out]);
    comity(&["psi", "--connect", &listener.address, &theirs, "--key", "key"]).ok();
    let bytes = &listener.end().json()["bytes"];
    for (of, planned) in [("sent", &planned["bytes_sent"]), ("received", &planned["bytes_received"])] {
        let (run, planned) = (bytes[of].as_u64().unwrap(), planned.as_u64().unwrap());
        assert!(run.abs_diff(planned) < 400, "{of}: {run}, and {planned} were planned");
    }
    let text = comity(&["psi", "plan", "--mine", "100", "--theirs", "100"]);
    assert!(text.ok().contains("kkrt     semi-honest"), "{}", text.out);
}

/// A table through a pipe is kept in a temporary file: where there is no room for it, that is what is said,
/// and nobody is met.
#[cfg(unix)]
#[test]
fn a_pipe_that_cannot_be_kept_is_told() {
    let folder = Folder::new("psi-spill");
    let (out, full) = (folder.path("out.csv"), folder.path("tmp"));
    fs::create_dir(&full).unwrap();
    let table = folder.file("t.csv", &format!("key\n{}", "a key of some length\n".repeat(10_000)));
    let run = |tmp: &str, limit: &str| {
        // A file beyond the limit is an error and no signal, as where the disk is full.
        let run = "exec \"$0\" psi - --key key --out \"$1\" --connect 127.0.0.1:1";
        let script = format!("cat \"$2\" | (trap '' XFSZ; {limit} {run})");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_comity"), &out, &table]).env("TMPDIR", tmp);
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    for (tmp, limit) in [(&*full, "ulimit -f 8;"), (&*folder.path("nowhere"), "")] {
        let (code, why) = run(tmp, limit);
        assert_eq!(code, Some(2), "{why}");
        assert!(
            why.contains("standard input: cannot keep it in a temporary file in") && why.contains("TMPDIR"),
            "{why}"
        );
    }
    assert_eq!(fs::read_dir(&full).unwrap().count(), 0, "nothing is left behind");
    assert!(!fs::exists(&out).unwrap());
}
