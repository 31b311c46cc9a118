//! Progress: a long command shows it on a terminal, and nowhere else.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use comity_testing::PATIENCE;

use crate::common::*;

/// Commands that would take hours: in one process, and in one for each party.
fn long() -> [Command; 2] {
    ["eval", "local"].map(|what| command(&[what, "aes128^100000000", "-i", AES_KEY, "-i", AES_BLOCK]))
}

/// A terminal is what `script` makes (of util-linux); whatever is on it comes out of its standard output.
#[test]
fn a_long_command_shows_progress_on_a_terminal() {
    for long in long() {
        let words = [long.get_program()].into_iter().chain(long.get_args()).flat_map(|word| word.to_str());
        let line =
            words.fold(format!("exec timeout --foreground {}", PATIENCE.as_secs()), |line, word| line + " " + word);
        let mut terminal = Command::new("script");
        terminal.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
        terminal.env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut terminal) = terminal.spawn() else {
            let _ = writeln!(std::io::stderr(), "SKIPPED: there is no `script`, which makes a terminal");
            return;
        };
        let (mut screen, mut seen, mut piece) = (terminal.stdout.take().unwrap(), String::new(), [0; 4096]);
        while !seen.contains(" % of 640,000,000,000 AND gates, ") {
            let count = screen.read(&mut piece).unwrap();
            assert!(count > 0, "it ended without any: {seen}");
            seen += &String::from_utf8_lossy(&piece[..count]);
        }
        terminal.kill().unwrap();
        terminal.wait().unwrap();
    }
}

/// The seconds of CPU that a process has had: fields 14 and 15 of what Linux says of it, in hundredths.
fn seconds(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, behind_name) = stat.rsplit_once(')').unwrap();
    let hundredths = behind_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap());
    hundredths.sum::<u64>() / 100
}

#[test]
fn a_long_command_shows_nothing_where_no_terminal_is() {
    let [long, _] = long();
    let mut process = Background::start(long);
    // Far longer than work may take before its progress is shown.
    until("it has computed for a while", || seconds(process.id()) >= 3);
    process.kill();
    let done = process.end();
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
}
