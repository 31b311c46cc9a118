//! Ciphers.

use super::Row;
use super::sources::{BRISTOL, NIST};

pub(super) const ROWS: &[Row] =
    &[("aes128", Some((6_400, NIST))), ("aes192", Some((7_168, BRISTOL))), ("aes256", Some((8_832, BRISTOL)))];
