//! Processes of a test, which are watched and killed.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::PATIENCE;

/// A process that a test started. It does not outlive the test.
pub struct Process {
    child: Child,
    /// What is piped of it, but for what was read of its standard error.
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: BufReader<ChildStderr>,
    seen: String,
}

/// The end of a process: how it ended, and what it wrote to those streams that were piped.
pub struct End {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Process {
    /// Starts this command, with a pipe for its standard error.
    ///
    /// # Panics
    /// If the system starts no process.
    pub fn start(mut command: Command) -> Process {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("a process is started");
        let stdout = child.stdout.take().map(|mut stdout| {
            thread::spawn(move || {
                let mut said = Vec::new();
                stdout.read_to_end(&mut said).expect("a pipe is read");
                said
            })
        });
        let stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
        Process { child, stdout, stderr, seen: String::new() }
    }

    /// Starts one test of this binary, whether it is marked `ignore` or not, with these variables in its
    /// environment.
    ///
    /// # Panics
    /// If the system starts no process.
    pub fn test(name: &str, variables: &[(&str, &dyn AsRef<OsStr>)]) -> Process {
        let this = std::env::current_exe().expect("the binary of the tests has a path");
        let mut command = Command::new(this);
        command.args(["--exact", name, "--include-ignored", "--nocapture"]).env("RUST_BACKTRACE", "0");
        command.envs(variables.iter().map(|(name, value)| (name, value.as_ref())));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Process::start(command)
    }

    /// The process's number in the system.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    ///
    /// # Panics
    /// If the system does not tell.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("the system tells").is_none()
    }

    /// The next line on its standard error that contains `text`; `None` if the process ends first.
    ///
    /// # Panics
    /// If it says something else than text.
    pub fn line_with(&mut self, text: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.stderr.read_line(&mut line).expect("it says text") == 0 {
                return None;
            }
            self.seen += &line;
            if line.contains(text) {
                return Some(line);
            }
        }
    }

    /// What was read of its standard error so far.
    pub fn seen(&self) -> &str {
        &self.seen
    }

    /// Waits until it has written `text` to standard error.
    ///
    /// # Panics
    /// If it ends without having said it.
    #[track_caller]
    pub fn says(&mut self, text: &str) {
        let said = self.seen.contains(text) || self.line_with(text).is_some();
        assert!(said, "it never said {text}: {}", self.seen);
    }

    /// Kills it, if it has not ended by itself.
    ///
    /// # Panics
    /// If the system does not kill.
    pub fn kill(&mut self) {
        self.child.kill().expect("the system kills");
        self.child.wait().expect("it ends");
    }

    /// Waits for its end, which it comes to by itself or because it was [killed](Process::kill).
    ///
    /// # Panics
    /// If it said something else than text.
    pub fn end(mut self) -> End {
        let mut err = std::mem::take(&mut self.seen);
        self.stderr.read_to_string(&mut err).expect("it says text");
        let code = self.child.wait().expect("it ends").code();
        let out = self.stdout.take().map_or_else(Vec::new, |reader| reader.join().expect("a pipe is read"));
        End { code, out: String::from_utf8(out).expect("it says text"), err }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = (self.child.kill(), self.child.wait());
    }
}

/// A number below `most`, drawn anew for each round of a campaign, and the same in each campaign: how far the
/// process of this round comes before it is killed.
///
/// # Panics
/// If `most` is zero.
pub fn drawn(round: u64, most: u64) -> u64 {
    // SplitMix64, by Steele, Lea and Flood (2014).
    let mut z = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % most
}

/// The time to wait before a kill, when the kills of `times` rounds came before the processes had done
/// anything: it doubles with each such round.
///
/// # Panics
/// If that is more than any machine should need.
pub fn before_kill(first: Duration, times: u64) -> Duration {
    let pause = u32::try_from(times).ok().and_then(|times| 2_u32.checked_pow(times)).and_then(|n| first.checked_mul(n));
    pause.filter(|pause| *pause < PATIENCE).expect("the processes get somewhere")
}
