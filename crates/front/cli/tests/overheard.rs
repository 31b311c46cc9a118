//! Three processes in plain text, and somebody on the way who takes down every byte: no input is there, by
//! itself or as the sum of two pieces.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::*;

/// A sum without carries, in which no gate hides anything.
const PROGRAM: &str = "\
parties ann, ben, cleo;

fn main(a: u64 from ann, b: u64 from ben, c: u64 from cleo) -> u64 { a ^ b ^ c }
";

/// The parties' inputs.
const INPUTS: [u64; 3] = [0x0123_4567_89ab_cdef, 0xf00d_7777_3333_5151, 0x1337_c0de_9e37_79b9];

/// All that went over the links, each direction by itself.
type Heard = Arc<Mutex<Vec<Vec<u8>>>>;

/// Carries whoever comes to this port to that one, and keeps what they say.
fn carry(listener: TcpListener, to: u16, heard: &Heard) {
    let heard = heard.clone();
    thread::spawn(move || {
        for there in listener.incoming() {
            let there = there.unwrap();
            let here = loop {
                // The party that is called may not be there yet.
                if let Ok(here) = TcpStream::connect(("127.0.0.1", to)) {
                    break here;
                }
                thread::yield_now();
            };
            let pairs = [(there.try_clone().unwrap(), here.try_clone().unwrap()), (here, there)];
            for (mut from, mut to) in pairs {
                let heard = heard.clone();
                let mine = {
                    let mut heard = heard.lock().unwrap();
                    heard.push(Vec::new());
                    heard.len() - 1
                };
                thread::spawn(move || {
                    let mut bytes = vec![0; 1 << 16];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        heard.lock().unwrap()[mine].extend_from_slice(&bytes[..count]);
                        if to.write_all(&bytes[..count]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

/// A command at each of three parties, with what each types, over links on which somebody listens: what they
/// print, and what was heard.
fn three(folder: &Folder, command_name: &str, shared: &[&str], own: [(&[&str], &str); 3]) -> ([Done; 3], Vec<Vec<u8>>) {
    let heard = Heard::default();
    // Ports that are free now, of the parties, and those where they are called.
    let ports = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap()).map(|listener| port(&listener));
    let called = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let lines = ["ann", "ben", "cleo"].iter().zip(&called).enumerate();
    let lines = lines.map(|(id, (name, listener))| {
        format!("[[party]]\nid = {id}\nname = \"{name}\"\naddress = \"127.0.0.1:{}\"\n\n", port(listener))
    });
    let group = folder.file("group.toml", &lines.collect::<String>());
    called.into_iter().zip(ports).for_each(|(listener, to)| carry(listener, to, &heard));
    let children: Vec<_> = own
        .into_iter()
        .enumerate()
        .map(|(party, (flags, typed))| {
            let (number, listen) = (party.to_string(), format!("127.0.0.1:{}", ports[party]));
            let mut args = [&[command_name][..], &["--group", &group, "--party", &number], shared, flags].concat();
            // The lower party of each pair listens.
            if party < 2 {
                args.extend(["--listen", &listen]);
            }
            let mut child = command(&args).stdin(Stdio::piped()).spawn().unwrap();
            let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
            child
        })
        .collect();
    let ends: Vec<Done> = children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
    let heard = heard.lock().unwrap().clone();
    (ends.try_into().ok().expect("three"), heard)
}

/// No window of eight bytes is an input, and no sum of two windows is one.
fn no_input_is_heard(heard: &[Vec<u8>], what: &str) {
    let windows = |bytes: &[u8]| -> Vec<u64> {
        bytes.windows(8).map(|window| u64::from_le_bytes(window.try_into().expect("eight bytes"))).collect()
    };
    let all: HashSet<u64> = heard.iter().flat_map(|bytes| windows(bytes)).collect();
    assert!(heard.len() == 6 && all.len() > 500, "{what}: {} links, {} pieces", heard.len(), all.len());
    for (party, input) in INPUTS.into_iter().enumerate() {
        assert!(!all.contains(&input), "{what}: the input of party {party} in the clear");
        let found = all.iter().any(|piece| all.contains(&(piece ^ input)));
        assert!(!found, "{what}: the input of party {party} is the sum of two pieces");
    }
}

/// The flags of each party.
fn inputs() -> [[String; 2]; 3] {
    ["a", "b", "c"].map(|name| {
        let value = INPUTS[usize::from(name.as_bytes()[0] - b'a')];
        ["-i".to_owned(), format!("{name}={value}")]
    })
}

fn right() -> String {
    format!("{}\n", INPUTS[0] ^ INPUTS[1] ^ INPUTS[2])
}

#[test]
fn who_listens_to_a_run_hears_no_input() {
    let folder = Folder::new("overheard-run");
    let program = folder.file("sum.cty", PROGRAM);
    let inputs = inputs();
    let inputs = inputs.each_ref().map(|flags| flags.each_ref().map(String::as_str));
    for options in
        [&["--protocol", "tinyot"][..], &["--protocol", "bmr"], &["--protocol", "bmr", "--option", "products=ot"]]
    {
        let own = inputs.each_ref().map(|flags| (&flags[..], ""));
        let (ends, heard) = three(&folder, "run", &[&[&program[..], "--rho", "7"], options].concat(), own);
        ends.iter().for_each(|done| assert_eq!(done.ok(), right()));
        no_input_is_heard(&heard, &options.join(" "));
    }
}

#[test]
fn who_listens_to_statements_hears_no_input() {
    let folder = Folder::new("overheard-repl");
    let typed = [0, 1, 2].map(|me| {
        let line = |(party, name): (usize, &str)| {
            let value = if party == me { format!(" = {}", INPUTS[party]) } else { String::new() };
            format!("{name} = input({party}, u64){value}\n")
        };
        let inputs: String = ["a", "b", "c"].into_iter().enumerate().map(line).collect();
        format!("{inputs}reveal a ^ b ^ c to all\nreveal a ^ b ^ c to (0, 2)\nquit\n")
    });
    let own = typed.each_ref().map(|typed| (&[][..], &typed[..]));
    let (ends, heard) = three(&folder, "repl", &["--rho", "7"], own);
    for done in &ends {
        assert!(done.ok().contains(right().trim()), "{}", done.out);
    }
    no_input_is_heard(&heard, "repl");
}

#[test]
fn who_listens_to_a_run_on_a_store_hears_no_input() {
    let folder = Folder::new("overheard-store");
    let program = folder.file("sum.cty", PROGRAM);
    let inputs = inputs();
    for protocol in ["tinyot", "bmr"] {
        let stores = [0, 1, 2].map(|party| {
            let [store, key] = ["store", "key"].map(|what| folder.path(&format!("{what}-{protocol}-{party}")));
            ["--store".to_owned(), store, "--key-file".to_owned(), key]
        });
        let stores = stores.each_ref().map(|flags| flags.each_ref().map(String::as_str));
        let flags = ["--protocol", protocol, "--rho", "7"];
        // Shares for any program, or the program garbled.
        let what = if protocol == "tinyot" { ["--count", "1"] } else { [&program[..], "--count=1"] };
        let own = stores.each_ref().map(|flags| (&flags[..], ""));
        let (made, before) = three(&folder, "prepare", &[&flags[..], &what].concat(), own);
        for done in &made {
            assert!(done.ok().contains("prepared"), "{}", done.out);
        }
        let own = [0, 1, 2].map(|party| [&stores[party][..], &inputs[party].each_ref().map(String::as_str)].concat());
        let own = own.each_ref().map(|flags| (&flags[..], ""));
        let (ends, heard) = three(&folder, "run", &[&[&program[..]], &flags[..]].concat(), own);
        ends.iter().for_each(|done| assert_eq!(done.ok(), right()));
        no_input_is_heard(&heard, protocol);
        // With what was said when it was made, of which a run uses little: what was opened is at the end.
        let last = |bytes: &Vec<u8>| bytes[bytes.len().saturating_sub(1 << 16)..].to_vec();
        let all: Vec<Vec<u8>> =
            before.iter().zip(&heard).map(|(before, after)| [last(before), after.clone()].concat()).collect();
        no_input_is_heard(&all, &format!("{protocol}, with what was made"));
    }
}
