//! The `comity` command, for the pages' tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    comity_cli::run(std::env::args_os())
}
