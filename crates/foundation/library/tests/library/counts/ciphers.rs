//! Ciphers.

use super::Row;
use super::sources::{BRISTOL, EPFL, NIST};

pub(super) const ROWS: &[Row] = &[
    ("aes128", Some((6_400, NIST))),
    ("aes128table", None),
    ("aes192", Some((7_168, BRISTOL))),
    ("aes256", Some((8_832, BRISTOL))),
    ("des", Some((9_048, EPFL))),
    ("des3", None),
    ("chacha20", None),
    ("aes128ctr-1024", None),
    ("aes192ctr-1024", None),
    ("aes256ctr-1024", None),
    ("chacha20-1024", None),
];
