//! Semi-honest two-party computation by garbled circuits.
