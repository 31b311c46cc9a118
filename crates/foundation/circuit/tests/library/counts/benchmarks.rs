//! The functions that papers measure.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
