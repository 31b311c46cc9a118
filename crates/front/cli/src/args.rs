//! Flags that several commands have, and what their help says of programs and stores.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use comity::Session;
use comity_circuit::Goal;
use comity_terminal::failure::Outcome;

use crate::backend::backend;
use crate::flags::{Assigned, BitOrder, OutputTo, Owner, Peer, Who};
use crate::list::List;

/// What a program and a value may be. (A macro, so that it can stand before more.)
macro_rules! programs {
    () => {
        "\
PROGRAM is a built-in name (`comity circuit list`), a file in comity's language
(.cty), or a circuit file: Bristol Fashion, the older Bristol format, SHDL, or a
netlist from yosys in BLIF or JSON. A circuit may be followed by
  *K  K independent calls side by side: every input and output holds the K
      calls' values one after another, the first call's first
  ^K  K turns in a row: the output replaces the last input of its width; of a
      netlist with flip-flops, K clock cycles
so 'aes128*1000' encrypts 1,000 blocks under 1,000 keys, and 'aes128^1000' one
block 1,000 times. `*` and `^` belong to the name if such a file exists; a
built-in comes before a file (write ./NAME for the file).

VALUE is written as its type says (`comity circuit info` shows it): 40, -7, 0x28,
true, 1.5, [1, 2, 3], (1, true), {price: 3, item: 4}, also as JSON; an array also
as lines or CSV. A value without a type is hex as the thing is written (FIPS
vectors read as printed), u64:40 or i32:-7 (a number of that width), or dec:40
(of any width). bits:0101... (wire 0 first), @FILE, and - for standard input are
for all. What stands on a command line can be seen by other users (`ps`) and
stays in the shell's history: hand secrets over as @FILE or -.

One output is printed as the plain value; several one a line, as `NAME VALUE`."
    };
}

/// What a store is for, and what it cannot do.
macro_rules! stores {
    () => {
        "\
Stores: `comity prepare` does all that can be done before the inputs are known,
and keeps it in DIR, encrypted; `comity run --store DIR` takes the oldest lot
for this program and these parties that all of them hold, and uses it up. All
parties do the same, each with a store of its own, and with the same program,
owners, recipients and RHO; over TLS it is for the same keys.
What `tinyot` prepares is for any program: batches of 8,192 AND gates and 2,048
input bits of each party, of which a run uses up whole ones.
A batch is marked as used on the disk before anything depends on it, and is
gone also if the run fails or the process is killed. `comity store` shows what
is left.
WARNING: never put a copy of a store back, be it from a backup, a copied folder
or a snapshot of a virtual machine. Two runs on one batch can reveal the
parties' inputs, and nothing in the folder can tell that it is old: keep stores
out of backups. Whoever has the folder and its key (a deleted batch, too, while
the disk still holds it) and a record of the run learns the party's input."
    };
}

pub(crate) use {programs, stores};

/// `KEY=VALUE`.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// What is computed, who puts in what, and who learns what.
#[derive(Args, Debug, Clone)]
pub(crate) struct ProgramArgs {
    /// What to compute: a built-in name, a program or circuit file, or an expression over these
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) roles: RoleArgs,
    /// What circuits are compiled to: few AND gates, or few of them one behind another
    ///
    /// It is for built-ins and programs in comity's language, and all parties say the same.
    #[arg(long, value_enum, value_name = "GOAL", default_value_t = Optimize::Auto)]
    pub(crate) optimize: Optimize,
}

/// What circuits are chosen for.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optimize {
    /// Few AND gates
    Size,
    /// Few AND gates one behind another
    Depth,
    /// What suits the protocol; without one, few AND gates
    Auto,
}

impl Optimize {
    /// The goal, where this one suits the protocol.
    pub(crate) fn goal(self, auto: Goal) -> Goal {
        match self {
            Optimize::Size => Goal::Size,
            Optimize::Depth => Goal::Depth,
            Optimize::Auto => auto,
        }
    }
}

/// Who puts in what, and who learns what.
#[derive(Args, Debug, Clone)]
pub(crate) struct RoleArgs {
    /// Input value VALUE belongs to PARTY
    ///
    /// A value is named or numbered, and so is a party; or each party has a share of it (`shared`). By
    /// default it is as the program says, or value i is party i's.
    #[arg(long, value_name = "VALUE=PARTY")]
    pub(crate) owner: Vec<Owner>,
    /// Who learns the outputs, or one of them
    ///
    /// A party, several (0,2), `all`, or nobody, and each party keeps a share (`shared`, see --shares-out);
    /// OUTPUT=PARTY,PARTY for one output. By default it is as the program says, or all.
    #[arg(long, value_name = "[OUTPUT=]PARTY,..")]
    pub(crate) output_to: Vec<OutputTo>,
}

/// Values and how they are written.
#[derive(Args, Debug, Clone)]
pub(crate) struct ValueArgs {
    /// An input value; without a name the next one
    ///
    /// `--input price=40`, or by its number, `--input 0=40`; @FILE and - (standard input) are possible.
    /// NAME=shared:FILE is this party's share of a value that another run left shared.
    #[arg(long, short, value_name = "[NAME=]VALUE", allow_hyphen_values = true)]
    pub(crate) input: Vec<Assigned>,
    /// Bit order of all values, or of one
    ///
    /// NAME=ORDER (or INDEX=ORDER) is for one input, out:NAME=ORDER for an output. `lsb`, the default, puts a
    /// number's least significant bit on wire 0, `msb` its most significant.
    #[arg(long, value_name = "[VALUE=]lsb|msb")]
    pub(crate) bits: Vec<BitOrder>,
    /// How outputs are written
    #[arg(long, value_enum, default_value_t = Format::Value)]
    pub(crate) format: Format,
}

/// How outputs are written.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// As its type says, or in hex if it has none
    Value,
    /// The number in hex
    Hex,
    /// The wires in order, wire 0 first
    Bits,
}

/// Where the result goes.
#[derive(Args, Debug, Clone)]
pub(crate) struct ResultArgs {
    /// Write the result to FILE
    ///
    /// It appears only at success, and nothing goes to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a session runs.
#[derive(Args, Debug, Clone)]
pub(crate) struct SessionArgs {
    /// The protocol
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
    /// An option of the protocol
    ///
    /// `comity protocols NAME` lists them; `--KEY VALUE` is short for it.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) option: Vec<(String, String)>,
    #[arg(skip)]
    pub(crate) list: List,
    /// Computational security in bits: 128 is what there is
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    pub(crate) kappa: u32,
    /// Statistical security in bits, 1 to 128
    ///
    /// With `cutchoose` it is the number of garbled copies. Traffic, time and memory grow with it; a cheating
    /// garbler escapes with probability 1/(2^BITS - 1): always with 1, about one in a million with 20.
    #[arg(long, value_name = "BITS", default_value_t = 40)]
    pub(crate) rho: u32,
    /// How long to wait for the others
    ///
    /// It bounds connecting, the hello, the wait for a first message and for the rest of a message that has
    /// begun, and sending. While a party computes, and says that it is still there, the wait goes on.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// End the whole run after this time
    ///
    /// In seconds, or as in 90s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
    /// Say more on standard error
    ///
    /// What happens, and at the end where time and bytes went.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Who this party is, and where the others are.
#[derive(Args, Debug, Clone)]
pub(crate) struct NetworkArgs {
    /// Which party this is: 0, 1, … or its name
    ///
    /// With --group and --tls it follows from the key.
    #[arg(long, value_name = "PARTY")]
    pub(crate) party: Option<Who>,
    /// The parties, their addresses and keys (`comity group`)
    ///
    /// All of them have the same file.
    #[arg(long, value_name = "FILE")]
    pub(crate) group: Option<PathBuf>,
    /// Wait for the others at this address
    ///
    /// :PORT is every address of this machine. By default it is the one in the group.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Connect to the only peer at this address
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["listen", "peer", "group"])]
    pub(crate) connect: Option<String>,
    /// The address of each other party
    ///
    /// It is - if nobody can call it. Of two the lower one listens, if it can be called.
    #[arg(long, value_name = "PARTY=ADDR", conflicts_with = "group")]
    pub(crate) peer: Vec<Peer>,
    /// Meet parties that nobody can call at this relay
    ///
    /// All call the relay (`comity relay`) and speak TLS through it. By default it is the one in the group.
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["connect", "peer", "plaintext"])]
    pub(crate) relay: Option<String>,
    /// Talk TLS 1.3 with the key in DIR (`comity key`)
    ///
    /// Others are those with the keys of the group, or the trusted ones in DIR.
    #[arg(long, value_name = "DIR")]
    pub(crate) tls: Option<PathBuf>,
    /// Allow plain text to an address off this machine: anyone on the way can read and change it
    ///
    /// Among three parties and more an eavesdropper can learn inputs, even if nobody cheats.
    #[arg(long, conflicts_with = "tls")]
    pub(crate) plaintext: bool,
    /// The name of this run, the same at all parties, where they have several runs at the same time
    ///
    /// Without labels, anybody who can redirect connections could let parties of two runs meet, if both runs
    /// compute the same.
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
}

/// How two sides of a conversation talk, whose numbers are settled: who proves, or serves, is party 0.
#[derive(Args, Debug)]
pub(crate) struct LinkArgs {
    /// Talk TLS 1.3 with the key and the trusted keys in DIR (see `comity key`); who proves, or serves, is party 0
    #[arg(long, value_name = "DIR")]
    pub(crate) tls: Option<PathBuf>,
    /// Allow plain text to an address off this machine: anyone on the way can read and change it
    #[arg(long, conflicts_with = "tls")]
    pub(crate) plaintext: bool,
    /// How long to wait for the other side
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
}

impl LinkArgs {
    /// The session of a party, as the flags say.
    ///
    /// # Errors
    /// If the machine cannot run the backend that is asked for.
    pub(crate) fn session(&self, party: u16) -> Outcome<Session<'static>> {
        let session = Session::new(party).timeout(self.timeout).backend(backend()?).plaintext(self.plaintext);
        Ok(match &self.tls {
            Some(dir) => session.tls(dir),
            None => session,
        })
    }
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    duration
        .filter(|d| !d.is_zero() && d.as_secs() <= 366 * 24 * 3600)
        .ok_or_else(|| "a number of seconds above 0 and up to a year is wanted".to_owned())
}

/// A time in seconds, minutes or hours.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = [('s', 1), ('m', 60), ('h', 3600)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .unwrap_or((text, 1));
    let wrong = "a time above 0 and up to a year is wanted, as in 90, 90s, 5m, 2h";
    let whole = number.parse::<f64>().map(|number| number * f64::from(unit)).map_err(|_| wrong)?;
    seconds(&whole.to_string()).map_err(|_| wrong.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["0", "-1m", "h", "", "5d", "nan", "inf", "1e9h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn time_outs() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["0", "-1", "nan", "inf", "1e99", "", "x"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
