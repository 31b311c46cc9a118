//! What there is to know about non-interactive computation: a service, since it runs no program among parties who meet.

use comity_protocol::{Adversary, Card, Corrupt, Kind, Takes};

/// The card of the service.
pub static CARD: Card = Card {
    name: "nisc",
    kind: Kind::Service,
    paper: "Afshar, Mohassel, Pinkas, Riva: Non-Interactive Secure Computation Based on Cut-and-Choose (Eurocrypt 2014)",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "one published query, one answer from anyone, files only (Afshar, Mohassel, Pinkas, Riva 2014)",
    protects: "a sender that cheats is caught or changes nothing, but for one guess in 2^t - 1 of t copies; a publisher learns \
               only the output of each answer",
    risk: "a publisher could learn the output at more of its own inputs only with more queries; whether an answer opened is \
           told to nobody by the protocol",
    about: "Publish one message, and anyone answers it with one: no connection, only files. The receiver learns the output.",
};
