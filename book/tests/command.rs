//! The `comity` command, for the pages' tests: it waits for a peer as long as a busy machine may need.

use std::process::ExitCode;

fn main() -> ExitCode {
    comity_cli::run(comity_book::patient())
}
