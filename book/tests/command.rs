//! The `comity` command, for the tests of the book: it waits for a peer as long as a busy machine may need.
//! With `COMITY_BOOK_SUM` in the environment, which its children have, too, there is one protocol more, as
//! the page on adding a protocol has it.

use std::process::ExitCode;

use comity::{PROTOCOLS, Protocol};

fn main() -> ExitCode {
    let with_sum = std::env::var_os("COMITY_BOOK_SUM").is_some();
    let more: &[&'static dyn Protocol] = if with_sum { &[&comity_sum::Sum] } else { &[] };
    comity_cli::run_with([PROTOCOLS, more].concat().leak(), comity_book::patient())
}
