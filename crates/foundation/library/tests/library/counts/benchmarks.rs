//! The functions that papers measure.

use super::Row;
use super::sources::WMK;

pub(super) const ROWS: &[Row] = &[
    ("cmp16384", Some((16_383, WMK))),
    ("sum128", Some((127, WMK))),
    ("sum256", Some((255, WMK))),
    ("sum1024", Some((1_023, WMK))),
    ("mult128", Some((16_257, WMK))),
    ("mult256", Some((65_281, WMK))),
    ("mult1024", None),
    ("modexp256", None),
    ("modexp1024", Some((4_305_443_839, WMK))),
    ("modexp2048", None),
];
