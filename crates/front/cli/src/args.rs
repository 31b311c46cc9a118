//! The flags of the `comity` command. Help texts, completions and the man page all come from here.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::flags::{Assigned, BitOrder, Count, OutputTo, Owner, Peer, Size};
use crate::protocols::{self, List};

const EXAMPLES: &str = "\
Examples:
  comity demo
  comity run aes128 --party 0 --listen 127.0.0.1:7000 --input @key.hex
  comity run aes128 --party 1 --connect 127.0.0.1:7000 --input @message.hex
  comity local add64 --input 0=u64:40 --input 1=u64:2
  comity eval add64 --input 0=u64:40 --input 1=u64:2

Exit codes:
   0  done
   2  usage, bad input, or the parties want different things
   3  network, peer gone, time-out, TLS
   4  malformed message, or the peer misbehaved
  70  a defect of comity";

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
and keeps it in DIR, encrypted; `comity run --store DIR` takes the oldest
preparation for this program and peer that both parties have, and uses it up.
Both parties do the same, each with a store of its own, and with the same
program, owners, recipients and RHO; over TLS it is for the same peer's key.
What `tinyot` prepares is for any program: blocks of 8,192 AND gates and 2,048
input bits of each party, of which a run uses up whole ones.
A preparation is marked as used on the disk before anything depends on it, and
is gone also if the run fails or the process is killed.
WARNING: never put a copy of a store back, be it from a backup, a copied folder
or a snapshot of a virtual machine. Two runs on one preparation can reveal the
parties' inputs, and nothing in the folder can tell that it is old: keep stores
out of backups. Who has the folder and its key (also a deleted entry, as long as
the disk still holds it) and a record of the run learns the party's input."
    };
}

/// What an interactive session is.
const REPL: &str = "\
Statements, one a line, the same ones at both parties:
  a = input(0, u32)         party 0 is asked for the value; `= 17` behind it,
                            which only party 0 writes, gives it at once
  b = input(1, u32)
  c = a < b                 anything that comity's language can say
  reveal c to all           or to 0, or to 1
`help` shows the others. Statements can be piped in; an input's value then stands
behind it, or on the next line. Where the parties' statements differ nothing is
done, and both are told. The protocol is tinyot, against a party that cheats:
see `comity run --help`.";

/// Compute on the joint data of parties who do not trust each other, and learn the answer and nothing else.
#[derive(Parser, Debug)]
#[command(name = "comity", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Two parties compute AES-128 of one's block under the other's key
    Demo(DemoArgs),
    /// Be one party of a computation
    Run(RunArgs),
    /// Do all that can be done before the inputs are known, for later runs (`comity run --store`)
    #[command(after_help = concat!(stores!(), "\n\n", programs!()))]
    Prepare(PrepareArgs),
    /// Be all parties at once: one process each on this machine, with the real protocol
    Local(LocalArgs),
    /// Be one party of an interactive session: both type the same statements, and see results as they come
    #[command(after_help = REPL)]
    Repl(crate::repl::ReplArgs),
    /// Evaluate in the clear, for checking
    #[command(after_help = programs!())]
    Eval(EvalArgs),
    /// List, describe, convert and check circuits
    #[command(subcommand)]
    Circuit(CircuitCommand),
    /// Compute by mail: publish a query, answer one, open the answers
    #[command(subcommand, after_help = crate::nisc::args::ABOUT)]
    Nisc(crate::nisc::args::NiscCommand),
    /// Ask for ranges of encrypted columns of PostgreSQL
    #[command(subcommand, after_help = crate::ope::args::ABOUT)]
    Ope(crate::ope::args::OpeCommand),
    /// List the protocols and services, and what each protects against
    Protocols(crate::protocols::ProtocolsArgs),
    /// Make this party's key and say whose keys it trusts
    #[command(subcommand)]
    Key(KeyCommand),
    /// Measure this machine's ceilings and how close comity comes to them
    Bench(BenchArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
    /// Print the man page
    Man,
}

/// The definitions, with what the cards of these protocols say.
pub(crate) fn definitions(list: List) -> clap::Command {
    let notes = |parts: &[&str]| parts.join("\n\n");
    let promises = protocols::help(list);
    let with = |command: clap::Command| protocols::with_protocols(command, list);
    Cli::command()
        .mut_subcommand("run", |c| with(c).after_help(notes(&[programs!(), &promises, stores!()])))
        .mut_subcommand("local", |c| with(c).after_help(notes(&[programs!(), &promises])))
        .mut_subcommand("prepare", with)
        .mut_subcommand("repl", with)
}

impl Cli {
    /// What these arguments say, where there are these protocols.
    pub(crate) fn read<I: IntoIterator<Item: Into<std::ffi::OsString> + Clone>>(
        args: I,
        list: List,
    ) -> Result<Cli, clap::Error> {
        let mut definitions = definitions(list);
        let matches = definitions.try_get_matches_from_mut(args)?;
        let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut definitions))?;
        let session = match &mut cli.command {
            Command::Run(args) => &mut args.session,
            Command::Local(args) => &mut args.session,
            Command::Prepare(args) => &mut args.session,
            Command::Repl(args) => &mut args.session,
            Command::Protocols(args) => {
                args.list = list;
                return Ok(cli);
            }
            _ => return Ok(cli),
        };
        session.list = list;
        if let Some((_, matches)) = matches.subcommand() {
            session.option.extend(protocols::given(matches, list));
        }
        Ok(cli)
    }
}

/// `KEY=VALUE`.
fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// What is computed, who puts in what, and who learns what.
#[derive(Args, Debug, Clone)]
pub(crate) struct ProgramArgs {
    /// What to compute: a built-in name, a program or circuit file, or an expression over these (see below)
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) roles: RoleArgs,
}

/// Who puts in what, and who learns what.
#[derive(Args, Debug, Clone)]
pub(crate) struct RoleArgs {
    /// Input value VALUE (name or index) belongs to party PARTY [default: as the program says, or value i to party i]
    #[arg(long, value_name = "VALUE=PARTY")]
    pub(crate) owner: Vec<Owner>,
    /// Who learns the outputs: a party, several (0,2), `all`, or OUTPUT=PARTY for one of them [default: as the program says, or `all`]
    #[arg(long, value_name = "[OUTPUT=]PARTY")]
    pub(crate) output_to: Vec<OutputTo>,
}

/// Values and how they are written.
#[derive(Args, Debug, Clone)]
pub(crate) struct ValueArgs {
    /// An input value, named or numbered; without a name the next one that is not given yet
    #[arg(long, short, value_name = "[NAME_OR_INDEX=]VALUE", allow_hyphen_values = true)]
    pub(crate) input: Vec<Assigned>,
    /// Bit order of all values, of one input (name or index), or of an output (`out:` before it):
    /// `lsb` puts a number's least significant bit on wire 0, `msb` its most significant [default: lsb]
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
    /// Write the result to FILE, which appears only at success, and not to standard output
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
    /// An option of the protocol (`comity protocols NAME` lists them); `--KEY VALUE` is short for it
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) option: Vec<(String, String)>,
    #[arg(skip)]
    pub(crate) list: List,
    /// Computational security in bits: 128 is what there is
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    pub(crate) kappa: u32,
    /// Statistical security in bits, 1 to 128: with `cutchoose` the number of garbled copies. Traffic, time and memory
    /// grow with it; a cheating garbler escapes with probability 1/(2^BITS - 1): always with 1, about one in a million
    /// with 20
    #[arg(long, value_name = "BITS", default_value_t = 40)]
    pub(crate) rho: u32,
    /// How long to wait for the peer: to connect, to greet, and for its first message
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Say more on standard error: what happens, and at the end where time and bytes went
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Print one JSON object, as `comity local` does
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who this party is, and where its peer is.
#[derive(Args, Debug, Clone)]
pub(crate) struct NetworkArgs {
    /// Which party this is: 0, 1, …
    #[arg(long, value_name = "ID")]
    pub(crate) party: u16,
    /// Wait for the peer at this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Connect to the only peer at this address
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["listen", "peer"])]
    pub(crate) connect: Option<String>,
    /// The address of a party; of two who name each other, the lower id listens
    #[arg(long, value_name = "ID=ADDR")]
    pub(crate) peer: Vec<Peer>,
    /// Talk TLS 1.3 with the key and the trusted keys in DIR (see `comity key`)
    #[arg(long, value_name = "DIR")]
    pub(crate) tls: Option<PathBuf>,
    /// Allow plain text to an address off this machine: anyone on the way can read and change it
    #[arg(long, conflicts_with = "tls")]
    pub(crate) plaintext: bool,
}

/// What opens a store.
#[derive(Args, Debug, Clone)]
pub(crate) struct KeyArgs {
    /// The store's passphrase is the first line of FILE
    #[arg(long, value_name = "FILE", requires = "store", conflicts_with = "key_file")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// The store's key is in FILE, 32 random bytes; `prepare` makes it if neither it nor the store is there
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    /// Use up a preparation of `comity prepare` in DIR; never one whose copy was used (see below)
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// Run for a parent process: values come as JSON on standard input, events go as JSON lines to standard output,
    /// and the end of standard input ends this process
    #[arg(long, hide = true)]
    pub(crate) attached: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PrepareArgs {
    /// What the runs will compute, as in `comity run` (see below); without one, material for any program
    pub(crate) program: Option<String>,
    #[command(flatten)]
    pub(crate) roles: RoleArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// Where the preparations go: a folder, made if it is not there. Keep it out of backups (see below)
    #[arg(long, value_name = "DIR")]
    pub(crate) store: PathBuf,
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// How many runs to prepare; without a program, how much of the protocol's material (of `tinyot`, for how many AND gates)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) count: u64,
    /// Refuse if all entries of the store could then take more than this: bytes, or as in 500MiB, 20GiB
    #[arg(long, value_name = "BYTES", default_value = "8GiB")]
    pub(crate) store_limit: Size,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LocalArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CircuitCommand {
    /// List the built-in circuits
    List {
        /// Print one JSON array of names
        #[arg(long)]
        json: bool,
    },
    /// Describe a program: its values, whose they are, and its gates
    #[command(after_help = programs!())]
    Info {
        #[command(flatten)]
        program: ProgramArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a built-in circuit or a circuit file in a format that other tools read
    Export {
        /// A built-in name or a circuit file
        program: String,
        /// The format
        #[arg(long, value_enum, default_value_t = CircuitFormat::BristolFashion)]
        format: CircuitFormat,
        /// Write to FILE, which appears only when whole, and not to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check a program or circuit file: say what it is, or which line is wrong and why
    Check {
        /// The file
        file: PathBuf,
        /// Print one JSON object, as `info` does (an error, too)
        #[arg(long)]
        json: bool,
    },
}

/// A circuit file format.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CircuitFormat {
    /// Bristol Fashion
    BristolFashion,
    /// The older Bristol format: two inputs, one output, AND, XOR and INV gates
    Bristol,
    /// SHDL, the format of Fairplay: gates with truth tables
    Shdl,
}

#[derive(Subcommand, Debug)]
pub(crate) enum KeyCommand {
    /// Make a key pair in DIR and print its fingerprint
    New {
        /// A folder; it is made if it is not there. The secret key in it is readable by its owner only
        dir: PathBuf,
    },
    /// Print this party's fingerprint and the fingerprints that it trusts
    Show {
        /// The folder that `comity key new` made
        dir: PathBuf,
    },
    /// Trust the key with this fingerprint to be party PARTY, from now on
    #[command(after_help = "\
Compare fingerprints over a way that you trust already: by telephone, on paper, in a signed message.")]
    Trust {
        /// The folder that `comity key new` made
        dir: PathBuf,
        /// Which party the key belongs to
        #[arg(long, value_name = "ID")]
        party: u32,
        /// What `comity key show` prints at the other party
        fingerprint: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Only what starts with one of these names (`garble`, `yao.aes128`, …)
    pub(crate) names: Vec<String>,
    /// Write the measurements to FILE as a JSON array; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Simulate a network between the parties: `lan`, `wan`, or round-trip time and bandwidth as `20ms,100mbit`
    #[arg(long, value_name = "NET")]
    pub(crate) net: Option<String>,
    /// OTs in each run of `ot.extension`: a number, or a power as 2^20 [default: 2^24; of `committing` 2^20]
    #[arg(long, value_name = "N")]
    pub(crate) n: Option<Count>,
    /// Draw `ot.figure32`, which has to be among the names, to FILE as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// List the names and measure nothing
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    duration
        .filter(|d| !d.is_zero() && d.as_secs() <= 366 * 24 * 3600)
        .ok_or_else(|| "a number of seconds above 0 and up to a year is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        definitions(List::default()).debug_assert();
    }

    #[test]
    fn time_outs() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["0", "-1", "nan", "inf", "1e99", "", "x"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
