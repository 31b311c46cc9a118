//! A service and its files under attack, counted: strangers, disks that get full at each byte, kills, and
//! files that are odd.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::*;
use crate::job::job;
use crate::psi_base::{client, published, timeout};
use crate::serve::Service;

/// How much of each.
struct Counts {
    strangers: usize,
    /// The steps of 512 bytes at which a disk gets full.
    full: u64,
    kills: usize,
}

#[test]
fn services_and_files_withstand_a_little() {
    attack("campaign-little", &Counts { strangers: 100, full: 2, kills: 2 });
}

#[test]
#[ignore = "a campaign: 3,000 strangers, 60 full disks for each command, and 100 kills of an update"]
fn services_and_files_withstand_much() {
    attack("campaign-much", &Counts { strangers: 3000, full: 60, kills: 100 });
}

fn attack(test: &str, counts: &Counts) {
    let strangers = strangers(test, counts.strangers);
    let (full, done) = full(test, counts.full);
    let (killed, finished) = kills(test, counts.kills);
    let odd = odd(test);
    let _ = writeln!(
        std::io::stderr(),
        "{strangers} strangers; {full} disks that got full, and {done} that did not; {killed} updates killed, {finished} of them finished \
         later; {odd} odd files"
    );
}

/// Openings of forks, halves of hellos, other protocols, and nothing, held open as they come: the peer has
/// its runs all the while.
fn strangers(test: &str, count: usize) -> usize {
    let folder = Folder::new(&format!("{test}-strangers"));
    let job = job(&folder, "job.toml", "runs = 1000");
    let service = Service::start(&job, &["--input", "0=dec:40", "--jobs", "3", "--timeout=600"]);
    let fork = |n: usize| {
        let opening = [b"comity\0e\x01".as_slice(), &[1, 0, 0, 0], &n.to_le_bytes(), &[7; 24]].concat();
        let head = [&(opening.len() as u32).to_le_bytes()[..], &[0; 4], &crc(&opening).to_le_bytes()].concat();
        [&head[..], &crc(&head).to_le_bytes(), &opening].concat()
    };
    let mut held = std::collections::VecDeque::new();
    for run in 0..3 {
        for n in 0..count / 3 {
            let mut stream = TcpStream::connect(&service.address).unwrap();
            let said = match n % 4 {
                0 | 1 => fork(run * count + n),
                2 => b"GET / HTTP/1.1\r\n\r\n".to_vec(),
                _ => Vec::new(),
            };
            // One that was turned away already hears nothing.
            let _ = stream.write_all(&said);
            held.push_back(stream);
            if held.len() > 400 {
                held.pop_front();
            }
        }
        let done = comity(&["run", "--job", &job, "--party", "bob", "--input", "dec:2"]);
        assert_eq!(done.ok(), "000000000000002a\n", "run {run}");
    }
    service.end().ok();
    count / 3 * 3
}

/// The checksum of frames, CRC-32.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

/// Commands that write, on disks that get full at each block: they are done, or say 3 and leave nothing. The
/// numbers of both.
fn full(test: &str, most: u64) -> (usize, usize) {
    let folder = Folder::new(&format!("{test}-full"));
    let table = folder.file("table.csv", &(0..2000).map(|n| format!("{n},name {n}\n")).collect::<String>());
    let (mut full, mut done) = (0, 0);
    for blocks in 0..most {
        let out = folder.path(&format!("out-{blocks}"));
        let state = folder.path(&format!("state-{blocks}"));
        for args in [
            &["circuit", "export", "add64", "--output", &out][..],
            &["eval", "aes128*200", "-i", &"0".repeat(6400), "-i", &"0".repeat(6400), "--output", &out],
            &["psi", "publish", &table, "--no-header", "--key", "1", "--state", &state, "--out", &out],
        ] {
            let ended = Done::from(limited(&command(args), blocks).output().unwrap());
            match ended.code {
                0 => done += 1,
                3 => full += 1,
                _ => panic!("{blocks} blocks, {args:?}: {} {}", ended.code, ended.err),
            }
            assert_eq!(fs::exists(&out).unwrap(), ended.code == 0, "{blocks} blocks, {args:?}: {}", ended.err);
            let _ = fs::remove_file(&out);
        }
    }
    let left: Vec<_> = fs::read_dir(folder.path(".")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".partial")), "{left:?}");
    (full, done)
}

/// Updates that are killed at any time: the next call goes on, and a client that gets what came out is where
/// the service is. The number of kills, and of updates that were finished by a later call.
fn kills(test: &str, count: usize) -> (usize, usize) {
    let folder = Folder::new(&format!("{test}-kills"));
    let [_, state, base] = published(&folder, &["--max-keys", "1000000", "--max-queries", "100000"]);
    let (mut deltas, mut killed, mut finished) = (Vec::new(), 0, 0);
    let (mut round, mut pause) = (0, 0);
    while killed < count {
        let rows = folder.file("rows.csv", &format!("mail,city\nw{round}@example.org,x\n"));
        let out = folder.path(&format!("{round}.psi"));
        let args = ["psi", "update", "--state", &state, "--add", &rows, "--key", "mail:lower", "--out", &out];
        let mut child = command(&args).spawn().unwrap();
        pause = (pause + 137) % 20_000;
        thread::sleep(Duration::from_micros(pause));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        if fs::exists(&out).unwrap() {
            deltas.push(out.clone());
        }
        // Whatever there is to be finished is what the next call says.
        let late = folder.path(&format!("{round}-late.psi"));
        if fs::exists(format!("{state}/update")).unwrap() {
            let done = comity(&["psi", "update", "--state", &state, "--out", &late]);
            match done.code {
                0 => {
                    finished += 1;
                    // It was out already, or it is now.
                    if deltas.last() != Some(&out) {
                        deltas.push(late);
                    }
                }
                // The state did not follow: nobody has it.
                _ => done.fails(2, &["no update broke off"]),
            }
        }
        round += 1;
    }
    let table = client(&folder, &[1, 200]);
    let service = crate::psi_base::serve(&state, &["--sessions", "1"]);
    let (out, found) = (timeout(), folder.path("found.csv"));
    let query = [
        "psi",
        "query",
        &table,
        "--key",
        "email:lower",
        "--base",
        &base,
        "--connect",
        &service.address,
        "--out",
        &found,
        &out,
    ];
    let updates: Vec<&str> = deltas.iter().flat_map(|delta| ["--delta", delta.as_str()]).collect();
    comity(&[&query[..], &updates].concat()).ok();
    service.end().ok();
    (killed, finished)
}

/// Files of another kind, damaged files and too long ones, in the place of each file that a command reads: it
/// ends by itself, with a mistake. Returns their number.
fn odd(test: &str) -> usize {
    let folder = Folder::new(&format!("{test}-odd"));
    let [table, _, _] = published(&folder, &[]);
    let long = folder.path("long");
    fs::write(&long, vec![b' '; 3 << 20]).unwrap();
    fs::write(
        folder.path("random"),
        (0..4096_u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect::<Vec<u8>>(),
    )
    .unwrap();
    folder.file("empty", "");
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    let mut count = 0;
    let odd = ["empty", "random", "pipe", "long", "."].map(|name| folder.path(name));
    for file in odd.iter().map(String::as_str).chain(["/dev/zero", "/no/such/file"]) {
        for args in [
            &["run", "--job", file][..],
            &["serve", file],
            &["run", "add8", "--group", file, "--party", "0"],
            &["group", "show", file],
            &["store", "list", "--store", ".", "--key-file", file],
            &[
                "psi",
                "query",
                &table,
                "--key",
                "mail:lower",
                "--base",
                file,
                "--connect",
                "127.0.0.1:1",
                "--out",
                &long,
            ],
            &["nisc", "open", file, file],
        ] {
            let done: Done = command(args).stdin(Stdio::null()).output().unwrap().into();
            assert!(matches!(done.code, 2..=4), "{args:?}: {} {}", done.code, done.err);
            count += 1;
        }
    }
    count
}
