//! The flags of `comity nisc`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::Format;
use crate::flags::{Assigned, BitOrder, OutputTo, Owner};

/// What the command is about.
pub(crate) const ABOUT: &str = "\
One publishes a query, others answer it with one file each, days later, by mail;
the publisher learns f(x, y) of each answer, and nobody learns anything else.
  comity nisc publish aes128 --input @key.hex --out me.query --secret me.key
  comity nisc respond me.query --input @block.hex --out reply-1.answer
  comity nisc open me.key reply-*.answer
  comity nisc refresh me.key --out me2.query

The publisher is party 0, a sender is party 1, and all outputs are the
publisher's. Against a party that cheats (malicious): a false answer is refused,
or its output is right. An answer is sealed to the query: only the key opens it,
and nobody can change it, or send a copy of it as an answer of their own, to
this query or to another one.

Of T copies of the circuit some are checked and the others evaluated, which ones
is your secret, and a cheat is unseen only if it is in exactly those that are
evaluated: with probability 1/(2^T - 1) for each answer. One copy is always
evaluated and never checked: it is no protection at all.

A query has one batch. `open` opens all answers that it is given, marks the key
as spent, and then prints; later answers to that query are refused until
`refresh` makes the next query (the same input, and another query file for the
senders). The reason: which copies of the circuit are checked must stay secret,
and whoever hears of a result, or of a refusal, may learn something about that.
The same answers can be opened again. --adaptive opens answers as they come,
until the first one is refused; senders may then choose their inputs by results
of others that they hear of, and one cheater forces a refresh.

Keep the key to yourself, and keep one of it: a copy (a backup, too) does not
know that it is spent, and a second batch opened with it has no protection
against cheats. Tell nobody which answers were refused, or why, while the query
can still be answered. And never tell that a sender cheated although its output is
right (`recovered`): a sender can cheat so that this happens for one value only of
a bit of your input. A sender's name is what the sender says.

With `publish --stored` the copies of the circuit, nearly all of an answer, wait
in a store: a folder, or a service that takes files by HTTP PUT and gives them
by GET. Senders put all of them there, and you fetch those that are evaluated,
about half. This assumes that whoever runs the store, or sees it being read,
hides from the senders which copies were fetched. So `open` marks the key as
spent before it fetches anything; after that `refresh` is the only way on, and
--adaptive is not for such a query. A folder is read whole.

Exit codes: 0 if at least one answer was opened; else 2, 3 or 4, as for its
failures (see `comity --help`).";

#[derive(Subcommand, Debug)]
pub(crate) enum NiscCommand {
    /// Make a query from your input, and the key that opens its answers
    Publish(PublishArgs),
    /// Answer a query with your input
    Respond(RespondArgs),
    /// Open the answers to your query, all in one batch
    Open(OpenArgs),
    /// Make the next query for the same input; answers to the last one are not opened any more
    Refresh(RefreshArgs),
    /// Say what a query, a key or an answer is, and whether it is whole
    Inspect(InspectArgs),
}

/// Values and how they are written.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// One of your input values, named or numbered; without a name the next one that is not given yet
    #[arg(long, short, value_name = "[NAME_OR_INDEX=]VALUE", allow_hyphen_values = true)]
    pub(crate) input: Vec<Assigned>,
    /// Bit order of all values, or of one input (name or index) [default: lsb]
    #[arg(long, value_name = "[VALUE=]lsb|msb")]
    pub(crate) bits: Vec<BitOrder>,
}

#[derive(Args, Debug)]
pub(crate) struct PublishArgs {
    /// What to compute: a built-in name, a program or circuit file, or an expression over these, as in `comity run`
    pub(crate) program: String,
    /// Input value VALUE (name or index) belongs to party PARTY: 0, you, or 1, the sender
    /// [default: as the program says]
    #[arg(long, value_name = "VALUE=PARTY")]
    pub(crate) owner: Vec<Owner>,
    /// Who learns the outputs: 0, you, whatever the program says; OUTPUT=0 for one output. Nobody else can
    #[arg(long, value_name = "[OUTPUT=]PARTY")]
    pub(crate) output_to: Vec<OutputTo>,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Where the query goes: publish this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Where the key goes, a new file that only you can read: keep it
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: PathBuf,
    /// Statistical security in bits, 1 to 127: the number of copies of the garbled circuit, and log2 of
    /// --answers more. Of T copies a cheat in one answer is unseen with probability 1/(2^T - 1), about 2^-BITS
    /// for all expected answers together; of one copy always, so that 1 is refused. With --coded the
    /// probability is 2^-BITS or less
    #[arg(long, value_name = "BITS", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=127))]
    pub(crate) rho: u32,
    /// The number of copies of the garbled circuit, in place of the number that --rho and --answers need; 1 is
    /// no protection at all. With --coded, one of the numbers that serve --rho
    #[arg(long, value_name = "T")]
    pub(crate) copies: Option<usize>,
    /// Answers of about half the size, which take more work: somewhat more copies, most of which travel as a hash
    #[arg(long)]
    pub(crate) coded: bool,
    /// Small answers, whose copies wait in a store (see `comity nisc --help`): whoever runs it must hide from
    /// senders which copies you fetched. `open` marks the key as spent, and then fetches
    #[arg(long, conflicts_with = "coded")]
    pub(crate) stored: bool,
    /// How many answers you expect: the chances of their senders add, so log2 Q more copies are needed
    #[arg(long, value_name = "Q", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) answers: u32,
}

#[derive(Args, Debug)]
pub(crate) struct RespondArgs {
    /// The query
    pub(crate) query: PathBuf,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Where the answer goes
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Where the copies go, if the query asks that they are stored: a folder, or a URL to which files are put
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) store: Option<String>,
    /// What you are called, for the publisher's list: up to 64 letters, digits, spaces and -_.@+ [default: random]
    #[arg(long, value_name = "LABEL")]
    pub(crate) name: Option<String>,
    /// Your copy of the program, if it is not built in: it must be the one whose hash is in the query
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct OpenArgs {
    /// The key of the query
    pub(crate) key: PathBuf,
    /// The answers
    #[arg(required = true)]
    pub(crate) answers: Vec<PathBuf>,
    /// Where the copies are, if the query asks that they are stored: a folder, or a URL. The key is spent
    /// before any is fetched
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) store: Option<String>,
    /// Open answers as they come: more can follow unless one is refused (see `comity nisc --help`)
    #[arg(long)]
    pub(crate) adaptive: bool,
    /// Open nothing: only say whether the answers are whole and fit the query. The key stays as it is
    #[arg(long, conflicts_with = "adaptive")]
    pub(crate) check: bool,
    /// The program, if it is not where it was when the query was published
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// Bit order of the outputs (`out:NAME=msb`) [default: lsb]
    #[arg(long, value_name = "[VALUE=]lsb|msb")]
    pub(crate) bits: Vec<BitOrder>,
    /// How outputs are written
    #[arg(long, value_enum, default_value_t = Format::Value)]
    pub(crate) format: Format,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RefreshArgs {
    /// The key; it is replaced by the next one
    pub(crate) key: PathBuf,
    /// Where the next query goes
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Refresh although no answer was opened yet: answers to the published query become useless
    #[arg(long)]
    pub(crate) discard: bool,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// A query, a key, an answer or a stored copy
    pub(crate) file: PathBuf,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}
