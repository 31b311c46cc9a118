//! What a level of security means.

/// The chance that a cheat is not seen, for people: `security` is minus log2 of that.
pub(super) fn unseen(security: f64) -> String {
    if security <= 0.0 {
        return "a cheat can always be unseen: there is no protection".to_owned();
    }
    let bits = format!("{security:.1}");
    format!("a cheat is unseen with probability 2^-{}", bits.trim_end_matches(".0"))
}
