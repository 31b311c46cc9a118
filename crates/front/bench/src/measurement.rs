//! `Measurement`: an object of `--json`. Its keys are names that people script against.

use serde::Serialize;

/// One measurement of `comity bench`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Measurement {
    /// The name: stable, dotted, lower case: `garble.half_gates.aes128`.
    pub(crate) name: String,
    /// The value: the median of the runs.
    pub(crate) value: f64,
    /// The unit: `and/s`, `bytes/s`, `s`, …
    pub(crate) unit: String,
    /// The most that the machine could do, in the same unit, measured in the same run.
    pub(crate) ceiling: Option<f64>,
    /// The ratio of `value` to `ceiling`.
    pub(crate) share: Option<f64>,
    /// The number of runs.
    pub(crate) runs: u32,
    /// The smallest of the runs.
    pub(crate) min: f64,
    /// The largest of the runs.
    pub(crate) max: f64,
}
