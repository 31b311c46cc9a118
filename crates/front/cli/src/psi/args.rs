//! The flags of `comity psi`.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::UnknownArgumentValueParser;
use clap::{Arg, ArgAction, Args, Subcommand, ValueEnum};
use comity::NetProfile;
use comity::psi::{MOST, Method};
use comity_table::{Duplicates, Key, TableShape};
use comity_terminal::failure::{Failure, Outcome};

use crate::args::{LinkArgs, NetworkArgs, duration, seconds};
use crate::flags::OutputTo;
use crate::storage::KeyArgs;

/// What the command is about.
pub(crate) const ABOUT: &str = "\
Find the rows that two tables have in common, and show nobody the others:
  alice$ comity psi alice.csv --key email:lower,trim --listen 127.0.0.1:7000 \\
             --out common.csv
  bob$   comity psi bob.csv --key mail:lower,trim --payload age,city \\
             --connect 127.0.0.1:7000

The side that names a file to write (--out) learns which of its rows the other has;
the other side learns how many rows there are. --output-to all is for both, and
takes two runs. Both sizes show, unless --pad-to hides one; what else shows is in
the report.
WARNING: whoever learns rows may put any key into its table. Keys that can be
guessed, such as phone numbers, are hidden by no private set intersection.

A key is a column, or several (--key first,last,born); each has its steps, which
make alike what means the same: nfc, lower (NFKC and case folding), trim, digits
(of phone numbers), integer (007 is 7), date (YYYY-MM-DD), hex, sha256 (where the
other side has only hashes, and says hex). Both sides say the same steps, in any
order: --key email:lower,trim. Several --key (by email, or else by phone) are
intersections each, and which rows match by which shows. Rows with an empty key
are left out; rows with the same key count once and come out all.

Formats: csv, tsv, json (an object a line), lines (a key a line, its column is
called key), parquet (in builds with that feature), as the name says or --format;
what is under gzip is found so. - is standard input or output.

Both read their tables before they meet: if one is much larger, the other one waits
with a longer --timeout.

--payload COLUMNS sends these columns beside the rows that are common. In a table
whose keys are not unique --duplicates says what is sent.

Without --method the default is the first that withstands a peer that cheats; one
against curious peers only runs if it is named: --method kkrt.
`comity psi plan` says what each costs, and sends nothing.

If one table is far larger than the other, its owner publishes it once and answers
queries: `comity psi publish --help`.";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PsiArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PsiCommand>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// A second table, which is the other side's
    #[arg(hide = true)]
    pub(crate) other: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) result: OutArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    /// Announce N keys to the other side, and fill the table up with dummies
    #[arg(long, value_name = "N")]
    pub(crate) pad_to: Option<Count>,
    /// The most keys that the other side may announce: memory is reserved for the number that it says
    #[arg(long, value_name = "N", default_value_t = Count(MOST))]
    pub(crate) most: Count,
    /// How long to wait for the other side
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// End the whole run after this time
    ///
    /// In seconds, or as in 90s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
    /// Say more on standard error: where time went
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum PsiCommand {
    /// Say what each method takes on this machine: time, bytes, memory. Nothing is sent
    Plan(PlanArgs),
    /// Publish a large table once, as a file for many clients that have few keys each
    #[command(after_help = PUBLISH)]
    Publish(PublishArgs),
    /// Add rows to what was published, and take rows out: a file for those that have the base
    Update(UpdateArgs),
    /// Answer clients' queries to what was published, one client after another
    #[command(after_help = SERVE)]
    Serve(PsiServeArgs),
    /// Find the rows that are in what another one published
    Query(QueryArgs),
    /// Do what can be done of queries before their keys are known, and keep it
    Prepare(PsiPrepareArgs),
}

/// The command with the names of all methods, and with flags that people look for and that are not there:
/// each says what is.
pub(crate) fn shaped(command: clap::Command) -> clap::Command {
    let names = Method::ALL.map(|method| method.name()).join(", ");
    let methods =
        format!("How the intersection is found: {names}; `auto` is the first that withstands a peer that cheats");
    let command = command.mut_arg("method", |arg| arg.help(methods));
    const NOT_YET: &str = "psi gives the common rows, and cannot give only their number or a sum: a program over the \
        two tables can, see the book's page \"With two tables\" (way-tables)";
    ["count", "cardinality", "sum"].into_iter().fold(command, |command, flag| {
        let parser = UnknownArgumentValueParser::suggest(NOT_YET);
        command.arg(Arg::new(flag).long(flag).hide(true).action(ArgAction::SetTrue).value_parser(parser))
    })
}

/// What publishing does and shows.
const PUBLISH: &str = "\
  owner$  comity psi publish big.csv --key email:lower --state S --out base.psi
  owner$  comity psi serve --state S --listen 127.0.0.1:7000
  client$ comity psi query small.csv --key mail:lower --base base.psi \\
              --connect 127.0.0.1:7000 --out common.csv

The base file is for every client. From it alone nobody learns more than the number
of its keys (--pad-to hides it) and the names of payload columns. S has the
key: whoever reads it can try all keys against the base. A table that is published
again gets a new key.

`comity psi update --state S --add new.csv --remove old.csv --out delta.psi` makes a
file that all clients need (--delta). A client that has once asked for a key sees in all
later updates whether it came or went, AND READS ITS COLUMNS if it comes later; publish
anew to end that. --max-keys bounds the keys of a base with all its updates, and
--max-queries the queries in its life: the length of masks follows from both, and what
goes beyond is refused.";

/// What a service promises.
const SERVE: &str = "\
Clients are served one after another; one that sends garbage or goes away ends its own
session. With --tls any key that is trusted in DIR is a client's (`comity key trust
DIR --party N FINGERPRINT`, with a number for each). What each client has asked is in
S/asked, on the disk before it is answered; an aborted query counts. After a session
that ended in misbehaviour (a check that failed, a message that does not decode) that
key is not served again: S/asked has that, too. All who come without a key are one
client, there as well. Never put back an old copy of S.

A client may ask for any key that it can think of: --client-queries bounds that. It
learns nothing on keys that it does not ask for, also if it cheats, unless clients are
trusted (--trust-clients). A service that cheats can answer with other values, and see
whether the client goes on.";

#[derive(Args, Debug)]
pub(crate) struct PublishArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// The folder for the key and what is counted; it is made
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Write the base to FILE
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The most queries of all clients together, in the life of the base
    #[arg(long, value_name = "N", default_value = "16384")]
    pub(crate) max_queries: Count,
    /// The most keys of the base and all of its updates [default: twice as many as it has]
    #[arg(long, value_name = "N")]
    pub(crate) max_keys: Option<Count>,
    /// Fill the base up to N keys with dummies
    #[arg(long, value_name = "N")]
    pub(crate) pad_to: Option<Count>,
    /// Bytes for the payload of each key, more than needed if updates may bring wider ones [default: as the
    /// widest takes]
    #[arg(long, value_name = "BYTES")]
    pub(crate) payload_width: Option<usize>,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct UpdateArgs {
    /// The folder that `publish` made
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// The rows that come
    #[arg(long, value_name = "FILE")]
    pub(crate) add: Option<PathBuf>,
    /// The rows that go: their keys count
    #[arg(long, value_name = "FILE")]
    pub(crate) remove: Option<PathBuf>,
    /// The key, as it was published
    #[arg(long, value_name = "COL[:STEPS][,COL2..]")]
    pub(crate) key: Vec<Key>,
    /// The columns that go beside rows, as they were published
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) payload: Vec<String>,
    /// What is sent of rows with the same key, as in `comity psi`
    #[arg(long, value_name = "HOW", default_value = "error")]
    pub(crate) duplicates: Duplicates,
    /// The tables' format [default: as the names say, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TableShape>,
    /// Write the update to FILE, which must not exist: clients may still need an update that was written there
    ///
    /// Without --add and --remove: write the update of a call that was broken off.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Fill up the keys that come and those that go to N each, with dummies
    ///
    /// The dummies that go are those of an earlier padding: of the base (`publish --pad-to`) or of an update.
    #[arg(long, value_name = "N")]
    pub(crate) pad_to: Option<Count>,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a client and a service meet.
#[derive(Args, Debug)]
pub(crate) struct MeetArgs {
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    /// Say more on standard error
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PsiServeArgs {
    /// The folder that `publish` made
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Wait for clients at this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: String,
    /// The most queries of each client, in the life of the base [default: those that the base has]
    #[arg(long, value_name = "N")]
    pub(crate) client_queries: Option<Count>,
    /// End a session that takes longer
    ///
    /// In seconds, or as in 90s, 5m, 2h; the wait for its client, up to --timeout, comes on top.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub(crate) deadline: Duration,
    /// End after this number of sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sessions: Option<u64>,
    /// Run the function under this protocol, such as ag, in place of a garbled circuit that can be prepared
    ///
    /// The protocol has to withstand parties that cheat, unless --trust-clients is given.
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
    /// Take a semi-honest --protocol: a client that breaks its rules can learn the key of the base, and with
    /// it all of the base
    #[arg(long, requires = "protocol")]
    pub(crate) trust_clients: bool,
    #[command(flatten)]
    pub(crate) meet: MeetArgs,
}

/// The base that a client asks about.
#[derive(Args, Debug)]
pub(crate) struct BaseArgs {
    /// The base, as `publish` wrote it
    #[arg(long, value_name = "FILE")]
    pub(crate) base: PathBuf,
    /// Its updates, in their order
    #[arg(long, value_name = "FILE")]
    pub(crate) delta: Vec<PathBuf>,
    /// Ask also if the service has updates that are not here: the answer is for the base as it is here
    #[arg(long)]
    pub(crate) stale: bool,
    /// The service's address
    #[arg(long, value_name = "ADDR")]
    pub(crate) connect: String,
    /// End the whole session after this time
    ///
    /// In seconds, or as in 90s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) result: OutArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
    /// Ask for N keys, and so hide how many the table has
    #[arg(long, value_name = "N")]
    pub(crate) pad_to: Option<Count>,
    /// Use up what `prepare` has put into this store
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) key_of_store: KeyArgs,
    /// The protocol that the service runs the function under, if it has named one
    #[arg(long, value_name = "NAME", conflicts_with = "store")]
    pub(crate) protocol: Option<String>,
    #[command(flatten)]
    pub(crate) meet: MeetArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PsiPrepareArgs {
    /// The number of keys to prepare for, rounded up to batches of 64
    #[arg(long, value_name = "N")]
    pub(crate) count: Count,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
    /// The store for it: 160 KiB a key
    #[arg(long, value_name = "DIR")]
    pub(crate) store: PathBuf,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) key_of_store: KeyArgs,
    #[command(flatten)]
    pub(crate) meet: MeetArgs,
}

/// A table, and what of it counts.
#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// The table; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The columns that rows are compared by, with steps for each; several are alternatives
    #[arg(long, value_name = "COL[:STEPS][,COL2..]")]
    pub(crate) key: Vec<Key>,
    /// Send these columns beside common rows
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) payload: Vec<String>,
    /// Of rows with the same key, send: none of them and fail (error), the first one's payload (first), up to
    /// K (list:K), the sums of integers (sum)
    #[arg(long, value_name = "HOW", default_value = "error")]
    pub(crate) duplicates: Duplicates,
    /// Rows with an empty key are left out, or an error
    #[arg(long, value_enum, default_value_t = Empty::Drop)]
    pub(crate) empty: Empty,
    /// The table's format: csv, tsv, json, lines, parquet [default: as the name says, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TableShape>,
    /// The character between fields of CSV
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<Delimiter>,
    /// The first line of CSV is a row, and columns are called 1, 2 and so on; the same holds for --out
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Quotes in CSV have no meaning
    #[arg(long)]
    pub(crate) no_quoting: bool,
}

impl TableArgs {
    /// The table.
    pub(crate) fn path(&self) -> Outcome<&Path> {
        self.file.as_deref().ok_or_else(|| Failure::input("which table? `comity psi FILE --key COLUMN ..`"))
    }
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Empty {
    /// Left out, and counted
    Drop,
    /// An error
    Error,
}

/// What comes out, and where.
#[derive(Args, Debug)]
pub(crate) struct OutArgs {
    /// Write the common rows to FILE, which appears only at success; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Who learns the common rows: a party, or `all` [default: who has --out]
    #[arg(long, value_name = "PARTY|all")]
    pub(crate) output_to: Option<OutputTo>,
    /// The format of --out [default: as the name says, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) out_format: Option<TableShape>,
    /// Write the rows that the other side does not have
    #[arg(long, conflicts_with_all = ["left", "flags_only"])]
    pub(crate) anti: bool,
    /// Write all rows, with a column `matched`
    #[arg(long, conflicts_with = "flags_only")]
    pub(crate) left: bool,
    /// Write only 1 or 0 for each row, in the table's order; a blank line counts as a row without a key
    #[arg(long)]
    pub(crate) flags_only: bool,
    /// Write rows in the order of the table, which is the default
    #[arg(long, conflicts_with = "sorted")]
    pub(crate) keep_order: bool,
    /// Write rows sorted by their first key; they are held in memory for that
    #[arg(long, conflicts_with = "flags_only")]
    pub(crate) sorted: bool,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MethodArgs {
    /// How the intersection is found
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// The adversary to withstand [default: malicious, where the method can]
    #[arg(long, value_enum)]
    pub(crate) adversary: Option<AdversaryArg>,
    /// The protocol below --method circuit
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
}

/// The adversary to withstand.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdversaryArg {
    /// A peer that keeps to the protocol
    SemiHonest,
    /// A peer that does what it likes
    Malicious,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The number of keys here, such as 1e6
    #[arg(long, value_name = "N")]
    pub(crate) mine: Count,
    /// The number of keys at the other side
    #[arg(long, value_name = "N")]
    pub(crate) theirs: Count,
    /// The network: lan, wan, or its round trip and bandwidth, such as 20ms,100mbit; one machine if nothing is said
    #[arg(long, value_name = "RTT,RATE")]
    pub(crate) net: Option<NetProfile>,
    /// Bytes of payload beside each common row
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) payload: usize,
    /// Print one JSON object for each method
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number of rows: `1000000` or `1e6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) usize);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        let whole = || {
            let (digits, zeros) = text.split_once(['e', 'E'])?;
            let number: usize = digits.parse().ok()?;
            number.checked_mul(10_usize.checked_pow(zeros.parse().ok()?)?)
        };
        let number = text.parse().ok().or_else(whole);
        number.map(Count).ok_or_else(|| format!("a number such as 1000000 or 1e6 is wanted, not `{text}`"))
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A byte between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiter(pub(crate) u8);

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Delimiter, String> {
        match text.as_bytes() {
            _ if ["\\t", "tab"].contains(&text) => Ok(Delimiter(b'\t')),
            [b'"' | b'\n' | b'\r'] => Err("a quote or a line break cannot be the delimiter".into()),
            &[byte] if byte.is_ascii() => Ok(Delimiter(byte)),
            _ => Err(format!("one ASCII character, or `tab`, is wanted, not `{text}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_grammars() {
        for (text, count) in [("1000", 1000), ("1e6", 1_000_000), ("25E3", 25_000), ("0", 0)] {
            assert_eq!(text.parse(), Ok(Count(count)));
        }
        for bad in ["", "-1", "1.5", "1e99", "1e", "e6", "1k"] {
            assert!(bad.parse::<Count>().is_err(), "{bad}");
        }
        assert_eq!(("tab".parse(), ";".parse()), (Ok(Delimiter(b'\t')), Ok(Delimiter(b';'))));
        assert!("\"".parse::<Delimiter>().is_err() && "ab".parse::<Delimiter>().is_err());
    }
}
