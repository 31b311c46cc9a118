//! Arrays.

use crate::library::registry::Entry;

pub(super) const ENTRIES: &[Entry] = &[];
