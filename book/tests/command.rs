//! The `comity` command, for the pages' tests: it waits for a peer as long as a busy machine may need.

use std::ffi::OsString;
use std::process::ExitCode;

use comity_testing::PATIENCE;

fn main() -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let waits = args.get(1).is_some_and(|name| ["run", "local", "prepare", "repl"].iter().any(|waits| name == waits));
    if waits && !args.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"--timeout")) {
        args.insert(2, format!("--timeout={}", PATIENCE.as_secs()).into());
    }
    comity_cli::run(args)
}
