//! The Rust code in the README and in the book, as documentation tests.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../src/library.md")]
struct Library;
