//! Fuzz bodies: one plain function for every decoder and file format, to be called with any bytes whatever.
//!
//! A body panics where a promise is broken (a decoder that panics, a value that does not survive its own encoding, an
//! output on a corrupted session) and returns otherwise. [`TARGETS`] lists them. Two things run them: the test of
//! this crate, over the committed corpus and mutations of it, and the libFuzzer targets under `fuzz_targets/`.

#[path = "../../crates/front/cli/src/expression.rs"]
#[allow(dead_code, reason = "the command's own parser, which its crate keeps to itself; not all of it is called here")]
mod expression;
mod files;
mod language;
mod mail;
mod mutate;
mod network;
mod ope;
mod ot;
mod peer;
mod seeds;
#[path = "../../crates/front/cli/src/repl/statement.rs"]
#[allow(dead_code, reason = "as above")]
mod statement;
mod tinyot;

pub use files::{
    blif, bristol, bristol_fashion, circuit, program, program_expression, shdl, typed_value, value, yosys,
};
pub use language::language;
pub use mail::{mail_answer, mail_key, mail_query};
pub use mutate::Mutator;
pub use network::{fingerprint, frames, key_file, raw_stream, tls_stream, trusted_file};
pub use ope::{ope_cache, ope_key, ope_plain, ope_query, ope_sealed, ope_state};
pub use ot::{ot_messages, ot_receiver, ot_sender};
pub use peer::{base_ot, hello, yao_evaluator, yao_garbler};
pub use seeds::seeds;
pub use tinyot::{statement, stock};

/// A fuzz body.
pub type Body = fn(&[u8]);

/// Every body, under the name of its corpus folder and its libFuzzer target.
pub const TARGETS: &[(&str, Body)] = &[
    ("base_ot", base_ot),
    ("blif", blif),
    ("bristol", bristol),
    ("bristol_fashion", bristol_fashion),
    ("circuit", circuit),
    ("fingerprint", fingerprint),
    ("frames", frames),
    ("hello", hello),
    ("key_file", key_file),
    ("language", language),
    ("mail_answer", mail_answer),
    ("mail_key", mail_key),
    ("mail_query", mail_query),
    ("ope_cache", ope_cache),
    ("ope_key", ope_key),
    ("ope_plain", ope_plain),
    ("ope_query", ope_query),
    ("ope_sealed", ope_sealed),
    ("ope_state", ope_state),
    ("ot_messages", ot_messages),
    ("ot_receiver", ot_receiver),
    ("ot_sender", ot_sender),
    ("program", program),
    ("program_expression", program_expression),
    ("raw_stream", raw_stream),
    ("shdl", shdl),
    ("statement", statement),
    ("stock", stock),
    ("tls_stream", tls_stream),
    ("trusted_file", trusted_file),
    ("typed_value", typed_value),
    ("value", value),
    ("yao_evaluator", yao_evaluator),
    ("yao_garbler", yao_garbler),
    ("yosys", yosys),
];
