//! What there is to know about zero-knowledge proofs: a service, since it runs no program among parties who meet.

use comity_protocol::{Adversary, Card, CardKind, Corrupt, Takes};

/// The card of the service.
pub static CARD: Card = Card {
    name: "zk",
    kind: CardKind::Service,
    paper: "Giacomelli, Madsen, Orlandi: ZKBoo: Faster Zero-Knowledge for Boolean Circuits (USENIX Security 2016); Chase et al.: \
            Post-Quantum Zero-Knowledge and Signatures from Symmetric-Key Primitives (CCS 2017); Katz, Kolesnikov, \
            Wang: Improved Non-Interactive Zero Knowledge with Applications to Post-Quantum Signatures (CCS 2018); \
            Jawurek, Kerschbaum, Orlandi: Zero-Knowledge Using Garbled Circuits (CCS 2013); Yang, Sarkar, Weng, Wang: QuickSilver: \
            Efficient and Affordable Zero-Knowledge Proofs for Circuits and Polynomials over Any Field (CCS 2021); Baum et al.: Publicly Verifiable \
            Zero-Knowledge and Post-Quantum Signatures from VOLE-in-the-Head (CRYPTO 2023)",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Statement,
    reactive: false,
    goal: comity_circuit::Goal::Size,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "proofs that one knows inputs on which a program gives these outputs, in files or in \
              conversation (Giacomelli, Madsen, Orlandi 2016; Chase and others \
              2017; Katz, Kolesnikov, Wang 2018; Baum and others 2023)",
    protects: "a prover that knows no such inputs is refused, but with probability about q 2^-126 after q hashes (in conversation 2^-125, or what was \
               chosen); whoever sees the proof \
               learns nothing on the secret inputs but that they are such",
    risk: "a proof says that somebody knew the inputs, not who shows it: bind it to a purpose with a context; nothing is \
           proved about an output without an expected value",
    about: "Prove that you know the secret inputs of a program, without revealing them: the proof is a file that anybody checks, and \
            checks again, or a conversation that streams a bit and its OT an AND gate. Costs two bytes an AND gate (VOLE in the head); a bit an AND gate and round with ZKB++ (219 rounds), twice that with ZKBoo, a quarter with KKW18.",
};
