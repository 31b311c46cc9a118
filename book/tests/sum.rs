//! The `comity` command with one protocol more, as the page on adding a protocol has it.

use std::process::ExitCode;

use comity::{PROTOCOLS, Protocol};

fn main() -> ExitCode {
    let list: Vec<&'static dyn Protocol> = PROTOCOLS.iter().copied().chain([&comity_sum::Sum as _]).collect();
    comity_cli::run_with(list.leak(), comity_book::patient())
}
