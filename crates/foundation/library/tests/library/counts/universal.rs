//! Universal circuits. The smallest known one computes AES-128 of a file of 31,924 gates, in which 14,539
//! copy: its switches by the published recurrence, before any is left out, and three ANDs for each gate and
//! one for each output.

use super::Row;

pub(super) const ROWS: &[Row] = &[
    ("universal16x8x100", None),
    ("universal1024x1x10000", None),
    ("universal256x128x46463", None),
    ("valiant16x8x100", None),
    ("valiantfour16x8x100", None),
    ("hybrid16x8x100", None),
    ("direct16x8x100", None),
];
