//! Floating-point numbers.

use super::Row;

pub(super) const ROWS: &[Row] = &[];
