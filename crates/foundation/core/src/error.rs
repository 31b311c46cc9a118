//! The one error type of every protocol.
//!
//! An error says what happened, where, and what to do. On the wire all aborts look alike: an error is for the
//! party that meets it and is never sent to the peer.

use std::io;

/// What a protocol returns.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why a protocol stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error on the connection named.
    #[error("{context}: {source}")]
    Io {
        /// What was being done, with the address.
        context: String,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing arrived in time.
    #[error("time-out: {0}")]
    TimedOut(String),
    /// The peer closed the connection in the middle of the protocol.
    #[error("the peer closed the connection before the protocol ended")]
    PeerClosed,
    /// A message arrived that does not decode, or bytes were damaged on the way.
    #[error("malformed message: {0}")]
    Malformed(String),
    /// The peer broke the protocol in a way that a check of the protocol names.
    #[error("the peer misbehaved: {0}")]
    PeerMisbehaved(Misbehaviour),
    /// The two sides want different things.
    #[error("the parties disagree on the {field}: here {ours}, at the peer {theirs}")]
    Mismatch {
        /// Which field of the hello.
        field: &'static str,
        /// What this side has.
        ours: String,
        /// What the peer sent.
        theirs: String,
    },
    /// The caller's input does not fit the program.
    #[error("{0}")]
    InvalidInput(String),
    /// The identity of the peer could not be established (TLS).
    #[error("{0}")]
    Untrusted(String),
}

/// A check that failed, each by its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// A message of base OT or of input recovery holds bytes that are no canonical group element.
    #[error("a point is not a canonical group element")]
    InvalidPoint,
    /// A message of base OT or of input recovery holds the identity element.
    #[error("a point is the identity")]
    IdentityPoint,
    /// The receiver of base OTs did not answer the sender's challenge, or the sender's opening of it is wrong.
    #[error("the challenge of base OT was not answered as an honest party would")]
    BaseOtChallenge,
    /// The receiver of an OT extension did not use the same choice bits everywhere.
    #[error("the consistency check of the OT extension failed: choice bits are not the same everywhere")]
    InconsistentChoices,
    /// Two rows of the receiver's matrix are equal, which honest rows never are.
    #[error("two rows of the OT extension's matrix are equal")]
    EqualRows,
    /// The sender of a committing OT opened another delta, or other seeds, than it used.
    #[error("the committing OT was opened to something else than was committed")]
    WrongOpening,
    /// A tree of seeds does not expand to what its maker vouched for.
    #[error("the consistency check of a tree of seeds failed")]
    InconsistentTree,
    /// The consistency check of a correlation generator failed.
    #[error("the consistency check of the correlation generator failed")]
    InconsistentCorrelation,
    /// The garbler's input labels of an evaluated copy do not open their commitment, or belong to another input than the one
    /// that was transferred.
    #[error("the garbler's input labels of a copy do not open their commitment")]
    InputOpening,
    /// The commitment to the garbler's input labels of a checked copy is not what the copy's seed gives.
    #[error("the commitment to the garbler's input labels of a checked copy is wrong")]
    InputCommitment,
    /// An input label of the evaluator in a checked copy is not what the copy's seed gives.
    #[error("an input label of the evaluator in a checked copy is wrong")]
    InputLabel,
    /// A garbled circuit of a checked copy is not what the copy's seed gives.
    #[error("a checked copy of the garbled circuit is wrong")]
    GarbledCircuit,
    /// Coded tables do not decode to what the garbler sent hashes of, or a stored copy is not that.
    #[error("the garbled circuits are not those whose hashes were sent")]
    CodedCircuit,
    /// The output table of an evaluated copy does not open its commitment.
    #[error("the output table of a copy does not open its commitment")]
    OutputOpening,
    /// The commitment to the output table of a checked copy is not what the copy's seed gives.
    #[error("the commitment to the output table of a checked copy is wrong")]
    OutputTable,
    /// The output labels that the garbler revealed are not those whose hashes it sent.
    #[error("the output labels that the garbler revealed are not those it was bound to")]
    OutputLabels,
    /// What a checked copy gives for the recovery of the garbler's input is not what its seed says.
    #[error("the input recovery of a checked copy is wrong")]
    InputRecovery,
    /// No evaluated copy gave a valid output label everywhere.
    #[error("no evaluated copy gave valid output labels")]
    NoValidCopy,
    /// Copies gave different outputs, and they do not tell one input of the garbler.
    #[error("the evaluated copies disagree, and the garbler's input cannot be told")]
    NoRecovery,
    /// The output that the evaluator passed on to the garbler does not carry the right tag.
    #[error("the output that the evaluator passed on is not the one computed")]
    OutputTag,
    /// Bits that the peer showed do not carry the MACs that they must have.
    #[error("a bit was shown with a wrong MAC")]
    WrongMac,
    /// The peer's seed of a common random string is not the one it committed to.
    #[error("a commitment of a coin toss was opened to something else")]
    CoinOpening,
    /// The comparison that ends a batch of leaky ANDs failed.
    #[error("the check of a batch of ANDs failed")]
    LeakyAnd,
    /// The comparison that ends a batch of leaky OTs failed.
    #[error("the check of a batch of OTs failed")]
    LeakyOt,
    /// The comparison that ends a batch of leaky authenticated bits failed.
    #[error("the check of a batch of authenticated bits failed: the bits are not the same everywhere")]
    LeakyBit,
    /// The answers to the input OTs of a checked circuit are not what the circuit's seed gives.
    #[error("the answers to the input OTs of a checked circuit are wrong")]
    TransferAnswer,
    /// The sender's input to an evaluated circuit is not shown to be the one that it committed to.
    #[error("the sender's input to an evaluated circuit is not shown equal to its input commitments")]
    InputEquality,
    /// The two output commitments of an output bit do not add up to the public key of the sender's input commitments.
    #[error("the output commitments do not add up to the key of the input commitments")]
    OutputCommitments,
    /// What opens the cheating recovery box of an evaluated circuit does not open it.
    #[error("the cheating recovery box of an evaluated circuit is not opened")]
    RecoveryOpening,
}

impl Error {
    /// An [`Error::Io`] that keeps time-outs and closed connections apart.
    pub fn io(context: impl Into<String>, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Error::PeerClosed,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::TimedOut(context.into()),
            _ => Error::Io { context: context.into(), source },
        }
    }
}

impl From<Misbehaviour> for Error {
    fn from(kind: Misbehaviour) -> Error {
        Error::PeerMisbehaved(kind)
    }
}
