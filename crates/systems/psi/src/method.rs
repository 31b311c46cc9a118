//! The methods, a card for each.

use comity_core::{Error, Result};
use comity_protocol::Adversary;

/// A protocol for private set intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// An oblivious key-value store and vector OLE.
    Vole,
    /// An OPRF for each bin of a cuckoo table.
    Kkrt,
    /// As `Kkrt`, by 1-out-of-N OT with a BCH code: D13.3, Protocol 6.
    OtBch,
    /// An OT for each digit of each bin.
    Phasing,
    /// Bins compared by a circuit.
    Circuit,
    /// A circuit for each item of the receiver: D13.3, section 5.2.1.
    OprfAes,
}

/// The description of a method.
#[derive(Debug)]
pub struct MethodCard {
    /// The name in flags, reports and the hello.
    pub name: &'static str,
    /// The paper that the method comes from.
    pub paper: &'static str,
    /// The adversaries that the method can be run against; none if it is not implemented yet. A method that
    /// runs over a general protocol withstands what that protocol does.
    pub adversaries: &'static [Adversary],
    /// Whether the sender's payload can go to the receiver.
    pub payload: bool,
    /// Whether it runs over a general protocol, which has to be [named](crate::Terms::over).
    pub over: bool,
    /// What the method is, in one line.
    pub summary: &'static str,
    /// What it costs and when to take it.
    pub about: &'static str,
}

static CARDS: [MethodCard; 6] = [
    MethodCard {
        name: "vole",
        paper: "Rindal, Schoppmann: VOLE-PSI (Eurocrypt 2021, ePrint 2021/266); Raghuraman, Rindal: Blazing Fast PSI from \
                Improved OKVS and Subfield VOLE (CCS 2022, ePrint 2022/320)",
        adversaries: &[Adversary::SemiHonest, Adversary::Malicious],
        payload: true,
        over: false,
        summary: "an oblivious key-value store over vector OLE",
        about: "The fewest bytes, about 29 an item, and the only one against parties that cheat.",
    },
    MethodCard {
        name: "kkrt",
        paper: "Kolesnikov, Kumaresan, Rosulek, Trieu: Efficient Batched Oblivious PRF with Applications to Private Set \
                Intersection (CCS 2016, ePrint 2016/799)",
        adversaries: &[Adversary::SemiHonest],
        payload: true,
        over: false,
        summary: "an oblivious PRF for each bin of a cuckoo table",
        about: "81 bytes for each item of the receiver, 24 for each of the sender: for fast links.",
    },
    MethodCard {
        name: "ot-bch",
        paper: "PRACTICE deliverable D13.3 (2016), section 5.2.2, Protocol 6; Pinkas, Schneider, Zohner: Scalable Private Set \
                Intersection Based on OT Extension (ACM TOPS 2018, ePrint 2016/930)",
        adversaries: &[Adversary::SemiHonest],
        payload: true,
        over: false,
        summary: "1-out-of-N OT with a BCH code for each bin of a cuckoo table",
        about: "As kkrt, with a code whose distance is proven and not only likely.",
    },
    MethodCard {
        name: "phasing",
        paper: "PRACTICE deliverable D13.3 (2016), section 5.1; Pinkas, Schneider, Segev, Zohner: Phasing: Private Set Intersection \
                Using Permutation-based Hashing (USENIX Security 2015, ePrint 2015/634)",
        adversaries: &[Adversary::SemiHonest],
        payload: true,
        over: false,
        summary: "1-out-of-256 OT for each digit of permutation-hashed items",
        about: "For the record: ot-bch does the same with an eighth of the bytes.",
    },
    MethodCard {
        name: "circuit",
        paper: "PRACTICE deliverable D13.3 (2016), section 5.1; Pinkas, Schneider, Segev, Zohner: Phasing: Private Set Intersection \
                Using Permutation-based Hashing (USENIX Security 2015, ePrint 2015/634)",
        adversaries: &[Adversary::SemiHonest, Adversary::Malicious],
        payload: false,
        over: true,
        summary: "bins of permutation-hashed items compared by a circuit",
        about: "Runs under every general protocol, also those against parties that cheat; for sets up to about 2^14.",
    },
    MethodCard {
        name: "oprf-aes",
        paper: "PRACTICE deliverable D13.3 (2016), section 5.2.1; Kiss, Liu, Schneider, Asokan, Pinkas: Private Set Intersection for \
                Unequal Set Sizes with Mobile Applications (PoPETs 2017, ePrint 2017/670)",
        adversaries: &[Adversary::SemiHonest],
        payload: true,
        over: false,
        summary: "an oblivious AES for each item of the receiver, by garbled circuits",
        about: "160 KiB for each item of the receiver, 8 bytes for each of the sender; with a base file the sender's part is sent once, and \
                the receiver's before its items are known.",
    },
];

impl Method {
    /// All methods.
    pub const ALL: [Method; 6] =
        [Method::Vole, Method::Kkrt, Method::OtBch, Method::Phasing, Method::Circuit, Method::OprfAes];

    /// The card of the method.
    pub fn card(self) -> &'static MethodCard {
        &CARDS[self as usize]
    }

    /// The name of the method.
    pub fn name(self) -> &'static str {
        self.card().name
    }

    /// The method of this name.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), with the names of all methods.
    pub fn named(name: &str) -> Result<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names = Method::ALL.map(Method::name).join(", ");
            Error::invalid_input(format!("there is no method `{name}` of private set intersection; there is: {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_has_its_card() {
        for (at, method) in Method::ALL.into_iter().enumerate() {
            assert_eq!(method as usize, at);
            assert_eq!(Method::named(method.name()).unwrap(), method);
        }
        assert!(Method::named("dh").unwrap_err().to_string().contains("ot-bch"));
    }
}
