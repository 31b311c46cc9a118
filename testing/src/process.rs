//! A test that runs as a process of its own, to be killed.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::PATIENCE;

/// A process that runs one test of this binary. It does not outlive the test that started it.
pub struct TestProcess(Child);

impl TestProcess {
    /// Starts the test of this name, be it marked `ignore` or not, with these variables in its environment.
    ///
    /// # Panics
    /// If the system starts no process.
    pub fn start(test: &str, variables: &[(&str, &dyn AsRef<OsStr>)]) -> TestProcess {
        let this = std::env::current_exe().expect("the binary of the tests has a path");
        let mut command = Command::new(this);
        command.args(["--exact", test, "--include-ignored", "--nocapture"]).env("RUST_BACKTRACE", "0");
        command.envs(variables.iter().map(|(name, value)| (name, value.as_ref())));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        TestProcess(command.spawn().expect("a process is started"))
    }

    /// Whether it still runs.
    ///
    /// # Panics
    /// If the system does not tell.
    pub fn runs(&mut self) -> bool {
        self.0.try_wait().expect("the system tells").is_none()
    }

    /// Kills it, if it has not ended by itself.
    ///
    /// # Panics
    /// If the system does not kill.
    pub fn kill(&mut self) {
        self.0.kill().expect("the system kills");
    }

    /// Its end, which it comes to by itself or was [killed](TestProcess::kill) for: whether it ended well,
    /// and what it said on standard error.
    ///
    /// # Panics
    /// If it said something else than text.
    pub fn end(mut self) -> (bool, String) {
        let mut said = String::new();
        let stderr = self.0.stderr.take().expect("it is a pipe");
        std::io::Read::read_to_string(&mut { stderr }, &mut said).expect("it says text");
        (self.0.wait().expect("it ends").success(), said)
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        // It may have ended.
        let _ = (self.0.kill(), self.0.wait());
    }
}

/// The time to wait before a kill, where the kills of `times` rounds came before the processes had got
/// anywhere: twice as long for each.
///
/// # Panics
/// If that is more than any machine should need.
pub fn before_kill(first: Duration, times: u64) -> Duration {
    let pause = u32::try_from(times).ok().and_then(|times| 2_u32.checked_pow(times)).and_then(|n| first.checked_mul(n));
    pause.filter(|pause| *pause < PATIENCE).expect("the processes get somewhere")
}
