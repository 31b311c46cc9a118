//! What there is to know about order-preserving encryption: a service, since it runs no program; its other
//! party is a database.

use comity_protocol::{Adversary, Card, CardKind, Corrupt, Goal, Takes};

/// The card of the service.
pub static CARD: Card = Card {
    name: "ope",
    kind: CardKind::Service,
    paper: "Lewi, Wu: Order-Revealing Encryption: New Constructions, Applications, and Lower Bounds (CCS 2016); Kerschbaum, Schröpfer: \
            Optimal Average-Complexity Ideal-Security Order-Preserving Encryption (CCS 2014); Kerschbaum: Frequency-Hiding \
            Order-Preserving Encryption (CCS 2015)",
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "ranges of encrypted columns of PostgreSQL, whose order leaks (Lewi, Wu 2016; Kerschbaum, Schröpfer 2014; Kerschbaum \
              2015)",
    protects: "a curious database, or a thief of its copy, reads no value: it sees the order of all values (`ideal`, with which are \
               equal; `frequency-hiding`), or how they compare to the ends of each query (`left-right`, with the first byte that \
               differs); a value or code that it changes, swaps or moves is refused when it is read, and a table put back to an older \
               state is refused by a client that kept its cache",
    risk: "order leaks by design, and order alone can give values away (`comity ope leakage` says how many); NULL, the number of rows, \
           and which rows an answer has show always; a database that lies could leave rows out of an answer, or put single rows back, \
           unseen but by a check of the whole table (`comity ope status --full`)",
    about: "Ask a database for ranges of a column that it cannot read. With `left-right`, the default, a stolen copy shows no order, and \
            each query reads every row; `ideal` and `frequency-hiding` show the order for ever, and take an index.",
};
