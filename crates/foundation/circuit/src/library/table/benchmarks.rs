//! The functions that papers measure.

use crate::library::registry::Entry;

pub(super) const ENTRIES: &[Entry] = &[];
