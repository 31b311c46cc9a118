//! Arrays.

use super::Row;
use super::sources::{KSS, WMK};

pub(super) const ROWS: &[Row] = &[
    ("sort1024x32", Some((1_802_240, WMK))),
    ("sort4096x32", Some((10_223_616, WMK))),
    ("ssort1024x32", None),
    ("merge512x32", None),
    ("top10of1024x32", None),
    ("argmin1024x32", Some((66_497, KSS))),
    ("argmax1024x32", Some((66_497, KSS))),
    ("prefixsum1024x32", None),
    ("prefixmin1024x32", None),
    ("prefixmax1024x32", None),
    ("read1024x32", None),
    ("write1024x32", None),
    ("dedup1024x32", None),
    ("join1024x32x32", None),
];
