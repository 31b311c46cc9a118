//! Malicious two-party computation in a single execution, by cut-and-choose (Wang, Malozemoff, Katz, Eurocrypt 2017).

mod mac;
mod probe;
mod recovery;
