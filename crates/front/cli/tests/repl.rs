//! `comity repl`: two processes with the same statements on their standard inputs.

use std::io::{Read, Write};
use std::process::{Child, Stdio};

use crate::common::*;

/// Both sides of a session: flags of both, and what each types.
fn session(flags: &[&str], zero: &str, one: &str) -> [Done; 2] {
    // A port that is free now; the connecting side waits until the other one listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let start = |party: &str, route: &str, text: &str| -> Child {
        let args = [&["repl", "--party", party, route, &address], flags].concat();
        let mut child = command(&args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child
    };
    let zero = start("0", "--listen", zero);
    let one = start("1", "--connect", one);
    [zero, one].map(|child| child.wait_with_output().unwrap().into())
}

#[test]
fn statements_run_and_results_come() {
    // The value stands behind the statement, or on the next line; spaces and comments make no difference.
    let zero = "a = input(0, u32) = 1000\nb = input(1, u32)\nc = a<b // is it smaller?\nd = if c { a } else { b }\n\
                reveal c to all\nreveal d to 0\nreveal a + 1 to 1\nvars\nhelp\n\
                xs = [a, b, 5]\nreveal sort(xs) to all\nreveal (c, a as u8) to all\nquit\nnever read\n";
    let one = "a = input(0, u32)\nb = input( 1,u32 )\n77\n\nc = a < b\nd = if c {a} else {b}\n\
               reveal c to all\nreveal d to 0\nreveal a+1 to 1\n\
               xs = [a, b, 5]\nreveal sort(xs) to all\nreveal (c, a as u8) to all\n";
    let [a, b] = session(&[], zero, one);
    let vars = "a: u32\nb: u32\nc: bool\nd: u32\n";
    assert_eq!(a.ok(), format!("c = false\nd = 77\n{vars}sort(xs) = [5, 77, 1000]\n(c, a as u8) = (false, 232)\n"));
    assert_eq!(b.ok(), "c = false\na + 1 = 1001\nsort(xs) = [5, 77, 1000]\n(c, a as u8) = (false, 232)\n");
    assert!(a.err.contains("other party learns `a + 1`") && a.err.contains("reveal c to all"), "{}", a.err);
    assert!(b.err.contains("other party learns `d`") && b.err.contains("b (u32): "), "{}", b.err);
}

#[test]
fn mistakes_are_told_and_the_session_goes_on() {
    // Each side has mistakes of its own, which the other does not hear of; one statement differs.
    let zero = "a = input(0, u8) = 300\na = input(0, u8) = 200\na < 5\nc = a < nothing\nb = input(1, u8)\n\
                c = a + b\nc = a < b\nreveal c to all\n";
    let one = "a = input(0, u8) = 200\na = input(0, u8)\nb = input(1, u8)\nxyz\n300\n\
               201\nc = b < a\nc = a < b\nreveal c to all\n";
    let [a, b] = session(&["--json"], zero, one);
    let lines = |done: &Done| {
        let lines: Vec<serde_json::Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines
    };
    for (done, refused) in [(&a, 4), (&b, 2)] {
        assert_eq!(done.code, 2, "{}", done.err);
        let [result, error] = &lines(done)[..] else { panic!("{}", done.out) };
        assert_eq!(*result, serde_json::json!({"reveal": "c", "to": "all", "type": "bool", "value": true}));
        assert_eq!(error["error"]["kind"], "input");
        assert!(error["error"]["message"].as_str().unwrap().contains(&format!("{refused} of the statements")));
    }
    for (done, words) in [
        (
            &a,
            &[
                "the value of a: the number does not fit u8",
                "reveal a < 5 to all",
                "there is no variable or constant `nothing`",
                "^",
            ][..],
        ),
        (&a, &["here   c = a + b\n  there  c = b < a", "nothing was done"][..]),
        (
            &b,
            &[
                "party 0, which alone writes it",
                "here   c = b < a\n  there  c = a + b",
                "the value of b: a number of the type u8",
            ][..],
        ),
    ] {
        assert!(words.iter().all(|word| done.err.contains(word)), "{words:?}: {}", done.err);
    }
    // Secrets are not repeated, not even wrong ones.
    assert!(!a.err.contains("300") && !b.err.contains("xyz"), "{}{}", a.err, b.err);
}

#[test]
fn an_end_on_one_side_is_told_on_the_other() {
    let [a, b] =
        session(&["--dealer", "fast", "-v"], "a = input(0, u8) = 1\nquit\n", "a = input(0, u8)\nreveal a to all\n");
    a.ok();
    assert!(a.err.contains("sent") && a.err.contains("rounds"), "{}", a.err);
    b.fails(3, &["the other party has left the session"]);
    // The input ends where a value is wanted.
    let [a, b] = session(&[], "a = input(0, u8)\n", "a = input(0, u8)\nreveal a to all\n");
    a.fails(2, &["the value of `a` is missing"]);
    assert_eq!(b.code, 3, "{}", b.err);
    let [a, b] =
        session(&["--rho", "30"], "r = random(u16)\nreveal r ^ r to all\n", "r = random(u16)\nreveal r ^ r to all\n");
    assert_eq!((a.ok(), b.ok()), ("r ^ r = 0\n", "r ^ r = 0\n"));
}

#[test]
fn misuse_is_refused() {
    comity(&["repl", "--party", "2", "--listen", "127.0.0.1:0"]).fails(2, &["tinyot", "no party 2"]);
    comity(&["repl", "--party", "0"]).fails(2, &["--listen ADDR", "--connect ADDR"]);
    comity(&["repl", "--party", "0", "--peer", "0=127.0.0.1:1"]).fails(2, &["party 0 is this party itself"]);
    comity(&["repl", "--party", "0", "--listen", "127.0.0.1:0", "--rho", "0"]).fails(2, &["rho"]);
    comity(&["repl", "--party", "1", "--connect", "192.0.2.1:7000", "--timeout", "1"])
        .fails(2, &["--tls", "--plaintext"]);
    let help = comity(&["repl", "--help"]);
    assert!(help.ok().contains("reveal c to all"));
    // It offers what it can do.
    assert!(help.out.contains("[default: tinyot for 2 to 16]"), "{}", help.out);
    assert!(help.out.contains("[possible values: tinyot, spdz, gmw]"), "{}", help.out);
    comity(&["repl", "--protocol", "cutchoose"]).fails(2, &["possible values: tinyot, spdz, gmw"]);
}

/// `script` gives a command a terminal of its own, so that what a person types reaches the line editor.
#[test]
fn a_person_edits_lines_and_calls_them_back() {
    if std::process::Command::new("script").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no `script` (util-linux), which makes terminals");
        return;
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let at = format!("127.0.0.1:{port}");
    let mut other = command(&["repl", "--party", "1", "--connect", &at]).stdin(Stdio::piped()).spawn().unwrap();
    let statements = "a = input(0, u8)\nb = a + 1\nreveal b to all\nreveal b to all\n";
    other.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
    let line = format!("{} repl --party 0 --listen {at}", env!("CARGO_BIN_EXE_comity"));
    let script = ["-q", "-e", "-c", &line, "/dev/null"];
    let mut person = std::process::Command::new("script");
    let person = person.args(script).env("TERM", "xterm").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut person = person.unwrap();
    // A value that is typed goes into no history: what is called back is the statement before it. A typing
    // error is taken back.
    let lines = ["a = input(0, u8)", "41", "b = a + 11\u{7f}", "reveal b to all", "\u{1b}[A", "quit"];
    let (mut keyboard, mut screen) = (person.stdin.take().unwrap(), person.stdout.take().unwrap());
    let mut shown = Vec::new();
    for (asked, line) in lines.iter().enumerate() {
        // The editor says so when it is ready, line by line; what is typed before that may be lost.
        let ready = |shown: &[u8]| shown.windows(7).filter(|end| end == b"[?2004h").count() > asked;
        while !ready(&shown) {
            let mut some = [0; 256];
            let read = screen.read(&mut some).unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&shown));
            shown.extend_from_slice(&some[..read]);
        }
        keyboard.write_all(format!("{line}\r").as_bytes()).unwrap();
    }
    screen.read_to_end(&mut shown).unwrap();
    let shown = String::from_utf8_lossy(&shown);
    assert!(person.wait().unwrap().success(), "{shown}");
    assert_eq!(shown.matches("b = 42\r\n").count(), 2, "{shown}");
    let other: Done = other.wait_with_output().unwrap().into();
    assert_eq!(other.ok(), "b = 42\nb = 42\n");
}
