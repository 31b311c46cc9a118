//! Fuzz bodies: one plain function for every decoder and file format, to be called with any bytes whatever.
//!
//! A body panics where a promise is broken (a decoder that panics, a value that does not survive its own
//! encoding, an output on a corrupted session) and returns otherwise. [`TARGETS`] lists them. Two things run
//! them: the test of this crate, over the committed corpus and mutations of it, and the libFuzzer target of
//! `libfuzzer/`.

mod ag;
mod among;
mod arith;
mod bmr;
mod files;
mod forms;
pub mod found;
mod gmw;
mod ideal;
mod language;
mod mail;
mod mutate;
mod network;
mod notes;
mod okvs;
mod ope;
mod ot;
mod peer;
mod psi;
mod seeds;
mod spdz;
mod table;
mod tinyot;
mod tinytable;
mod token;
mod zk;

pub use mutate::Mutator;
pub use seeds::seeds;

/// A fuzz body.
pub type Body = fn(&[u8]);

/// The bodies, each under its own name.
macro_rules! targets {
    ($($module:ident::$body:ident,)*) => {
        &[$((stringify!($body), $module::$body)),*]
    };
}

/// Every body, under the name of its corpus folder and of its libFuzzer target.
pub const TARGETS: &[(&str, Body)] = targets![
    peer::arith_peer,
    tinytable::auth_tables_peer,
    peer::base_ot,
    files::blif,
    files::bristol,
    files::bristol_fashion,
    files::circuit,
    spdz::field_garbling_peers,
    spdz::field_opening_peers,
    spdz::field_peers,
    network::fingerprint,
    network::frames,
    bmr::garbling_peers,
    network::group_file,
    peer::gmw_peer,
    peer::hello,
    network::key_file,
    language::language,
    mail::mail_answer,
    mail::mail_key,
    mail::mail_query,
    notes::notes,
    okvs::okvs_vector,
    ope::ope_cache,
    ope::ope_key,
    ope::ope_plain,
    ope::ope_query,
    ope::ope_sealed,
    ope::ope_state,
    ot::ot_messages,
    ot::ot_receiver,
    ot::ot_sender,
    forms::plan_file,
    files::program,
    files::program_expression,
    psi::psi_base,
    psi::psi_masks,
    psi::psi_queries,
    psi::psi_receiver,
    psi::psi_sender,
    network::raw_stream,
    network::relay_opening,
    files::share_file,
    among::shares_peers,
    among::shares_peers_online,
    files::shdl,
    tinyot::statement,
    arith::stored_adders,
    spdz::stored_field,
    spdz::stored_field_garbled,
    bmr::stored_garbled,
    ag::stored_garbling,
    arith::stored_ots,
    among::stored_rows,
    tinyot::stored_shares,
    tinytable::stored_auth_tables,
    tinytable::stored_tables,
    gmw::stored_triples,
    arith::stored_words,
    table::table_cell,
    table::table_rows,
    table::table_steps,
    tinytable::tables_peer,
    network::tls_stream,
    token::token_holder,
    token::token_letter,
    network::trusted_file,
    files::typed_value,
    files::value,
    peer::yao_evaluator,
    peer::yao_garbler,
    peer::yao_standard_evaluator,
    peer::yao_standard_garbler,
    peer::yao_three_halves_evaluator,
    files::yosys,
    zk::zk_proof,
];

/// The body of this name. A name that is not in [`TARGETS`] does not compile.
pub const fn body(name: &str) -> Body {
    let mut i = 0;
    while i < TARGETS.len() {
        if same(TARGETS[i].0.as_bytes(), name.as_bytes()) {
            return TARGETS[i].1;
        }
        i += 1;
    }
    panic!("no fuzz body has this name")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
