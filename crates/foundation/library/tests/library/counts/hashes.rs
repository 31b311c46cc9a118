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
    ("md5", None),
    ("md5-iv", Some((9_367, EPFL))),
    ("md5-1000", None),
    ("sha1-1000", None),
    ("sha256-1000", None),
    ("sha512-1000", None),
    ("sha3-224-1000", None),
    ("sha3-256-1000", None),
    ("sha3-384-1000", None),
    ("sha3-512-1000", None),
    ("shake128-1000x64", None),
    ("shake256-1000x64", None),
    ("hmac-sha256-32x32", None),
    ("hmac-sha512-64x64", None),
];
