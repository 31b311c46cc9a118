//! Secure multi-party computation: the facade of the comity crates.
//!
//! Parties who do not trust each other compute on their joint data, and learn the answer and nothing else.
//! What is computed is a [`Program`]: built in ([`library`]), in comity's language ([`compile`]), in Rust
//! over [`typed`] values, or over the wires of a [`Builder`]. How it is computed is a [`Protocol`], and each
//! says what it protects against. A [`Session`] is one party's side of one run;
//! [`Interactive`](interactive::Interactive) one of a session without a program, in which inputs and outputs
//! come as they are wanted.
//!
//! Values go in and out by name and as Rust values: [`input`], [`Report::output`], [`Native`]; [`evaluate`]
//! computes in the clear. Circuits in files are read by [`mod@format`]; any [`Channel`] will do; keys are
//! made by [`KeyDir`].
//!
//! Beside protocols there are services: `ope` (a feature, on by default) has order-preserving encryption, for
//! one party and its database; [`nisc`] computes by mail; [`zk`] has proofs that one knows the secret inputs
//! of a program; [`psi`] finds the items that two sets have in common; [`pfe`] computes a function that stays
//! private. [`token`] is what makes triples where all trust it.

mod clock;
mod helper;
pub mod interactive;
mod intersect;
mod meet;
mod named;
mod native;
mod offline;
mod oprf;
mod plan;
mod protocol;
mod prove;
mod report;
mod route;
mod run;
#[cfg(feature = "serde")]
mod serial;
mod session;
mod shares;
mod watch;

pub use comity_channel::{Channel, Counter, NetProfile, PerPeer, RecvHalf, SendHalf, Traffic, duplex, memory};
pub use comity_circuit::{
    Builder, Circuit, FloatWidth, Goal, Observer, Owner, Program, ProgramBuilder, Recipients, Type, Wire, eval_circuit,
    eval_many,
};
pub use comity_core::{Backend, Bits, Error, Kind, Params, PartyId, Result};
pub use comity_format::{self as format, ValueShare, value};
pub use comity_language::{Diagnostic, Diagnostics, compile, compile_expression, compile_for, parse_type};
pub use comity_library::{self as library, typed};
pub use comity_net::{
    Digest, Fingerprint, Identity, KeyDir, Listener, Member, Now, PartyGroup, Stop, SystemRng, settle,
};
pub use comity_nisc as nisc;
#[cfg(feature = "ope")]
pub use comity_ope as ope;
pub use comity_pfe as pfe;
pub use comity_protocol::{Adversary, Card, Converted, Options, Outline, Outlined, Protocol};
pub use comity_psi as psi;
pub use comity_store::{Damaged, LotInfo, Meta, OnDisk, Store, StoreKey, Vault};
pub use comity_token as token;
pub use comity_zk as zk;
pub use helper::HELPER_READY;
pub use intersect::{Columns, Intersected, Intersection, Learnt};
pub use named::{evaluate, evaluate_watched, input};
pub use native::Native;
pub use oprf::{OprfAsk, OprfDesk, OprfDone, OprfRefusal, OprfServe};
pub use plan::RunCost;
pub use protocol::{
    PRIVATE_FUNCTIONS, PROTOCOLS, SERVICES, among, fits, in_place_of, named, preferred, preferred_reactive,
};
pub use report::{Filled, Report};
pub use session::Session;
pub use watch::{Supply, Watch};
