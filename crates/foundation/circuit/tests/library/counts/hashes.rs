//! Hashes.

use super::Row;
use super::sources::{BRISTOL, CGGN, EPFL};

pub(super) const ROWS: &[Row] = &[
    ("sha1", None),
    ("sha1-iv", Some((11_515, EPFL))),
    ("sha256", Some((22_573, BRISTOL))),
    ("sha256-iv", Some((22_272, CGGN))),
    ("sha512", Some((57_947, BRISTOL))),
    ("sha512-iv", None),
    ("keccak-f", Some((38_400, BRISTOL))),
];
