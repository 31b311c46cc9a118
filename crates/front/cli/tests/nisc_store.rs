//! `comity nisc` with copies in a store: a folder, and a small HTTP service that notes what it is asked for.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::*;

/// A service that keeps files in a folder. For each GET it notes the name, and whether the key said then that
/// it is spent.
struct Service {
    url: String,
    seen: Arc<Mutex<Vec<(String, bool)>>>,
}

impl Service {
    fn start(folder: PathBuf, key: String) -> Service {
        fs::create_dir_all(&folder).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/box", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&stream.unwrap(), &folder, &key, &notes);
            }
        });
        Service { url, seen }
    }

    fn asked(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn serve(stream: &TcpStream, folder: &Path, key: &str, notes: &Mutex<Vec<(String, bool)>>) {
    let (mut reader, mut to) = (BufReader::new(stream), stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            let name = name.to_lowercase();
            assert!(!["cookie", "referer", "authorization"].contains(&name.as_str()), "{line}");
            if name == "content-length" {
                length = value.trim().parse().unwrap();
            }
        }
    }
    let mut words = first.split(' ');
    let (method, name) = (words.next().unwrap(), words.next().unwrap().strip_prefix("/box/").unwrap().to_owned());
    let path = folder.join(&name);
    let (status, body) = match method {
        "PUT" => {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            fs::write(path, body).unwrap();
            ("201 Created", Vec::new())
        }
        "GET" => {
            let spent = comity(&["nisc", "inspect", key, "--json"]).json()["spent"] == true;
            notes.lock().unwrap().push((name, spent));
            fs::read(path).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body))
        }
        other => panic!("{other}"),
    };
    write!(to, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).unwrap();
    // The client hangs up where it has enough.
    let _ = to.write_all(&body);
}

/// A query of `add8` with eight stored copies, for 40 of the publisher's.
struct Mail {
    folder: Folder,
    query: String,
    key: String,
}

impl Mail {
    fn new(test: &str) -> Mail {
        let folder = Folder::new(test);
        let (query, key) = (folder.path("me.query"), folder.path("me.key"));
        let publish = [
            "nisc", "publish", "add8", "--stored", "--input", "u8:40", "--copies", "8", "--out", &query, "--secret",
            &key,
        ];
        let done = comity(&publish);
        done.ok();
        assert!(done.err.contains("stores 8 files"), "{}", done.err);
        Mail { folder, query, key }
    }

    fn respond(&self, name: &str, value: u8, more: &[&str]) -> (String, Done) {
        let out = self.folder.path(&format!("{name}.answer"));
        let input = format!("u8:{value}");
        let respond = ["nisc", "respond", &self.query, "--input", &input, "--out", &out, "--name", name];
        let done = comity(&[&respond[..], more].concat());
        (out, done)
    }

    fn open(&self, more: &[&str]) -> Done {
        comity(&[&["nisc", "open", &self.key], more].concat())
    }

    fn spent(&self) -> bool {
        comity(&["nisc", "inspect", &self.key, "--json"]).json()["spent"] == true
    }
}

/// The files in a folder, in order.
fn files(folder: &str) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_service_sees_evaluated_copies_only_and_after_the_key_is_spent() {
    let mail = Mail::new("nisc-service");
    let boxed = mail.folder.path("box");
    let service = Service::start(PathBuf::from(&boxed), mail.key.clone());
    let (ann, done) = mail.respond("ann", 2, &["--store", &service.url]);
    done.ok();
    let names = files(&boxed);
    assert_eq!(names.len(), 8);
    assert!(names.iter().all(|name| name.len() == 41 && name[..32] == names[0][..32]), "{names:?}");
    // Looking fetches nothing, nor does what cannot be opened, or lacks the store.
    mail.open(&["--check", &ann]).ok();
    mail.open(&[&ann]).fails(2, &["--store"]);
    mail.open(&[&ann, "--store", &service.url, "--adaptive"]).fails(2, &["--adaptive", "fetching shows"]);
    let cut = mail.folder.path("cut.answer");
    fs::write(&cut, &fs::read(&ann).unwrap()[..900]).unwrap();
    mail.open(&[&cut, "--store", &service.url]).fails(4, &["cut short"]);
    assert!(service.asked().is_empty() && !mail.spent());

    assert_eq!(mail.open(&[&ann, "--store", &service.url]).ok(), format!("{ann} (ann): 2a\n"));
    let asked = service.asked();
    assert!(!asked.is_empty() && asked.iter().all(|(name, spent)| *spent && names.contains(name)), "{asked:?}");
    // The others are needed by nobody; one of these is.
    let asked: Vec<String> = asked.into_iter().map(|(name, _)| name).collect();
    let removed = names.iter().filter(|name| !asked.contains(name));
    removed.for_each(|name| fs::remove_file(Path::new(&boxed).join(name)).unwrap());
    assert_eq!(mail.open(&[&ann, "--store", &service.url]).ok(), format!("{ann} (ann): 2a\n"));
    assert_eq!(service.asked().iter().map(|(name, _)| name).collect::<Vec<_>>(), asked.iter().collect::<Vec<_>>());
    let first = Path::new(&boxed).join(&asked[0]);
    let bytes = fs::read(&first).unwrap();
    fs::write(&first, [&bytes[..], &[0; 100_000]].concat()).unwrap();
    mail.open(&[&ann, "--store", &service.url]).fails(4, &["more follows"]);
    fs::remove_file(&first).unwrap();
    let done = mail.open(&[&ann, "--store", &service.url]);
    done.fails(3, &["a copy cannot be fetched", "404"]);
    assert!(!done.err.contains(&asked[0]), "which copy it is stays secret: {}", done.err);
    fs::write(&first, bytes).unwrap();
    mail.open(&[&ann, "--store", &service.url]).ok();
}

#[test]
fn a_folder_is_read_whole_and_later_answers_are_refused() {
    let mail = Mail::new("nisc-folder");
    let store = mail.folder.path("store");
    fs::create_dir(&store).unwrap();
    let stored = |name, value| {
        let (out, done) = mail.respond(name, value, &["--store", &store]);
        done.ok();
        out
    };
    let ann = stored("ann", 2);
    let names = files(&store);
    assert_eq!(names.len(), 8, "{names:?}");
    let [ben, late] = [stored("ben", 3), stored("late", 4)];
    let one = Path::new(&store).join(&names[0]).to_str().unwrap().to_owned();
    assert!(comity(&["nisc", "inspect", &one]).ok().contains("a stored copy of an answer, whole"));
    let json = comity(&["nisc", "inspect", &mail.query, "--json"]).json();
    assert_eq!((&json["copies"]["stored"], &json["copies"]["evaluated"]), (&true.into(), &serde_json::Value::Null));
    let opened = mail.open(&[&ann, &ben, "--store", &store]);
    assert_eq!(opened.ok(), format!("{ann} (ann): 2a\n{ben} (ben): 2b\n"));
    mail.open(&[&late, "--store", &store]).fails(2, &["opened already", "Refresh"]);
    // Any copy that is gone is missed, evaluated or not: all are read.
    for name in &names {
        let (path, aside) = (Path::new(&store).join(name), mail.folder.path("aside"));
        fs::rename(&path, &aside).unwrap();
        mail.open(&[&ann, "--store", &store]).fails(2, &[name]);
        let bytes = fs::read(&aside).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
        mail.open(&[&ann, "--store", &store]).fails(4, &["cut short"]);
        fs::rename(&aside, &path).unwrap();
    }
    mail.open(&[&ann, "--store", &store]).ok();
    let next = mail.folder.path("me2.query");
    comity(&["nisc", "refresh", &mail.key, "--out", &next]).ok();
    mail.open(&[&ann, "--store", &store]).fails(2, &["disagree on the query"]);
}

#[test]
fn misuse_of_a_store_gets_a_clear_line() {
    let mail = Mail::new("nisc-store-misuse");
    let store = mail.folder.path("store");
    let refused = |more: &[&str], words: &[&str]| {
        let (out, done) = mail.respond("ann", 2, more);
        done.fails(2, words);
        assert!(!fs::exists(out).unwrap());
    };
    refused(&[], &["--store", "publisher wants"]);
    refused(&["--store", &store], &["the folder does not exist"]);
    refused(&["--store", "http://example.org/a"], &["not encrypted", "https"]);
    refused(&["--store", "ftp://example.org/a"], &["https://"]);
    // Nobody listens there: no answer, and nothing left.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (out, done) = mail.respond("ann", 2, &["--store", &format!("http://{closed}/")]);
    done.fails(3, &["cannot store"]);
    assert!(!fs::exists(out).unwrap());
    let (query, key) = (mail.folder.path("plain.query"), mail.folder.path("plain.key"));
    let publish = ["nisc", "publish", "add8", "--input", "u8:1", "--out", &query, "--secret", &key];
    comity(&[&publish[..], &["--stored", "--coded"]].concat()).fails(2, &["--coded"]);
    comity(&[&publish[..], &["--copies", "3"]].concat()).ok();
    fs::create_dir(&store).unwrap();
    let out = mail.folder.path("plain.answer");
    let respond = ["nisc", "respond", &query, "--input", "u8:2", "--out", &out];
    comity(&[&respond[..], &["--store", &store]].concat()).fails(2, &["--store", "leave --store out"]);
    comity(&respond).ok();
    comity(&["nisc", "open", &key, &out, "--store", &store]).fails(2, &["leave --store out"]);
    assert!(files(&store).is_empty());
    comity(&["nisc", "open", &key, &out]).ok();
}
