//! `comity prepare` and `comity run --store`: each batch serves one run, whatever happens.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::common::*;

/// The stores of both parties, one under a key file and one under a passphrase.
struct Stores {
    folder: Folder,
    flags: [Vec<String>; 2],
}

impl Stores {
    fn new(test: &str) -> Stores {
        let folder = Folder::new(test);
        let passphrase = folder.file("passphrase", "correct horse\nthe second line does not count\n");
        let flags = [["--key-file", &folder.path("key")], ["--passphrase-file", &passphrase]];
        let flags = flags.map(|flag| flag.map(str::to_owned).to_vec());
        Stores { folder, flags }
    }

    /// The flags of a party's store.
    fn of(&self, party: usize) -> Vec<String> {
        let store = self.folder.path(&format!("store{party}"));
        ["--store".to_owned(), store].into_iter().chain(self.flags[party].clone()).collect()
    }

    /// The names of the records of a party's lots.
    fn lots(&self, party: usize) -> Vec<String> {
        self.files(party, ".lot").into_iter().filter(|name| name.ends_with(".lot")).collect()
    }

    /// The content of the records of a party's lots.
    fn records(&self, party: usize) -> Vec<Option<Vec<u8>>> {
        let folder = self.folder.path(&format!("store{party}"));
        self.lots(party).iter().map(|name| fs::read(format!("{folder}/{name}")).ok()).collect()
    }

    /// The names of a party's files that have this in them.
    fn files(&self, party: usize, part: &str) -> Vec<String> {
        let files = fs::read_dir(self.folder.path(&format!("store{party}"))).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.contains(part)).collect();
        names.sort();
        names
    }

    /// Both parties' side of a command on `add64` with rho = 7, each with more of its own.
    fn both(&self, command: &str, shared: &[&str], own: [&[&str]; 2]) -> [Done; 2] {
        self.with_rho("7", command, shared, own)
    }

    fn with_rho(&self, rho: &str, command: &str, shared: &[&str], own: [&[&str]; 2]) -> [Done; 2] {
        self.parties(command, &[&["add64", "--rho", rho], shared].concat(), own)
    }

    fn parties(&self, command: &str, shared: &[&str], own: [&[&str]; 2]) -> [Done; 2] {
        let [a, b] = [0, 1].map(|party| {
            let store = self.of(party);
            let store: Vec<&str> = store.iter().map(String::as_str).collect();
            [shared, &store, own[party]].concat().into_iter().map(str::to_owned).collect::<Vec<String>>()
        });
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
        let listener = Listener::begin(command, &[&["--party", "0"][..], &a].concat());
        let address = listener.address.clone();
        let other = comity(&[&[command][..], &["--party", "1", "--connect", &address], &b].concat());
        [listener.end(), other]
    }

    fn prepare(&self, shared: &[&str]) -> [Done; 2] {
        self.both("prepare", shared, [&[], &[]])
    }

    /// Adds the numbers, and asserts the sum.
    #[track_caller]
    fn add(&self, x: u64, y: u64) -> [Done; 2] {
        let done = self.both("run", &[], [&["--input", &format!("u64:{x}")], &["--input", &format!("u64:{y}")]]);
        for done in &done {
            assert_eq!(done.ok(), format!("{:016x}\n", x + y));
        }
        done
    }
}

#[test]
fn each_run_takes_the_next_lot() {
    let stores = Stores::new("prepare-runs");
    let [a, b] = stores.prepare(&["--count", "2", "--json"]);
    assert!(a.err.contains("the key of the store"), "{}", a.err);
    for done in [&a, &b] {
        done.ok();
        let json = done.json();
        assert_eq!(
            (&json["program"], &json["protocol"], &json["count"]),
            (&"add64".into(), &"cutchoose".into(), &2.into())
        );
        assert_eq!((&json["rho"], &json["adversary"]), (&7.into(), &"malicious".into()));
        assert!(json["seconds"]["total"].as_f64().unwrap() > 0.0);
    }
    for (party, done) in [&a, &b].into_iter().enumerate() {
        let folder = stores.folder.path(&format!("store{party}"));
        let files = [stores.lots(party), stores.files(party, ".batch-")].concat();
        let sizes = files.iter().map(|name| fs::metadata(format!("{folder}/{name}")).unwrap().len()).sum::<u64>();
        assert_eq!(done.json()["stored_bytes"], sizes);
    }
    assert_eq!(stores.lots(0), stores.lots(1), "both parts have one name");
    let first = stores.lots(0);
    assert_eq!(first.len(), 2);
    stores.add(40, 2);
    let second = stores.lots(0);
    assert_eq!(second.len(), 1);
    assert_eq!(second, stores.lots(1));
    let [a, _] = stores.add(50, 5);
    assert!(a.err.contains("(copies): 1 of 1 runs; left: 0"), "{}", a.err);
    assert!(stores.lots(0).is_empty() && stores.lots(1).is_empty());
    // None is left: both are told, and told what to do.
    let done = stores.both("run", &[], [&["--input", "u64:1"], &["--input", "u64:2"]]);
    for done in done {
        done.fails(2, &["no party has a lot of copies", "comity prepare"]);
    }
}

#[test]
fn a_lot_is_for_its_program_parameters_and_role() {
    let stores = Stores::new("prepare-fits");
    let [a, b] = stores.both("prepare", &[], [&["--role", "evaluator"], &["--role", "garbler"]]);
    assert!(a.ok().contains("1 run is prepared") && b.ok().contains("1 run is prepared"), "{}", a.out);
    let inputs: [&[&str]; 2] = [&["--input", "u64:1"], &["--input", "u64:2"]];
    for done in stores.both("run", &["--output-to", "0"], inputs) {
        done.fails(2, &["no party has a lot of copies", "comity prepare"]);
    }
    for done in stores.with_rho("8", "run", &[], inputs) {
        done.fails(2, &["no party has a lot of copies", "comity prepare"]);
    }
    let garbler: [&[&str]; 2] = [&["--input", "u64:1", "--role", "garbler"], &["--input", "u64:2"]];
    let [a, b] = stores.both("run", &[], garbler);
    // That party 0 garbles is agreed, and this was prepared for the other one.
    for done in [a, b] {
        done.fails(2, &["no party has a lot of copies", "options"]);
    }
    // A party with a store and one without want different things.
    let store = stores.of(0);
    let store: Vec<&str> = store.iter().map(String::as_str).chain(["--input", "u64:1"]).collect();
    let (a, b) = both(&["add64", "--rho", "7"], &store, &["--input", "u64:2"]);
    a.fails(2, &["disagree", "from a store"]);
    b.fails(2, &["disagree", "from a store"]);
    assert_eq!((stores.lots(0).len(), stores.lots(1).len()), (1, 1), "nothing was used up");
    stores.add(3, 4);
}

#[test]
fn killed_in_the_middle_it_is_gone_and_the_parties_find_together_again() {
    let stores = Stores::new("prepare-killed");
    stores.prepare(&["--count", "4"]).iter().for_each(|done| {
        done.ok();
    });
    let [zero, one] = [0, 1].map(|party| stores.of(party));
    let [zero, one] = [&zero, &one].map(|store| store.iter().map(String::as_str).collect::<Vec<&str>>());
    let listener = Listener::start(&[&["add64", "--rho", "7", "--party", "0", "--input", "u64:1"][..], &zero].concat());
    let args = ["run", "add64", "--rho", "7", "--party", "1", "--input", "u64:2", "--connect", &listener.address];
    let mut child = Background::start(command(&[&args[..], &one].concat()));
    // Killed as soon as its part is marked, wherever that finds it.
    let unused = stores.records(1);
    while stores.records(1) == unused && child.runs() {
        thread::sleep(Duration::from_micros(200));
    }
    child.kill();
    let done = listener.end();
    assert!([0, 3].contains(&done.code), "{}: {}", done.code, done.err);
    // Looking at the store removes what was being used.
    comity(&[&["store", "list"][..], &one].concat()).ok();
    assert_eq!(stores.lots(1).len(), 3);
    // A lot that only one side has is passed over, and then removed.
    let lost = stores.lots(1).into_iter().find(|name| stores.lots(0).contains(name)).unwrap();
    fs::remove_file(format!("{}/{lost}", stores.folder.path("store1"))).unwrap();
    let [a, _] = stores.add(6, 7);
    assert!(a.err.contains("deleted") && stores.lots(0) == stores.lots(1), "{}", a.err);
    assert_eq!(stores.lots(0).len(), 1);
    stores.add(8, 9);
    // Leftovers of crashes are removed.
    for party in 0..2 {
        let rest: Vec<_> = fs::read_dir(stores.folder.path(&format!("store{party}"))).unwrap().collect();
        assert_eq!(rest.len(), 2, "{rest:?}");
    }
}

/// A run with tinyot from the stores.
fn tinyot(stores: &Stores, program: &str, more: &[&str]) -> [Done; 2] {
    let shared = [&[program, "--protocol", "tinyot"][..], more].concat();
    stores.parties("run", &shared, [&["--input", "u64:7"], &["--input", "u64:5"]])
}

#[test]
fn material_for_tinyot_is_for_any_program() {
    let stores = Stores::new("prepare-tinyot");
    let deal = ["--protocol", "tinyot", "--count", "20000", "--json"];
    for done in stores.parties("prepare", &deal, [&[], &[]]) {
        done.ok();
        let json = done.json();
        assert_eq!((&json["program"], &json["protocol"]), (&"any program".into(), &"tinyot".into()));
        assert_eq!((&json["count"], &json["and_gates"]), (&24_576.into(), &24_576.into()), "whole batches");
    }
    // Without the protocol's name nothing fits, and both are told why.
    for done in stores.both("run", &[], [&["--input", "u64:1"], &["--input", "u64:2"]]) {
        done.fails(2, &["no party has a lot of copies", "--protocol tinyot"]);
    }
    // Other parameters or another dealer: nothing there either.
    for more in [["--rho", "30"], ["--dealer", "nnob12"]] {
        for done in tinyot(&stores, "add64", &more) {
            done.fails(2, &["no party has a lot of shares", "comity prepare --protocol tinyot"]);
        }
    }
    for (program, output) in [("add64", "000000000000000c\n"), ("gt64", "1\n")] {
        for done in tinyot(&stores, program, &[]) {
            assert_eq!(done.ok(), output);
        }
    }
    for done in tinyot(&stores, "add64", &[]) {
        assert_eq!(done.ok(), "000000000000000c\n");
    }
    for done in tinyot(&stores, "add64", &[]) {
        done.fails(2, &["no party has a lot of shares"]);
    }
}

#[test]
fn after_a_kill_both_go_on_with_unused_material() {
    let stores = Stores::new("prepare-tinyot-killed");
    for done in stores.parties("prepare", &["--protocol", "tinyot", "--count", "60000"], [&[], &[]]) {
        assert!(done.ok().contains("65536 AND gates"), "{}", done.out);
    }
    let [zero, one] = [0, 1].map(|party| stores.of(party));
    let [zero, one] = [&zero, &one].map(|store| store.iter().map(String::as_str).collect::<Vec<&str>>());
    // What a check was under way for is destroyed, and whose it was says so; then no run finds material any more.
    let mut destroyed = false;
    let gone = |told: &[&String]| {
        told.iter().any(|err| err.contains("was destroyed: a run broke off during the check of its material"))
            || (0..2).any(|party| stores.files(party, ".batch-").is_empty())
    };
    for wait in [0, 1, 2, 4] {
        let batches = stores.files(1, ".batch-").len();
        let shared = ["add64", "--protocol", "tinyot", "--input", "u64:1"];
        let mut listener = Listener::start(&[&shared[..], &["--party", "0"], &zero].concat());
        let between = Between::before(&listener.address);
        let args = [&["run"][..], &shared, &["--party", "1", "--connect", &between.address], &one].concat();
        let mut child = Background::start(command(&args));
        // From when its batch is used up on, or what the last kill left over is removed.
        while stores.files(1, ".batch-").len() == batches && child.runs() {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_millis(wait));
        child.kill();
        let killed = child.end();
        // A party that was killed before a word to the listener would be waited for.
        let met = between.bytes() > 0;
        if !met {
            listener.kill();
        }
        let done = listener.end();
        let before = destroyed;
        destroyed |= gone(&[&done.err, &killed.err]);
        match done.code {
            2 => assert!(destroyed, "{}", done.err),
            code => assert!(!met || code == 3 || code == 0 && !before, "{code}: {}", done.err),
        }
    }
    let [a, b] = tinyot(&stores, "add64", &[]);
    if destroyed || gone(&[&a.err, &b.err]) {
        a.fails(2, &["lot of shares"]);
        b.fails(2, &["lot of shares"]);
    } else {
        assert_eq!((a.ok(), b.ok()), ("000000000000000c\n", "000000000000000c\n"));
    }
}

/// A store has shares that `ag` can use up, if it is told to; and both are told how.
#[test]
fn what_a_store_has_is_named_with_the_option_that_takes_it() {
    let stores = Stores::new("prepare-option");
    stores
        .parties("prepare", &["--protocol", "ag", "--count", "100"], [&[], &[]])
        .iter()
        .for_each(|done| assert_eq!(done.code, 0, "{}", done.err));
    let run = |own: [&[&str]; 2]| {
        let own = [0, 1].map(|party| [&["--input", "u64:4"], own[party]].concat());
        stores.parties("run", &["add64", "--protocol", "ag"], [&own[0], &own[1]])
    };
    let shares = ["--option", "stored=shares"];
    for done in run([&[], &[]]) {
        let how =
            ["`comity prepare add64 --protocol ag`", "`--protocol ag --option stored=shares`", "`--protocol tinyot`"];
        done.fails(2, &how);
    }
    for done in run([&shares, &[]]) {
        done.fails(
            2,
            &["disagree on the phase", "run on shares from a store", "run on authenticated garbling from a store"],
        );
    }
    for done in run([&shares, &shares]) {
        assert_eq!(done.ok(), "0000000000000008\n");
    }
}

/// What a bound covers is enough for programs within it, and others are told what it lacks; parties that garble XOR
/// gates otherwise are told so.
#[test]
fn shares_in_a_field_are_for_programs_within_a_bound() {
    let stores = Stores::new("prepare-field");
    // No AND gate, and more bits of outputs than the bound has wires.
    let wide = "parties ann, ben;\n\nfn main(a: u128 from ann, b: u128 from ben) -> (p: u128 to all, q: u128 to all, \
                r: u128 to all, s: u128 to all, t: u128 to all) {\n    (a ^ b, a, b, a ^ 1, b ^ 1)\n}\n";
    let wide = stores.folder.file("wide.cty", wide);
    let of_bmr = ["--protocol", "spdz-bmr"];
    for done in stores.parties("prepare", &[&of_bmr[..], &["--count", "70", "--wires", "130"]].concat(), [&[], &[]]) {
        done.ok();
    }
    let own = stores.of(0);
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let few = ["prepare", "--party", "0", "--listen", "127.0.0.1:0", "--count", "70", "--wires", "69"];
    comity(&[&few[..], &of_bmr, &own].concat()).fails(2, &["no program has 70 AND gates and 69 wires", "--wires"]);
    let on = |program: &str, xor: [&[&str]; 2], inputs: [&str; 2]| {
        let shared = [&[program][..], &of_bmr, &["--option", "stored=field"]].concat();
        let [a, b] = [0, 1].map(|party| [xor[party], &["--input", inputs[party]]].concat());
        stores.parties("run", &shared, [&a, &b])
    };
    for done in on(&wide, [&[], &[]], ["a=1", "b=2"]) {
        done.fails(2, &["takes 2 batches", "lacks 128 masks of wires", "comity prepare --protocol spdz-bmr"]);
    }
    for done in on("add64", [&["--option", "xor=garbled"], &[]], ["u64:7", "u64:5"]) {
        done.fails(2, &["disagree", "xor", "garbled", "free"]);
    }
    for done in on("add64", [&[], &[]], ["u64:7", "u64:5"]) {
        assert_eq!(done.ok(), "000000000000000c\n");
    }
    for done in on("add64", [&[], &[]], ["u64:7", "u64:5"]) {
        done.fails(2, &["no party has a lot of field"]);
    }
}

/// A disk that is full is nobody else's doing, and no connection that ended.
#[cfg(unix)]
#[test]
fn a_full_disk_is_said_to_be_one() {
    for (protocol, what) in [("ag", "aes128"), ("bmr", "aes128"), ("cutchoose", "aes128"), ("tinyot", "--count=8192")] {
        let stores = Stores::new(&format!("prepare-full-{protocol}"));
        let shared = ["--protocol", protocol, "--rho", "7", "--json", what];
        let [a, b] = [0, 1].map(|party| stores.of(party));
        let [a, b] = [&a, &b].map(|own| [&shared[..], &own.iter().map(String::as_str).collect::<Vec<_>>()].concat());
        let listener = Listener::begin("prepare", &[&["--party", "0"][..], &a].concat());
        let full = command(&[&["prepare", "--party", "1", "--connect", &listener.address][..], &b].concat());
        let full = Done::from(limited(&full, 8).output().unwrap());
        full.fails_json(3, "store", &["File too large"]);
        let error = &full.json()["error"];
        assert!(error["party"].is_null() && !error["message"].as_str().unwrap().contains("127.0.0.1"), "{error}");
        listener.end().fails_json(3, "closed", &[]);
    }
}

#[test]
fn keys_limits_and_other_misuse() {
    let stores = Stores::new("prepare-misuse");
    let key = stores.folder.path("key");
    let store = stores.folder.path("store0");
    let party = ["--party", "0", "--listen", "127.0.0.1:0"];
    let prepare = |more: &[&str]| comity(&[&["prepare", "add64"][..], &party, more].concat());
    prepare(&[]).fails(2, &["--store"]);
    let deal = [&["prepare", "--store", &store, "--key-file", &key][..], &party].concat();
    comity(&deal).fails(2, &["cutchoose", "name one"]);
    comity(&[&deal[..], &["--protocol", "tinyot", "--owner", "0=1"]].concat()).fails(2, &["--owner", "need a PROGRAM"]);
    comity(&[&deal[..], &["--protocol", "tinyot", "--count", "10000000", "--store-limit", "1MiB"]].concat())
        .fails(2, &["may take", "1 MiB", "--store-limit"]);
    prepare(&["--store", &store]).fails(2, &["encrypted", "--passphrase-file", "--key-file"]);
    prepare(&["--store", &store, "--key-file", &key, "--protocol", "yao"])
        .fails(2, &["yao has nothing that could be prepared"]);
    // The size is known before anything is sent.
    let limit = prepare(&["--store", &store, "--key-file", &key, "--store-limit", "1MiB", "--count", "3"]);
    limit.fails(2, &["may take", "1 MiB", "--store-limit"]);
    prepare(&["--store", &store, "--key-file", &key, "--store-limit", "8GB"]).fails(2, &["8GiB"]);
    // What was refused has left nothing behind.
    assert!(!fs::exists(&store).unwrap() && !fs::exists(&key).unwrap());
    for done in stores.prepare(&[]) {
        done.ok();
    }
    let run = |more: &[&str]| comity(&[&["run", "add64", "--input", "u64:1"][..], &party, more].concat());
    run(&["--key-file", &key]).fails(2, &["--store"]);
    run(&["--store", &store]).fails(2, &["--passphrase-file"]);
    run(&["--store", &stores.folder.path("none"), "--key-file", &key]).fails(2, &["no store", "comity prepare"]);
    run(&["--store", &store, "--key-file", &stores.folder.path("no key")]).fails(2, &["no such key file"]);
    let wrong = stores.folder.file("wrong", "tr0ub4dor\n");
    run(&["--store", &store, "--passphrase-file", &wrong]).fails(2, &["key file"]);
    let other = stores.folder.path("store1");
    let right = stores.folder.path("passphrase");
    prepare(&["--store", &other, "--passphrase-file", &right, "--store-limit", "1"]).fails(2, &["limit"]);
    run(&["--store", &other, "--passphrase-file", &wrong]).fails(2, &["not the one"]);
    run(&["--store", &other, "--passphrase-file", &right, "--protocol", "yao"]).fails(2, &["leave the store out"]);
    // The warning stands where the user chooses.
    for command in ["prepare", "run"] {
        let help = comity(&[command, "--help"]);
        assert!(help.ok().contains("never put a copy of a store back"), "{}", help.out);
    }
}
