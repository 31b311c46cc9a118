//! `comity psi publish`, `update`, `serve`, `query` and `prepare`: an owner and its clients as processes.

use std::fs;

use comity::psi::base::BaseFile;
use comity::{OprfAsk, PartyId, Session};
use comity_channel::hello::WIRE_BYTES;
use comity_channel::{Change, Direction, Tamper, Tampering};
use comity_net::{Security, Settings, connect};
use comity_testing::PATIENCE;

use crate::common::{Done, Folder, Listener, comity};

/// An owner's table, keys 0 to 99, each with a city.
pub(crate) fn published(folder: &Folder, flags: &[&str]) -> [String; 3] {
    let rows: String = (0..100).map(|n| format!("U{n}@Example.org,city {n}\n")).collect();
    let table = folder.file("big.csv", &format!("mail,city\n{rows}"));
    let (state, base) = (folder.path("S"), folder.path("base.psi"));
    let publish = ["psi", "publish", &table, "--key", "mail:lower", "--state", &state, "--out", &base];
    comity(&[&publish[..], flags].concat()).ok();
    [table, state, base]
}

/// A client's table with these keys.
pub(crate) fn client(folder: &Folder, keys: &[u32]) -> String {
    let rows: String = keys.iter().map(|n| format!("{n},u{n}@example.org\n")).collect();
    folder.file("small.csv", &format!("n,email\n{rows}"))
}

pub(crate) fn serve(state: &str, flags: &[&str]) -> Listener {
    Listener::begin("psi", &[&["serve", "--state", state, &timeout()][..], flags].concat())
}

pub(crate) fn timeout() -> String {
    format!("--timeout={}", PATIENCE.as_secs())
}

/// A query, and the rows that it found.
fn ask(folder: &Folder, service: &Listener, base: &str, table: &str, flags: &[&str]) -> (Done, String) {
    let out = folder.path("found.csv");
    let _ = fs::remove_file(&out);
    let all =
        ["psi", "query", table, "--key", "email:lower", "--base", base, "--connect", &service.address, "--out", &out];
    let done = comity(&[&all[..], &[&timeout()], flags].concat());
    (done, fs::read_to_string(&out).unwrap_or_default())
}

#[test]
fn clients_find_what_was_published_and_what_changed() {
    let folder = Folder::new("psi-base");
    let [_, state, base] = published(&folder, &["--payload", "city", "--payload-width", "12"]);
    let table = client(&folder, &[3, 99, 100, 7]);
    let service = serve(&state, &["--sessions", "6"]);
    let (done, found) = ask(&folder, &service, &base, &table, &[]);
    done.ok();
    assert_eq!(found, "n,email,city\n3,u3@example.org,city 3\n99,u99@example.org,city 99\n7,u7@example.org,city 7\n");
    assert!(done.err.contains("3 of 4 keys are common") && done.err.contains("semi-honest"), "{}", done.err);
    let (done, found) = ask(&folder, &service, &base, &table, &["--anti"]);
    done.ok();
    assert_eq!(found, "n,email\n100,u100@example.org\n");

    // Key 3 goes, 100 comes, 7 moves.
    let add = folder.file("add.csv", "mail,city\nu100@example.org,new\nu7@example.org,elsewhere\n");
    let remove = folder.file("remove.csv", "mail\nU3@example.org\nu500@example.org\n");
    let delta = folder.path("1.psi");
    let update = |out: &str, more: &[&str]| {
        let which = ["psi", "update", "--state", &state, "--key", "mail:lower", "--payload", "city", "--out", out];
        comity(&[&which[..], more].concat())
    };
    let done = update(&delta, &["--add", &add, "--remove", &remove]);
    done.ok();
    assert!(
        done.err.contains("1 keys came, 1 went, 1 have new columns; 0 to be added were there already, 1 to"),
        "{}",
        done.err
    );
    let wide = folder.file("wide.csv", "mail,city\nu200@example.org,a name that is far too long\n");
    update(&folder.path("2.psi"), &["--add", &wide]).fails(2, &["has room for 12", "--payload-width"]);
    let whole = fs::read(&delta).unwrap();
    update(&delta, &["--remove", &add]).fails(2, &["clients do not have yet"]);
    assert_eq!(fs::read(&delta).unwrap(), whole);
    // The service has it by now, and a client without it is told.
    let (done, _) = ask(&folder, &service, &base, &table, &[]);
    done.fails(2, &["update", "--delta", "--stale"]);
    let (done, found) = ask(&folder, &service, &base, &table, &["--stale"]);
    done.ok();
    assert!(found.contains("city 3") && !found.contains("new"), "the base as it is here: {found}");
    let (done, found) = ask(&folder, &service, &base, &table, &["--delta", &delta, "--json"]);
    assert_eq!((done.json()["common"].as_u64(), done.json()["method"].as_str()), (Some(3), Some("oprf-aes")));
    assert_eq!(
        found,
        "n,email,city\n99,u99@example.org,city 99\n100,u100@example.org,new\n7,u7@example.org,elsewhere\n"
    );

    // Another owner's base is not this service's.
    let other = Folder::new("psi-base-other");
    let [_, _, others] = published(&other, &[]);
    let (done, _) = ask(&folder, &service, &others, &table, &[]);
    done.fails(2, &["base", "another base"]);
    service.end().ok();
}

/// An update that was killed between its steps, wherever that was: no state is without its update, and
/// clients can go on.
#[test]
fn an_update_that_was_broken_off_is_finished_or_forgotten() {
    let folder = Folder::new("psi-base-broken");
    let [_, state, base] = published(&folder, &[]);
    let rows = |name: &str, key: &str| folder.file(name, &format!("mail,city\n{key}@example.org,x\n"));
    let (one, two) = (rows("one.csv", "v1"), rows("two.csv", "v2"));
    let update = |out: &str, more: &[&str]| {
        let which = ["psi", "update", "--state", &state, "--key", "mail:lower", "--out", out];
        comity(&[&which[..], more].concat())
    };
    let (pending, first, second) = (format!("{state}/update"), folder.path("1.psi"), folder.path("2.psi"));
    update(&first, &[]).fails(2, &["what changes?"]);
    update(&first, &["--add", &one]).ok();
    assert!(!fs::exists(&pending).unwrap(), "it is where it should go");
    // Before the state followed: nobody has it, and the next one takes its place.
    let old = fs::read(format!("{state}/state")).unwrap();
    update(&second, &["--add", &two]).ok();
    fs::rename(&second, &pending).unwrap();
    fs::write(format!("{state}/state"), &old).unwrap();
    update(&second, &["--add", &two]).ok();
    assert!(!fs::exists(&pending).unwrap());
    // After the state followed, and before it was where it should go.
    fs::rename(&second, &pending).unwrap();
    let third = folder.path("3.psi");
    update(&third, &["--remove", &one]).fails(2, &["update 2 broke off", "--out FILE", "all clients need it"]);
    let done = update(&second, &[]);
    done.ok();
    assert!(done.err.contains("update 2, which was broken off, is in"), "{}", done.err);
    assert!(!fs::exists(&pending).unwrap());
    update(&third, &["--remove", &one]).ok();
    // A client with all that is out is where the service is.
    let service = serve(&state, &["--sessions", "1"]);
    let table = folder.file("small.csv", "n,email\n1,v1@example.org\n2,v2@example.org\n");
    let (done, found) =
        ask(&folder, &service, &base, &table, &["--delta", &first, "--delta", &second, "--delta", &third]);
    done.ok();
    assert_eq!(found, "n,email\n2,v2@example.org\n");
    service.end().ok();
}

#[test]
fn what_a_client_has_asked_is_counted_and_bounded() {
    let folder = Folder::new("psi-base-limits");
    let [_, state, base] = published(&folder, &["--max-queries", "10"]);
    let table = client(&folder, &[1, 2, 300]);
    let service = serve(&state, &["--sessions", "2", "--client-queries", "5"]);
    ask(&folder, &service, &base, &table, &[]).0.ok();
    let (done, found) = ask(&folder, &service, &base, &table, &[]);
    done.fails(2, &["allows this client 2 more queries, and it asks 3"]);
    assert_eq!(found, "");
    service.end().ok();
    // Another service of the same state goes on counting; with a padded table it is the padded number.
    let service = serve(&state, &["--sessions", "3"]);
    ask(&folder, &service, &base, &table, &["--pad-to", "8"]).0.fails(2, &["allows this client 7 more"]);
    let (done, found) = ask(&folder, &service, &base, &table, &["--pad-to", "7"]);
    done.ok();
    assert_eq!(found.lines().count(), 3);
    ask(&folder, &service, &base, &client(&folder, &[1]), &[]).0.fails(2, &["allows this client 0 more"]);
    service.end().ok();
    let asked = fs::read_to_string(format!("{state}/asked")).unwrap();
    assert_eq!(asked.lines().count(), 2, "{asked}");
}

#[test]
fn queries_are_prepared_and_used_up() {
    let folder = Folder::new("psi-base-prepared");
    let [_, state, base] = published(&folder, &[]);
    let table = client(&folder, &[1, 200]);
    let (store, key) = (folder.path("store"), folder.path("store.key"));
    let stored = ["--store", &store, "--key-file", &key];
    let service = serve(&state, &["--sessions", "4"]);
    let prepare = ["psi", "prepare", "--count", "70", "--base", &base, "--connect", &service.address, &timeout()];
    let done = comity(&[&prepare[..], &stored, &["--json"]].concat());
    assert_eq!(done.json()["prepared"].as_u64(), Some(128));
    for _ in 0..2 {
        let (done, found) = ask(&folder, &service, &base, &table, &[&stored[..], &["--json"]].concat());
        // Nothing is garbled now: labels and colours of two queries, and the hello.
        assert!(done.json()["bytes"]["received"].as_u64().unwrap() < 8 << 10, "{}", done.out);
        assert_eq!(found, "n,email\n1,u1@example.org\n");
    }
    // All is used up: the next query makes its own.
    let (done, found) = ask(&folder, &service, &base, &table, &[&stored[..], &["--json"]].concat());
    assert!(done.json()["bytes"]["received"].as_u64().unwrap() > 300 << 10, "{}", done.out);
    assert_eq!(found, "n,email\n1,u1@example.org\n");
    service.end().ok();
}

/// A client that comes late in the wait would be cut off, and its queries be counted.
#[test]
fn the_wait_for_a_client_is_no_part_of_its_time() {
    let folder = Folder::new("psi-base-deadline");
    let [_, state, base] = published(&folder, &[]);
    let service = serve(&state, &["--sessions", "1", "--deadline=0.001s"]);
    let (done, found) = ask(&folder, &service, &base, &client(&folder, &[1, 200]), &[]);
    done.ok();
    assert_eq!(found, "n,email\n1,u1@example.org\n");
    service.end().ok();
}

/// The other half is gone: a service that was killed, or another machine's store. It is of no use, and in nobody's way.
#[test]
fn halves_without_their_other_half_are_dropped_and_named() {
    let folder = Folder::new("psi-base-halves");
    let [_, state, base] = published(&folder, &[]);
    let table = client(&folder, &[1]);
    let (store, key) = (folder.path("store"), folder.path("store.key"));
    let stored = ["--store", &store, "--key-file", &key];
    let service = serve(&state, &["--sessions", "1"]);
    let prepare = ["psi", "prepare", "--count", "1", "--base", &base, "--connect", &service.address, &timeout()];
    comity(&[&prepare[..], &stored].concat()).ok();
    service.end().ok();
    fs::remove_dir_all(format!("{state}/prepared")).unwrap();
    let service = serve(&state, &["--sessions", "2"]);
    let (done, found) = ask(&folder, &service, &base, &table, &stored);
    done.ok();
    assert!(done.err.contains("a lot of prepared queries was dropped, 1 in all"), "{}", done.err);
    assert_eq!(found, "n,email\n1,u1@example.org\n");
    let (done, _) = ask(&folder, &service, &base, &table, &stored);
    assert!(done.ok().is_empty() && !done.err.contains("dropped"), "{}", done.err);
    service.end().ok();
}

#[test]
fn each_trusted_client_has_a_count_of_its_own() {
    let folder = Folder::new("psi-base-tls");
    let [_, state, base] = published(&folder, &[]);
    let keys = ["owner", "ann", "bob", "eve"].map(|name| folder.path(name));
    let prints = keys.each_ref().map(|dir| comity(&["key", "new", dir]).ok().trim().to_owned());
    let trust = |dir: &str, party: &str, print: &str| _ = comity(&["key", "trust", dir, "--party", party, print]).ok();
    let service = ["serve", "--state", &state, "--tls", &keys[0], "--listen", "127.0.0.1:0"];
    comity(&[&["psi"], &service[..]].concat()).fails(2, &["no client's key is trusted"]);
    trust(&keys[0], "1", &prints[1]);
    trust(&keys[0], "2", &prints[2]);
    keys[1..].iter().for_each(|dir| trust(dir, "0", &prints[0]));
    let service = serve(&state, &["--sessions", "3", "--client-queries", "2", "--tls", &keys[0]]);
    let table = client(&folder, &[5, 6]);
    for dir in &keys[1..3] {
        let (done, found) = ask(&folder, &service, &base, &table, &["--tls", dir]);
        done.ok();
        assert_eq!(found.lines().count(), 3);
    }
    // Somebody whose key nobody trusts comes to nothing, and is no session.
    let (done, _) = ask(&folder, &service, &base, &table, &["--tls", &keys[3]]);
    assert_eq!(done.code, 3, "{}", done.err);
    ask(&folder, &service, &base, &table, &["--tls", &keys[1]]).0.fails(2, &["allows this client 0 more"]);
    service.end().ok();
    let asked = fs::read_to_string(format!("{state}/asked")).unwrap();
    assert!(asked.lines().count() == 2 && asked.contains(&prints[1]) && asked.contains(&prints[2]), "{asked}");
}

#[test]
fn the_function_runs_under_a_general_protocol_too() {
    let folder = Folder::new("psi-base-gmw");
    let [_, state, base] = published(&folder, &[]);
    let table = client(&folder, &[1, 200]);
    let refused = ["psi", "serve", "--state", &state, "--listen", "127.0.0.1:0", "--protocol", "gmw"];
    comity(&refused).fails(2, &["gmw is semi-honest", "learn the key of the base", "--trust-clients"]);
    comity(&["psi", "serve", "--state", &state, "--listen", "127.0.0.1:0", "--trust-clients"])
        .fails(2, &["--protocol"]);
    let service = serve(&state, &["--protocol=gmw", "--trust-clients", "--sessions=2"]);
    ask(&folder, &service, &base, &table, &[]).0.fails(2, &["protocol"]);
    let (done, found) = ask(&folder, &service, &base, &table, &["--protocol", "gmw"]);
    done.ok();
    assert_eq!(found, "n,email\n1,u1@example.org\n");
    let done = service.end();
    done.ok();
    assert!(done.err.contains("clients are trusted: gmw is semi-honest"), "{}", done.err);
}

/// A client that sends what no request is: its key is in the books, and no service of this state serves it again.
#[test]
fn a_client_that_misbehaved_is_refused_by_this_state() {
    let folder = Folder::new("psi-base-cheat");
    let [_, state, base] = published(&folder, &[]);
    let table = client(&folder, &[1, 200]);
    let service = serve(&state, &["--sessions", "2"]);
    let address = service.address.clone();
    let settings = Settings::of_two(PartyId(1), Security::Plain { anywhere: false }, PATIENCE);
    let channel = connect(&address, PartyId(0), &settings, &mut |_| {}).unwrap();
    // Behind the hello comes the request: a number of queries, and then what kind they are.
    let (at, change) = (WIRE_BYTES + 8, Change::Flip { bit: 6 });
    let cheat = Tampering::new(channel, &Tamper { direction: Direction::Outgoing, at, change });
    let file = BaseFile::read(fs::read(&base).unwrap()).unwrap();
    let asked = OprfAsk { base: &file, over: None, stale: false };
    assert!(Session::new(1).over(cheat).timeout(PATIENCE).ask_oprf(asked, &[1, 2], &mut ()).is_err());
    ask(&folder, &service, &base, &table, &[]).0.fails(2, &["does not serve this client any more"]);
    let done = service.end();
    assert!(
        done.code == 0 && done.err.contains("misbehaved in an earlier session, and is not served again"),
        "{}",
        done.err
    );
    let service = serve(&state, &["--sessions", "1"]);
    ask(&folder, &service, &base, &table, &[]).0.fails(2, &["does not serve this client any more"]);
    service.end().ok();
}

#[test]
fn what_is_wrong_here_bothers_nobody() {
    let folder = Folder::new("psi-base-misuse");
    let [table, state, base] = published(&folder, &["--pad-to", "150"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&state), mode(&format!("{state}/state"))], [0o700, 0o600]);
    }
    let out = folder.path("out.psi");
    let publish = |flags: &[&str]| comity(&[&["psi", "publish", &table, "--out", &out], flags].concat());
    publish(&["--key", "mail:lower", "--state", &state]).fails(2, &["holds the key of a base", "remove this one"]);
    let new = folder.path("T");
    publish(&["--key", "mail", "--key", "city", "--state", &new]).fails(2, &["a base has one key"]);
    publish(&["--key", "male", "--state", &new]).fails(2, &["male", "mail"]);
    publish(&["--key", "mail", "--state", &new, "--max-keys", "7"]).fails(2, &["allow for more"]);
    assert!(!fs::exists(&new).unwrap() && !fs::exists(&out).unwrap(), "nothing is left behind");
    let update = |flags: &[&str]| comity(&[&["psi", "update", "--state", &state, "--out", &out], flags].concat());
    update(&[]).fails(2, &["what changes?"]);
    update(&["--add", &table, "--key", "mail"]).fails(2, &["made by as-is", "lower"]);
    update(&["--remove", &table, "--key", "mail:lower", "--pad-to", "1"]).fails(2, &["go, which 1 cannot hide"]);
    update(&["--add", &table, "--key", "mail:lower", "--payload", "city"]).fails(2, &["other payload columns"]);
    comity(&["psi", "update", "--state", &new, "--add", &table, "--out", &out]).fails(2, &["No such file"]);
    comity(&["psi", "serve", "--state", &new, "--listen", "127.0.0.1:0"]).fails(2, &["nothing was published"]);
    // Nobody is there to be asked, so these errors come before a connection.
    let small = client(&folder, &[1]);
    let query = |base: &str, flags: &[&str]| {
        let to = folder.path("found.csv");
        let all = ["psi", "query", &small, "--base", base, "--connect", "127.0.0.1:1", "--out", &to, "--timeout=1"];
        comity(&[&all[..], flags].concat())
    };
    let key = ["--key", "email:lower"];
    query(&base, &["--key", "email"]).fails(2, &["made by as-is", "lower"]);
    query(&base, &[&key[..], &["--payload", "n"]].concat()).fails(2, &["for the publisher"]);
    query(&small, &key).fails(2, &["small.csv", "does not begin like one"]);
    query(&base, &[&key[..], &["--delta", &base]].concat()).fails(2, &["not an update"]);
    query(&base, &[&key[..], &["--pad-to", "0"]].concat()).fails(3, &["127.0.0.1:1"]);
    query(&base, &[&key[..], &["--key", "n"]].concat()).fails(2, &["a base has one key"]);
    let two = client(&folder, &[1, 2]);
    let meet = ["--base", &base, "--connect", "127.0.0.1:1", "--timeout=1"];
    comity(&[&["psi", "query", &two, "--pad-to", "1", "--out", &out], &key[..], &meet].concat())
        .fails(2, &["2 keys cannot be padded to 1"]);
    comity(&[&["psi", "query", &two, "--out", "-", "--json"], &key[..], &meet].concat()).fails_json(
        2,
        "usage",
        &["standard output"],
    );
    let whole = fs::read(&base).unwrap();
    fs::write(&base, &whole[..whole.len() - 9]).unwrap();
    query(&base, &key).fails(2, &["cut or changed"]);
}
