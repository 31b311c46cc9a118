//! What there is to know about private set intersection: a service, since it runs no program of the user's.

use comity_protocol::{Adversary, Card, CardKind, Corrupt, Takes};

/// The card of the service.
pub static CARD: Card = Card {
    name: "psi",
    kind: CardKind::Service,
    paper: "Rindal, Schoppmann: VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE (Eurocrypt 2021); Raghuraman, Rindal: Blazing Fast \
            PSI from Improved OKVS and Subfield VOLE (CCS 2022); Kolesnikov, Kumaresan, Rosulek, Trieu: Efficient Batched Oblivious \
            PRF with Applications to Private Set Intersection (CCS 2016); PRACTICE deliverable D13.3 (2016), chapter 5",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: comity_circuit::Goal::Size,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "which items two sets have in common (Rindal, Schoppmann 2021; Raghuraman, Rindal 2022; Kolesnikov, Kumaresan, Rosulek, \
              Trieu 2016; deliverable D13.3, chapter 5)",
    protects: "the receiver learns the size of the sender's set and which of its own items are in it, and what the sender gives \
               with these; the sender learns the size of the receiver's set; with the methods `vole` and `circuit` also against a party that \
               cheats, with the others against one that follows the protocol",
    risk: "nothing keeps a party from putting items into its set to see whether the other has them: keys that can be guessed are not \
           hidden; a receiver that cheats may have more items than it announced (with vole 1,470 \
           where it told 1,024 or fewer), a sender may leave some out",
    about: "Finds the common items of two sets of up to 2^28 items each, with the sender's columns beside them. Methods differ in bytes, \
            speed and what they withstand.",
};
