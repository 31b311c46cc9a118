//! The list: every protocol that a session can run, and every service. All else about them stands on their
//! cards.

use comity_circuit::Program;
use comity_core::{Error, PartyId, Result};
use comity_protocol::{Adversary, Card, Options, Protocol, Takes};

use crate::shares::Form;

/// All protocols. The default is the first that [`preferred`] accepts.
pub static PROTOCOLS: &[&dyn Protocol] = &[
    &comity_cutchoose::CutChoose,
    &comity_ag::Ag,
    &comity_bmr::Bmr,
    &comity_tinyot::TinyOt,
    &comity_spdz::Spdz,
    &comity_bmr::SpdzBmr,
    &comity_yao::Yao,
    &comity_gmw::Gmw,
    &comity_token::GmwToken,
    &comity_tinytable::TinyTable,
    &comity_tinytable::TinyTableSemiHonest,
    &comity_arith::Arith,
    &comity_mixed::Mixed,
];

/// The protocols for private functions. They run only the programs of [`pfe`](comity_pfe), so they are not on
/// the list above and never chosen by default; [`Session::with`](crate::Session::with) takes them.
pub static PRIVATE_FUNCTIONS: &[&dyn Protocol] = &[&comity_pfe::YaoPfe, &comity_pfe::PFE_OT, &comity_pfe::PFE_LINEAR];

/// The protocol for private functions that runs [universal programs](comity_library::universal) under this
/// name: its own, or that of the protocol that it replaces. It computes the same as that one, and makes use
/// of the fact that the owner of the function knows it.
pub fn in_place_of(name: &str) -> Option<&'static dyn Protocol> {
    let names = [comity_yao::Yao.card().name, comity_pfe::YaoPfe.card().name];
    names.contains(&name).then_some(&comity_pfe::YaoPfe)
}

/// The services: they run no program on an engine, and each has a command of its own.
pub static SERVICES: &[&Card] = &[
    &comity_nisc::CARD,
    #[cfg(feature = "ope")]
    &comity_ope::CARD,
    &comity_zk::CARD,
    &comity_psi::CARD,
    &comity_pfe::CARD,
];

/// The protocol of this name.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind), with the names of all protocols.
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

/// The default protocol: the first of these for `parties` parties that runs any program and withstands
/// malicious parties. A semi-honest protocol is never run unless it is named.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) names the protocols that this program could be run with.
pub fn preferred(
    protocols: &'static [&'static dyn Protocol],
    parties: u16,
    program: Option<&Program>,
) -> Result<&'static dyn Protocol> {
    first(protocols, parties, |_| true).ok_or_else(|| {
        let instead = instead(protocols, parties, program);
        Error::invalid_input(format!(
            "no malicious protocol here is for {parties} parties, and a semi-honest one runs only if it is named: \
                {instead}"
        ))
    })
}

/// As [`preferred`], for a session by hand.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind).
pub fn preferred_reactive(protocols: &'static [&'static dyn Protocol], parties: u16) -> Result<&'static dyn Protocol> {
    first(protocols, parties, |card| card.reactive)
        .ok_or_else(|| Error::invalid_input(format!("no protocol here runs a session by hand among {parties} parties")))
}

/// The first that is fit to be a default.
fn first(
    protocols: &'static [&'static dyn Protocol],
    parties: u16,
    also: impl Fn(&Card) -> bool,
) -> Option<&'static dyn Protocol> {
    protocols.iter().copied().find(|protocol| {
        let card = protocol.card();
        card.adversary == Adversary::Malicious && card.takes.is_any() && card.parties.contains(&parties) && also(card)
    })
}

/// Checks that `parties` parties can run this program with the protocol of this card, as far as the card
/// says.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) names the value or the number that does not fit, and those of
/// `protocols` that would fit.
pub fn fits(
    protocols: &'static [&'static dyn Protocol],
    card: &'static Card,
    parties: u16,
    program: Option<&Program>,
) -> Result<()> {
    let there = |error: Error| Error::invalid_input(format!("{error}; {}", instead(protocols, parties, program)));
    card.fits_parties(parties).map_err(there)?;
    let Some(program) = program else { return Ok(()) };
    let most = program.parties();
    let form = Form::of(program, card, parties)?;
    card.fits(parties, form.program()).map_err(|error| match most > parties {
        true if card.parties.contains(&most) => {
            Error::invalid_input(format!("{error}; the program has {most} parties"))
        }
        true => Error::invalid_input(format!("{error}; {}", instead(protocols, most, Some(program)))),
        false => error,
    })
}

/// Options of a protocol, as party `me` says them. If the protocol does not have an option, the error says
/// which protocol has it, and what the option does there: one that takes the value, if there is one.
pub(crate) fn set<'a, S: AsRef<str> + 'a>(
    protocols: &[&'static dyn Protocol],
    card: &'static Card,
    me: PartyId,
    said: impl IntoIterator<Item = &'a (S, S)>,
) -> Result<Options> {
    let mut options = Options::new(card);
    for (name, value) in said {
        let (name, value) = (name.as_ref(), value.as_ref());
        options.set(me, name, value).map_err(|error| {
            let others = || protocols.iter().map(|other| other.card()).filter(|other| other.option(name).is_some());
            let other =
                others().find(|other| Options::new(other).set(me, name, value).is_ok()).or_else(|| others().next());
            match (card.option(name), other.and_then(|other| Some((other.name, other.option(name)?)))) {
                (None, Some((other, option))) => {
                    Error::invalid_input(format!("{error}. Of {other} it is: {}", option.about))
                }
                _ => error,
            }
        })?;
    }
    Ok(options)
}

/// The protocols for `parties` parties, in words.
fn instead(protocols: &[&'static dyn Protocol], parties: u16, program: Option<&Program>) -> String {
    let takes = |card: &Card| match card.takes {
        Takes::Any | Takes::Shares => true,
        Takes::NoAnds | Takes::Statement => program.is_none_or(|program| program.and_gates() == 0),
        // Only the protocol itself knows.
        Takes::Words => program.is_none(),
    };
    let cards = protocols.iter().map(|protocol| protocol.card());
    let would_do: Vec<String> = cards
        .filter(|card| card.parties.contains(&parties) && takes(card))
        .map(|card| format!("--protocol {} ({})", card.name, card.adversary))
        .collect();
    match &would_do[..] {
        [] => format!("no protocol here is for {parties} parties"),
        all => format!("for {parties} parties there is {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for protocol in PROTOCOLS {
            assert!(std::ptr::eq(named(protocol.card().name).unwrap().card(), protocol.card()));
        }
        let protocols = PROTOCOLS.iter().chain(PRIVATE_FUNCTIONS);
        let cards = protocols.map(|p| p.card()).chain(SERVICES.iter().copied());
        let mut names: Vec<&str> = cards.map(|card| card.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        let error = named("yoa").err().unwrap().to_string();
        assert!(error.contains("yoa") && error.contains("yao"), "{error}");
    }

    #[test]
    fn nobody_falls_into_a_semi_honest_protocol() {
        assert_eq!(preferred(PROTOCOLS, 2, None).unwrap().card().name, PROTOCOLS[0].card().name);
        for parties in 0..=64 {
            if let Ok(protocol) = preferred(PROTOCOLS, parties, None) {
                assert_eq!(protocol.card().adversary, Adversary::Malicious, "{parties}");
            }
        }
        static CURIOUS: &[&dyn Protocol] = &[&comity_yao::Yao, &comity_sum::Sum];
        let why = |parties| preferred(CURIOUS, parties, None).err().unwrap().to_string();
        assert!(
            why(2).contains(
                "runs only if it is named: for 2 parties there is --protocol yao (semi-honest), --protocol sum \
                    (semi-honest)"
            ),
            "{}",
            why(2)
        );
        assert!(why(3).ends_with("for 3 parties there is --protocol sum (semi-honest)"), "{}", why(3));
        assert!(why(65).contains("no protocol here is for 65 parties"));
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_would_do() {
        static LIST: &[&dyn Protocol] = &[&comity_yao::Yao, &comity_sum::Sum];
        let compile = |text: &str| comity_language::compile("p", text).unwrap();
        let why = |program: &Program, parties| {
            fits(LIST, comity_yao::Yao.card(), parties, Some(program)).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let xor = compile("parties a, b, c;\nfn main(x: u8 from a, y: u8 from c) -> u8 { x ^ y }");
        let and = compile("parties a, b, c;\nfn main(x: u8 from a, y: u8 from b) -> u8 { x & y }");
        assert!(
            why(&xor, 3).contains("two parties, and there are 3; for 3 parties there is --protocol sum"),
            "{}",
            why(&xor, 3)
        );
        assert!(why(&and, 3).ends_with("no protocol here is for 3 parties"), "{}", why(&and, 3));
        assert!(why(&xor, 2).contains("`y` belongs to party 2") && why(&xor, 2).contains("--protocol sum"));
        // A party that has a name and nothing to do may be absent.
        assert_eq!(why(&and, 2), "");
    }
}
