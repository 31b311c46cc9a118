//! The flags of `comity psi`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use comity_table::{Duplicates, Key, TableShape};

use crate::args::{NetworkArgs, seconds};
use crate::flags::OutputTo;

/// What the command is about.
pub(crate) const ABOUT: &str = "\
Find the rows that two tables have in common, and show nobody the others:
  alice$ comity psi alice.csv --key email:lower,trim --listen 127.0.0.1:7000 \\
             --out common.csv
  bob$   comity psi bob.csv --key mail:lower,trim --payload age,city \\
             --connect 127.0.0.1:7000

Who names a file to write (--out) learns which of its rows the other one has, too;
the other one learns how many rows there are. --output-to all is for both, and
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
`comity psi plan` says what each costs, and sends nothing.";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PsiArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PsiCommand>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) result: OutArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    /// Tell the other side that the table has N keys: dummies make up for it
    #[arg(long, value_name = "N")]
    pub(crate) pad_to: Option<Count>,
    /// How long to wait for the other side
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Say more on standard error: where time went
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum PsiCommand {
    /// Say what each method takes on this machine: time, bytes, memory. Nothing is sent
    Plan(PlanArgs),
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
    /// Of rows with the same key, send: none of them and fail (error), the first one's payload (first), up to K (list:K), the
    /// sums of integers (sum)
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
    /// Write the rows that the other side has not
    #[arg(long, conflicts_with_all = ["left", "flags_only"])]
    pub(crate) anti: bool,
    /// Write all rows, with a column `matched`
    #[arg(long, conflicts_with = "flags_only")]
    pub(crate) left: bool,
    /// Write only 1 or 0 for each row, in the table's order
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
    /// How the intersection is found: vole, kkrt, ot-bch, phasing, circuit; `auto` is the first that withstands a peer that cheats
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// Whom to withstand [default: malicious, where the method can]
    #[arg(long, value_enum)]
    pub(crate) adversary: Option<AdversaryArg>,
    /// The protocol below --method circuit
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
}

/// Whom to withstand.
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
    /// The network, such as 100Mbit/s,20ms; one machine if nothing is said
    #[arg(long, value_name = "RATE,RTT")]
    pub(crate) net: Option<Net>,
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

/// A byte between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiter(pub(crate) u8);

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Delimiter, String> {
        match text.as_bytes() {
            _ if ["\\t", "tab"].contains(&text) => Ok(Delimiter(b'\t')),
            [b'"' | b'\n' | b'\r'] => Err("a quote or the end of a line is no delimiter".into()),
            &[byte] if byte.is_ascii() => Ok(Delimiter(byte)),
            _ => Err(format!("one ASCII character, or `tab`, is wanted, not `{text}`")),
        }
    }
}

/// What a link carries: bytes a second, and seconds there and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Net {
    pub(crate) rate: f64,
    pub(crate) round_trip: f64,
}

impl FromStr for Net {
    type Err = String;

    fn from_str(text: &str) -> Result<Net, String> {
        let wrong = || format!("a rate and a round trip are wanted, such as 100Mbit/s,20ms, not `{text}`");
        let (rate, trip) = text.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str, unit: &str| -> Option<f64> {
            text.strip_suffix(unit)?.trim().parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)
        };
        let bits = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)];
        let rate = bits.iter().find_map(|(unit, scale)| Some(number(rate, unit)? * scale / 8.0));
        let trip =
            [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)].iter().find_map(|(unit, scale)| Some(number(trip, unit)? * scale));
        Ok(Net { rate: rate.ok_or_else(wrong)?, round_trip: trip.ok_or_else(wrong)? })
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
        assert_eq!("100Mbit/s,20ms".parse(), Ok(Net { rate: 12.5e6, round_trip: 0.02 }));
        assert_eq!("1Gbit/s,500us".parse(), Ok(Net { rate: 125e6, round_trip: 5e-4 }));
        for bad in ["", "100Mbit/s", "100,20", "0Mbit/s,1ms", "1Mbit/s,-1ms", "infGbit/s,1s"] {
            assert!(bad.parse::<Net>().is_err(), "{bad}");
        }
        assert_eq!(("tab".parse(), ";".parse()), (Ok(Delimiter(b'\t')), Ok(Delimiter(b';'))));
        assert!("\"".parse::<Delimiter>().is_err() && "ab".parse::<Delimiter>().is_err());
    }
}
