//! The Rust code in the README and in the book, as documentation tests; and what both commands of the tests have.

use std::ffi::OsString;

use comity_testing::PATIENCE;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../src/library.md")]
struct Library;

/// The arguments of this process, so that what waits for a peer waits as long as a busy machine may need.
pub fn patient() -> Vec<OsString> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let waits = args.get(1).is_some_and(|name| ["run", "local", "prepare", "repl"].iter().any(|waits| name == waits));
    if waits && !args.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"--timeout")) {
        args.insert(2, format!("--timeout={}", PATIENCE.as_secs()).into());
    }
    args
}
