//! What there is to know about private function evaluation: a service, since it runs no program of the
//! user's, but a function inside one.

use comity_circuit::Goal;
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Takes};

/// The card of the service.
pub static CARD: Card = Card {
    name: "pfe",
    kind: CardKind::Service,
    paper: "PRACTICE deliverable D13.3 (2016), section 2.4; Valiant: Universal Circuits (STOC 1976); Liu, Yu, Zhao, Zhang, Liu: Pushing the \
            Limits of Valiant's Universal Circuits (CRYPTO 2021)",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "a function that only one party knows, of another party's input (Liu, Yu, Zhao, Zhang, Liu 2021)",
    protects: "nobody learns more of the function than the numbers of its inputs, outputs and gates, and its owner learns nothing of the input but \
               the outputs that it is to learn; against a party that cheats with a protocol that withstands it, which is the default",
    risk: "the owner may choose any function of that shape, also one that gives back the input: the owner of the input bounds \
           that by the number of outputs, by who learns them, and by the number of runs; an owner that makes public how often each wire is read shows much of the function",
    about: "The function becomes the input of a universal circuit, which any protocol computes: about 3 log2 n AND gates for each of the n inputs, \
            outputs and gates. `comity plan universalUxVxG` says what a shape costs.",
};
