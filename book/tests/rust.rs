//! The Rust code in the README and in the book, as documentation tests; and what both commands of the tests have.

use std::ffi::OsString;

use comity_testing::PATIENCE;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../src/way-rust.md")]
struct WayRust;

#[cfg(doctest)]
#[doc = include_str!("../src/library.md")]
struct Library;

#[cfg(doctest)]
#[doc = include_str!("../src/zero-knowledge.md")]
struct ZeroKnowledge;

/// The arguments of this process, so that what waits for a peer waits as long as a busy machine may need.
pub fn patient() -> Vec<OsString> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let session = args.get(1).is_some_and(|name| ["run", "local", "prepare", "repl"].iter().any(|waits| name == waits));
    let waits = session || args.iter().any(|arg| arg == "--interactive");
    if waits && !args.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"--timeout")) {
        args.push(format!("--timeout={}", PATIENCE.as_secs()).into());
    }
    args
}
