//! Results as JSON, for scripts.

use serde::Serialize;

/// One object on one line.
///
/// # Panics
/// If the object has maps whose keys are no strings.
pub fn to_line(object: &impl Serialize) -> String {
    let mut text = serde_json::to_string(object).expect("reports have string keys");
    text.push('\n');
    text
}
