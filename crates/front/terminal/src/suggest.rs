//! "Did you mean …?" for names that are almost right.

use strsim::damerau_levenshtein;

/// The candidate nearest to `name`, if it is near enough for `name` to be a typing error.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .min()
        .filter(|&(d, _)| d <= name.chars().count() / 3)
        .map(|(_, candidate)| candidate)
}

/// A sentence that suggests the nearest candidate, or an empty text.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["aes128", "aes256", "sha256", "add64"];
        assert_eq!(nearest("aes-128", names), Some("aes128"));
        assert_eq!(nearest("SHA256", names), Some("sha256"));
        assert_eq!(nearest("keccak", names), None);
        assert_eq!(nearest("kye", ["key", "block"]), Some("key"));
        assert_eq!(nearest("x", ["a", "b"]), None);
        assert_eq!(nearest("foo", ["dot", "for", "sort"]), Some("for"));
        assert_eq!(nearest("bid", ["max", "sum", "item"]), None);
        assert_eq!(nearest("gmw2", ["bmr", "gmw", "yao"]), Some("gmw"));
        assert_eq!(did_you_mean("ad64", names), "; did you mean `add64`?");
    }
}
