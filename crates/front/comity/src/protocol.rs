//! The list: every protocol that a session can run, and every service. All else about them stands on their cards.

use comity_core::{Error, Result};
use comity_protocol::{Card, Protocol};

/// Every protocol there is; the first one is the default.
pub static PROTOCOLS: &[&dyn Protocol] = &[&comity_cutchoose::CutChoose, &comity_tinyot::TinyOt, &comity_yao::Yao];

/// The services: they run no program on an engine, and each has a command of its own.
pub static SERVICES: &[&Card] = &[
    &comity_nisc::CARD,
    #[cfg(feature = "ope")]
    &comity_ope::CARD,
];

/// The protocol of this name.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind), with the names that there are.
pub fn named(name: &str) -> Result<&'static dyn Protocol> {
    among(PROTOCOLS, name)
}

/// The protocol of this name among these.
///
/// # Errors
/// As [`named`].
pub fn among(protocols: &'static [&'static dyn Protocol], name: &str) -> Result<&'static dyn Protocol> {
    protocols.iter().copied().find(|p| p.card().name == name).ok_or_else(|| {
        let names: Vec<&str> = protocols.iter().map(|p| p.card().name).collect();
        Error::invalid_input(format!("there is no protocol `{name}`; there is: {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use comity_protocol::Adversary;

    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for protocol in PROTOCOLS {
            assert!(std::ptr::eq(named(protocol.card().name).unwrap().card(), protocol.card()));
        }
        let cards = PROTOCOLS.iter().map(|p| p.card()).chain(SERVICES.iter().copied());
        let mut names: Vec<&str> = cards.map(|card| card.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        let error = named("yoa").err().unwrap().to_string();
        assert!(error.contains("yoa") && error.contains("yao"), "{error}");
    }

    #[test]
    fn nobody_falls_into_a_semi_honest_protocol() {
        assert_eq!(PROTOCOLS[0].card().adversary, Adversary::Malicious);
    }
}
