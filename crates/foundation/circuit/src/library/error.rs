//! Why a name gives no circuit.

/// Why a name gives no built-in circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// No built-in has this name.
    #[error("there is no built-in circuit `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names that are almost the same, the nearest first.
        nearest: Vec<String>,
    },
    /// The number in the name is zero or too large.
    #[error("`{name}`: N in `{pattern}` is from 1 to {largest}")]
    Width {
        /// The name that was asked for.
        name: String,
        /// The pattern that it follows.
        pattern: &'static str,
        /// The largest N.
        largest: usize,
    },
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", quoted.join(" or "))
}
