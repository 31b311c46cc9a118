//! What goes wrong, in the words and exit codes that people script against.

use std::process::ExitCode;

use serde_json::json;

/// The kind of failure that ended a command. It decides the exit code and is a stable name in JSON. If there
/// are two failures of one session, the greater kind explains the smaller one: a peer closes the connection
/// because something else went wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The peer closed the connection (most often because something went wrong on its side).
    Closed,
    /// The run was stopped here.
    Stopped,
    /// Nothing came in time, or the run's time is over.
    Timeout,
    /// The network or the operating system refused.
    Network,
    /// The other end does not speak comity.
    Stranger,
    /// The peer's identity is not the one that this party trusts.
    Untrusted,
    /// Bytes from the peer do not decode.
    Malformed,
    /// A check of the protocol failed.
    Misbehaved,
    /// The store of material, or another file, cannot be read or written: the disk is full, or damaged.
    Store,
    /// The parties want different things.
    Mismatch,
    /// Values, files or programs that do not fit.
    Input,
    /// The command line itself.
    Usage,
    /// A defect of comity.
    Bug,
}

impl Ending {
    const ALL: [Ending; 13] = [
        Ending::Closed,
        Ending::Stopped,
        Ending::Timeout,
        Ending::Network,
        Ending::Stranger,
        Ending::Untrusted,
        Ending::Malformed,
        Ending::Misbehaved,
        Ending::Store,
        Ending::Mismatch,
        Ending::Input,
        Ending::Usage,
        Ending::Bug,
    ];

    /// The kind's name in `{"error": {"kind": …}}`.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Closed => "closed",
            Ending::Stopped => "stopped",
            Ending::Timeout => "timeout",
            Ending::Network => "network",
            Ending::Stranger => "stranger",
            Ending::Untrusted => "untrusted",
            Ending::Malformed => "malformed",
            Ending::Misbehaved => "misbehaved",
            Ending::Store => "store",
            Ending::Mismatch => "mismatch",
            Ending::Input => "input",
            Ending::Usage => "usage",
            Ending::Bug => "bug",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Ending> {
        Ending::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Ending::Usage | Ending::Input | Ending::Mismatch => 2,
            Ending::Closed
            | Ending::Timeout
            | Ending::Network
            | Ending::Stranger
            | Ending::Untrusted
            | Ending::Store => 3,
            Ending::Malformed | Ending::Misbehaved => 4,
            Ending::Stopped => 130,
            Ending::Bug => 70,
        }
    }
}

/// Why a command failed: what happened, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of thing that went wrong.
    pub kind: Ending,
    /// The message for people: what happened, where, and what to do.
    pub message: String,
    /// The party that caused it, if that is known.
    pub party: Option<u16>,
}

/// The result that a command returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: Ending, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), party: None }
    }

    /// A value, file or program that does not fit.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure::new(Ending::Input, message)
    }

    /// The failure of an operation on a file or a stream. If the file is missing or forbidden, it is the
    /// user's mistake; otherwise the disk is full or damaged.
    pub fn disk(what: &str, error: &std::io::Error) -> Failure {
        use std::io::ErrorKind::{
            AlreadyExists, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
        };
        let mistakes =
            [AlreadyExists, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem];
        let kind = if mistakes.contains(&error.kind()) { Ending::Input } else { Ending::Store };
        Failure::new(kind, format!("{what}: {error}"))
    }

    /// The same failure with the peer's address in front, unless the cause is on this side: a value, a file,
    /// a flag, a disk.
    pub fn with_peer(self, address: &str) -> Failure {
        if matches!(self.kind, Ending::Input | Ending::Usage | Ending::Store) { self } else { self.at(address) }
    }

    /// The same failure with the place where it happened in front, unless the message names it already.
    pub fn at(mut self, place: &str) -> Failure {
        if !self.message.contains(place) {
            self.message = format!("{place}: {}", self.message);
        }
        self
    }

    /// The same failure, with advice behind it.
    pub fn and(mut self, advice: &str) -> Failure {
        self.message = format!("{}. {advice}", self.message);
        self
    }

    /// The failure as `--json` prints it.
    pub fn to_json(&self) -> serde_json::Value {
        let mut error = json!({"kind": self.kind.name(), "message": self.message});
        if let Some(party) = self.party {
            error["party"] = party.into();
        }
        json!({ "error": error })
    }

    /// The exit code of its kind.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }
}

impl From<comity_core::Error> for Failure {
    fn from(error: comity_core::Error) -> Failure {
        use comity_core::Kind as Why;
        let kind = match &error.kind {
            Why::Io { .. } => Ending::Network,
            Why::TimedOut(_) | Why::Deadline(_) => Ending::Timeout,
            Why::Stopped => Ending::Stopped,
            Why::Closed => Ending::Closed,
            Why::Stranger(_) => Ending::Stranger,
            Why::Malformed(_) => Ending::Malformed,
            Why::Misbehaved(_) => Ending::Misbehaved,
            Why::Mismatch { .. } => Ending::Mismatch,
            Why::InvalidInput(_) => Ending::Input,
            Why::Store(_) => Ending::Store,
            Why::Untrusted(_) => Ending::Untrusted,
            _ => Ending::Bug,
        };
        Failure { kind, message: error.to_string(), party: error.party.map(|party| party.0) }
    }
}

#[cfg(feature = "postgres")]
impl From<comity_postgres::Error> for Failure {
    fn from(error: comity_postgres::Error) -> Failure {
        use comity_postgres::Error;
        let kind = match &error {
            Error::Connection(_) => Ending::Network,
            Error::Busy => Ending::Timeout,
            Error::Malformed(_) => Ending::Malformed,
            Error::Tampered { .. }
            | Error::Incomplete { .. }
            | Error::RowsChanged { .. }
            | Error::Disordered { .. }
            | Error::StateChanged
            | Error::RolledBack { .. } => Ending::Misbehaved,
            Error::Untrusted(_) => Ending::Untrusted,
            _ => Ending::Input,
        };
        Failure::new(kind, error.to_string())
    }
}

#[cfg(feature = "postgres")]
impl From<comity_ope::Error> for Failure {
    fn from(error: comity_ope::Error) -> Failure {
        Failure::input(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WRONG_COPY: comity_core::Check =
        comity_core::Check { system: "test", name: "WRONG_COPY", says: "a checked copy is wrong" };

    #[test]
    fn names_are_unique_and_found_again() {
        for kind in Ending::ALL {
            assert_eq!(Ending::named(kind.name()), Some(kind));
        }
        assert_eq!(Ending::named("else"), None);
    }

    #[test]
    fn protocol_errors_get_the_codes_of_the_contract() {
        use comity_core::Error;
        let code = |e: Error| Failure::from(e).kind.code();
        assert_eq!(code(Error::invalid_input("x")), 2);
        assert_eq!(code(Error::mismatch("program", "a", "b")), 2);
        assert_eq!(code(Error::closed()), 3);
        assert_eq!(code(Error::timed_out("x")), 3);
        assert_eq!(code(Error::deadline("x")), 3);
        assert_eq!(code(Error::stopped()), 130);
        assert_eq!(code(Error::untrusted("x")), 3);
        assert_eq!(code(Error::stranger("x")), 3);
        assert_eq!(code(Error::store("x")), 3);
        assert_eq!(code(Error::malformed("x")), 4);
        assert_eq!(code(Error::from(&WRONG_COPY)), 4);
        let named = Failure::from(Error::from(&WRONG_COPY).by(comity_core::PartyId(1)));
        assert!(named.message.contains("checked copy"), "the check is named: {}", named.message);
        assert_eq!(named.to_json()["error"]["party"], 1);
    }

    #[test]
    fn a_full_disk_is_nobodys_mistake() {
        use std::io::ErrorKind::{FileTooLarge, NotFound, PermissionDenied, StorageFull};
        let code = |kind: std::io::ErrorKind| Failure::disk("result.txt", &kind.into()).kind.code();
        assert_eq!([NotFound, PermissionDenied].map(code), [2, 2]);
        assert_eq!([StorageFull, FileTooLarge].map(code), [3, 3]);
        assert!(Failure::disk("result.txt", &StorageFull.into()).message.starts_with("result.txt: "));
    }

    #[test]
    fn a_place_is_named_once() {
        let failure = Failure::input("no such file").at("a.txt");
        assert_eq!(failure.message, "a.txt: no such file");
        assert_eq!(failure.clone().at("a.txt"), failure);
        assert_eq!(failure.clone().with_peer("127.0.0.1:7"), failure, "the address has nothing to do with it");
        let gone = Failure::new(Ending::Closed, "gone").with_peer("127.0.0.1:7");
        assert_eq!(gone.message, "127.0.0.1:7: gone");
    }
}
