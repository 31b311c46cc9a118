//! What there is to know about non-interactive computation: a service, since it runs no program among parties who meet.

use comity_circuit::Goal;
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Takes};

/// The card of the service.
pub static CARD: Card = Card {
    name: "nisc",
    kind: CardKind::Service,
    paper: "Afshar, Mohassel, Pinkas, Riva: Non-Interactive Secure Computation Based on Cut-and-Choose (Eurocrypt 2014)",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "one published query, one answer from anyone, files only (Afshar, Mohassel, Pinkas, Riva 2014)",
    protects: "a sender that cheats is refused or changes nothing, but with probability about 2^-rho for a whole batch of answers; \
               a publisher that cheats learns only the output of each answer",
    risk: "a second batch of answers to one query, with a copy of the key, has no such protection, nor has one whose verdicts \
           senders hear of; a sender could answer twice, and with an input chosen by results that it heard of",
    about: "Publish one message, and anyone answers it with one: no connection, only files, and only the publisher learns \
            outputs. Costs 32 bytes an AND gate and copy, coded about half of that, and takes rho + log2 Q copies for Q answers.",
};
