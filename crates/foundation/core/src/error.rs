//! The one error type of every protocol.
//!
//! An error says what happened, where, and what to do: a [`Kind`], and the party whose doing it is where that
//! can be known. On the wire all aborts look alike: an error is for the party that meets it and is never sent
//! to a peer.
//!
//! The checks that a protocol names stand in the crate of its paper, each a [`Check`] in its module `checks`: a new one
//! changes nothing here.

use std::{fmt, io};

use crate::party::PartyId;

/// The result of an operation of a protocol.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The error that stopped a protocol, and the party that caused it.
#[derive(Debug)]
pub struct Error {
    /// The kind of error: what happened.
    pub kind: Kind,
    /// The party at the other end, or the one that caused the error; `None` if it is not known, or no other
    /// party is meant.
    pub party: Option<PartyId>,
}

/// The kind of error: what happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Kind {
    /// The operating system reported an error on the connection or file named.
    #[error("{context}: {source}")]
    Io {
        /// The action that failed, with the address.
        context: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The run was stopped on this side.
    #[error("the run was stopped")]
    Stopped,
    /// The run's time is over.
    #[error("{0}")]
    Deadline(String),
    /// Nothing arrived in time.
    #[error("time-out: {0}")]
    TimedOut(String),
    /// The connection was closed in the middle of the protocol.
    #[error("the peer closed the connection before the protocol ended")]
    Closed,
    /// The program at the other end does not speak comity.
    #[error("{0}")]
    Stranger(String),
    /// A message arrived that does not decode, or bytes were damaged on the way.
    #[error("malformed message: {0}")]
    Malformed(String),
    /// The protocol was broken in a way that a check of the protocol names.
    #[error("the peer misbehaved: {0}")]
    Misbehaved(&'static Check),
    /// The parties want different things.
    #[error("the parties disagree on the {field}: here {ours}, at the peer {theirs}")]
    Mismatch {
        /// The field of the hello.
        field: &'static str,
        /// The value of this side.
        ours: String,
        /// The value that the peer sent.
        theirs: String,
    },
    /// The caller's input does not fit the program, or flags do not fit together.
    #[error("{0}")]
    InvalidInput(String),
    /// Stored material cannot be read or written: a disk that refuses, a record that is damaged.
    #[error("{0}")]
    Store(String),
    /// The identity of the peer could not be established, or its bytes were changed on the way (TLS).
    #[error("{0}")]
    Untrusted(String),
}

/// A check that a paper names. [`checks!`](crate::checks) declares those of a crate.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    /// The crate whose check it is, without `comity_`.
    pub system: &'static str,
    /// The check's name there.
    pub name: &'static str,
    /// The text for people: what is wrong if the check fails.
    pub says: &'static str,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

/// Declares the checks of a crate: a constant each, and `ALL` with all of them.
///
/// ```
/// comity_core::checks! { "example";
///     /// The peer showed a bit whose MAC is not that of the bit.
///     WRONG_MAC = "a bit was shown with a wrong MAC";
/// }
/// let error = comity_core::Error::from(WRONG_MAC);
/// assert_eq!(error.check(), Some(WRONG_MAC));
/// assert_eq!(ALL, [WRONG_MAC]);
/// ```
#[macro_export]
macro_rules! checks {
    ($system:literal; $($(#[$doc:meta])+ $name:ident = $says:literal;)+) => {
        $($(#[$doc])+
        pub const $name: &$crate::Check =
            &$crate::Check { system: $system, name: stringify!($name), says: $says };)+

        /// The checks of this crate.
        pub const ALL: &[&$crate::Check] = &[$($name),+];
    };
}

impl Error {
    /// A [`Kind::Io`] that keeps time-outs and closed connections apart.
    pub fn io(context: impl Into<String>, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Error::closed(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::timed_out(context),
            _ => Error::system(context, source),
        }
    }

    /// A [`Kind::Io`], whatever the system reported.
    pub fn system(context: impl Into<String>, source: io::Error) -> Error {
        Kind::Io { context: context.into(), source }.into()
    }

    /// A [`Kind::TimedOut`].
    pub fn timed_out(what: impl Into<String>) -> Error {
        Kind::TimedOut(what.into()).into()
    }

    /// A [`Kind::Stopped`].
    pub fn stopped() -> Error {
        Kind::Stopped.into()
    }

    /// A [`Kind::Deadline`].
    pub fn deadline(why: impl Into<String>) -> Error {
        Kind::Deadline(why.into()).into()
    }

    /// A [`Kind::Closed`].
    pub fn closed() -> Error {
        Kind::Closed.into()
    }

    /// A [`Kind::Stranger`].
    pub fn stranger(who: impl Into<String>) -> Error {
        Kind::Stranger(who.into()).into()
    }

    /// A [`Kind::Malformed`].
    pub fn malformed(what: impl Into<String>) -> Error {
        Kind::Malformed(what.into()).into()
    }

    /// A [`Kind::Mismatch`].
    pub fn mismatch(field: &'static str, ours: impl Into<String>, theirs: impl Into<String>) -> Error {
        Kind::Mismatch { field, ours: ours.into(), theirs: theirs.into() }.into()
    }

    /// A [`Kind::InvalidInput`].
    pub fn invalid_input(why: impl Into<String>) -> Error {
        Kind::InvalidInput(why.into()).into()
    }

    /// A [`Kind::Store`].
    pub fn store(why: impl Into<String>) -> Error {
        Kind::Store(why.into()).into()
    }

    /// A [`Kind::Store`] that the system reported. No peer causes such errors, although errors of connections
    /// have the same names.
    pub fn disk(context: impl fmt::Display, source: io::Error) -> Error {
        Error::store(format!("{context}: {source}"))
    }

    /// A [`Kind::Untrusted`].
    pub fn untrusted(why: impl Into<String>) -> Error {
        Kind::Untrusted(why.into()).into()
    }

    /// The error as caused by this party, unless it has a party already. An error on this side stays without
    /// one.
    #[must_use]
    pub fn by(mut self, party: PartyId) -> Error {
        if !matches!(self.kind, Kind::InvalidInput(_) | Kind::Store(_) | Kind::Stopped | Kind::Deadline(_)) {
            self.party.get_or_insert(party);
        }
        self
    }

    /// The check that failed, if one did.
    pub fn check(&self) -> Option<&'static Check> {
        match self.kind {
            Kind::Misbehaved(check) => Some(check),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.kind)
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Error {
        Error { kind, party: None }
    }
}

impl From<&'static Check> for Error {
    fn from(check: &'static Check) -> Error {
        Kind::Misbehaved(check).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_party_that_is_named_stays() {
        let error = Error::closed().by(PartyId(3)).by(PartyId(1));
        assert_eq!(error.party, Some(PartyId(3)));
        for own in [Error::invalid_input("x"), Error::stopped(), Error::deadline("x")] {
            assert_eq!(own.by(PartyId(1)).party, None);
        }
    }

    #[test]
    fn a_disk_is_not_taken_for_a_connection() {
        use io::ErrorKind::{BrokenPipe, StorageFull, TimedOut, UnexpectedEof};
        for kind in [BrokenPipe, StorageFull, TimedOut, UnexpectedEof] {
            let error = Error::disk("storing a batch", kind.into()).by(PartyId(1));
            assert!(matches!(error.kind, Kind::Store(_)) && error.party.is_none(), "{error:?}");
            assert!(error.to_string().starts_with("storing a batch: "), "{error}");
        }
    }
}
