//! The `comity` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = comity_cli::run(std::env::args_os());
    // With the process goes what the system has not sent for it.
    comity_net::settle();
    code
}
