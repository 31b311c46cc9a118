//! Driving the built binary.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use comity_testing::{End, PATIENCE, Process};

/// The inputs and the output of FIPS 197, appendix C.1.
pub(crate) const AES_KEY: &str = "000102030405060708090a0b0c0d0e0f";
pub(crate) const AES_BLOCK: &str = "00112233445566778899aabbccddeeff";
pub(crate) const AES_OUT: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

/// The result that a command left behind.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.out.lines().count(), 1, "one object on one line: {}{}", self.out, self.err);
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    /// Asserts success and returns standard output.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.out, self.err);
        &self.out
    }

    /// Asserts a failure in text mode: this code, nothing on standard output, and these words on standard error.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        assert_eq!(self.out, "", "results only on standard output");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {}", self.err);
        }
    }

    /// Asserts a failure in JSON mode: this code and kind, and these words in its message.
    #[track_caller]
    pub(crate) fn fails_json(&self, code: i32, kind: &str, words: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        let error = &self.json()["error"];
        assert_eq!(error["kind"], kind, "{error}");
        for word in words {
            assert!(error["message"].as_str().unwrap().contains(word), "`{word}` is not in: {error}");
        }
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The command with these arguments. Where it waits for a peer, and it is not said how long, it has all the
/// patience that a busy machine may need.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comity"));
    let (name, rest) = args.split_at(args.len().min(1));
    command.args(name);
    let waits = match name {
        ["run" | "local" | "prepare" | "repl"] => true,
        ["pfe"] => rest.first().is_some_and(|first| first.starts_with("--")),
        _ => false,
    };
    if waits && !rest.contains(&"--timeout") {
        command.arg(format!("--timeout={}", PATIENCE.as_secs()));
    }
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same command, whose files can have at most `blocks` blocks of 512 bytes.
#[cfg(unix)]
pub(crate) fn limited(command: &Command, blocks: u64) -> Command {
    // The limit is an error to the process that writes, instead of the signal that it is by default.
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Runs the command to its end.
pub(crate) fn comity(args: &[&str]) -> Done {
    command(args).output().unwrap().into()
}

/// Runs the command with this on its standard input.
pub(crate) fn comity_with(stdin: &str, args: &[&str]) -> Done {
    let mut child = command(args).stdin(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// A command in the background. It does not outlive its test.
pub(crate) struct Background(Process);

impl Background {
    pub(crate) fn start(command: Command) -> Background {
        Background(Process::start(command))
    }

    /// The address of this machine in the next line on standard error that has one behind these words; `None`
    /// if the command ended first.
    pub(crate) fn address_after(&mut self, words: &str) -> Option<String> {
        let said = format!("{words}127.0.0.1:");
        let line = self.line_with(&said)?;
        let address = &line[line.find(&said).expect("it is there") + words.len()..];
        address.split(|c: char| c.is_whitespace() || c == ',').next().map(str::to_owned)
    }

    /// Waits for its end.
    pub(crate) fn end(self) -> Done {
        let End { code, out, err } = self.0.end();
        Done { code: code.unwrap_or(-1), out, err }
    }
}

impl Deref for Background {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.0
    }
}

impl DerefMut for Background {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.0
    }
}

/// A party in the background that listens on a port of the system's choice.
pub(crate) struct Listener {
    party: Background,
    pub(crate) address: String,
}

impl Listener {
    /// Starts `comity run` with these arguments and waits until it says where it listens.
    pub(crate) fn start(args: &[&str]) -> Listener {
        Listener::begin("run", args)
    }

    /// As [`Listener::start`], for any command that listens.
    pub(crate) fn begin(command_name: &str, args: &[&str]) -> Listener {
        let mut all = vec![command_name];
        all.extend(args);
        all.extend(["--listen", "127.0.0.1:0"]);
        let mut party = Background::start(command(&all));
        let address = party.address_after("").unwrap_or_else(|| panic!("it never listened: {}", party.seen()));
        Listener { party, address }
    }

    /// Waits for the party's end.
    pub(crate) fn end(self) -> Done {
        self.party.end()
    }
}

impl Deref for Listener {
    type Target = Background;

    fn deref(&self) -> &Background {
        &self.party
    }
}

impl DerefMut for Listener {
    fn deref_mut(&mut self) -> &mut Background {
        &mut self.party
    }
}

/// Waits for what must happen.
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The bytes of forty garbled copies of AES-128, and half as many: a party that has sent that much is amid
/// the gates of a long program.
pub(crate) const FAR: usize = 12 << 20;

/// A go-between that knows how far two parties are: whoever connects to its address is connected to a
/// listener.
pub(crate) struct Between {
    pub(crate) address: String,
    bytes: Arc<AtomicUsize>,
}

impl Between {
    pub(crate) fn before(target: &str) -> Between {
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, target) = (here.local_addr().unwrap().to_string(), target.to_owned());
        let bytes = Arc::new(AtomicUsize::new(0));
        let counter = bytes.clone();
        thread::spawn(move || {
            let client = here.accept().unwrap().0;
            let Ok(server) = TcpStream::connect(target) else { return };
            let ends = [client.try_clone().unwrap(), server.try_clone().unwrap()];
            let back = counter.clone();
            thread::spawn(move || forward(&ends[1], &ends[0], &back));
            forward(&client, &server, &counter);
        });
        Between { address, bytes }
    }

    /// Waits until `bytes` bytes have gone one way or the other.
    #[track_caller]
    pub(crate) fn until(&self, bytes: usize) {
        until("the parties talk", || self.bytes() >= bytes);
    }

    /// The number of bytes that have gone one way or the other.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, counter: &AtomicUsize) {
    let mut piece = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
        counter.fetch_add(count, Ordering::Relaxed);
    }
    // One of them may be gone already.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Both parties of a run: the arguments that they share, then each one's own.
pub(crate) fn both(shared: &[&str], party0: &[&str], party1: &[&str]) -> (Done, Done) {
    let listener = Listener::start(&[shared, &["--party", "0"], party0].concat());
    let address = listener.address.clone();
    let other = comity(&[&["run"], shared, &["--party", "1", "--connect", &address], party1].concat());
    (listener.end(), other)
}

/// A folder for one test, removed when the test passes.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The path of `name` in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
